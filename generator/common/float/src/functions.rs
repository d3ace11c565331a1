//! Functions of numbers, by a table each, and operations of integers on their words.
//!
//! Square root, reciprocal and hyperbolic tangent are rounded as if exact, subnormal numbers included. Exponential, logarithm, sine and
//! cosine are the number nearest to the exact one, or a neighbour of it.

use std::sync::OnceLock;

use crate::constants::{
    ANGLE_EXPONENT, ANGLE_INDEX_BITS, BINARY_OF_EULER, LARGE_ANGLE_BITS, LARGE_ANGLE_EXPONENT, LOGARITHM_BITS,
    LOGARITHM_OF_TWO, QUARTER, QUARTER_EXPONENT, SINE_OF_LARGE, SINE_OF_SMALL, SMALL_ANGLE, SMALL_ANGLE_BITS,
    SMALL_SCALE, TURN_BITS,
};
use crate::format::{Format, SIGN};

/// The most words of a table that a memory holds, a power of two.
pub const TABLE_WORDS: usize = 1 << TABLE_BITS;

/// The bits of the index of such a table.
pub const TABLE_BITS: u32 = 11;

pushmem_files::named! {
    /// A function of one number.
    #[derive(PartialOrd, Ord)]
    pub enum Function {
        /// The square root; of a number below zero there is none.
        SquareRoot = "sqrt",
        /// One, divided by the number.
        Reciprocal = "reciprocal",
        /// The power of Euler's number.
        Exponential = "exp",
        /// The natural logarithm; of a number below zero there is none.
        Logarithm = "log",
        /// The hyperbolic tangent.
        HyperbolicTangent = "tanh",
        /// The sine of an angle in radians; of an infinite one there is none.
        Sine = "sin",
        /// The cosine of an angle in radians; of an infinite one there is none.
        Cosine = "cos",
    }
}

/// The first bits behind the point of two divided by the circle's circumference of diameter one.
const BITS_OF_TURN: [u32; 6] = [0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041];

impl Function {
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

    /// Whether numbers of this format have it: sine and cosine are of bfloat16 only. Beside a multiple of a quarter of a turn, the
    /// sines of float16 need more bits of the angle than the 32 of an integer.
    pub fn is_of(self, format: Format) -> bool {
        format == Format::Bfloat16 || !matches!(self, Function::Sine | Function::Cosine)
    }

    /// The words of its table.
    ///
    /// # Panics
    /// Where the [format has no such function](Function::is_of).
    pub fn table(self, format: Format) -> Vec<u16> {
        assert!(self.is_of(format), "{format} has no `{}`", self.name());
        let (fraction_count, bias, constants) = (format.fractions(), format.bias(), format.constants());
        let fractions = || 0..fraction_count;
        let of_word = |word: u16| format.from_f64(self.exact(format.to_f64(word)));
        // The words of numbers with these exponents.
        let of_exponent = |exponent: u16| fractions().map(move |fraction| of_word(format.word(exponent, fraction)));
        match self {
            Function::SquareRoot => {
                let root = |word: u16| of_word(word) % fraction_count;
                let of_two = [bias + 1, bias].into_iter();
                let roots =
                    of_two.flat_map(|exponent| fractions().map(move |fraction| root(format.word(exponent, fraction))));
                roots.chain(of_exponent(0)).collect()
            }
            Function::Reciprocal => {
                // From one to two: the exponent is one less, but for one.
                let of_one = of_exponent(bias).map(|word| word - format.word(bias - 1, 0));
                let [large, largest] = [constants.large_exponent, constants.largest_exponent];
                of_one.chain(of_exponent(large)).chain(of_exponent(largest)).chain(of_exponent(0)).collect()
            }
            Function::Exponential => {
                let powers = 1_u16 << constants.power_index_bits;
                let power =
                    |index: u16| format.from_f64(((f64::from(index) + 0.5) / f64::from(powers)).exp2()) - format.one();
                let subnormal = (0..=constants.subnormal_power_bits).map(|low| {
                    let words = constants.small_power..constants.no_power;
                    let word = { words }.find(|word| word & constants.subnormal_power_bits == low);
                    word.map_or(0, |word| of_word(word | SIGN))
                });
                (0..powers).map(power).chain(subnormal).collect()
            }
            Function::Logarithm => {
                let near = of_exponent(bias - 1).chain(of_exponent(bias));
                let scaled = |word: u16| (format.to_f64(word).ln() * f64::from(1 << LOGARITHM_BITS)).round() as u16;
                let scaled = fractions().map(|fraction| scaled(format.word(bias, fraction)));
                near.chain(of_exponent(0)).chain(scaled).collect()
            }
            Function::HyperbolicTangent => (constants.tangent_from..constants.tangent_of_one).map(of_word).collect(),
            Function::Sine | Function::Cosine => sines(format),
        }
    }

