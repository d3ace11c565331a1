//! The software reference of bfloat16 arithmetic: IEEE 754 with 8 bits of exponent and 7 of fraction, subnormal numbers
//! included, rounded to nearest, ties to even.
//!
//! A sum and a product of two bfloat16 numbers, computed in double precision and then rounded, are rounded as if once: the
//! product is exact, and a significand of 53 bits has more than twice the 8 bits and two, as the sum needs (Figueroa, When is
//! double rounding innocuous?, 1995).

/// The result of operations that have no number, as the hardware gives it.
pub const NOT_A_NUMBER: u16 = 0x7fc0;

const FRACTION_BITS: u32 = 7;
const SINGLE_FRACTION_BITS: u32 = 23;
const DOUBLE_FRACTION_BITS: u32 = 52;
const BIAS: i32 = 127;
const DOUBLE_BIAS: i32 = 1023;
const INFINITY: u16 = 0x7f80;

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
    let exponent = ((bits >> DOUBLE_FRACTION_BITS) & 0x7ff) as i32 - DOUBLE_BIAS + BIAS;
    let significand = bits & ((1 << DOUBLE_FRACTION_BITS) - 1) | 1 << DOUBLE_FRACTION_BITS;
    if number == 0.0 || exponent < -(FRACTION_BITS as i32) - 1 {
        return sign;
    }
    if exponent > 2 * BIAS {
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
}
