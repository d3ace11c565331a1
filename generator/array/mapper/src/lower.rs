//! From an application graph to a netlist.

mod accumulators;
mod cells;
mod checks;
mod connections;
mod elements;
mod holds;
mod merge;
mod passing;
mod repeats;
mod units;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_cells::Cells;
use pushmem_compiler::Compiled;
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_datapaths::Datapath;
use pushmem_fabric::{ArraySpec, Layer, TileKind};
use pushmem_files::Diagnostic;
use pushmem_graph::{
    ApplicationGraph, BitDriver, Choice, Counter, KernelId, KernelNode, Storage, TileId, TileInput, TileOutput,
    UnitNode, WordDriver, WordId,
};
use pushmem_kernels::{ArrayRanges, DatapathGraph};
use pushmem_nest::Program;
use pushmem_netlist::{Cell, CellId, Core, Net, Netlist, Port, Sink};
use pushmem_pe::{Operation, PeSpec};
use pushmem_placement::check_capacity;
use pushmem_selection::{Refused, TableTiles, select};
use pushmem_tile::Role;

use crate::feedback;
use checks::{check_memories, check_predicates, check_tables};
use elements::{element, passing_words};
use holds::HoldCell;
use repeats::{Repeat, repeats};
use units::{Units, groups};

/// The most cycles by which a bit of loop indices is later than another that is the same: so few registers of a track of bits are less
/// than a controller.
const PREDICATE_DELAY: i64 = 4;

/// A program as a netlist, and the cells of its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The cells of each operation of the program.
    pub operations: Vec<Cells>,
    /// The cells and nets.
    pub netlist: Netlist,
    /// For each lane of each input stream its cell.
    pub inputs: Vec<Vec<CellId>>,
    /// For each lane of each output stream its cell.
    pub outputs: Vec<Vec<CellId>>,
    /// The memory tile of the graph that each bank of the netlist is.
    pub banks: Vec<TileId>,
    /// The cells of the kernels of each stage.
    pub stages: Vec<Stage>,
}

/// The cells of a stage: of the kernels that compute an operation of the program, with their tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name of the operation.
    pub name: String,
    /// Its first cycle in the schedule.
    pub first_cycle: i64,
    /// Its last cycle in the schedule.
    pub last_cycle: i64,
    /// The cells.
    pub cells: Vec<CellId>,
}

/// A word in the time of the schedule: the output of a cell some cycles ago, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Constant(u16),
    Delayed { of: Port, cycles: i64 },
}

impl Signal {
    /// The word of a cell.
    fn word(cell: CellId, port: u32) -> Self {
        Signal::Delayed { of: Port { cell, layer: Layer::Word, port }, cycles: 0 }
    }

    /// The signal so many cycles ago.
    fn ago(self, by: i64) -> Self {
        match self {
            Signal::Constant(_) => self,
            Signal::Delayed { of, cycles } => Signal::Delayed { of, cycles: cycles + by },
        }
    }
}

/// Whether kernels that share a unit in hardware of their own share cells on an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They do, where that takes fewer elements than cells of their own.
    Shared,
    /// Each has cells of its own: loops go through no choice of operands.
    Apart,
}

/// Makes the netlist of a program that was compiled with the array's memory tile.
///
/// # Errors
/// When the array cannot compute an operation, or has no part that the program needs: the place in the program, and why.
pub fn lower(compiled: &Compiled, spec: &ArraySpec, sharing: Sharing) -> Result<Lowered, Diagnostic> {
    let tables = table_tiles(spec);
    let lowered = lower_with(compiled, spec, sharing, tables)?;
    // Tables of reciprocals save elements. They are none where the tiles that are left cannot be them.
    let has_own = lowered.operations.iter().any(|cells| !cells.tables.is_empty());
    let fits = |lowered: &Lowered| check_capacity(&lowered.netlist, spec).is_ok() && tables_have_levels(lowered, spec);
    if !has_own || fits(&lowered) {
        return Ok(lowered);
    }
    let without = lower_with(compiled, spec, sharing, None)?;
    Ok(if fits(&without) { without } else { lowered })
}

