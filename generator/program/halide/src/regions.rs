//! Which elements of each array there are: those that its readers read, from the outputs on.

use std::collections::HashSet;

use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::fit::index_of;
use crate::interval::Intervals;
use crate::plan::{Array, Box, Plan, Point, Stage, Storage, Term};
use crate::walk::Walk;

/// How often the box of a Func is extended by what its own stages read. The conditions of updates end that: a read beyond the domain of an
/// update extends the box once.
const MOST_EXTENSIONS: usize = 4;

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
        // The elements that updates write and read of the Func itself belong to it, too, and those that are read to compute these.
        for _ in 0..MOST_EXTENSIONS {
            let before = boxes[arrays[0]].clone();
            for stage in stages {
                let ranges = ranges(plan, stage, &boxes);
                for array in &stage.arrays {
                    extend(&mut boxes[*array], of_indices(plan, &stage.targets, &ranges));
                }
                let own = |array: &usize| stage.arrays.contains(array);
                demand(plan, stage, &ranges, &mut boxes, &own);
            }
            together(stages, &mut boxes);
            if boxes[arrays[0]] == before {
                break;
            }
        }
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

fn check(array: &Array, found: Option<&Box>) -> Result<()> {
    let too_wide = found.into_iter().flatten().find(|(low, high)| high - low >= pushmem_nest::LARGEST_ARRAY);
    match too_wide {
        Some((low, high)) => {
            let message = format!("`{}` is read from {low} to {high} along a dimension", array.name);
            Err(Fault::new(array.span, message).with_help("limit the index where it is read, by `clamp`"))
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

fn extend(region: &mut Option<Box>, other: Option<Box>) {
    match (&mut *region, other) {
        (Some(region), Some(other)) => {
            for (one, other) in region.iter_mut().zip(other) {
                *one = (one.0.min(other.0), one.1.max(other.1));
            }
        }
        (None, other) => *region = other,
        _ => {}
    }
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
    for term in stage.values.iter().flatten().chain(&stage.targets) {
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
