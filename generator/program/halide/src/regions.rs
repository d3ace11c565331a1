//! Which elements of each array there are: those that its readers read, from the outputs on.

use std::collections::HashSet;

use pushmem_nest::Type;

use crate::fit::index_of;
use crate::interval::Intervals;
use crate::plan::{Array, Box, Plan, Point, Stage, Storage, Term, hull_of_boxes};
use crate::walk::Walk;
use crate::{Problem, Result};

/// How often the box of a Func is extended by what its own stages read, before it is extended to the ends of the conditions of updates, if
/// these have ends. A read beyond the domain of an update extends the box once.
const MOST_EXTENSIONS: usize = 4;

/// An index that no element has.
const FAR: i64 = 1 << 30;

/// The box of each array; nothing for those that are not read.
pub(crate) fn regions(plan: &Plan) -> Result<Vec<Option<Box>>> {
    let mut boxes: Vec<Option<Box>> = plan.arrays.iter().map(|array| array.said.clone()).collect();
    let mut last = plan.stages.len();
    while last > 0 {
        let arrays = &plan.stages[last - 1].arrays;
        let first =
            plan.stages[..last].iter().rposition(|stage| stage.arrays != *arrays).map_or(0, |before| before + 1);
        let stages = &plan.stages[first..last];
        last = first;
        if stages[0].arrays.iter().all(|array| boxes[*array].is_none()) {
            continue;
        }
        together(stages, &mut boxes);
        with_own(plan, stages, &mut boxes);
        for stage in stages {
            let ranges = ranges(plan, stage, &boxes);
            demand(plan, stage, &ranges, &mut boxes, &|_| true);
        }
    }
    for (array, found) in plan.arrays.iter().zip(&boxes) {
        check(array, found.as_ref())?;
    }
    Ok(boxes)
}

/// Extends the boxes of a Func by the elements that its stages write and read of the Func itself, and those that are read to compute these.
fn with_own(plan: &Plan, stages: &[Stage], boxes: &mut [Option<Box>]) {
    let first = stages[0].arrays[0];
    let sides = 2 * plan.arrays[first].dimensions;
    for _ in 0..=sides {
        let mut before = None;
        for _ in 0..MOST_EXTENSIONS {
            before = boxes[first].clone();
            for stage in stages {
                let ranges = ranges(plan, stage, boxes);
                for array in &stage.arrays {
                    extend(&mut boxes[*array], of_indices(plan, &stage.targets, &ranges));
                }
                demand(plan, stage, &ranges, boxes, &|array| stage.arrays.contains(array));
            }
            together(stages, boxes);
            if boxes[first] == before {
                return;
            }
        }
        if !before.is_some_and(|before| to_the_ends(plan, stages, &before, boxes)) {
            return;
        }
    }
}

/// Extends the boxes of a Func, on the sides on which they have grown, as far as conditions let its stages read elements of the Func itself:
/// a recursive filter reads each element before those that are wanted. Whether a side has such an end.
fn to_the_ends(plan: &Plan, stages: &[Stage], before: &Box, boxes: &mut [Option<Box>]) -> bool {
    let own = &stages[0].arrays;
    let Some(now) = boxes[own[0]].clone() else { return false };
    let far = now
        .iter()
        .zip(before)
        .map(|(now, before)| (if now.0 < before.0 { -FAR } else { now.0 }, if now.1 > before.1 { FAR } else { now.1 }));
    let far: Box = far.collect();
    let mut beyond = boxes.to_vec();
    own.iter().for_each(|array| beyond[*array] = Some(far.clone()));
    let mut read: Vec<Option<Box>> = vec![None; boxes.len()];
    for stage in stages {
        demand(plan, stage, &ranges(plan, stage, &beyond), &mut read, &|array| own.contains(array));
    }
    let mut ends = now.clone();
    for read in own.iter().filter_map(|array| read[*array].as_ref()) {
        for (end, read) in ends.iter_mut().zip(read) {
            end.0 = if read.0 > -FAR / 2 { end.0.min(read.0) } else { end.0 };
            end.1 = if read.1 < FAR / 2 { end.1.max(read.1) } else { end.1 };
        }
    }
    let has_ends = ends != now;
    own.iter().for_each(|array| extend(&mut boxes[*array], Some(ends.clone())));
    has_ends
}

fn check(array: &Array, found: Option<&Box>) -> Result<()> {
    let too_wide = found.into_iter().flatten().find(|(low, high)| high - low >= pushmem_nest::LARGEST_ARRAY);
    match too_wide {
        Some((low, high)) => {
            let message = format!("`{}` is read from {low} to {high} along a dimension", array.name);
            Err(Problem::new(array.span, message).with_help("limit the index where it is read, by `clamp`"))
        }
        None => Ok(()),
    }
}

/// Gives all values of a Func one box.
fn together(stages: &[Stage], boxes: &mut [Option<Box>]) {
    let arrays = &stages[0].arrays;
    for array in arrays {
        let other = boxes[*array].clone();
        arrays.iter().for_each(|each| extend(&mut boxes[*each], other.clone()));
    }
}

/// Extends a box by another one, if there is one.
pub(crate) fn extend(region: &mut Option<Box>, other: Option<Box>) {
    *region = match (region.take(), other) {
        (Some(one), Some(other)) => Some(hull_of_boxes(&one, &other)),
        (one, other) => one.or(other),
    };
}

/// The ranges of all variables in a stage.
pub(crate) fn ranges(plan: &Plan, stage: &Stage, boxes: &[Option<Box>]) -> Box {
    let mut ranges: Box = plan.variables.iter().map(|(_, range)| range.unwrap_or((0, 0))).collect();
    let own = stage.arrays.first().and_then(|array| boxes[*array].as_ref());
    for each in &stage.loops {
        if let (Some(dimension), Some(own)) = (each.dimension, own) {
            ranges[each.variable] = own[dimension];
        }
    }
    ranges
}

/// Extends the boxes of what a stage loads of those arrays.
fn demand(plan: &Plan, stage: &Stage, ranges: &Box, boxes: &mut [Option<Box>], wanted: &dyn Fn(&usize) -> bool) {
    let mut load = |point: &Point, ranges: &[(i64, i64)]| {
        // Inputs of which the bounds are set, and constants, are what they are.
        let array = &plan.arrays[point.array];
        let is_open = array.said.is_none() || matches!(array.storage, Storage::Buffer | Storage::Output);
        if wanted(&point.array) && is_open {
            extend(&mut boxes[point.array], of_indices(plan, &point.indices, ranges));
        }
    };
    let (mut walk, mut seen) = (Walk::new(&mut load), HashSet::new());
    for term in stage.terms() {
        walk.term(term, ranges, &mut seen);
    }
}

/// The box of the elements that have these indices.
pub(crate) fn of_indices(plan: &Plan, indices: &[Term], ranges: &[(i64, i64)]) -> Option<Box> {
    Some(indices.iter().map(|index| of_index(plan, index, ranges)).collect())
}

fn of_index(plan: &Plan, index: &Term, ranges: &[(i64, i64)]) -> (i64, i64) {
    if let Some(index) = index_of(&**index, ranges) {
        return index.range(ranges);
    }
    let variables = |variable: usize| ranges[variable];
    let arrays = |array: usize| {
        let of: Type = plan.arrays[array].loaded();
        ((of.min(), of.max()), of)
    };
    Intervals::new(&variables, &arrays).of(index)
}
