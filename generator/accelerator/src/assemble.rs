//! From scheduled stages to kernels, shift registers, memory tiles and wires.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_configuration::Affine;
use pushmem_extraction::{Extraction, Origin};
use pushmem_files::Diagnostic;
use pushmem_kernels::{Datapath, NodeKind};
use pushmem_nest::{Operation, Program};
use pushmem_schedule::Schedule;
use pushmem_tile::TileSpec;
use serde::{Deserialize, Serialize};

use crate::accelerator::{
    Accelerator, Case, Condition, Constant, Copied, Counter, Driver, Kernel, Lane, Memory, OperationDatapath, Source,
    Stream, Tile, Variable, Wire, WireId,
};
use crate::error::AssemblyError;
use crate::outputs::final_stages;
use crate::roms::add_roms;
use crate::stream::stream_of;
use crate::taps::{Tap, TapCase, TapError, taps};

/// What the hardware may be made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    /// A step from one delay to the next of fewer cycles becomes registers, a longer one a memory (000 §V-C).
    pub shift_register_threshold: u64,
    /// The most entries of a table that stays in the logic of the kernels that look it up; a larger one is in ROM tiles.
    /// Of 64 entries, each bit is a function of six bits of the index: one look-up table of an FPGA.
    pub table_logic_words: usize,
}

impl Default for Constraints {
    fn default() -> Self {
        Constraints { shift_register_threshold: 20, table_logic_words: 64 }
    }
}

/// The program through the passes so far.
#[derive(Clone, Copy)]
struct Scheduled<'a> {
    program: &'a Program,
    operations: &'a [(Vec<&'a pushmem_nest::Loop>, &'a Operation)],
    extraction: &'a Extraction,
    schedule: &'a Schedule,
    /// The datapath of each operation.
    datapaths: &'a [Datapath],
}

/// Where the result of a stage is: that of another stage, some cycles ago, or its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    stage: usize,
    delay: u64,
}

/// What the result of a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// What is in this place.
    At(Place),
    /// Always this word: what reads it needs no wire.
    Constant(u16),
}

/// Assembles the accelerator of a scheduled program. `datapaths` are those of its operations, whose tables in memories are
/// in tiles of `rom_spec`.
///
/// # Errors
/// When a read would need more than delays and selections, the memory tiles cannot make a delay, or a ROM tile cannot hold a
/// table.
pub fn assemble(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    datapaths: &[Datapath],
    spec: &TileSpec,
    rom_spec: &TileSpec,
    constraints: &Constraints,
) -> Result<Accelerator, AssemblyError> {
    let operations = program.operations();
    let scheduled = Scheduled { program, operations: &operations, extraction, schedule, datapaths };
    let reads = reads(scheduled)?;
    let outcomes = outcomes(scheduled, &reads);
    let final_stages = final_stages(program, extraction)?;
    let delays = delays(&reads, &outcomes, &final_stages);
    let mut builder = Builder {
        scheduled,
        spec,
        constraints,
        outcomes,
        accelerator: Accelerator {
            name: program.name.clone(),
            spec: spec.clone(),
            rom_spec: rom_spec.clone(),
            length: 0,
            counters: Vec::new(),
            wires: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            datapaths: Vec::new(),
            kernels: Vec::new(),
            copies: Vec::new(),
            constants: Vec::new(),
            tiles: Vec::new(),
            memories: Vec::new(),
            roms: Vec::new(),
        },
        wires: BTreeMap::new(),
        datapath_of: BTreeMap::new(),
        selections: Vec::new(),
    };
    builder.add_inputs();
    for stage in 0..extraction.pipeline.stages.len() {
        if builder.outcomes[stage] != Outcome::At(Place { stage, delay: 0 }) {
            builder.add_wireless(stage);
            continue;
        }
        if matches!(extraction.origins[stage], Origin::Operation { .. }) {
            builder.add_kernel(stage, &reads[stage]);
        }
        builder.add_delays(stage, &delays[stage])?;
    }
    builder.add_outputs(&final_stages);
    let mut accelerator = builder.accelerator;
    add_roms(&mut accelerator, program, extraction, schedule)
        .map_err(|diagnostic| AssemblyError::Program(Box::new(diagnostic)))?;
    Ok(accelerator)
}

