//! The cycle-accurate model of an accelerator.

use std::collections::{BTreeMap, VecDeque};

use index_vec::IndexVec;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_model::{Inputs, Outputs, TileModel, Violation};
use pushmem_nest::{Program, Table};

use crate::accelerator::{Accelerator, Case, Condition, Counter, Driver, OperationDatapath, Ram, Source, Turn};
use crate::ids::{CounterId, InputId, KernelId, RamId, TileId, WireId};
use crate::kernel_state::{KernelState, function_of};
use crate::ram::RamState;
use crate::stream_elements::{StreamElements, arrays, input_beats};

/// Result of a run of the model.
#[derive(Clone, Debug)]
pub struct Run {
    /// The output arrays by name.
    pub outputs: BTreeMap<String, Image>,
    /// Broken promises: the name of the tile, and the event.
    pub violations: Vec<(String, Violation)>,
}

/// The words of a stream, beat after beat, the lanes of a beat one after the other.
pub type Beats = Vec<u16>;

impl Accelerator {
    /// The words of each input stream, for these images by the name of the input.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared.
    pub fn input_beats(&self, program: &Program, inputs: &BTreeMap<String, Image>) -> Result<Vec<Beats>, Diagnostic> {
        input_beats(program, &self.counters, self.inputs.iter().map(StreamElements::from), inputs)
    }

    /// Runs the accelerator on these inputs, cycle by cycle.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared.
    pub fn run(&self, program: &Program, inputs: &BTreeMap<String, Image>) -> Result<Run, Diagnostic> {
        let (outputs, violations) = self.run_beats(program, self.input_beats(program, inputs)?);
        let streams = self.outputs.iter().map(StreamElements::from);
        Ok(Run { outputs: arrays(program, &self.counters, streams, &outputs)?, violations })
    }

    /// Runs the accelerator on the words of its input streams, cycle by cycle: those of its output streams, and what the tiles complain
    /// about, by their names.
    pub fn run_beats(&self, program: &Program, inputs: Vec<Beats>) -> (Vec<Beats>, Vec<(String, Violation)>) {
        let mut machine = Machine::new(self, &program.tables);
        let outputs = machine.run(&IndexVec::from(inputs));
        (outputs, machine.violations())
    }
}

/// The state of a [`Counter`].
pub(crate) struct CounterState<'a> {
    counter: &'a Counter,
    gaps: Vec<i64>,
    pub index: Vec<u64>,
    /// Cycles to the next step; nothing after the last.
    wait: Option<i64>,
}

impl<'a> CounterState<'a> {
    pub fn new(counter: &'a Counter) -> Self {
        let index = vec![0; counter.extent.len()];
        CounterState { counter, gaps: counter.gaps(), index, wait: Some(counter.cycle.start) }
    }

    pub fn steps(&self) -> bool {
        self.wait == Some(0)
    }

    /// Whether there are steps to come.
    pub fn is_active(&self) -> bool {
        self.wait.is_some()
    }

    /// Whether it steps in an iteration in which these conditions on its indices hold.
    fn loads(&self, conditions: &[(usize, Condition)]) -> bool {
        self.steps() && conditions.iter().all(|(level, condition)| condition.holds(self.index[*level] as i64))
    }

    /// Goes to where it is at the begin of a cycle.
    pub fn go_to(&mut self, now: i64) {
        let Counter { extent, cycle, .. } = self.counter;
        let number = extent.points_until(cycle, now - 1);
        self.index = extent.point(number);
        self.wait = (number < self.counter.iterations()).then(|| extent.value_at(cycle, number) - now);
    }

    /// Ends a cycle: the level that increments, if it is one of a step that is not the last.
    pub fn advance(&mut self) -> Option<usize> {
        let wait = self.wait.as_mut()?;
        if *wait > 0 {
            *wait -= 1;
            return None;
        }
        let level = self.counter.extent.advance(&mut self.index);
        self.wait = level.map(|level| self.gaps[level] - 1);
        level
    }
}

/// An instance of a datapath.
struct Instance<'a> {
    /// The kernel, or the first of those that share it.
    kernel: KernelId,
    operands: &'a [Source],
    state: KernelState<'a>,
}

struct Machine<'a> {
    accelerator: &'a Accelerator,
    counters: IndexVec<CounterId, CounterState<'a>>,
    instances: Vec<Instance<'a>>,
    /// The instance of each kernel.
    instance_of: IndexVec<KernelId, usize>,
    /// The words in each shift register, the newest last; that in each hold register; empty for other wires.
    registers: IndexVec<WireId, VecDeque<u16>>,
    tiles: IndexVec<TileId, TileModel>,
    tile_outputs: IndexVec<TileId, Outputs>,
    rams: IndexVec<RamId, RamState>,
    /// Tiles, each after the one whose outputs it passes on.
    tile_order: Vec<TileId>,
    values: IndexVec<WireId, u16>,
    /// The cycle.
    now: u64,
}

