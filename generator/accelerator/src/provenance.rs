//! The proof that every kernel and every output sees the values that the program says.
//!
//! Two facts together prove an accelerator. The first, checked by replay for each mapped memory, is that a memory output
//! shows in each cycle of its schedule the word that was on the memory's input wire a fixed number of cycles before. The
//! second is checked here: with every wire understood as some stage's result some cycles ago, each operand is at each
//! iteration the element that the program reads, and each output beat is the element that its stream says.
//!
//! The time at which an element is produced is a sum with one term for each loop of the reader, because each dimension of
//! an array follows one loop, and so is the reader's own time. So where the same case of a selection applies, and elements
//! are of the same writers, their difference is constant if it does not change along any one loop while the others stay:
//! this is checked for every index of every loop, and all cases, which costs the sum of the extents and not their product.
//! Where nothing is divided, limited or interleaved, the difference is an affine function of each index, and the ends of
//! each loop tell about all of it.

use std::collections::{HashMap, HashSet};

use itertools::Itertools;
use pushmem_buffers::Port;
use pushmem_extraction::{Extraction, Origin};
use pushmem_nest::{Level, Loop, Operation, Program, Schedule as Policy};
use pushmem_schedule::{Access, Boundary, Schedule, Stage, Subscript};

use crate::accelerator::{
    Accelerator, Case, Condition, Copied, Driver, Lane, Memory, Source, StoredArray, WireId, counted_levels,
};
use crate::error::{PartError, ProofError, ProvenanceError, require};
use crate::pointwise::{followed, pointwise_producer};
use crate::{memories, order, stored};

/// A stage's result some cycles ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    stage: usize,
    cycles: i64,
}

struct Prover<'a> {
    program: &'a Program,
    /// Those of the program, found once.
    operations: Vec<(Vec<&'a Loop>, &'a Operation)>,
    extraction: &'a Extraction,
    schedule: &'a Schedule,
    accelerator: &'a Accelerator,
    /// What each wire is; nothing for selections.
    wires: Vec<Option<Past>>,
    /// Stages that have a result of their own: inputs, kernels, and copies by selection.
    owners: HashSet<usize>,
    /// The word of each stage whose result is always the same.
    constants: HashMap<usize, u16>,
    /// The stages that write each array.
    writers: Vec<Vec<usize>>,
}

/// Proves that all kernels and outputs of an accelerator see the values that the program says, given that each memory
/// output is its input wire so many cycles ago. All references lead somewhere.
///
/// # Errors
/// The first memory that is not the one that was replayed, and the first operand or output that does not.
pub(crate) fn prove(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    accelerator: &Accelerator,
) -> Result<(), ProofError> {
    let inputs = accelerator.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| lane.stage);
    let kernels = accelerator.kernels.iter().map(|kernel| kernel.stage);
    let selections = || accelerator.copies.iter().filter_map(|copy| Some((copy, copy.selection?)));
    let copies = selections().map(|(copy, _)| copy.stage);
    let owners = inputs.chain(kernels).chain(copies).collect();
    let mut writers = vec![Vec::new(); extraction.pipeline.arrays.len()];
    for (number, stage) in extraction.pipeline.stages.iter().enumerate() {
        writers[stage.write.array].push(number);
    }
    let constants = accelerator.constants.iter().map(|constant| (constant.stage, constant.word)).collect();
    let wires = Vec::new();
    let operations = program.operations();
    let mut prover =
        Prover { program, operations, extraction, schedule, accelerator, wires, owners, constants, writers };
    prover.wires = prover.trace();
    for memory in &accelerator.memories {
        prover.memory(memory)?;
    }
    for array in &accelerator.arrays {
        prover.array(array)?;
    }
    for (copy, wire) in selections() {
        // Its own wire stands for its result; what it selects is checked here.
        let result = prover.wires[wire].take();
        prover.operand(copy.stage, copy.load, Source::Wire(wire))?;
        prover.wires[wire] = result;
    }
    // Where arrays are kept, results are passed on iteration by iteration.
    for copy in accelerator.copies.iter().filter(|copy| copy.selection.is_none() && !prover.is_stored()) {
        prover.copy(copy)?;
    }
    for kernel in &accelerator.kernels {
        let datapath = &accelerator.datapaths[kernel.datapath].datapath;
        for (load, operand) in kernel.operands.iter().enumerate().filter(|(load, _)| datapath.uses(*load)) {
            prover.operand(kernel.stage, load, *operand)?;
        }
    }
    for stream in accelerator.inputs.iter().chain(&accelerator.outputs) {
        for lane in &stream.lanes {
            prover.lane(&stream.name, stream.counter, lane)?;
        }
    }
    Ok(())
}

