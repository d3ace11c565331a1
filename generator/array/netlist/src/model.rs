//! The cycle-accurate model of a netlist.

use std::ops::Range;

use index_vec::IndexVec;
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_model::{Inputs, MAX_PORTS, TileModel, Violation};
use pushmem_pe::{PeConfiguration, Semantics};
use pushmem_tile::TileSpec;

use crate::blocks::{Group, groups};
use crate::element::{BitOperand, Element, Scratch, WordOperand};
use crate::history::{Histories, Output, Taken};
use crate::netlist::{CellId, Core, Netlist, only_predicate};

/// The place of the word of a stream without a beat: behind those of the words that are operands, and of a late product.
const STREAM: usize = 4;

/// The place of the words of the first output before the first cycle, and then those of the others.
const BEFORE: usize = 5;

/// The most cycles of a block: more of them save little time.
pub(crate) const BLOCK: usize = 64;

/// The ports of a cell, by layer and number.
type Ports<T> = [Vec<Option<T>>; 2];

/// A memory at work.
struct Memory {
    cell: CellId,
    tile: TileModel,
    /// The ports that take words.
    takes: Vec<(usize, Taken)>,
    /// The ports whose words drive nets.
    shows: Vec<(u32, Output)>,
    bit: Option<Output>,
}

/// A cell that works in each cycle.
enum Worker<S: Semantics> {
    Element(Box<Element<S>>),
    Memory(Box<Memory>),
}

/// The cycle-accurate model of a netlist, in which each connection takes its cycles and cells take none, but for elements whose
/// products are late.
///
/// It runs in blocks of cycles: each cell does all of a block before the next one begins.
pub struct Machine<S: Semantics> {
    semantics: S,
    /// For each cell the outputs that drive a net.
    outputs: IndexVec<CellId, Ports<Output>>,
    /// For each cell what its words and its bits take.
    inputs: IndexVec<CellId, Ports<Taken>>,
    histories: Histories<S::Value>,
    /// The cells of each group, and the cycles that they do at once.
    groups: Vec<(Vec<Worker<S>>, usize)>,
    scratch: Scratch<S::Value>,
}

impl<S: Semantics> Machine<S> {
    /// A machine before its first cycle, with the elements and the memories of an array.
    ///
    /// # Panics
    /// If a connection takes less than no cycles, or if there is a memory and the array has none.
    pub fn new(netlist: &Netlist, array: &ArraySpec, semantics: S) -> Self {
        let mut outputs: IndexVec<CellId, Ports<Output>> = netlist.cells.iter().map(|_| Ports::default()).collect();
        let mut inputs: IndexVec<CellId, Ports<Taken>> =
            netlist.cells.iter().map(|_| [vec![None; MAX_PORTS], vec![None; MAX_PORTS]]).collect();
        let mut histories = Histories::new();
        for net in &netlist.nets {
            let longest = net.sinks.iter().map(|sink| sink.cycles).max().unwrap_or(0);
            // Tracks may have words of an earlier run; bits of its predicates have become 0.
            let before = match net.layer {
                Layer::Word => semantics.unknown(net.source.raw(), BEFORE + net.port as usize),
                Layer::Bit => 0.into(),
            };
            let output = histories.add(longest as usize + BLOCK + 1, before);
            let ports = &mut outputs[net.source][net.layer as usize];
            ports.resize(ports.len().max(net.port as usize + 1), None);
            ports[net.port as usize] = Some(output);
            for sink in &net.sinks {
                let cycles = usize::try_from(sink.cycles).expect("no connection is early");
                inputs[sink.cell][net.layer as usize][sink.port as usize] = Some(output.taken(cycles));
            }
        }
        let spec =
            || -> &TileSpec { &array.memory.as_ref().expect("a netlist with memories is for an array with some").tile };
        let memory = |cell: CellId, configuration: &MemoryConfiguration| {
            let mut tile = TileModel::without_stale_reads(spec());
            tile.configure(configuration);
            tile.clock(&Inputs { flush: true, ..Inputs::default() });
            let [words, bits] = &outputs[cell];
            let takes = inputs[cell][0].iter().enumerate().filter_map(|(port, taken)| Some((port, (*taken)?)));
            let shows = (0..).zip(words).filter_map(|(port, output)| Some((port, (*output)?)));
            let bit = bits.first().copied().flatten();
            Worker::Memory(Box::new(Memory { cell, tile, takes: takes.collect(), shows: shows.collect(), bit }))
        };
        let element = |cell: CellId, configuration: &PeConfiguration| {
            let [words, bits] = &inputs[cell];
            let of = |ports: &[Option<Output>]| ports.first().copied().flatten();
            Worker::Element(Box::new(Element {
                element: semantics.element(configuration),
                words: [0, 1, 2].map(|place| WordOperand::of(configuration.words[place], words[place])),
                bits: [0, 1, 2].map(|place| BitOperand::of(configuration.bits[place], bits[place])),
                outputs: outputs[cell].each_ref().map(|ports| of(ports)),
                state: Element::state(cell, configuration, array.pe.latency(configuration.operation) > 0, &semantics),
            }))
        };
        let worker = |cell: CellId| match &netlist.cells[cell].core {
            Core::Pe(configuration) => Some(element(cell, configuration)),
            Core::Memory(configuration) => Some(memory(cell, configuration)),
            Core::Predicate(schedule) => Some(memory(cell, &only_predicate(schedule, spec()))),
            Core::Input | Core::Output => None,
        };
        let group = |Group { cells, cycles }: Group| (cells.into_iter().filter_map(worker).collect(), cycles);
        let groups = groups(netlist, BLOCK).into_iter().map(group).collect();
        Machine { semantics, outputs, inputs, histories, groups, scratch: Scratch::of(BLOCK) }
    }

