//! Numbers of two words.

use pushmem_pe::Operation;

use crate::builder::Builder;
use pushmem_cells::{Bit, Word};

/// The low and the high word of a number.
pub(crate) type Pair = [Word; 2];

impl Builder<'_> {
    /// The words of a constant.
    pub fn pair(&self, number: u64) -> Pair {
        [self.constant(number as i64), self.constant((number >> self.spec.word_bits) as i64)]
    }

    /// Twice a number, and one more if a bit is set, with the carry: of a word if it is not wide.
    pub fn doubled(&mut self, [low, high]: Pair, bit: Bit, is_wide: bool) -> (Pair, Bit) {
        let (low, carry) = self.add_carry(low, low, bit);
        match is_wide {
            true => {
                let (high, carry) = self.add_carry(high, high, carry);
                ([low, high], carry)
            }
            false => ([low, Word::Constant(0)], carry),
        }
    }

    /// `a - b`, and whether there was no borrow: of words if they are not wide.
    pub fn subtract_pair(&mut self, a: Pair, b: Pair, is_wide: bool) -> (Pair, Bit) {
        let (low, no_borrow) = self.subtract(a[0], b[0]);
        match is_wide {
            true => {
                let (high, no_borrow) = self.subtract_carry(a[1], b[1], no_borrow);
                ([low, high], no_borrow)
            }
            false => ([low, Word::Constant(0)], no_borrow),
        }
    }

    /// `-a`.
    pub fn negative(&mut self, a: Pair) -> Pair {
        self.subtract_pair([Word::Constant(0); 2], a, true).0
    }

    /// `a` if `d`, else `b`.
    pub fn select_pair(&mut self, d: Bit, a: Pair, b: Pair) -> Pair {
        [self.select(d, a[0], b[0]), self.select(d, a[1], b[1])]
    }

    /// The low words of the product of two numbers without sign.
    pub fn product_of_pairs(&mut self, a: Pair, b: Pair) -> Pair {
        let low = self.multiply(a[0], b[0]);
        let high = self.multiply_high(a[0], b[0], false);
        let (one, other) = (self.multiply(a[0], b[1]), self.multiply(a[1], b[0]));
        let crossed = self.add(one, other).0;
        [low, self.add(high, crossed).0]
    }

    /// A number without sign, shifted by a constant.
    pub fn shifted_right(&mut self, [low, high]: Pair, amount: u32) -> Pair {
        let bits = self.spec.word_bits;
        let beyond = self.shift(Operation::ShiftRightUnsigned, high, amount % bits);
        match amount {
            0 => [low, high],
            _ if amount >= bits => [beyond, Word::Constant(0)],
            _ => {
                let low = self.shift(Operation::ShiftRightUnsigned, low, amount);
                let carried = self.shift(Operation::ShiftLeft, high, bits - amount);
                [self.bitwise(Operation::Or, low, carried), beyond]
            }
        }
    }

    /// A number, shifted to the left by a word.
    pub fn shifted_left_by(&mut self, [low, high]: Pair, amount: Word) -> Pair {
        let (of_low, crossing, moved) = self.crossing(Operation::ShiftLeft, Operation::ShiftRightUnsigned, low, amount);
        let high = self.shift_by(Operation::ShiftLeft, high, amount);
        let high = self.bitwise(Operation::Or, high, crossing);
        [of_low, self.bitwise(Operation::Or, high, moved)]
    }

    /// A number, shifted to the right by a word: `right` is the shift of its high word, with sign or without.
    pub fn shifted_right_by(&mut self, right: Operation, [low, high]: Pair, amount: Word) -> Pair {
        let (of_high, crossing, moved) = self.crossing(right, Operation::ShiftLeft, high, amount);
        let low = self.shift_by(Operation::ShiftRightUnsigned, low, amount);
        let low = self.bitwise(Operation::Or, low, crossing);
        if right == Operation::ShiftRightUnsigned {
            return [self.bitwise(Operation::Or, low, moved), of_high];
        }
        // By less than a word, all of the moved word is the sign.
        let is_within = self.less(amount, Word::Constant(self.spec.word_bits), false);
        [self.select(is_within, low, moved), of_high]
    }

    /// A word, shifted by an amount, and what comes into the other word: by less than a word and by more. Shifts by more than a
    /// word leave no bit but the sign.
    fn crossing(&mut self, forward: Operation, back: Operation, word: Word, amount: Word) -> (Word, Word, Word) {
        let bits = Word::Constant(self.spec.word_bits);
        let less = self.subtract(bits, amount).0;
        let more = self.subtract(amount, bits).0;
        let shifted = self.shift_by(forward, word, amount);
        (shifted, self.shift_by(back, word, less), self.shift_by(forward, word, more))
    }
}
