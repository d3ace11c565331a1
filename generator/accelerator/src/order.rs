//! The proof that memory keeps what the program means: in time, the last write of an element before each read is the last
//! one in the order of the program.
//!
//! Accesses of one version of the array are walked through in the order of the program. Versions are made by loops around all
//! accesses, so that each is the one before some cycles later, at elements of its own.

use pushmem_extraction::Extraction;
use pushmem_schedule::{Access, Pipeline, Schedule, Stage};

use crate::arrays::version_loops;
use crate::error::{PartError, require};
use crate::pointwise::{followed, range};

/// What happened last to an element.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// The cycle of its last write, if it was written.
    written: Option<i64>,
    /// The cycle of its latest read since.
    read: i64,
}

/// Checks all accesses of an array.
///
/// # Errors
/// The first access that comes too early or too late.
pub(crate) fn check(extraction: &Extraction, schedule: &Schedule, array: usize) -> Result<(), PartError> {
    let pipeline = &extraction.pipeline;
    let touches = |stage: &Stage| stage.write.array == array || stage.reads.iter().any(|read| read.array == array);
    let stages: Vec<usize> = (0..pipeline.stages.len()).filter(|&stage| touches(&pipeline.stages[stage])).collect();
    let accesses = || stages.iter().flat_map(|&stage| accesses(&pipeline.stages[stage], array));
    let Some((_, first)) = accesses().next() else { return Ok(()) };
    let mut box_of_elements = vec![(i64::MAX, i64::MIN); first.subscripts.len()];
    for (stage, access) in accesses() {
        for (bounds, subscript) in box_of_elements.iter_mut().zip(&access.subscripts) {
            let (low, high) = range(stage, subscript);
            *bounds = (bounds.0.min(low), bounds.1.max(high));
        }
    }
    let size = box_of_elements.iter().map(|(low, high)| (high - low + 1) as usize).product();
    let versions = version_loops(pipeline, array);
    // Those that take the word on its way to the memory have no part in it.
    let stored = |(number, stage): (usize, &Stage)| {
        let of_array = (0..stage.reads.len()).filter(|&read| stage.reads[read].array == array);
        of_array.filter(|&read| followed(extraction, schedule, number, &stage.reads[read]).is_none()).collect()
    };
    let mut walk = Walk {
        pipeline,
        schedule,
        array,
        is_input: extraction.is_input(array),
        box_of_elements,
        elements: vec![Last { written: None, read: i64::MIN }; size],
        stored: pipeline.stages.iter().enumerate().map(stored).collect(),
    };
    let mut outer = vec![0; versions];
    walk.nest(&stages, &mut outer)
}

/// The accesses of an array by a stage: reads, then the write.
fn accesses(stage: &Stage, array: usize) -> impl Iterator<Item = (&Stage, &Access)> {
    let reads = stage.reads.iter().filter(move |read| read.array == array);
    reads.chain((stage.write.array == array).then_some(&stage.write)).map(move |access| (stage, access))
}

struct Walk<'a> {
    pipeline: &'a Pipeline,
    schedule: &'a Schedule,
    array: usize,
    /// Whether an input is what writes it: an element that comes again is the same word.
    is_input: bool,
    /// The least and the greatest index of each dimension.
    box_of_elements: Vec<(i64, i64)>,
    elements: Vec<Last>,
    /// By stage, the reads that take words from the memory.
    stored: Vec<Vec<usize>>,
}

