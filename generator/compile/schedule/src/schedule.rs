//! Schedules: an affine function of the loop indices for every stage.

use std::collections::{BTreeMap, BTreeSet};

use num_integer::{gcd, lcm};
use pushmem_affine::Affine;
use pushmem_stages::{Pipeline, Schedule, Stage};

use crate::alignment::Alignment;
use crate::coincidence::coincide;
use crate::dependence_distance::{Dependence, dependences};
use crate::error::{ScheduleError, ScheduleFault};
use crate::line_buffers::{Apart, Constraint};
use crate::recurrence::{Paced, Scan};
use crate::transport::Transport;

/// How to schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The rows of the innermost dimension are padded to a multiple of this many elements of every stage. Tiles store by
    /// wide rows of memory: only if each row of an image begins with a row of memory is one pattern right for all rows.
    pub row_multiple: u64,
    /// For each stage the name of its compute unit. Groups that name the same one never run in the same cycle. A group
    /// without a name, or beyond the end of the list, has its own.
    pub share: Vec<Option<String>>,
    /// Cycles that words travel between stages.
    pub transport: Transport,
    /// Reads, by the numbers of the stage and of the read, whose words wait in registers until they are replaced: how long
    /// costs nothing.
    pub free_to_wait: BTreeSet<(usize, usize)>,
}

impl Default for Options {
    fn default() -> Self {
        Options { row_multiple: 1, share: Vec::new(), transport: Transport::default(), free_to_wait: BTreeSet::new() }
    }
}

/// The shortest and the longest time from a write to the read of the same element. They are equal when the distance
/// is constant, so that a delay line can carry the stream.
pub fn distances(schedule: &Schedule, pipeline: &Pipeline, dependence: &Dependence) -> (i64, i64) {
    let (producer, consumer) = (&schedule.stages[dependence.producer], &schedule.stages[dependence.consumer]);
    let latency = pipeline.stages[dependence.producer].latency as i64;
    let difference = consumer.start - producer.start - latency;
    (
        difference - dependence.furthest(&producer.stride, &consumer.stride),
        difference - dependence.nearest(&producer.stride, &consumer.stride),
    )
}

/// Moves the constant term so that the first iteration runs at `first`.
pub(crate) fn starting_at(first: i64, stride: Vec<i64>, stage: &Stage) -> Affine {
    let from_zero = Affine { start: 0, stride };
    from_zero.shifted(first - stage.first_cycle(&from_zero))
}

/// All stages at once, each as soon as the elements that it reads are there, fused into one loop nest, with the least
/// storage. Where stages take results of earlier iterations, iterations begin as many cycles after one another as the
/// [`recurrence`](crate::recurrence()) needs.
///
/// # Errors
/// When the stages cannot be fused; see [`ScheduleError`].
pub fn stencil(pipeline: &Pipeline, options: &Options) -> Result<Schedule, ScheduleError> {
    let dependences = dependences(pipeline)?;
    let scan = Scan::new(pipeline, &dependences, options)?;
    let Paced { timing, mut delays, .. } = scan.paced()?;
    let groups = &scan.groups;
    // Where a unit would be needed twice in a cycle, the later operation comes later, until there are no more such cycles.
    let sharers = sharers(&options.share, groups);
    let mut apart: Vec<Apart> = Vec::new();
    loop {
        let timed = timing.steps.iter().zip(&pipeline.stages).zip(groups);
        let stages = timed.map(|((stride, stage), &group)| starting_at(delays[group], stride.clone(), stage)).collect();
        let schedule = Schedule { stages };
        let Some(conflict) = conflict(pipeline, &schedule, &sharers, timing.row) else { return Ok(schedule) };
        let (first, second) = (groups[conflict.first], groups[conflict.second]);
        let unit = || {
            let fault = ScheduleFault::Unit(options.share[conflict.second].clone().unwrap_or_default());
            ScheduleError::at(pipeline, conflict.second, fault).with(pipeline, conflict.first)
        };
        let later = conflict.later.filter(|_| apart.len() < MOST_CONFLICTS).ok_or_else(unit)?;
        apart.push(Apart { first, second, least: delays[second] - delays[first] + later });
        // Within a recurrence, there may be no cycle in which the operation can come later.
        delays = scan.delays(&timing, &apart).map_err(|_| unit())?;
    }
}

/// So often operations of a unit are moved apart, before the error that they have no room.
const MOST_CONFLICTS: usize = 256;

/// The stages of each unit that several groups share: by group, in order, one for each copy.
fn sharers(share: &[Option<String>], groups: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let mut units: BTreeMap<&str, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (stage, (unit, &group)) in share.iter().zip(groups).enumerate() {
        if let Some(unit) = unit {
            units.entry(unit).or_default().entry(group).or_default().push(stage);
        }
    }
    units.into_values().map(|groups| groups.into_values().collect()).collect()
}

/// Two stages that need a compute unit in the same cycle.
struct Conflict {
    first: usize,
    /// That of the later group.
    second: usize,
    /// How many cycles later the second must run to have the unit for itself, if less than a row.
    later: Option<i64>,
}

