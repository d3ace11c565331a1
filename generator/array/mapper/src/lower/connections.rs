//! Connections: the words and bits that the inputs of cells read.

use std::collections::HashSet;

use pushmem_cells::{Bit, BitSource, Predicate, Word};
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Layer;
use pushmem_graph::{
    BitDriver, BitId, Choice, Edge, KernelId, KernelNode, TileInput, TileOutput, Variable, WordDriver, WordId,
};
use pushmem_netlist::{CellId, Core, Port, Sink};
use pushmem_pe::Mode;

use super::repeats::Repeat;
use super::{Lowering, PREDICATE_DELAY, Signal, lane_name};
use crate::predicates::{Chosen, Firings};

impl<'a> Lowering<'a> {
    /// Connects all cells but those that leave.
    pub(super) fn connect_all(&mut self) {
        let mut connected = HashSet::new();
        for kernel in self.graph.kernels.indices() {
            // The kernels of a unit have the same cells.
            let unit = self.units.of_kernel(kernel);
            if unit.is_none_or(|unit| connected.insert(&unit.name)) {
                self.connect_kernel(kernel);
            }
        }
        self.connect_units();
        for (net, content) in self.graph.words.iter_enumerated() {
            match &content.driver {
                WordDriver::Select(_) if self.repeats.contains_key(&net) => self.connect_repeat(net),
                WordDriver::Select(choices) if self.selections.contains_key(&net) => {
                    self.connect_selection(net, choices);
                }
                WordDriver::Hold(hold) => {
                    let loads = Firings::of_steps(self.graph, hold.counter, hold.when);
                    self.connect_hold(net, self.edge(hold.edge), vec![loads]);
                }
                _ => {}
            }
        }
        for (tile, content) in self.storage.tiles.iter_enumerated() {
            for (port, input) in content.inputs.iter().enumerate() {
                let signal = match input {
                    Some(TileInput::Edge(edge)) => self.edge(*edge),
                    Some(TileInput::Output { tile, output }) => self.output((*tile, *output)),
                    None => continue,
                };
                self.connect_signal(signal, self.tiles[tile].writes, port as u32);
            }
        }
    }

    fn connect_kernel(&mut self, number: KernelId) {
        for (place, fetch) in self.cells_of(&self.graph.kernels[number]).fetches.iter().enumerate() {
            let index = self.word(number, fetch.index);
            self.connect_signal(index, self.tables[number][place], 0);
        }
        let kernel = &self.graph.kernels[number];
        for (place, cell) in self.cells_of(kernel).cells.iter().enumerate() {
            let sink = self.kernels[number][place];
            for (port, word) in cell.used_words().iter().enumerate() {
                let signal = self.word(number, *word);
                self.connect_word(signal, sink, port);
            }
            for (port, bit) in cell.used_bits().iter().enumerate() {
                self.connect_bit(number, *bit, sink, port);
            }
        }
    }

    /// A word within a kernel, in the cycle in which the kernel begins an iteration.
    pub(super) fn word(&self, kernel: KernelId, word: Word) -> Signal {
        match word {
            Word::Constant(constant) => Signal::Constant(constant as u16),
            Word::Load(operand) => self.operand(kernel, operand),
            Word::Cell(cell) => Signal::word(self.kernels[kernel][cell], 0),
            // A table has the word some cycles after its index.
            Word::Fetch(fetch) => Signal::word(self.tables[kernel][fetch], 0).ago(-self.table_latency()),
            Word::Sequence(sequence) => self.sequences[kernel][sequence],
        }
    }

    /// The word of an edge.
    pub(super) fn edge(&self, edge: Edge) -> Signal {
        match edge {
            Edge::Constant(word) => Signal::Constant(word),
            Edge::Net { net, delay } => {
                let in_memories = self.delayed.range((net, 0)..=(net, delay)).next_back();
                match in_memories {
                    Some(((_, from), output)) => self.output(*output).ago((delay - from) as i64),
                    None => self.net(net).ago(delay as i64),
                }
            }
        }
    }

