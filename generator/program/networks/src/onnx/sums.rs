//! Sums and differences as onnxruntime computes them in floating point, on processors with fused products and sums.

use crate::addition::{Addition, Sum};
use crate::fault::Result;
use crate::network::Quantization;
use crate::onnx::values::ALL;

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
    /// As [`Sum::in_integers`].
    pub fn in_integers(&self) -> Result<Addition> {
        let ratios = self.operands.map(|operand| f64::from(operand.scale) / f64::from(self.result.scale));
        let sum = Sum {
            elements: self.operands.map(|operand| operand.element),
            zero_points: self.operands.map(|operand| operand.zero_point),
            ratios: [ratios[0], if self.is_difference { -ratios[1] } else { ratios[1] }],
            is_double: self.is_double,
            range: (self.result.integer(self.ends.0), self.result.integer(self.ends.1)),
            zero_point: self.result.zero_point,
            first_zero_point: if self.is_fused() { self.result.zero_point } else { 0 },
        };
        sum.in_integers(|integers| self.of(integers))
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