/// The memory tiles of an array as tables. A tile is worth the elements that the array has for each.
fn table_tiles(spec: &ArraySpec) -> Option<TableTiles> {
    let words = spec.memory.as_ref()?.tile.table_words()?;
    let elements = spec.count(TileKind::Pe) / spec.count(TileKind::Memory).max(1);
    Some(TableTiles { words, elements })
}

/// Whether the controllers of tables have as many levels as the loops around the look-ups.
fn tables_have_levels(lowered: &Lowered, spec: &ArraySpec) -> bool {
    let controllers = spec.memory.as_ref().map(|memory| memory.tile.controllers()).unwrap_or_default();
    let levels = |role: Role| controllers.iter().find(|of| of.role == role).map(|of| (of.name.clone(), of.levels));
    let Some((name, levels)) = levels(Role::Rom2Out) else { return true };
    let fits = |cell: &Cell| match &cell.core {
        Core::Memory(memory) => memory.controllers.get(&name).is_none_or(|of| of.extent.len() <= levels as usize),
        _ => true,
    };
    lowered.netlist.cells.iter().all(fits)
}

/// The same with these memory tiles as tables of reciprocals, if there are some.
fn lower_with(
    compiled: &Compiled,
    spec: &ArraySpec,
    sharing: Sharing,
    tables: Option<TableTiles>,
) -> Result<Lowered, Diagnostic> {
    let operations = select_all(compiled, &spec.pe, tables)?;
    check_memories(&compiled.storage, spec)?;
    check_tables(&compiled.program, &operations, spec)?;
    check_predicates(compiled, &operations, spec)?;
    let lowered = |shared: &[&UnitNode], repeats: &[Repeat]| {
        let units = Units::of(compiled, spec, shared.to_vec());
        lowering(compiled, spec, &operations, units, repeats).run()
    };
    let elements = table_tiles(spec).map_or(1, |tiles| tiles.elements as usize);
    let cost = |of: &Lowered| of.netlist.count(TileKind::Pe) + elements * of.netlist.count(TileKind::Memory);
    let mut shared = Vec::new();
    let mut best = lowered(&shared, &[]);
    let groups = if sharing == Sharing::Shared { groups(compiled, &operations, spec) } else { Vec::new() };
    for group in groups {
        let with = [&shared[..], &group].concat();
        let found = lowered(&with, &[]);
        if cost(&found) < cost(&best) {
            (shared, best) = (with, found);
        }
    }
    // A memory that takes the place of no other costs more than it saves.
    let repeats = spec.memory.as_ref().map_or_else(Vec::new, |memory| repeats(compiled, &memory.tile));
    if !repeats.is_empty() {
        let repeating = lowered(&shared, &repeats);
        if cost(&repeating) < cost(&best) {
            best = repeating;
        }
    }
    Ok(best)
}

/// The lowering of a program with these cells of its operations, these units, and these memories in place of selections.
fn lowering<'a>(
    compiled: &'a Compiled,
    spec: &'a ArraySpec,
    operations: &'a [Cells],
    units: Units<'a>,
    repeats: &[Repeat],
) -> Lowering<'a> {
    Lowering {
        program: &compiled.program,
        datapaths: &compiled.datapaths,
        graph: &compiled.graph,
        storage: &compiled.storage,
        delayed: compiled.storage.delayed(),
        first_of_unit: first_of_unit(&compiled.program),
        spec,
        selected: operations,
        netlist: Netlist { name: compiled.program.name.clone(), ..Netlist::default() },
        names: lane_names(&compiled.graph).collect(),
        nets: BTreeMap::new(),
        kernels: IndexVec::new(),
        tables: IndexVec::new(),
        selections: BTreeMap::new(),
        units,
        turns: BTreeMap::new(),
        origins: Vec::new(),
        repeats: repeats.iter().map(|repeat| (repeat.selection, repeat.clone())).collect(),
        repeating: BTreeMap::new(),
        holds: BTreeMap::new(),
        hold_cells: Vec::new(),
        enables: BTreeMap::new(),
        inputs: Vec::new(),
        tiles: IndexVec::new(),
        banks: Vec::new(),
        outputs: BTreeMap::new(),
        predicates: Vec::new(),
        sequences: IndexVec::new(),
        memories_of_sequences: Vec::new(),
        constants: BTreeMap::new(),
    }
}

