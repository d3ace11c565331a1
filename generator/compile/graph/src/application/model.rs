//! The cycle model of an application graph: every edge shows the word that its net carried so many cycles ago.
//!
//! A memory keeps every element of its array. A read shows the word that was written last in an earlier cycle.

use std::collections::{BTreeMap, HashMap, VecDeque};

use index_vec::IndexVec;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port};
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_kernels::{Datapath, Evaluator};
use pushmem_nest::Program;

use super::{ApplicationGraph, BitDriver, Choice, Edge, InputNode, OutputNode, RamNode, RamReadNode, WordDriver};
use crate::accelerator::Counter;
use crate::addresses::AddressPipeline;
use crate::arrivals::Arrivals;
use crate::ids::{ArrayId, BitId, CounterId, InputId, KernelId, RamId, WordId};
use crate::ram::RamState;
use crate::run::{Beats, CounterState, for_each_beat, input_arrays, output_images, word_of};

impl ApplicationGraph {
    /// Runs the graph on these inputs, cycle by cycle, and returns the output arrays by name. `datapaths` are those of the
    /// program's operations.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared, or an output has other elements.
    pub fn run(
        &self,
        program: &Program,
        datapaths: &[Datapath],
        inputs: &BTreeMap<String, Image>,
    ) -> Result<BTreeMap<String, Image>, Diagnostic> {
        let images = input_arrays(program, inputs)?;
        let beats = self.inputs.iter().map(|stream| self.words_of(stream, images[&stream.array].values())).collect();
        let counters = self.iteration_counters();
        let ports = self.port_counters();
        let mut machine = Machine::new(self, program, datapaths, &counters, &ports);
        let mut outputs: Vec<Beats> = vec![Vec::new(); self.outputs.len()];
        for _ in 0..self.length {
            machine.cycle(&beats, &mut outputs);
        }
        let mut values: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        for (stream, beats) in self.outputs.iter().zip(&outputs) {
            let size = program.arrays[stream.array].size() * stream.element.words().len();
            let array = values.entry(stream.array).or_insert_with(|| vec![0; size]);
            self.take(stream, beats, array)?;
        }
        output_images(program, values)
    }

    fn words_of(&self, stream: &InputNode, values: &[i64]) -> Beats {
        let lanes: Vec<&Affine> = stream.lanes.iter().map(|lane| &lane.element).collect();
        let mut beats = Vec::new();
        for_each_beat(&self.counters[stream.counter], &lanes, |elements| {
            beats.extend(elements.iter().map(|&number| word_of(stream.element, values, number).unwrap_or(0)));
        });
        beats
    }

    /// Puts the words of an output stream where they belong in its array.
    fn take(&self, stream: &OutputNode, beats: &[u16], array: &mut [u16]) -> Result<(), Diagnostic> {
        let lanes: Vec<&Affine> = stream.lanes.iter().map(|lane| &lane.element).collect();
        let (mut words, mut beyond) = (beats.iter(), false);
        for_each_beat(&self.counters[stream.counter], &lanes, |elements| {
            for (&element, &word) in elements.iter().zip(words.by_ref()) {
                match array.get_mut(element) {
                    Some(place) => *place = word,
                    None => beyond = true,
                }
            }
        });
        match beyond {
            true => Err(Diagnostic::new(format!("the stream `{}` has elements outside of its array", stream.name))),
            false => Ok(()),
        }
    }

    /// When each kernel begins its iterations, and each port of an array has a word: counters of the model alone.
    fn iteration_counters(&self) -> IndexVec<KernelId, Counter> {
        self.kernels.iter().map(|kernel| kernel.iterations.clone()).collect()
    }

    /// The ports of each array, their loops in the order of time.
    fn port_counters(&self) -> IndexVec<ArrayId, Vec<(Port, Counter)>> {
        let in_time = |port: &Port| {
            let port = port.in_time_order().expect("ports of checked buffers have an order in time");
            let loops = port.domain.iter().map(|level| level.name.clone()).collect();
            let counter = Counter { loops, extent: port.extents(), cycle: port.schedule.clone() };
            (port, counter)
        };
        self.arrays.iter().map(|array| array.buffer.ports.iter().map(in_time).collect()).collect()
    }
}

/// The words of an array, by element.
type Memory = HashMap<Vec<i128>, u16>;

/// The pipeline of an operation.
struct KernelState<'a> {
    datapath: &'a Datapath,
    evaluator: Evaluator,
    arrivals: Arrivals,
    /// Results under way, the next to appear first; empty for an operation without registers.
    results: VecDeque<i64>,
    operands: Vec<u16>,
    loads: Vec<i64>,
    /// The number of each variable that the operation uses.
    used: Vec<usize>,
    variables: Vec<i64>,
    addresses: Vec<AddressPipeline<'a>>,
}