impl Prover<'_> {
    /// Follows every wire back to the stage whose result it is.
    fn trace(&self) -> Vec<Option<Past>> {
        let mut wires: Vec<Option<Past>> = Vec::new();
        let later = |past: Option<Past>, cycles: i64| past.map(|past| Past { cycles: past.cycles + cycles, ..past });
        for (number, wire) in self.accelerator.wires.iter().enumerate() {
            let past = match &wire.driver {
                Driver::Input { stream, lane } => {
                    Some(Past { stage: self.accelerator.inputs[*stream].lanes[*lane].stage, cycles: 0 })
                }
                Driver::Kernel { kernel } => Some(Past { stage: self.accelerator.kernels[*kernel].stage, cycles: 0 }),
                Driver::ShiftRegister { of, length } => later(wires[*of], *length as i64),
                Driver::Tile { .. } => match self.memory_delay(number) {
                    Some((of, delay)) => later(wires[of], delay),
                    None => self.selected(number),
                },
                Driver::Select { .. } => self.selected(number),
                // It is no stage's result: what a unit takes in its turns is what its kernels take.
                Driver::Turns { .. } => None,
            };
            wires.push(past);
        }
        wires
    }

    /// The stage whose result a wire is that selects a load or reads it from a memory.
    fn selected(&self, wire: WireId) -> Option<Past> {
        let copy = self.accelerator.copies.iter().find(|copy| copy.selection == Some(wire))?;
        Some(Past { stage: copy.stage, cycles: 0 })
    }

    /// Checks that an array is kept in the tiles that are replayed, which take what the stages write, and that its accesses
    /// follow each other as in the program.
    fn array(&self, array: &StoredArray) -> Result<(), PartError> {
        let pipeline = &self.extraction.pipeline;
        let level = self.program.arrays.get(array.array).and_then(|array| array.level);
        stored::check_tiles(self.accelerator, array, level.unwrap_or(Level::Memory))?;
        stored::check_writes(pipeline, self.schedule, array)?;
        for (&stage, &wire) in array.writers.iter().zip(&array.wires) {
            let first: Vec<i64> = pipeline.stages[stage].loops.iter().map(|level| level.min).collect();
            let right = match self.result(stage, &first) {
                Some(Expected::Result { stage: owner, cycle }) => self.wires[wire].is_some_and(|past| {
                    let written = self.schedule.stages[stage].at(&first) + pipeline.stages[stage].latency as i64;
                    past.stage == owner && written - past.cycles == cycle
                }),
                Some(Expected::Constant(word)) => self.always_carries(wire, word),
                None => false,
            };
            require(right, || pipeline.stages[stage].name.clone(), "the memory takes another word than its result")?;
        }
        order::check(self.extraction, self.schedule, array.array)
    }

    /// Checks that a memory is the one that is replayed, and takes what its wires carry.
    fn memory(&self, memory: &Memory) -> Result<(), PartError> {
        memories::check_tiles(self.accelerator, memory)?;
        for (number, stream) in memory.streams.iter().enumerate() {
            let past = self.wires.get(stream.of).copied().flatten();
            require(past.is_some(), || format!("the memory of wire {}", stream.of), "the wire is no stage's result")?;
            if let Some(Past { stage, cycles }) = past {
                let (content, schedule) = (&self.extraction.pipeline.stages[stage], &self.schedule.stages[stage]);
                memories::check_words(self.accelerator, memory, number, content, schedule, cycles)?;
            }
        }
        Ok(())
    }

    /// The wire that a memory output delays, and by how much, as the replay has shown.
    fn memory_delay(&self, wire: WireId) -> Option<(WireId, i64)> {
        self.accelerator.memories.iter().flat_map(|memory| &memory.streams).find_map(|stream| {
            let place = stream.wires.iter().position(|&other| other == wire)?;
            // What does not come before has been followed by nobody yet.
            (stream.of < wire).then_some(())?;
            Some((stream.of, *stream.delays.get(place)? as i64))
        })
    }

    /// The cases of an operand: those of its selection, unless it is the result of a stage.
    fn cases(&self, source: Source, is_result: bool) -> Vec<Case> {
        match source {
            Source::Wire(wire) if self.wires[wire].is_none() || !is_result => {
                match &self.accelerator.wires[wire].driver {
                    Driver::Select { cases, .. } => cases.clone(),
                    Driver::Tile { .. } => vec![Case { conditions: Vec::new(), source }],
                    _ => Vec::new(),
                }
            }
            _ => vec![Case { conditions: Vec::new(), source }],
        }
    }

    /// Checks an operand at all iterations.
    fn operand(&self, stage: usize, load: usize, operand: Source) -> Result<(), ProofError> {
        // What is read from a memory may be the result of a copy, too, that reads the same.
        let pipeline = &self.extraction.pipeline;
        let read = &pipeline.stages[stage].reads[load];
        let is_result = !self.is_stored() || followed(self.extraction, self.schedule, stage, read).is_some();
        let cases = self.cases(operand, is_result);
        if cases.iter().any(|case| !case.conditions.is_empty()) {
            self.selects_by_loops_of(stage, operand)?;
        }
        self.for_each_point(stage, load, &cases, |index, ranks, source| self.point(stage, load, index, ranks, source))?;
        Ok(())
    }

    /// Checks that a stage that only passes on the result of another one does so in all its iterations, always as late.
    fn copy(&self, copy: &Copied) -> Result<(), ProofError> {
        let content = &self.extraction.pipeline.stages[copy.stage];
        let read = &content.reads[copy.load];
        let mut first = None;
        self.for_each_point(copy.stage, copy.load, &[], |index, _, _| {
            let produced = element(read, index).and_then(|element| self.produced(read.array, element, copy.stage));
            let past = produced.map(|produced| match produced {
                Expected::Result { stage, cycle } => (Some(stage), self.schedule.stages[copy.stage].at(index) - cycle),
                Expected::Constant(word) => (None, i64::from(word)),
            });
            let same = past.is_some() && *first.get_or_insert(past) == past;
            require(same, || content.name.clone(), "it passes on results of several stages, or with several delays")
        })?;
        Ok(())
    }

    /// Calls with points that tell about all iterations of a stage, and the case that applies to each: for every combination
    /// of classes of loop indices that behave alike, one point, and those that differ from it in one index. With each, which
    /// member of its class every index is.
    fn for_each_point<E>(
        &self,
        stage: usize,
        load: usize,
        cases: &[Case],
        mut visit: impl FnMut(&[i64], &[u64], Option<Source>) -> Result<(), E>,
    ) -> Result<(), E> {
        let content = &self.extraction.pipeline.stages[stage];
        let read = &content.reads[load];
        let affine = is_affine(read) && (self.is_stored() || self.has_affine_times(read.array));
        // Conditions count only loops of several iterations.
        let counted = counted_levels(content, &self.schedule.stages[stage]);
        let classes = (0..content.loops.len()).map(|level| {
            let here = counted.iter().position(|&other| other == level);
            let conditions = cases.iter().flat_map(|case| &case.conditions);
            let conditions = conditions.filter(|(of, _)| Some(*of) == here).map(|(_, one)| *one).collect_vec();
            self.classes(content, read, level, &conditions, affine)
        });
        for chosen in classes.multi_cartesian_product() {
            let mut index: Vec<i64> = chosen.iter().map(|members| members[0]).collect();
            let holds = |case: &&Case| {
                let holds = |(level, condition): &(usize, Condition)| {
                    let level = counted[*level];
                    condition.holds(index[level] - content.loops[level].min)
                };
                case.conditions.iter().all(holds)
            };
            let source = cases.iter().find(holds).map(|case| case.source);
            // Which of the iterations with this source it is, loop by loop.
            let mut ranks = vec![0; index.len()];
            visit(&index, &ranks, source)?;
            for (level, members) in chosen.iter().enumerate() {
                let dense = members[members.len() - 1] - members[0] == members.len() as i64 - 1;
                let begin = if affine && dense { members.len() - 1 } else { 0 };
                for (rank, &member) in members.iter().enumerate().skip(begin) {
                    (index[level], ranks[level]) = (member, rank as u64);
                    visit(&index, &ranks, source)?;
                }
                (index[level], ranks[level]) = (members[0], 0);
            }
        }
        Ok(())
    }

    /// The indices of a loop in classes: alike in the conditions that hold, and in whose elements they select, and whether
    /// any. What is alike for each loop is alike for all of them together, because each dimension follows one loop.
    fn classes(
        &self,
        stage: &Stage,
        read: &Access,
        level: usize,
        conditions: &[Condition],
        affine: bool,
    ) -> Vec<Vec<i64>> {
        let bounds = &stage.loops[level];
        let mut point: Vec<i64> = stage.loops.iter().map(|level| level.min).collect();
        let mut nature = |index: i64| {
            point[level] = index;
            let following =
                read.subscripts.iter().enumerate().filter(|(_, subscript)| subscript.coefficients[level] != 0);
            let selected = following.flat_map(|(dimension, subscript)| {
                let place = subscript.at(&point);
                // A memory keeps the elements of all writers.
                let writers = if self.is_stored() { &[] } else { self.writers[read.array].as_slice() };
                let written = writers.iter().map(move |&writer| {
                    let writer = &self.extraction.pipeline.stages[writer];
                    place.is_some_and(|place| coordinate(writer, dimension, place).is_some())
                });
                std::iter::once(place.is_some()).chain(written)
            });
            let conditions = conditions.iter().map(|one| one.holds(index - bounds.min));
            conditions.chain(selected).collect_vec()
        };
        // The elements of the only writer are a box: what is the same at both ends is the same between them.
        if conditions.is_empty() && affine && nature(bounds.min) == nature(bounds.max()) {
            return vec![(bounds.min..=bounds.max()).collect()];
        }
        let mut classes: Vec<(Vec<bool>, Vec<i64>)> = Vec::new();
        for index in bounds.min..=bounds.max() {
            let nature = nature(index);
            match classes.iter_mut().rfind(|(other, _)| *other == nature) {
                Some((_, members)) => members.push(index),
                None => classes.push((nature, vec![index])),
            }
        }
        classes.into_iter().map(|(_, members)| members).collect()
    }

    /// Checks that a selection looks at the loops of the stage that uses it, as its conditions are understood here.
    fn selects_by_loops_of(&self, stage: usize, operand: Source) -> Result<(), PartError> {
        let Source::Wire(wire) = operand else { return Ok(()) };
        let wire = &self.accelerator.wires[wire];
        let right = match wire.driver {
            Driver::Select { counter, .. } => {
                self.accelerator.counters[counter].counts(self.extraction, self.schedule, stage, 0)
            }
            _ => true,
        };
        require(right, || wire.name.clone(), "it selects by the loops of another stage")
    }

    /// Whether the time at which an element appears is one affine function of its indices, and the elements that appear are
    /// a box.
    fn has_affine_times(&self, array: usize) -> bool {
        let [writer] = self.writers[array].as_slice() else { return false };
        let stage = &self.extraction.pipeline.stages[*writer];
        let dense = |subscript: &Subscript| match subscript.single_loop() {
            Ok(Some(level)) => subscript.coefficients[level].abs() == 1,
            Ok(None) => true,
            Err(_) => false,
        };
        let copied = || {
            let copy = self.accelerator.copies.iter().find(|copy| copy.stage == *writer);
            copy.is_some_and(|copy| {
                let read = &stage.reads[copy.load];
                is_affine(read) && self.has_affine_times(read.array)
            })
        };
        // A constant is there at all times.
        let known = self.owners.contains(writer) || self.constants.contains_key(writer);
        stage.write.subscripts.iter().all(dense) && (known || copied())
    }

    /// Checks an operand at one iteration.
    fn point(
        &self,
        stage: usize,
        load: usize,
        index: &[i64],
        ranks: &[u64],
        source: Option<Source>,
    ) -> Result<(), ProvenanceError> {
        let content = &self.extraction.pipeline.stages[stage];
        let cycle = self.schedule.stages[stage].at(index);
        let error = |expected: String| ProvenanceError {
            reader: content.name.clone(),
            load,
            iteration: index.to_vec(),
            cycle,
            expected,
            found: self.describe(source, cycle),
        };
        let read = &content.reads[load];
        let element = element(read, index);
        // The order of a read that follows its write is not that of the memory: it has no port.
        let follows = || followed(self.extraction, self.schedule, stage, read).is_some();
        if let (Some(element), Some(port)) = (&element, source.and_then(|source| self.port(read.array, source)))
            && !follows()
        {
            return match self.shows(port, ranks, index, element, cycle, content) {
                true => Ok(()),
                false => Err(error(format!("the element ({}) that is kept", element.iter().join(", ")))),
            };
        }
        let expected = match element {
            Some(_) if self.is_stored() => {
                pointwise_producer(self.extraction, stage, read).and_then(|producer| self.result(producer, index))
            }
            Some(element) => self.produced(read.array, element, stage),
            None => Some(Expected::Constant(self.outside(stage, load))),
        };
        let right = match (&expected, source) {
            (Some(Expected::Constant(word)), Some(Source::Constant(constant))) => *word == constant,
            (Some(Expected::Result { stage, cycle: produced }), Some(Source::Wire(wire))) => {
                self.wires[wire].is_some_and(|past| past.stage == *stage && cycle - past.cycles == *produced)
            }
            _ => false,
        };
        if right { Ok(()) } else { Err(error(self.describe_expected(expected.as_ref()))) }
    }

    /// Whether arrays are kept: then reads that have no port follow their writes iteration by iteration.
    fn is_stored(&self) -> bool {
        self.program.policy() == Policy::Dnn
    }

    /// The port of the memory of an array that a source is.
    fn port(&self, array: usize, source: Source) -> Option<&Port> {
        let Source::Wire(wire) = source else { return None };
        let stored = self.accelerator.arrays.iter().find(|stored| stored.array == array)?;
        let port = stored.wires.iter().skip(stored.writers.len()).position(|&other| other == wire)?;
        Some(&stored.buffer.ports[stored.writers.len() + port])
    }

    /// Whether a port shows this element, of the version that the loops around all accesses say, in this cycle.
    fn shows(&self, port: &Port, ranks: &[u64], index: &[i64], element: &[i64], cycle: i64, stage: &Stage) -> bool {
        let version = port.access.len().saturating_sub(element.len());
        let versions = (0..version).rev().map(|outer| {
            let level = index.len() - 1 - outer;
            index[level] - stage.loops[level].min
        });
        let inside = ranks.iter().zip(&port.domain).all(|(rank, level)| *rank < level.extent);
        inside
            && ranks.len() == port.domain.len()
            && port.cycle(ranks) == i128::from(cycle)
            && port.element(ranks).into_iter().eq(element.iter().copied().chain(versions).map(i128::from))
    }

    /// What a stage gives in an iteration, followed through plain copies that take it iteration by iteration.
    fn result(&self, stage: usize, index: &[i64]) -> Option<Expected> {
        let pipeline = &self.extraction.pipeline;
        let mut stage = stage;
        loop {
            let content = &pipeline.stages[stage];
            if self.owners.contains(&stage) {
                let cycle = self.schedule.stages[stage].at(index) + content.latency as i64;
                return Some(Expected::Result { stage: self.carrier(stage), cycle });
            }
            if let Some(&word) = self.constants.get(&stage) {
                return Some(Expected::Constant(word));
            }
            let copy = self.accelerator.copies.iter().find(|copy| copy.stage == stage)?;
            stage = pointwise_producer(self.extraction, stage, &content.reads[copy.load])?;
        }
    }

    /// The stage that names the wire of a stage: copies that select alike share one.
    fn carrier(&self, stage: usize) -> usize {
        let copy = self.accelerator.copies.iter().find(|copy| copy.stage == stage);
        let past = copy.and_then(|copy| copy.selection).and_then(|wire| self.wires.get(wire).copied().flatten());
        past.filter(|past| past.cycles == 0).map_or(stage, |past| past.stage)
    }

    /// Checks that a lane of a stream is the element it says, at the cycles of the stream.
    fn lane(&self, name: &str, counter: usize, lane: &Lane) -> Result<(), ProvenanceError> {
        let content = &self.extraction.pipeline.stages[lane.stage];
        let schedule = &self.schedule.stages[lane.stage];
        let counter = &self.accelerator.counters[counter];
        let first: Vec<i64> = content.loops.iter().map(|level| level.min).collect();
        let levels = counted_levels(content, schedule);
        let mut points = vec![(first.clone(), vec![0; levels.len()])];
        let affine = self.is_stored() || self.has_affine_times(content.write.array);
        for (number, &level) in levels.iter().enumerate() {
            let last = content.loops[level].extent - 1;
            for step in if affine { last..=last } else { 1..=last } {
                let (mut index, mut counts) = points[0].clone();
                index[level] += step as i64;
                counts[number] = step;
                points.push((index, counts));
            }
        }
        for (index, counts) in points {
            let cycle = schedule.at(&index) + content.latency as i64;
            let expected = element(&content.write, &index).and_then(|element| {
                let number = self.number(content.write.array, &element);
                let same =
                    i128::from(number) == lane.element.at(&counts) && i128::from(cycle) == counter.cycle.at(&counts);
                same.then(|| match self.is_stored() {
                    true => self.result(lane.stage, &index),
                    false => self.produced(content.write.array, element, usize::MAX),
                })
                .flatten()
            });
            let right = match (&expected, self.wires[lane.wire]) {
                (Some(Expected::Result { stage, cycle: produced }), Some(past)) => {
                    past.stage == *stage && cycle - past.cycles == *produced
                }
                (Some(Expected::Constant(word)), None) => self.always_carries(lane.wire, *word),
                _ => false,
            };
            if !right
                || counter.extent.iter().zip(&levels).any(|(extent, &level)| *extent != content.loops[level].extent)
            {
                return Err(ProvenanceError {
                    reader: name.to_owned(),
                    load: 0,
                    iteration: index,
                    cycle,
                    expected: self.describe_expected(expected.as_ref()),
                    found: self.describe(Some(Source::Wire(lane.wire)), cycle),
                });
            }
        }
        Ok(())
    }

    /// Whether a wire is a selection of this word alone.
    fn always_carries(&self, wire: WireId, word: u16) -> bool {
        match &self.accelerator.wires[wire].driver {
            Driver::Select { cases, .. } => cases.iter().all(|case| case.source == Source::Constant(word)),
            _ => false,
        }
    }

    /// The number of an element in order of memory.
    fn number(&self, array: usize, element: &[i64]) -> i64 {
        let declared = &self.program.arrays[array];
        let places = element.iter().zip(&declared.min).zip(&declared.shape).rev();
        places.fold(0, |number, ((index, min), extent)| number * extent + index - min)
    }

    /// Which stage's result an element is for those who read it before stage `before` runs, and from which cycle on, or which
    /// constant, followed through plain copies.
    fn produced(&self, mut array: usize, mut element: Vec<i64>, mut before: usize) -> Option<Expected> {
        loop {
            let stages = &self.extraction.pipeline.stages;
            let writers = self.writers[array].iter().rev().filter(|&&writer| writer < before);
            let (stage, index) =
                writers.filter_map(|&stage| Some((stage, iteration(&stages[stage], &element)?))).next()?;
            if self.owners.contains(&stage) {
                let cycle = self.schedule.stages[stage].at(&index) + stages[stage].latency as i64;
                return Some(Expected::Result { stage, cycle });
            }
            if let Some(&word) = self.constants.get(&stage) {
                return Some(Expected::Constant(word));
            }
            let copy = self.accelerator.copies.iter().find(|copy| copy.stage == stage)?;
            let read = &stages[stage].reads[copy.load];
            element = self::element(read, &index)?;
            array = read.array;
            before = stage;
        }
    }

    fn outside(&self, stage: usize, load: usize) -> u16 {
        let Origin::Operation { operation, .. } = self.extraction.origins[stage] else { return 0 };
        let (loops, operation) = &self.operations[operation];
        operation.load_of_read(loops, load).and_then(|load| load.outside).unwrap_or(0) as u16
    }

    fn describe_expected(&self, expected: Option<&Expected>) -> String {
        match expected {
            Some(Expected::Result { stage, cycle }) => {
                format!("what {} gives in cycle {cycle}", self.extraction.pipeline.stages[*stage].name)
            }
            Some(Expected::Constant(word)) => format!("the constant {word}"),
            None => "an element that no stage produces".to_owned(),
        }
    }

    fn describe(&self, source: Option<Source>, now: i64) -> String {
        match source {
            Some(Source::Constant(word)) => format!("the constant {word}"),
            Some(Source::Wire(wire)) => {
                let name = &self.accelerator.wires[wire].name;
                match self.wires[wire] {
                    Some(past) => format!(
                        "{name}, which is what {} gave in cycle {}",
                        self.extraction.pipeline.stages[past.stage].name,
                        now - past.cycles
                    ),
                    None => format!("{name}, which is no delayed stage"),
                }
            }
            None => "nothing".to_owned(),
        }
    }
}