/// The cells of each operation.
fn select_all(compiled: &Compiled, pe: &PeSpec, tables: Option<TableTiles>) -> Result<Vec<Cells>, Diagnostic> {
    let program = &compiled.program;
    let selected = |(graph, arrivals): (DatapathGraph, Vec<u64>)| {
        let refused = |why: Refused| {
            let help = "choose an array whose `pe` has it, or build a dedicated accelerator, without `--array`";
            program.diagnostic(graph.operation().span, why.to_string()).with_help(help)
        };
        select(&graph, pe, tables, arrivals).map_err(refused)
    };
    let graphs = DatapathGraph::all_within(program, ArrayRanges::of_operations(program));
    graphs.zip(feedback::arrivals(compiled)).map(selected).collect()
}

/// The cells of a memory: a memory tile, or the streams of a bank.
#[derive(Clone, Copy)]
struct MemoryCells {
    /// The cell that reads the words that it stores.
    writes: CellId,
    /// The cell that has its words.
    reads: CellId,
}

struct Lowering<'a> {
    program: &'a Program,
    /// The datapath of each operation.
    datapaths: &'a [Datapath],
    graph: &'a ApplicationGraph,
    storage: &'a Storage,
    /// The output of a memory tile that shows a net some cycles ago.
    delayed: BTreeMap<(WordId, u64), TileOutput>,
    /// For each operation the first of its unit, whose cells all of them have.
    first_of_unit: Vec<usize>,
    spec: &'a ArraySpec,
    /// The cells of each operation.
    selected: &'a [Cells],
    netlist: Netlist,
    /// The names of cells.
    names: HashSet<String>,
    /// The sinks of each output.
    nets: BTreeMap<Port, Vec<Sink>>,
    /// The cells of each kernel.
    kernels: IndexVec<KernelId, Vec<CellId>>,
    /// The tables of each kernel, in the order of its look-ups.
    tables: IndexVec<KernelId, Vec<CellId>>,
    /// The cells of each net that is a selection, of all its cases but the last.
    selections: BTreeMap<WordId, Vec<CellId>>,
    /// The kernels that are one set of cells.
    units: Units<'a>,
    /// The cells that choose an operand of a unit, which it takes so many cycles after the begin of an iteration.
    turns: BTreeMap<(WordId, i64), Vec<CellId>>,
    /// The cells that choose where held operands of units come from, by the number of the origin.
    origins: Vec<Vec<CellId>>,
    /// The memories in place of selections, and their cells.
    repeats: BTreeMap<WordId, Repeat>,
    repeating: BTreeMap<WordId, CellId>,
    /// The cell of each net that is a hold register, and those that hold words.
    holds: BTreeMap<WordId, CellId>,
    hold_cells: Vec<HoldCell>,
    /// When the held operand of a cell takes a word: in the cycles of any of these schedules.
    enables: BTreeMap<CellId, Vec<ControllerConfiguration>>,
    inputs: Vec<Vec<CellId>>,
    tiles: IndexVec<TileId, MemoryCells>,
    /// The memories that are banks of the global buffer.
    banks: Vec<TileId>,
    /// Where each output of a tile that something takes comes from.
    outputs: BTreeMap<TileOutput, Port>,
    predicates: Vec<(ControllerConfiguration, CellId)>,
    /// The functions of loop variables of each kernel.
    sequences: IndexVec<KernelId, Vec<Signal>>,
    /// The memories that have them.
    memories_of_sequences: Vec<(MemoryConfiguration, CellId)>,
    /// The cells that give constants to tiles other than processing elements.
    constants: BTreeMap<u16, CellId>,
}

