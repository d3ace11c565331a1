//! Operations of numbers with a fraction in datapaths, whose words are unsigned integers there.

use pushmem_float::{Format, SIGN};
use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;

/// The weight of the high byte of an integer.
const HIGH_BYTE: i64 = 256;

impl Graph<'_> {
    /// The word of a number as a constant.
    fn number(&mut self, format: Format, integer: i64) -> usize {
        self.constant(format.from_integer(integer).into(), Type::U16)
    }

    /// The same number with the other sign.
    pub fn float_negative(&mut self, word: usize) -> usize {
        let sign = self.constant(SIGN.into(), Type::U16);
        self.binary(Binary::Xor, word, sign)
    }

    /// The same number without its sign.
    pub fn float_magnitude(&mut self, word: usize) -> usize {
        let others = self.constant((!SIGN).into(), Type::U16);
        self.binary(Binary::And, word, others)
    }

    /// The lesser of two numbers, or the greater, by one comparison.
    pub fn float_extreme(&mut self, format: Format, greatest: bool, left: usize, right: usize) -> usize {
        let (one, other) = if greatest { (right, left) } else { (left, right) };
        let is_left = self.binary(Binary::FloatLess(format), one, other);
        self.select(is_left, left, right)
    }

    /// The word of the number nearest to an integer of at most 16 bits, or to a truth value.
    pub fn float_from(&mut self, format: Format, integer: usize) -> usize {
        let from = self.value(integer);
        if from == Type::Bool {
            let (one, zero) = (self.number(format, 1), self.number(format, 0));
            return self.select(integer, one, zero);
        }
        if Type::I16.holds(from.min()) && Type::I16.holds(from.max())
            || self.vertices[integer].range.1 <= Type::I16.max()
        {
            let word = self.cast(integer, Type::I16);
            return self.unary(Unary::FloatFromInteger(format), word);
        }
        // Both bytes are numbers as they are, so that only their sum is rounded.
        let (eight, mask) = (self.constant(8, from), self.constant(HIGH_BYTE - 1, from));
        let (high, low) = (self.binary(Binary::ShiftRight, integer, eight), self.binary(Binary::And, integer, mask));
        let (high, low) = (self.float_from(format, high), self.float_from(format, low));
        let weight = self.number(format, HIGH_BYTE);
        let high = self.binary(Binary::FloatMultiply(format), high, weight);
        self.binary(Binary::FloatAdd(format), high, low)
    }

    /// The integer of at most 16 bits nearest to a number, towards zero.
    pub fn float_to(&mut self, format: Format, word: usize, value: Type) -> usize {
        let signed = self.unary(Unary::FloatToInteger(format), word);
        if value.bits() < Type::I16.bits() || value == Type::I16 {
            let (least, greatest) = (self.constant(value.min(), Type::I16), self.constant(value.max(), Type::I16));
            let limited = self.binary(Binary::Minimum, signed, greatest);
            let limited = self.binary(Binary::Maximum, limited, least);
            return self.cast(limited, value);
        }
        // From 2^15 on a number is a multiple of what its last bit counts there.
        let zero = self.constant(0, Type::I16);
        let natural = self.binary(Binary::Maximum, signed, zero);
        let natural = self.cast(natural, value);
        let amount = i64::from(Type::I16.bits() - 1 - format.fraction_bits());
        let weight = self.constant(format.from_f64(1.0 / f64::from(1 << amount)).into(), Type::U16);
        let scaled = self.binary(Binary::FloatMultiply(format), word, weight);
        let scaled = self.unary(Unary::FloatToInteger(format), scaled);
        let scaled = self.cast(scaled, value);
        let amount = self.constant(amount, value);
        let multiple = self.binary(Binary::ShiftLeft, scaled, amount);
        let (half, end) = (self.number(format, value.max() / 2 + 1), self.number(format, value.max() + 1));
        let (is_large, is_beyond) = (
            self.binary(Binary::FloatLessEqual(format), half, word),
            self.binary(Binary::FloatLessEqual(format), end, word),
        );
        let greatest = self.constant(value.max(), value);
        let large = self.select(is_beyond, greatest, multiple);
        self.select(is_large, large, natural)
    }
}