/// What an operand must be.
enum Expected {
    /// What a stage gives in a cycle.
    Result { stage: usize, cycle: i64 },
    /// This word: a load outside of its array, or the result of a stage that is always the same.
    Constant(u16),
}

/// Whether all subscripts are affine functions.
fn is_affine(access: &Access) -> bool {
    access.subscripts.iter().all(|subscript| subscript.divisor == 1 && subscript.boundary == Boundary::None)
}

/// The element that an access touches at an iteration.
fn element(access: &Access, index: &[i64]) -> Option<Vec<i64>> {
    access.subscripts.iter().map(|subscript| subscript.at(index)).collect()
}

/// The iteration at which a stage writes an element.
fn iteration(stage: &Stage, element: &[i64]) -> Option<Vec<i64>> {
    let mut index: Vec<i64> = stage.loops.iter().map(|level| level.min).collect();
    for (dimension, &wanted) in element.iter().enumerate() {
        if let Some((level, place)) = coordinate(stage, dimension, wanted)? {
            index[level] = place;
        }
    }
    Some(index)
}

/// The index of the loop along a dimension, if there is one, with which a stage writes elements with this coordinate; nothing
/// if it writes none.
fn coordinate(stage: &Stage, dimension: usize, wanted: i64) -> Option<Option<(usize, i64)>> {
    let subscript = &stage.write.subscripts[dimension];
    let steps = wanted - subscript.constant;
    let Some(level) = subscript.single_loop().ok()? else {
        return (steps == 0).then_some(None);
    };
    let coefficient = subscript.coefficients[level];
    let place = steps / coefficient;
    let bounds = &stage.loops[level];
    (steps % coefficient == 0 && (bounds.min..=bounds.max()).contains(&place)).then_some(Some((level, place)))
}
