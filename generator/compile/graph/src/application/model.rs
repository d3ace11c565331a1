//! The cycle model of an application graph: every edge shows the word that its net carried so many cycles ago.
//!
//! A memory keeps every element of its array. A read shows the word that was written last in an earlier cycle.

use std::collections::{BTreeMap, VecDeque};

use index_vec::IndexVec;
use pushmem_affine::{Affine, Recurrence};
use pushmem_buffers::{Direction, Port};
use pushmem_datapaths::{Datapath, Evaluator};
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::{Program, Word as WordOfResult};

use super::{ApplicationGraph, BitDriver, Choice, Edge, RamNode, RamReadNode, WordDriver};
use crate::accelerator::Counter;
use crate::addresses::AddressPipeline;
use crate::arrivals::Arrivals;
use crate::ids::{ArrayId, BitId, CounterId, InputId, KernelId, RamId, WordId};
use crate::ram::RamState;
use crate::run::CounterState;

/// A word of a net: a number of the hardware, or a token that tells its origin.
pub trait NetWord: Copy + Default + PartialEq + From<u16> {
    /// The number that it is as an address.
    fn number(self) -> u16;
}

impl NetWord for u16 {
    fn number(self) -> u16 {
        self
    }
}

impl NetWord for u64 {
    fn number(self) -> u16 {
        self as u16
    }
}

/// The words of a kernel's result, low word first, as a function of its operands and the values of its variables, which are numbered as
/// the loops of the operation.
pub type KernelFunction<'a, Word> = Box<dyn FnMut(&[Word], &[i64]) -> [Word; 2] + 'a>;

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
        let function = |kernel: KernelId| function_of(&datapaths[self.kernels[kernel].operation], program);
        let beats = IndexVec::<InputId, _>::from(self.input_beats(program, inputs)?);
        let input = |stream: InputId, number: usize| beats[stream].get(number).copied().unwrap_or_default();
        let beats = self.run_with(program, datapaths, &input, &function);
        self.arrays(program, &beats)
    }

    /// The words of the output streams. `input` gives each word of an input stream, by its number in the stream, and `kernel` the function
    /// of each kernel, of the words of its operands and the values of its variables.
    pub fn run_with<'a, Word: NetWord>(
        &'a self,
        program: &'a Program,
        datapaths: &'a [Datapath],
        input: &dyn Fn(InputId, usize) -> Word,
        kernel: &dyn Fn(KernelId) -> KernelFunction<'a, Word>,
    ) -> Vec<Vec<Word>> {
        let ports = self.port_counters();
        let mut machine = Machine::new(self, program, datapaths, &ports, &|number| kernel(number));
        let mut outputs: Vec<Vec<Word>> = vec![Vec::new(); self.outputs.len()];
        for _ in 0..self.length {
            machine.cycle(input, &mut outputs);
        }
        outputs
    }

    /// When each port of an array has a word, their loops in the order of time: counters of the model alone.
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

/// The words of a net in this cycle and in those before it: a ring, as long as a power of two.
struct History<Word> {
    words: Vec<Word>,
    mask: usize,
}

impl<Word: NetWord> History<Word> {
    /// Room for the words of this cycle and of so many before it.
    fn of(delay: u64) -> Self {
        let length = (delay as usize + 1).next_power_of_two();
        History { words: vec![Word::default(); length], mask: length - 1 }
    }
}

/// A port of an array: its loops in the order of time, and the number of its element.
struct ArrayPort<'a> {
    direction: Direction,
    counter: CounterState<'a>,
    number: Recurrence,
}

impl<'a> ArrayPort<'a> {
    /// The ports of an array, and how many elements it has. Elements have numbers in the box around all that are accessed.
    fn all(ports: &'a [(Port, Counter)]) -> (Vec<Self>, usize) {
        let dimensions = ports.first().map_or(0, |(port, _)| port.access.len());
        let mut numbers: Vec<Affine> = ports.iter().map(|(port, _)| Affine::constant(0, port.domain.len())).collect();
        let mut size = 1;
        for dimension in 0..dimensions {
            let ranges = ports.iter().map(|(port, counter)| {
                let access = &port.access[dimension];
                let ends =
                    access.stride.iter().zip(&counter.extent).map(|(stride, extent)| stride * (*extent as i64 - 1));
                let (least, most) = ends.fold((0, 0), |(least, most), end| (least + end.min(0), most + end.max(0)));
                (access.start + least, access.start + most)
            });
            let (least, most) =
                ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default();
            for (number, (port, _)) in numbers.iter_mut().zip(ports) {
                let access = &port.access[dimension];
                number.start += size * (access.start - least);
                number.stride.iter_mut().zip(&access.stride).for_each(|(to, stride)| *to += size * stride);
            }
            size *= most - least + 1;
        }
        let port = |((port, counter), number): (&'a (Port, Counter), Affine)| ArrayPort {
            direction: port.direction,
            counter: CounterState::new(counter),
            number: Recurrence::new(&number, &counter.extent, None),
        };
        (ports.iter().zip(numbers).map(port).collect(), size as usize)
    }

