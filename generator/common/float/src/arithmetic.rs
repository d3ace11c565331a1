//! The software reference of the arithmetic: IEEE 754, subnormal numbers included, rounded to nearest, ties to even.
//!
//! A sum and a product of two numbers, computed in double precision and then rounded, are rounded as if once: the product is
//! exact, and a significand of 53 bits has more than twice the 11 bits of the longer format and two, as the sum needs
//! (Figueroa, When is double rounding innocuous?, 1995).

use crate::format::{Format, SIGN};

const DOUBLE_FRACTION_BITS: u32 = 52;
const DOUBLE_BIAS: i32 = 1023;

impl Format {
    /// The number that a word stands for.
    pub fn to_f64(self, word: u16) -> f64 {
        let (magnitude, fraction_bits) = (word & !SIGN, self.fraction_bits());
        let (exponent, fraction) = (magnitude >> fraction_bits, magnitude % self.fractions());
        let of_exponent =
            |exponent: i32| (i64::from(exponent + DOUBLE_BIAS - i32::from(self.bias())) as u64) << DOUBLE_FRACTION_BITS;
        let number = match exponent {
            // Multiples of the least number.
            0 => f64::from(fraction) * f64::from_bits(of_exponent(1 - fraction_bits as i32)),
            _ if magnitude > self.infinity() => f64::NAN,
            _ if magnitude == self.infinity() => f64::INFINITY,
            _ => {
                let fraction = u64::from(fraction) << (DOUBLE_FRACTION_BITS - fraction_bits);
                f64::from_bits(of_exponent(exponent.into()) | fraction)
            }
        };
        if word & SIGN == 0 { number } else { -number }
    }

