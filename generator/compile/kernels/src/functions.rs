//! Functions of bfloat16 numbers in datapaths: a look-up in the table of the function, and operations of integers on the words around it.

use pushmem_bfloat::parts::{
    BINARY_OF_EULER, LARGE_POWER, LOGARITHM_BITS, LOGARITHM_OF_FRACTION, LOGARITHM_OF_SUBNORMAL, LOGARITHM_OF_TWO,
    NO_POWER, POWER_BITS, POWER_INDEX_BITS, PRODUCT_BITS, RECIPROCAL_OF_LARGE, RECIPROCAL_OF_LARGEST,
    RECIPROCAL_OF_SUBNORMAL, ROOT_OF_SUBNORMAL, ROUNDED_BITS, SMALL_POWER, SUBNORMAL_POWER, SUBNORMAL_POWER_BITS,
};
use pushmem_bfloat::{BIAS, FRACTION, FRACTIONS, Function, INFINITY, NOT_A_NUMBER, SIGN};
use pushmem_nest::{Binary, Type};

use crate::graph::Graph;
use crate::node::NodeKind;

/// The word of a number in its parts.
struct Parts {
    word: usize,
    /// The word without its sign.
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
    pub fn bfloat_function(&mut self, function: Function, word: usize) -> usize {
        let (others, sign, zero) = (self.word(!SIGN), self.word(SIGN), self.word(0));
        let magnitude = self.binary(Binary::And, word, others);
        let (bits, fractions) = (self.word(FRACTION as u16), self.word(FRACTIONS - 1));
        let exponent = self.binary(Binary::ShiftRight, magnitude, bits);
        let fraction = self.binary(Binary::And, magnitude, fractions);
        let own_sign = self.binary(Binary::And, word, sign);
        let is_negative = self.binary(Binary::NotEqual, own_sign, zero);
        let first = self.word(FRACTIONS);
        let is_small = self.binary(Binary::Less, magnitude, first);
        let parts = Parts { word, magnitude, exponent, fraction, is_negative, is_small };
        let regular = match function {
            Function::SquareRoot => self.root(&parts),
            Function::Reciprocal => self.reciprocal(&parts),
            Function::Exponential => self.power(&parts),
            Function::Logarithm => self.logarithm(&parts),
        };
        let (infinity, no_number) = (self.word(INFINITY), self.word(NOT_A_NUMBER));
        let is_no_number = self.binary(Binary::Less, infinity, magnitude);
        self.select(is_no_number, no_number, regular)
    }

    fn word(&mut self, word: u16) -> usize {
        self.constant(word.into(), Type::U16)
    }

    /// An entry of the table of a function.
    fn entry(&mut self, function: Function, index: usize) -> usize {
        let table = self.tables.iter().position(|table| table.function == Some(function));
        let table = table.expect("a program has the tables of its functions");
        self.node(NodeKind::Lookup { table, index }, Type::U16)
    }

    fn plus(&mut self, number: usize, constant: u16) -> usize {
        let constant = self.word(constant);
        self.binary(Binary::Add, number, constant)
    }

    /// Whether a magnitude is at least this.
    fn is_from(&mut self, magnitude: usize, least: u16) -> usize {
        let least = self.word(least);
        self.binary(Binary::LessEqual, least, magnitude)
    }

    /// The first bits of a word, moved to those of an exponent.
    fn as_exponent(&mut self, exponent: usize) -> usize {
        let bits = self.word(FRACTION as u16);
        self.binary(Binary::ShiftLeft, exponent, bits)
    }