    /// The number of the element of this iteration.
    fn element(&self) -> usize {
        self.number.value() as usize
    }

    /// Ends a cycle.
    fn advance(&mut self) {
        if let Some(level) = self.counter.advance() {
            self.number.advance(level);
        }
    }
}

/// The function of a datapath.
fn function_of<'a>(datapath: &'a Datapath, program: &Program) -> KernelFunction<'a, u16> {
    let mut evaluator = Evaluator::new(datapath, &program.tables);
    let mut loads = vec![0; datapath.loads().len()];
    Box::new(move |operands, variables| {
        datapath.joined(operands, &mut loads);
        let result = evaluator.evaluate(&loads, variables);
        [WordOfResult::Low, WordOfResult::High].map(|word| word.of(result))
    })
}

/// The pipeline of an operation.
struct KernelState<'a, Word> {
    function: KernelFunction<'a, Word>,
    arrivals: Arrivals<Word>,
    /// Results under way, the next to appear first; empty for an operation without registers.
    results: VecDeque<[Word; 2]>,
    operands: Vec<Word>,
    /// The number of each variable that the operation uses.
    used: Vec<usize>,
    variables: Vec<i64>,
    addresses: Vec<AddressPipeline<'a>>,
    /// The operands and variables of the last call of the function, and its result: many kernels wait for most cycles.
    last: Option<(Vec<Word>, Vec<i64>, [Word; 2])>,
}

impl<Word: NetWord> KernelState<'_, Word> {
    /// The function of the operands and variables.
    fn call(&mut self) -> [Word; 2] {
        if let Some((operands, variables, result)) = &mut self.last {
            if *operands != self.operands || *variables != self.variables {
                operands.copy_from_slice(&self.operands);
                variables.copy_from_slice(&self.variables);
                *result = (self.function)(operands, variables);
            }
            return *result;
        }
        let result = (self.function)(&self.operands, &self.variables);
        self.last = Some((self.operands.clone(), self.variables.clone(), result));
        result
    }
}

struct Machine<'a, Word> {
    graph: &'a ApplicationGraph,
    counters: IndexVec<CounterId, CounterState<'a>>,
    kernels: IndexVec<KernelId, KernelState<'a, Word>>,
    /// The words of each net: as many as its edges ask for.
    words: IndexVec<WordId, History<Word>>,
    bits: IndexVec<BitId, bool>,
    /// The words of each array, by the number of the element.
    memories: IndexVec<ArrayId, Vec<Word>>,
    ports: IndexVec<ArrayId, Vec<ArrayPort<'a>>>,
    /// The word in each hold register; 0 for other nets.
    held: IndexVec<WordId, Word>,
    rams: IndexVec<RamId, RamState<Word>>,
    /// Of each kernel, the memory and the read of each address that it gives.
    addresses: IndexVec<KernelId, Vec<(RamId, usize)>>,
    /// The word on each port: a read port keeps it until the next.
    shown: IndexVec<ArrayId, Vec<Word>>,
    /// Words taken from each input.
    taken: IndexVec<InputId, usize>,
    /// The cycle.
    now: usize,
}