    /// Its table in parts of at most [`TABLE_WORDS`]. If there are several, all have as many words.
    ///
    /// # Panics
    /// As [`table`](Function::table).
    pub fn tables(self, format: Format) -> Vec<Vec<u16>> {
        let mut words = self.table(format);
        if words.len() > TABLE_WORDS {
            words.resize(words.len().next_multiple_of(TABLE_WORDS), 0);
        }
        words.chunks(TABLE_WORDS).map(<[u16]>::to_vec).collect()
    }

    /// The function of a number, as the hardware computes it.
    pub fn apply(self, format: Format, number: u16) -> u16 {
        let magnitude = number & !SIGN;
        let is_negative = number & SIGN != 0;
        if magnitude > format.infinity() {
            return format.not_a_number();
        }
        // Some are rounded as if exact.
        let exact = || format.from_f64(self.exact(format.to_f64(number)));
        match self {
            Function::SquareRoot | Function::Logarithm if is_negative && magnitude > 0 => format.not_a_number(),
            Function::SquareRoot | Function::Reciprocal | Function::HyperbolicTangent => exact(),
            Function::Exponential => self.power(format, magnitude, is_negative),
            Function::Logarithm => self.logarithm(format, magnitude),
            Function::Sine | Function::Cosine => self.circular(format, magnitude, is_negative),
        }
    }

    fn power(self, format: Format, magnitude: u16, is_negative: bool) -> u16 {
        let constants = format.constants();
        let entry = |index: u16| self.entry(format, index);
        match is_negative {
            false if magnitude >= constants.large_power => return format.infinity(),
            true if magnitude >= constants.no_power => return 0,
            true if magnitude >= constants.small_power => {
                return entry(constants.subnormal_power + (magnitude & constants.subnormal_power_bits));
            }
            _ => {}
        }
        let fractions = format.fractions();
        let (exponent, significand) = (i64::from(magnitude / fractions), i64::from(magnitude % fractions + fractions));
        let bias = i64::from(format.bias());
        let amount = exponent - bias - i64::from(format.fraction_bits()) + constants.power_bits;
        let fixed = if amount >= 0 { significand << amount } else { significand >> -amount.max(-63) };
        let product = fixed * BINARY_OF_EULER * if is_negative { -1 } else { 1 };
        let index_bits = constants.power_index_bits;
        let index = product >> (constants.product_bits - index_bits) & ((1 << index_bits) - 1);
        let exponent = (product >> constants.product_bits) + bias;
        format.word(exponent as u16, entry(index as u16))
    }

    fn logarithm(self, format: Format, magnitude: u16) -> u16 {
        let (constants, fractions, bias) = (format.constants(), format.fractions(), format.bias());
        let (exponent, fraction) = (magnitude / fractions, magnitude % fractions);
        match exponent {
            _ if magnitude == 0 => format.infinity() | SIGN,
            _ if magnitude >= format.infinity() => format.infinity(),
            0 => self.entry(format, constants.logarithm_of_subnormal + fraction),
            exponent if exponent == bias - 1 || exponent == bias => self.entry(format, magnitude % (2 * fractions)),
            _ => {
                let of_fraction = i64::from(self.entry(format, constants.logarithm_of_fraction + fraction));
                let scaled = (i64::from(exponent) - i64::from(bias)) * LOGARITHM_OF_TWO + of_fraction;
                let dropped = LOGARITHM_BITS - constants.rounded_bits;
                let rounded = format.from_integer((scaled + (1 << (dropped - 1))) >> dropped);
                rounded - format.word(constants.rounded_bits as u16, 0)
            }
        }
    }

