//! Sums and differences of two tensors, in integers, exactly as floating point gives them.
//!
//! There are 65,536 pairs of operands: the form in integers is compared with floating point on all of them. The few pairs at which
//! rounding in between makes a difference are exceptions. Floating point is that of onnxruntime on processors with fused products
//! and sums.

use crate::requantization::{BITS_OF_TIES, Ties, middle};
use crate::values::{ALL, Quantization};
use itertools::iproduct;

/// The most bits of a factor: with 9 bits of an operand, sums of two products have 31.
const FACTOR_BITS: i32 = 21;

/// The most bits that a sum is shifted.
const LARGEST_SHIFT: i32 = 29;

/// The most pairs that a form may get wrong, each of which costs a comparison.
const MOST_EXCEPTIONS: usize = 8;

/// A sum of two tensors in integers.
#[derive(Clone, Debug)]
pub(crate) struct Addition {
    pub zero_points: [i64; 2],
    /// By which operands are multiplied, once their zero point is gone.
    pub factors: [i64; 2],
    /// How many bits the sum is shifted to the right.
    pub shift: u32,
    /// How sums near the middle of two integers go to the even one.
    pub ties: Option<Ties>,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
    /// Pairs of operands with another result.
    pub exceptions: Vec<([i64; 2], i64)>,
}

/// The sum of real numbers, which are then moved between two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealSum {
    pub operands: [Quantization; 2],
    pub result: Quantization,
    pub ends: (f32, f32),
    /// Whether the second number is taken from the first.
    pub is_difference: bool,
    /// Whether both operands are one tensor.
    pub is_double: bool,
}

impl RealSum {
    /// Whether onnxruntime makes one operator of the sum and what is around it: of integers of one type, nothing in between.
    fn is_fused(&self) -> bool {
        !self.is_difference
            && self.ends == ALL
            && self.operands.iter().all(|operand| operand.element == self.result.element)
    }

    /// The result for two integers.
    fn of(&self, integers: [i64; 2]) -> i64 {
        if !self.is_fused() {
            let [one, other] = [0, 1].map(|number| self.operands[number].real(integers[number]));
            let other = if self.is_difference { -other } else { other };
            return self.result.integer((one + other).clamp(self.ends.0, self.ends.1));
        }
        // The operator has integers without sign, and adds the zero point before it rounds; each step is a product and a sum, rounded once.
        let least = self.result.element.min();
        let [one, other] = integers.map(|integer| (integer - least) as f32);
        let [of_one, of_other] = self.operands.map(|operand| operand.scale / self.result.scale);
        let [zero_of_one, zero_of_other] = self.operands.map(|operand| (operand.zero_point - least) as f32);
        let fixed = (self.result.zero_point - least) as f32 - of_one.mul_add(zero_of_one, of_other * zero_of_other);
        let sum = one.mul_add(of_one, other.mul_add(of_other, fixed));
        sum.clamp(0.0, f32::from(u8::MAX)).round_ties_even() as i64 + least
    }

    /// The same function in integers.
    ///
    /// # Errors
    /// How many pairs of operands the nearest form gets wrong: all, where an operand has a scale that is too large for any form.
    pub fn in_integers(&self) -> Result<Addition, usize> {
        let ratios = self.operands.map(|operand| f64::from(operand.scale) / f64::from(self.result.scale));
        // Factors have so many bits at most, and a power of two of the language.
        let most = (FACTOR_BITS - 1 - ratios[0].max(ratios[1]).log2().floor() as i32).min(LARGEST_SHIFT);
        let shifts = (1.max(most - 6)..=most).rev();
        let range = (self.result.integer(self.ends.0), self.result.integer(self.ends.1));
        let zero_point = if self.is_fused() { self.result.zero_point } else { 0 };
        let [one, other] = self.operands.map(|operand| operand.element.min()..=operand.element.max());
        let pairs = iproduct!(one, other).map(|(one, other)| [one, other]);
        let pairs: Vec<[i64; 2]> = pairs.filter(|[one, other]| !self.is_double || one == other).collect();
        let results: Vec<i64> = pairs.iter().map(|pair| self.of(*pair)).collect();
        let signed = [ratios[0], if self.is_difference { -ratios[1] } else { ratios[1] }];
        let mut least = pairs.len();
        for (shift, bits) in iproduct!(shifts, [None].into_iter().chain(BITS_OF_TIES.map(Some))) {
            let mut form = Addition {
                zero_points: self.operands.map(|operand| operand.zero_point),
                factors: signed.map(|ratio| (ratio * f64::from(1 << shift)).round() as i64),
                shift: shift as u32,
                ties: bits.map(|bits| Ties { zero_point, ..Ties::near(bits, shift as u32) }),
                range,
                zero_point: self.result.zero_point,
                exceptions: Vec::new(),
            };
            let wrong = pairs.iter().zip(&results).filter(|(pair, result)| form.of(**pair) != **result);
            let exceptions: Vec<([i64; 2], i64)> = wrong.map(|(pair, result)| (*pair, *result)).collect();
            least = least.min(exceptions.len());
            if exceptions.len() <= MOST_EXCEPTIONS {
                form.exceptions = exceptions;
                return Ok(form);
            }
        }
        Err(least)
    }
}

impl Addition {
    /// The result for two integers, without exceptions.
    fn of(&self, integers: [i64; 2]) -> i64 {
        let term = |number: usize| (integers[number] - self.zero_points[number]) * self.factors[number];
        let sum = term(0) + term(1);
        let tie = self.ties.as_ref().map_or(0, |ties| ties.offset(sum >> self.shift));
        (((sum + self.offset() + tie) >> self.shift) + self.zero_point).clamp(self.range.0, self.range.1)
    }

    /// The offset of a sum before its shift.
    pub fn offset(&self) -> i64 {
        middle(self.shift, self.ties.is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pushmem_nest::Type;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn sums_have_forms_in_integers(
            scales in prop::array::uniform3(0.01_f32..0.04), zeros in prop::array::uniform3(-128_i64..128),
            is_dyadic: bool, is_fused: bool, is_difference: bool,
        ) {
            // Of scales that are simple fractions of each other, every second sum is between two integers; rounding decides without fusion.
            let scales = if is_dyadic && is_fused && !is_difference { [scales[0], scales[0], 2.0 * scales[0]] } else { scales };
            let of = |number: usize| Quantization { element: Type::I8, scale: scales[number], zero_point: zeros[number] };
            let ends = if is_fused { ALL } else { (0.0, f32::INFINITY) };
            let sum = RealSum { operands: [of(0), of(1)], result: of(2), ends, is_difference, is_double: false };
            prop_assert!(sum.in_integers().is_ok());
        }
    }
}
