//! Schedules: an affine function of the loop indices for every stage.

use std::fmt;

use itertools::Itertools;

use crate::alignment::Alignment;
use crate::delays::{Constraint, solve};
use crate::dependence::{Dependence, dependences};
use crate::error::ScheduleError;
use crate::pipeline::{Pipeline, Stage};

/// When a stage runs: iteration `(i0, i1, …)` reads at cycle `start + Σ stride·i`, and writes its latency later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageSchedule {
    /// Constant term; the cycle of the first iteration is [`StageSchedule::first`].
    pub start: i64,
    /// Cycles from one iteration of each loop to the next, innermost first.
    pub stride: Vec<i64>,
}

/// When all stages run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// By stage.
    pub stages: Vec<StageSchedule>,
}

impl StageSchedule {
    /// The cycle in which a point of the stage's domain reads.
    pub fn at(&self, index: &[i64]) -> i64 {
        self.start + self.stride.iter().zip(index).map(|(stride, index)| stride * index).sum::<i64>()
    }

    /// The cycle of its first iteration.
    pub fn first(&self, stage: &Stage) -> i64 {
        self.at(&stage.loops.iter().map(|level| level.min).collect_vec())
    }

    /// The cycle of its last iteration.
    pub fn last(&self, stage: &Stage) -> i64 {
        self.at(&stage.loops.iter().map(|level| level.max()).collect_vec())
    }

    /// The function in the notation of the papers: `(x, y) → 64y + x + 65`.
    pub fn display<'a>(&'a self, stage: &'a Stage) -> impl fmt::Display + 'a {
        fmt::from_fn(move |formatter| {
            let names = stage.loops.iter().map(|level| &level.name);
            write!(formatter, "({}) → ", names.clone().join(", "))?;
            let terms = self
                .stride
                .iter()
                .zip(names)
                .rev()
                .filter(|(stride, _)| **stride != 0)
                .map(|(stride, name)| if *stride == 1 { name.clone() } else { format!("{stride}{name}") });
            let constant = (self.start != 0 || self.stride.iter().all(|&stride| stride == 0)).then_some(self.start);
            let text = terms.chain(constant.map(|constant| constant.to_string())).join(" + ");
            write!(formatter, "{}", text.replace("+ -", "- "))
        })
    }
}

impl Schedule {
    /// Cycles from the first read of any stage to the last write, both included.
    pub fn length(&self, pipeline: &Pipeline) -> i64 {
        let stages = || self.stages.iter().zip(&pipeline.stages);
        let first = stages().map(|(schedule, stage)| schedule.first(stage)).min().unwrap_or(0);
        let last = stages().map(|(schedule, stage)| schedule.last(stage) + stage.latency as i64).max().unwrap_or(-1);
        last - first + 1
    }

    /// For each array, how many cycles the longest-lived element is kept: from its write to its last read. At one
    /// element a cycle, this is how many words are stored.
    pub fn lifetimes(&self, pipeline: &Pipeline) -> Result<Vec<i64>, ScheduleError> {
        let mut lifetimes = vec![0; pipeline.arrays.len()];
        for dependence in dependences(pipeline)? {
            let lifetime = &mut lifetimes[dependence.array];
            *lifetime = (*lifetime).max(self.distances(pipeline, &dependence).1);
        }
        Ok(lifetimes)
    }

    /// The shortest and the longest time from a write to the read of the same element. They are equal when the distance
    /// is constant, so that a delay line can carry the stream.
    pub fn distances(&self, pipeline: &Pipeline, dependence: &Dependence) -> (i64, i64) {
        let (producer, consumer) = (&self.stages[dependence.producer], &self.stages[dependence.consumer]);
        let latency = pipeline.stages[dependence.producer].latency as i64;
        let difference = consumer.start - producer.start - latency;
        (
            difference - dependence.furthest(&producer.stride, &consumer.stride),
            difference - dependence.nearest(&producer.stride, &consumer.stride),
        )
    }
}

/// Strides of a nest that runs an iteration a cycle, and its length.
fn dense(stage: &Stage) -> (Vec<i64>, i64) {
    let mut length = 1;
    let stride = stage
        .loops
        .iter()
        .map(|level| {
            let stride = length;
            length *= level.extent as i64;
            stride
        })
        .collect();
    (stride, length)
}

/// Moves the constant term so that the first iteration runs at `first`.
fn starting_at(first: i64, stride: Vec<i64>, stage: &Stage) -> StageSchedule {
    let from_zero = StageSchedule { start: 0, stride };
    StageSchedule { start: first - from_zero.first(stage), ..from_zero }
}

