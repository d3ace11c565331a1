//! The proof that memory keeps the order of the program: in time, the last write of an element before each read is the
//! last one in the order of the program.
//!
//! Accesses of one version of the array are walked through in the order of the program. Versions are made by loops around all
//! accesses, so that each is the one before some cycles later, at elements of its own.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_stages::Staged;
use pushmem_stages::{Access, Boundary, Pipeline, Schedule, Subscript};

use crate::error::{PartError, require};
use crate::sequence::Sequence;

/// An array in memory: the stages that write it, and those that read it there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kept {
    /// The array.
    pub array: usize,
    /// How many of the outermost loops have elements of their own in each iteration.
    pub versions: usize,
    /// By stage, the reads that take words from the memory.
    pub reads: Vec<Vec<usize>>,
}

/// The last access of an element.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// The cycle of its last write, if it was written.
    written: Option<i64>,
    /// The cycle of its latest read since.
    read: i64,
}

/// Statements in the order of the program.
enum Step {
    /// A loop: the iterations that are walked through, and the statements in each lane of one.
    Loop { walked: Vec<u64>, lanes: Vec<Vec<Step>> },
    /// One iteration of a stage whose loops are all around it.
    Stage(usize),
}

/// Checks all accesses of an array.
///
/// # Errors
/// The first access that comes too early or too late.
pub(crate) fn check(staged: Staged, schedule: &Schedule, sequence: &Sequence, kept: &Kept) -> Result<(), PartError> {
    walk(staged, schedule, sequence, kept, true)
}

/// The same, of all iterations or without those that only repeat.
fn walk(
    staged: Staged,
    schedule: &Schedule,
    sequence: &Sequence,
    kept: &Kept,
    skips_repeats: bool,
) -> Result<(), PartError> {
    let pipeline = &staged.pipeline;
    let accesses = |stage: usize| accesses(pipeline, kept, stage);
    let stages = (0..pipeline.stages.len()).filter(|&stage| accesses(stage).next().is_some()).collect_vec();
    let Some(first) = stages.iter().find_map(|&stage| accesses(stage).next()) else { return Ok(()) };
    check_versions(staged, schedule, sequence, kept, &stages)?;
    let kept = &Kept { reads: without_repeats(staged, schedule, sequence, kept), ..*kept };
    let mut box_of_elements = vec![(i64::MAX, i64::MIN); first.subscripts.len()];
    for (&stage, access) in stages.iter().flat_map(|stage| accesses(*stage).map(move |access| (stage, access))) {
        for (bounds, subscript) in box_of_elements.iter_mut().zip(&access.subscripts) {
            let (low, high) = crate::stages::ends(&pipeline.stages[stage], subscript);
            *bounds = (bounds.0.min(low), bounds.1.max(high));
        }
    }
    let size = box_of_elements.iter().map(|(low, high)| (high - low + 1) as usize).product();
    let elements = vec![Last { written: None, read: i64::MIN }; size];
    let numbered = |stage: usize| Numbered::of_stage(pipeline, kept, stage, &box_of_elements);
    let numbers = (0..pipeline.stages.len()).map(numbered).collect();
    let mut walk = Walk { pipeline, schedule, kept, numbers, elements };
    if staged.is_input(kept.array) {
        return walk.input(&stages);
    }
    let mut steps = steps(sequence, &stages, kept.versions);
    if skips_repeats {
        steps.iter_mut().for_each(|step| walk.skip_repeats(step, kept.versions));
    }
    let mut visit = |stage: usize, outer: &[i64]| walk.iteration(stage, outer);
    steps.iter().try_for_each(|step| step.each_iteration(&mut vec![0; kept.versions], &mut visit))
}

/// The accesses of an array by a stage that the memory takes part in: reads, then the write.
fn accesses<'a>(pipeline: &'a Pipeline, kept: &'a Kept, stage: usize) -> impl Iterator<Item = &'a Access> {
    let content = &pipeline.stages[stage];
    let reads = kept.reads[stage].iter().map(|&read| &content.reads[read]);
    reads.chain((content.write.array == kept.array).then_some(&content.write))
}

