//! Boxes of iterations.

use std::ops::{Deref, DerefMut, RangeInclusive};

use serde::{Deserialize, Serialize};

use crate::affine::Affine;

/// An iteration domain: loops with constant extents, innermost first, each index counted from 0. Its points are ordered
/// as the loops run, the innermost the fastest. A domain of no loops has one point.
///
/// It is the list of its extents, with the consequences of them as methods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Domain(Vec<u64>);

impl Domain {
    /// Number of loops.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Number of points; the largest number of the type if there are more.
    pub fn iterations(&self) -> u128 {
        self.0.iter().fold(1, |product, &extent| product.saturating_mul(u128::from(extent)))
    }

    /// For each loop, the points from one iteration to the next: the strides that number the points in their order.
    ///
    /// # Panics
    /// When the domain has 2^63 points or more.
    pub fn numbering(&self) -> Vec<i64> {
        let mut next = 1;
        let number = |&extent: &u64| {
            let weight = next;
            next *= i64::try_from(extent).expect("domains that are numbered are small");
            weight
        };
        self.0.iter().map(number).collect()
    }

    /// The point with a number, counted from 0 in the order of the loops.
    pub fn point(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let digit = |&extent: &u64| {
            let index = rest % extent;
            rest /= extent;
            index
        };
        self.0.iter().map(digit).collect()
    }

    /// The value of a function at the point with a number, as [`Domain::point`] has it.
    pub fn value_at(&self, function: &Affine, number: u64) -> i64 {
        let mut rest = number;
        let mut value = function.start;
        for (&extent, stride) in self.0.iter().zip(&function.stride) {
            value += stride * (rest % extent) as i64;
            rest /= extent;
        }
        value
    }

    /// The first iterations of each loop, so few that there are at most `limit` points: as many as possible of the inner
    /// loops.
    pub fn clipped(&self, limit: u64) -> Domain {
        let mut room = limit;
        let clip = |&extent: &u64| {
            let kept = extent.min(room.max(1));
            room /= kept;
            kept
        };
        self.0.iter().map(clip).collect()
    }

    /// The last point.
    pub fn last(&self) -> Vec<u64> {
        self.0.iter().map(|extent| extent - 1).collect()
    }

    /// Moves to the next point: the level that incremented, while all inside it returned to 0. From the last point, back
    /// to the first, and nothing.
    #[inline]
    pub fn advance(&self, index: &mut [u64]) -> Option<usize> {
        // Without a pair of iterators, which costs calls: models advance in each cycle.
        let mut level = 0;
        while let Some(&extent) = self.0.get(level) {
            if index[level] + 1 < extent {
                index[level] += 1;
                return Some(level);
            }
            index[level] = 0;
            level += 1;
        }
        None
    }

    /// Calls `visit` with all points, in order.
    pub fn for_each(&self, mut visit: impl FnMut(&[u64])) {
        let mut index = vec![0; self.depth()];
        loop {
            visit(&index);
            if self.advance(&mut index).is_none() {
                return;
            }
        }
    }

    /// How much a function with these strides changes when each level increments and all levels inside it return to 0.
    pub fn deltas(&self, strides: &[i64]) -> Vec<i128> {
        deltas(strides, &self.0)
    }

