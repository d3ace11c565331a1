//! The cycle-accurate model of a netlist.

use index_vec::IndexVec;
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_model::{Inputs, TileModel, Violation};
use pushmem_pe::{Configuration as PeConfiguration, ENABLE, Mode, Semantics};
use pushmem_tile::TileSpec;

use crate::netlist::{CellId, Core, Netlist, Port, only_predicate};

/// The place of the register of a late product: behind those of the words that are operands.
const PRODUCT: usize = 3;

/// The place of the word of a stream without a beat.
const STREAM: usize = 4;

/// The place of the words of the first output before the first cycle, and then those of the others.
const BEFORE: usize = 5;

/// Where an input takes its value: an output, and how many cycles ago.
type Taken = Option<(usize, usize)>;

/// The ports of a cell, by layer and number.
type Ports<T> = [Vec<T>; 2];

/// The values of an output of this cycle and of those before it: a ring, as long as a power of two.
struct History {
    values: Vec<u32>,
    mask: usize,
}

impl History {
    /// Room for the values of so many cycles, with the value of each before the first.
    fn of(cycles: usize, before: u32) -> Self {
        let length = cycles.next_power_of_two();
        History { values: vec![before; length], mask: length - 1 }
    }
}

/// The operands of a processing element in a cycle, and the word and the bit that its operation makes of them.
#[derive(Clone, Copy)]
struct Computed {
    words: [u32; 3],
    bits: [u32; 3],
    outcome: (u32, u32),
}

/// The cycle-accurate model of a netlist, in which each connection takes its cycles and cells take none, but for elements whose
/// products are late.
pub struct Machine<'a, S> {
    netlist: &'a Netlist,
    semantics: S,
    /// For each cell the numbers of its outputs that drive a net.
    outputs: IndexVec<CellId, Ports<Option<usize>>>,
    /// For each cell what its words and its bits take.
    inputs: IndexVec<CellId, Ports<Taken>>,
    /// The values of each output.
    history: Vec<History>,
    /// The processing elements, each after those whose results it takes in the same cycle.
    order: Vec<CellId>,
    tiles: Vec<(CellId, TileModel)>,
    /// For each processing element with held or accumulated words what their registers have.
    registers: IndexVec<CellId, Option<[u32; 3]>>,
    /// The words of late products.
    products: IndexVec<CellId, Option<u32>>,
    /// The last operands and results of each processing element, which computes the same of the same operands.
    computed: IndexVec<CellId, Option<Computed>>,
    now: usize,
}

