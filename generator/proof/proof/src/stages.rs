//! The proof that the stages are the operations of the loop nest: each of their copies once, with its loops, and with the
//! elements that it reads and writes. All that is proven of stages is thereby proven of the program.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_nest::{Access as NestAccess, ArrayKind, Index, Loop, Program};
use pushmem_stages::{Access, Boundary, Stage, Subscript};
use pushmem_stages::{Origin, Staged};

use crate::error::{PartError, require};
use crate::sequence::Sequence;

/// So many combinations of loop indices are compared, where an index is not affine.
const MOST_POINTS: i64 = 1 << 22;

/// Checks all stages.
///
/// # Errors
/// The first stage that is not a copy of its operation, or a copy that is missing.
pub(crate) fn check(program: &Program, staged: Staged, sequence: &Sequence) -> Result<(), PartError> {
    let stages = &staged.pipeline.stages;
    require(
        stages.len() == staged.origins.len() && staged.pipeline.arrays.len() == program.arrays.len(),
        || program.name.clone(),
        "its stages have no origins",
    )?;
    let mut copies = HashSet::new();
    let mut last = 0;
    for (stage, origin) in stages.iter().zip(staged.origins) {
        let right = match origin {
            Origin::Input { array, .. } => is_stream(program, *array, stage),
            Origin::Operation { operation, lanes } => {
                let in_order = *operation >= std::mem::replace(&mut last, *operation);
                in_order
                    && copies.insert((*operation, lanes.clone()))
                    && Copy::of(program, sequence, *operation, lanes).is_some_and(|copy| copy.is(stage))
            }
        };
        require(right, || stage.name.clone(), "it is no copy of its operation")?;
    }
    for (number, (loops, operation)) in sequence.operations.iter().enumerate() {
        let missing = operation.copies_apart(loops).into_iter().any(|lanes| !copies.contains(&(number, lanes)));
        require(!missing, || operation.name.clone(), "a copy of it is missing")?;
        let seen = loops.iter().enumerate().any(|(level, unrolled)| {
            unrolled.unroll > 1 && operation.merges(level) && is_seen_within(sequence, number, level)
        });
        require(!seen, || operation.name.clone(), "its copies are one sum, which another operation sees in between")?;
        let turns = |level: &Loop| level.extent > level.unroll;
        let in_order = loops.iter().enumerate().all(|(level, unrolled)| {
            let mut inner = loops.iter().enumerate().skip(level + 1);
            unrolled.unroll == 1
                || !operation.merges(level)
                || !inner.any(|(number, inner)| operation.merges(number) && turns(inner))
        });
        let any_order = !operation.expression.value.sums_in_order();
        require(any_order || in_order, || operation.name.clone(), "its copies add in another order")?;
    }
    Ok(())
}

/// Whether, in the iterations of a loop around an operation, another one sees the array that it adds to, or sets it anew.
fn is_seen_within(sequence: &Sequence, number: usize, level: usize) -> bool {
    let (loops, operation) = &sequence.operations[number];
    let array = operation.target.array;
    sequence.operations.iter().enumerate().any(|(other, (around, content))| {
        let reads = content.reads().filter(|read| read.array == array).count();
        // A sum has its own target among its reads, and is in any order with others, unless the order matters.
        let own = usize::from(content.reduction.is_some() && content.target.array == array);
        let sets = content.target.array == array && content.reduction != operation.reduction;
        let is_inside = around.len() > level && std::ptr::eq(around[level], loops[level]);
        let in_order = content.target.array == array && content.expression.value.sums_in_order();
        other != number && is_inside && (reads > own || sets || in_order)
    })
}

/// Whether a stage brings elements of an input.
fn is_stream(program: &Program, array: usize, stage: &Stage) -> bool {
    let declared = program.arrays.get(array).filter(|array| array.kind == ArrayKind::Input);
    declared.is_some_and(|declared| {
        let inside = |(dimension, subscript): (usize, &Subscript)| {
            let ends = ends(stage, subscript);
            subscript.is_affine() && declared.min[dimension] <= ends.0 && ends.1 <= declared.max(dimension)
        };
        stage.write.array == array
            && (stage.reads.is_empty() && stage.latency == 0)
            && stage.write.subscripts.len() == declared.shape.len()
            && stage.write.subscripts.iter().enumerate().all(inside)
    })
}

/// The least and the greatest value of a subscript without division and boundary.
pub(crate) fn ends(stage: &Stage, subscript: &Subscript) -> (i64, i64) {
    let constant = subscript.constant + subscript.offset;
    stage.loops.iter().zip(&subscript.coefficients).fold((constant, constant), |(low, high), (level, step)| {
        let ends = [step * level.min, step * level.max()];
        (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
    })
}

/// The first iteration of a stage, and for each loop the one at its end.
pub(crate) fn ends_of_loops(stage: &Stage) -> impl Iterator<Item = Vec<i64>> {
    let first = stage.loops.iter().map(|level| level.min).collect_vec();
    let at_end = |level: usize| {
        let mut index = first.clone();
        index[level] = stage.loops[level].max();
        index
    };
    let ends = (0..stage.loops.len()).map(at_end).collect_vec();
    ends.into_iter().chain([first])
}

/// A copy of an operation, as the loop nest says.
struct Copy<'a> {
    program: &'a Program,
    /// Outermost first.
    loops: &'a [&'a Loop],
    operation: &'a pushmem_nest::Operation,
    /// Innermost first.
    lanes: &'a [i64],
}

