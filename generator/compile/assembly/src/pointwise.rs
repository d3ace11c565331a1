//! Reads that follow the writes iteration by iteration.

use std::ops::Range;

use itertools::Itertools;
use pushmem_extraction::{Extraction, Origin};
use pushmem_schedule::{Access, Pipeline, Schedule, Stage, Subscript, Writers, meet};

/// The stage whose result a read takes in the same iteration: the only writer of the element, in the same loops; or in the
/// iteration of the writer's innermost loops that writes the element, as of the last of a running sum. The element is still there,
/// because each iteration of the writer writes another element, except for loops around both. Of an input it may be one of
/// several lanes that bring the element, all of them the same word.
pub(crate) fn pointwise_producer(
    extraction: &Extraction,
    writers: &Writers,
    stage: usize,
    read: &Access,
) -> Option<usize> {
    let pipeline = &extraction.pipeline;
    let reader = &pipeline.stages[stage];
    let may_write = |other: usize| {
        let writer = &pipeline.stages[other];
        !apart((writer, &writer.write), (reader, read))
    };
    let mut writers = writers.of_access(reader, read).into_iter().filter(|&other| may_write(other)).peekable();
    let is_input = writers.peek().is_some_and(|&first| matches!(extraction.origins[first], Origin::Input { .. }));
    let producer = match is_input {
        true => writers.find(|&other| pipeline.stages[other].write == *read)?,
        false => writers.exactly_one().ok()?,
    };
    let writer = &pipeline.stages[producer];
    let own = || 0..writer.loops.len() - pipeline.shared_loops(producer, stage).min(writer.loops.len());
    let same = producer < stage && iteration_of(writer, reader, read).is_some();
    (same && writes_once(writer, own())).then_some(producer)
}

/// The iteration of the innermost loops of a stage, which the reader does not have, that writes the element of a read in the same
/// iteration of the others; nothing if there is none.
fn iteration_of(writer: &Stage, reader: &Stage, read: &Access) -> Option<Vec<i64>> {
    let bounds = |stage: &Stage| stage.loops.iter().map(|level| (level.min, level.extent)).collect_vec();
    let more = writer.loops.len().checked_sub(reader.loops.len())?;
    if bounds(writer)[more..] != bounds(reader) {
        return None;
    }
    let mut indices = writer.loops[..more].iter().map(|level| (level.extent == 1).then_some(level.min)).collect_vec();
    for (target, wanted) in writer.write.subscripts.iter().zip(&read.subscripts) {
        let (inner, outer) = target.coefficients.split_at(more);
        match inner.iter().positions(|step| *step != 0).collect_vec()[..] {
            [] if target.constant + target.offset == wanted.constant + wanted.offset => {}
            // One loop alone runs along the dimension, and the read stays in one place of it.
            [level] if outer.iter().all(|step| *step == 0) && target.is_affine() && wanted.is_affine() => {
                let from = wanted.constant + wanted.offset - target.constant - target.offset;
                let (step, bounds) = (inner[level], &writer.loops[level]);
                let index = from / step;
                let written = from % step == 0 && (bounds.min..=bounds.max()).contains(&index);
                if !written || indices[level].is_some_and(|known| known != index) {
                    return None;
                }
                indices[level] = Some(index);
            }
            _ => return None,
        }
        let of_outer = Subscript { coefficients: outer.to_vec(), ..wanted.clone() };
        if of_outer != *wanted || (target.divisor, target.boundary) != (wanted.divisor, wanted.boundary) {
            return None;
        }
    }
    indices.into_iter().collect()
}

/// How many cycles after its write a pointwise read comes, if it is the same for all iterations.
fn pointwise_delay(
    pipeline: &Pipeline,
    schedule: &Schedule,
    producer: usize,
    stage: usize,
    read: &Access,
) -> Option<i64> {
    let (writer, reader) = (&schedule.stages[producer], &schedule.stages[stage]);
    let (of_writer, of_reader) = (&pipeline.stages[producer], &pipeline.stages[stage]);
    let inner = iteration_of(of_writer, of_reader, read)?;
    let repeating = of_reader.loops.iter().positions(|level| level.extent > 1);
    let same = repeating.into_iter().all(|level| writer.stride[inner.len() + level] == reader.stride[level]);
    let outer = of_reader.loops.iter().map(|level| level.min);
    let iteration = inner.iter().copied().chain(outer).collect_vec();
    let delay = of_reader.first_cycle(reader) - writer.value(&iteration) - of_writer.latency as i64;
    (same && delay >= 0).then_some(delay)
}

/// The stage that a read follows iteration by iteration, and how many cycles later: such a read needs no memory.
pub(crate) fn followed(
    extraction: &Extraction,
    writers: &Writers,
    schedule: &Schedule,
    stage: usize,
    read: &Access,
) -> Option<(usize, i64)> {
    let producer = pointwise_producer(extraction, writers, stage, read)?;
    Some((producer, pointwise_delay(&extraction.pipeline, schedule, producer, stage, read)?))
}

/// Whether each iteration of these loops of a stage writes another element while the other loops stay, digit by digit.
pub(crate) fn writes_once(stage: &Stage, levels: Range<usize>) -> bool {
    let digits = |subscript: &Subscript| {
        let steps = levels.clone().map(|level| (subscript.coefficients[level].abs(), stage.loops[level].extent as i64));
        let steps = steps.filter(|(step, extent)| *step != 0 && *extent > 1).sorted().collect_vec();
        let mut reach = 0;
        steps.into_iter().all(|(step, extent)| {
            let counts = step > reach;
            reach += step * (extent - 1);
            counts
        })
    };
    levels.clone().all(|level| {
        let mut following = stage.write.subscripts.iter().filter(|subscript| subscript.coefficients[level] != 0);
        stage.loops[level].extent == 1 || following.any(digits)
    })
}

/// Whether two accesses never touch the same element, by one of their dimensions.
pub(crate) fn apart((one, first): (&Stage, &Access), (other, second): (&Stage, &Access)) -> bool {
    first
        .subscripts
        .iter()
        .zip(&second.subscripts)
        .any(|(a, b)| a.is_affine() && b.is_affine() && !meet((one, a), (other, b)))
}

/// The least and the greatest value of a subscript without division and boundary.
pub(crate) fn range(stage: &Stage, subscript: &Subscript) -> (i64, i64) {
    let constant = subscript.constant + subscript.offset;
    stage.loops.iter().zip(&subscript.coefficients).fold((constant, constant), |(low, high), (level, step)| {
        let ends = [step * level.min, step * level.max()];
        (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
    })
}