/// The first conflict that there is. Of each unit, copies with the same number have the same hardware.
fn conflict(pipeline: &Pipeline, schedule: &Schedule, sharers: &[Vec<Vec<usize>>], row: i64) -> Option<Conflict> {
    let of = |stage: usize| (&pipeline.stages[stage], &schedule.stages[stage]);
    for groups in sharers {
        for (place, second) in groups.iter().enumerate() {
            let meet = |first: &[usize], later: i64| {
                let mut copies = first.iter().copied().zip(second.iter().copied());
                copies.find(|&(one, other)| coincide(of(other), of(one), later))
            };
            let Some((one, other)) = groups[..place].iter().find_map(|first| meet(first, 0)) else { continue };
            let free = |later: &i64| groups[..place].iter().all(|first| meet(first, *later).is_none());
            return Some(Conflict { first: one, second: other, later: (1..=row).find(free) });
        }
    }
    None
}

/// The cost of keeping all elements of an array that a group writes for a cycle, by array and group: the weight of the array
/// for each element that the group writes in a cycle, as a multiple of a fraction that all have in common.
pub(crate) fn weights(pipeline: &Pipeline, alignment: &Alignment, groups: &[usize]) -> BTreeMap<(usize, usize), u64> {
    let slots = |loops: &Vec<(usize, i64)>| loops.iter().map(|(_, rate)| rate.unsigned_abs()).product::<u64>();
    let common = alignment.loops.iter().map(slots).fold(1, lcm);
    let mut weights = BTreeMap::new();
    for ((stage, loops), &group) in pipeline.stages.iter().zip(&alignment.loops).zip(groups) {
        let weight = pipeline.arrays[stage.write.array].weight;
        *weights.entry((stage.write.array, group)).or_insert(0) += weight * (common / slots(loops));
    }
    weights
}

/// The linear time of each stage's first iteration when its constant term is 0. Delays count from there, so that no stage
/// has to run before cycle 0.
pub(crate) fn first_times(pipeline: &Pipeline, steps: &[Vec<i64>]) -> Vec<i64> {
    let first = |(stage, steps): (&Stage, &Vec<i64>)| {
        stage.loops.iter().zip(steps).map(|(level, step)| level.min * step).sum::<i64>()
    };
    pipeline.stages.iter().zip(steps).map(first).collect()
}

/// The number of each stage's group, in order.
pub(crate) fn groups(pipeline: &Pipeline) -> Vec<usize> {
    let starts = pipeline.stages.windows(2).map(|pair| usize::from(pair[0].group != pair[1].group));
    let first = pipeline.stages.first().map(|_| 0);
    first
        .into_iter()
        .chain(starts)
        .scan(0, |group, step| {
            *group += step;
            Some(*group)
        })
        .collect()
}

/// The strictest constraint of each two groups that exchange an array.
pub(crate) fn constraints(
    pipeline: &Pipeline,
    dependences: &[Dependence],
    groups: &[usize],
    steps: &[Vec<i64>],
    firsts: &[i64],
    options: &Options,
) -> Vec<Constraint> {
    let mut strictest: BTreeMap<(usize, usize, usize), Constraint> = BTreeMap::new();
    for dependence in dependences {
        let Dependence { array, producer, consumer, read, .. } = *dependence;
        let latency = pipeline.stages[producer].latency as i64;
        // A delay is the constant term plus the time of the first iteration.
        let shift = firsts[consumer] - firsts[producer] + latency;
        let constraint = Constraint {
            array,
            producer: groups[producer],
            consumer: groups[consumer],
            lead: dependence.furthest(&steps[producer], &steps[consumer])
                + shift
                + options.transport.to_operand(producer, consumer, read),
            kept: (!options.free_to_wait.contains(&(consumer, read))).then(|| {
                dependence.nearest(&steps[producer], &steps[consumer]) + shift
                    - options.transport.arrival(consumer, read)
            }),
        };
        let known = strictest.entry((constraint.producer, constraint.consumer, array)).or_insert(constraint);
        known.lead = known.lead.max(constraint.lead);
        known.kept = known.kept.into_iter().chain(constraint.kept).min();
    }
    strictest.into_values().collect()
}

/// The factor of a dimension's period, so that the rows of every stage begin at whole multiples of its rate, and those
/// of the innermost dimension at whole rows of memory: elements of one row come at a constant rate across its end only
/// then, and rows of memory have no elements of two rows.
pub(crate) fn multiple(alignment: &Alignment, dimension: usize, options: &Options) -> i64 {
    let rates = alignment.loops.iter().flatten().filter(|&&(of, _)| of == dimension).map(|&(_, rate)| rate);
    let rates = rates.fold(1, |multiple, rate| multiple / gcd(multiple, rate) * rate);
    if dimension == 0 { rates * options.row_multiple.max(1) as i64 } else { rates }
}

/// How many iterations a dimension of the fused nest has: enough for the loops of every stage at their rates. A stage that
/// runs late may end its row within the next one.
pub(crate) fn extent(pipeline: &Pipeline, alignment: &Alignment, dimension: usize) -> i64 {
    let span = |(stage, loops): (&Stage, &Vec<(usize, i64)>)| {
        let along = stage.loops.iter().zip(loops).filter(|(_, (of, _))| *of == dimension);
        along.map(|(level, (_, rate))| (level.extent as i64 - 1) * rate).sum::<i64>() + 1
    };
    pipeline.stages.iter().zip(&alignment.loops).map(span).max().unwrap_or(1)
}