impl<'a> Machine<'a> {
    fn new(accelerator: &'a Accelerator, tables: &[Table]) -> Self {
        let mut instances: Vec<Instance> = Vec::new();
        let mut instance_of: IndexVec<KernelId, usize> = IndexVec::new();
        for (number, kernel) in accelerator.kernels.iter_enumerated() {
            let unit = accelerator.unit_of(number).map(|unit| &accelerator.units[unit]);
            let first = unit.map_or(number, |unit| unit.kernels[0]);
            if first < number {
                instance_of.push(instance_of[first]);
                continue;
            }
            instance_of.push(instances.len());
            let OperationDatapath { datapath, depth, .. } = &accelerator.datapaths[kernel.datapath];
            let operands = unit.map_or(&kernel.operands, |unit| &unit.operands);
            let (function, reads) = (function_of(datapath, tables), accelerator.ram_reads_of(number));
            let sizes = (operands.len(), *depth);
            let state = KernelState::new(datapath, tables, function, datapath.latency(), sizes, reads);
            instances.push(Instance { kernel: number, operands, state });
        }
        let registers = accelerator.wires.iter().map(|wire| match wire.driver {
            Driver::ShiftRegister { length, .. } => VecDeque::from(vec![0; length as usize]),
            Driver::Hold { .. } => VecDeque::from(vec![0]),
            _ => VecDeque::new(),
        });
        let mut tiles: IndexVec<TileId, TileModel> = IndexVec::new();
        for content in &accelerator.tiles {
            let mut tile = TileModel::without_stale_reads(&content.spec);
            tile.configure(&content.configuration);
            if content.begin == 0 {
                tile.clock(&Inputs { flush: true, ..Inputs::default() });
            }
            tiles.push(tile);
        }
        let ram = |ram: &Ram| RamState::new(ram.words as usize, ram.reads.iter().map(|read| read.port).collect());
        Machine {
            accelerator,
            counters: accelerator.counters.iter().map(CounterState::new).collect(),
            instances,
            instance_of,
            registers: registers.collect(),
            tile_outputs: index_vec::index_vec![Outputs::default(); tiles.len()],
            tile_order: tile_order(accelerator),
            tiles,
            rams: accelerator.rams.iter().map(ram).collect(),
            values: index_vec::index_vec![0; accelerator.wires.len()],
            now: 0,
        }
    }

    /// The words of the output streams for these of the input streams.
    fn run(&mut self, inputs: &IndexVec<InputId, Beats>) -> Vec<Beats> {
        let mut outputs: Vec<Beats> = vec![Vec::new(); self.accelerator.outputs.len()];
        let mut taken = index_vec::index_vec![0; inputs.len()];
        for _ in 0..self.accelerator.length {
            self.cycle(inputs, &mut taken, &mut outputs);
        }
        outputs
    }

    /// Executes a cycle. `taken` counts the words taken from each input.
    fn cycle(
        &mut self,
        inputs: &IndexVec<InputId, Beats>,
        taken: &mut IndexVec<InputId, usize>,
        outputs: &mut [Beats],
    ) {
        for &number in &self.tile_order {
            let inputs = self.tile_inputs(number);
            self.tile_outputs[number] = self.tiles[number].outputs(&inputs);
        }
        for (number, wire) in self.accelerator.wires.iter_enumerated() {
            self.values[number] = match &wire.driver {
                Driver::Input { stream, lane } => inputs[*stream].get(taken[*stream] + lane).copied().unwrap_or(0),
                Driver::ShiftRegister { .. } | Driver::Hold { .. } => self.registers[number][0],
                Driver::Tile { tile, output } => self.tile_outputs[*tile].data[*output].value as u16,
                Driver::Kernel { kernel, word } => self.kernel_result(self.instance_of[*kernel])[word.number()],
                Driver::Turns { turns } => self.word_of_turn(turns),
                Driver::Select { counter, cases } => self.selected(*counter, cases),
                Driver::Ram { ram, read } => self.rams[*ram].shown(*read, self.ram_writes(*ram)),
            };
        }
        for (stream, words) in self.accelerator.outputs.iter().zip(outputs) {
            if self.counters[stream.counter].steps() {
                words.extend(stream.lanes.iter().map(|lane| self.values[lane.wire]));
            }
        }
        for (stream, taken) in self.accelerator.inputs.iter().zip(taken) {
            if self.counters[stream.counter].steps() {
                *taken += stream.lanes.len();
            }
        }
        self.clock();
    }

