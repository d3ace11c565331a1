//! The steps in which indices go from one iteration of a loop to the next.

use pushmem_nest::Index;

use super::MOST_RUNS;
use crate::emit::Loop;
use crate::fit::{MOST_VALUES, primitive};
use crate::plan::{self, Box};
use crate::runs::{MOST_WRITERS, Run, period, runs};

/// An index as a function of one sum of variables.
pub(crate) struct OfSum {
    /// The sum.
    pub sum: Index,
    /// The least and the greatest value of the sum.
    pub range: (i64, i64),
    /// The index, with the sum as variable 0.
    pub function: Index,
}

impl OfSum {
    /// The index, if it depends on one sum of variables only.
    pub fn new(index: &Index, ranges: &[(i64, i64)]) -> Option<Self> {
        let mut sum = None;
        multiples(index, &mut sum)?;
        let sum = sum?;
        let function = over(index, &sum)?;
        let range = sum.range(ranges);
        (range.1 - range.0 < MOST_VALUES).then_some(Self { sum, range, function })
    }

    /// The index as a function of a part of it, which is a sum of any terms.
    pub fn of_part(index: &Index, ranges: &[(i64, i64)]) -> Option<Self> {
        let [(factor, piece)] = &index.pieces[..] else { return None };
        if !index.affine.terms.is_empty() {
            return None;
        }
        let Self { sum, range, function } = Self::of_part(piece.of(), ranges).unwrap_or_else(|| {
            let sum = piece.of().clone();
            Self { range: sum.range(ranges), sum, function: Index::variable(0) }
        });
        let function = Index::constant(index.affine.constant).plus(&piece.folded(function), *factor)?;
        (range.1 - range.0 < MOST_VALUES).then_some(Self { sum, range, function })
    }

    /// The index where the sum has this value.
    pub fn at(&self, value: i64) -> i64 {
        self.function.evaluate(&[value])
    }

    pub fn values(&self) -> (i64, i64) {
        let all = || (self.range.0..=self.range.1).map(|value| self.at(value));
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }
}

/// The least and the greatest value of an index; exact, if it depends on one sum of variables only.
pub(super) fn values_of(index: &Index, ranges: &[(i64, i64)]) -> (i64, i64) {
    OfSum::new(index, ranges).map_or_else(|| index.range(ranges), |of| of.values())
}

/// The sum of which all sums within an index are multiples, but for constants.
fn multiples(index: &Index, found: &mut Option<Index>) -> Option<()> {
    if let Some(here) = primitive(&index.affine)
        && *found.get_or_insert(here.clone()) != here
    {
        return None;
    }
    index.pieces.iter().try_for_each(|(_, piece)| multiples(piece.of(), found))
}

/// An index with variable 0 in the place of a sum.
fn over(index: &Index, sum: &Index) -> Option<Index> {
    let factor = match index.affine.terms.first() {
        None => 0,
        Some((_, factor)) => factor / sum.affine.terms.first()?.1,
    };
    let mut whole = Index::constant(index.affine.constant).plus(&Index::variable(0), factor)?;
    for (factor, piece) in &index.pieces {
        whole = whole.plus(&piece.folded(over(piece.of(), sum)?), *factor)?;
    }
    Some(whole)
}

/// A copy with other places along a dimension.
pub(super) struct Step {
    pub dimension: usize,
    pub parts: Vec<Run>,
    /// The range that it takes over from the copy before.
    pub covered: Option<(i64, i64)>,
}

/// The copies of a read, one after the other.
pub(super) fn steps(sums: &[Option<OfSum>]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (dimension, of) in sums.iter().enumerate() {
        let Some(of) = of else { continue };
        let mut parts = runs(&|at| of.at(at), of.range);
        if parts.len() > MOST_RUNS {
            return None;
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.length * part.turns));
        let mut covered: Option<(i64, i64)> = None;
        while !parts.is_empty() {
            let room = MOST_WRITERS - usize::from(covered.is_some());
            let mut taken = Vec::new();
            for _ in 0..room.min(parts.len()) {
                // A later copy takes over one range, without gaps.
                let is_within = |part: &Run| {
                    let (low, high) = part.range();
                    covered.is_some_and(|(first, last)| low <= last && first <= high)
                };
                let is_beside = |part: &Run| {
                    let (low, high) = part.range();
                    covered.is_none_or(|(first, last)| low == last + 1 || high + 1 == first)
                };
                let next = parts.iter().position(is_within).or_else(|| parts.iter().position(is_beside));
                let next = next.or((parts.len() <= room).then_some(0))?;
                let part = parts.remove(next);
                let (low, high) = part.range();
                covered = Some(covered.map_or((low, high), |covered| plan::hull(covered, (low, high))));
                taken.push(part);
            }
            let is_whole = |part: &Run| {
                let (low, high) = part.range();
                covered.is_none_or(|(first, last)| last < low || high < first)
            };
            if !parts.iter().all(is_whole) {
                return None;
            }
            let before = steps.last().filter(|step: &&Step| step.dimension == dimension);
            let before = before.map(hull);
            steps.push(Step { dimension, parts: taken, covered: before });
        }
    }
    Some(steps)
}

/// The range that a copy has.
pub(super) fn hull(step: &Step) -> (i64, i64) {
    let ranges = step.parts.iter().map(Run::range).chain(step.covered);
    ranges.reduce(plan::hull).unwrap_or((0, 0))
}

/// After how many iterations of a loop an index that depends on it by terms that are no sums moves on by a constant.
pub(super) fn repeated(index: &Index, each: &Loop) -> Option<i64> {
    let mut variables = index.pieces.iter().flat_map(|(_, piece)| piece.of().variables());
    if index.pieces.is_empty() || !variables.all(|variable| variable == each.variable) {
        return None;
    }
    let values = values(index, each)?;
    let by = period(&values)?;
    along(index, each, by).map(|_| by)
}

/// The values of the terms of an index that are no sums.
pub(super) fn values(index: &Index, each: &Loop) -> Option<Vec<i64>> {
    let (low, high) = each.range;
    if high - low >= MOST_VALUES {
        return None;
    }
    let pieces = Index { affine: Default::default(), pieces: index.pieces.clone() };
    let of = OfSum::new(&pieces, &single(each))?;
    let factor = of.sum.affine.coefficient(each.variable);
    Some((low..=high).map(|at| of.at(factor * at)).collect())
}

fn single(each: &Loop) -> Box {
    let mut ranges = vec![(0, 0); each.variable + 1];
    ranges[each.variable] = each.range;
    ranges
}

/// The terms of an index that are no sums as a sum of the two loops that a loop is divided into: the first value and the steps of the
/// outer and of the inner one.
pub(super) fn along(index: &Index, each: &Loop, by: i64) -> Option<[i64; 3]> {
    let values = values(index, each)?;
    let period = by as usize;
    let stride = values.get(period)? - values[0];
    let step = values[1] - values[0];
    let fits = values
        .iter()
        .enumerate()
        .all(|(at, value)| *value == values[0] + stride * (at / period) as i64 + step * (at % period) as i64);
    fits.then_some([values[0], stride, step])
}
