//! Operations of bfloat16 numbers in datapaths, whose words are unsigned integers there.

use pushmem_bfloat::{SIGN, from_integer};
use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;

/// The weight of the high byte of an integer.
const HIGH_BYTE: i64 = 256;

impl Graph<'_> {
    /// The word of a number as a constant.
    fn number(&mut self, integer: i64) -> usize {
        self.constant(from_integer(integer).into(), Type::U16)
    }

    /// The same number with the other sign.
    pub fn bfloat_negative(&mut self, word: usize) -> usize {
        let sign = self.constant(SIGN.into(), Type::U16);
        self.binary(Binary::Xor, word, sign)
    }

    /// The same number without its sign.
    pub fn bfloat_magnitude(&mut self, word: usize) -> usize {
        let others = self.constant((!SIGN).into(), Type::U16);
        self.binary(Binary::And, word, others)
    }

    /// The lesser of two numbers, or the greater, by one comparison.
    pub fn bfloat_extreme(&mut self, greatest: bool, left: usize, right: usize) -> usize {
        let (one, other) = if greatest { (right, left) } else { (left, right) };
        let is_left = self.binary(Binary::BfloatLess, one, other);
        self.select(is_left, left, right)
    }

    /// The word of the number nearest to an integer of at most 16 bits, or to a truth value.
    pub fn bfloat_from(&mut self, integer: usize) -> usize {
        let from = self.value(integer);
        if from == Type::Bool {
            let (one, zero) = (self.number(1), self.number(0));
            return self.select(integer, one, zero);
        }
        if Type::I16.holds(from.min()) && Type::I16.holds(from.max())
            || self.vertices[integer].range.1 <= Type::I16.max()
        {
            let word = self.cast(integer, Type::I16);
            return self.unary(Unary::BfloatFromInteger, word);
        }
        // Both bytes are numbers as they are, so that only their sum is rounded.
        let (eight, mask) = (self.constant(8, from), self.constant(HIGH_BYTE - 1, from));
        let (high, low) = (self.binary(Binary::ShiftRight, integer, eight), self.binary(Binary::And, integer, mask));
        let (high, low) = (self.bfloat_from(high), self.bfloat_from(low));
        let weight = self.number(HIGH_BYTE);
        let high = self.binary(Binary::BfloatMultiply, high, weight);
        self.binary(Binary::BfloatAdd, high, low)
    }

    /// The integer of at most 16 bits nearest to a number, towards zero.
    pub fn bfloat_to(&mut self, word: usize, value: Type) -> usize {
        let signed = self.unary(Unary::BfloatToInteger, word);
        if value.bits() < Type::I16.bits() || value == Type::I16 {
            let (least, greatest) = (self.constant(value.min(), Type::I16), self.constant(value.max(), Type::I16));
            let limited = self.binary(Binary::Minimum, signed, greatest);
            let limited = self.binary(Binary::Maximum, limited, least);
            return self.cast(limited, value);
        }
        // From 2^15 on a number is a multiple of what the high byte counts.
        let zero = self.constant(0, Type::I16);
        let natural = self.binary(Binary::Maximum, signed, zero);
        let natural = self.cast(natural, value);
        let weight = self.constant(pushmem_bfloat::from_f64(1.0 / HIGH_BYTE as f64).into(), Type::U16);
        let scaled = self.binary(Binary::BfloatMultiply, word, weight);
        let scaled = self.unary(Unary::BfloatToInteger, scaled);
        let scaled = self.cast(scaled, value);
        let eight = self.constant(8, value);
        let multiple = self.binary(Binary::ShiftLeft, scaled, eight);
        let (half, end) = (self.number(value.max() / 2 + 1), self.number(value.max() + 1));
        let (is_large, is_beyond) =
            (self.binary(Binary::BfloatLessEqual, half, word), self.binary(Binary::BfloatLessEqual, end, word));
        let greatest = self.constant(value.max(), value);
        let large = self.select(is_beyond, greatest, multiple);
        self.select(is_large, large, natural)
    }
}
