//! Functions of numbers, by a table each, and operations of integers on their words.
//!
//! Square root and reciprocal are rounded as if exact, subnormal numbers included. Exponential and logarithm are the number nearest to
//! the exact one, or a neighbour of it.

use crate::arithmetic::{BIAS, FRACTION_BITS, INFINITY, NOT_A_NUMBER, SIGN, from_f64, from_integer, to_f64};

/// The numbers with one exponent and one sign.
pub const FRACTIONS: u16 = 1 << FRACTION_BITS;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// The square root; of a number below zero there is none.
    SquareRoot,
    /// One, divided by the number.
    Reciprocal,
    /// The power of Euler's number.
    Exponential,
    /// The natural logarithm; of a number below zero there is none.
    Logarithm,
}

/// Parts of the tables, by their first entries, and constants of the functions.
pub mod parts {
    /// Square root: fractions of the root by the lowest bit of the exponent and the fraction come first, then the roots of subnormal
    /// numbers.
    pub const ROOT_OF_SUBNORMAL: u16 = 256;
    /// The greatest exponents but one, whose reciprocals are subnormal: one plus another exponent is that of a reciprocal.
    pub const LARGE_EXPONENT: u16 = 253;
    /// The greatest exponent of a number.
    pub const LARGEST_EXPONENT: u16 = LARGE_EXPONENT + 1;
    /// Reciprocal: words to add to an exponent come first. Then come words without a sign: of numbers with the greatest exponent but one.
    pub const RECIPROCAL_OF_LARGE: u16 = 128;
    /// Reciprocals of numbers with the greatest exponent.
    pub const RECIPROCAL_OF_LARGEST: u16 = 256;
    /// Reciprocals of subnormal numbers.
    pub const RECIPROCAL_OF_SUBNORMAL: u16 = 384;
    /// Exponential: significands of powers of two, without the one before the point, come first, by the bits of the power behind the
    /// point. Subnormal powers follow, by the low bits of the word.
    pub const SUBNORMAL_POWER: u16 = 256;
    /// The magnitude from which on a power is infinite.
    pub const LARGE_POWER: u16 = 0x42b2;
    /// The magnitude of a number below zero from which on its power is subnormal.
    pub const SMALL_POWER: u16 = 0x42af;
    /// The magnitude of a number below zero from which on its power is zero.
    pub const NO_POWER: u16 = 0x42ba;
    /// Low bits of words with subnormal powers.
    pub const SUBNORMAL_POWER_BITS: u16 = 0xf;
    /// Bits behind the point of a magnitude whose power is computed.
    pub const POWER_BITS: i64 = 9;
    /// The logarithm of Euler's number to the base two, with 15 bits behind the point.
    pub const BINARY_OF_EULER: i64 = 47274;
    /// Bits behind the point of its product with such a magnitude.
    pub const PRODUCT_BITS: i64 = 24;
    /// Bits behind the point that choose an entry.
    pub const POWER_INDEX_BITS: i64 = 8;
    /// Logarithm: words for numbers from a half to two, by the lowest bit of the exponent and the fraction, come first, then those of
    /// subnormal numbers, then the logarithms of fractions with 16 bits behind the point.
    pub const LOGARITHM_OF_SUBNORMAL: u16 = 256;
    /// The first logarithm of a fraction.
    pub const LOGARITHM_OF_FRACTION: u16 = 384;
    /// The logarithm of two with 16 bits behind the point.
    pub const LOGARITHM_OF_TWO: i64 = 45426;
    /// Bits behind the point of logarithms in the table.
    pub const LOGARITHM_BITS: i64 = 16;
    /// Bits behind the point of a logarithm that becomes a number.
    pub const ROUNDED_BITS: i64 = 8;
}

use parts::*;