struct Machine<'a> {
    graph: &'a ApplicationGraph,
    counters: IndexVec<CounterId, CounterState<'a>>,
    kernels: IndexVec<KernelId, KernelState<'a>>,
    /// The words of each net, the newest first: as many as its edges ask for.
    words: IndexVec<WordId, VecDeque<u16>>,
    bits: IndexVec<BitId, bool>,
    memories: IndexVec<ArrayId, Memory>,
    ports: IndexVec<ArrayId, Vec<(&'a Port, CounterState<'a>)>>,
    /// The word in each hold register; 0 for other nets.
    held: IndexVec<WordId, u16>,
    rams: IndexVec<RamId, RamState>,
    /// Of each kernel, the memory and the read of each address that it gives.
    addresses: IndexVec<KernelId, Vec<(RamId, usize)>>,
    /// The word on each port: a read port keeps it until the next.
    shown: IndexVec<ArrayId, Vec<u16>>,
    /// Words taken from each input.
    taken: IndexVec<InputId, usize>,
}

impl<'a> Machine<'a> {
    fn new(
        graph: &'a ApplicationGraph,
        program: &Program,
        datapaths: &'a [Datapath],
        iterations: &'a IndexVec<KernelId, Counter>,
        ports: &'a IndexVec<ArrayId, Vec<(Port, Counter)>>,
    ) -> Self {
        let mut longest: IndexVec<WordId, u64> = index_vec::index_vec![0; graph.words.len()];
        for edge in graph.edges() {
            if let Edge::Net { net, delay } = edge {
                longest[net] = longest[net].max(delay);
            }
        }
        let operations = program.operations();
        let kernels = graph.kernels.indices().zip(iterations).map(|(number, _)| {
            let kernel = &graph.kernels[number];
            let datapath = &datapaths[kernel.operation];
            let depth = operations[kernel.operation].0.len();
            let arrivals = Arrivals::of(datapath);
            KernelState {
                evaluator: Evaluator::new(datapath, &program.tables),
                results: VecDeque::from(vec![0; kernel.latency.saturating_sub(arrivals.latest()) as usize]),
                arrivals,
                datapath,
                operands: vec![0; kernel.operands.len()],
                loads: vec![0; datapath.loads().len()],
                used: datapath.variables(),
                variables: vec![0; depth],
                addresses: AddressPipeline::all(datapath, &program.tables),
            }
        });
        let ram = |ram: &RamNode| {
            let ports = ram.reads.iter().map(|read| read.port).collect();
            RamState::new(program.arrays[ram.array].size(), ports)
        };
        let reads = |number: KernelId| {
            let (stage, datapath) = (graph.stage_of(number), &datapaths[graph.kernels[number].operation]);
            let place = |load: usize| {
                let is_read = |read: &RamReadNode| (read.stage, read.load) == (stage, load);
                let mut rams = graph.rams.iter_enumerated();
                let found = rams.find_map(|(ram, node)| Some((ram, node.reads.iter().position(is_read)?)));
                found.expect("each read has a memory")
            };
            datapath.memory_reads().iter().map(|read| place(read.load)).collect()
        };
        Machine {
            graph,
            counters: graph.counters.iter().map(CounterState::new).collect(),
            kernels: kernels.collect(),
            words: longest.into_iter().map(|delay| VecDeque::from(vec![0; delay as usize + 1])).collect(),
            bits: index_vec::index_vec![false; graph.bits.len()],
            memories: index_vec::index_vec![Memory::new(); graph.arrays.len()],
            ports: ports
                .iter()
                .map(|ports| ports.iter().map(|(port, counter)| (port, CounterState::new(counter))).collect())
                .collect(),
            held: index_vec::index_vec![0; graph.words.len()],
            rams: graph.rams.iter().map(ram).collect(),
            addresses: graph.kernels.indices().map(reads).collect(),
            shown: graph.arrays.iter().map(|array| vec![0; array.buffer.ports.len()]).collect(),
            taken: index_vec::index_vec![0; graph.inputs.len()],
        }
    }