    /// The word on an output of a memory tile.
    fn output(&self, output: TileOutput) -> Signal {
        Signal::Delayed { of: self.outputs[&output], cycles: 0 }
    }

    /// The word of a net. Nets that only pass on others are those.
    pub(super) fn net(&self, net: WordId) -> Signal {
        match &self.graph.words[net].driver {
            WordDriver::Input { stream, lane } => Signal::word(self.inputs[stream.index()][*lane], 0),
            WordDriver::Port { array, port } => self.output(self.storage.read(*array, *port)),
            WordDriver::Kernel { kernel, word } => {
                let node = &self.graph.kernels[*kernel];
                let result = match self.cells_of(node).results[word.number()] {
                    Word::Load(operand) => self.edge(node.operands[operand]),
                    word => self.word(*kernel, word),
                };
                result.ago(node.latency as i64)
            }
            WordDriver::Select(choices) => match (self.repeats.get(&net), self.selections.get(&net)) {
                (Some(Repeat { output, late, .. }), _) => Signal::word(self.repeating[&net], *output).ago(-late),
                (None, Some(cells)) => match cells.first() {
                    Some(cell) => Signal::word(*cell, 0),
                    None => self.edge(choices[0].edge),
                },
                // An operand of a unit that its kernels hold.
                (None, None) => Signal::word(self.holds[&net], 0),
            },
            WordDriver::Hold(_) => Signal::word(self.holds[&net], 0),
            WordDriver::Ram { .. } => unreachable!("programs with random-access memories are refused before"),
        }
    }

    /// Connects the memory in place of a selection.
    fn connect_repeat(&mut self, net: WordId) {
        let Repeat { of, input, .. } = self.repeats[&net];
        self.connect_signal(self.edge(of), self.repeating[&net], input);
    }

    /// Connects the cells of a selection.
    fn connect_selection(&mut self, net: WordId, choices: &[Choice]) {
        let (otherwise, decided) = choices.split_last().expect("a selection has cases");
        let case = |choice: &Choice| {
            let bit = choice.when.expect("only the last case is chosen otherwise");
            (self.firings(bit), self.edge(choice.edge))
        };
        let cases = decided.iter().map(case).collect();
        let cells = self.selections[&net].clone();
        self.connect_choices(&cells, cases, self.edge(otherwise.edge));
    }

    /// The cycles in which a bit is 1.
    fn firings(&self, bit: BitId) -> Firings {
        let (counter, conditions) = match &self.graph.bits[bit].driver {
            BitDriver::Indices { counter, conditions } => (*counter, conditions.as_slice()),
            BitDriver::Begins(counter) => (*counter, &[] as &[_]),
        };
        Firings::of_conditions(&self.graph.counters[counter], conditions)
    }

    /// The output whose bit is 1 at these cycles, and how long after it. A bit that is the same some cycles later is the same output.
    pub(super) fn predicate(&mut self, firings: Firings) -> (Port, i64) {
        let memory = self.spec.memory.as_ref().expect("programs are compiled for arrays with memory tiles");
        self.scheduled(firings.predicate(&memory.tile).expect("memory tiles were checked"))
    }

    /// The place of a predicate that gives the bit of a schedule, some cycles later or earlier.
    pub(super) fn place_of_predicate(&self, schedule: &ControllerConfiguration) -> Option<usize> {
        let is_same = |other: &ControllerConfiguration| {
            (&other.extent, &other.cycle.stride) == (&schedule.extent, &schedule.cycle.stride)
                && (schedule.cycle.start - other.cycle.start).abs() <= PREDICATE_DELAY
        };
        self.predicates.iter().position(|(other, _)| is_same(other))
    }

    /// The same of the schedule of a controller.
    pub(super) fn scheduled(&mut self, schedule: ControllerConfiguration) -> (Port, i64) {
        let later = |other: &ControllerConfiguration| schedule.cycle.start - other.cycle.start;
        let bit = |cell: CellId| Port { cell, layer: Layer::Bit, port: 0 };
        let Some(place) = self.place_of_predicate(&schedule) else {
            let cell = self.add(format!("predicate_{}", self.predicates.len()), Core::Predicate(schedule.clone()));
            self.predicates.push((schedule, cell));
            return (bit(cell), 0);
        };
        let (known, cell) = &mut self.predicates[place];
        let cycles = later(known);
        if cycles < 0 {
            // The earliest of them is the output, and the others come later.
            self.nets.entry(bit(*cell)).or_default().iter_mut().for_each(|sink| sink.cycles -= cycles);
            self.netlist.cells[*cell].core = Core::Predicate(schedule.clone());
            *known = schedule;
        }
        (bit(*cell), cycles.max(0))
    }