/// Checks that the loops that make versions are around all accesses, that no access follows them, and that each iteration of
/// them is the one before some cycles later.
fn check_versions(
    staged: Staged,
    schedule: &Schedule,
    sequence: &Sequence,
    kept: &Kept,
    stages: &[usize],
) -> Result<(), PartError> {
    let pipeline = &staged.pipeline;
    let name = || format!("the memory of {}", pipeline.arrays[kept.array].name);
    let of_loop = |stage: usize, outer: usize| {
        let content = &pipeline.stages[stage];
        let level = content.loops.len().checked_sub(outer + 1)?;
        let still = accesses(pipeline, kept, stage).all(|access| !access.follows(level));
        let extent = content.loops[level].extent;
        let stride = if extent > 1 { schedule.stages[stage].stride[level] } else { 0 };
        still.then_some((content.loops[level].min, extent, stride))
    };
    for outer in 0..kept.versions {
        let alike = stages.iter().map(|&stage| of_loop(stage, outer)).all_equal_value();
        require(matches!(alike, Ok(Some(_))), name, "its versions are not those of one loop")?;
    }
    // Words of an input are the same, whichever loops bring and read them.
    let around =
        stages.iter().all(|&stage| staged.is_input(kept.array) || sequence.shared(stages[0], stage) >= kept.versions);
    require(around, name, "its versions are not those of one loop")
}

/// The reads of each stage without those that another one makes of the same elements, in the same cycles, before the next write:
/// copies of an operation, all in the same iteration of the loops that they share with a writer; and of an input, which is not written
/// again, any.
fn without_repeats(staged: Staged, schedule: &Schedule, sequence: &Sequence, kept: &Kept) -> Vec<Vec<usize>> {
    let stages = &staged.pipeline.stages;
    let writers = stages.iter().positions(|stage| stage.write.array == kept.array).collect_vec();
    let is_input = staged.is_input(kept.array);
    let mut seen = HashSet::new();
    let mut new_reads = |(number, reads): (usize, &Vec<usize>)| {
        let stage = &stages[number];
        let loops = sequence.operation(number).map_or(&[][..], |(loops, _)| loops.as_slice());
        let before_lanes = loops.iter().take_while(|level| level.unroll == 1).count();
        let alike = is_input || writers.iter().all(|&writer| sequence.shared(writer, number) <= before_lanes);
        let who = if is_input { None } else { sequence.number(number) };
        let bounds = stage.loops.iter().map(|level| (level.min, level.extent)).collect_vec();
        let mut is_new =
            |read: &usize| !alike || seen.insert((who, &stage.reads[*read], bounds.clone(), &schedule.stages[number]));
        reads.iter().copied().filter(|read| is_new(read)).collect()
    };
    kept.reads.iter().enumerate().map(&mut new_reads).collect()
}

/// A function of a stage and the counts of its loops.
pub(crate) type Visit<'a> = dyn FnMut(usize, &[i64]) -> Result<(), PartError> + 'a;

/// Calls with each iteration of some stages, in the order of the program: the stage, and the counts of its loops from 0, outermost first.
///
/// # Errors
/// The first that is given.
pub(crate) fn each_in_order(sequence: &Sequence, stages: &[usize], visit: &mut Visit) -> Result<(), PartError> {
    steps(sequence, stages, 0).iter().try_for_each(|step| step.each_iteration(&mut Vec::new(), visit))
}