/// One stage after the other, an iteration a cycle: the baseline to compare with.
pub fn sequential(pipeline: &Pipeline) -> Schedule {
    let mut now = 0;
    let stages = pipeline
        .stages
        .iter()
        .map(|stage| {
            let (stride, length) = dense(stage);
            let schedule = starting_at(now, stride, stage);
            now += length + stage.latency as i64;
            schedule
        })
        .collect();
    Schedule { stages }
}

/// All stages at once, each as soon as what it reads is there, fused into one loop nest, with the least storage.
///
/// # Errors
/// When the stages cannot be fused; see [`ScheduleError`].
pub fn stencil(pipeline: &Pipeline) -> Result<Schedule, ScheduleError> {
    let dependences = dependences(pipeline)?;
    let alignment = Alignment::of(pipeline, &dependences)?;
    let mut periods: Vec<i64> = Vec::new();
    let mut period = 1;
    for dimension in 0..alignment.dimensions {
        periods.push(period);
        period *= extent(pipeline, &dependences, &alignment, dimension);
    }
    let steps: Vec<Vec<i64>> = alignment
        .loops
        .iter()
        .map(|loops| loops.iter().map(|&(dimension, rate)| periods[dimension] * rate).collect())
        .collect();
    let weights = pipeline.arrays.iter().map(|array| array.weight).collect_vec();
    let firsts = first_times(pipeline, &steps);
    let constraints = constraints(pipeline, &dependences, &steps, &firsts);
    let delays = solve(pipeline.stages.len(), &weights, &constraints);
    let stages = steps
        .into_iter()
        .zip(&pipeline.stages)
        .zip(delays)
        .map(|((stride, stage), delay)| starting_at(delay, stride, stage))
        .collect();
    Ok(Schedule { stages })
}

/// The linear time of each stage's first iteration when its constant term is 0. Delays count from there, so that no stage
/// has to run before cycle 0.
fn first_times(pipeline: &Pipeline, steps: &[Vec<i64>]) -> Vec<i64> {
    let first = |(stage, steps): (&Stage, &Vec<i64>)| {
        stage.loops.iter().zip(steps).map(|(level, step)| level.min * step).sum::<i64>()
    };
    pipeline.stages.iter().zip(steps).map(first).collect()
}

fn constraints(pipeline: &Pipeline, dependences: &[Dependence], steps: &[Vec<i64>], firsts: &[i64]) -> Vec<Constraint> {
    dependences
        .iter()
        .map(|dependence| {
            let Dependence { array, producer, consumer, .. } = *dependence;
            let latency = pipeline.stages[producer].latency as i64;
            // A delay is the constant term plus the time of the first iteration.
            let shift = firsts[consumer] - firsts[producer] + latency;
            Constraint {
                array,
                producer,
                consumer,
                lead: dependence.furthest(&steps[producer], &steps[consumer]) + shift,
                kept: dependence.nearest(&steps[producer], &steps[consumer]) + shift,
            }
        })
        .collect()
}

/// How many iterations a dimension of the fused nest has: enough for every stage at its rate, when each starts as soon
/// along this dimension as what it reads allows.
fn extent(pipeline: &Pipeline, dependences: &[Dependence], alignment: &Alignment, dimension: usize) -> i64 {
    let steps: Vec<Vec<i64>> = alignment
        .loops
        .iter()
        .map(|loops| loops.iter().map(|&(of, rate)| if of == dimension { rate } else { 0 }).collect())
        .collect();
    let firsts = first_times(pipeline, &steps);
    let mut starts = vec![0_i64; pipeline.stages.len()];
    // Producers come before consumers, so that one pass in the order of consumers settles all.
    for dependence in dependences.iter().sorted_by_key(|dependence| dependence.consumer) {
        let Dependence { producer, consumer, .. } = *dependence;
        let lead = dependence.furthest(&steps[producer], &steps[consumer]) + firsts[consumer] - firsts[producer];
        starts[consumer] = starts[consumer].max(starts[producer] + lead);
    }
    let length = |((stage, steps), start): ((&Stage, &Vec<i64>), &i64)| {
        let span: i64 = stage.loops.iter().zip(steps).map(|(level, step)| (level.extent as i64 - 1) * step).sum();
        start + span + 1
    };
    pipeline.stages.iter().zip(&steps).zip(&starts).map(length).max().unwrap_or(1)
}