/// The taps of each read of each stage.
fn reads(scheduled: Scheduled) -> Result<Vec<Vec<Vec<TapCase>>>, AssemblyError> {
    let pipeline = &scheduled.extraction.pipeline;
    let stage_reads = |(stage, content): (usize, &pushmem_schedule::Stage)| {
        let tap = |(number, read)| {
            taps(pipeline, scheduled.schedule, stage, read)
                .map_err(|error| AssemblyError::Program(Box::new(explain(scheduled, stage, number, &error))))
        };
        content.reads.iter().enumerate().map(tap).collect::<Result<Vec<_>, _>>()
    };
    pipeline.stages.iter().enumerate().map(stage_reads).collect()
}

fn explain(scheduled: Scheduled, stage: usize, read: usize, error: &TapError) -> Diagnostic {
    let Origin::Operation { operation, .. } = scheduled.extraction.origins[stage] else {
        unreachable!("inputs read nothing");
    };
    let (loops_around, content) = &scheduled.operations[operation];
    let span = content.load_of_read(loops_around, read).map_or(content.target.span, |load| load.access.span);
    let loops = &scheduled.extraction.pipeline.stages[stage].loops;
    match error {
        TapError::Held { level } => scheduled
            .program
            .diagnostic(span, format!("each iteration of `{}` needs another delay here", loops[*level].name))
            .with_help(
                "a stencil reads at a constant distance from the writes, apart from boundaries and small factors of \
                 enlargement; let the loop index the array, or unroll the loop",
            ),
        TapError::NoProducer { index } => {
            let at = loops.iter().zip(index).map(|(level, index)| format!("{} = {index}", level.name)).join(", ");
            scheduled.program.diagnostic(span, format!("no stage writes what is read here at {at}"))
        }
    }
}

/// What the result of each stage is. A plain copy has none of its own.
fn outcomes(scheduled: Scheduled, reads: &[Vec<Vec<TapCase>>]) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (stage, origin) in scheduled.extraction.origins.iter().enumerate() {
        let own = Outcome::At(Place { stage, delay: 0 });
        let outcome = match origin {
            Origin::Input { .. } => own,
            Origin::Operation { operation, .. } => {
                let datapath = &scheduled.datapaths[*operation];
                let copied = copied_load(datapath).map(|load| reads[stage][load].as_slice());
                match (datapath.constant(), copied) {
                    (Some(number), _) => Outcome::Constant(number as u16),
                    (_, Some([TapCase { tap: Tap::Stage { producer, delay }, .. }])) => {
                        at(&outcomes, *producer, *delay)
                    }
                    _ => own,
                }
            }
        };
        outcomes.push(outcome);
    }
    outcomes
}

/// What the result of a stage some cycles ago is.
fn at(outcomes: &[Outcome], stage: usize, delay: i64) -> Outcome {
    let delay = u64::try_from(delay).expect("the schedule reads after the write");
    match outcomes[stage] {
        Outcome::At(place) => Outcome::At(Place { delay: place.delay + delay, ..place }),
        constant @ Outcome::Constant(_) => constant,
    }
}

/// The delays at which the result of each stage is wanted.
fn delays(
    reads: &[Vec<Vec<TapCase>>],
    outcomes: &[Outcome],
    final_stages: &BTreeMap<usize, Vec<usize>>,
) -> Vec<BTreeSet<u64>> {
    let mut delays = vec![BTreeSet::new(); outcomes.len()];
    let mut want = |outcome: Outcome| {
        if let Outcome::At(place) = outcome {
            delays[place.stage].insert(place.delay);
        }
    };
    for (stage, reads) in reads.iter().enumerate() {
        if outcomes[stage] == Outcome::At(Place { stage, delay: 0 }) {
            for case in reads.iter().flatten() {
                if let Tap::Stage { producer, delay } = case.tap {
                    want(at(outcomes, producer, delay));
                }
            }
        }
    }
    for &stage in final_stages.values().flatten() {
        want(outcomes[stage]);
    }
    delays
}

