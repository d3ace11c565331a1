//! Affine functions of loop indices, and their recurrence form.

use serde::{Deserialize, Serialize};

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
    /// The function's value at a point, as a mathematical integer.
    pub fn at(&self, index: &[u64]) -> i128 {
        let terms = self.stride.iter().zip(index).map(|(&stride, &index)| i128::from(stride) * i128::from(index));
        i128::from(self.start) + terms.sum::<i128>()
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

    #[test]
    fn functions_are_written_as_people_do() {
        let text = |start, stride: &[i64]| Affine { start, stride: stride.to_vec() }.text(&["x", "y"]);
        assert_eq!(text(65, &[1, 64]), "64y + x + 65");
        assert_eq!(text(0, &[-2, -1]), "-y - 2x");
        assert_eq!(text(-7, &[1, 0]), "x - 7");
        assert_eq!(text(-7, &[0, 0]), "-7");
        assert_eq!(text(0, &[]), "0");
    }
}