impl<'a, Word: NetWord> Machine<'a, Word> {
    fn new(
        graph: &'a ApplicationGraph,
        program: &'a Program,
        datapaths: &'a [Datapath],
        ports: &'a IndexVec<ArrayId, Vec<(Port, Counter)>>,
        function: &dyn Fn(KernelId) -> KernelFunction<'a, Word>,
    ) -> Self {
        let mut longest: IndexVec<WordId, u64> = index_vec::index_vec![0; graph.words.len()];
        for edge in graph.edges() {
            if let Edge::Net { net, delay } = edge {
                longest[net] = longest[net].max(delay);
            }
        }
        let operations = program.operations();
        let kernels = graph.kernels.iter_enumerated().map(|(number, kernel)| {
            let datapath = &datapaths[kernel.operation];
            let depth = operations[kernel.operation].0.len();
            let arrivals = Arrivals::of(datapath);
            KernelState {
                function: function(number),
                results: VecDeque::from(vec![
                    [Word::default(); 2];
                    kernel.latency.saturating_sub(arrivals.latest()) as usize
                ]),
                arrivals,
                operands: vec![Word::default(); kernel.operands.len()],
                used: datapath.variables(),
                variables: vec![0; depth],
                addresses: AddressPipeline::all(datapath, &program.tables),
                last: None,
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
        let (ports, memories): (Vec<_>, Vec<_>) = ports
            .iter()
            .map(|ports| ArrayPort::all(ports))
            .map(|(ports, size)| (ports, vec![Word::default(); size]))
            .unzip();
        Machine {
            graph,
            counters: graph.counters.iter().map(CounterState::new).collect(),
            kernels: kernels.collect(),
            words: longest.into_iter().map(History::of).collect(),
            bits: index_vec::index_vec![false; graph.bits.len()],
            memories: IndexVec::from(memories),
            ports: IndexVec::from(ports),
            held: index_vec::index_vec![Word::default(); graph.words.len()],
            rams: graph.rams.iter().map(ram).collect(),
            addresses: graph.kernels.indices().map(reads).collect(),
            shown: graph.arrays.iter().map(|array| vec![Word::default(); array.buffer.ports.len()]).collect(),
            taken: index_vec::index_vec![0; graph.inputs.len()],
            now: 0,
        }
    }

    fn cycle(&mut self, input: &dyn Fn(InputId, usize) -> Word, outputs: &mut [Vec<Word>]) {
        self.read_memories();
        // Edges with a delay see the words of earlier cycles, whether their nets come before or after.
        for History { words, mask } in &mut self.words {
            words[self.now & *mask] = Word::default();
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
                WordDriver::Input { stream, lane } => input(*stream, self.taken[*stream] + lane),
                WordDriver::Kernel { kernel, word } => self.result(*kernel)[word.number()],
                WordDriver::Select(choices) => self.selected(choices),
                WordDriver::Port { array, port } => self.shown[*array][*port],
                WordDriver::Hold(_) => self.held[number],
                WordDriver::Ram { ram, read } => self.rams[*ram].shown(*read, self.ram_writes(*ram)),
            };
            let History { words, mask } = &mut self.words[number];
            words[self.now & *mask] = word;
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
        self.counters.iter_mut().for_each(|counter| _ = counter.advance());
        self.ports.iter_mut().flatten().for_each(ArrayPort::advance);
        self.now += 1;
    }

    fn read_memories(&mut self) {
        for (array, ports) in self.ports.iter_enumerated() {
            for (number, port) in ports.iter().enumerate() {
                if port.direction == Direction::Read && port.counter.steps() {
                    self.shown[array][number] = self.memories[array][port.element()];
                }
            }
        }
    }

    fn write_memories(&mut self) {
        for (array, ports) in self.ports.iter_enumerated() {
            let writes = &self.graph.arrays[array].writes;
            for (port, &edge) in ports.iter().zip(writes) {
                if port.counter.steps() {
                    let word = self.word(edge);
                    self.memories[array][port.element()] = word;
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
    fn ram_writes(&self, ram: RamId) -> impl Iterator<Item = (usize, Word)> {
        let due = self.graph.rams[ram].writes.iter().filter(|write| self.counters[write.counter].steps());
        due.map(|write| (usize::from(self.word(write.address).number()), self.word(write.element)))
    }

    fn word(&self, edge: Edge) -> Word {
        match edge {
            Edge::Net { net, delay } => {
                let History { words, mask } = &self.words[net];
                words[self.now.wrapping_sub(delay as usize) & mask]
            }
            Edge::Constant(word) => word.into(),
        }
    }

    fn selected(&self, choices: &[Choice]) -> Word {
        let chosen = choices.iter().find(|choice| choice.when.is_none_or(|bit| self.bits[bit]));
        chosen.map_or_else(Word::default, |choice| self.word(choice.edge))
    }

    /// The result that a kernel shows. One without registers shows that of this cycle's operands.
    fn result(&mut self, kernel: KernelId) -> [Word; 2] {
        match self.kernels[kernel].results.front() {
            Some(&result) => result,
            None => self.evaluate(kernel),
        }
    }

    /// The result of a kernel for this cycle's operands.
    fn evaluate(&mut self, number: KernelId) -> [Word; 2] {
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
        if !state.addresses.is_empty() {
            let numbers: Vec<u16> = state.operands.iter().map(|word| word.number()).collect();
            for (pipeline, &(ram, read)) in state.addresses.iter_mut().zip(&self.addresses[number]) {
                self.rams[ram].given[read] = pipeline.step(&numbers, &state.variables);
            }
        }
        state.arrivals.join(&mut state.operands, &mut state.variables);
        state.call()
    }
}