/// The word of a number without sign.
fn word(exponent: u16, fraction: u16) -> u16 {
    exponent * FRACTIONS + fraction
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 4] =
        [Function::SquareRoot, Function::Reciprocal, Function::Exponential, Function::Logarithm];

    /// The name in programs.
    pub fn name(self) -> &'static str {
        match self {
            Function::SquareRoot => "sqrt",
            Function::Reciprocal => "reciprocal",
            Function::Exponential => "exp",
            Function::Logarithm => "log",
        }
    }

    /// The function of this name.
    pub fn of_name(name: &str) -> Option<Function> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// The function in double precision.
    pub fn exact(self, number: f64) -> f64 {
        match self {
            Function::SquareRoot => number.sqrt(),
            Function::Reciprocal => 1.0 / number,
            Function::Exponential => number.exp(),
            Function::Logarithm => number.ln(),
        }
    }

    /// The words of its table.
    pub fn table(self) -> Vec<u16> {
        let fractions = || 0..FRACTIONS;
        let of_word = |word: u16| from_f64(self.exact(to_f64(word)));
        // The words of numbers with these exponents.
        let of_exponent = |exponent: u16| fractions().map(move |fraction| of_word(word(exponent, fraction)));
        match self {
            Function::SquareRoot => {
                let root = |word: u16| of_word(word) % FRACTIONS;
                let of_two = [BIAS + 1, BIAS].into_iter();
                let roots = of_two.flat_map(|exponent| fractions().map(move |fraction| root(word(exponent, fraction))));
                roots.chain(of_exponent(0)).collect()
            }
            Function::Reciprocal => {
                // From one to two: the exponent is one less, but for one.
                let of_one = of_exponent(BIAS).map(|word| word - (BIAS - 1) * FRACTIONS);
                let [large, largest] = [LARGE_EXPONENT, LARGEST_EXPONENT];
                of_one.chain(of_exponent(large)).chain(of_exponent(largest)).chain(of_exponent(0)).collect()
            }
            Function::Exponential => {
                let powers = 1_u16 << POWER_INDEX_BITS;
                let power =
                    |index: u16| from_f64(((f64::from(index) + 0.5) / f64::from(powers)).exp2()) - word(BIAS, 0);
                let subnormal = (0..=SUBNORMAL_POWER_BITS).map(|low| {
                    let mut words = (SMALL_POWER..NO_POWER).filter(|word| word & SUBNORMAL_POWER_BITS == low);
                    words.next().map_or(0, |word| of_word(word | SIGN))
                });
                (0..powers).map(power).chain(subnormal).collect()
            }
            Function::Logarithm => {
                let near = of_exponent(BIAS - 1).chain(of_exponent(BIAS));
                let scaled = |word: u16| (to_f64(word).ln() * f64::from(1 << LOGARITHM_BITS)).round() as u16;
                let scaled = fractions().map(|fraction| scaled(word(BIAS, fraction)));
                near.chain(of_exponent(0)).chain(scaled).collect()
            }
        }
    }

    /// The function of a number, as the hardware computes it.
    pub fn apply(self, number: u16) -> u16 {
        let magnitude = number & !SIGN;
        let is_negative = number & SIGN != 0;
        if magnitude > INFINITY {
            return NOT_A_NUMBER;
        }
        match self {
            Function::SquareRoot | Function::Logarithm if is_negative && magnitude > 0 => NOT_A_NUMBER,
            // Both are rounded as if exact.
            Function::SquareRoot | Function::Reciprocal => from_f64(self.exact(to_f64(number))),
            Function::Exponential => self.power(magnitude, is_negative),
            Function::Logarithm => self.logarithm(magnitude),
        }
    }

    fn power(self, magnitude: u16, is_negative: bool) -> u16 {
        let entry = |index: u16| self.entry(index);
        match is_negative {
            false if magnitude >= LARGE_POWER => return INFINITY,
            true if magnitude >= NO_POWER => return 0,
            true if magnitude >= SMALL_POWER => return entry(SUBNORMAL_POWER + (magnitude & SUBNORMAL_POWER_BITS)),
            _ => {}
        }
        let (exponent, significand) = (i64::from(magnitude / FRACTIONS), i64::from(magnitude % FRACTIONS + FRACTIONS));
        let amount = exponent - i64::from(BIAS) - i64::from(FRACTION_BITS) + POWER_BITS;
        let fixed = if amount >= 0 { significand << amount } else { significand >> -amount.max(-63) };
        let product = fixed * BINARY_OF_EULER * if is_negative { -1 } else { 1 };
        let index = product >> (PRODUCT_BITS - POWER_INDEX_BITS) & ((1 << POWER_INDEX_BITS) - 1);
        let exponent = (product >> PRODUCT_BITS) + i64::from(BIAS);
        word(exponent as u16, entry(index as u16))
    }

    fn logarithm(self, magnitude: u16) -> u16 {
        let (exponent, fraction) = (magnitude / FRACTIONS, magnitude % FRACTIONS);
        let below_one = BIAS - 1;
        match exponent {
            _ if magnitude == 0 => INFINITY | SIGN,
            _ if magnitude >= INFINITY => INFINITY,
            0 => self.entry(LOGARITHM_OF_SUBNORMAL + fraction),
            exponent if exponent == below_one || exponent == BIAS => self.entry(magnitude % (2 * FRACTIONS)),
            _ => {
                let of_fraction = i64::from(self.entry(LOGARITHM_OF_FRACTION + fraction));
                let scaled = (i64::from(exponent) - i64::from(BIAS)) * LOGARITHM_OF_TWO + of_fraction;
                let dropped = LOGARITHM_BITS - ROUNDED_BITS;
                let rounded = from_integer((scaled + (1 << (dropped - 1))) >> dropped);
                rounded - ROUNDED_BITS as u16 * FRACTIONS
            }
        }
    }

    fn entry(self, index: u16) -> u16 {
        use std::sync::OnceLock;
        static TABLES: [OnceLock<Vec<u16>>; 4] = [const { OnceLock::new() }; 4];
        TABLES[self as usize].get_or_init(|| self.table())[usize::from(index)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many numbers are between two.
    fn apart(one: u16, other: u16) -> u32 {
        let order = |word: u16| i32::from(word & !SIGN) * if word & SIGN == 0 { 1 } else { -1 };
        order(one).abs_diff(order(other))
    }

    #[test]
    fn functions_are_rounded_to_nearest_or_a_neighbour() {
        for function in Function::ALL {
            let mut wrong = 0;
            for number in 0..=u16::MAX {
                let (found, exact) = (function.apply(number), from_f64(function.exact(to_f64(number))));
                if (exact & !SIGN) > INFINITY {
                    assert_eq!(found, NOT_A_NUMBER, "{} of {number:#x}", function.name());
                    continue;
                }
                let apart = apart(found, exact);
                assert!(apart <= 1, "{} of {number:#x}: {found:#x}, not {exact:#x}", function.name());
                wrong += apart;
            }
            let limit = match function {
                Function::SquareRoot | Function::Reciprocal => 0,
                Function::Exponential => 609,
                Function::Logarithm => 579,
            };
            assert_eq!(wrong, limit, "{}", function.name());
        }
    }

    #[test]
    fn tables_have_their_parts() {
        let lengths = Function::ALL.map(|function| function.table().len());
        assert_eq!(lengths, [384, 512, 272, 512]);
        // The square root and the reciprocal by their tables, as datapaths compute them.
        for number in 1..INFINITY {
            let (exponent, fraction) = (number / FRACTIONS, number % FRACTIONS);
            let root = match exponent {
                0 => Function::SquareRoot.entry(ROOT_OF_SUBNORMAL + fraction),
                _ => word((exponent + BIAS) / 2, Function::SquareRoot.entry(number % (2 * FRACTIONS))),
            };
            assert_eq!(root, Function::SquareRoot.apply(number), "{number:#x}");
            let reciprocal = |part: u16| Function::Reciprocal.entry(part + fraction);
            let found = match exponent {
                0 => reciprocal(RECIPROCAL_OF_SUBNORMAL),
                LARGE_EXPONENT => reciprocal(RECIPROCAL_OF_LARGE),
                LARGEST_EXPONENT => reciprocal(RECIPROCAL_OF_LARGEST),
                _ => word(LARGE_EXPONENT - exponent, reciprocal(0)),
            };
            assert_eq!(found, Function::Reciprocal.apply(number), "{number:#x}");
        }
    }
}
