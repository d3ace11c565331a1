//! Functions of numbers with a fraction in datapaths: a look-up in the table of the function, and operations of integers on the words around it.

use itertools::Itertools;
use pushmem_float::{
    ANGLE_EXPONENT, ANGLE_INDEX_BITS, BINARY_OF_EULER, Constants, Format, Function, LARGE_ANGLE_BITS,
    LARGE_ANGLE_EXPONENT, LOGARITHM_BITS, LOGARITHM_OF_TWO, QUARTER, QUARTER_EXPONENT, SIGN, SINE_OF_LARGE,
    SINE_OF_SMALL, SMALL_ANGLE, SMALL_ANGLE_BITS, SMALL_SCALE, TABLE_BITS, TABLE_WORDS, TURN_BITS,
};
use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;
use pushmem_datapaths::NodeKind;

/// The word of a number in its parts.
struct Parts {
    format: Format,
    constants: &'static Constants,
    word: usize,
    /// The word without its sign: as it is a number from 0 on with sign, processing elements need no operations without.
    magnitude: usize,
    /// The exponent, as it is in the word.
    exponent: usize,
    fraction: usize,
    is_negative: usize,
    /// Whether it is zero or a subnormal number.
    is_small: usize,
}

impl Graph<'_> {
    /// A function of the number that a word stands for.
    ///
    /// # Panics
    /// When the program has no table of the function.
    pub fn float_function(&mut self, format: Format, function: Function, word: usize) -> usize {
        let (others, zero) = (self.word(!SIGN), self.magnitude(0));
        let magnitude = self.binary(Binary::And, word, others);
        let magnitude = self.cast(magnitude, Type::I16);
        let (bits, fractions) = (self.magnitude(format.fraction_bits() as u16), self.magnitude(format.fractions() - 1));
        let exponent = self.binary(Binary::ShiftRight, magnitude, bits);
        let fraction = self.binary(Binary::And, magnitude, fractions);
        let signed = self.cast(word, Type::I16);
        let is_negative = self.binary(Binary::Less, signed, zero);
        let is_small = self.is_below(magnitude, format.fractions());
        let parts =
            Parts { format, constants: format.constants(), word, magnitude, exponent, fraction, is_negative, is_small };
        let regular = match function {
            Function::SquareRoot => self.root(&parts),
            Function::Reciprocal => self.reciprocal(&parts),
            Function::Exponential => self.power(&parts),
            Function::Logarithm => self.logarithm(&parts),
            Function::HyperbolicTangent => self.hyperbolic_tangent(&parts),
            Function::Sine | Function::Cosine => self.circular(function, &parts),
        };
        let no_number = self.word(format.not_a_number());
        let is_number = self.is_below(magnitude, format.infinity() + 1);
        self.select(is_number, regular, no_number)
    }

    fn word(&mut self, word: u16) -> usize {
        self.constant(word.into(), Type::U16)
    }

    /// A part of a word, or a word without sign.
    fn magnitude(&mut self, magnitude: u16) -> usize {
        self.constant(magnitude.into(), Type::I16)
    }

    /// An entry of the table of a function, or of the parts of the table: the high bits of the index choose one.
    fn entry(&mut self, format: Format, function: Function, index: usize) -> usize {
        let tables = self.tables.iter().positions(|table| table.function == Some((format, function))).collect_vec();
        let (last, others) = tables.split_last().expect("a program has the tables of its functions");
        if others.is_empty() {
            return self.node(NodeKind::Lookup { table: *last, index }, Type::U16);
        }
        let (bits, mask) = (self.magnitude(TABLE_BITS as u16), self.magnitude(TABLE_WORDS as u16 - 1));
        let (part, within) = (self.binary(Binary::ShiftRight, index, bits), self.binary(Binary::And, index, mask));
        let mut entry = self.node(NodeKind::Lookup { table: *last, index: within }, Type::U16);
        for (number, table) in others.iter().enumerate().rev() {
            let other = self.node(NodeKind::Lookup { table: *table, index: within }, Type::U16);
            let is_other = self.is_below(part, number as u16 + 1);
            entry = self.select(is_other, other, entry);
        }
        entry
    }

    fn plus(&mut self, number: usize, constant: u16) -> usize {
        let constant = self.magnitude(constant);
        self.binary(Binary::Add, number, constant)
    }

    /// Whether a magnitude is less than this.
    fn is_below(&mut self, magnitude: usize, limit: u16) -> usize {
        let limit = self.magnitude(limit);
        self.binary(Binary::Less, magnitude, limit)
    }

    /// A word with this exponent, and no fraction.
    fn of_exponent(&mut self, format: Format, exponent: usize) -> usize {
        let bits = self.magnitude(format.fraction_bits() as u16);
        let word = self.binary(Binary::ShiftLeft, exponent, bits);
        self.cast(word, Type::U16)
    }

    fn root(&mut self, parts: &Parts) -> usize {
        let &Parts { format, constants, word, magnitude, exponent, fraction, is_negative, is_small } = parts;
        let both = self.magnitude(2 * format.fractions() - 1);
        let of_regular = self.binary(Binary::And, magnitude, both);
        let of_small = self.plus(fraction, constants.root_of_subnormal);
        let index = self.select(is_small, of_small, of_regular);
        let entry = self.entry(format, Function::SquareRoot, index);
        let one = self.magnitude(1);
        let doubled = self.plus(exponent, format.bias());
        let half = self.binary(Binary::ShiftRight, doubled, one);
        let half = self.of_exponent(format, half);
        let none = self.word(0);
        let half = self.select(is_small, none, half);
        let root = self.binary(Binary::Add, half, entry);
        let is_finite = self.is_below(magnitude, format.infinity());
        let infinity = self.word(format.infinity());
        let root = self.select(is_finite, root, infinity);
        // The root of zero has its sign.
        let is_zero = self.is_below(magnitude, 1);
        let no_number = self.word(format.not_a_number());
        let of_negative = self.select(is_zero, word, no_number);
        self.select(is_negative, of_negative, root)
    }

    fn reciprocal(&mut self, parts: &Parts) -> usize {
        let &Parts { format, constants, word, magnitude, exponent, fraction, is_small, .. } = parts;
        let [large, largest] = [constants.large_exponent, constants.largest_exponent];
        let (below_large, below_largest) = (
            self.is_below(magnitude, large * format.fractions()),
            self.is_below(magnitude, largest * format.fractions()),
        );
        let (zero, none) = (self.magnitude(0), self.word(0));
        let (of_large, of_largest) =
            (self.magnitude(constants.reciprocal_of_large), self.magnitude(constants.reciprocal_of_largest));
        let part = self.select(below_largest, of_large, of_largest);
        let part = self.select(below_large, zero, part);
        let of_small = self.magnitude(constants.reciprocal_of_subnormal);
        let part = self.select(is_small, of_small, part);
        let index = self.binary(Binary::Add, part, fraction);
        let entry = self.entry(format, Function::Reciprocal, index);
        let large = self.magnitude(large);
        let opposite = self.binary(Binary::Subtract, large, exponent);
        let opposite = self.of_exponent(format, opposite);
        let opposite = self.select(below_large, opposite, none);
        let opposite = self.select(is_small, none, opposite);
        let reciprocal = self.binary(Binary::Add, opposite, entry);
        let is_finite = self.is_below(magnitude, format.infinity());
        let reciprocal = self.select(is_finite, reciprocal, none);
        let sign = self.word(SIGN);
        let sign = self.binary(Binary::And, word, sign);
        self.binary(Binary::Or, reciprocal, sign)
    }

    fn power(&mut self, parts: &Parts) -> usize {
        let &Parts { format, constants, magnitude, exponent, fraction, is_negative, .. } = parts;
        let number = |graph: &mut Self, number: i64| graph.constant(number, Type::I32);
        // The magnitude in fixed point, of which 16 bits are enough below a power that is infinite.
        let significand = self.plus(fraction, format.fractions());
        let unit = self
            .constant(i64::from(format.bias()) + i64::from(format.fraction_bits()) - constants.power_bits, Type::I16);
        let amount = self.binary(Binary::Subtract, exponent, unit);
        let fixed = self.binary(Binary::ShiftLeft, significand, amount);
        let fixed = self.cast(fixed, Type::U16);
        // Times the logarithm of Euler's number: the whole part is the exponent; the bits behind the point choose the entry.
        let fixed = self.cast(fixed, Type::I32);
        let factor = number(self, BINARY_OF_EULER);
        let product = self.binary(Binary::Multiply, fixed, factor);
        let zero = number(self, 0);
        let negative = self.binary(Binary::Subtract, zero, product);
        let product = self.select(is_negative, negative, product);
        let (bits, index_bits) =
            (number(self, constants.product_bits), number(self, constants.product_bits - constants.power_index_bits));
        let whole = self.binary(Binary::ShiftRight, product, bits);
        let whole = self.cast(whole, Type::I16);
        let power = self.plus(whole, format.bias());
        let power = self.of_exponent(format, power);
        let index = self.binary(Binary::ShiftRight, product, index_bits);
        let index = self.cast(index, Type::I16);
        let mask = self.magnitude((1 << constants.power_index_bits) - 1);
        let index = self.binary(Binary::And, index, mask);
        let below_small = self.is_below(magnitude, constants.small_power);
        let is_from_small = self.unary(Unary::Not, below_small);
        let is_subnormal = self.binary(Binary::And, is_negative, is_from_small);
        let low = self.magnitude(constants.subnormal_power_bits);
        let low = self.binary(Binary::And, magnitude, low);
        let of_subnormal = self.plus(low, constants.subnormal_power);
        let index = self.select(is_subnormal, of_subnormal, index);
        let none = self.word(0);
        let power = self.select(is_subnormal, none, power);
        let entry = self.entry(format, Function::Exponential, index);
        let result = self.binary(Binary::Add, power, entry);
        let (is_finite, is_there) =
            (self.is_below(magnitude, constants.large_power), self.is_below(magnitude, constants.no_power));
        let infinity = self.word(format.infinity());
        let of_positive = self.select(is_finite, result, infinity);
        let of_negative = self.select(is_there, result, none);
        self.select(is_negative, of_negative, of_positive)
    }

    fn logarithm(&mut self, parts: &Parts) -> usize {
        let &Parts { format, constants, magnitude, exponent, fraction, is_negative, is_small, .. } = parts;
        let number = |graph: &mut Self, number: i64| graph.constant(number, Type::I32);
        // From a half to two, the table has the words.
        let (below_half, below_two) = (
            self.is_below(magnitude, (format.bias() - 1) * format.fractions()),
            self.is_below(magnitude, (format.bias() + 1) * format.fractions()),
        );
        let from_half = self.unary(Unary::Not, below_half);
        let is_near = self.binary(Binary::And, from_half, below_two);
        let both = self.magnitude(2 * format.fractions() - 1);
        let of_near = self.binary(Binary::And, magnitude, both);
        let (of_small, of_fraction) = (
            self.plus(fraction, constants.logarithm_of_subnormal),
            self.plus(fraction, constants.logarithm_of_fraction),
        );
        let index = self.select(is_near, of_near, of_fraction);
        let index = self.select(is_small, of_small, index);
        let entry = self.entry(format, Function::Logarithm, index);
        // Elsewhere it is in fixed point.
        let exponent = self.cast(exponent, Type::I32);
        let two = number(self, LOGARITHM_OF_TWO);
        let of_exponent = self.binary(Binary::Multiply, exponent, two);
        let of_bias = number(self, i64::from(format.bias()) * LOGARITHM_OF_TWO);
        let of_fraction = self.cast(entry, Type::I32);
        let scaled = self.binary(Binary::Add, of_exponent, of_fraction);
        let scaled = self.binary(Binary::Subtract, scaled, of_bias);
        let dropped = LOGARITHM_BITS - constants.rounded_bits;
        let (half, dropped) = (number(self, 1 << (dropped - 1)), number(self, dropped));
        let scaled = self.binary(Binary::Add, scaled, half);
        let rounded = self.binary(Binary::ShiftRight, scaled, dropped);
        let rounded = self.cast(rounded, Type::I16);
        let rounded = self.float_from(format, rounded);
        let behind = self.word(constants.rounded_bits as u16 * format.fractions());
        let far = self.binary(Binary::Subtract, rounded, behind);
        let is_whole = self.binary(Binary::Or, is_near, is_small);
        let logarithm = self.select(is_whole, entry, far);
        let (infinity, no_number, least) =
            (self.word(format.infinity()), self.word(format.not_a_number()), self.word(format.infinity() | SIGN));
        let is_finite = self.is_below(magnitude, format.infinity());
        let logarithm = self.select(is_finite, logarithm, infinity);
        let logarithm = self.select(is_negative, no_number, logarithm);
        let is_zero = self.is_below(magnitude, 1);
        self.select(is_zero, least, logarithm)
    }

    fn hyperbolic_tangent(&mut self, parts: &Parts) -> usize {
        let &Parts { format, constants, word, magnitude, .. } = parts;
        let (is_own, is_less) =
            (self.is_below(magnitude, constants.tangent_from), self.is_below(magnitude, constants.tangent_of_one));
        let (least, zero) = (self.magnitude(constants.tangent_from), self.magnitude(0));
        let index = self.binary(Binary::Subtract, magnitude, least);
        let index = self.select(is_less, index, zero);
        let index = self.select(is_own, zero, index);
        let entry = self.entry(format, Function::HyperbolicTangent, index);
        let (own, one) = (self.cast(magnitude, Type::U16), self.word(format.one()));
        let tangent = self.select(is_less, entry, one);
        let tangent = self.select(is_own, own, tangent);
        let sign = self.word(SIGN);
        let sign = self.binary(Binary::And, word, sign);
        self.binary(Binary::Or, tangent, sign)
    }

    fn circular(&mut self, function: Function, parts: &Parts) -> usize {
        let &Parts { format, word, magnitude, exponent, fraction, is_negative, .. } = parts;
        let number = |graph: &mut Self, number: i64| graph.constant(number, Type::I32);
        // The angle, of which 32 bits behind the point are a turn. Smaller ones than the table has do not count.
        let is_none = self.is_below(magnitude, ANGLE_EXPONENT * format.fractions());
        let (least, first) = (self.magnitude(ANGLE_EXPONENT), self.magnitude(0));
        let step = self.binary(Binary::Subtract, exponent, least);
        let step = self.select(is_none, first, step);
        let next = self.plus(step, TURN_BITS);
        let (high, low) = (self.entry(format, function, step), self.entry(format, function, next));
        let (high, low) = (self.cast(high, Type::I32), self.cast(low, Type::I32));
        let bits = number(self, TURN_BITS.into());
        let high = self.binary(Binary::ShiftLeft, high, bits);
        let turns = self.binary(Binary::Or, high, low);
        let significand = self.plus(fraction, format.fractions());
        let significand = self.cast(significand, Type::I32);
        let product = self.binary(Binary::Multiply, significand, turns);
        let one = number(self, 1);
        let half = self.binary(Binary::ShiftRight, significand, one);
        let mut angle = self.binary(Binary::Add, product, half);
        let quarter = number(self, QUARTER);
        if function == Function::Cosine {
            angle = self.binary(Binary::Add, angle, quarter);
        }
        // The angle within its quarter; from the end of each second one.
        let (mask, zero) = (number(self, QUARTER - 1), number(self, 0));
        let within = self.binary(Binary::And, angle, mask);
        let rest = self.binary(Binary::Subtract, quarter, within);
        let odd = self.binary(Binary::And, angle, quarter);
        let is_even = self.binary(Binary::Equal, odd, zero);
        let within = self.select(is_even, within, rest);
        let limit = number(self, SMALL_ANGLE);
        let is_small = self.binary(Binary::Less, within, limit);
        let (of_small, of_large) = (number(self, SMALL_ANGLE_BITS), number(self, LARGE_ANGLE_BITS));
        let of_small = self.binary(Binary::ShiftRight, within, of_small);
        let of_large = self.binary(Binary::ShiftRight, within, of_large);
        let digits = self.select(is_small, of_small, of_large);
        let digits = self.cast(digits, Type::I16);
        // Its exponent and its first bits.
        let rounded = self.float_from(format, digits);
        let rounded = self.cast(rounded, Type::I16);
        let (bits, end) = (self.magnitude(format.fraction_bits() as u16), self.magnitude(QUARTER_EXPONENT));
        let exponent = self.binary(Binary::ShiftRight, rounded, bits);
        let amount = self.binary(Binary::Subtract, end, exponent);
        let aligned = self.binary(Binary::ShiftLeft, digits, amount);
        let (dropped, mask) =
            (self.magnitude(TURN_BITS - ANGLE_INDEX_BITS), self.magnitude((1 << ANGLE_INDEX_BITS) - 1));
        let index = self.binary(Binary::ShiftRight, aligned, dropped);
        let index = self.binary(Binary::And, index, mask);
        let first = 1 << (ANGLE_INDEX_BITS - 1);
        let least = self.magnitude(LARGE_ANGLE_EXPONENT);
        let block = self.binary(Binary::Subtract, exponent, least);
        let block_bits = self.magnitude(ANGLE_INDEX_BITS - 1);
        let block = self.binary(Binary::ShiftLeft, block, block_bits);
        let of_large = self.plus(index, SINE_OF_LARGE - first);
        let of_large = self.binary(Binary::Add, of_large, block);
        let small = self.magnitude(first - 1 - SINE_OF_SMALL);
        let of_small = self.binary(Binary::Subtract, index, small);
        let index = self.select(is_small, of_small, of_large);
        let entry = self.entry(format, function, index);
        let scale = self.magnitude(SMALL_SCALE);
        let exponent = self.binary(Binary::Subtract, exponent, scale);
        let (of_small, none) = (self.of_exponent(format, exponent), self.word(0));
        let scale = self.select(is_small, of_small, none);
        let value = self.binary(Binary::Add, entry, scale);
        // The second half of a turn is below zero.
        let is_below = self.binary(Binary::Less, angle, zero);
        let is_below = match function {
            Function::Sine => self.binary(Binary::Xor, is_below, is_negative),
            _ => is_below,
        };
        let (sign, one) = (self.word(SIGN), self.word(format.one()));
        let sign = self.select(is_below, sign, none);
        let value = self.binary(Binary::Or, value, sign);
        let of_none = if function == Function::Sine { word } else { one };
        let value = self.select(is_none, of_none, value);
        let is_finite = self.is_below(magnitude, format.infinity());
        let no_number = self.word(format.not_a_number());
        self.select(is_finite, value, no_number)
    }
}