/// The order of these stages, which have the first loops in common.
fn steps(sequence: &Sequence, stages: &[usize], depth: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = stages;
    while let [first, ..] = rest {
        let loops = sequence.operation(*first).map_or(&[][..], |(loops, _)| loops.as_slice());
        let Some(level) = loops.get(depth) else {
            steps.push(Step::Stage(*first));
            rest = &rest[1..];
            continue;
        };
        let together = rest.iter().take_while(|&&other| sequence.shared(*first, other) > depth).count();
        let (nest, behind) = rest.split_at(together);
        // A sum over all lanes of a loop is complete with the last.
        let lane_of = |stage: usize| sequence.write(stage).lane(depth).unwrap_or(level.unroll - 1);
        let in_lane = |lane: i64| nest.iter().copied().filter(|&stage| lane_of(stage) == lane).collect_vec();
        let lanes = (0..level.unroll).map(|lane| self::steps(sequence, &in_lane(lane), depth + 1));
        let walked = 0..(level.extent / level.unroll) as u64;
        steps.push(Step::Loop { walked: walked.collect(), lanes: lanes.collect() });
        rest = behind;
    }
    steps
}

/// The elements of an access, by their numbers in a box: an affine function of the loops.
struct Numbered {
    first: i64,
    strides: Vec<i64>,
    /// The subscripts that are beyond the limits of the array in some iterations, in which nothing is read.
    limited: Vec<Subscript>,
}

impl Numbered {
    /// The reads of a stage that take words from the memory, then its write if that is to the array. The box has the least and the
    /// greatest index of each dimension.
    fn of_stage(pipeline: &Pipeline, kept: &Kept, stage: usize, box_of_elements: &[(i64, i64)]) -> Vec<Numbered> {
        let content = &pipeline.stages[stage];
        let first = content.loops.iter().map(|level| level.min).collect_vec();
        let numbered = |access: &Access| {
            let is_limited = |subscript: &&Subscript| subscript.boundary != Boundary::None;
            let limited = access.subscripts.iter().filter(is_limited).cloned().collect();
            let mut found = Numbered { first: 0, strides: vec![0; first.len()], limited };
            for (subscript, (low, high)) in access.subscripts.iter().zip(box_of_elements).rev() {
                let extent = high - low + 1;
                let moved = subscript.coefficients.iter().zip(&first).map(|(step, index)| step * index).sum::<i64>();
                let place = subscript.constant + subscript.offset + moved - low;
                found.first = found.first * extent + place;
                for (stride, coefficient) in found.strides.iter_mut().zip(&subscript.coefficients) {
                    *stride = *stride * extent + coefficient;
                }
            }
            // Counted from index 0 of each loop.
            found.first -= found.strides.iter().zip(&first).map(|(stride, first)| stride * first).sum::<i64>();
            found
        };
        accesses(pipeline, kept, stage).map(numbered).collect()
    }

    /// Whether it touches an element at an iteration.
    fn is_within(&self, index: impl Iterator<Item = i64>) -> bool {
        if self.limited.is_empty() {
            return true;
        }
        let index = index.collect_vec();
        self.limited.iter().all(|subscript| subscript.at(&index).is_some())
    }

    /// The number of the element at an iteration.
    fn at(&self, index: impl Iterator<Item = i64>) -> usize {
        (self.first + self.strides.iter().zip(index).map(|(stride, index)| stride * index).sum::<i64>()) as usize
    }
}

struct Walk<'a> {
    pipeline: &'a Pipeline,
    schedule: &'a Schedule,
    kept: &'a Kept,
    /// By stage, its accesses of the memory: the reads, then the write.
    numbers: Vec<Vec<Numbered>>,
    elements: Vec<Last>,
}

impl Step {
    /// The stages in it.
    fn stages(&self) -> Vec<usize> {
        match self {
            Step::Stage(stage) => vec![*stage],
            Step::Loop { lanes, .. } => lanes.iter().flatten().flat_map(Step::stages).collect(),
        }
    }

