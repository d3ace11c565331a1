//! Reads that follow the writes iteration by iteration.

use std::ops::Range;

use itertools::Itertools;
use num_integer::gcd;
use pushmem_extraction::{Extraction, Origin};
use pushmem_schedule::{Access, Boundary, Pipeline, Schedule, Stage, Subscript, Writers};

/// The stage whose result a read takes in the same iteration: the only writer of the element, in the same loops. The
/// element is still there, because each iteration of the writer writes another element, except for loops around both.
/// Of an input it may be one of several lanes that bring the element, all of them the same word.
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
    let bounds = |stage: &Stage| stage.loops.iter().map(|level| (level.min, level.extent)).collect_vec();
    let own = || 0..writer.loops.len() - pipeline.shared_loops(producer, stage).min(writer.loops.len());
    let same = producer < stage && writer.write == *read && bounds(writer) == bounds(reader);
    (same && writes_once(writer, own())).then_some(producer)
}

/// How many cycles after its write a pointwise read comes, if it is the same for all iterations.
fn pointwise_delay(pipeline: &Pipeline, schedule: &Schedule, producer: usize, stage: usize) -> Option<i64> {
    let (writer, reader) = (&schedule.stages[producer], &schedule.stages[stage]);
    let repeating = pipeline.stages[stage].loops.iter().positions(|level| level.extent > 1);
    let same = repeating.into_iter().all(|level| writer.stride[level] == reader.stride[level]);
    let first = |number: usize| pipeline.stages[number].first_cycle(&schedule.stages[number]);
    let delay = first(stage) - first(producer) - pipeline.stages[producer].latency as i64;
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
    Some((producer, pointwise_delay(&extraction.pipeline, schedule, producer, stage)?))
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

/// Whether two accesses never touch the same element, by their ranges or their strides.
pub(crate) fn apart((one, first): (&Stage, &Access), (other, second): (&Stage, &Access)) -> bool {
    first.subscripts.iter().zip(&second.subscripts).any(|(a, b)| {
        if [a, b].iter().any(|subscript| subscript.divisor != 1 || subscript.boundary != Boundary::None) {
            return false;
        }
        let ((low, high), (least, greatest)) = (range(one, a), range(other, b));
        let steps = |stage: &Stage, of: &Subscript| {
            let moving = stage.loops.iter().zip(&of.coefficients).filter(|(level, _)| level.extent > 1);
            moving.fold(0, |divisor, (_, step)| gcd(divisor, *step))
        };
        let step = gcd(steps(one, a), steps(other, b));
        high < least || greatest < low || (step != 0 && (low - least) % step != 0)
    })
}

/// The least and the greatest value of a subscript without division and boundary.
pub(crate) fn range(stage: &Stage, subscript: &Subscript) -> (i64, i64) {
    let constant = subscript.constant + subscript.offset;
    stage.loops.iter().zip(&subscript.coefficients).fold((constant, constant), |(low, high), (level, step)| {
        let ends = [step * level.min, step * level.max()];
        (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
    })
}
