//! Division by constants: products with reciprocals, in technologies whose divider is larger than a multiplier.

use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;
use crate::moments::Moments;
use crate::sums::Sum;
use pushmem_datapaths::NodeKind;

impl Graph<'_> {
    /// A quotient or remainder by a constant, without a divider; nothing if the node is none, or the product is too wide.
    pub(crate) fn divided_by_constant(&mut self, moments: &mut Moments, kind: NodeKind) -> Option<usize> {
        let NodeKind::Binary { operator, left, right } = kind else { return None };
        let divisor = self.as_constant(right).filter(|divisor| !divisor.unsigned_abs().is_power_of_two())?;
        if divisor == 0 || !matches!(operator, Binary::Divide | Binary::Modulo) {
            return None;
        }
        // The remainder is never negative, whatever the sign of the divisor.
        let quotient = self.quotient_by_product(moments, left, divisor.abs())?;
        Some(match operator {
            Binary::Divide if divisor < 0 => self.unary(Unary::Negate, quotient),
            Binary::Divide => quotient,
            _ => {
                let divisor = self.constant(divisor.abs(), self.value(left));
                let multiple = self.binary(Binary::Multiply, quotient, divisor);
                self.binary(Binary::Subtract, left, multiple)
            }
        })
    }

    /// The quotient by a positive constant as the high bits of a product; nothing if the product does not fit 32 bits.
    fn quotient_by_product(&mut self, moments: &mut Moments, left: usize, divisor: i64) -> Option<usize> {
        let (value, (low, high)) = (self.value(left), self.vertices[left].range);
        // Counted from a multiple of the divisor no number is negative.
        let turns = if low < 0 { (-low + divisor - 1) / divisor } else { 0 };
        let greatest = high.checked_add(turns.checked_mul(divisor)?)?;
        let reciprocal = Reciprocal::of(divisor, greatest)?;
        let number = match turns {
            0 => self.cast(left, Type::U32),
            _ => {
                let wide = self.cast(left, Type::I32);
                let offset = self.constant(turns * divisor, Type::I32);
                let natural = self.binary(Binary::Add, wide, offset);
                self.cast(natural, Type::U32)
            }
        };
        let mut product = Sum::new(Type::U32);
        product.add_term(number, reciprocal.factor);
        let mut quotient = product.build(self, moments);
        if reciprocal.first_shift > 0 {
            let shift = self.constant(reciprocal.first_shift, Type::U32);
            let high_bits = self.binary(Binary::ShiftRight, quotient, shift);
            quotient = self.binary(Binary::Add, high_bits, number);
        }
        let shift = self.constant(reciprocal.shift, Type::U32);
        quotient = self.binary(Binary::ShiftRight, quotient, shift);
        if turns > 0 {
            let turns = self.constant(turns, Type::I32);
            let natural = self.cast(quotient, Type::I32);
            quotient = self.binary(Binary::Subtract, natural, turns);
        }
        Some(self.cast(quotient, value))
    }
}

/// A multiplication that divides by a constant (Granlund and Montgomery, *Division by invariant integers using multiplication*,
/// PLDI 1994).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    factor: i64,
    /// If it is not 0, the product is shifted by this, and the number is added, before the last shift.
    first_shift: i64,
    shift: i64,
}

impl Reciprocal {
    /// The one with the smallest factor for numbers from 0 to `greatest`, with products of 32 bits.
    fn of(divisor: i64, greatest: i64) -> Option<Reciprocal> {
        let (divisor, greatest, most) = (i128::from(divisor), i128::from(greatest), i128::from(u32::MAX));
        for shift in 0..48 {
            let power = 1_i128 << shift;
            let factor = (power + divisor - 1) / divisor;
            // The factor is too large by an error that must stay below one step of the quotient.
            if (factor * divisor - power) * greatest >= power {
                continue;
            }
            let found =
                |factor: i128, first_shift: i64, shift: i64| Reciprocal { factor: factor as i64, first_shift, shift };
            if factor * greatest <= most {
                return Some(found(factor, 0, shift));
            }
            // The number itself in place of the highest bit of the factor.
            let rest = factor - (1 << 16);
            let fits = (1 << 16..1 << 17).contains(&factor) && rest * greatest <= most && shift > 16;
            return fits.then(|| found(rest, 16, shift - 16));
        }
        None
    }

    #[cfg(test)]
    fn quotient(self, number: i64) -> i64 {
        let product = number * self.factor;
        assert!(product <= i64::from(u32::MAX), "{number} times {self:?}");
        match self.first_shift {
            0 => product >> self.shift,
            first => ((product >> first) + number) >> self.shift,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reciprocal;

    /// All numbers of 16 bits by all divisors that are no powers of two up to 600, by some large ones, and smaller numbers.
    #[test]
    fn products_are_quotients() {
        let divisors = (3_i64..600).chain([641, 1000, 6700, 21_845, 32_767, 43_691, 65_535]);
        for divisor in divisors.filter(|divisor| !(*divisor as u64).is_power_of_two()) {
            for greatest in [divisor, 255, 2_295, 32_767, 65_535] {
                let reciprocal = Reciprocal::of(divisor, greatest).expect("products of 16 bits fit");
                let wrong = (0..=greatest).find(|number| reciprocal.quotient(*number) != number / divisor);
                assert_eq!(wrong, None, "by {divisor} up to {greatest}: {reciprocal:?}");
            }
        }
    }

    #[test]
    fn products_beyond_32_bits_are_none() {
        assert_eq!(Reciprocal::of(9, i64::from(u32::MAX)), None);
    }
}
