//! The cycle model of an application graph: every edge shows the word that its net carried so many cycles ago.
//!
//! A memory keeps every element of its array. A read shows the word that was written last in an earlier cycle.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_affine::{Affine, Recurrence};
use pushmem_buffers::{Direction, Port};
use pushmem_datapaths::Datapath;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;

use super::{ApplicationGraph, ArrayNode, BitDriver, Choice, Edge, RamNode, RamReadNode, WordDriver};
use crate::accelerator::Counter;
use crate::ids::{ArrayId, BitId, CounterId, InputId, KernelId, RamId, WordId};
use crate::kernel_state::{KernelFunction, KernelState, NetWord, function_of};
use crate::ram::RamState;
use crate::run::CounterState;

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
        let function = |kernel: KernelId| function_of(&datapaths[self.kernels[kernel].operation], &program.tables);
        let beats = IndexVec::<InputId, _>::from(self.input_beats(program, inputs)?);
        let input = |stream: InputId, number: usize| beats[stream].get(number).copied().unwrap_or_default();
        let accesses = self.array_accesses();
        let mut machine = Machine::new(self, program, datapaths, &accesses, &function);
        machine.run(self.length, &input);
        self.arrays(program, &machine.outputs)
    }

    /// The accesses of each array: counters of the model alone.
    pub fn array_accesses(&self) -> IndexVec<ArrayId, ArrayAccesses> {
        self.arrays.iter().map(ArrayAccesses::of).collect()
    }
}

/// The accesses of an array. Elements have numbers in the box around all that are accessed.
pub struct ArrayAccesses {
    /// Those of each port of its buffer.
    pub ports: Vec<PortAccesses>,
    /// How many elements there are.
    size: usize,
}

/// The accesses of a port, its loops in the order of time.
pub struct PortAccesses {
    direction: Direction,
    /// The cycle of each word.
    pub counter: Counter,
    /// The number of the element.
    pub element: Affine,
}

impl ArrayAccesses {
    fn of(array: &ArrayNode) -> Self {
        let in_time = |port: &Port| port.in_time_order().expect("ports of checked buffers have an order in time");
        let ports: Vec<Port> = array.buffer.ports.iter().map(in_time).collect();
        let dimensions = ports.first().map_or(0, |port| port.access.len());
        let mut elements: Vec<Affine> = ports.iter().map(|port| Affine::constant(0, port.domain.len())).collect();
        let mut size = 1;
        for dimension in 0..dimensions {
            let ranges = ports.iter().map(|port| port.range(&port.access[dimension]).into_inner());
            let (least, most) =
                ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default();
            let least = least as i64;
            for (element, port) in elements.iter_mut().zip(&ports) {
                *element = element.plus(&port.access[dimension].shifted(-least), size);
            }
            size *= most as i64 - least + 1;
        }
        let accesses = |(port, element): (Port, Affine)| {
            let loops = port.domain.iter().map(|level| level.name.clone()).collect();
            let counter = Counter { loops, extent: port.extents(), cycle: port.schedule };
            PortAccesses { direction: port.direction, counter, element }
        };
        ArrayAccesses { ports: ports.into_iter().zip(elements).map(accesses).collect(), size: size as usize }
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

    /// The words of the cycles before one, the latest first.
    fn before(&self, cycle: usize) -> impl Iterator<Item = Word> {
        (1..=self.words.len()).map(move |age| self.words[cycle.wrapping_sub(age) & self.mask])
    }
}

/// A port of an array at work.
struct ArrayPort<'a> {
    accesses: &'a PortAccesses,
    counter: CounterState<'a>,
    number: Recurrence,
}

impl<'a> ArrayPort<'a> {
    fn of(accesses: &'a PortAccesses) -> Self {
        let PortAccesses { counter, element, .. } = accesses;
        let number = Recurrence::new(element, &counter.extent, None);
        ArrayPort { accesses, counter: CounterState::new(counter), number }
    }

    /// Goes to where it is at the begin of a cycle.
    fn go_to(&mut self, now: i64) {
        self.counter.go_to(now);
        let PortAccesses { counter, element, .. } = self.accesses;
        let number = Affine { start: element.value(&self.counter.index), stride: element.stride.clone() };
        self.number = Recurrence::new(&number, &counter.extent, None);
    }