impl<'a> Copy<'a> {
    fn of(program: &'a Program, sequence: &'a Sequence, operation: usize, lanes: &'a [i64]) -> Option<Self> {
        let (loops, operation) = sequence.operations.get(operation)?;
        let within = |(level, lane): (&&Loop, &i64)| (0..level.unroll).contains(lane);
        let right = lanes.len() == loops.len() && loops.iter().rev().zip(lanes).all(within);
        let merged = |(variable, lane): (usize, &i64)| operation.merges(variable) && *lane != 0;
        let alone = !lanes.iter().rev().enumerate().any(merged);
        (right && alone).then_some(Copy { program, loops, operation, lanes })
    }

    /// Whether a stage is this copy.
    fn is(&self, stage: &Stage) -> bool {
        let extents = self.loops.iter().rev().map(|level| (0, level.extent / level.unroll));
        let same_loops = stage.loops.iter().map(|level| (level.min, level.extent as i64)).eq(extents);
        let parts = self.operation.copies_together(self.loops);
        let mut wanted = Vec::new();
        for part in &parts {
            let lanes = self.lanes.iter().zip(part).map(|(lane, part)| lane + part).collect_vec();
            wanted
                .extend(self.operation.loads.iter().map(|load| (&load.access, lanes.clone(), load.outside.is_some())));
        }
        if self.operation.reduction.is_some() {
            wanted.push((&self.operation.target, self.lanes.to_vec(), false));
        }
        same_loops
            && stage.reads.len() == wanted.len()
            && stage
                .reads
                .iter()
                .zip(&wanted)
                .all(|(read, (access, lanes, outside))| self.is_access(stage, read, access, lanes, *outside))
            && self.is_access(stage, &stage.write, &self.operation.target, self.lanes, false)
    }

    /// Whether an access touches the element that the program says in each iteration of these lanes.
    fn is_access(&self, stage: &Stage, found: &Access, access: &NestAccess, lanes: &[i64], outside: bool) -> bool {
        let array = &self.program.arrays[access.array];
        found.array == access.array
            && found.subscripts.len() == access.indices.len()
            && found.subscripts.iter().zip(&access.indices).enumerate().all(|(dimension, (subscript, index))| {
                let clip = outside.then(|| (array.min[dimension], array.max(dimension)));
                subscript.coefficients.len() == self.loops.len() && self.is_index(stage, subscript, index, lanes, clip)
            })
    }

    /// Whether a subscript is an index of the program, with no element beyond the limits that it is clipped to.
    fn is_index(
        &self,
        stage: &Stage,
        subscript: &Subscript,
        index: &Index,
        lanes: &[i64],
        clip: Option<(i64, i64)>,
    ) -> bool {
        let depth = self.loops.len();
        // Variables by iteration, outermost first.
        let variables = |iteration: &[i64]| {
            let level = |outer: usize| {
                let (of, inner) = (self.loops[outer], depth - 1 - outer);
                of.min + of.unroll * iteration[inner] + lanes[inner]
            };
            (0..depth).map(level).collect_vec()
        };
        let mut moving = (0..depth).filter(|&level| {
            let follows = subscript.coefficients[level] != 0 || index.variables().contains(&(depth - 1 - level));
            stage.loops[level].extent > 1 && follows
        });
        let first = vec![0; depth];
        let affine = index.as_affine().filter(|_| subscript.divisor == 1);
        let unclipped = match (subscript.boundary, clip) {
            (Boundary::None, None) => true,
            (Boundary::Outside { low, high }, Some(limits)) => (low, high) == limits && subscript.offset == 0,
            _ => false,
        };
        if let Some(affine) = affine
            && unclipped
        {
            let value = subscript.constant + subscript.offset;
            return value == affine.evaluate(&variables(&first))
                && moving.all(|level| {
                    let outer = depth - 1 - level;
                    subscript.coefficients[level] == affine.coefficient(outer) * self.loops[outer].unroll
                });
        }
        let moving = moving.collect_vec();
        let points =
            moving.iter().try_fold(1_i64, |points, &level| points.checked_mul(stage.loops[level].extent as i64));
        points.is_some_and(|points| points <= MOST_POINTS)
            && all_points(stage, &moving, |iteration| {
                let value = index.evaluate(&variables(iteration));
                let wanted = clip.is_none_or(|(low, high)| (low..=high).contains(&value)).then_some(value);
                subscript.at(iteration) == wanted
            })
    }
}

/// Whether a condition holds for all indices of these loops, the others in their first iteration.
fn all_points(stage: &Stage, moving: &[usize], holds: impl Fn(&[i64]) -> bool) -> bool {
    let mut iteration = vec![0; stage.loops.len()];
    loop {
        if !holds(&iteration) {
            return false;
        }
        let Some(place) = moving.iter().position(|&level| iteration[level] + 1 < stage.loops[level].extent as i64)
        else {
            return true;
        };
        iteration[moving[place]] += 1;
        moving[..place].iter().for_each(|&level| iteration[level] = 0);
    }
}