    /// Sine and cosine: of the angle as a part of a turn, in which whole turns do not count, the quarter says the sign, and the bits
    /// within the quarter choose the sine.
    fn circular(self, format: Format, magnitude: u16, is_negative: bool) -> u16 {
        let fractions = format.fractions();
        let (exponent, fraction) = (magnitude / fractions, magnitude % fractions);
        let is_sine = self == Function::Sine;
        match exponent {
            _ if magnitude >= format.infinity() => return format.not_a_number(),
            exponent if exponent < ANGLE_EXPONENT => {
                let sign = if is_negative { SIGN } else { 0 };
                return if is_sine { magnitude | sign } else { format.one() };
            }
            _ => {}
        }
        let entry = |index: u16| self.entry(format, index);
        let step = exponent - ANGLE_EXPONENT;
        let turns = u32::from(entry(step)) << TURN_BITS | u32::from(entry(step + TURN_BITS));
        let significand = u32::from(fraction + fractions);
        // The entries are rounded down: by half a bit in the mean.
        let angle = significand.wrapping_mul(turns).wrapping_add(significand >> 1);
        let angle = i64::from(if is_sine { angle } else { angle.wrapping_add(QUARTER as u32) });
        let within = if angle & QUARTER == 0 { angle % QUARTER } else { QUARTER - angle % QUARTER };
        let is_small = within < SMALL_ANGLE;
        let digits = within >> if is_small { SMALL_ANGLE_BITS } else { LARGE_ANGLE_BITS };
        let exponent = format.from_integer(digits) / fractions;
        let index = ((digits << (QUARTER_EXPONENT - exponent)) >> (TURN_BITS - ANGLE_INDEX_BITS)) as u16;
        let first = 1 << (ANGLE_INDEX_BITS - 1);
        let sine = match is_small {
            true => format.word(exponent - SMALL_SCALE, entry(SINE_OF_SMALL + 1 + index - first)),
            false => entry(SINE_OF_LARGE + (exponent - LARGE_ANGLE_EXPONENT) * first + index - first),
        };
        let is_below = (angle >= 2 * QUARTER) ^ (is_sine && is_negative);
        if is_below { sine | SIGN } else { sine }
    }

    fn entry(self, format: Format, index: u16) -> u16 {
        static TABLES: [[OnceLock<Vec<u16>>; Function::ALL.len()]; Format::ALL.len()] =
            [const { [const { OnceLock::new() }; Function::ALL.len()] }; Format::ALL.len()];
        let table = &TABLES[format as usize][self as usize];
        table.get_or_init(|| self.table(format))[usize::from(index)]
    }
}