impl<'a> Lowering<'a> {
    fn run(mut self) -> Lowered {
        self.place();
        self.place_words();
        self.place_units();
        self.connect_all();
        let outputs = self.connect_outputs();
        let mut removed = self.fold_accumulators();
        removed.extend(self.fold_holds());
        removed.extend(self.merge_equal());
        if !self.repeats.is_empty() || !self.units.is_empty() {
            removed.extend(self.without_readers(&removed));
        }
        self.enables.retain(|cell, _| !removed.contains(cell));
        self.connect_enables();
        removed.extend(self.unread_predicates());
        let stages = self.stages();
        let nets = self.nets.into_iter().map(|(port, sinks)| Net {
            layer: port.layer,
            source: port.cell,
            port: port.port,
            sinks,
        });
        let netlist = Netlist { nets: nets.collect(), ..self.netlist }.without_latency(&self.spec.pe);
        let (operations, inputs, banks) = (self.selected.to_vec(), self.inputs, self.banks);
        Lowered { operations, netlist, inputs, outputs, banks, stages }.without(&removed)
    }

    /// Memories of the program that nothing reads, and the elements that join them; what they read is read no more.
    fn without_readers(&mut self, removed: &BTreeSet<CellId>) -> BTreeSet<CellId> {
        let mut unread = BTreeSet::new();
        loop {
            let sources: BTreeSet<CellId> = self.nets.keys().map(|port| port.cell).collect();
            let is_unread = |cell: &CellId| {
                let can_go = matches!(self.netlist.cells[*cell].core, Core::Memory(_) | Core::Pe(_));
                can_go && !sources.contains(cell) && !unread.contains(cell) && !removed.contains(cell)
            };
            let found: Vec<CellId> = self.netlist.cells.indices().filter(is_unread).collect();
            if found.is_empty() {
                return unread;
            }
            unread.extend(found);
            self.nets.values_mut().for_each(|sinks| sinks.retain(|sink| !unread.contains(&sink.cell)));
            self.nets.retain(|_, sinks| !sinks.is_empty());
        }
    }

    /// Bits of loop indices that nothing reads any more.
    fn unread_predicates(&self) -> impl Iterator<Item = CellId> {
        let cells = self.predicates.iter().map(|(_, cell)| *cell);
        cells.filter(|cell| !self.nets.contains_key(&Port { cell: *cell, layer: Layer::Bit, port: 0 }))
    }

    /// The cells of the kernels of each operation, those of a unit together.
    fn stages(&self) -> Vec<Stage> {
        let of_kernel = |kernel: &KernelNode| self.first_of_unit[kernel.operation];
        let of_operation = |operation: usize| {
            let kernels = self.graph.kernels.iter_enumerated().filter(|(_, kernel)| of_kernel(kernel) == operation);
            let kernels: Vec<(KernelId, &KernelNode)> = kernels.collect();
            let cells = |(kernel, _): &(KernelId, &KernelNode)| {
                [&self.kernels[*kernel][..], &self.tables[*kernel][..]].concat()
            };
            let iterations = || kernels.iter().map(|(_, kernel)| &kernel.iterations);
            Stage {
                name: name_of_operation(self.program, operation),
                first_cycle: iterations().map(|counter| counter.cycle.start).min().unwrap_or(0),
                last_cycle: iterations().map(Counter::last).max().unwrap_or(0),
                cells: kernels.iter().flat_map(cells).unique().collect(),
            }
        };
        self.graph.kernels.iter().map(of_kernel).unique().map(of_operation).collect()
    }