    /// Connects a word to an operand of a processing element.
    pub(super) fn connect_word(&mut self, signal: Signal, cell: CellId, port: usize) {
        let Core::Pe(configuration) = &mut self.netlist.cells[cell].core else {
            unreachable!("operands are those of processing elements")
        };
        match signal {
            Signal::Constant(constant) => configuration.words[port].constant = constant.into(),
            Signal::Delayed { of, cycles } => {
                configuration.words[port].mode = Mode::Direct;
                self.connect(of, Sink { cell, port: port as u32, cycles });
            }
        }
    }

    fn connect_bit(&mut self, kernel: KernelId, bit: Bit, cell: CellId, port: usize) {
        let port_of = match bit.source {
            BitSource::False => None,
            BitSource::Cell(source) => {
                Some((Port { cell: self.kernels[kernel][source], layer: Layer::Bit, port: 0 }, 0))
            }
            BitSource::Predicate(number) => self.kernel_predicate(kernel, number),
        };
        match port_of {
            Some((of, cycles)) => {
                self.set_bit_mode(cell, port);
                self.connect(of, Sink { cell, port: port as u32, cycles });
            }
            None => {
                let Core::Pe(configuration) = &mut self.netlist.cells[cell].core else {
                    unreachable!("operands are those of processing elements")
                };
                configuration.bits[port].constant = bit.inverted;
            }
        }
    }

    pub(super) fn set_bit_mode(&mut self, cell: CellId, port: usize) {
        if let Core::Pe(configuration) = &mut self.netlist.cells[cell].core {
            configuration.bits[port].mode = Mode::Direct;
        }
    }

    /// The bit of a box of loop variables of a kernel; nothing if they are never in it.
    fn kernel_predicate(&mut self, kernel: KernelId, number: usize) -> Option<(Port, i64)> {
        let kernel = &self.graph.kernels[kernel];
        let predicate = &self.cells_of(kernel).predicates[number];
        let firings = self.chosen_by_predicate(kernel, predicate)?.inside()?;
        Some(self.predicate(firings))
    }

    /// The steps of a kernel whose loop variables are in a box; nothing if they never are.
    pub(super) fn chosen_by_predicate(&self, kernel: &'a KernelNode, predicate: &Predicate) -> Option<Chosen<'a>> {
        Chosen::by_predicate(self.counter(kernel), predicate, |variable| {
            let Variable { level, scale, offset } = self.variable(kernel, variable);
            (level, scale, offset)
        })
    }

    /// Connects a word to an input of a tile other than a processing element.
    fn connect_signal(&mut self, signal: Signal, cell: CellId, port: u32) {
        let (of, cycles) = match signal {
            Signal::Delayed { of, cycles } => (of, cycles),
            // An input that takes no track is 0.
            Signal::Constant(0) => return,
            Signal::Constant(constant) => (self.constant(constant), 0),
        };
        self.connect(of, Sink { cell, port, cycles });
    }

    pub(super) fn connect_outputs(&mut self) -> Vec<Vec<CellId>> {
        let mut outputs = Vec::new();
        for stream in &self.graph.outputs {
            let mut cells = Vec::new();
            for (lane, content) in stream.lanes.iter().enumerate() {
                let cell = self.add_lane(lane_name(&stream.name, lane, stream.lanes.len()), Core::Output);
                self.connect_signal(self.edge(content.edge), cell, 0);
                cells.push(cell);
            }
            outputs.push(cells);
        }
        outputs
    }

    pub(super) fn connect(&mut self, of: Port, sink: Sink) {
        self.nets.entry(of).or_default().push(sink);
    }
}