impl<'a, S: Semantics> Machine<'a, S> {
    /// A machine before its first cycle, with the elements and the memories of an array.
    ///
    /// # Panics
    /// If a connection takes less than no cycles, or if there is a memory and the array has none.
    pub fn new(netlist: &'a Netlist, array: &ArraySpec, semantics: S) -> Self {
        let mut outputs: IndexVec<CellId, Ports<Option<usize>>> =
            netlist.cells.iter().map(|_| Ports::default()).collect();
        let mut inputs: IndexVec<CellId, Ports<Taken>> =
            netlist.cells.iter().map(|_| [vec![None; 4], vec![None; 4]]).collect();
        let mut history = Vec::new();
        let mut earlier: IndexVec<CellId, Vec<CellId>> = netlist.cells.iter().map(|_| Vec::new()).collect();
        for net in &netlist.nets {
            let ports = &mut outputs[net.source][net.layer as usize];
            ports.resize(ports.len().max(net.port as usize + 1), None);
            ports[net.port as usize] = Some(history.len());
            for sink in &net.sinks {
                let cycles = usize::try_from(sink.cycles).expect("no connection is early");
                inputs[sink.cell][net.layer as usize][sink.port as usize] = Some((history.len(), cycles));
                if cycles == 0 {
                    earlier[sink.cell].push(net.source);
                }
            }
            let longest = net.sinks.iter().map(|sink| sink.cycles as usize).max().unwrap_or(0);
            // Tracks may have words of an earlier run; bits of its predicates have become 0.
            let before = match net.layer {
                Layer::Word => semantics.unknown(net.source.raw(), BEFORE + net.port as usize),
                Layer::Bit => 0,
            };
            history.push(History::of(longest + 1, before));
        }
        let spec =
            || -> &TileSpec { &array.memory.as_ref().expect("a netlist with memories is for an array with some").tile };
        let configured = |configuration: &MemoryConfiguration| {
            let mut tile = TileModel::new(spec());
            tile.configure(configuration);
            tile.clock(&Inputs { flush: true, ..Inputs::default() });
            tile
        };
        let tile = |core: &Core| match core {
            Core::Memory(configuration) => Some(configured(configuration)),
            Core::Predicate(schedule) => Some(configured(&only_predicate(schedule, spec()))),
            Core::Pe(_) | Core::Input | Core::Output => None,
        };
        let tiles = netlist.cells.iter_enumerated().filter_map(|(cell, content)| Some((cell, tile(&content.core)?)));
        let tiles = tiles.collect();
        let order = order(netlist, &earlier);
        let registers = |(cell, core): (CellId, &Core)| match core {
            Core::Pe(pe) if pe.words.iter().any(|word| word.mode.is_enabled()) => {
                Some([0, 1, 2].map(|operand| semantics.unknown(cell.raw(), operand)))
            }
            _ => None,
        };
        let cores = netlist.cells.iter_enumerated().map(|(cell, content)| (cell, &content.core));
        let registers = cores.clone().map(registers).collect();
        let is_late = |core: &Core| matches!(core, Core::Pe(pe) if array.pe.latency(pe.operation) > 0);
        let product = |(cell, core): (CellId, &Core)| is_late(core).then(|| semantics.unknown(cell.raw(), PRODUCT));
        let products = cores.map(product).collect();
        let computed = netlist.cells.iter().map(|_| None).collect();
        Machine { netlist, semantics, outputs, inputs, history, order, tiles, registers, products, computed, now: 0 }
    }

    /// Puts a word on the output of a cell, if that drives a net.
    pub fn enter(&mut self, cell: CellId, word: u32) {
        self.put(Port { cell, layer: Layer::Word, port: 0 }, word);
    }

    /// Puts no word on the output of a cell: between the beats of a stream there is none of it, neither the last one nor the next.
    pub fn enter_none(&mut self, cell: CellId) {
        self.enter(cell, self.semantics.unknown(cell.raw(), STREAM));
    }

    fn put(&mut self, port: Port, value: u32) {
        let output = self.outputs[port.cell][port.layer as usize].get(port.port as usize);
        if let Some(output) = output.copied().flatten() {
            let History { values, mask } = &mut self.history[output];
            values[self.now & *mask] = value;
        }
    }

    fn taken(&self, taken: Taken) -> u32 {
        taken.map_or(0, |(output, cycles)| {
            let History { values, mask } = &self.history[output];
            values[self.now.wrapping_sub(cycles) & mask]
        })
    }

    /// The word that arrives at the first input of a cell.
    pub fn arriving(&self, cell: CellId) -> u32 {
        self.taken(self.inputs[cell][Layer::Word as usize][0])
    }

    fn tile_inputs(&self, cell: CellId) -> Inputs {
        let mut inputs = Inputs::default();
        for (word, taken) in inputs.data.iter_mut().zip(&self.inputs[cell][Layer::Word as usize]) {
            *word = self.taken(*taken).into();
        }
        inputs
    }

    /// Computes the outputs of all cells in this cycle, after the words that enter.
    pub fn show(&mut self) {
        for number in 0..self.tiles.len() {
            let (cell, tile) = &self.tiles[number];
            let (cell, outputs) = (*cell, tile.outputs(&Inputs::default()));
            for (port, word) in outputs.data.iter().enumerate() {
                self.put(Port { cell, layer: Layer::Word, port: port as u32 }, word.value as u32);
            }
            self.put(Port { cell, layer: Layer::Bit, port: 0 }, outputs.stencil_valid.into());
        }
        for place in 0..self.order.len() {
            let cell = self.order[place];
            let Core::Pe(configuration) = &self.netlist.cells[cell].core else { continue };
            let (words, bits) = self.operands(cell, configuration);
            let same = |last: &Computed| (last.words, last.bits) == (words, bits);
            let (word, bit) = match self.computed[cell].filter(same) {
                Some(last) => last.outcome,
                None => {
                    let outcome = self.semantics.outcome(configuration, words, bits);
                    self.computed[cell] = Some(Computed { words, bits, outcome });
                    outcome
                }
            };
            let word = self.products[cell].unwrap_or(word);
            self.put(Port { cell, layer: Layer::Word, port: 0 }, word);
            self.put(Port { cell, layer: Layer::Bit, port: 0 }, bit);
        }
    }

