//! Indices of a copy of a statement as subscripts of a stage.

use itertools::Itertools;
use pushmem_nest::{Access as NestAccess, AffineIndex, Index, Loop, Piece, Program};
use pushmem_stages::{Access, Boundary, Subscript};

use super::NotExtracted;

/// One copy of an operation: its loops, innermost first, and which iteration of each unrolled loop it executes.
pub(super) struct Copy<'a> {
    pub program: &'a Program,
    pub loops: &'a [&'a Loop],
    pub lanes: &'a [i64],
}

impl Copy<'_> {
    pub fn access(&self, access: &NestAccess, has_outside: bool) -> Result<Access, NotExtracted> {
        let array = &self.program.arrays[access.array];
        let subscripts = access.indices.iter().enumerate().map(|(dimension, index)| {
            let subscript = self.subscript(index);
            let subscript = match has_outside {
                true => subscript.and_then(|inner| self.within(inner, array.min[dimension], array.max(dimension))),
                false => subscript,
            };
            subscript.ok_or_else(|| {
                let diagnostic = self.program.diagnostic(access.span, "this index cannot be streamed").with_help(
                    "a streamed index is an affine function of the loop variables, or one divided by a constant, or \
                     `clamp`, `mirror` or `outside` of such, plus a constant",
                );
                NotExtracted { array: Some(access.array), diagnostic }
            })
        });
        Ok(Access { array: access.array, subscripts: subscripts.try_collect()? })
    }

    fn subscript(&self, index: &Index) -> Option<Subscript> {
        // Pieces that this copy knows are constants.
        let known = |piece: &Piece| piece.of().variables().iter().all(|&variable| !self.repeats(variable));
        let first = self.first_iteration();
        let (constants, pieces): (Vec<_>, Vec<_>) = index.pieces.iter().partition(|(_, piece)| known(piece));
        let mut sum = self.affine(&index.affine);
        sum.constant += constants.iter().map(|(coefficient, piece)| coefficient * piece.evaluate(&first)).sum::<i64>();
        match pieces.as_slice() {
            [] => Some(sum),
            [(1, piece)] if sum.single_loop() == Ok(None) => {
                let inner = self.subscript(piece.of())?;
                match *piece {
                    Piece::Quotient { by, .. } => divided(inner, by),
                    Piece::Remainder { .. } => None,
                    Piece::Clamp { low, high, .. } => self.bounded(inner, Boundary::Clamp { low, high }, low, high),
                    Piece::Mirror { low, high, .. } => self.bounded(inner, Boundary::Mirror { low, high }, low, high),
                }
                .map(|subscript| moved(subscript, sum.constant))
            }
            _ => None,
        }
    }

    /// An affine function over the loops of this copy, which count from 0.
    pub fn affine(&self, affine: &AffineIndex) -> Subscript {
        let steps = self.loops.iter().zip(affine.over(self.loops.len()).stride);
        let steps =
            steps.map(|(level, coefficient)| if level.extent == level.unroll { 0 } else { coefficient * level.unroll });
        Subscript::affine(steps.collect(), affine.evaluate(&self.first_iteration()))
    }

    /// The variables in the first iteration of this copy, outermost first.
    fn first_iteration(&self) -> Vec<i64> {
        self.loops.iter().zip(self.lanes).rev().map(|(level, lane)| level.min + lane).collect()
    }

    /// Whether the loop of a variable has several iterations in this copy.
    fn repeats(&self, variable: usize) -> bool {
        let level = self.loops[self.loops.len() - 1 - variable];
        level.extent > level.unroll
    }

    /// A subscript with a boundary, if it needs one; nothing if it has one already.
    fn bounded(&self, inner: Subscript, boundary: Boundary, low: i64, high: i64) -> Option<Subscript> {
        let (least, greatest) = self.range(&inner);
        if low <= least && greatest <= high {
            return Some(inner);
        }
        (inner.boundary == Boundary::None).then_some(Subscript { boundary, ..inner })
    }

    /// A subscript that has no element beyond `low..=high`.
    fn within(&self, inner: Subscript, low: i64, high: i64) -> Option<Subscript> {
        self.bounded(inner, Boundary::Outside { low, high }, low, high)
    }

    /// Bounds of a subscript's value.
    fn range(&self, subscript: &Subscript) -> (i64, i64) {
        let steps = self.loops.iter().zip(&subscript.coefficients);
        let (mut least, mut greatest) = (subscript.constant, subscript.constant);
        for (level, coefficient) in steps {
            let moved = coefficient * (level.extent / level.unroll - 1);
            least += moved.min(0);
            greatest += moved.max(0);
        }
        let (least, greatest) = (least.div_euclid(subscript.divisor), greatest.div_euclid(subscript.divisor));
        let (least, greatest) = match subscript.boundary {
            Boundary::None | Boundary::Outside { .. } => (least, greatest),
            Boundary::Clamp { low, high } => (least.clamp(low, high), greatest.clamp(low, high)),
            Boundary::Mirror { low, high } => (low, high),
        };
        (least + subscript.offset, greatest + subscript.offset)
    }
}

/// `⌊inner / by⌋`; nothing if a boundary comes before the division.
fn divided(inner: Subscript, by: i64) -> Option<Subscript> {
    if inner.boundary != Boundary::None {
        return None;
    }
    let divisor = inner.divisor * by;
    if inner.coefficients.iter().any(|coefficient| coefficient % divisor != 0) {
        return Some(Subscript { divisor, ..inner });
    }
    // All coefficients are multiples of the divisor: only the constant is rounded.
    let coefficients = inner.coefficients.iter().map(|coefficient| coefficient / divisor);
    Some(Subscript::affine(coefficients.collect(), inner.constant.div_euclid(divisor)))
}

/// `inner + constant`. Without a boundary, ⌊of/by⌋ + c is ⌊(of + c·by)/by⌋.
fn moved(inner: Subscript, constant: i64) -> Subscript {
    match inner.boundary {
        Boundary::None => Subscript { constant: inner.constant + constant * inner.divisor, ..inner },
        _ => Subscript { offset: inner.offset + constant, ..inner },
    }
}
