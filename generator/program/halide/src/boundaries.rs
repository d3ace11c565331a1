//! Where definitions begin and end, seen from what reads them.
//!
//! An import may misread definitions at their ends. The output shows that where it is computed from these elements,
//! which may be far from there: rows 1000 and 1002 of `f` are rows 500 and 502 of `output[x, y] = f[x, y + 500]`. So the ends
//! go through the indices of all that reads them, down to the outputs.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use crate::merge::boxes;
use crate::unfold::{Definition, Unfolded, numerator};

/// Of each dimension of an array, ranges of coordinates: the elements at both ends of a range are at an end of a definition,
/// or computed from elements that are.
pub(crate) type Edges = Vec<BTreeSet<(i64, i64)>>;

/// The edges of each array.
pub(crate) type Boundaries = Vec<Edges>;

/// Adds both ends of a range, each with the coordinates on both sides: where there are gaps, one of them is in the first.
pub(crate) fn add_ends(edges: &mut Edges, dimension: usize, (low, high): (i64, i64)) {
    if edges.len() <= dimension {
        edges.resize(dimension + 1, BTreeSet::new());
    }
    edges[dimension].extend([low, high].into_iter().flat_map(|end| [end - 1, end, end + 1]).map(|at| (at, at)));
}

/// The edges of each array: the ends of its own definitions, and of those that it is computed from.
pub(crate) fn boundaries(unfolded: &Unfolded) -> Boundaries {
    let mut boundaries = vec![Edges::new(); unfolded.coordinates.len()];
    for definition in &unfolded.definitions {
        for range in boxes(&definition.domain) {
            let ends = range.into_iter().enumerate();
            ends.for_each(|(dimension, ends)| add_ends(&mut boundaries[definition.array], dimension, ends));
        }
    }
    // An array is computed where its last part is: all that it reads is above.
    let last: BTreeMap<usize, usize> =
        unfolded.definitions.iter().enumerate().map(|(place, definition)| (definition.array, place)).collect();
    for definition in unfolded.definitions.iter().sorted_by_key(|definition| last[&definition.array]) {
        for (dimension, ranges) in reaching(unfolded, definition, &boundaries).into_iter().enumerate() {
            boundaries[definition.array][dimension].extend(ranges);
        }
    }
    boundaries
}

/// Of each coordinate of a definition, where it reaches the edges of the other arrays that it reads: of each of them the
/// least and the greatest value.
fn reaching(unfolded: &Unfolded, definition: &Definition, boundaries: &Boundaries) -> Edges {
    let mut found: BTreeMap<_, (i64, i64)> = BTreeMap::new();
    for (array, indices) in definition.value.array_loads() {
        if array == definition.array {
            continue;
        }
        for (of, (index, edges)) in indices.iter().zip(&boundaries[array]).enumerate() {
            let Some((affine, by)) = numerator(index) else { continue };
            for (dimension, domain) in definition.domain.iter().enumerate() {
                let coordinate = unfolded.coordinates[definition.array][dimension];
                let Some(&(_, factor)) = affine.terms.iter().find(|(variable, _)| *variable == coordinate) else {
                    continue;
                };
                let others = affine.terms.iter().filter(|(variable, _)| *variable != coordinate);
                let (low, high) = others.fold((affine.constant, affine.constant), |(low, high), (variable, factor)| {
                    let (first, last) = unfolded.ranges[*variable];
                    (low + (factor * first).min(factor * last), high + (factor * first).max(factor * last))
                });
                for &(first, last) in edges {
                    // `factor * x + rest` is from `first * by` to `last * by + by - 1`, for a rest from `low` to `high`.
                    let (least, most) = (first * by - high, last * by + by - 1 - low);
                    let (least, most) = if factor > 0 { (least, most) } else { (-most, -least) };
                    let (least, most) = (-(-least).div_euclid(factor.abs()), most.div_euclid(factor.abs()));
                    let (least, most) = (least.max(domain[0]), most.min(domain[domain.len() - 1]));
                    if least <= most {
                        let range = found.entry((dimension, array, of, first, last)).or_insert((least, most));
                        *range = (range.0.min(least), range.1.max(most));
                    }
                }
            }
        }
    }
    let mut reaching = vec![BTreeSet::new(); definition.domain.len()];
    found.into_iter().for_each(|((dimension, ..), range)| _ = reaching[dimension].insert(range));
    reaching
}
