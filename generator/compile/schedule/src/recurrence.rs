//! Recurrences: results of earlier iterations that stages take, and the initiation interval that they need (Rau, 1994, §2.2).
//!
//! The stages of a raster scan are nodes, and their dependences edges: a result is there a latency after the iteration, and the
//! iteration that takes it is so many cycles later as iterations are apart. A circle of edges that has less time than latency needs
//! more cycles between iterations.

use std::collections::BTreeMap;

use pushmem_stages::Pipeline;

use crate::alignment::Alignment;
use crate::dependence_distance::{Dependence, dependences};
use crate::error::{ScheduleError, ScheduleFault};
use crate::line_buffers::{Apart, Constraint, solve};
use crate::schedule::{Options, constraints, extent, first_times, groups, multiple, weights};

/// The recurrences of a pipeline whose stages are fused as [`stencil`](crate::stencil) does: the initiation interval, and the
/// recurrence that keeps it from being shorter. Nothing if no stage takes results of earlier iterations.
///
/// # Errors
/// As [`stencil`](crate::stencil).
pub fn recurrence(pipeline: &Pipeline, options: &Options) -> Result<Option<Recurrence>, ScheduleError> {
    let dependences = dependences(pipeline)?;
    if !dependences.iter().any(Dependence::is_carried) {
        return Ok(None);
    }
    let scan = Scan::new(pipeline, &dependences, options)?;
    scan.paced().map(|paced| Some(paced.recurrence))
}

/// How many cycles after one another the iterations of a raster scan begin, because of results that come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// The initiation interval: cycles from one iteration of the innermost dimension to the next.
    pub interval: u64,
    /// The circle of stages that needs so many; nothing if the interval is 1.
    pub circle: Option<Circle>,
}

/// Stages of which each takes the word of the one before, and the first that of the last, some iterations ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The stages, as indices of the pipeline's.
    pub stages: Vec<usize>,
    /// Cycles that a word takes around the circle.
    pub latency: u64,
    /// Iterations of the innermost dimension after which it must be back.
    pub distance: u64,
}

/// Stages that are to be fused.
pub(crate) struct Scan<'a> {
    pipeline: &'a Pipeline,
    dependences: &'a [Dependence],
    options: &'a Options,
    alignment: Alignment,
    /// The group of each stage.
    pub groups: Vec<usize>,
    weights: BTreeMap<(usize, usize), u64>,
}

/// The fused nest at an initiation interval.
pub(crate) struct Timing {
    /// By stage, the cycles of an iteration of each loop.
    pub steps: Vec<Vec<i64>>,
    /// The cycles of a row.
    pub row: i64,
    constraints: Vec<Constraint>,
}

/// The fused nest at the shortest initiation interval.
pub(crate) struct Paced {
    pub timing: Timing,
    /// The delay of each group.
    pub delays: Vec<i64>,
    recurrence: Recurrence,
}

impl<'a> Scan<'a> {
    pub fn new(
        pipeline: &'a Pipeline,
        dependences: &'a [Dependence],
        options: &'a Options,
    ) -> Result<Self, ScheduleError> {
        let alignment = Alignment::of(pipeline, dependences)?;
        let groups = groups(pipeline);
        let weights = weights(pipeline, &alignment, &groups);
        Ok(Scan { pipeline, dependences, options, alignment, groups, weights })
    }

    /// The nest with so many cycles for an iteration of its innermost dimension.
    fn timing(&self, interval: i64) -> Timing {
        let Scan { pipeline, alignment, options, .. } = self;
        let mut periods: Vec<i64> = Vec::new();
        let mut period = interval;
        for dimension in 0..alignment.dimensions {
            periods.push(period);
            let extent = extent(pipeline, alignment, dimension);
            // Nothing follows the outermost dimension that would have to be aligned.
            let multiple =
                if dimension + 1 == alignment.dimensions { 1 } else { multiple(alignment, dimension, options) };
            period *= (extent + multiple - 1) / multiple * multiple;
        }
        let step = |&(dimension, rate): &(usize, i64)| periods[dimension] * rate;
        let steps: Vec<Vec<i64>> = alignment.loops.iter().map(|loops| loops.iter().map(step).collect()).collect();
        let firsts = first_times(pipeline, &steps);
        let constraints = constraints(pipeline, self.dependences, &self.groups, &steps, &firsts, options);
        Timing { row: periods.get(1).copied().unwrap_or(period), steps, constraints }
    }

    /// The delay of each group, some of them apart.
    ///
    /// # Errors
    /// The groups of a recurrence that has too few cycles.
    pub fn delays(&self, timing: &Timing, apart: &[Apart]) -> Result<Vec<i64>, Vec<usize>> {
        let count = self.groups.last().map_or(0, |last| last + 1);
        solve(count, &self.weights, &timing.constraints, apart)
    }

    /// The nest at the shortest initiation interval: that of the recurrence whose latency is the greatest multiple of its
    /// distance.
    pub fn paced(&self) -> Result<Paced, ScheduleError> {
        let mut recurrence = Recurrence { interval: 1, circle: None };
        let mut timing = self.timing(1);
        loop {
            let circle = match self.delays(&timing, &[]) {
                Ok(delays) => return Ok(Paced { timing, delays, recurrence }),
                Err(circle) => circle,
            };
            // A cycle more between iterations is one more for each iteration of the distance.
            let next = self.timing(recurrence.interval as i64 + 1);
            let late = around(&timing.constraints, &circle);
            let distance = late - around(&next.constraints, &circle);
            if distance <= 0 {
                return Err(self.chained(&circle));
            }
            let first = |&group: &usize| self.groups.iter().position(|&of| of == group).unwrap_or(0);
            recurrence.circle = Some(Circle {
                stages: circle.iter().map(first).collect(),
                latency: (late + recurrence.interval as i64 * distance) as u64,
                distance: distance as u64,
            });
            recurrence.interval += 1;
            timing = next;
        }
    }

    /// The error of groups that would have to wait for each other in one iteration.
    fn chained(&self, circle: &[usize]) -> ScheduleError {
        let of = |stage: usize| circle.contains(&self.groups[stage]);
        let carried = |dependence: &&Dependence| {
            of(dependence.producer) && of(dependence.consumer) && dependence.producer != dependence.consumer
        };
        let inside = || self.dependences.iter().filter(|dependence| of(dependence.producer) && of(dependence.consumer));
        let found = inside().find(carried).or_else(|| inside().next()).expect("a circle has dependences");
        let error = ScheduleError::at(self.pipeline, found.consumer, ScheduleFault::Chained);
        error.with(self.pipeline, found.producer).about(self.pipeline, found.array)
    }
}

/// By how many cycles a circle of groups would have to run before itself.
fn around(constraints: &[Constraint], circle: &[usize]) -> i64 {
    let pairs = circle.iter().zip(circle.iter().cycle().skip(1));
    let lead = |(&producer, &consumer): (&usize, &usize)| {
        let between = constraints.iter().filter(|of| (of.producer, of.consumer) == (producer, consumer));
        between.map(|constraint| constraint.lead).max().unwrap_or(0)
    };
    pairs.map(lead).sum()
}
