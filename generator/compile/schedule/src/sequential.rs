//! One stage after the other, as in a program of one thread.

use std::ops::Range;

use crate::coarse::{CoarseOptions, alone, exchange_results};
use crate::schedule::starting_at;
use pushmem_stages::Pipeline;
use pushmem_stages::Schedule;

/// One stage after the other in the order of the program, an iteration a cycle: the baseline to compare with (dissertation
/// §4.3). Loops that stages share begin their next iteration when the last stage inside has ended. An update waits for the
/// one of the same element before, and for so many cycles more as a word needs through the memory ([`CoarseOptions::round_trip`]);
/// a stage waits until the last word of the one before has travelled ([`CoarseOptions::transport`]).
pub fn sequential(pipeline: &Pipeline, options: &CoarseOptions) -> Schedule {
    let groups = crate::coarse::runs(pipeline);
    let (timed, _) = body(pipeline, &groups, 0, options);
    let stages =
        timed.into_iter().zip(&pipeline.stages).map(|((first, stride), stage)| starting_at(first, stride, stage));
    Schedule { stages: stages.collect() }
}

/// When each stage of some groups starts in an iteration of the `depth` loops around them, its strides in the loops inside,
/// and how long all of them take.
fn body(
    pipeline: &Pipeline,
    groups: &[Range<usize>],
    depth: usize,
    options: &CoarseOptions,
) -> (Vec<(i64, Vec<i64>)>, i64) {
    let first_of = |group: &Range<usize>| &pipeline.stages[group.start];
    let (mut timed, mut now) = (Vec::new(), 0_i64);
    let mut rest = groups;
    while let Some(first) = rest.first() {
        let deeper = |group: &&Range<usize>| first_of(group).shared.min(first_of(group).loops.len()) > depth;
        let nested = first_of(first).loops.len() > depth;
        let count = 1 + rest[1..].iter().take_while(|group| nested && deeper(group)).count();
        let (together, behind) = rest.split_at(count);
        rest = behind;
        if count == 1 {
            // Copies that take results of each other run together.
            let runs = match exchange_results(pipeline, first, depth) {
                true => vec![first.clone()],
                false => first.clone().map(|number| number..number + 1).collect(),
            };
            for run in runs {
                let (stride, span) = alone(pipeline, run.clone(), depth, options);
                timed.extend(run.clone().map(|_| (now, stride.clone())));
                let latencies = pipeline.stages[run.clone()].iter().map(|stage| stage.latency).max().unwrap_or(0);
                let latency = i64::try_from(latencies).unwrap_or(i64::MAX);
                let travel = options.transport.longest(run, 0..pipeline.stages.len()) as i64;
                now = now.saturating_add(span).saturating_add(latency).saturating_add(travel);
            }
            continue;
        }
        let (inside, length) = body(pipeline, together, depth + 1, options);
        timed.extend(inside.into_iter().map(|(first, mut stride)| {
            stride.push(length);
            (now.saturating_add(first), stride)
        }));
        let stages = together.iter().flat_map(|group| &pipeline.stages[group.clone()]);
        let extents = stages.filter_map(|stage| Some(&stage.loops[stage.loops.len().checked_sub(depth + 1)?]));
        let extent = extents.map(|level| i64::try_from(level.extent).unwrap_or(i64::MAX)).max().unwrap_or(1);
        now = now.saturating_add(length.saturating_mul(extent));
    }
    (timed, now)
}