    /// Calls with each iteration of its stages, in their order; `outer` are the counts of the loops around, outermost first.
    fn each_iteration(
        &self,
        outer: &mut Vec<i64>,
        visit: &mut (impl FnMut(usize, &[i64]) -> Result<(), PartError> + ?Sized),
    ) -> Result<(), PartError> {
        match self {
            Step::Stage(stage) => visit(*stage, outer),
            Step::Loop { walked, lanes } => {
                for index in walked {
                    outer.push(*index as i64);
                    lanes.iter().flatten().try_for_each(|step| step.each_iteration(outer, visit))?;
                    outer.pop();
                }
                Ok(())
            }
        }
    }
}

impl Walk<'_> {
    /// Leaves the first two iterations and the last of each loop that only repeats: no access follows it, and its stages step by the
    /// same cycles. Each iteration meets what the one before left, as the second does, some cycles later; elements that are only read
    /// are read first and last in the first and the last iteration. `depth` loops are around.
    fn skip_repeats(&self, step: &mut Step, depth: usize) {
        let stages = step.stages();
        let Step::Loop { walked, lanes } = step else { return };
        lanes.iter_mut().flatten().for_each(|step| self.skip_repeats(step, depth + 1));
        let level = |stage: usize| self.pipeline.stages[stage].loops.len() - 1 - depth;
        let follows =
            |stage: usize| accesses(self.pipeline, self.kept, stage).any(|access| access.follows(level(stage)));
        let stride = |stage: usize| self.schedule.stages[stage].stride[level(stage)];
        if !stages.iter().any(|&stage| follows(stage)) && stages.iter().map(|&stage| stride(stage)).all_equal() {
            let last = walked.len().saturating_sub(1) as u64;
            walked.retain(|index| *index < 2 || *index == last);
        }
    }

    /// Walks through an array that comes from outside: an element that comes again is the same word, so that a read may
    /// come any time after the first.
    fn input(&mut self, stages: &[usize]) -> Result<(), PartError> {
        for &stage in stages.iter().filter(|&&stage| self.pipeline.stages[stage].write.array == self.kept.array) {
            self.each_iteration(
                stage,
                |_| false,
                |walk, index, cycle| {
                    let element = walk.write(stage).at(index.iter().copied());
                    let written = &mut walk.elements[element].written;
                    *written = Some(written.map_or(cycle, |before| before.min(cycle)));
                    Ok(())
                },
            )?;
        }
        stages.iter().try_for_each(|&stage| {
            let reads = &self.kept.reads[stage];
            let repeats =
                |level: usize| !reads.iter().any(|&read| self.pipeline.stages[stage].reads[read].follows(level));
            self.each_iteration(stage, repeats, |walk, index, cycle| {
                let reads = &walk.numbers[stage][..walk.kept.reads[stage].len()];
                read(&walk.pipeline.stages[stage].name, reads, &mut walk.elements, index.iter().copied(), cycle)
            })
        })
    }

    /// Calls with each iteration of a stage in one version, and its cycle; of loops that only repeat, with the earliest.
    fn each_iteration(
        &mut self,
        stage: usize,
        repeats: impl Fn(usize) -> bool,
        mut visit: impl FnMut(&mut Self, &[i64], i64) -> Result<(), PartError>,
    ) -> Result<(), PartError> {
        let loops = &self.pipeline.stages[stage].loops;
        let inner = loops.len() - self.kept.versions;
        let strides = &self.schedule.stages[stage].stride;
        let (walked, repeating): (Vec<usize>, Vec<usize>) = (0..inner).partition(|&level| !repeats(level));
        let mut index = loops.iter().map(|level| level.min).collect_vec();
        for level in repeating.into_iter().filter(|&level| strides[level] < 0) {
            index[level] = loops[level].max();
        }
        loop {
            visit(self, &index, self.schedule.stages[stage].value(&index))?;
            let Some(place) = walked.iter().position(|&level| index[level] < loops[level].max()) else {
                return Ok(());
            };
            index[walked[place]] += 1;
            walked[..place].iter().for_each(|&level| index[level] = loops[level].min);
        }
    }

    /// One iteration of a stage, with the counts of its loops from 0, outermost first.
    fn iteration(&mut self, number: usize, outer: &[i64]) -> Result<(), PartError> {
        let Walk { pipeline, schedule, kept, numbers, elements } = self;
        let (stage, times) = (&pipeline.stages[number], &schedule.stages[number]);
        // There are as many iterations as products: none of them collects its index.
        let index = outer.iter().rev().zip(&stage.loops).map(|(count, level)| level.min + count);
        let cycle =
            times.start + times.stride.iter().zip(index.clone()).map(|(stride, index)| stride * index).sum::<i64>();
        let (reads, write) = numbers[number].split_at(kept.reads[number].len());
        read(&stage.name, reads, elements, index.clone(), cycle)?;
        if let [write] = write {
            let written = cycle + stage.latency as i64;
            let last = &mut elements[write.at(index)];
            let in_order = last.read <= written && last.written.is_none_or(|before| before < written);
            require(
                in_order,
                || stage.name.clone(),
                "it writes an element before the one that is there has been read",
            )?;
            *last = Last { written: Some(written), read: i64::MIN };
        }
        Ok(())
    }

    /// The elements that a stage writes to the array.
    fn write(&self, stage: usize) -> &Numbered {
        self.numbers[stage].last().expect("it writes the array")
    }
}