    /// The word of the number nearest to a number, the even one of two.
    pub fn from_f64(self, number: f64) -> u16 {
        if number.is_nan() {
            return self.not_a_number();
        }
        let fraction_bits = self.fraction_bits();
        let bits = number.to_bits();
        let sign = ((bits >> 63) as u16) << 15;
        let exponent = ((bits >> DOUBLE_FRACTION_BITS) & 0x7ff) as i32 - DOUBLE_BIAS + i32::from(self.bias());
        let significand = bits & ((1 << DOUBLE_FRACTION_BITS) - 1) | 1 << DOUBLE_FRACTION_BITS;
        if number == 0.0 || exponent < -(fraction_bits as i32) - 1 {
            return sign;
        }
        if exponent > 2 * i32::from(self.bias()) {
            return sign | self.infinity();
        }
        // Subnormal numbers have the least exponent and fewer bits.
        let dropped = DOUBLE_FRACTION_BITS - fraction_bits + (1 - exponent).max(0) as u32;
        let kept = significand >> dropped;
        let rest = significand & ((1 << dropped) - 1);
        let half = 1 << (dropped - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        // The hidden bit of a normal number adds 1 to the exponent; a carry out of the fraction adds 1 as well, up to infinity.
        let below = (exponent.max(1) - 1) as u64;
        sign | ((below << fraction_bits) + kept + u64::from(up)) as u16
    }

    /// `a + b`.
    pub fn add(self, a: u16, b: u16) -> u16 {
        self.from_f64(self.to_f64(a) + self.to_f64(b))
    }

    /// `a - b`.
    pub fn subtract(self, a: u16, b: u16) -> u16 {
        self.from_f64(self.to_f64(a) - self.to_f64(b))
    }

    /// `a · b`.
    pub fn multiply(self, a: u16, b: u16) -> u16 {
        self.from_f64(self.to_f64(a) * self.to_f64(b))
    }

    /// Whether `a == b`: the two zeros are equal, and what is no number is equal to nothing.
    pub fn equal(self, a: u16, b: u16) -> bool {
        self.to_f64(a) == self.to_f64(b)
    }

    /// Whether `a < b`; never of what is no number.
    pub fn less(self, a: u16, b: u16) -> bool {
        self.to_f64(a) < self.to_f64(b)
    }

    /// Whether `a <= b`; never of what is no number.
    pub fn less_equal(self, a: u16, b: u16) -> bool {
        self.to_f64(a) <= self.to_f64(b)
    }

    /// `a` if it is less than `b`, else `b`.
    pub fn minimum(self, a: u16, b: u16) -> u16 {
        if self.less(a, b) { a } else { b }
    }

    /// `a` if `b` is less than it, else `b`.
    pub fn maximum(self, a: u16, b: u16) -> u16 {
        if self.less(b, a) { a } else { b }
    }

    /// The same with the other sign, also of what is no number.
    pub fn negate(self, a: u16) -> u16 {
        a ^ SIGN
    }

    /// The same without its sign, also of what is no number.
    pub fn absolute(self, a: u16) -> u16 {
        a & !SIGN
    }

    /// Whether a word stands for a finite number.
    pub fn is_finite(self, word: u16) -> bool {
        self.absolute(word) < self.infinity()
    }

    /// The number nearest to an integer of at most 53 bits, the even one of two.
    pub fn from_integer(self, integer: i64) -> u16 {
        self.from_f64(integer as f64)
    }

    /// The integer from `least` to `greatest` that is a number without its fraction, or the nearest to it; 0 of what is no number.
    pub fn to_integer(self, number: u16, least: i64, greatest: i64) -> i64 {
        let number = self.to_f64(number);
        // A cast of Rust goes towards 0, saturates, and gives 0 for what is no number.
        if number.is_nan() { 0 } else { (number as i64).clamp(least, greatest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BFLOAT: Format = Format::Bfloat16;

    #[test]
    fn every_number_is_nearest_to_itself() {
        for format in Format::ALL {
            for bits in 0..=u16::MAX {
                let number = format.to_f64(bits);
                let expected = if number.is_nan() { format.not_a_number() } else { bits };
                assert_eq!(format.from_f64(number), expected, "{format} {bits:#06x}");
            }
        }
    }

    #[test]
    fn words_stand_for_the_numbers_of_the_standards() {
        for bits in 0..=u16::MAX {
            let (number, single) = (BFLOAT.to_f64(bits), f32::from_bits(u32::from(bits) << 16));
            assert!(
                number == single.into() && number.is_sign_negative() == single.is_sign_negative() || single.is_nan()
            );
        }
        let of_words =
            [0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0xc000, 0x3555].map(|word| Format::Float16.to_f64(word));
        let least = 2_f64.powi(-24);
        assert_eq!(of_words, [least, 1023.0 * least, 1024.0 * least, 1.0, 65504.0, -2.0, 0.333251953125]);
    }

    #[test]
    fn halves_between_neighbours_go_to_the_even_one() {
        for format in Format::ALL {
            for bits in 0..format.largest() {
                let (low, high) = (format.to_f64(bits), format.to_f64(bits + 1));
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(format.from_f64((low + high) / 2.0), even);
                assert_eq!(format.from_f64(low + (high - low) * 0.499), bits);
                assert_eq!(format.from_f64(low + (high - low) * 0.501), bits + 1);
                assert_eq!(format.from_f64(-(low + (high - low) * 0.501)), (bits + 1) | 0x8000);
            }
        }
    }

    #[test]
    fn extremes() {
        for format in Format::ALL {
            let (infinity, largest) = (format.infinity(), format.largest());
            assert_eq!(format.add(infinity, infinity | 0x8000), format.not_a_number());
            assert_eq!(format.multiply(infinity, 0), format.not_a_number());
            assert_eq!(format.add(0x8000, 0x8000), 0x8000);
            assert_eq!(format.add(0x8000, 0), 0);
            assert_eq!(format.multiply(largest, largest), infinity);
            assert_eq!(format.multiply(1, 1), 0);
        }
    }

    #[test]
    fn least_and_greatest_of_what_is_no_number_are_the_other() {
        for format in Format::ALL {
            let (none, one) = (format.not_a_number(), format.one());
            assert_eq!(format.minimum(none, one), one);
            assert_eq!(format.maximum(none, one), one);
            assert_eq!(format.minimum(one, none), none);
            assert_eq!((format.minimum(0, SIGN), format.maximum(0, SIGN)), (SIGN, SIGN));
        }
    }

    #[test]
    fn integers_are_rounded_once() {
        for format in Format::ALL {
            let exact = 2 * i64::from(format.fractions());
            // From the middle between the largest number and the next, which would be 65536, on, they are infinite in float16.
            let last = if format == BFLOAT { 65536 } else { 65519 };
            for integer in -last..=last {
                let word = format.from_integer(integer);
                let distance = (format.to_f64(word) - integer as f64).abs();
                for neighbour in [word.wrapping_sub(1), word.wrapping_add(1)] {
                    let other = (format.to_f64(neighbour) - integer as f64).abs();
                    assert!(integer == 0 || distance <= other, "{format} {integer}");
                }
                if integer.abs() <= exact {
                    assert_eq!(format.to_integer(word, -exact, exact), integer);
                }
            }
            assert_eq!(format.to_integer(format.from_f64(-1.9), -128, 127), -1);
            assert_eq!(format.to_integer(format.infinity(), 0, 65535), 65535);
            assert_eq!(format.to_integer(format.infinity() | SIGN, -128, 127), -128);
            assert_eq!(format.to_integer(format.not_a_number(), 1, 2), 0);
        }
        assert_eq!(Format::Float16.from_integer(65520), Format::Float16.infinity());
    }
}
