//! Netlists, cell by cell.

use std::collections::BTreeMap;

use pushmem_affine::{Affine, Domain};
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_fabric::Layer;
use pushmem_netlist::{Cell, CellId, Core, Net, NetId, Netlist, Sink};
use pushmem_pe::{Mode, Operand as PeOperand, Operation, PeConfiguration};
use pushmem_tile::{Kind, TileSpec};

/// An output of a cell, some cycles ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// The cell.
    pub cell: CellId,
    /// Its output.
    pub port: u32,
    /// Cycles.
    pub cycles: i64,
}

impl Tap {
    /// The first output of a cell in its cycle.
    pub fn of(cell: CellId) -> Self {
        Tap { cell, port: 0, cycles: 0 }
    }

    /// The same output, some cycles before.
    pub fn before(self, cycles: i64) -> Self {
        Tap { cycles: self.cycles + cycles, ..self }
    }
}

/// An operand of a processing element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A constant.
    Constant(u32),
    /// The output of a cell.
    Tap(Tap),
}

/// A netlist that is being built.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    netlist: Netlist,
    nets: BTreeMap<(Layer, CellId, u32), NetId>,
}

impl Builder {
    /// A netlist without cells.
    pub fn new(name: &str) -> Self {
        Builder { netlist: Netlist { name: name.to_owned(), ..Netlist::default() }, nets: BTreeMap::new() }
    }

    /// The netlist.
    pub fn finish(self) -> Netlist {
        self.netlist
    }

    /// Adds a cell.
    pub fn cell(&mut self, stem: &str, core: Core) -> CellId {
        let name = format!("{stem}_{}", self.netlist.cells.len());
        self.netlist.cells.push(Cell { name, core })
    }

    /// Adds a processing element with these words and bits.
    pub fn pe(&mut self, operation: Operation, words: &[Operand], bits: &[Operand], lut: Option<u8>) -> CellId {
        let mode = |operand: Option<&Operand>| match operand {
            Some(Operand::Tap(_)) => Mode::Direct,
            _ => Mode::Constant,
        };
        let constant = |operand: Option<&Operand>| match operand {
            Some(Operand::Constant(constant)) => *constant,
            _ => 0,
        };
        let core = PeConfiguration {
            operation,
            words: [0, 1, 2]
                .map(|place| PeOperand { mode: mode(words.get(place)), constant: constant(words.get(place)) }),
            bits: [0, 1, 2]
                .map(|place| PeOperand { mode: mode(bits.get(place)), constant: constant(bits.get(place)) != 0 }),
            lut,
        };
        let cell = self.cell("pe", Core::Pe(core));
        for (layer, operands) in [(Layer::Word, words), (Layer::Bit, bits)] {
            for (operand, port) in operands.iter().zip(0..) {
                if let Operand::Tap(word) = operand {
                    self.connect(layer, *word, cell, port);
                }
            }
        }
        cell
    }

    /// Connects an output to an input.
    pub fn connect(&mut self, layer: Layer, from: Tap, cell: CellId, port: u32) {
        let nets = &mut self.netlist.nets;
        let net = *self
            .nets
            .entry((layer, from.cell, from.port))
            .or_insert_with(|| nets.push(Net { layer, source: from.cell, port: from.port, sinks: Vec::new() }));
        nets[net].sinks.push(Sink { cell, port, cycles: from.cycles });
    }

    /// Gives a word of an element, until now a constant, the output of a cell.
    ///
    /// # Panics
    /// When the cell is no processing element.
    pub fn close(&mut self, from: Tap, cell: CellId, port: u32) {
        let Core::Pe(pe) = &mut self.netlist.cells[cell].core else { panic!("a processing element") };
        pe.words[port as usize] = PeOperand { mode: Mode::Direct, constant: 0 };
        self.connect(Layer::Word, from, cell, port);
    }

    /// Adds a memory that writes a stream of words from a cycle on, and reads them some cycles later.
    ///
    /// # Panics
    /// When the tile is not a wide-fetch one.
    pub fn memory(&mut self, tile: &TileSpec, start: i64, later: i64, from: Tap) -> CellId {
        let cell = self.cell("memory", Core::Memory(delay_line(tile, start, later)));
        self.connect(Layer::Word, from, cell, 0);
        cell
    }
}

/// A memory that writes 64 words, and reads them some cycles later.
fn delay_line(tile: &TileSpec, start: i64, later: i64) -> MemoryConfiguration {
    let Kind::WideFetch { fetch_width, .. } = tile.kind else { panic!("a wide-fetch tile") };
    let width = i64::from(fetch_width);
    let (write, read) = (start + width, start + 3 * width + later);
    let fetch = start + 2 * width - 1 + later;
    // The fetch takes a cycle that the write does not.
    let fetch = if (fetch - write) % width == 0 { fetch + 1 } else { fetch };
    let words = 64;
    let controller = |count: i64, start: i64, stride: i64| ControllerConfiguration {
        extent: Domain::from(vec![count as u64]),
        cycle: Affine { start, stride: vec![stride] },
        ..ControllerConfiguration::default()
    };
    let count = Some(Affine { start: 0, stride: vec![1] });
    let controllers = [
        ("in2agg_0", ControllerConfiguration { agg: count.clone(), ..controller(words, start, 1) }),
        (
            "agg2sram_0",
            ControllerConfiguration {
                agg: count.clone(),
                sram: count.clone(),
                ..controller(words / width, write, width)
            },
        ),
        (
            "sram2tb_0",
            ControllerConfiguration {
                sram: count.clone(),
                tb: count.clone(),
                ..controller(words / width, fetch, width)
            },
        ),
        ("tb2out_0", ControllerConfiguration { tb: count, ..controller(words, read, 1) }),
    ];
    MemoryConfiguration {
        tile: tile.name.clone(),
        controllers: controllers.into_iter().map(|(name, controller)| (name.to_owned(), controller)).collect(),
        ..MemoryConfiguration::default()
    }
}
