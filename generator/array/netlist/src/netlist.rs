//! Cells and nets.

use index_vec::IndexVec;
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_fabric::{Layer, TileKind};
use pushmem_pe::{PeConfiguration, PeSpec};
use pushmem_tile::{Role, TileSpec};

index_vec::define_index_type! {
    /// A cell, an index of [`Netlist::cells`].
    pub struct CellId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A net, an index of [`Netlist::nets`].
    pub struct NetId = u32;
    DISPLAY_FORMAT = "{}";
}

/// Cells and the nets between them.
///
/// The times of a netlist are those of a schedule in which no route takes a cycle. On the array each cell starts some cycles
/// later, its *lag*: with a lag for every cell, a connection of `cycles` from `u` to `v` takes exactly
/// `cycles + lag(v) - lag(u)` registers of tracks and operands. Any lags that leave each connection a route are right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Netlist {
    /// Name of the program.
    pub name: String,
    /// The cells. Each takes a tile, but an input and an output may share one, and so may a memory and a predicate.
    pub cells: IndexVec<CellId, Cell>,
    /// The nets. An output of a cell drives one net at most, and an input is the sink of one at most.
    pub nets: IndexVec<NetId, Net>,
    /// The memories that are banks of a global buffer.
    pub banks: Vec<BankCells>,
}

/// A memory that is a bank of a global buffer: an output whose words the bank stores, and an input whose words it loads. Both cells are at the
/// bank and have one lag, as the ports of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankCells {
    /// A unique name, an identifier.
    pub name: String,
    /// The input.
    pub load: CellId,
    /// The output.
    pub store: CellId,
}

/// The work of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// A unique name, an identifier.
    pub name: String,
    /// The configuration of the tile's core.
    pub core: Core,
}

/// The configuration of the core of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Core {
    /// A processing element. Operands that a net drives are [`Direct`](pushmem_pe::Mode::Direct), which routing may delay, or
    /// [`Held`](pushmem_pe::Mode::Held).
    Pe(PeConfiguration),
    /// A memory. Its controllers start as many cycles later as its lag is.
    Memory(MemoryConfiguration),
    /// A bit that is 1 in the cycles in which loop indices are in a box: the `stencil_valid` controller of a memory tile, which
    /// starts as many cycles later as its lag is. The memory of the tile may be another cell.
    Predicate(ControllerConfiguration),
    /// The words that enter the array on an IO tile.
    Input,
    /// The words that leave the array on an IO tile. A tile serves one input and one output.
    Output,
}

impl Core {
    /// The kind of tile that it needs.
    pub fn kind(&self) -> TileKind {
        match self {
            Core::Pe(_) => TileKind::Pe,
            Core::Memory(_) | Core::Predicate(_) => TileKind::Memory,
            Core::Input | Core::Output => TileKind::Io,
        }
    }

    /// The schedule of the bit, of a predicate or of a memory that is configured to give one.
    pub fn predicate(&self) -> Option<&ControllerConfiguration> {
        match self {
            Core::Predicate(schedule) => Some(schedule),
            Core::Memory(memory) => memory.controllers.get(Role::StencilValid.name()),
            Core::Pe(_) | Core::Input | Core::Output => None,
        }
    }
}

/// The configuration of a tile of which only the bit is used.
pub fn only_predicate(schedule: &ControllerConfiguration, tile: &TileSpec) -> MemoryConfiguration {
    MemoryConfiguration {
        tile: tile.name.clone(),
        controllers: std::iter::once((Role::StencilValid.name().to_owned(), schedule.clone())).collect(),
        ..MemoryConfiguration::default()
    }
}

/// An output of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// The cell.
    pub cell: CellId,
    /// Whether it gives a word or a bit.
    pub layer: Layer,
    /// The output, its place among those of the layer.
    pub port: u32,
}

/// A net: the output of a cell and the inputs that read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Whether it carries words or bits.
    pub layer: Layer,
    /// The cell that drives it.
    pub source: CellId,
    /// The output of the cell, its place among the outputs of the layer.
    pub port: u32,
    /// The inputs that read it, one at least.
    pub sinks: Vec<Sink>,
}

/// An input that reads a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sink {
    /// The cell that reads.
    pub cell: CellId,
    /// The input of the cell, its place among the inputs of the layer.
    pub port: u32,
    /// Cycles from source to sink in the schedule, before lags.
    pub cycles: i64,
}

impl Netlist {
    /// The names of the operations of its processing elements, as often as they are there.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        self.cells.iter().filter_map(|cell| match &cell.core {
            Core::Pe(pe) => Some(pe.operation.name()),
            Core::Memory(_) | Core::Predicate(_) | Core::Input | Core::Output => None,
        })
    }

    /// Takes from each connection of a word the cycles that its element itself takes: those of late products.
    pub fn without_latency(mut self, pe: &PeSpec) -> Self {
        for net in self.nets.iter_mut().filter(|net| net.layer == Layer::Word) {
            if let Core::Pe(source) = &self.cells[net.source].core {
                let latency = i64::from(pe.latency(source.operation));
                net.sinks.iter_mut().for_each(|sink| sink.cycles -= latency);
            }
        }
        self
    }

    /// How many tiles of processing elements or memories it needs: predicates take tiles of their own only where there are more
    /// of them than memories that leave their bit to others.
    pub fn count(&self, kind: TileKind) -> usize {
        let tiles = self.cells.iter().filter(|cell| cell.core.kind() == kind).count();
        if kind == TileKind::Memory { tiles - self.shared_tiles() } else { tiles }
    }

    /// How many predicates are beside memories.
    pub fn shared_tiles(&self) -> usize {
        let is_predicate = |cell: &&Cell| matches!(cell.core, Core::Predicate(_));
        let has_room = |cell: &&Cell| matches!(cell.core, Core::Memory(_)) && cell.core.predicate().is_none();
        self.cells.iter().filter(is_predicate).count().min(self.cells.iter().filter(has_room).count())
    }
}