    fn root(&mut self, parts: &Parts) -> usize {
        let &Parts { word, magnitude, exponent, fraction, is_negative, is_small } = parts;
        let both = self.word(2 * FRACTIONS - 1);
        let of_regular = self.binary(Binary::And, magnitude, both);
        let of_small = self.plus(fraction, ROOT_OF_SUBNORMAL);
        let index = self.select(is_small, of_small, of_regular);
        let entry = self.entry(Function::SquareRoot, index);
        let one = self.word(1);
        let doubled = self.plus(exponent, BIAS);
        let half = self.binary(Binary::ShiftRight, doubled, one);
        let half = self.as_exponent(half);
        let zero = self.word(0);
        let half = self.select(is_small, zero, half);
        let root = self.binary(Binary::Add, half, entry);
        let is_infinite = self.is_from(magnitude, INFINITY);
        let infinity = self.word(INFINITY);
        let root = self.select(is_infinite, infinity, root);
        // The root of zero has its sign.
        let is_zero = self.binary(Binary::Equal, magnitude, zero);
        let no_number = self.word(NOT_A_NUMBER);
        let of_negative = self.select(is_zero, word, no_number);
        self.select(is_negative, of_negative, root)
    }

    fn reciprocal(&mut self, parts: &Parts) -> usize {
        let &Parts { word, magnitude, exponent, fraction, is_small, .. } = parts;
        let [large, largest] = [253, 254];
        let (is_large, is_largest) =
            (self.is_from(magnitude, large * FRACTIONS), self.is_from(magnitude, largest * FRACTIONS));
        let zero = self.word(0);
        let (of_large, of_largest) = (self.word(RECIPROCAL_OF_LARGE), self.word(RECIPROCAL_OF_LARGEST));
        let part = self.select(is_large, of_large, zero);
        let part = self.select(is_largest, of_largest, part);
        let of_small = self.word(RECIPROCAL_OF_SUBNORMAL);
        let part = self.select(is_small, of_small, part);
        let index = self.binary(Binary::Add, part, fraction);
        let entry = self.entry(Function::Reciprocal, index);
        let large = self.word(large);
        let opposite = self.binary(Binary::Subtract, large, exponent);
        let opposite = self.as_exponent(opposite);
        let is_whole = self.binary(Binary::Or, is_small, is_large);
        let opposite = self.select(is_whole, zero, opposite);
        let reciprocal = self.binary(Binary::Add, opposite, entry);
        let is_infinite = self.is_from(magnitude, INFINITY);
        let reciprocal = self.select(is_infinite, zero, reciprocal);
        let sign = self.word(SIGN);
        let sign = self.binary(Binary::And, word, sign);
        self.binary(Binary::Or, reciprocal, sign)
    }

    fn power(&mut self, parts: &Parts) -> usize {
        let &Parts { magnitude, exponent, fraction, is_negative, .. } = parts;
        let number = |graph: &mut Self, number: i64| graph.constant(number, Type::I32);
        // The magnitude in fixed point, times the logarithm of Euler's number.
        let significand = self.plus(fraction, FRACTIONS);
        let (significand, exponent) = (self.cast(significand, Type::I32), self.cast(exponent, Type::I32));
        let unit = number(self, i64::from(BIAS) + i64::from(FRACTION) - POWER_BITS);
        let amount = self.binary(Binary::Subtract, exponent, unit);
        let fixed = self.binary(Binary::ShiftLeft, significand, amount);
        let factor = number(self, BINARY_OF_EULER);
        let product = self.binary(Binary::Multiply, fixed, factor);
        let zero = number(self, 0);
        let negative = self.binary(Binary::Subtract, zero, product);
        let product = self.select(is_negative, negative, product);
        // Its whole part is the exponent; the bits behind the point choose the entry.
        let (bits, index_bits) = (number(self, PRODUCT_BITS), number(self, PRODUCT_BITS - POWER_INDEX_BITS));
        let whole = self.binary(Binary::ShiftRight, product, bits);
        let bias = number(self, BIAS.into());
        let power = self.binary(Binary::Add, whole, bias);
        let power = self.cast(power, Type::U16);
        let power = self.as_exponent(power);
        let index = self.binary(Binary::ShiftRight, product, index_bits);
        let index = self.cast(index, Type::U16);
        let mask = self.word((1 << POWER_INDEX_BITS) - 1);
        let index = self.binary(Binary::And, index, mask);
        let is_from_small = self.is_from(magnitude, SMALL_POWER);
        let is_subnormal = self.binary(Binary::And, is_negative, is_from_small);
        let low = self.word(SUBNORMAL_POWER_BITS);
        let low = self.binary(Binary::And, magnitude, low);
        let of_subnormal = self.plus(low, SUBNORMAL_POWER);
        let index = self.select(is_subnormal, of_subnormal, index);
        let none = self.word(0);
        let power = self.select(is_subnormal, none, power);
        let entry = self.entry(Function::Exponential, index);
        let result = self.binary(Binary::Add, power, entry);
        let (is_large, is_none) = (self.is_from(magnitude, LARGE_POWER), self.is_from(magnitude, NO_POWER));
        let infinity = self.word(INFINITY);
        let of_positive = self.select(is_large, infinity, result);
        let of_negative = self.select(is_none, none, result);
        self.select(is_negative, of_negative, of_positive)
    }

