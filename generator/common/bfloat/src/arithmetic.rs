//! The software reference of bfloat16 arithmetic: IEEE 754 with 8 bits of exponent and 7 of fraction, subnormal numbers
//! included, rounded to nearest, ties to even.
//!
//! A sum and a product of two bfloat16 numbers, computed in double precision and then rounded, are rounded as if once: the
//! product is exact, and a significand of 53 bits has more than twice the 8 bits and two, as the sum needs (Figueroa, When is
//! double rounding innocuous?, 1995).

/// The result of operations that have no number, as the hardware gives it.
pub const NOT_A_NUMBER: u16 = 0x7fc0;

/// The bits of a fraction.
pub const FRACTION_BITS: u32 = 7;
const SINGLE_FRACTION_BITS: u32 = 23;
const DOUBLE_FRACTION_BITS: u32 = 52;
/// The bias of exponents.
pub const BIAS: u16 = 127;
const DOUBLE_BIAS: i32 = 1023;
/// The least of the words that stand for no finite number, but for the sign.
pub const INFINITY: u16 = 0x7f80;

/// The bit of the sign.
pub const SIGN: u16 = 0x8000;

/// The number that 16 bits stand for: the upper half of a number in single precision.
pub fn to_f64(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << (SINGLE_FRACTION_BITS - FRACTION_BITS)))
}

/// The bfloat16 number nearest to a number, the even one of two.
pub fn from_f64(number: f64) -> u16 {
    if number.is_nan() {
        return NOT_A_NUMBER;
    }
    let bits = number.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let exponent = ((bits >> DOUBLE_FRACTION_BITS) & 0x7ff) as i32 - DOUBLE_BIAS + i32::from(BIAS);
    let significand = bits & ((1 << DOUBLE_FRACTION_BITS) - 1) | 1 << DOUBLE_FRACTION_BITS;
    if number == 0.0 || exponent < -(FRACTION_BITS as i32) - 1 {
        return sign;
    }
    if exponent > 2 * i32::from(BIAS) {
        return sign | INFINITY;
    }
    // Subnormal numbers have the least exponent and fewer bits.
    let dropped = DOUBLE_FRACTION_BITS - FRACTION_BITS + (1 - exponent).max(0) as u32;
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let up = rest > half || rest == half && kept & 1 == 1;
    // The hidden bit of a normal number adds 1 to the exponent; a carry out of the fraction adds 1 as well, up to infinity.
    let below = (exponent.max(1) - 1) as u64;
    sign | ((below << FRACTION_BITS) + kept + u64::from(up)) as u16
}

/// `a + b`.
pub fn add(a: u16, b: u16) -> u16 {
    from_f64(to_f64(a) + to_f64(b))
}

/// `a - b`.
pub fn subtract(a: u16, b: u16) -> u16 {
    from_f64(to_f64(a) - to_f64(b))
}

/// `a · b`.
pub fn multiply(a: u16, b: u16) -> u16 {
    from_f64(to_f64(a) * to_f64(b))
}

/// Whether `a == b`: the two zeros are equal, and what is no number is equal to nothing.
pub fn equal(a: u16, b: u16) -> bool {
    to_f64(a) == to_f64(b)
}

/// Whether `a < b`; never of what is no number.
pub fn less(a: u16, b: u16) -> bool {
    to_f64(a) < to_f64(b)
}

/// Whether `a <= b`; never of what is no number.
pub fn less_equal(a: u16, b: u16) -> bool {
    to_f64(a) <= to_f64(b)
}

/// `a` if it is less than `b`, else `b`.
pub fn minimum(a: u16, b: u16) -> u16 {
    if less(a, b) { a } else { b }
}

/// `a` if `b` is less than it, else `b`.
pub fn maximum(a: u16, b: u16) -> u16 {
    if less(b, a) { a } else { b }
}

/// The same with the other sign, also of what is no number.
pub fn negate(a: u16) -> u16 {
    a ^ SIGN
}

/// The same without its sign, also of what is no number.
pub fn absolute(a: u16) -> u16 {
    a & !SIGN
}

/// The number nearest to an integer of at most 53 bits, the even one of two.
pub fn from_integer(integer: i64) -> u16 {
    from_f64(integer as f64)
}

/// The integer from `least` to `greatest` that is a number without its fraction, or the nearest to it; 0 of what is no number.
pub fn to_integer(number: u16, least: i64, greatest: i64) -> i64 {
    // A cast of Rust goes towards 0, saturates, and gives 0 for what is no number.
    if to_f64(number).is_nan() { 0 } else { (to_f64(number) as i64).clamp(least, greatest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_nearest_to_itself() {
        for bits in 0..=u16::MAX {
            let expected = if to_f64(bits).is_nan() { NOT_A_NUMBER } else { bits };
            assert_eq!(from_f64(to_f64(bits)), expected, "{bits:#06x}");
        }
    }

    #[test]
    fn halves_between_neighbours_go_to_the_even_one() {
        for bits in 0..INFINITY - 1 {
            let (low, high) = (to_f64(bits), to_f64(bits + 1));
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            assert_eq!(from_f64((low + high) / 2.0), even);
            assert_eq!(from_f64(low + (high - low) * 0.499), bits);
            assert_eq!(from_f64(low + (high - low) * 0.501), bits + 1);
            assert_eq!(from_f64(-(low + (high - low) * 0.501)), (bits + 1) | 0x8000);
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(add(INFINITY, INFINITY | 0x8000), NOT_A_NUMBER);
        assert_eq!(multiply(INFINITY, 0), NOT_A_NUMBER);
        assert_eq!(add(0x8000, 0x8000), 0x8000);
        assert_eq!(add(0x8000, 0), 0);
        assert_eq!(multiply(0x7f7f, 0x7f7f), INFINITY);
        assert_eq!(multiply(1, 1), 0);
    }

    #[test]
    fn least_and_greatest_of_what_is_no_number_are_the_other() {
        assert_eq!(minimum(NOT_A_NUMBER, 0x3f80), 0x3f80);
        assert_eq!(maximum(NOT_A_NUMBER, 0x3f80), 0x3f80);
        assert_eq!(minimum(0x3f80, NOT_A_NUMBER), NOT_A_NUMBER);
        assert_eq!((minimum(0, SIGN), maximum(0, SIGN)), (SIGN, SIGN));
    }

    #[test]
    fn integers_are_rounded_once() {
        for integer in -65536..=65536_i64 {
            let number = to_f64(from_integer(integer));
            let distance = (number - integer as f64).abs();
            for neighbour in [from_integer(integer).wrapping_sub(1), from_integer(integer).wrapping_add(1)] {
                assert!(integer == 0 || distance <= (to_f64(neighbour) - integer as f64).abs(), "{integer}");
            }
            if integer.abs() <= 256 {
                assert_eq!(to_integer(from_integer(integer), -256, 256), integer);
            }
        }
        assert_eq!(to_integer(from_f64(-1.9), -128, 127), -1);
        assert_eq!(to_integer(INFINITY, 0, 65535), 65535);
        assert_eq!(to_integer(INFINITY | SIGN, -128, 127), -128);
        assert_eq!(to_integer(NOT_A_NUMBER, 1, 2), 0);
    }
}
