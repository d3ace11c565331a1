//! Which elements stages write, and that none is written twice.

use num_integer::gcd;

use crate::error::{ScheduleError, StageName};
use crate::pipeline::{Boundary, Pipeline, Stage, Subscript};

/// Elements along a dimension: `first`, `first + stride`, … up to `last`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub first: i64,
    pub last: i64,
    stride: i64,
}

/// What a stage writes along a dimension: exactly if one loop runs along it, else perhaps with some elements more.
pub(crate) fn written(stage: &Stage, subscript: &Subscript) -> Elements {
    let constant = subscript.constant + subscript.offset;
    let mut elements = Elements { first: constant, last: constant, stride: 0 };
    for (level, coefficient) in stage.loops.iter().zip(&subscript.coefficients) {
        let (one, other) = (coefficient * level.min, coefficient * level.max());
        elements.first += one.min(other);
        elements.last += one.max(other);
        elements.stride = gcd(elements.stride, coefficient.abs());
    }
    elements.stride = elements.stride.max(1);
    elements
}

impl Elements {
    fn contains(&self, element: i64) -> bool {
        (self.first..=self.last).contains(&element) && (element - self.first) % self.stride == 0
    }

    fn meets(&self, other: &Elements) -> bool {
        // Among the elements of one, those of the other come back after this many.
        let turns = other.stride / gcd(self.stride, other.stride);
        let from = (other.first - self.first).max(0);
        let from = self.first + (from + self.stride - 1) / self.stride * self.stride;
        (0..turns)
            .map(|turn| from + turn * self.stride)
            .any(|element| self.contains(element) && other.contains(element))
    }

    fn covers(&self, other: &Elements) -> bool {
        let continues = other.first == other.last || other.stride % self.stride == 0;
        continues && self.contains(other.first) && self.contains(other.last)
    }
}

/// Checks that all writes are affine, and that an element is written twice only to update it.
pub(crate) fn check_writers(pipeline: &Pipeline) -> Result<(), ScheduleError> {
    for (number, stage) in pipeline.stages.iter().enumerate() {
        let name = || StageName::of(pipeline, number);
        let array = || pipeline.arrays[stage.write.array].name.clone();
        if stage.write.subscripts.iter().any(|written| written.divisor != 1 || written.boundary != Boundary::None) {
            return Err(ScheduleError::WriteDivides { stage: name() });
        }
        if let Some(level) = stage.loops_not_written().find(|&level| stage.loops[level].extent > 1) {
            let variable = stage.loops[level].name.clone();
            return Err(match stage.updates() {
                true => ScheduleError::Reduction { stage: name(), variable, array: array() },
                false => ScheduleError::Overwritten { stage: name(), first: name(), array: array() },
            });
        }
        // An update relates to those before by what it reads.
        let mut before = (0..number).filter(|_| !stage.updates());
        if let Some(first) = before.find(|&before| meets(pipeline, before, number)) {
            let first = StageName::of(pipeline, first);
            return Err(ScheduleError::Overwritten { stage: name(), first, array: array() });
        }
    }
    Ok(())
}

/// Whether an element is written by both stages.
fn meets(pipeline: &Pipeline, one: usize, other: usize) -> bool {
    compare(pipeline, one, other, Elements::meets)
}

/// Whether all that `earlier` writes is written by `later`, too.
pub(crate) fn covers(pipeline: &Pipeline, later: usize, earlier: usize) -> bool {
    compare(pipeline, later, earlier, Elements::covers)
}

fn compare(pipeline: &Pipeline, one: usize, other: usize, holds: impl Fn(&Elements, &Elements) -> bool) -> bool {
    let (one, other) = (&pipeline.stages[one], &pipeline.stages[other]);
    one.write.array == other.write.array
        && one
            .write
            .subscripts
            .iter()
            .zip(&other.write.subscripts)
            .all(|(first, second)| holds(&written(one, first), &written(other, second)))
}