/// Reads elements in a cycle, in an iteration of a stage.
fn read(
    stage: &str,
    reads: &[Numbered],
    elements: &mut [Last],
    index: impl Iterator<Item = i64> + Clone,
    cycle: i64,
) -> Result<(), PartError> {
    for read in reads.iter().filter(|read| read.is_within(index.clone())) {
        let last = &mut elements[read.at(index.clone())];
        let in_time = last.written.is_some_and(|written| written < cycle);
        require(in_time, || stage.to_owned(), "it reads an element before it is written")?;
        last.read = last.read.max(cycle);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pushmem_affine::Affine;
    use pushmem_extraction::extract;
    use pushmem_files::Document;
    use pushmem_nest::Program;

    use super::*;

    /// In each of three iterations of an outer loop: four elements are initialized, updated twice, and read.
    const ACCUMULATOR: &str = "
name: accumulator
schedule: dnn
inputs: {input: {type: u16, shape: [4]}}
outputs: {output: {type: u16, shape: [4, 3]}}
buffers: {sums: {type: u16, shape: [4]}}
nest:
  - for t in 0..3:
    - for x in 0..4:
      - sums[x] = 0
    - for r in 0..2:
      - for x in 0..4:
        - sums[x] += input[x]
    - for x in 0..4:
      - output[x, t] = sums[x]
";

    /// Loops that only repeat: two around the update, one around the reads, one around both.
    const REPEATED: &str = "
name: repeated
schedule: dnn
inputs: {input: {type: u16, shape: [2]}}
outputs: {output: {type: u16, shape: [2, 4, 3]}}
buffers: {sums: {type: u16, shape: [2]}, kept: {type: u16, shape: [2]}}
nest:
  - for x in 0..2:
    - kept[x] = input[x]
  - for t in 0..3:
    - for x in 0..2:
      - sums[x] = 0
    - for r in 0..4:
      - for q in 0..3:
        - for x in 0..2:
          - sums[x] += kept[x]
    - for k in 0..4:
      - for x in 0..2:
        - output[x, k, t] = sums[x]
";

    proptest::proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        /// Without the iterations that only repeat, the same schedules are refused: right ones, some of whose cycles are changed.
        #[test]
        fn iterations_that_repeat_tell_nothing_new(
            array in 0..2_usize,
            latency in 0..3_u64,
            changes in proptest::collection::vec(proptest::prop_oneof![8 => Just(0), 1 => -9..9_i64, 1 => -80..80_i64], 14),
        ) {
            let program =
                Program::from_document(&Document::parse("repeated.yaml", REPEATED).unwrap()).unwrap().program;
            let extraction = extract(&program, |operation| if operation == 2 { latency } else { 0 }).unwrap();
            let staged = extraction.staged();
            let sequence = Sequence::of(&program, staged);
            let array = program.arrays.iter().position(|of| of.name == ["kept", "sums"][array]).unwrap();
            let of_array = |stage: &pushmem_stages::Stage| stage.reads.iter().positions(|read| read.array == array).collect();
            let reads = extraction.pipeline.stages.iter().map(of_array).collect();
            let inputs = (0..extraction.origins.len()).filter(|&stage| sequence.operation(stage).is_none());
            let inputs = inputs.map(|_| Affine { start: 0, stride: vec![1] });
            let mut changes = changes.into_iter();
            let mut changed = |cycles: i64| cycles + changes.next().expect("as many changes as cycles");
            let right = [(0, vec![1]), (3, vec![1, 60]), (5, vec![1, 3, 9, 60]), (44, vec![1, 2, 60])];
            let operations = right.map(|(start, stride)| Affine {
                start: changed(start),
                stride: stride.into_iter().map(&mut changed).collect(),
            });
            let schedule = Schedule { stages: inputs.chain(operations).collect() };
            let kept = Kept { array, versions: 0, reads };
            let is_right = |skips: bool| walk(staged, &schedule, &sequence, &kept, skips).is_ok();
            proptest::prop_assert_eq!(is_right(true), is_right(false));
        }
    }

    #[test]
    fn each_read_comes_after_the_last_write_before_it_and_no_other() {
        let program =
            Program::from_document(&Document::parse("accumulator.yaml", ACCUMULATOR).unwrap()).unwrap().program;
        // The update takes three cycles.
        let extraction = extract(&program, |operation| if operation == 1 { 3 } else { 0 }).unwrap();
        let staged = extraction.staged();
        let sequence = Sequence::of(&program, staged);
        let sums = program.arrays.iter().position(|array| array.name == "sums").unwrap();
        let of_sums = |stage: &pushmem_stages::Stage| stage.reads.iter().positions(|read| read.array == sums).collect();
        let reads = extraction.pipeline.stages.iter().map(of_sums).collect();
        let kept = Kept { array: sums, versions: 1, reads };
        let first = (0..extraction.origins.len()).find(|&stage| sequence.operation(stage).is_some()).unwrap();
        let scheduled = |changed: Option<(usize, i64, &[i64])>| {
            let mut schedules = vec![(0, vec![1, 20]), (5, vec![1, 5, 20]), (18, vec![1, 20])];
            if let Some((stage, start, stride)) = changed {
                schedules[stage] = (start, stride.to_vec());
            }
            let inputs = (0..first).map(|_| Affine { start: 0, stride: vec![1] });
            let operations = schedules.into_iter().map(|(start, stride)| Affine { start, stride });
            let schedule = Schedule { stages: inputs.chain(operations).collect() };
            check(staged, &schedule, &sequence, &kept).map_err(|error| error.to_string())
        };
        assert_eq!(scheduled(None), Ok(()));
        let with = |stage: usize, start: i64, stride: &[i64]| scheduled(Some((stage, start, stride)));
        let name = |stage: usize| &extraction.pipeline.stages[first + stage].name;
        let early = |stage: usize| Err(format!("{}: it reads an element before it is written", name(stage)));
        // A read in the cycle of the write is too early; one cycle later is in time.
        assert_eq!(with(1, 0, &[1, 5, 20]), early(1));
        assert_eq!(with(1, 1, &[1, 4, 20]), Ok(()));
        assert_eq!(with(1, 5, &[1, 3, 20]), early(1));
        assert_eq!(with(2, 13, &[1, 20]), early(2));
        assert_eq!(with(2, 14, &[1, 20]), Ok(()));
        // The initialization must not undo an update.
        assert_eq!(with(0, 9, &[1, 20]), early(1));
        // All iterations of the loop that makes the sums anew must be alike.
        let apart = Err("the memory of sums: its versions are not those of one loop".to_owned());
        assert_eq!(with(2, 18, &[1, 21]), apart);
    }
}