    /// The values of a function at all points, in order.
    ///
    /// # Panics
    /// When a delta does not fit 64 bits.
    pub fn values(&self, function: &Affine) -> impl Iterator<Item = i64> + use<'_> {
        self.values_from(function, 0)
    }

    /// The values of a function at the points from the one with a number on, in order.
    ///
    /// # Panics
    /// When a delta does not fit 64 bits.
    pub fn values_from(&self, function: &Affine, number: u64) -> impl Iterator<Item = i64> + use<'_> {
        let narrow = |delta: i128| i64::try_from(delta).expect("functions that are enumerated are small");
        let deltas: Vec<i64> = self.deltas(&function.stride).into_iter().map(narrow).collect();
        let mut index = self.point(number);
        let is_there = u128::from(number) < self.iterations();
        let mut next = is_there.then(|| self.value_at(function, number));
        std::iter::from_fn(move || {
            let value = next?;
            next = self.advance(&mut index).map(|level| value + deltas[level]);
            Some(value)
        })
    }

    /// The smallest and the largest value of a function.
    pub fn range(&self, function: &Affine) -> RangeInclusive<i128> {
        self.range_inside(function, self.depth())
    }

    /// The smallest and the largest value of a function inside the first iteration of a level and of those around it.
    pub fn range_inside(&self, function: &Affine, level: usize) -> RangeInclusive<i128> {
        let start = i128::from(function.start);
        let (mut low, mut high) = (start, start);
        for (&stride, &extent) in function.stride.iter().zip(&self.0[..level]) {
            let travel = i128::from(stride) * (i128::from(extent) - 1);
            low += travel.min(0);
            high += travel.max(0);
        }
        low..=high
    }

    /// How many points have a value of at most `limit` of a function that grows from point to point, as a schedule does.
    pub fn points_until(&self, function: &Affine, limit: i64) -> u64 {
        let mut rest = limit - function.start;
        if rest < 0 {
            return 0;
        }
        let mut inside: u64 = self.0.iter().product();
        let mut count = 1;
        for (&extent, &stride) in self.0.iter().zip(&function.stride).rev() {
            inside /= extent;
            let index = if stride == 0 { 0 } else { (rest / stride).min(extent as i64 - 1) };
            count += index as u64 * inside;
            rest -= index * stride;
        }
        count
    }
}

impl Deref for Domain {
    type Target = Vec<u64>;

    fn deref(&self) -> &Vec<u64> {
        &self.0
    }
}

impl DerefMut for Domain {
    fn deref_mut(&mut self) -> &mut Vec<u64> {
        &mut self.0
    }
}

impl IntoIterator for Domain {
    type Item = u64;
    type IntoIter = std::vec::IntoIter<u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Domain {
    type Item = &'a u64;
    type IntoIter = std::slice::Iter<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl From<Vec<u64>> for Domain {
    fn from(extents: Vec<u64>) -> Self {
        Domain(extents)
    }
}

impl From<&[u64]> for Domain {
    fn from(extents: &[u64]) -> Self {
        Domain(extents.to_vec())
    }
}

impl<const DEPTH: usize> From<[u64; DEPTH]> for Domain {
    fn from(extents: [u64; DEPTH]) -> Self {
        Domain(extents.to_vec())
    }
}

impl<const DEPTH: usize> PartialEq<[u64; DEPTH]> for Domain {
    fn eq(&self, extents: &[u64; DEPTH]) -> bool {
        self.0 == extents
    }
}

impl FromIterator<u64> for Domain {
    fn from_iter<Extents: IntoIterator<Item = u64>>(extents: Extents) -> Self {
        Domain(extents.into_iter().collect())
    }
}

/// How much an affine function changes when each level increments and all levels inside it return to 0:
/// `delta[d] = stride[d] − Σ_{i<d} stride[i] · (extent[i] − 1)` (unified-buffer paper §IV-C, Figures 5 and 6).
pub fn deltas(strides: &[i64], extents: &[u64]) -> Vec<i128> {
    let mut travelled = 0;
    strides
        .iter()
        .zip(extents)
        .map(|(&stride, &extent)| {
            let delta = i128::from(stride) - travelled;
            travelled += i128::from(stride) * (i128::from(extent) - 1);
            delta
        })
        .collect()
}

/// The inverse of [`deltas`], where `reduce` gives the representative of a value: of an address, modulo the memory.
pub fn strides(deltas: &[i128], extents: &[u64], reduce: impl Fn(i128) -> i128) -> Vec<i128> {
    let mut travelled: i128 = 0;
    deltas
        .iter()
        .zip(extents)
        .map(|(&delta, &extent)| {
            let stride = reduce(delta.saturating_add(travelled));
            travelled = reduce(travelled.saturating_add(stride.saturating_mul(i128::from(extent) - 1)));
            stride
        })
        .collect()
}