    /// Joins the outputs of tiles that are one memory. In each cycle one of them has the word, and the others show 0: the tiles of
    /// an array have no chain inputs.
    fn join_chains(&mut self) {
        let storage = self.storage;
        for (tile, output) in self.taken_outputs() {
            let members = std::iter::successors(Some(tile), |tile| storage.tiles[*tile].chain_from);
            let ports: Vec<Port> = members
                .map(|tile| Port { cell: self.tiles[tile].reads, layer: Layer::Word, port: output as u32 })
                .collect();
            let joined = ports[1..].iter().fold(ports[0], |one, other| {
                let name = format!("{}_{output}_or_{}", storage.tiles[tile].name, self.netlist.cells.len());
                let core = Core::Pe(element(&self.spec.pe, Operation::Or, None));
                let cell = self.add(name, core);
                for (operand, of) in [one, *other].into_iter().enumerate() {
                    self.connect_word(Signal::Delayed { of, cycles: 0 }, cell, operand);
                }
                Port { cell, layer: Layer::Word, port: 0 }
            });
            self.outputs.insert((tile, output), joined);
        }
    }

    /// The outputs of memory tiles that nets, delays and other tiles take, in their order.
    fn taken_outputs(&self) -> BTreeSet<TileOutput> {
        let ports = self.graph.words.iter().filter_map(|net| match net.driver {
            WordDriver::Port { array, port } => Some(self.storage.read(array, port)),
            _ => None,
        });
        let inputs = self.storage.tiles.iter().flat_map(|tile| tile.inputs.iter().flatten());
        let between = inputs.filter_map(|input| match *input {
            TileInput::Output { tile, output } => Some((tile, output)),
            TileInput::Edge(_) => None,
        });
        ports.chain(self.delayed.values().copied()).chain(between).collect()
    }

    /// The output of a cell that gives a constant.
    fn constant(&mut self, constant: u16) -> Port {
        let known = self.constants.get(&constant).copied();
        let cell = known.unwrap_or_else(|| {
            let mut configuration = passing_words(&self.spec.pe);
            configuration.words[0].constant = constant.into();
            let cell = self.add(format!("constant_{constant}"), Core::Pe(configuration));
            self.constants.insert(constant, cell);
            cell
        });
        Port { cell, layer: Layer::Word, port: 0 }
    }
}

/// Whether a selection is of the operands of a unit, by the kernel that begins an iteration.
pub(crate) fn is_by_turns(graph: &ApplicationGraph, choices: &[Choice]) -> bool {
    let bits = || choices.iter().filter_map(|choice| choice.when);
    bits().any(|bit| matches!(graph.bits[bit].driver, BitDriver::Begins(_)))
}

/// For each operation the first with which it shares a unit, or itself.
pub(crate) fn first_of_unit(program: &Program) -> Vec<usize> {
    let nests = program.operations();
    let first = |(number, (_, operation)): (usize, &(_, &pushmem_nest::Operation))| {
        nests.iter().position(|(_, other)| other.shares_unit(operation)).unwrap_or(number)
    };
    nests.iter().enumerate().map(first).collect()
}

/// The name of the unit of an operation, or its own.
fn name_of_operation(program: &Program, number: usize) -> String {
    let (_, operation) = program.operations()[number];
    operation.unit().unwrap_or(&operation.name).to_owned()
}

/// The word of a processing element.
fn word_port(cell: CellId) -> Port {
    Port { cell, layer: Layer::Word, port: 0 }
}

/// The names of the lanes of all streams.
fn lane_names(graph: &ApplicationGraph) -> impl Iterator<Item = String> {
    let inputs = graph.inputs.iter().map(|stream| (&stream.name, stream.lanes.len()));
    let outputs = graph.outputs.iter().map(|stream| (&stream.name, stream.lanes.len()));
    inputs.chain(outputs).flat_map(|(name, lanes)| (0..lanes).map(move |lane| lane_name(name, lane, lanes)))
}

fn lane_name(stream: &str, lane: usize, lanes: usize) -> String {
    if lanes == 1 { stream.to_owned() } else { format!("{stream}_{lane}") }
}
