//! Which elements stages write, and that none is written twice.

use num_integer::gcd;

use crate::coincidence::meet;
use crate::error::{ScheduleError, ScheduleFault};
use crate::writers::Writers;
use pushmem_stages::{Boundary, Pipeline, Stage, Subscript};

/// Elements along a dimension: `first`, `first + stride`, … up to `last`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub first: i64,
    pub last: i64,
    stride: i64,
}

/// The elements that a stage writes along a dimension: exact if one loop runs along it, else perhaps with some more.
pub(crate) fn written(stage: &Stage, subscript: &Subscript) -> Elements {
    linear(stage, subscript).moved(subscript.offset)
}

/// The indices that an access touches along a dimension, perhaps with some more; none if all of it lies outside.
pub(crate) fn touched(stage: &Stage, subscript: &Subscript) -> Option<Elements> {
    let inner = linear(stage, subscript);
    let inner = match subscript.divisor {
        1 => inner,
        by => Elements::dense(inner.first.div_euclid(by), inner.last.div_euclid(by)),
    };
    let touched = match subscript.boundary {
        Boundary::None => inner,
        Boundary::Clamp { low, high } => Elements::dense(inner.first.clamp(low, high), inner.last.clamp(low, high)),
        Boundary::Mirror { low, high } => Elements::dense(low, high),
        Boundary::Outside { low, high } => inner.within(low, high)?,
    };
    Some(touched.moved(subscript.offset))
}

/// The values of a subscript before it is divided and limited.
fn linear(stage: &Stage, subscript: &Subscript) -> Elements {
    let constant = subscript.constant;
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
    /// A single element.
    pub fn one(element: i64) -> Self {
        Elements::dense(element, element)
    }

    /// All elements of an interval.
    fn dense(first: i64, last: i64) -> Self {
        Elements { first, last, stride: 1 }
    }

    fn moved(self, by: i64) -> Self {
        Elements { first: self.first + by, last: self.last + by, ..self }
    }

    /// Those in `low..=high`, if there are any.
    fn within(self, low: i64, high: i64) -> Option<Self> {
        let up = |from: i64| (from + self.stride - 1) / self.stride * self.stride;
        let first = self.first + up((low - self.first).max(0));
        let last = self.last.min(high);
        let last = first + (last - first).div_euclid(self.stride) * self.stride;
        (first <= last).then_some(Elements { first, last, ..self })
    }

    /// From one of them to the next; nothing of a single one.
    pub fn stride(&self) -> Option<i64> {
        (self.first != self.last).then_some(self.stride)
    }

    /// The remainder of each of them by the stride; the index of a single one.
    pub fn remainder(&self) -> i64 {
        self.stride().map_or(self.first, |stride| self.first.rem_euclid(stride))
    }

    /// Their remainders by a stride, or their indices without; none if these are more than `most`.
    pub fn remainders(&self, stride: Option<i64>, most: usize) -> Option<Vec<i64>> {
        let count = (self.last - self.first) / self.stride + 1;
        let count = stride.map_or(count, |stride| count.min(stride / gcd(stride, self.stride)));
        let elements = || (0..count).map(|number| self.first + number * self.stride);
        let remainders = || elements().map(|element| stride.map_or(element, |stride| element.rem_euclid(stride)));
        (count as u64 <= most as u64).then(|| remainders().collect())
    }

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
pub(crate) fn check_writers(pipeline: &Pipeline, writers: &Writers) -> Result<(), ScheduleError> {
    for (number, stage) in pipeline.stages.iter().enumerate() {
        let error = |fault: ScheduleFault| ScheduleError::at(pipeline, number, fault);
        let overwrites =
            |first: usize| error(ScheduleFault::Overwritten).with(pipeline, first).about(pipeline, stage.write.array);
        if !stage.write.is_affine() {
            return Err(error(ScheduleFault::WriteDivides));
        }
        if let Some(level) = stage.loops_not_written().find(|&level| stage.loops[level].extent > 1) {
            let variable = stage.loops[level].name.clone();
            return Err(match stage.updates() {
                true => error(ScheduleFault::Reduction(variable)).about(pipeline, stage.write.array),
                false => overwrites(number),
            });
        }
        // An update depends on those before by its reads.
        if stage.updates() {
            continue;
        }
        let mut before = writers.of_access(stage, &stage.write).into_iter().take_while(|&before| before < number);
        if let Some(first) = before.find(|&before| meets(pipeline, before, number)) {
            return Err(overwrites(first));
        }
    }
    Ok(())
}

/// Whether an element is written by both stages.
fn meets(pipeline: &Pipeline, one: usize, other: usize) -> bool {
    let exact = || {
        let (one, other) = (&pipeline.stages[one], &pipeline.stages[other]);
        let mut subscripts = one.write.subscripts.iter().zip(&other.write.subscripts);
        subscripts.all(|(first, second)| meet((one, first), (other, second)))
    };
    compare(pipeline, one, other, Elements::meets) && exact()
}

/// Whether `later` writes all elements that `earlier` writes.
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
