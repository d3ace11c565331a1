//! Sets of elements as products of strided intervals, and whether they cover one another.

use crate::index::{AffineIndex, Index};

/// `start`, `start + stride`, …: `count` numbers. The stride is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    pub start: i64,
    pub stride: i64,
    pub count: i64,
}

impl Strided {
    pub fn interval(low: i64, high: i64) -> Self {
        Self { start: low, stride: 1, count: high - low + 1 }
    }

    fn last(&self) -> i64 {
        self.start + (self.count - 1) * self.stride
    }

    fn contains(&self, value: i64) -> bool {
        (self.start..=self.last()).contains(&value) && (value - self.start) % self.stride == 0
    }
}

/// A set of elements: all combinations of one number for each dimension.
pub(crate) type Region = Vec<Strided>;

/// The elements that the indices reach while the variables before `fixed` stay, without what these add. Nothing if the set
/// is no product of strided intervals.
pub(crate) fn exact_region(indices: &[Index], fixed: usize, ranges: &[(i64, i64)]) -> Option<Region> {
    let mut used = vec![false; ranges.len()];
    indices
        .iter()
        .map(|index| {
            let affine = index.as_affine()?;
            let mut terms: Vec<(i64, i64)> = Vec::new();
            let mut start = affine.constant;
            for &(variable, coefficient) in affine.terms.iter().filter(|(variable, _)| *variable >= fixed) {
                // Two dimensions that follow one variable reach a diagonal, not all combinations.
                let (low, high) = ranges[variable];
                if low < high && std::mem::replace(&mut used[variable], true) {
                    return None;
                }
                start += (coefficient * low).min(coefficient * high);
                if low < high {
                    terms.push((coefficient.abs(), high - low + 1));
                }
            }
            terms.sort_unstable();
            let Some(&(stride, _)) = terms.first() else {
                return Some(Strided::interval(start, start));
            };
            // The elements that the variables so far reach must be without gaps for the next to continue.
            let mut count = 1;
            for (coefficient, extent) in terms {
                if coefficient % stride != 0 || coefficient / stride > count {
                    return None;
                }
                count += coefficient / stride * (extent - 1);
            }
            Some(Strided { start, stride, count })
        })
        .collect()
}

/// Values of the variables for which the indices are this element of their [`exact_region`] with no variable fixed.
pub(crate) fn preimage(indices: &[Index], element: &[i64], ranges: &[(i64, i64)]) -> Vec<i64> {
    let mut variables: Vec<i64> = ranges.iter().map(|(low, _)| *low).collect();
    for (index, wanted) in indices.iter().zip(element) {
        let mut terms = index.affine.terms.clone();
        terms.sort_by_key(|(_, coefficient)| std::cmp::Reverse(coefficient.abs()));
        let (least, _) = index.affine.range(ranges);
        let mut rest = wanted - least;
        // As digits of a number: those of the small coefficients reach all that is left over.
        for (variable, coefficient) in terms {
            let (low, high) = ranges[variable];
            let steps = (rest / coefficient.abs()).clamp(0, high - low);
            variables[variable] = if coefficient > 0 { low + steps } else { high - steps };
            rest -= steps * coefficient.abs();
        }
    }
    variables
}

/// As [`exact_region`], but perhaps with more elements.
pub(crate) fn enclosing_region(indices: &[Index], fixed: usize, ranges: &[(i64, i64)]) -> Region {
    indices
        .iter()
        .map(|index| {
            let mut free = index.clone();
            free.affine.terms.retain(|(variable, _)| *variable >= fixed);
            let (low, high) = free.range(ranges);
            Strided::interval(low, high)
        })
        .collect()
}

/// The terms of an index in the variables before `fixed`.
pub(crate) fn fixed_part(affine: &AffineIndex, fixed: usize) -> Vec<(usize, i64)> {
    affine.terms.iter().copied().filter(|(variable, _)| *variable < fixed).collect()
}

/// Whether regions cover another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    Whole,
    /// Not this element.
    Missing(Vec<i64>),
    /// It would take too long to find out.
    Unknown,
}

/// The most steps before the answer is [`Cover::Unknown`].
const MOST_STEPS: usize = 200_000;

pub(crate) fn cover(target: &Region, regions: &[Region]) -> Cover {
    let regions: Vec<&Region> = regions.iter().collect();
    let mut steps = MOST_STEPS;
    match search(target, &regions, target.len(), &mut steps) {
        Ok(None) => Cover::Whole,
        Ok(Some(element)) => Cover::Missing(element),
        Err(TooLong) => Cover::Unknown,
    }
}

