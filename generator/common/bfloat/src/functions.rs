//! Functions of numbers, by a table each, and operations of integers on their words.
//!
//! Square root, reciprocal and hyperbolic tangent are rounded as if exact, subnormal numbers included. Exponential, logarithm, sine and
//! cosine are the number nearest to the exact one, or a neighbour of it.

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
    /// The hyperbolic tangent.
    HyperbolicTangent,
    /// The sine of an angle in radians; of an infinite one there is none.
    Sine,
    /// The cosine of an angle in radians; of an infinite one there is none.
    Cosine,
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
    /// Hyperbolic tangent: the magnitude below which a number is its own tangent. Words of tangents follow from this one on.
    pub const TANGENT_FROM: u16 = 0x3d80;
    /// The magnitude from which on a tangent is one.
    pub const TANGENT_OF_ONE: u16 = 0x4060;
    /// Sine and cosine: the exponent below which an angle is its sine, and its cosine is one. The table begins with the turns that
    /// the last bit of a fraction is with this exponent and those above: 16 bits behind the point, of which the entry
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
}

/// The first bits behind the point of two divided by the circle's circumference of diameter one.
const BITS_OF_TURN: [u32; 6] = [0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041];

use parts::*;

/// The word of a number without sign.
fn word(exponent: u16, fraction: u16) -> u16 {
    exponent * FRACTIONS + fraction
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 7] = [
        Function::SquareRoot,
        Function::Reciprocal,
        Function::Exponential,
        Function::Logarithm,
        Function::HyperbolicTangent,
        Function::Sine,
        Function::Cosine,
    ];

    /// The name in programs.
    pub fn name(self) -> &'static str {
        match self {
            Function::SquareRoot => "sqrt",
            Function::Reciprocal => "reciprocal",
            Function::Exponential => "exp",
            Function::Logarithm => "log",
            Function::HyperbolicTangent => "tanh",
            Function::Sine => "sin",
            Function::Cosine => "cos",
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
            Function::HyperbolicTangent => number.tanh(),
            Function::Sine => number.sin(),
            Function::Cosine => number.cos(),
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
            Function::HyperbolicTangent => (TANGENT_FROM..TANGENT_OF_ONE).map(of_word).collect(),
            Function::Sine | Function::Cosine => sines(),
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
            // Rounded as if exact, too.
            Function::HyperbolicTangent => from_f64(self.exact(to_f64(number))),
            Function::Sine | Function::Cosine => self.circular(magnitude, is_negative),
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

    /// Sine and cosine: of the angle as a part of a turn, in which whole turns do not count, the quarter says the sign, and the bits
    /// within the quarter choose the sine.
    fn circular(self, magnitude: u16, is_negative: bool) -> u16 {
        let (exponent, fraction) = (magnitude / FRACTIONS, magnitude % FRACTIONS);
        let is_sine = self == Function::Sine;
        match exponent {
            _ if magnitude >= INFINITY => return NOT_A_NUMBER,
            exponent if exponent < ANGLE_EXPONENT => {
                let sign = if is_negative { SIGN } else { 0 };
                return if is_sine { magnitude | sign } else { word(BIAS, 0) };
            }
            _ => {}
        }
        let step = exponent - ANGLE_EXPONENT;
        let turns = u32::from(self.entry(step)) << TURN_BITS | u32::from(self.entry(step + TURN_BITS));
        let significand = u32::from(fraction + FRACTIONS);
        // The entries are rounded down: by half a bit in the mean.
        let angle = significand.wrapping_mul(turns).wrapping_add(significand >> 1);
        let angle = i64::from(if is_sine { angle } else { angle.wrapping_add(QUARTER as u32) });
        let within = if angle & QUARTER == 0 { angle % QUARTER } else { QUARTER - angle % QUARTER };
        let is_small = within < SMALL_ANGLE;
        let digits = within >> if is_small { SMALL_ANGLE_BITS } else { LARGE_ANGLE_BITS };
        let exponent = from_integer(digits) / FRACTIONS;
        let index = ((digits << (QUARTER_EXPONENT - exponent)) >> (TURN_BITS - ANGLE_INDEX_BITS)) as u16;
        let first = 1 << (ANGLE_INDEX_BITS - 1);
        let sine = match is_small {
            true => word(exponent - SMALL_SCALE, self.entry(SINE_OF_SMALL + 1 + index - first)),
            false => self.entry(SINE_OF_LARGE + (exponent - LARGE_ANGLE_EXPONENT) * first + index - first),
        };
        let is_below = (angle >= 2 * QUARTER) ^ (is_sine && is_negative);
        if is_below { sine | SIGN } else { sine }
    }

    fn entry(self, index: u16) -> u16 {
        use std::sync::OnceLock;
        static TABLES: [OnceLock<Vec<u16>>; Function::ALL.len()] = [const { OnceLock::new() }; Function::ALL.len()];
        TABLES[self as usize].get_or_init(|| self.table())[usize::from(index)]
    }
}

/// The table of sine and cosine.
fn sines() -> Vec<u16> {
    let bit = |place: i32| match usize::try_from(place) {
        Ok(place) => (BITS_OF_TURN[place / 32] >> (31 - place % 32) & 1) as u16,
        Err(_) => 0,
    };
    // A turn has two more bits before the point than a quarter.
    let turns = |exponent: u16| {
        let first = i32::from(exponent) - i32::from(BIAS) - FRACTION_BITS as i32 - 2;
        (0..i32::from(TURN_BITS)).fold(0, |word, place| word << 1 | bit(first + place))
    };
    let first = 1 << (ANGLE_INDEX_BITS - 1);
    // The middle of the angles with these bits, between one and two.
    let angle = |index: u16| (f64::from(index) + 0.5) / f64::from(first) * std::f64::consts::FRAC_PI_2;
    let small = |index: u16| from_f64(angle(index)) - word(BIAS, 0);
    let large = |exponent: u16| {
        let scale = f64::from(1 << (QUARTER_EXPONENT - exponent));
        (first..2 * first).map(move |index| from_f64((angle(index) / scale).sin()))
    };
    let all = (ANGLE_EXPONENT..ANGLE_EXPONENT + SINE_OF_SMALL).map(turns);
    let all = all.chain((first - 1..2 * first).map(small));
    all.chain((LARGE_ANGLE_EXPONENT..QUARTER_EXPONENT).flat_map(large)).collect()
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
                Function::SquareRoot | Function::Reciprocal | Function::HyperbolicTangent => 0,
                Function::Exponential => 609,
                Function::Logarithm => 579,
                Function::Sine => 3388,
                Function::Cosine => 3064,
            };
            assert_eq!(wrong, limit, "{}", function.name());
        }
    }

    #[test]
    fn tables_have_their_parts() {
        let lengths = Function::ALL.map(|function| function.table().len());
        assert_eq!(lengths, [384, 512, 272, 512, 736, 1942, 1942]);
        for number in 0..INFINITY {
            let tangent = match number {
                ..TANGENT_FROM => number,
                TANGENT_FROM..TANGENT_OF_ONE => Function::HyperbolicTangent.entry(number - TANGENT_FROM),
                TANGENT_OF_ONE.. => word(BIAS, 0),
            };
            assert_eq!(tangent, Function::HyperbolicTangent.apply(number), "{number:#x}");
        }
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