    fn logarithm(&mut self, parts: &Parts) -> usize {
        let &Parts { magnitude, exponent, fraction, is_negative, is_small, .. } = parts;
        let number = |graph: &mut Self, number: i64| graph.constant(number, Type::I32);
        // From a half to two, the table has the words.
        let (from_half, to_two) =
            (self.is_from(magnitude, (BIAS - 1) * FRACTIONS), self.is_from(magnitude, (BIAS + 1) * FRACTIONS));
        let below_two = self.unary(pushmem_nest::Unary::Not, to_two);
        let is_near = self.binary(Binary::And, from_half, below_two);
        let both = self.word(2 * FRACTIONS - 1);
        let of_near = self.binary(Binary::And, magnitude, both);
        let (of_small, of_fraction) =
            (self.plus(fraction, LOGARITHM_OF_SUBNORMAL), self.plus(fraction, LOGARITHM_OF_FRACTION));
        let index = self.select(is_near, of_near, of_fraction);
        let index = self.select(is_small, of_small, index);
        let entry = self.entry(Function::Logarithm, index);
        // Elsewhere it is in fixed point.
        let bias = number(self, BIAS.into());
        let exponent = self.cast(exponent, Type::I32);
        let power = self.binary(Binary::Subtract, exponent, bias);
        let two = number(self, LOGARITHM_OF_TWO);
        let of_power = self.binary(Binary::Multiply, power, two);
        let scaled = self.cast(entry, Type::I32);
        let scaled = self.binary(Binary::Add, of_power, scaled);
        let dropped = LOGARITHM_BITS - ROUNDED_BITS;
        let (half, dropped) = (number(self, 1 << (dropped - 1)), number(self, dropped));
        let scaled = self.binary(Binary::Add, scaled, half);
        let rounded = self.binary(Binary::ShiftRight, scaled, dropped);
        let rounded = self.cast(rounded, Type::I16);
        let rounded = self.bfloat_from(rounded);
        let behind = self.word(ROUNDED_BITS as u16 * FRACTIONS);
        let far = self.binary(Binary::Subtract, rounded, behind);
        let is_whole = self.binary(Binary::Or, is_near, is_small);
        let logarithm = self.select(is_whole, entry, far);
        let (infinity, no_number, least) = (self.word(INFINITY), self.word(NOT_A_NUMBER), self.word(INFINITY | SIGN));
        let is_infinite = self.is_from(magnitude, INFINITY);
        let logarithm = self.select(is_infinite, infinity, logarithm);
        let logarithm = self.select(is_negative, no_number, logarithm);
        let zero = self.word(0);
        let is_zero = self.binary(Binary::Equal, magnitude, zero);
        self.select(is_zero, least, logarithm)
    }
}
