//! Affine maps.

use serde::{Deserialize, Serialize};

use crate::domain::Domain;

/// An affine function of the indices of an iteration domain: `start + Σ stride[d] · index[d]`, innermost level first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Affine {
    /// Value at the first point.
    #[serde(default)]
    pub start: i64,
    /// Change of the value with the index of each level.
    pub stride: Vec<i64>,
}

impl Affine {
    /// The function of `levels` loops that is the same at every point.
    pub fn constant(start: i64, levels: usize) -> Self {
        Affine { start, stride: vec![0; levels] }
    }

    /// The function's value at a point, as a mathematical integer.
    pub fn at<Index: Copy + Into<i128>>(&self, index: &[Index]) -> i128 {
        let terms = self.stride.iter().zip(index).map(|(&stride, &index)| i128::from(stride) * index.into());
        i128::from(self.start) + terms.sum::<i128>()
    }

    /// The function's value at a point, for functions that are known to stay far from the limits of the type.
    ///
    /// # Panics
    /// When the value, or an intermediate sum, does not fit 64 bits.
    pub fn value<Index: Copy + TryInto<i64>>(&self, index: &[Index]) -> i64 {
        let terms = self.stride.iter().zip(index).map(|(&stride, &index)| {
            let Ok(index) = index.try_into() else { panic!("an index that does not fit 64 bits") };
            stride * index
        });
        self.start + terms.sum::<i64>()
    }

    /// `self + factor · other`, for functions of the same loops.
    pub fn plus(&self, other: &Affine, factor: i64) -> Affine {
        let stride = self.stride.iter().zip(&other.stride).map(|(one, other)| one + factor * other).collect();
        Affine { start: self.start + factor * other.start, stride }
    }

    /// The function with `by` added to all its values: a schedule so many cycles later.
    pub fn shifted(&self, by: i64) -> Affine {
        Affine { start: self.start + by, stride: self.stride.clone() }
    }

    /// The same values in the same order over fewer loops: loops of one iteration are left out, and one that goes on where the loop
    /// inside it ends is one with it, up to `limit` iterations.
    pub fn coalesced(&self, domain: &Domain, limit: u64) -> (Domain, Affine) {
        let (domain, [function]) = coalesced([self], domain, limit);
        (domain, function)
    }

    /// The function of indices of these names as people write it, outermost term first: `64y + x + 65`.
    pub fn text<Name: AsRef<str>>(&self, names: &[Name]) -> String {
        let terms = self.stride.iter().zip(names).rev().filter(|(stride, _)| **stride != 0);
        let mut text = String::new();
        for (&stride, name) in terms {
            let sign = match (text.is_empty(), stride < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let factor = if stride.unsigned_abs() == 1 { String::new() } else { stride.unsigned_abs().to_string() };
            text += &format!("{sign}{factor}{}", name.as_ref());
        }
        match self.start {
            start if text.is_empty() => start.to_string(),
            0 => text,
            start => format!("{text} {} {}", if start < 0 { '-' } else { '+' }, start.unsigned_abs()),
        }
    }
}

/// The same values of several functions over fewer loops, as [`Affine::coalesced`]: loops are one where they are for all functions.
pub fn coalesced<const FUNCTIONS: usize>(
    functions: [&Affine; FUNCTIONS],
    domain: &Domain,
    limit: u64,
) -> (Domain, [Affine; FUNCTIONS]) {
    let mut extents: Vec<u64> = Vec::new();
    let mut joined = functions.map(|function| Affine { start: function.start, stride: Vec::new() });
    for (level, &extent) in domain.iter().enumerate().filter(|(_, extent)| **extent > 1) {
        let strides = functions.map(|function| function.stride[level]);
        let goes_on = |inner: u64| {
            inner * extent <= limit
                && joined
                    .iter()
                    .zip(strides)
                    .all(|(function, stride)| function.stride.last().is_some_and(|step| step * inner as i64 == stride))
        };
        match extents.last_mut() {
            Some(inner) if goes_on(*inner) => *inner *= extent,
            _ => {
                extents.push(extent);
                joined.iter_mut().zip(strides).for_each(|(function, stride)| function.stride.push(stride));
            }
        }
    }
    (extents.into_iter().collect(), joined)
}