    /// The operands of a processing element in this cycle.
    fn operands(&self, cell: CellId, configuration: &PeConfiguration) -> ([u32; 3], [u32; 3]) {
        let PeConfiguration { words, bits, .. } = configuration;
        let [word_inputs, bit_inputs] = &self.inputs[cell];
        let bits = [0, 1, 2].map(|operand| match bits[operand].mode {
            Mode::Constant => bits[operand].constant.into(),
            _ => self.taken(bit_inputs[operand]),
        });
        let registers = self.registers[cell];
        let enabled = |operand: usize, new: u32| {
            let kept = registers.expect("a cell with enabled operands has registers")[operand];
            self.semantics.enabled(bits[ENABLE], new, kept)
        };
        let words = [0, 1, 2].map(|operand| match words[operand].mode {
            Mode::Constant => words[operand].constant,
            Mode::Held => enabled(operand, self.taken(word_inputs[operand])),
            Mode::Accumulated => enabled(operand, words[operand].constant),
            Mode::Direct | Mode::Delayed(_) | Mode::Undefined(_) => self.taken(word_inputs[operand]),
        });
        (words, bits)
    }

    /// The words of the registers of operands of a processing element in the next cycle, by what it computed in this one.
    fn next_registers(&self, cell: CellId, computed: &Computed) -> [u32; 3] {
        let Core::Pe(configuration) = &self.netlist.cells[cell].core else {
            unreachable!("only elements have registers")
        };
        [0, 1, 2].map(|operand| match configuration.words[operand].mode {
            Mode::Accumulated => computed.outcome.0,
            _ => computed.words[operand],
        })
    }

    /// Ends a cycle whose outputs were shown.
    pub fn clock(&mut self) {
        let inputs: Vec<Inputs> = self.tiles.iter().map(|(cell, _)| self.tile_inputs(*cell)).collect();
        for ((_, tile), inputs) in self.tiles.iter_mut().zip(&inputs) {
            tile.clock(inputs);
        }
        for &cell in &self.order {
            let Some(computed) = &self.computed[cell] else { continue };
            if self.registers[cell].is_some() {
                self.registers[cell] = Some(self.next_registers(cell, computed));
            }
            if let Some(product) = &mut self.products[cell] {
                *product = computed.outcome.0;
            }
        }
        self.now += 1;
    }

    /// The promises that the configurations of memories broke so far, with the cell of each.
    pub fn take_violations(&mut self) -> Vec<(CellId, Violation)> {
        let of_tile = |(cell, tile): &mut (CellId, TileModel)| {
            let cell = *cell;
            tile.take_certain_violations().into_iter().map(move |violation| (cell, violation)).collect::<Vec<_>>()
        };
        self.tiles.iter_mut().flat_map(of_tile).collect()
    }
}

/// The cells, each after those that it takes values of in the same cycle.
fn order(netlist: &Netlist, earlier: &IndexVec<CellId, Vec<CellId>>) -> Vec<CellId> {
    let mut order = Vec::new();
    let mut is_placed: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    for start in netlist.cells.indices() {
        let mut open = vec![(start, false)];
        while let Some((cell, is_done)) = open.pop() {
            if is_done {
                order.push(cell);
            } else if !std::mem::replace(&mut is_placed[cell], true) {
                open.push((cell, true));
                // Memories and streams show what they have, whatever enters in this cycle.
                if matches!(netlist.cells[cell].core, Core::Pe(_)) {
                    open.extend(earlier[cell].iter().map(|before| (*before, false)));
                }
            }
        }
    }
    order
}
