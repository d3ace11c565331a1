//! Affine functions of loop indices, and their recurrence form.

use serde::Deserialize;

/// An affine function of the indices of an iteration domain: `start + Σ stride[d] · index[d]`, innermost level first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Affine {
    /// Value at the first point.
    #[serde(default)]
    pub start: i64,
    /// Change of the value with the index of each level.
    pub stride: Vec<i64>,
}

impl Affine {
    /// The function's value at a point, as a mathematical integer.
    pub fn at(&self, index: &[u64]) -> i128 {
        let terms = self.stride.iter().zip(index).map(|(&stride, &index)| i128::from(stride) * i128::from(index));
        i128::from(self.start) + terms.sum::<i128>()
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
pub(crate) fn strides(deltas: &[i128], extents: &[u64], reduce: impl Fn(i128) -> i128) -> Vec<i128> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example: downsample by 2 over 8×8 (Figure 6).
    #[test]
    fn downsample_by_two_has_the_published_deltas() {
        assert_eq!(deltas(&[2, 16], &[4, 4]), [2, 10]);
        assert_eq!(strides(&[2, 10], &[4, 4], |stride| stride), [2, 16]);
    }
}