struct Builder<'a> {
    scheduled: Scheduled<'a>,
    spec: &'a TileSpec,
    constraints: &'a Constraints,
    outcomes: Vec<Outcome>,
    accelerator: Accelerator,
    /// The wire of each place.
    wires: BTreeMap<Place, WireId>,
    /// The datapath of each operation that has one.
    datapath_of: BTreeMap<usize, usize>,
    /// The selections that loads of kernels use.
    selections: Vec<(Driver, WireId)>,
}

impl Builder<'_> {
    fn stage_name(&self, stage: usize) -> &str {
        &self.scheduled.extraction.pipeline.stages[stage].name
    }

    fn add_wire(&mut self, name: String, driver: Driver) -> WireId {
        self.accelerator.wires.push(Wire { name, driver });
        self.accelerator.wires.len() - 1
    }

    /// The counter of a stage's loops, its steps some cycles late. Loops of one iteration are left out.
    fn counter(&mut self, stage: usize, late: u64) -> usize {
        let content = &self.scheduled.extraction.pipeline.stages[stage];
        let schedule = &self.scheduled.schedule.stages[stage];
        let levels = content.loops.iter().zip(&schedule.stride).filter(|(level, _)| level.extent > 1).collect_vec();
        let counter = Counter {
            loops: levels.iter().map(|(level, _)| level.name.clone()).collect(),
            extent: levels.iter().map(|(level, _)| level.extent).collect(),
            cycle: Affine {
                start: schedule.first(content) + late as i64,
                stride: levels.iter().map(|(_, stride)| **stride).collect(),
            },
        };
        let counters = &mut self.accelerator.counters;
        counters.iter().position(|other| *other == counter).unwrap_or_else(|| {
            counters.push(counter);
            counters.len() - 1
        })
    }

    /// The level of the counter that a loop of the stage is.
    fn counter_level(&self, stage: usize, level: usize) -> usize {
        let loops = &self.scheduled.extraction.pipeline.stages[stage].loops;
        loops[..level].iter().filter(|level| level.extent > 1).count()
    }

    /// A condition on the index of a loop as one on the counter, which counts from 0.
    fn counted(&self, stage: usize, level: usize, condition: Condition) -> Condition {
        let min = self.scheduled.extraction.pipeline.stages[stage].loops[level].min;
        Condition { first: condition.first - min, last: condition.last - min, ..condition }
    }

    /// Streams of an array: the lanes that come in the same cycles together. Returns the counter and the stages of each.
    fn lanes_together(&mut self, stages: &[usize], late: impl Fn(usize) -> u64) -> Vec<(usize, Vec<usize>)> {
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for &stage in stages {
            let counter = self.counter(stage, late(stage));
            match groups.iter_mut().find(|(other, _)| *other == counter) {
                Some((_, lanes)) => lanes.push(stage),
                None => groups.push((counter, vec![stage])),
            }
        }
        groups
    }

    /// Which element a stage writes, in order of memory, over the loops of its counter.
    fn element(&self, stage: usize) -> Affine {
        let content = &self.scheduled.extraction.pipeline.stages[stage];
        let array = &self.scheduled.program.arrays[content.write.array];
        let mut element = Affine { start: 0, stride: vec![0; content.loops.len()] };
        let mut size = 1;
        for (dimension, subscript) in content.write.subscripts.iter().enumerate() {
            element.start += size * (subscript.constant - array.min[dimension]);
            for (stride, coefficient) in element.stride.iter_mut().zip(&subscript.coefficients) {
                *stride += size * coefficient;
            }
            size *= array.shape[dimension];
        }
        let steps = content.loops.iter().zip(&element.stride);
        element.start += steps.clone().map(|(level, stride)| level.min * stride).sum::<i64>();
        element.stride = steps.filter(|(level, _)| level.extent > 1).map(|(_, stride)| *stride).collect();
        element
    }

    fn stream(&self, array: usize, number: Option<usize>, counter: usize) -> Stream {
        let declared = &self.scheduled.program.arrays[array];
        let name = number.map_or_else(|| declared.name.clone(), |number| format!("{}_{number}", declared.name));
        Stream { name, array, element: declared.element, counter, lanes: Vec::new() }
    }

    fn add_inputs(&mut self) {
        let extraction = self.scheduled.extraction;
        for array in 0..self.scheduled.program.arrays.len() {
            let stages: Vec<usize> = (0..extraction.origins.len())
                .filter(|&stage| matches!(extraction.origins[stage], Origin::Input { array: of, .. } if of == array))
                .collect();
            let groups = self.lanes_together(&stages, |_| 0);
            let several = groups.len() > 1;
            for (number, (counter, stages)) in groups.into_iter().enumerate() {
                let mut stream = self.stream(array, several.then_some(number), counter);
                for (lane, stage) in stages.into_iter().enumerate() {
                    let driver = Driver::Input { stream: self.accelerator.inputs.len(), lane };
                    let wire = self.add_wire(self.stage_name(stage).to_owned(), driver);
                    self.wires.insert(Place { stage, delay: 0 }, wire);
                    stream.lanes.push(Lane { wire, stage, element: self.element(stage) });
                }
                self.accelerator.inputs.push(stream);
            }
        }
    }

    fn add_outputs(&mut self, final_stages: &BTreeMap<usize, Vec<usize>>) {
        let pipeline = &self.scheduled.extraction.pipeline;
        for (&array, stages) in final_stages {
            let groups = self.lanes_together(stages, |stage| pipeline.stages[stage].latency);
            let several = groups.len() > 1;
            for (number, (counter, stages)) in groups.into_iter().enumerate() {
                let mut stream = self.stream(array, several.then_some(number), counter);
                for stage in stages {
                    let wire = match self.outcomes[stage] {
                        Outcome::At(place) => self.wires[&place],
                        Outcome::Constant(word) => self.add_constant_wire(stage, word),
                    };
                    stream.lanes.push(Lane { wire, stage, element: self.element(stage) });
                }
                let last = self.accelerator.counters[counter].last();
                self.accelerator.length = self.accelerator.length.max(last as u64 + 1);
                self.accelerator.outputs.push(stream);
            }
        }
    }

    /// Notes a stage that has no wire of its own: its result is that of another one, or constant.
    fn add_wireless(&mut self, stage: usize) {
        let Origin::Operation { operation, .. } = self.scheduled.extraction.origins[stage] else {
            unreachable!("an input has a result of its own");
        };
        match (copied_load(&self.scheduled.datapaths[operation]), self.outcomes[stage]) {
            (Some(load), _) => self.accelerator.copies.push(Copied { stage, load, selection: None }),
            (None, Outcome::Constant(word)) => self.accelerator.constants.push(Constant { stage, word }),
            (None, Outcome::At(_)) => unreachable!("only copies have the result of another stage"),
        }
    }

    /// A wire of a stage that always carries the same word.
    fn add_constant_wire(&mut self, stage: usize, word: u16) -> WireId {
        let cases = vec![Case { conditions: Vec::new(), source: Source::Constant(word) }];
        let counter = self.counter(stage, 0);
        self.add_wire(self.stage_name(stage).to_owned(), Driver::Select { counter, cases })
    }

    fn add_kernel(&mut self, stage: usize, reads: &[Vec<TapCase>]) {
        let Origin::Operation { operation, lanes } = &self.scheduled.extraction.origins[stage] else {
            unreachable!("inputs have no kernel");
        };
        let name = self.stage_name(stage).to_owned();
        let (loops, content) = &self.scheduled.operations[*operation];
        let outside = |read: usize| content.load_of_read(loops, read).and_then(|load| load.outside).unwrap_or(0);
        let operands = reads
            .iter()
            .enumerate()
            .map(|(read, cases)| self.operand(stage, &name, read, outside(read), cases))
            .collect_vec();
        let datapath = &self.scheduled.datapaths[*operation];
        if let Some(load) = copied_load(datapath) {
            // The selection itself is the result.
            let wire = match operands[load] {
                Source::Wire(wire) => wire,
                // All of it lies outside of the array.
                Source::Constant(word) => self.add_constant_wire(stage, word),
            };
            self.selections.retain(|(_, other)| *other != wire);
            self.accelerator.copies.push(Copied { stage, load, selection: Some(wire) });
            self.wires.insert(Place { stage, delay: 0 }, wire);
            return;
        }
        let number = self.datapath(*operation);
        let used = self.accelerator.datapaths[number].variables.clone();
        let variables = used
            .iter()
            .map(|&(variable, _)| {
                let level = loops.len() - 1 - variable;
                let (of, lane) = (loops[variable], lanes[level]);
                let iterated = self.scheduled.extraction.pipeline.stages[stage].loops[level].extent > 1;
                let counted = iterated.then(|| self.counter_level(stage, level));
                Variable { level: counted, scale: of.unroll, offset: of.min + lane }
            })
            .collect_vec();
        let counter = variables.iter().any(|variable| variable.level.is_some()).then(|| self.counter(stage, 0));
        let kernel = Kernel { name: name.clone(), stage, datapath: number, counter, operands, variables };
        self.accelerator.kernels.push(kernel);
        let driver = Driver::Kernel { kernel: self.accelerator.kernels.len() - 1 };
        let wire = self.add_wire(name, driver);
        self.wires.insert(Place { stage, delay: 0 }, wire);
    }

    /// The datapath of an operation, which its copies share.
    fn datapath(&mut self, operation: usize) -> usize {
        if let Some(&number) = self.datapath_of.get(&operation) {
            return number;
        }
        let content = self.scheduled.operations[operation].1;
        let datapath = self.scheduled.datapaths[operation].clone();
        let loops = &self.scheduled.operations[operation].0;
        self.accelerator.datapaths.push(OperationDatapath {
            name: content.name.clone(),
            operation,
            depth: loops.len(),
            variables: datapath
                .variables()
                .into_iter()
                .map(|number| (number, loops[number].variable.clone()))
                .collect(),
            datapath,
        });
        let number = self.accelerator.datapaths.len() - 1;
        self.datapath_of.insert(operation, number);
        number
    }

    /// The source of a load.
    fn operand(&mut self, stage: usize, name: &str, read: usize, outside: i64, cases: &[TapCase]) -> Source {
        let source = |tap: Tap| match tap {
            Tap::Stage { producer, delay } => match at(&self.outcomes, producer, delay) {
                Outcome::At(place) => Source::Wire(self.wires[&place]),
                Outcome::Constant(word) => Source::Constant(word),
            },
            Tap::Outside => Source::Constant(outside as u16),
        };
        // Constants are the same whatever their delay.
        if let Ok(only) = cases.iter().map(|case| source(case.tap)).all_equal_value() {
            return only;
        }
        let cases = cases
            .iter()
            .map(|case| Case {
                conditions: case
                    .conditions
                    .iter()
                    .map(|&(level, condition)| {
                        (self.counter_level(stage, level), self.counted(stage, level, condition))
                    })
                    .collect(),
                source: source(case.tap),
            })
            .collect_vec();
        let counter = self.counter(stage, 0);
        let driver = Driver::Select { counter, cases };
        // Loads that select alike share the selection.
        if let Some((_, wire)) = self.selections.iter().find(|(other, _)| *other == driver) {
            return Source::Wire(*wire);
        }
        let wire = self.add_wire(format!("{name}_load_{read}"), driver.clone());
        self.selections.push((driver, wire));
        Source::Wire(wire)
    }

    /// Adds the delays of a stage's result that are wanted: a chain of shift registers and memories, each beginning where
    /// the one before ends.
    fn add_delays(&mut self, stage: usize, delays: &BTreeSet<u64>) -> Result<(), AssemblyError> {
        let base = self.wires[&Place { stage, delay: 0 }];
        let name = self.accelerator.wires[base].name.clone();
        let delays = delays.iter().copied().filter(|&delay| delay > 0).collect_vec();
        // The end of the chain, and outputs of memories that begin before it and come later.
        let mut last = (0, base);
        let mut outputs: BTreeMap<u64, Driver> = BTreeMap::new();
        for (number, &delay) in delays.iter().enumerate() {
            let is_long = |from: u64, to: u64| to - from >= self.constraints.shift_register_threshold;
            if !outputs.contains_key(&delay) && is_long(last.0, delay) {
                let steps = std::iter::once(last.0).chain(delays[number..].iter().copied()).tuple_windows();
                let long = steps.filter(|(from, to)| is_long(*from, *to)).map(|(_, to)| to - last.0).collect_vec();
                match self.best_memory(stage, last, &long) {
                    Ok(memory) => outputs.extend(self.add_memory(last, memory)),
                    // The tile collects and spreads whole rows: what is too short for that becomes registers after all.
                    Err(_) if delay - last.0 <= LONGEST_RESCUE => {}
                    Err(error) => return Err(error),
                }
            }
            let place = Place { stage, delay };
            let driver = outputs.remove(&delay).unwrap_or(Driver::ShiftRegister { of: last.1, length: delay - last.0 });
            let known = match driver {
                Driver::Tile { tile, output } => self.accelerator.tiles[tile].outputs[output],
                _ => None,
            };
            let wire = known.unwrap_or_else(|| self.add_wire(format!("{name}_{delay}_ago"), driver.clone()));
            if let Driver::Tile { tile, output } = driver {
                self.connect(tile, output, wire);
            }
            self.wires.insert(place, wire);
            last = (delay, wire);
        }
        Ok(())
    }

    /// Maps the first of these delays of a wire, as many as take the fewest tiles each: the rest goes to another memory
    /// behind it, which is smaller than one that begins at the same wire.
    fn best_memory(&self, stage: usize, from: (u64, WireId), delays: &[u64]) -> Result<Memory, AssemblyError> {
        let mut best: Option<Memory> = None;
        let mut refused = None;
        for count in (1..=delays.len().min(self.spec.outputs as usize)).rev() {
            let delays = &delays[..count];
            let buffer = self.delay_buffer(stage, from.0, delays);
            match pushmem_mapping::map(&buffer, self.spec) {
                Ok(mapped) => {
                    let each = |memory: &Memory| (memory.mapped.tiles.len(), memory.delays.len());
                    let (tiles, delayed) = (mapped.tiles.len(), delays.len());
                    let fewer = |other: &Memory| tiles * each(other).1 < each(other).0 * delayed;
                    if best.as_ref().is_none_or(fewer) {
                        let (delays, wires) = (delays.to_vec(), Vec::new());
                        best = Some(Memory { of: from.1, delays, wires, buffer, mapped, first_tile: 0 });
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        best.ok_or_else(|| AssemblyError::Memory {
            wire: self.accelerator.wires[from.1].name.clone(),
            delays: delays.to_vec(),
            error: Box::new(refused.expect("there is a delay")),
        })
    }

    /// The buffer that delays a stage's result, itself some cycles late.
    fn delay_buffer(&self, stage: usize, late: u64, delays: &[u64]) -> UnifiedBuffer {
        let content = &self.scheduled.extraction.pipeline.stages[stage];
        let stream = stream_of(content, &self.scheduled.schedule.stages[stage]);
        let port = |name: String, direction: Direction, delay: u64| Port {
            name,
            direction,
            domain: stream.domain.clone(),
            access: vec![stream.number.clone()],
            schedule: Affine { start: stream.cycle.start + (late + delay) as i64, ..stream.cycle.clone() },
        };
        let reads = delays.iter().map(|&delay| port(format!("{delay}_ago"), Direction::Read, delay));
        let ports = std::iter::once(port("write".to_owned(), Direction::Write, 0)).chain(reads).collect();
        UnifiedBuffer { name: content.name.clone(), ports }
    }

    /// Adds a memory with its tiles, and returns what drives each of its delays, counted from the stage's result.
    fn add_memory(&mut self, from: (u64, WireId), memory: Memory) -> Vec<(u64, Driver)> {
        let first_tile = self.accelerator.tiles.len();
        let name = self.accelerator.wires[from.1].name.clone();
        for (number, tile) in memory.mapped.tiles.iter().enumerate() {
            let name = match memory.mapped.tiles.len() {
                1 => format!("{name}_memory"),
                _ => format!("{name}_memory_{number}"),
            };
            let inputs = tile.inputs.iter().map(|input| {
                input.map(|source| match source {
                    pushmem_mapping::Source::Port(_) => from.1,
                    pushmem_mapping::Source::Output { tile, output } => self.tile_output(first_tile + tile, output),
                })
            });
            let inputs = inputs.collect();
            self.accelerator.tiles.push(Tile {
                name,
                configuration: tile.configuration.clone(),
                inputs,
                outputs: vec![None; tile.outputs.len()],
                chain_from: tile.chain_from.map(|other| first_tile + other),
            });
        }
        let place = |(read, delay): (usize, &u64)| {
            let (tile, output) = place_of_read(&memory.mapped, read);
            (from.0 + delay, Driver::Tile { tile: first_tile + tile, output })
        };
        let places = memory.delays.iter().enumerate().map(place).collect();
        self.accelerator.memories.push(Memory { first_tile, ..memory });
        places
    }

    /// The wire that the output of a tile drives.
    fn tile_output(&mut self, tile: usize, output: usize) -> WireId {
        if let Some(wire) = self.accelerator.tiles[tile].outputs[output] {
            return wire;
        }
        let name = format!("{}_output_{output}", self.accelerator.tiles[tile].name);
        let wire = self.add_wire(name, Driver::Tile { tile, output });
        self.accelerator.tiles[tile].outputs[output] = Some(wire);
        wire
    }

    /// Connects a wire to the output of a tile that drives it.
    fn connect(&mut self, tile: usize, output: usize, wire: WireId) {
        self.accelerator.tiles[tile].outputs[output] = Some(wire);
        let within =
            |memory: &&mut Memory| (memory.first_tile..memory.first_tile + memory.mapped.tiles.len()).contains(&tile);
        let memory = self.accelerator.memories.iter_mut().find(within).expect("a tile belongs to a memory");
        // The wires of a memory come in the order of their delays.
        memory.wires.push(wire);
    }
}

/// The load that a datapath only passes on.
fn copied_load(datapath: &Datapath) -> Option<usize> {
    match datapath.nodes()[datapath.result()].kind {
        NodeKind::Load(load) => Some(load),
        _ => None,
    }
}

/// The longest delay, in cycles, that becomes registers where the memory tile cannot make it.
const LONGEST_RESCUE: u64 = 128;

/// The tile and the output where a read is. In a chain several tiles have the read: the last of them shows it.
fn place_of_read(mapped: &pushmem_mapping::MappedBuffer, read: usize) -> (usize, usize) {
    let feeds = |tile: usize| mapped.tiles.iter().any(|other| other.chain_from == Some(tile));
    let places = mapped.tiles.iter().enumerate().flat_map(|(tile, content)| {
        let outputs = content.outputs.iter().enumerate();
        outputs.filter(move |(_, port)| **port == Some(read + 1)).map(move |(output, _)| (tile, output))
    });
    let ends = places.filter(|(tile, _)| !feeds(*tile)).collect_vec();
    ends.first().copied().expect("every read port is mapped")
}
