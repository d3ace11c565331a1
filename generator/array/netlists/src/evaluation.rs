//! The words of a netlist, cycle by cycle, without an array.

use index_vec::IndexVec;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_model::{Inputs as MemoryInputs, Tile};
use pushmem_netlist::{CellId, Core, Netlist};

/// A word and a bit of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The word.
    pub data: u32,
    /// The bit.
    pub valid: bool,
}

/// The source of an input, its output, and the cycles from it.
type Source = (CellId, usize, usize);

/// A cell at work.
enum State {
    Pe,
    Memory(Box<Tile>),
    Stream,
}

/// Evaluates a netlist in which each connection takes so many cycles. What was before the first cycle is 0.
pub struct Evaluation<'a> {
    netlist: &'a Netlist,
    spec: &'a ArraySpec,
    /// The source of each input, by layer and port.
    sources: IndexVec<CellId, [Vec<Option<Source>>; 2]>,
    states: IndexVec<CellId, State>,
    /// Whether the next cycle is that of the flush.
    is_flush: bool,
    /// The words and the bits of each output so far.
    words: IndexVec<CellId, Vec<Vec<u32>>>,
    bits: IndexVec<CellId, Vec<Vec<u32>>>,
}

impl<'a> Evaluation<'a> {
    /// Starts all cells, with so many cycles on each connection and so many before each memory starts.
    ///
    /// # Panics
    /// When a connection takes no cycle.
    pub fn new(netlist: &'a Netlist, spec: &'a ArraySpec, lags: &[i64]) -> Self {
        let none = || [vec![None; 3], vec![None; 3]];
        let mut sources: IndexVec<CellId, _> = netlist.cells.iter().map(|_| none()).collect();
        for connection in netlist.connections() {
            let (source, sink) = (connection.of.source, connection.sink);
            let cycles = sink.cycles + lags[sink.cell.index()] - lags[source.index()];
            assert!(cycles > 0, "{}", netlist.connection_name(&connection));
            let inputs: &mut [Vec<_>; 2] = &mut sources[sink.cell];
            inputs[connection.of.layer as usize][sink.port as usize] =
                Some((source, connection.of.port as usize, cycles as usize));
        }
        let state = |(number, cell): (usize, &pushmem_netlist::Cell)| match &cell.core {
            Core::Pe(_) => State::Pe,
            Core::Memory(configuration) => {
                let columns = spec.memory.as_ref().expect("an array with memories");
                let mut configuration = configuration.clone();
                for controller in configuration.controllers.values_mut() {
                    controller.cycle = controller.cycle.shifted(lags[number]);
                }
                let mut tile = Tile::new(&columns.tile);
                tile.configure(&configuration);
                State::Memory(Box::new(tile))
            }
            Core::Input | Core::Output => State::Stream,
        };
        let outputs = || netlist.cells.iter().map(|_| vec![Vec::new(); 4]).collect();
        let states = netlist.cells.iter().enumerate().map(state).collect();
        Evaluation { netlist, spec, sources, states, is_flush: true, words: outputs(), bits: outputs() }
    }

    /// Goes on by a cycle in which each input cell shows this stream, and gives the stream at each output cell. The first cycle
    /// is that of the flush.
    pub fn cycle(&mut self, inputs: impl Fn(CellId) -> Stream) -> Vec<(CellId, Stream)> {
        let mut shown = Vec::new();
        for cell in self.netlist.cells.indices() {
            let taken = |layer: Layer, port: usize| {
                let Some((source, output, cycles)) = self.sources[cell][layer as usize][port] else { return 0 };
                let outputs = if layer == Layer::Word { &self.words } else { &self.bits };
                let history = &outputs[source][output];
                // Cells before this one are a cycle ahead in their histories.
                let now = if source < cell { history.len() - 1 } else { history.len() };
                now.checked_sub(cycles).map_or(0, |then| history[then])
            };
            let words = [0, 1, 2].map(|port| taken(Layer::Word, port));
            let bits = [0, 1, 2].map(|port| taken(Layer::Bit, port) != 0);
            let (word_outputs, bit) = match (&self.netlist.cells[cell].core, &mut self.states[cell]) {
                (Core::Pe(pe), _) => {
                    let merged = |constant: u32, mode: pushmem_pe::Mode, word: u32| match mode {
                        pushmem_pe::Mode::Constant => constant,
                        _ => word,
                    };
                    let mut operands = words;
                    let mut flags = bits;
                    for place in 0..3 {
                        operands[place] = merged(pe.words[place].constant, pe.words[place].mode, words[place]);
                        let constant = pe.bits[place].constant;
                        flags[place] = merged(constant.into(), pe.bits[place].mode, bits[place].into()) != 0;
                    }
                    let outcome = pe.outcome(self.spec.word_bits(), operands, flags);
                    (vec![outcome.word], outcome.bit)
                }
                (_, State::Memory(tile)) => {
                    let mut ports = MemoryInputs { flush: self.is_flush, ..MemoryInputs::default() };
                    for (port, word) in ports.data.iter_mut().zip(words) {
                        *port = word.into();
                    }
                    let outputs = tile.outputs(&ports);
                    tile.clock(&ports);
                    let columns = self.spec.memory.as_ref().expect("an array with memories");
                    let bit = if columns.tile.stencil_valid { outputs.stencil_valid } else { outputs.valid[0] };
                    (outputs.data.iter().map(|word| word.value as u32).collect(), bit)
                }
                (Core::Output, _) => {
                    shown.push((cell, Stream { data: words[0], valid: bits[0] }));
                    (vec![0], false)
                }
                _ => {
                    let stream = inputs(cell);
                    (vec![stream.data], stream.valid)
                }
            };
            for (history, word) in self.words[cell].iter_mut().zip(word_outputs) {
                history.push(word);
            }
            self.bits[cell][0].push(bit.into());
        }
        self.is_flush = false;
        shown
    }
}
