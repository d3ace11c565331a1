//! Edges, joined with what is within.
//!
//! A statement writes a constant to all elements of a copy, and the next one copies to some of them. Together they are one statement, which copies
//! with the constant as value beyond the array, if the iterations of the second one are just those of the first in which the element is there.

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Array, ExpressionKind, Loop, ranges};

use super::{Place, Statement};
use crate::error::PartError;

/// The statements with one in the place of each that writes an edge, of these numbers in the text, and the one after it.
///
/// # Errors
/// The first edge that does not join with the next statement.
pub(super) fn joined<'a>(
    statements: Vec<Statement<'a>>,
    arrays: &[Array],
    edges: &[usize],
) -> Result<Vec<Statement<'a>>, PartError> {
    let mut joined = Vec::new();
    let mut rest = statements.iter().enumerate();
    while let Some((number, edge)) = rest.next() {
        joined.push(match edges.contains(&number) {
            true => {
                let (_, within) = rest.next().ok_or_else(|| edge.error("nothing is within the edge"))?;
                let pair = Pair { edge, within, statements: &statements };
                pair.joined(arrays).map_err(|reason| edge.error(reason))?
            }
            false => edge.clone(),
        });
    }
    Ok(joined)
}

/// A statement that writes an edge, and the one that copies what is within, among the statements.
struct Pair<'s, 'a> {
    edge: &'s Statement<'a>,
    within: &'s Statement<'a>,
    statements: &'s [Statement<'a>],
}

impl<'a> Pair<'_, 'a> {
    /// The statement that both are.
    fn joined(&self, arrays: &[Array]) -> Result<Statement<'a>, &'static str> {
        let Pair { edge, within, .. } = *self;
        let ExpressionKind::Constant(outside) = edge.expression.kind else { return Err("an edge is no constant") };
        let [load] = &within.loads[..] else { return Err("it is not the edge of a copy") };
        let is_plain = |of: &Statement| {
            of.reduction.is_none()
                && of.operation.share.is_none()
                && of.origin.is_none_or(|origin| origin.lanes.is_empty())
        };
        let copies = within.expression.kind == ExpressionKind::Load(0) && is_plain(within) && !within.chooses();
        let writes = is_plain(edge) && edge.origin.is_none() && edge.loads.is_empty();
        if !copies || !writes || load.outside.is_some() || load.array == within.target.array {
            return Err("it is not the edge of a copy");
        }
        let depth = edge.shared(within);
        let alone = |of: &Statement| {
            let mut others = self.statements.iter().filter(|other| other.number != of.number);
            others.all(|other| of.shared(other) <= depth)
        };
        if edge.loops.len() != within.loops.len() || !alone(edge) || !alone(within) {
            return Err("an edge and what is within are not in nests of their own");
        }
        let shifts = self.shifts(depth);
        let moved =
            |(level, shift): (usize, &i64)| AffineIndex::variable(level).plus(&AffineIndex::constant(*shift), 1);
        let values = shifts.iter().enumerate().map(moved).collect::<Option<Vec<_>>>();
        let same = values.and_then(|values| within.clone().in_loops(&values)).filter(|same| same.target == edge.target);
        let Some(same) = same else { return Err("an edge and what is within are not of one array") };
        let inner = ranges(within.loops.iter().copied()).into_iter().zip(&shifts);
        let inner = inner.map(|((first, last), shift)| (first - shift, last - shift)).collect_vec();
        if !are_within(&edge.loops, &inner, &same.loads[0], &arrays[load.array]) {
            return Err("what is within are not the elements of the array");
        }
        let loads = vec![Place { outside: Some(outside), ..same.loads[0].clone() }];
        Ok(Statement { loops: edge.loops.clone(), loads, ..same })
    }

    /// How much greater than in the loops of the edge each variable is where what is within writes the same element, if there is such an
    /// iteration.
    fn shifts(&self, depth: usize) -> Vec<i64> {
        let mut shifts = vec![0; self.edge.loops.len()];
        for (edge, within) in self.edge.target.indices.iter().zip(&self.within.target.indices) {
            let (Some(edge), Some(within)) = (edge.as_affine(), within.as_affine()) else { continue };
            if let [(level, step)] = edge.terms[..]
                && level >= depth
            {
                shifts[level] = (edge.constant - within.constant) / step;
            }
        }
        shifts
    }
}

/// Whether iterations are those of the loops in which an element is in its array.
fn are_within(outer: &[&Loop], inner: &[(i64, i64)], load: &Place, array: &Array) -> bool {
    let outer = ranges(outer.iter().copied());
    // An index that leaves the array follows one loop, and limits it.
    let mut left = outer.clone();
    let limits = load.indices.iter().enumerate().all(|(dimension, index)| {
        let (least, greatest) = (array.min[dimension], array.max(dimension));
        let (low, high) = index.range(&outer);
        if least <= low && high <= greatest {
            return true;
        }
        let Some(affine) = index.as_affine() else { return false };
        let [(variable, step)] = affine.terms[..] else { return false };
        let (first, last) = left[variable];
        let is_there = |value: &i64| (least..=greatest).contains(&(affine.constant + step * value));
        let there = (first..=last).filter(is_there).minmax().into_option();
        left[variable] = there.unwrap_or((last + 1, last));
        there.is_some()
    });
    limits && left == inner
}
