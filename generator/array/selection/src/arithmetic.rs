//! Arithmetic of words and of pairs of words.

use pushmem_datapaths::NodeKind;
use pushmem_nest::Binary;
use pushmem_pe::Operation;

use crate::legalize::{Legal, Legalizer};
use pushmem_cells::{Bit, Word};

impl Legalizer<'_, '_> {
    fn word_bits(&self) -> u32 {
        self.builder.spec.word_bits
    }

    pub(crate) fn as_constant(&self, node: usize) -> Option<i64> {
        match self.values.values[node].kind {
            NodeKind::Constant(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn sum(&mut self, node: usize, subtracts: bool, left: usize, right: usize) -> Legal {
        let (one, other) = (self.range(left), self.range(right));
        let exact = match subtracts {
            true => (one.0 - other.1, one.1 - other.0),
            false => (one.0 + other.0, one.1 + other.1),
        };
        let (a, b) = (self.low(left), self.low(right));
        let (low, carry) = if subtracts { self.builder.subtract(a, b) } else { self.builder.add(a, b) };
        self.wrapped(node, Some(exact), low, |this| {
            let (a, b) = (this.high(left), this.high(right));
            match subtracts {
                true => this.builder.subtract_carry(a, b, carry).0,
                false => this.builder.add_carry(a, b, carry).0,
            }
        })
    }

    pub(crate) fn product(&mut self, node: usize, left: usize, right: usize) -> Legal {
        let (one, other) = (self.range(left), self.range(right));
        // Beyond 64 bits, the product wraps in any type.
        let corners = [(one.0, other.0), (one.0, other.1), (one.1, other.0), (one.1, other.1)];
        let corners = corners.map(|(one, other)| one.checked_mul(other));
        let least = corners.iter().copied().min().flatten();
        let greatest = corners.iter().copied().max().flatten();
        let (a, b) = (self.low(left), self.low(right));
        let low = self.builder.multiply(a, b);
        self.wrapped(node, least.zip(greatest), low, |this| this.product_high(left, right))
    }

    /// The high word of a product of values that are words or pairs.
    fn product_high(&mut self, left: usize, right: usize) -> Word {
        let (a, b) = (self.low(left), self.low(right));
        if let Some(signed) = self.common_sign(left, right) {
            return self.builder.multiply_high(a, b, signed);
        }
        let (a_high, b_high) = (self.high(left), self.high(right));
        let low = self.builder.multiply_high(a, b, false);
        let (one, other) = (self.builder.multiply(a, b_high), self.builder.multiply(a_high, b));
        let crossed = self.builder.add(one, other).0;
        self.builder.add(low, crossed).0
    }

    pub(crate) fn bitwise(&mut self, node: usize, operation: Operation, left: usize, right: usize) -> Legal {
        // Bits beyond those of the type are as those of the operands: all like the sign, or 0.
        self.word_by_word(node, left, right, |builder, a, b| builder.bitwise(operation, a, b))
    }

    pub(crate) fn shift(&mut self, node: usize, is_left: bool, value: usize, amount: usize) -> Legal {
        match self.as_constant(amount) {
            Some(amount) => {
                let amount = if is_left { amount } else { -amount };
                self.shift_by_constant(node, value, amount)
            }
            None => self.shift_by_value(node, is_left, value, amount),
        }
    }

    /// `value · 2^amount`, rounded down.
    pub(crate) fn shift_by_constant(&mut self, node: usize, value: usize, amount: i64) -> Legal {
        let bits = i64::from(self.word_bits());
        let (least, greatest) = self.range(value);
        if amount >= 0 {
            let low = self.low(value);
            let beyond = amount >= i64::from(self.values.values[node].value.bits());
            let shifted = if beyond { Word::Constant(0) } else { self.left(low, amount) };
            let exact = (!beyond).then(|| (least << amount, greatest << amount));
            return self.wrapped(node, exact, shifted, |this| match amount >= bits {
                _ if beyond => Word::Constant(0),
                true => this.left(low, amount - bits),
                false => {
                    let high = this.high(value);
                    let high = this.left(high, amount);
                    let carried = this.builder.shift(Operation::ShiftRightUnsigned, low, (bits - amount) as u32);
                    this.builder.bitwise(Operation::Or, high, carried)
                }
            });
        }
        let amount = -amount;
        if self.is_narrow(value) {
            let low = self.low(value);
            let operation = self.right(value);
            return Legal::Word(self.builder.shift(operation, low, amount.min(bits) as u32));
        }
        let low = self.shifted_pair(value, amount);
        if self.is_narrow(node) {
            return Legal::Word(low);
        }
        let (high, operation) = (self.high(value), self.right(value));
        Legal::Pair(low, self.builder.shift(operation, high, amount.min(bits) as u32))
    }

    fn left(&mut self, word: Word, amount: i64) -> Word {
        self.builder.shift(Operation::ShiftLeft, word, amount.min(32) as u32)
    }

    /// The shift to the right of a word that is a value, or its high word.
    fn right(&self, value: usize) -> Operation {
        let is_without_sign = || self.range(value).1 >> (self.word_bits() - 1) == 0;
        match self.is_natural(value) {
            // The highest bit of the word is 0, which both copy.
            true if !self.builder.has(Operation::ShiftRightUnsigned) && self.is_narrow(value) && is_without_sign() => {
                Operation::ShiftRightSigned
            }
            true => Operation::ShiftRightUnsigned,
            false => Operation::ShiftRightSigned,
        }
    }

    /// The low word of a value of two words, shifted to the right.
    fn shifted_pair(&mut self, value: usize, amount: i64) -> Word {
        let bits = i64::from(self.word_bits());
        if let Some(word) = self.middle(value, amount) {
            return word;
        }
        let high = self.high(value);
        if amount >= bits {
            let operation = self.right(value);
            return self.builder.shift(operation, high, (amount - bits).min(bits) as u32);
        }
        let low = self.low(value);
        let low = self.builder.shift(Operation::ShiftRightUnsigned, low, amount as u32);
        let carried = self.left(high, bits - amount);
        self.builder.bitwise(Operation::Or, low, carried)
    }

    /// The word in the middle of a product of words, where the processing element has an operation for it.
    fn middle(&mut self, value: usize, amount: i64) -> Option<Word> {
        let NodeKind::Binary { operator: Binary::Multiply, left, right } = self.values.values[value].kind else {
            return None;
        };
        let signed = self.common_sign(left, right)?;
        if amount != i64::from(self.word_bits() / 2) {
            return None;
        }
        let (a, b) = (self.low(left), self.low(right));
        self.builder.multiply_middle(a, b, signed)
    }

    fn shift_by_value(&mut self, node: usize, is_left: bool, value: usize, amount: usize) -> Legal {
        let is_wide = !self.is_narrow(value) || !self.is_narrow(node);
        let number = if is_wide { self.pair(value) } else { [self.low(value), Word::Constant(0)] };
        let right = self.right(value);
        let [by, beyond] = self.size(amount);
        // All bits leave by an amount of two words.
        let is_word = self.builder.equal(beyond, Word::Constant(0));
        let by = self.builder.select(is_word, by, self.builder.ones());
        let shift = |this: &mut Self, is_left: bool| match (is_wide, is_left) {
            (true, true) => this.builder.shifted_left_by(number, by),
            (true, false) => this.builder.shifted_right_by(right, number, by),
            (false, true) => [this.builder.shift_by(Operation::ShiftLeft, number[0], by), Word::Constant(0)],
            (false, false) => [this.builder.shift_by(right, number[0], by), Word::Constant(0)],
        };
        let mut shifted = shift(self, is_left);
        if !self.is_natural(amount) {
            let back = shift(self, !is_left);
            let is_negative = self.is_negative(amount);
            shifted = self.builder.select_pair(is_negative, back, shifted);
        }
        self.wrapped(node, None, shifted[0], |_| shifted[1])
    }

    pub(crate) fn equal(&mut self, left: usize, right: usize) -> Bit {
        let (a, b) = (self.low(left), self.low(right));
        let low = self.builder.equal(a, b);
        if self.common_sign(left, right).is_some() {
            return low;
        }
        let (a, b) = (self.high(left), self.high(right));
        let high = self.builder.equal(a, b);
        self.builder.logic(low, high, |low, high| low && high)
    }

    /// As `common_sign`, for a comparison: numbers without the highest bit compare alike with sign and without, where the processing
    /// element has only one.
    fn compared_sign(&self, left: usize, right: usize) -> Option<bool> {
        let half = 1_i64 << (self.word_bits() - 1);
        let are_small = self.range(left).1 < half && self.range(right).1 < half;
        let has = |operation: Operation| self.builder.has(operation);
        let without_sign = has(Operation::LessUnsigned) || has(Operation::LessEqualUnsigned);
        self.common_sign(left, right).map(|signed| signed || (are_small && !without_sign))
    }

    pub(crate) fn less(&mut self, left: usize, right: usize) -> Bit {
        match self.compared_sign(left, right) {
            Some(signed) => {
                let (a, b) = (self.low(left), self.low(right));
                self.builder.less(a, b, signed)
            }
            None => !self.not_less(left, right),
        }
    }

    pub(crate) fn less_equal(&mut self, left: usize, right: usize) -> Bit {
        match self.compared_sign(left, right) {
            Some(signed) => {
                let (a, b) = (self.low(left), self.low(right));
                self.builder.less_equal(a, b, signed)
            }
            None => self.not_less(right, left),
        }
    }

    /// `left >= right` of pairs: no borrow of the difference, with the signs inverted if there are some.
    fn not_less(&mut self, left: usize, right: usize) -> Bit {
        let (a, b) = (self.low(left), self.low(right));
        let no_borrow = self.builder.subtract(a, b).1;
        let (mut a, mut b) = (self.high(left), self.high(right));
        if !self.is_natural(left) || !self.is_natural(right) {
            let sign = Word::Constant(1 << (self.word_bits() - 1));
            a = self.builder.bitwise(Operation::Xor, a, sign);
            b = self.builder.bitwise(Operation::Xor, b, sign);
        }
        self.builder.subtract_carry(a, b, no_borrow).1
    }

    pub(crate) fn extreme(&mut self, node: usize, greatest: bool, left: usize, right: usize) -> Legal {
        if let Some(signed) = self.common_sign(left, right) {
            let (a, b) = (self.low(left), self.low(right));
            return Legal::Word(self.builder.extreme(greatest, a, b, signed));
        }
        let less = self.less(left, right);
        let chosen = if greatest { !less } else { less };
        self.word_by_word(node, left, right, |builder, a, b| builder.select(chosen, a, b))
    }

    pub(crate) fn absolute_difference(&mut self, node: usize, left: usize, right: usize) -> Legal {
        let (a, b) = (self.low(left), self.low(right));
        if let Some(signed) = self.common_sign(left, right) {
            let (one, other) = (self.range(left), self.range(right));
            let half = 1_i64 << (self.word_bits() - 1);
            let fits = one.1 - other.0 < half && other.1 - one.0 < half;
            return Legal::Word(self.builder.absolute_difference(a, b, signed, fits));
        }
        let (a_high, b_high) = (self.high(left), self.high(right));
        let is_less = self.less(left, right);
        let ((low, no_borrow), (opposite, opposite_no_borrow)) =
            (self.builder.subtract(a, b), self.builder.subtract(b, a));
        let chosen = self.builder.select(is_less, opposite, low);
        self.wrapped(node, None, chosen, |this| {
            let high = this.builder.subtract_carry(a_high, b_high, no_borrow).0;
            let opposite = this.builder.subtract_carry(b_high, a_high, opposite_no_borrow).0;
            this.builder.select(is_less, opposite, high)
        })
    }
}