/// The table of sine and cosine.
fn sines(format: Format) -> Vec<u16> {
    let bit = |place: i32| match usize::try_from(place) {
        Ok(place) => (BITS_OF_TURN[place / 32] >> (31 - place % 32) & 1) as u16,
        Err(_) => 0,
    };
    // A turn has two more bits before the point than a quarter.
    let turns = |exponent: u16| {
        let first = i32::from(exponent) - i32::from(format.bias()) - format.fraction_bits() as i32 - 2;
        (0..i32::from(TURN_BITS)).fold(0, |word, place| word << 1 | bit(first + place))
    };
    let first = 1 << (ANGLE_INDEX_BITS - 1);
    // The middle of the angles with these bits, between one and two.
    let angle = |index: u16| (f64::from(index) + 0.5) / f64::from(first) * std::f64::consts::FRAC_PI_2;
    let small = |index: u16| format.from_f64(angle(index)) - format.one();
    let large = |exponent: u16| {
        let scale = f64::from(1 << (QUARTER_EXPONENT - exponent));
        (first..2 * first).map(move |index| format.from_f64((angle(index) / scale).sin()))
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

    /// The functions of each format, each with the number of words whose result is a neighbour of the nearest number.
    const NEIGHBOURS: [&[(Function, u32)]; 2] = [
        &[
            (Function::SquareRoot, 0),
            (Function::Reciprocal, 0),
            (Function::Exponential, 609),
            (Function::Logarithm, 579),
            (Function::HyperbolicTangent, 0),
            (Function::Sine, 3388),
            (Function::Cosine, 3064),
        ],
        &[
            (Function::SquareRoot, 0),
            (Function::Reciprocal, 0),
            (Function::Exponential, 5440),
            (Function::Logarithm, 2508),
            (Function::HyperbolicTangent, 0),
        ],
    ];

    #[test]
    fn functions_are_rounded_to_nearest_or_a_neighbour() {
        for (format, functions) in Format::ALL.into_iter().zip(NEIGHBOURS) {
            let own = Function::ALL.into_iter().filter(|function| function.is_of(format));
            assert!(own.eq(functions.iter().map(|(function, _)| *function)));
            for (function, limit) in functions {
                let mut neighbours = 0;
                for number in 0..=u16::MAX {
                    let found = function.apply(format, number);
                    let exact = format.from_f64(function.exact(format.to_f64(number)));
                    if (exact & !SIGN) > format.infinity() {
                        assert_eq!(found, format.not_a_number(), "{} of {number:#x}", function.name());
                        continue;
                    }
                    let apart = apart(found, exact);
                    assert!(apart <= 1, "{} of {format} {number:#x}: {found:#x}, not {exact:#x}", function.name());
                    neighbours += apart;
                }
                assert_eq!(neighbours, *limit, "{} of {format}", function.name());
            }
        }
    }

    #[test]
    fn tables_have_their_parts() {
        let lengths = NEIGHBOURS.iter().zip(Format::ALL).map(|(functions, format)| {
            functions.iter().map(|(function, _)| function.table(format).len()).collect::<Vec<_>>()
        });
        let expected = [vec![384, 512, 272, 512, 677, 1942, 1942], vec![3072, 4096, 3072, 4096, 7485]];
        assert_eq!(lengths.collect::<Vec<_>>(), expected);
        let parts = Function::HyperbolicTangent.tables(Format::Float16);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [TABLE_WORDS; 4]);
        assert!(parts.concat().starts_with(&Function::HyperbolicTangent.table(Format::Float16)));
        assert_eq!(Function::Sine.tables(Format::Bfloat16), [Function::Sine.table(Format::Bfloat16)]);
        for format in Format::ALL {
            let (constants, fractions, bias) = (format.constants(), format.fractions(), format.bias());
            let (tangent_from, tangent_of_one) = (constants.tangent_from, constants.tangent_of_one);
            for number in 0..format.infinity() {
                let tangent = match number {
                    _ if number < tangent_from => number,
                    _ if number < tangent_of_one => Function::HyperbolicTangent.entry(format, number - tangent_from),
                    _ => format.one(),
                };
                assert_eq!(tangent, Function::HyperbolicTangent.apply(format, number), "{number:#x}");
            }
            // The square root and the reciprocal by their tables, as datapaths compute them.
            for number in 1..format.infinity() {
                let (exponent, fraction) = (number / fractions, number % fractions);
                let root = |index: u16| Function::SquareRoot.entry(format, index);
                let found = match exponent {
                    0 => root(constants.root_of_subnormal + fraction),
                    _ => format.word((exponent + bias) / 2, root(number % (2 * fractions))),
                };
                assert_eq!(found, Function::SquareRoot.apply(format, number), "{number:#x}");
                let reciprocal = |part: u16| Function::Reciprocal.entry(format, part + fraction);
                let found = match exponent {
                    0 => reciprocal(constants.reciprocal_of_subnormal),
                    _ if exponent == constants.large_exponent => reciprocal(constants.reciprocal_of_large),
                    _ if exponent == constants.largest_exponent => reciprocal(constants.reciprocal_of_largest),
                    _ => format.word(constants.large_exponent - exponent, reciprocal(0)),
                };
                assert_eq!(found, Function::Reciprocal.apply(format, number), "{number:#x}");
            }
        }
    }
}