impl Walk<'_> {
    /// Walks through stages that share these outer loops, given by their indices counted from 0, outermost first.
    fn nest(&mut self, stages: &[usize], outer: &mut Vec<u64>) -> Result<(), PartError> {
        let mut rest = stages;
        while let [first, ..] = rest {
            // Those that share one more loop are a nest of their own.
            let depth = self.pipeline.stages[*first].loops.len();
            let together = match outer.len() < depth {
                true => {
                    let same = |&&other: &&usize| self.pipeline.shared_loops(*first, other) > outer.len();
                    rest.iter().take_while(same).count()
                }
                // All loops are fixed: lanes and operations of one body, one by one.
                false => 0,
            };
            if together == 0 {
                self.iteration(*first, outer)?;
                rest = &rest[1..];
                continue;
            }
            let (nest, behind) = rest.split_at(together);
            // The last lanes of an input may have an iteration less.
            let extent = |stage: usize| {
                let loops = &self.pipeline.stages[stage].loops;
                loops[loops.len() - 1 - outer.len()].extent
            };
            let extents: Vec<u64> = nest.iter().map(|&stage| extent(stage)).collect();
            let all_have = extents.iter().copied().min().unwrap_or(0);
            for index in 0..extents.iter().copied().max().unwrap_or(0) {
                outer.push(index);
                if index < all_have {
                    self.nest(nest, outer)?;
                } else {
                    let at_work = nest.iter().zip(&extents).filter(|(_, extent)| **extent > index);
                    let at_work: Vec<usize> = at_work.map(|(&stage, _)| stage).collect();
                    self.nest(&at_work, outer)?;
                }
                outer.pop();
            }
            rest = behind;
        }
        Ok(())
    }

    /// One iteration of a stage.
    fn iteration(&mut self, number: usize, outer: &[u64]) -> Result<(), PartError> {
        let stage = &self.pipeline.stages[number];
        let counts = outer.iter().rev();
        let index: Vec<i64> = counts.zip(&stage.loops).map(|(count, level)| level.min + *count as i64).collect();
        let cycle = self.schedule.stages[number].at(&index);
        let name = || stage.name.clone();
        for read in 0..self.stored[number].len() {
            let read = &stage.reads[self.stored[number][read]];
            let element = self.element(read, &index);
            let last = &mut self.elements[element];
            let in_time = last.written.is_some_and(|written| written < cycle);
            require(in_time, name, "it reads an element before it is written")?;
            last.read = last.read.max(cycle);
        }
        if stage.write.array == self.array {
            let written = cycle + stage.latency as i64;
            let element = self.element(&stage.write, &index);
            let last = &mut self.elements[element];
            if self.is_input {
                last.written = Some(last.written.map_or(written, |before| before.min(written)));
                return Ok(());
            }
            let in_order = last.read <= written && last.written.is_none_or(|before| before < written);
            require(in_order, name, "it writes an element before the one that is there has been read")?;
            *last = Last { written: Some(written), read: i64::MIN };
        }
        Ok(())
    }

    /// The number of an element in the box.
    fn element(&self, access: &Access, index: &[i64]) -> usize {
        let places = access.subscripts.iter().zip(&self.box_of_elements).rev();
        let number = places.fold(0, |number, (subscript, (low, high))| {
            let place = subscript.at(index).expect("kept arrays have affine accesses") - low;
            number * (high - low + 1) + place
        });
        number as usize
    }
}

#[cfg(test)]
mod tests {
    use pushmem_extraction::Origin;
    use pushmem_schedule::{Array, Loop, StageSchedule, Subscript};

    use super::*;

    /// In each of three iterations of an outer loop: four elements are initialized, updated twice, and read.
    fn accumulator() -> (Extraction, Schedule) {
        let level = |(number, &extent): (usize, &u64)| Loop { name: format!("i{number}"), min: 0, extent };
        let loops = |extents: &[u64]| extents.iter().enumerate().map(level).collect::<Vec<_>>();
        let element = |depth: usize| {
            let along = (0..depth).map(|level| i64::from(level == 0)).collect();
            Access { array: 0, subscripts: vec![Subscript::affine(along, 0)] }
        };
        let stage = |name: &str, group: usize, extents: &[u64], reads: Vec<Access>, latency: u64| Stage {
            name: name.to_owned(),
            group,
            shared: usize::from(group > 0),
            loops: loops(extents),
            reads,
            write: element(extents.len()),
            latency,
        };
        let update = stage("update", 1, &[4, 2, 3], vec![element(3)], 3);
        let drain =
            Stage { write: Access { array: 1, ..element(2) }, ..stage("drain", 2, &[4, 3], vec![element(2)], 0) };
        let stages = vec![stage("initialize", 0, &[4, 3], Vec::new(), 0), update, drain];
        let arrays = ["sums", "output"].map(|name| Array { name: name.to_owned(), weight: 2 });
        let schedules = [(0, vec![1, 20]), (5, vec![1, 5, 20]), (18, vec![1, 20])];
        let schedules = schedules.map(|(start, stride)| StageSchedule { start, stride }).to_vec();
        let origins = (0..stages.len()).map(|operation| Origin::Operation { operation, lanes: Vec::new() }).collect();
        let pipeline = Pipeline { arrays: arrays.to_vec(), stages };
        (Extraction { pipeline, origins, repeated: Vec::new() }, Schedule { stages: schedules })
    }

    #[test]
    fn each_read_comes_after_the_last_write_before_it_and_no_other() {
        let (extraction, schedule) = accumulator();
        assert_eq!(version_loops(&extraction.pipeline, 0), 1);
        assert_eq!(check(&extraction, &schedule, 0), Ok(()));
        let with = |stage: usize, start: i64, stride: &[i64]| {
            let mut changed = schedule.clone();
            changed.stages[stage] = StageSchedule { start, stride: stride.to_vec() };
            check(&extraction, &changed, 0).map_err(|error| error.to_string())
        };
        let early = |stage: &str| Err(format!("{stage}: it reads an element before it is written"));
        // A read in the cycle of the write is too early; one cycle later is in time.
        assert_eq!(with(1, 0, &[1, 5, 20]), early("update"));
        assert_eq!(with(1, 1, &[1, 4, 20]), Ok(()));
        assert_eq!(with(1, 5, &[1, 3, 20]), early("update"));
        assert_eq!(with(2, 13, &[1, 20]), early("drain"));
        assert_eq!(with(2, 14, &[1, 20]), Ok(()));
        // The initialization must not undo an update.
        let late = Err("update: it writes an element before the one that is there has been read".to_owned());
        assert!(with(0, 9, &[1, 20]) == early("update") || with(0, 9, &[1, 20]) == late);
    }
}
