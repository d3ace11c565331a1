//! Indices of arrays: integer functions of the loop variables.

use std::collections::BTreeSet;

use pushmem_affine::Affine;

/// An index that is an affine function of the loop variables: `constant + Σ coefficient · variable`.
///
/// It knows only the variables that occur, of whatever loops are around; [`AffineIndex::over`] is the function over a
/// nest. Variables are numbered by their loops, the outermost around an operation being 0: the number of a loop is the same for
/// everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AffineIndex {
    /// The value where all variables are 0.
    pub constant: i64,
    /// Variables with their coefficients, none of them 0, in the order of the variables.
    pub terms: Vec<(usize, i64)>,
}

/// An index: an affine function, and perhaps terms that are none.
///
/// Simplified when it is built: `(2*x + 3)/2` is `x + 1`, and `clamp(x, 0, 63)` in a loop `for x in 0..64` is `x`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Index {
    /// The affine part.
    pub affine: AffineIndex,
    /// Other terms with their coefficients, none of them 0.
    pub pieces: Vec<(i64, Piece)>,
}

/// A term of an index that is not affine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// `of / by`, rounded down.
    Quotient {
        /// The dividend.
        of: Index,
        /// The divisor, positive.
        by: i64,
    },
    /// `of % by`, never negative.
    Remainder {
        /// The dividend.
        of: Index,
        /// The divisor, positive.
        by: i64,
    },
    /// `clamp(of, low, high)`: repeats the edges.
    Clamp {
        /// The index that is limited.
        of: Index,
        /// The least value.
        low: i64,
        /// The greatest value, at least `low`.
        high: i64,
    },
    /// `mirror(of, low, high)`: reflects at the edges, which are repeated, so that `low - 1` becomes `low`, `low - 2`
    /// becomes `low + 1` and `high + 1` becomes `high`. Halide's `mirror_image`.
    Mirror {
        /// The index that is reflected.
        of: Index,
        /// The least value.
        low: i64,
        /// The greatest value, at least `low`.
        high: i64,
    },
}

/// The greatest size of constants, coefficients and values of indices: 2^26. Then nothing computed from them overflows.
pub const INDEX_LIMIT: i64 = 1 << 26;

/// The most terms of an index that are not affine.
const MOST_PIECES: usize = 16;

impl AffineIndex {
    /// A constant.
    pub fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    /// A variable.
    pub fn variable(variable: usize) -> Self {
        Self { constant: 0, terms: vec![(variable, 1)] }
    }

