//! The cycle-accurate model of a netlist in the time of the schedule, before placement.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_files::Diagnostic;
use pushmem_graph::{Beats, Counter};
use pushmem_images::Image;
use pushmem_model::{Inputs, Tile};
use pushmem_netlist::{CellId, Core, Netlist};
use pushmem_pe::{Configuration as PeConfiguration, Mode, Operand};

use crate::lower::{Lowered, Port};

/// The output arrays that the netlist of a program computes of these input arrays.
///
/// # Errors
/// When an input is missing, or has another shape than declared.
pub fn run(
    lowered: &Lowered,
    compiled: &Compiled,
    spec: &ArraySpec,
    inputs: &BTreeMap<String, Image>,
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let accelerator = &compiled.accelerator;
    let words = accelerator.input_beats(&compiled.program, inputs)?;
    let mut machine = Machine::new(&lowered.netlist, spec);
    let mut sources: Vec<Source> = (accelerator.inputs.iter().zip(&lowered.inputs).zip(&words))
        .flat_map(|((stream, cells), words)| {
            let counter = &accelerator.counters[stream.counter];
            cells.iter().enumerate().map(move |(lane, cell)| Source::new(*cell, counter, words, lane, cells.len()))
        })
        .collect();
    let mut sinks: Vec<(Vec<u64>, &Vec<CellId>, Beats)> = (accelerator.outputs.iter().zip(&lowered.outputs))
        .map(|(stream, cells)| (firings(&accelerator.counters[stream.counter]), cells, Beats::new()))
        .collect();
    let mut next = vec![0; sinks.len()];
    for cycle in 0..accelerator.length {
        for source in &mut sources {
            source.show(cycle, &mut machine);
        }
        machine.show();
        for ((cycles, cells, words), next) in sinks.iter_mut().zip(&mut next) {
            if cycles.get(*next) == Some(&cycle) {
                *next += 1;
                words.extend(cells.iter().map(|cell| machine.arriving(*cell) as u16));
            }
        }
        machine.clock();
    }
    let beats: Vec<Beats> = sinks.into_iter().map(|(_, _, words)| words).collect();
    accelerator.arrays(&compiled.program, &beats)
}

/// The cycles of a counter, ascending.
pub(crate) fn firings(counter: &Counter) -> Vec<u64> {
    counter.extent.values(&counter.cycle).map(|cycle| cycle as u64).sorted().collect()
}

/// The words of a lane of an input stream.
struct Source<'a> {
    cell: CellId,
    cycles: Vec<u64>,
    words: &'a [u16],
    next: usize,
    lane: usize,
    lanes: usize,
}

impl<'a> Source<'a> {
    fn new(cell: CellId, counter: &Counter, words: &'a [u16], lane: usize, lanes: usize) -> Self {
        Source { cell, cycles: firings(counter), words, next: 0, lane, lanes }
    }

    /// Puts the word of the beat that is due on the cell.
    fn show(&mut self, cycle: u64, machine: &mut Machine) {
        let beat = self.next * self.lanes + self.lane;
        machine.enter(self.cell, self.words.get(beat).copied().unwrap_or(0).into());
        if self.cycles.get(self.next) == Some(&cycle) {
            self.next += 1;
        }
    }
}

/// Where an input takes its value: an output, and how many cycles ago.
type Taken = Option<(usize, usize)>;

struct Machine<'a> {
    netlist: &'a Netlist,
    word_bits: u32,
    /// The number of each output that drives a net.
    outputs: BTreeMap<Port, usize>,
    /// For each cell what its words and its bits take.
    inputs: IndexVec<CellId, [Vec<Taken>; 2]>,
    /// The values of each output, of this cycle and of those before it.
    history: Vec<Vec<u32>>,
    /// The processing elements, each after those whose results it takes in the same cycle.
    order: Vec<CellId>,
    tiles: Vec<(CellId, Tile)>,
    now: usize,
}

