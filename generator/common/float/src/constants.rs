//! Constants of the functions, and parts of their tables, by their first entries.

use std::sync::OnceLock;

use crate::format::{Format, SIGN};
use crate::functions::Function;

/// The logarithm of Euler's number to the base two, with 15 bits behind the point.
pub const BINARY_OF_EULER: i64 = 47274;
/// Bits behind the point of that logarithm.
const EULER_BITS: i64 = 15;
/// The logarithm of two with 16 bits behind the point.
pub const LOGARITHM_OF_TWO: i64 = 45426;
/// Bits behind the point of logarithms in the table.
pub const LOGARITHM_BITS: i64 = 16;

/// Sine and cosine, of bfloat16 only: the exponent below which an angle is its sine, and its cosine is one. The table begins with the
/// turns that the last bit of a fraction is with this exponent and those above: 16 bits behind the point, of which the entry
/// [`TURN_BITS`] further has the next 16.
pub const ANGLE_EXPONENT: u16 = 123;
/// Bits of an entry of turns.
pub const TURN_BITS: u16 = 16;
/// A quarter of a turn, as an angle of 32 bits.
pub const QUARTER: i64 = 1 << 30;
/// The angle within a quarter below which the sine is proportional to it.
pub const SMALL_ANGLE: i64 = 1 << 24;
/// Bits that are dropped of a small angle so that 15 are left.
pub const SMALL_ANGLE_BITS: i64 = 9;
/// Bits that are dropped of another angle within a quarter.
pub const LARGE_ANGLE_BITS: i64 = 15;
/// Significant bits of an angle that choose a sine.
pub const ANGLE_INDEX_BITS: u16 = 9;
/// Words to add to an exponent for the sines of small angles, by their significant bits. As an angle is rounded up to find its exponent,
/// the first one is below the least number of these bits.
pub const SINE_OF_SMALL: u16 = 149;
/// The sines of other angles, by their exponents and significant bits.
pub const SINE_OF_LARGE: u16 = SINE_OF_SMALL + (1 << (ANGLE_INDEX_BITS - 1)) + 1;
/// The least exponent of such an angle without the bits that are dropped.
pub const LARGE_ANGLE_EXPONENT: u16 = 136;
/// The exponent above that of the greatest.
pub const QUARTER_EXPONENT: u16 = 142;
/// By how much the exponent of the sine of a small angle is less than that of the angle without the bits that are dropped.
pub const SMALL_SCALE: u16 = 21;

/// Constants of the functions of one format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Square root: fractions of the root by the lowest bit of the exponent and the fraction come first, then the roots of subnormal
    /// numbers.
    pub root_of_subnormal: u16,
    /// The greatest exponents but one, whose reciprocals are subnormal: without another exponent it is that of a reciprocal.
    pub large_exponent: u16,
    /// The greatest exponent of a number.
    pub largest_exponent: u16,
    /// Reciprocal: words to add to an exponent come first. Then come words without a sign: of numbers with the greatest exponent but one.
    pub reciprocal_of_large: u16,
    /// Reciprocals of numbers with the greatest exponent.
    pub reciprocal_of_largest: u16,
    /// Reciprocals of subnormal numbers.
    pub reciprocal_of_subnormal: u16,
    /// Exponential: significands of powers of two, without the one before the point, come first, by this many bits of the power
    /// behind the point.
    pub power_index_bits: i64,
    /// Subnormal powers follow, by the low bits of the word.
    pub subnormal_power: u16,
    /// Low bits of words with subnormal powers.
    pub subnormal_power_bits: u16,
    /// The magnitude from which on a power is infinite.
    pub large_power: u16,
    /// The magnitude of a number below zero from which on its power is subnormal.
    pub small_power: u16,
    /// The magnitude of a number below zero from which on its power is zero.
    pub no_power: u16,
    /// Bits behind the point of a magnitude whose power is computed: with those before it, 16.
    pub power_bits: i64,
    /// Bits behind the point of its product with [`BINARY_OF_EULER`].
    pub product_bits: i64,
    /// Logarithm: words for numbers from a half to two, by the lowest bit of the exponent and the fraction, come first, then those of
    /// subnormal numbers, then the logarithms of fractions with 16 bits behind the point.
    pub logarithm_of_subnormal: u16,
    /// The first logarithm of a fraction.
    pub logarithm_of_fraction: u16,
    /// Bits behind the point of a logarithm that becomes a number: those of one below two times the logarithm of two.
    pub rounded_bits: i64,
    /// Hyperbolic tangent: the magnitude below which a number is its own tangent. Words of tangents follow from this one on.
    pub tangent_from: u16,
    /// The magnitude from which on a tangent is one.
    pub tangent_of_one: u16,
}

impl Format {
    /// Constants of the functions.
    pub fn constants(self) -> &'static Constants {
        static ALL: [OnceLock<Constants>; Format::ALL.len()] = [const { OnceLock::new() }; Format::ALL.len()];
        ALL[self as usize].get_or_init(|| Constants::of(self))
    }
}

impl Constants {
    fn of(format: Format) -> Self {
        let (fractions, bias) = (format.fractions(), format.bias());
        let significant_bits = i64::from(format.fraction_bits()) + 1;
        let nearest = |function: Function, word: u16| format.from_f64(function.exact(format.to_f64(word)));
        let power = |word: u16| nearest(Function::Exponential, word);
        // The first magnitude of which this is no longer true.
        let end = |holds: &dyn Fn(u16) -> bool| {
            let (mut low, mut high) = (0, format.infinity());
            while low < high {
                let middle = low + (high - low) / 2;
                if holds(middle) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let large_power = end(&|word| power(word) < format.infinity());
        let small_power = end(&|word| power(word | SIGN) >= fractions);
        let no_power = end(&|word| power(word | SIGN) > 0);
        let whole_bits = i64::from((large_power - 1) / fractions) - i64::from(bias) + 1;
        let power_bits = 16 - whole_bits;
        let tangent = |word: u16| nearest(Function::HyperbolicTangent, word);
        Constants {
            root_of_subnormal: 2 * fractions,
            large_exponent: 2 * bias - 1,
            largest_exponent: 2 * bias,
            reciprocal_of_large: fractions,
            reciprocal_of_largest: 2 * fractions,
            reciprocal_of_subnormal: 3 * fractions,
            power_index_bits: significant_bits,
            subnormal_power: 1 << significant_bits,
            subnormal_power_bits: (no_power - small_power).next_power_of_two() - 1,
            large_power,
            small_power,
            no_power,
            power_bits,
            product_bits: power_bits + EULER_BITS,
            logarithm_of_subnormal: 2 * fractions,
            logarithm_of_fraction: 3 * fractions,
            rounded_bits: significant_bits,
            tangent_from: end(&|word| tangent(word) == word),
            tangent_of_one: end(&|word| tangent(word) < format.one()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_limits() {
        let limits = Format::ALL.map(|format| {
            let of = format.constants();
            [of.large_power, of.small_power, of.no_power, of.subnormal_power_bits]
        });
        assert_eq!(limits, [[0x42b2, 0x42af, 0x42ba, 0xf], [0x498c, 0x48db, 0x4c56, 0x3ff]]);
        let bits = Format::ALL.map(|format| (format.constants().power_bits, format.constants().product_bits));
        assert_eq!(bits, [(9, 24), (12, 27)]);
    }
}