    fn tile_inputs(&self, number: TileId) -> Inputs {
        let content = &self.accelerator.tiles[number];
        let mut inputs = Inputs::default();
        for (port, wire) in content.inputs.iter().enumerate() {
            inputs.data[port] = wire.map_or(0, |wire| u64::from(self.values[wire]));
        }
        if let Some(other) = content.chain_from {
            for (chain, word) in inputs.chain.iter_mut().zip(&self.tile_outputs[other].data) {
                *chain = word.value;
            }
        }
        inputs
    }

    /// Addresses and elements that a random-access memory takes in this cycle.
    fn ram_writes(&self, ram: RamId) -> impl Iterator<Item = (usize, u16)> {
        let due = self.accelerator.rams[ram].writes.iter().filter(|write| self.counters[write.counter].steps());
        due.map(|write| (usize::from(self.value(write.address)), self.value(write.element)))
    }

    fn value(&self, source: Source) -> u16 {
        match source {
            Source::Wire(wire) => self.values[wire],
            Source::Constant(word) => word,
        }
    }

    fn selected(&self, counter: CounterId, cases: &[Case]) -> u16 {
        let index = &self.counters[counter].index;
        let holds =
            |case: &&Case| case.conditions.iter().all(|(level, condition)| condition.holds(index[*level] as i64));
        self.value(cases.iter().find(holds).expect("the last case has no conditions").source)
    }

    /// The source of the kernel that begins an iteration; of the last, if none does.
    fn word_of_turn(&self, turns: &[Turn]) -> u16 {
        let begins = |turn: &&Turn| self.counters[turn.counter].steps();
        let turn = turns.iter().find(begins).or(turns.last()).expect("kernels take turns");
        self.value(turn.source)
    }

    /// The result that a kernel shows. One without registers shows that of this cycle's operands.
    fn kernel_result(&mut self, number: usize) -> [u16; 2] {
        match self.instances[number].state.results.front() {
            Some(&result) => result,
            None => self.evaluate(number),
        }
    }

    /// The result of a kernel for this cycle's operands, which it takes from their wires.
    fn evaluate(&mut self, number: usize) -> [u16; 2] {
        let Instance { kernel, operands, state } = &mut self.instances[number];
        for (operand, source) in state.operands.iter_mut().zip(*operands) {
            *operand = match *source {
                Source::Wire(wire) => self.values[wire],
                Source::Constant(word) => word,
            };
        }
        let kernel = &self.accelerator.kernels[*kernel];
        let index = |level: usize| kernel.counter.map_or(0, |counter| self.counters[counter].index[level] as i64);
        state.evaluate(&kernel.variables, index, &mut self.rams)
    }

    fn clock(&mut self) {
        for ram in self.accelerator.rams.indices() {
            let writes = self.ram_writes(ram).collect::<Vec<_>>();
            self.rams[ram].write(writes);
        }
        for number in 0..self.instances.len() {
            if self.instances[number].state.results.pop_front().is_some() {
                let result = self.evaluate(number);
                self.instances[number].state.results.push_back(result);
            }
        }
        for (number, ram) in self.accelerator.rams.iter_enumerated() {
            self.rams[number].take(|read| self.counters[ram.reads[read].counter].steps());
        }
        for (wire, register) in self.accelerator.wires.iter().zip(&mut self.registers) {
            let (of, moves) = match &wire.driver {
                Driver::ShiftRegister { of, .. } => (*of, true),
                Driver::Hold { of, counter, conditions } => (*of, self.counters[*counter].loads(conditions)),
                _ => continue,
            };
            if moves {
                register.pop_front();
                register.push_back(self.values[of]);
            }
        }
        for number in self.tiles.indices() {
            let inputs = self.tile_inputs(number);
            let flush = self.accelerator.tiles[number].begin == self.now + 1;
            self.tiles[number].clock(&Inputs { flush, ..inputs });
        }
        for counter in &mut self.counters {
            counter.advance();
        }
        self.now += 1;
    }

    fn violations(&mut self) -> Vec<(String, Violation)> {
        let named = self.accelerator.tiles.iter().zip(&mut self.tiles);
        named
            .flat_map(|(content, tile)| {
                tile.take_violations().into_iter().map(|violation| (content.name.clone(), violation))
            })
            .collect()
    }
}

/// The tiles, each after the one whose outputs it passes on.
fn tile_order(accelerator: &Accelerator) -> Vec<TileId> {
    let depth = |tile: TileId| std::iter::successors(Some(tile), |&tile| accelerator.tiles[tile].chain_from).count();
    let mut order: Vec<TileId> = accelerator.tiles.indices().collect();
    order.sort_by_key(|&tile| depth(tile));
    order
}