struct TooLong;

/// An element of the target, in its first dimensions, that no region has. Where all that matters repeats, only one period
/// is looked at.
fn search(
    target: &Region,
    regions: &[&Region],
    dimensions: usize,
    steps: &mut usize,
) -> Result<Option<Vec<i64>>, TooLong> {
    let Some(dimension) = dimensions.checked_sub(1) else {
        return Ok(regions.is_empty().then(Vec::new));
    };
    let whole = target[dimension];
    let mut edges = vec![whole.start, whole.last() + 1];
    let mut period = whole.stride;
    for region in regions {
        edges.extend([region[dimension].start, region[dimension].last() + 1]);
        period = least_common_multiple(period, region[dimension].stride);
    }
    edges.retain(|edge| (whole.start..=whole.last() + 1).contains(edge));
    edges.sort_unstable();
    edges.dedup();
    for piece in edges.windows(2) {
        let first = piece[0] + (whole.start - piece[0]).rem_euclid(whole.stride);
        let mut value = first;
        while value < piece[1] && value < first + period {
            *steps = steps.checked_sub(1 + regions.len()).ok_or(TooLong)?;
            let inside: Vec<&Region> =
                regions.iter().copied().filter(|region| region[dimension].contains(value)).collect();
            if let Some(mut element) = search(target, &inside, dimension, steps)? {
                element.push(value);
                return Ok(Some(element));
            }
            value += whole.stride;
        }
    }
    Ok(None)
}

fn least_common_multiple(first: i64, second: i64) -> i64 {
    let (mut divisor, mut rest) = (first, second);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (first / divisor).saturating_mul(second)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use itertools::Itertools;
    use proptest::prelude::*;

    use super::{Cover, Region, Strided, cover, enclosing_region, exact_region, preimage};
    use crate::index::Index;

    fn elements(region: &Region) -> BTreeSet<Vec<i64>> {
        let values = region.iter().map(|each| (0..each.count).map(move |place| each.start + place * each.stride));
        values.multi_cartesian_product().collect()
    }

    fn region() -> impl Strategy<Value = Region> {
        prop::collection::vec(
            (0_i64..5, 1_i64..4, 1_i64..5).prop_map(|(start, stride, count)| Strided { start, stride, count }),
            2,
        )
    }

    proptest! {
        #[test]
        fn covers_as_enumeration_says(target in region(), regions in prop::collection::vec(region(), 0..6)) {
            let covered: BTreeSet<_> = regions.iter().flat_map(elements).collect();
            match cover(&target, &regions) {
                Cover::Whole => prop_assert!(elements(&target).is_subset(&covered)),
                Cover::Missing(element) => {
                    prop_assert!(elements(&target).contains(&element));
                    prop_assert!(!covered.contains(&element));
                }
                Cover::Unknown => prop_assert!(false, "small sets do not take long"),
            }
        }

        #[test]
        fn regions_are_what_indices_reach(
            coefficients in prop::collection::vec(-3_i64..4, 6),
            fixed in 0_usize..3,
            extents in prop::collection::vec(1_i64..4, 3),
        ) {
            let ranges = extents.iter().map(|extent| (-1, extent - 2)).collect_vec();
            let index = |part: &[i64]| {
                (0..3).fold(Index::constant(7), |sum, variable| sum.plus(&Index::variable(variable), part[variable]).unwrap())
            };
            let indices = [index(&coefficients[..3]), index(&coefficients[3..])];
            let points = ranges.iter().enumerate().map(|(variable, &(low, high))| {
                // The terms of fixed variables are left out: let them be 0.
                if variable < fixed { 0..=0 } else { low..=high }
            });
            let reached: BTreeSet<Vec<i64>> = points
                .multi_cartesian_product()
                .map(|variables| indices.iter().map(|index| index.evaluate(&variables)).collect())
                .collect();
            if let Some(region) = exact_region(&indices, fixed, &ranges) {
                prop_assert_eq!(elements(&region), reached.clone());
            }
            if let Some(region) = exact_region(&indices, 0, &ranges) {
                for element in elements(&region) {
                    let variables = preimage(&indices, &element, &ranges);
                    prop_assert!(variables.iter().zip(&ranges).all(|(value, range)| (range.0..=range.1).contains(value)));
                    let found = indices.iter().map(|index| index.evaluate(&variables)).collect_vec();
                    prop_assert_eq!(found, element);
                }
            }
            prop_assert!(reached.is_subset(&elements(&enclosing_region(&indices, fixed, &ranges))));
        }
    }
}
