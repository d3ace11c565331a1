//! Numbers of fixed point, by which TensorFlow Lite multiplies integers of 32 bits.

/// The bits behind the point of a significand.
const FRACTION: i32 = 31;

/// A number as TensorFlow Lite has it: an integer of 31 bits and a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Multiplier {
    /// 0, or up to 2^31 - 1.
    significand: i64,
    /// The number is `significand * 2^(exponent - 31)`.
    exponent: i32,
}

impl Multiplier {
    /// The nearest one of a number above 0 that is not infinite; 0 for less than about 2^-32.
    pub fn of_real(real: f64) -> Multiplier {
        const BIAS: i32 = f64::MAX_EXP - 2;
        let exponent = (real.to_bits() >> (f64::MANTISSA_DIGITS - 1)) as i32 - BIAS;
        if !real.is_normal() || real < 0.0 || exponent < -FRACTION {
            return Multiplier { significand: 0, exponent: 0 };
        }
        let significand = (real * 2_f64.powi(FRACTION - exponent)).round() as i64;
        match significand {
            rounded if rounded >= 1 << FRACTION => {
                Multiplier { significand: 1 << (FRACTION - 1), exponent: exponent + 1 }
            }
            significand => Multiplier { significand, exponent },
        }
    }

    /// The number divided by a count, whose power of two is kept apart so that no bit is lost.
    pub fn shared(self, count: i64) -> Multiplier {
        let bits = (count.max(1).ilog2() as i32).min(FRACTION + self.exponent).max(0);
        Multiplier { significand: (self.significand << bits) / count.max(1), exponent: self.exponent - bits }
    }

    /// The power of two.
    pub fn power(self) -> f64 {
        2_f64.powi(self.exponent)
    }

    /// The number.
    pub fn real(self) -> f64 {
        self.significand as f64 * 2_f64.powi(self.exponent - FRACTION)
    }

    /// Whether its product with an integer has no step of more than 32 bits.
    pub fn takes(self, integer: i64) -> bool {
        self.exponent < FRACTION && i32::try_from(integer << self.exponent.max(0)).is_ok()
    }

    /// The product with an integer, rounded twice: to the precision of the significand, of two integers to the greater; and once the power
    /// of two is below 1, to an integer, of two to that away from 0.
    pub fn of(self, integer: i64) -> i64 {
        let high = ((integer << self.exponent.max(0)) * self.significand + (1 << (FRACTION - 1))) >> FRACTION;
        divided(high, -self.exponent.min(0))
    }

    /// Half a unit of the first rounding, in units of the last bit of a product that is shifted so many bits; 0 where there is no second one.
    pub fn first_half(self, shift: u32) -> i64 {
        match shift as i32 - 1 + self.exponent {
            bits @ 0.. if self.exponent < 0 => 1 << bits,
            _ => 0,
        }
    }

    /// The number as an integer that is shifted so many bits; nothing where it is none, or has too many bits.
    pub fn factor(self, shift: u32) -> Option<i64> {
        let more = (shift as i32 + self.exponent - FRACTION).max(-FRACTION - 1);
        let is_exact = more >= 0 || self.significand.trailing_zeros() as i32 >= -more;
        (is_exact && more < 16).then(|| if more < 0 { self.significand >> -more } else { self.significand << more })
    }
}

/// An integer divided by a power of two, rounded to the nearest integer, of two to that away from 0.
pub(crate) fn divided(integer: i64, bits: i32) -> i64 {
    if bits == 0 { integer } else { (integer + (1 << (bits - 1)) - i64::from(integer < 0)) >> bits }
}