    /// The coefficient of a variable.
    pub fn coefficient(&self, variable: usize) -> i64 {
        self.terms.iter().find(|(candidate, _)| *candidate == variable).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// The function over `depth` loops, of which the outermost has variable 0.
    pub fn over(&self, depth: usize) -> Affine {
        Affine { start: self.constant, stride: (0..depth).rev().map(|variable| self.coefficient(variable)).collect() }
    }

    /// The value for these values of the variables, outermost first.
    pub fn evaluate(&self, variables: &[i64]) -> i64 {
        self.terms
            .iter()
            .fold(self.constant, |value, &(variable, coefficient)| value + coefficient * variables[variable])
    }

    /// The least and the greatest value over a box: for each variable, outermost first, its least and greatest value.
    pub fn range(&self, ranges: &[(i64, i64)]) -> (i64, i64) {
        self.terms.iter().fold((self.constant, self.constant), |(low, high), &(variable, coefficient)| {
            let (first, last) = ranges[variable];
            let (one, other) = (coefficient * first, coefficient * last);
            (low + one.min(other), high + one.max(other))
        })
    }

    /// The function of other variables that it is where its own have these values; nothing beyond [`INDEX_LIMIT`].
    pub fn composed(&self, values: &[AffineIndex]) -> Option<AffineIndex> {
        let constant = AffineIndex::constant(self.constant);
        self.terms.iter().try_fold(constant, |sum, (variable, step)| sum.plus(values.get(*variable)?, *step))
    }

    /// `self + factor · other`; nothing beyond [`INDEX_LIMIT`].
    pub fn plus(&self, other: &AffineIndex, factor: i64) -> Option<AffineIndex> {
        let mut sum = self.clone();
        sum.add(other, factor)?;
        Some(sum)
    }

    fn add(&mut self, other: &AffineIndex, factor: i64) -> Option<()> {
        self.constant = limited(self.constant.checked_add(other.constant.checked_mul(factor)?)?)?;
        for &(variable, coefficient) in &other.terms {
            let added = coefficient.checked_mul(factor)?;
            match self.terms.binary_search_by_key(&variable, |(variable, _)| *variable) {
                Ok(place) => {
                    self.terms[place].1 = limited(self.terms[place].1.checked_add(added)?)?;
                }
                Err(place) => self.terms.insert(place, (variable, limited(added)?)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        Some(())
    }
}

fn limited(value: i64) -> Option<i64> {
    (-INDEX_LIMIT..=INDEX_LIMIT).contains(&value).then_some(value)
}

impl Index {
    /// A constant.
    pub fn constant(constant: i64) -> Self {
        Self { affine: AffineIndex::constant(constant), pieces: Vec::new() }
    }

    /// A variable.
    pub fn variable(variable: usize) -> Self {
        Self { affine: AffineIndex::variable(variable), pieces: Vec::new() }
    }

    /// The index as an affine function, if it is one.
    pub fn as_affine(&self) -> Option<&AffineIndex> {
        self.pieces.is_empty().then_some(&self.affine)
    }

    /// The index as a constant, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        self.as_affine().filter(|affine| affine.terms.is_empty()).map(|affine| affine.constant)
    }

    /// The value for these values of the variables, outermost first.
    pub fn evaluate(&self, variables: &[i64]) -> i64 {
        let affine = self.affine.evaluate(variables);
        self.pieces.iter().fold(affine, |value, (coefficient, piece)| value + coefficient * piece.evaluate(variables))
    }

    /// Bounds of the value over a box: for each variable, outermost first, its least and greatest value. Exact for affine
    /// indices and for single pieces of one; else the true range may be smaller.
    pub fn range(&self, ranges: &[(i64, i64)]) -> (i64, i64) {
        self.pieces.iter().fold(self.affine.range(ranges), |(low, high), (coefficient, piece)| {
            let (first, last) = piece.range(ranges);
            let (one, other) = (coefficient * first, coefficient * last);
            (low + one.min(other), high + one.max(other))
        })
    }

    /// The variables that occur.
    pub fn variables(&self) -> BTreeSet<usize> {
        let mut variables: BTreeSet<usize> = self.affine.terms.iter().map(|(variable, _)| *variable).collect();
        for (_, piece) in &self.pieces {
            variables.extend(piece.of().variables());
        }
        variables
    }

    /// `self + factor · other`; nothing beyond [`INDEX_LIMIT`], nor if there are very many terms that are not affine.
    pub fn plus(&self, other: &Index, factor: i64) -> Option<Index> {
        let mut sum = self.clone();
        sum.affine.add(&other.affine, factor)?;
        for (coefficient, piece) in &other.pieces {
            let added = limited(coefficient.checked_mul(factor)?)?;
            match sum.pieces.iter_mut().find(|(_, candidate)| candidate == piece) {
                Some((coefficient, _)) => *coefficient = limited(coefficient.checked_add(added)?)?,
                None => sum.pieces.push((added, piece.clone())),
            }
        }
        sum.pieces.retain(|(coefficient, _)| *coefficient != 0);
        (sum.pieces.len() <= MOST_PIECES).then_some(sum)
    }

    /// `factor · self`; nothing beyond [`INDEX_LIMIT`].
    pub fn times(&self, factor: i64) -> Option<Index> {
        Index::constant(0).plus(self, factor)
    }

    /// The index of other variables that it is where its own have these values; nothing beyond [`INDEX_LIMIT`]. Pieces that become
    /// constant are folded, others stay as they are.
    pub fn composed(&self, values: &[AffineIndex]) -> Option<Index> {
        let affine = Index { affine: self.affine.composed(values)?, pieces: Vec::new() };
        self.pieces.iter().try_fold(affine, |sum, (coefficient, piece)| {
            sum.plus(&piece.folded(piece.of().composed(values)?), *coefficient)
        })
    }

    /// The index with another one in the place of a variable; nothing beyond [`INDEX_LIMIT`]. Pieces that become constant
    /// are folded, others stay as they are.
    pub fn substituted(&self, variable: usize, by: &Index) -> Option<Index> {
        let mut affine = self.affine.clone();
        affine.terms.retain(|(other, _)| *other != variable);
        let rest = Index { affine, pieces: Vec::new() };
        let mut sum = rest.plus(by, self.affine.coefficient(variable))?;
        for (coefficient, piece) in &self.pieces {
            sum = sum.plus(&piece.folded(piece.of().substituted(variable, by)?), *coefficient)?;
        }
        Some(sum)
    }

    /// `self / by` rounded down, for a positive divisor, over a box as in [`Index::range`].
    pub fn divided(&self, by: i64, ranges: &[(i64, i64)]) -> Option<Index> {
        let (multiple, rest) = self.split(by)?;
        let (low, high) = rest.range(ranges);
        if low.div_euclid(by) == high.div_euclid(by) {
            return multiple.plus(&Index::constant(low.div_euclid(by)), 1);
        }
        multiple.plus(&Index::from(Piece::Quotient { of: rest, by }), 1)
    }

    /// `self % by`, for a positive divisor, over a box as in [`Index::range`].
    pub fn remainder(&self, by: i64, ranges: &[(i64, i64)]) -> Option<Index> {
        let (_, rest) = self.split(by)?;
        let (low, high) = rest.range(ranges);
        if low.div_euclid(by) == high.div_euclid(by) {
            return rest.plus(&Index::constant(low.div_euclid(by) * by), -1);
        }
        Some(Piece::Remainder { of: rest, by }.into())
    }

    /// `clamp(self, low, high)` over a box as in [`Index::range`].
    pub fn clamped(&self, low: i64, high: i64, ranges: &[(i64, i64)]) -> Index {
        let (first, last) = self.range(ranges);
        if low <= first && last <= high {
            return self.clone();
        }
        Piece::Clamp { of: self.clone(), low, high }.into()
    }

    /// `mirror(self, low, high)` over a box as in [`Index::range`].
    pub fn mirrored(&self, low: i64, high: i64, ranges: &[(i64, i64)]) -> Index {
        let (first, last) = self.range(ranges);
        if low <= first && last <= high {
            return self.clone();
        }
        Piece::Mirror { of: self.clone(), low, high }.into()
    }

    /// The index as `by · first + second`, where only what is no multiple of `by` is in `second`.
    fn split(&self, by: i64) -> Option<(Index, Index)> {
        let mut multiple = Index::constant(self.affine.constant.div_euclid(by));
        let mut rest = Index::constant(self.affine.constant.rem_euclid(by));
        for &(variable, coefficient) in &self.affine.terms {
            let part = if coefficient % by == 0 { (&mut multiple, coefficient / by) } else { (&mut rest, coefficient) };
            *part.0 = part.0.plus(&Index::variable(variable), part.1)?;
        }
        for (coefficient, piece) in &self.pieces {
            let part =
                if coefficient % by == 0 { (&mut multiple, coefficient / by) } else { (&mut rest, *coefficient) };
            *part.0 = part.0.plus(&Index::from(piece.clone()), part.1)?;
        }
        Some((multiple, rest))
    }
}

impl From<Piece> for Index {
    fn from(piece: Piece) -> Self {
        Self { affine: AffineIndex::default(), pieces: vec![(1, piece)] }
    }
}

impl Piece {
    /// The index within.
    pub fn of(&self) -> &Index {
        match self {
            Piece::Quotient { of, .. }
            | Piece::Remainder { of, .. }
            | Piece::Clamp { of, .. }
            | Piece::Mirror { of, .. } => of,
        }
    }

    /// The term of another index; its value if that is constant.
    pub fn folded(&self, of: Index) -> Index {
        let is_constant = of.as_constant().is_some();
        let piece = self.with(of);
        if is_constant { Index::constant(piece.evaluate(&[])) } else { Index::from(piece) }
    }

    /// The same of another index.
    fn with(&self, of: Index) -> Piece {
        match *self {
            Piece::Quotient { by, .. } => Piece::Quotient { of, by },
            Piece::Remainder { by, .. } => Piece::Remainder { of, by },
            Piece::Clamp { low, high, .. } => Piece::Clamp { of, low, high },
            Piece::Mirror { low, high, .. } => Piece::Mirror { of, low, high },
        }
    }

    /// The value for these values of the variables, outermost first.
    pub fn evaluate(&self, variables: &[i64]) -> i64 {
        let of = self.of().evaluate(variables);
        match *self {
            Piece::Quotient { by, .. } => of.div_euclid(by),
            Piece::Remainder { by, .. } => of.rem_euclid(by),
            Piece::Clamp { low, high, .. } => of.clamp(low, high),
            Piece::Mirror { low, high, .. } => mirror(of, low, high),
        }
    }

    /// Bounds of the value over a box, as [`Index::range`].
    pub fn range(&self, ranges: &[(i64, i64)]) -> (i64, i64) {
        let (first, last) = self.of().range(ranges);
        match *self {
            Piece::Quotient { by, .. } => (first.div_euclid(by), last.div_euclid(by)),
            Piece::Remainder { by, .. } if first.div_euclid(by) == last.div_euclid(by) => {
                (first.rem_euclid(by), last.rem_euclid(by))
            }
            Piece::Remainder { by, .. } => (0, by - 1),
            Piece::Clamp { low, high, .. } => (first.clamp(low, high), last.clamp(low, high)),
            Piece::Mirror { low, high, .. } => {
                // Between two reflections the function is monotonic; across one it reaches the edge, across two both.
                let extent = high - low + 1;
                let (one, other) = (mirror(first, low, high), mirror(last, low, high));
                match (last - low).div_euclid(extent) - (first - low).div_euclid(extent) {
                    0 => (one.min(other), one.max(other)),
                    1 if (last - low).div_euclid(extent).rem_euclid(2) == 1 => (one.min(other), high),
                    1 => (low, one.max(other)),
                    _ => (low, high),
                }
            }
        }
    }
}

fn mirror(value: i64, low: i64, high: i64) -> i64 {
    let extent = high - low + 1;
    let place = (value - low).rem_euclid(2 * extent);
    low + place.min(2 * extent - 1 - place)
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;
    use proptest::prelude::*;
    use pushmem_affine::Affine;

    use super::{AffineIndex, Index, Piece, mirror};

    #[test]
    fn mirrors_as_halide() {
        let found = (-9..9).map(|value| mirror(value, 0, 3)).collect_vec();
        assert_eq!(found, [0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!([mirror(4, 5, 7), mirror(8, 5, 7)], [5, 7]);
    }

    #[test]
    fn simplifies_within_the_box() {
        let ranges = [(0, 1), (0, 63)];
        let (u, x) = (Index::variable(0), Index::variable(1));
        // (2x + u)/2 = x and (2x + u)%2 = u for u in 0..2.
        let index = u.plus(&x, 2).unwrap();
        assert_eq!(index.divided(2, &ranges).unwrap(), x);
        assert_eq!(index.remainder(2, &ranges).unwrap(), u);
        assert_eq!(x.clamped(0, 63, &ranges), x);
        assert_eq!(x.as_affine().map(|affine| affine.over(2)), Some(Affine { start: 0, stride: vec![1, 0] }));
    }

    fn index() -> impl Strategy<Value = Index> {
        let affine = (-5_i64..6, -4_i64..5, -4_i64..5).prop_map(|(constant, first, second)| {
            let sum = Index::constant(constant).plus(&Index::variable(0), first).unwrap();
            sum.plus(&Index::variable(1), second).unwrap()
        });
        affine.prop_recursive(2, 6, 2, |inner| {
            (inner.clone(), inner, 1_i64..5, -4_i64..3, 0_usize..4, -3_i64..4).prop_map(
                |(first, second, by, low, kind, factor)| {
                    let piece = match kind {
                        0 => Piece::Quotient { of: first, by },
                        1 => Piece::Remainder { of: first, by },
                        2 => Piece::Clamp { of: first, low, high: low + by },
                        _ => Piece::Mirror { of: first, low, high: low + by },
                    };
                    second.plus(&piece.into(), factor).unwrap()
                },
            )
        })
    }

    proptest! {
        #[test]
        fn ranges_and_simplifications_are_right(index in index(), by in 1_i64..5, low in -3_i64..3) {
            let ranges = [(-3, 4), (0, 5)];
            let values = (-3..=4).cartesian_product(0..=5).map(|(a, b)| [a, b]).collect_vec();
            let (least, greatest) = index.range(&ranges);
            let found = values.iter().map(|variables| index.evaluate(variables)).minmax().into_option().unwrap();
            prop_assert!(least <= found.0 && found.1 <= greatest);
            let is_one_piece_of_affine = index.pieces.len() == 1
                && index.affine.terms.is_empty()
                && index.pieces[0].1.of().as_affine().is_some_and(|affine| affine.terms.iter().all(|(_, c)| c.abs() == 1));
            if index.as_affine().is_some() || is_one_piece_of_affine {
                prop_assert_eq!((least, greatest), found);
            }
            let divided = index.divided(by, &ranges).unwrap();
            let remainder = index.remainder(by, &ranges).unwrap();
            let clamped = index.clamped(low, low + by, &ranges);
            let mirrored = index.mirrored(low, low + by, &ranges);
            let replacement = Index::variable(1).plus(&Index::constant(low), 2).unwrap();
            let moved = index.substituted(0, &replacement).unwrap();
            let fixed = moved.substituted(1, &Index::constant(by)).unwrap();
            let swapped = index.composed(&[AffineIndex::variable(1), replacement.affine.clone()]).unwrap();
            prop_assert_eq!(fixed.as_constant(), Some(index.evaluate(&[by + 2 * low, by])));
            for variables in &values {
                let value = index.evaluate(variables);
                prop_assert_eq!(moved.evaluate(variables), index.evaluate(&[variables[1] + 2 * low, variables[1]]));
                let own = [variables[1], variables[1] + 2 * low];
                prop_assert_eq!(swapped.evaluate(variables), index.evaluate(&own));
                prop_assert_eq!(divided.evaluate(variables), value.div_euclid(by));
                prop_assert_eq!(remainder.evaluate(variables), value.rem_euclid(by));
                prop_assert_eq!(clamped.evaluate(variables), value.clamp(low, low + by));
                prop_assert_eq!(mirrored.evaluate(variables), mirror(value, low, low + by));
            }
        }
    }
}
