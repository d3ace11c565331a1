//! Reads by an index of several sums of variables, of which no copy along one sum has the elements.
//!
//! There are two forms. Of a limit around such an index, as `clamp(y / 2 + r, 0, 7)`, a copy has the elements at all values of what is
//! limited. A sum of terms, as `clamp(x, 2, 9) + r`, reads a copy that has a dimension for each term, with an element for each
//! combination of their values.

use pushmem_nest::{Index, LARGEST_ARRAY, MOST_DIMENSIONS};

use super::{MOST_RUNS, OfSum, Read, Straight, load, values_of};
use crate::plan::Box;
use crate::runs::runs;

/// A copy of an array that has several dimensions in the place of one: which, the values of each, those of all dimensions of the
/// array, and the constant around it.
pub(super) type SpreadKey = (usize, usize, Box, Box, Option<i64>);

impl Straight<'_> {
    /// The copy for a read with limits around sums of several terms; nothing for others.
    pub(super) fn unlimited(&mut self, read: &Read) -> Option<(usize, Vec<Index>)> {
        let part = |index: &Index| match is_of_several(index, read.ranges) || has_many_runs(index, read.ranges) {
            true => OfSum::of_part(index, read.ranges),
            false => None,
        };
        let parts: Vec<Option<OfSum>> = read.indices.iter().map(part).collect();
        if parts.iter().all(Option::is_none) {
            return None;
        }
        self.copied_along(read, parts, None)
    }

    /// The copy for a read by sums, which may have more dimensions.
    pub(super) fn read_straight(&mut self, read: &Read) -> Option<(usize, Vec<Index>)> {
        if let Some(copied) = self.copied(read, None) {
            return Some(copied);
        }
        let (array, indices) = self.spread(read)?;
        let of_copy = Read { array, indices: &indices, outside: None, ..*read };
        Some(self.read_straight(&of_copy).unwrap_or((array, indices)))
    }

    /// A copy with a dimension for each term of an index of several sums, with the indices in it.
    fn spread(&mut self, read: &Read) -> Option<(usize, Vec<Index>)> {
        let dimension = read.indices.iter().position(|index| is_of_several(index, read.ranges))?;
        let terms = terms(&read.indices[dimension], read.ranges)?;
        let region = self.arrays.boxes[read.array].clone()?;
        let of_terms: Box = terms.iter().map(|term| values_of(term, read.ranges)).collect();
        let mut values: Box = read.indices.iter().map(|index| values_of(index, read.ranges)).collect();
        // All combinations of the terms are copied.
        values[dimension] =
            of_terms.iter().fold((0, 0), |(low, high), (least, greatest)| (low + least, high + greatest));
        let is_within = values.iter().zip(&region).all(|(values, region)| region.0 <= values.0 && values.1 <= region.1);
        let outside = read.outside.filter(|_| !is_within);
        let mut whole = values.clone();
        whole.splice(dimension..=dimension, of_terms.iter().copied());
        let mut sizes = whole.iter().map(|(low, high)| high - low + 1);
        let fits = sizes.try_fold(1_i64, i64::checked_mul).is_some_and(|size| size <= LARGEST_ARRAY);
        if !fits || whole.len() > MOST_DIMENSIONS || (!is_within && outside.is_none()) {
            return None;
        }
        let mut indices = read.indices.to_vec();
        indices.splice(dimension..=dimension, terms);
        let key: SpreadKey = (read.array, dimension, of_terms.clone(), values.clone(), outside);
        if let Some(copy) = self.spread.get(&key) {
            return Some((*copy, indices));
        }
        let source = match outside {
            None => read.array,
            Some(constant) => {
                let target = self.target(read, "bordered", None);
                self.bordered(read.span, (read.array, region), target, &values, constant).0
            }
        };
        let copy = self.target(read, "spread", None);
        self.arrays.plan.arrays[copy].dimensions = whole.len();
        self.enlarge(copy, &whole);
        self.nest(read.span, copy, &whole, |_, indices| {
            let mut from = indices.to_vec();
            let (first, others) =
                indices[dimension..dimension + of_terms.len()].split_first().expect("two terms at least");
            let sum = others.iter().try_fold(first.clone(), |sum, term| sum.plus(term, 1));
            from.splice(dimension..dimension + of_terms.len(), sum);
            load(source, &from, read.span)
        });
        self.spread.insert(key, copy);
        Some((copy, indices))
    }
}

/// Whether an index that is no sum of variables depends on several such sums.
fn is_of_several(index: &Index, ranges: &[(i64, i64)]) -> bool {
    !index.pieces.is_empty() && OfSum::new(index, ranges).is_none()
}

/// Whether an index of one sum has so many parts that no copy follows it, as a limit around one that takes turns:
/// `clamp(x / 2 + 2 * (x % 2), 0, 31)`.
fn has_many_runs(index: &Index, ranges: &[(i64, i64)]) -> bool {
    let of = OfSum::new(index, ranges).filter(|_| !index.pieces.is_empty());
    of.is_some_and(|of| runs(&|at| of.at(at), of.range).len() > MOST_RUNS)
}

/// The terms of an index, each of which depends on one sum of variables or is a sum of variables; two at least.
fn terms(index: &Index, ranges: &[(i64, i64)]) -> Option<Vec<Index>> {
    let mut terms: Vec<Index> = Vec::new();
    for piece in &index.pieces {
        let piece = Index { affine: Default::default(), pieces: vec![piece.clone()] };
        let joined = |term: &Index| term.plus(&piece, 1).filter(|term| OfSum::new(term, ranges).is_some());
        match terms.iter().enumerate().find_map(|(place, term)| Some((place, joined(term)?))) {
            Some((place, joined)) => terms[place] = joined,
            None => terms.push(piece),
        }
    }
    let affine = Index { affine: index.affine.clone(), pieces: Vec::new() };
    match affine.as_constant() {
        None => terms.push(affine),
        Some(_) => *terms.first_mut()? = terms.first()?.plus(&affine, 1)?,
    }
    (terms.len() > 1).then_some(terms)
}