    fn cycle(&mut self, inputs: &IndexVec<InputId, Beats>, outputs: &mut [Beats]) {
        self.read_memories();
        // Edges with a delay see the words of earlier cycles, whether their nets come before or after.
        for words in &mut self.words {
            words.pop_back();
            words.push_front(0);
        }
        for (number, bit) in self.graph.bits.iter_enumerated() {
            self.bits[number] = match &bit.driver {
                BitDriver::Begins(counter) => self.counters[*counter].steps(),
                BitDriver::Indices { counter, conditions } => {
                    let index = &self.counters[*counter].index;
                    conditions.iter().all(|(level, condition)| condition.holds(index[*level] as i64))
                }
            };
        }
        for (number, net) in self.graph.words.iter_enumerated() {
            let word = match &net.driver {
                WordDriver::Input { stream, lane } => {
                    inputs[*stream].get(self.taken[*stream] + lane).copied().unwrap_or(0)
                }
                WordDriver::Kernel { kernel, word } => word.of(self.result(*kernel)),
                WordDriver::Select(choices) => self.selected(choices),
                WordDriver::Port { array, port } => self.shown[*array][*port],
                WordDriver::Hold(_) => self.held[number],
                WordDriver::Ram { ram, read } => self.rams[*ram].shown(*read, self.ram_writes(*ram)),
            };
            self.words[number][0] = word;
        }
        for (stream, words) in self.graph.outputs.iter().zip(outputs) {
            if self.counters[stream.counter].steps() {
                words.extend(stream.lanes.iter().map(|lane| self.word(lane.edge)));
            }
        }
        for (number, stream) in self.graph.inputs.iter_enumerated() {
            if self.counters[stream.counter].steps() {
                self.taken[number] += stream.lanes.len();
            }
        }
        for ram in self.graph.rams.indices() {
            let writes = self.ram_writes(ram).collect::<Vec<_>>();
            self.rams[ram].write(writes);
        }
        for number in self.kernels.indices() {
            if self.kernels[number].results.pop_front().is_some() {
                let result = self.evaluate(number);
                self.kernels[number].results.push_back(result);
            }
        }
        for (ram, node) in self.graph.rams.iter_enumerated() {
            self.rams[ram].take(|read| self.counters[node.reads[read].counter].steps());
        }
        self.write_memories();
        self.load_registers();
        self.counters.iter_mut().for_each(CounterState::advance);
        self.ports.iter_mut().flatten().for_each(|(_, counter)| counter.advance());
    }

    fn read_memories(&mut self) {
        for (array, ports) in self.ports.iter_enumerated() {
            for (number, (port, counter)) in ports.iter().enumerate() {
                if port.direction == Direction::Read && counter.steps() {
                    let element = port.element(&counter.index);
                    self.shown[array][number] = self.memories[array].get(&element).copied().unwrap_or(0);
                }
            }
        }
    }

    fn write_memories(&mut self) {
        for (array, ports) in self.ports.iter_enumerated() {
            let writes = &self.graph.arrays[array].writes;
            for ((port, counter), &edge) in ports.iter().zip(writes) {
                if counter.steps() {
                    let word = self.word(edge);
                    self.memories[array].insert(port.element(&counter.index), word);
                }
            }
        }
    }

    /// Loads hold registers: they show these words from the next cycle on.
    fn load_registers(&mut self) {
        for (number, net) in self.graph.words.iter_enumerated() {
            if let WordDriver::Hold(hold) = &net.driver
                && self.counters[hold.counter].steps()
                && hold.when.is_none_or(|bit| self.bits[bit])
            {
                self.held[number] = self.word(hold.edge);
            }
        }
    }

    /// Addresses and elements that a random-access memory takes in this cycle.
    fn ram_writes(&self, ram: RamId) -> impl Iterator<Item = (usize, u16)> {
        let due = self.graph.rams[ram].writes.iter().filter(|write| self.counters[write.counter].steps());
        due.map(|write| (usize::from(self.word(write.address)), self.word(write.element)))
    }

    fn word(&self, edge: Edge) -> u16 {
        match edge {
            Edge::Net { net, delay } => self.words[net][delay as usize],
            Edge::Constant(word) => word,
        }
    }

    fn selected(&self, choices: &[Choice]) -> u16 {
        let chosen = choices.iter().find(|choice| choice.when.is_none_or(|bit| self.bits[bit]));
        chosen.map_or(0, |choice| self.word(choice.edge))
    }

    /// The result that a kernel shows. One without registers shows that of this cycle's operands.
    fn result(&mut self, kernel: KernelId) -> i64 {
        match self.kernels[kernel].results.front() {
            Some(&result) => result,
            None => self.evaluate(kernel),
        }
    }

    /// The result of a kernel for this cycle's operands.
    fn evaluate(&mut self, number: KernelId) -> i64 {
        let node = &self.graph.kernels[number];
        for (operand, &edge) in node.operands.iter().enumerate() {
            let word = self.word(edge);
            self.kernels[number].operands[operand] = word;
        }
        let state = &mut self.kernels[number];
        for (variable, &slot) in node.variables.iter().zip(&state.used) {
            let index = match (node.counter, variable.level) {
                (Some(counter), Some(level)) => self.counters[counter].index[level] as i64,
                _ => 0,
            };
            state.variables[slot] = variable.offset + variable.scale * index;
        }
        for (pipeline, &(ram, read)) in state.addresses.iter_mut().zip(&self.addresses[number]) {
            self.rams[ram].given[read] = pipeline.step(&state.operands, &state.variables);
        }
        state.arrivals.join(&mut state.operands, &mut state.variables);
        state.datapath.joined(&state.operands, &mut state.loads);
        state.evaluator.evaluate(&state.loads, &state.variables)
    }
}