    /// The least element that it accesses from now on, if there is one.
    fn least_to_come(&self) -> Option<i64> {
        self.counter.is_active().then_some(())?;
        let PortAccesses { counter, element, .. } = self.accesses;
        let mut least = self.number.value();
        // The loops inside of a level begin again when it increments.
        let (mut around, mut inside) = (self.number.value(), 0);
        for ((&extent, &stride), &index) in counter.extent.iter().zip(&element.stride).zip(&self.counter.index) {
            let (index, last) = (index as i64, extent as i64 - 1);
            around -= stride * index;
            if index < last {
                least = least.min(around + inside + (stride * (index + 1)).min(stride * last));
            }
            inside += (stride * last).min(0);
        }
        Some(least)
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

/// The least element that ports read from now on; the last of all numbers if they read none.
fn least_to_come(ports: &[ArrayPort]) -> usize {
    let reads = ports.iter().filter(|port| port.accesses.direction == Direction::Read);
    reads.filter_map(ArrayPort::least_to_come).min().map_or(usize::MAX, |least| least as usize)
}

/// The cycle model of an application graph at work.
pub struct Machine<'a, Word> {
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
    /// The word on each port: a read port keeps it until the next.
    shown: IndexVec<ArrayId, Vec<Word>>,
    /// Words taken from each input.
    taken: IndexVec<InputId, usize>,
    /// The words of the output streams so far.
    pub outputs: Vec<Vec<Word>>,
    /// The cycles that it has executed.
    now: usize,
    /// The cycles that were skipped beside them.
    skipped: u64,
}

impl<'a, Word: NetWord> Machine<'a, Word> {
    /// A machine before its first cycle. `function` gives the function of each kernel.
    pub fn new(
        graph: &'a ApplicationGraph,
        program: &'a Program,
        datapaths: &'a [Datapath],
        accesses: &'a IndexVec<ArrayId, ArrayAccesses>,
        function: &dyn Fn(KernelId) -> KernelFunction<'a, Word>,
    ) -> Self {
        let mut longest: IndexVec<WordId, u64> = index_vec::index_vec![0; graph.words.len()];
        for edge in graph.edges() {
            if let Edge::Net { net, delay } = edge {
                longest[net] = longest[net].max(delay);
            }
        }
        let operations = program.operations();
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
        let kernels = graph.kernels.iter_enumerated().map(|(number, kernel)| {
            let sizes = (kernel.operands.len(), operations[kernel.operation].0.len());
            let (datapath, function) = (&datapaths[kernel.operation], function(number));
            KernelState::new(datapath, &program.tables, function, kernel.latency, sizes, reads(number))
        });
        Machine {
            graph,
            counters: graph.counters.iter().map(CounterState::new).collect(),
            kernels: kernels.collect(),
            words: longest.into_iter().map(History::of).collect(),
            bits: index_vec::index_vec![false; graph.bits.len()],
            memories: accesses.iter().map(|array| vec![Word::default(); array.size]).collect(),
            ports: accesses.iter().map(|array| array.ports.iter().map(ArrayPort::of).collect()).collect(),
            held: index_vec::index_vec![Word::default(); graph.words.len()],
            rams: graph.rams.iter().map(ram).collect(),
            shown: graph.arrays.iter().map(|array| vec![Word::default(); array.buffer.ports.len()]).collect(),
            taken: index_vec::index_vec![0; graph.inputs.len()],
            outputs: vec![Vec::new(); graph.outputs.len()],
            now: 0,
            skipped: 0,
        }
    }

    /// Executes so many cycles. `input` gives each word of an input stream, by its number among those taken from the stream.
    pub fn run(&mut self, cycles: u64, input: &dyn Fn(InputId, usize) -> Word) {
        (0..cycles).for_each(|_| self.cycle(input));
    }

    /// Lets so many cycles pass, in which no words enter or leave: counters move on, and the words of each array by so many elements. All
    /// other words are then as they are now.
    pub fn skip(&mut self, cycles: u64, elements: &[u64]) {
        self.skipped += cycles;
        let now = (self.now as u64 + self.skipped) as i64;
        self.counters.iter_mut().for_each(|counter| counter.go_to(now));
        for ((array, ports), &moved) in self.ports.iter_mut_enumerated().zip(elements) {
            let (least, moved) = (least_to_come(ports), moved as usize);
            if let Some(kept) = self.memories[array].len().checked_sub(moved).filter(|kept| least < *kept) {
                self.memories[array].copy_within(least..kept, least + moved);
            }
            ports.iter_mut().for_each(|port| port.go_to(now));
        }
    }

    /// Whether its nets and memories have, and had as long as edges ask for, the words of another machine of the graph, wherever the counters of
    /// both are: each array, from the first element on that will be read, so many elements later.
    pub fn has_words_of(&self, other: &Self, elements: &[u64]) -> bool {
        let of_kernel = |(one, other): (&KernelState<Word>, &KernelState<Word>)| {
            (&one.arrivals, &one.results) == (&other.arrivals, &other.results)
        };
        let of_array = |(array, ports): (ArrayId, &Vec<ArrayPort>)| {
            let (memory, other, moved) =
                (&self.memories[array], &other.memories[array], elements[array.index()] as usize);
            let least = least_to_come(ports).min(memory.len());
            least.checked_sub(moved).is_some_and(|first| memory[least..] == other[first..memory.len() - moved])
        };
        self.rams.is_empty()
            && (&self.shown, &self.held) == (&other.shown, &other.held)
            && self.ports.iter_enumerated().all(of_array)
            && self.kernels.iter().zip(&other.kernels).all(of_kernel)
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(one, of_other)| one.before(self.now).eq(of_other.before(other.now)))
    }

    fn cycle(&mut self, input: &dyn Fn(InputId, usize) -> Word) {
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
        for (number, stream) in self.graph.outputs.iter().enumerate() {
            if self.counters[stream.counter].steps() {
                let mut words = std::mem::take(&mut self.outputs[number]);
                words.extend(stream.lanes.iter().map(|lane| self.word(lane.edge)));
                self.outputs[number] = words;
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
                if port.accesses.direction == Direction::Read && port.counter.steps() {
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
        let index = |level: usize| node.counter.map_or(0, |counter| self.counters[counter].index[level] as i64);
        self.kernels[number].evaluate(&node.variables, index, &mut self.rams)
    }
}