    /// The word of a cell whose stream has no beat: between beats there is neither the last one nor the next.
    pub(crate) fn nothing(&self, cell: CellId) -> S::Value {
        self.semantics.unknown(cell.raw(), STREAM)
    }

    /// Puts a word on the output of a cell in a cycle, if that drives a net.
    pub(crate) fn enter(&mut self, cell: CellId, cycle: usize, word: S::Value) {
        if let Some(output) = self.outputs[cell][Layer::Word as usize].first().copied().flatten() {
            self.histories.put(output, cycle, word);
        }
    }

    /// The word that arrives at the first input of a cell in a cycle.
    pub(crate) fn arriving(&self, cell: CellId, cycle: usize) -> S::Value {
        self.inputs[cell][Layer::Word as usize][0].map_or(0.into(), |taken| self.histories.value(taken, cycle))
    }

    /// Runs the cells in these cycles, no more than a [`BLOCK`], after the words that enter.
    pub(crate) fn run(&mut self, cycles: &Range<usize>) {
        let Machine { semantics, histories, scratch, groups, .. } = self;
        for (workers, length) in groups {
            for begin in cycles.clone().step_by(*length) {
                let cycles = begin..cycles.end.min(begin + *length);
                for worker in &mut *workers {
                    match worker {
                        Worker::Element(element) => element.run(semantics, histories, scratch, cycles.clone()),
                        Worker::Memory(memory) => {
                            cycles.clone().for_each(|cycle| memory.run(semantics, histories, cycle));
                        }
                    }
                }
            }
        }
    }

    fn workers(&self) -> impl Iterator<Item = &Worker<S>> {
        self.groups.iter().flat_map(|(workers, _)| workers)
    }

    /// Lets so many cycles pass, in which the main memory of each cell moves on by so many rows: see [`TileModel::skip`].
    pub(crate) fn skip(&mut self, cycles: u64, rows: &[u64]) {
        for worker in self.groups.iter_mut().flat_map(|(workers, _)| workers) {
            if let Worker::Memory(memory) = worker {
                memory.tile.skip(cycles, rows[memory.cell.index()]);
            }
        }
    }

    /// Whether its nets, registers and memories have in a cycle the words that those of another machine of the netlist have in another
    /// cycle, wherever the controllers of both are: in the main memory of each cell so many rows later.
    pub(crate) fn has_words_of(&self, cycle: usize, (other, other_cycle): (&Self, usize), rows: &[u64]) -> bool {
        let is_same = |(one, other): (&Worker<S>, &Worker<S>)| match (one, other) {
            (Worker::Element(one), Worker::Element(other)) => one.state == other.state,
            (Worker::Memory(one), Worker::Memory(other)) => one.tile.refines(&other.tile, rows[one.cell.index()]),
            _ => false,
        };
        let mut outputs = self.outputs.iter().flatten().flatten().flatten();
        outputs.all(|output| self.histories.are_those_of(*output, cycle, &other.histories, other_cycle))
            && self.workers().zip(other.workers()).all(is_same)
    }

    /// The promises that the configurations of memories broke so far, with the cell of each.
    pub(crate) fn take_violations(&mut self) -> Vec<(CellId, Violation)> {
        let of_worker = |worker: &mut Worker<S>| match worker {
            Worker::Memory(memory) => {
                let found = memory.tile.take_violations();
                found.into_iter().map(|violation| (memory.cell, violation)).collect()
            }
            Worker::Element(_) => Vec::new(),
        };
        let mut found: Vec<(CellId, Violation)> =
            self.groups.iter_mut().flat_map(|(workers, _)| workers).flat_map(of_worker).collect();
        found.sort_by_key(|(cell, _)| *cell);
        found
    }
}

impl Memory {
    /// Shows what it has in a cycle, after the cycle before.
    fn run<S: Semantics>(&mut self, semantics: &S, histories: &mut Histories<S::Value>, cycle: usize) {
        let mut inputs = Inputs::default();
        if let Some(before) = cycle.checked_sub(1) {
            for (port, taken) in &self.takes {
                inputs.data[*port] = histories.value(*taken, before).into();
            }
            self.tile.clock(&inputs);
        }
        for (port, output) in &self.shows {
            let word = self.tile.output(&inputs, *port).map_or(0, |word| word.value);
            histories.put(*output, cycle, semantics.stored(word));
        }
        if let Some(bit) = self.bit {
            histories.put(bit, cycle, u32::from(self.tile.stencil_valid()).into());
        }
    }
}