impl<'a> Machine<'a> {
    fn new(netlist: &'a Netlist, spec: &ArraySpec) -> Self {
        let mut outputs = BTreeMap::new();
        let mut inputs: IndexVec<CellId, [Vec<Taken>; 2]> =
            netlist.cells.iter().map(|_| [vec![None; 4], vec![None; 4]]).collect();
        let mut history = Vec::new();
        let mut earlier: IndexVec<CellId, Vec<CellId>> = netlist.cells.iter().map(|_| Vec::new()).collect();
        for net in &netlist.nets {
            outputs.insert(Port { cell: net.source, layer: net.layer, port: net.port }, history.len());
            for sink in &net.sinks {
                let cycles = usize::try_from(sink.cycles).expect("before lags, no connection is early");
                inputs[sink.cell][net.layer as usize][sink.port as usize] = Some((history.len(), cycles));
                if cycles == 0 {
                    earlier[sink.cell].push(net.source);
                }
            }
            let longest = net.sinks.iter().map(|sink| sink.cycles as usize).max().unwrap_or(0);
            history.push(vec![0; longest + 1]);
        }
        let tiles = netlist.cells.iter_enumerated().filter_map(|(cell, content)| match &content.core {
            Core::Memory(configuration) => {
                let memory = spec.memory.as_ref().expect("a netlist with memories is for an array with some");
                let mut tile = Tile::new(&memory.tile);
                tile.configure(configuration);
                tile.clock(&Inputs { flush: true, ..Inputs::default() });
                Some((cell, tile))
            }
            _ => None,
        });
        let tiles = tiles.collect();
        let order = order(netlist, &earlier);
        Machine { netlist, word_bits: spec.word_bits(), outputs, inputs, history, order, tiles, now: 0 }
    }

    /// Puts a word on the output of a cell, if that drives a net.
    fn enter(&mut self, cell: CellId, word: u32) {
        self.put(Port { cell, layer: Layer::Word, port: 0 }, word);
    }

    fn put(&mut self, port: Port, value: u32) {
        if let Some(&output) = self.outputs.get(&port) {
            let length = self.history[output].len();
            self.history[output][self.now % length] = value;
        }
    }

    fn taken(&self, taken: Taken) -> u32 {
        taken.map_or(0, |(output, cycles)| {
            let history = &self.history[output];
            // Before the start there was nothing.
            self.now.checked_sub(cycles).map_or(0, |then| history[then % history.len()])
        })
    }

    /// The word that arrives at a cell.
    fn arriving(&self, cell: CellId) -> u32 {
        self.taken(self.inputs[cell][Layer::Word as usize][0])
    }

    fn tile_inputs(&self, cell: CellId) -> Inputs {
        let mut inputs = Inputs::default();
        for (word, taken) in inputs.data.iter_mut().zip(&self.inputs[cell][Layer::Word as usize]) {
            *word = self.taken(*taken).into();
        }
        inputs
    }

    /// Computes the outputs of all cells in this cycle.
    fn show(&mut self) {
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
            let PeConfiguration { words, bits, .. } = configuration;
            let [word_inputs, bit_inputs] = &self.inputs[cell];
            let words = [0, 1, 2].map(|operand| self.operand(&words[operand], word_inputs[operand]));
            let bits = [0, 1, 2].map(|operand| match bits[operand].mode {
                Mode::Constant => bits[operand].constant,
                _ => self.taken(bit_inputs[operand]) != 0,
            });
            let outcome = configuration.outcome(self.word_bits, words, bits);
            self.put(Port { cell, layer: Layer::Word, port: 0 }, outcome.word);
            self.put(Port { cell, layer: Layer::Bit, port: 0 }, outcome.bit.into());
        }
    }

    fn operand(&self, operand: &Operand<u32>, taken: Taken) -> u32 {
        if operand.mode == Mode::Constant { operand.constant } else { self.taken(taken) }
    }

    fn clock(&mut self) {
        let inputs: Vec<Inputs> = self.tiles.iter().map(|(cell, _)| self.tile_inputs(*cell)).collect();
        for ((_, tile), inputs) in self.tiles.iter_mut().zip(&inputs) {
            tile.clock(inputs);
        }
        self.now += 1;
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
