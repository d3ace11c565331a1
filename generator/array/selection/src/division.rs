//! Division and modulo.
//!
//! By a constant, a quotient is the high word of a product (Granlund and Montgomery, "Division by invariant integers using
//! multiplication", PLDI 1994). By another value it is a product with a [reciprocal](crate::reciprocal) from a table, or takes a row
//! of processing elements for each of its bits.

use pushmem_pe::Operation;

use crate::cell::{Bit, Word};
use crate::legalize::{Legal, Legalizer, Unsupported};

impl Legalizer<'_, '_> {
    pub(crate) fn division(
        &mut self,
        node: usize,
        is_modulo: bool,
        left: usize,
        right: usize,
    ) -> Result<Legal, Unsupported> {
        let Some(divisor) = self.as_constant(right) else {
            return self.division_by_value(node, is_modulo, left, right);
        };
        let size = divisor.unsigned_abs();
        if size == 0 {
            return Ok(Legal::Word(Word::Constant(0)));
        }
        if size.is_power_of_two() && is_modulo {
            return self.low_bits(node, left, size.trailing_zeros());
        }
        if size.is_power_of_two() && divisor > 0 {
            return self.shift_by_constant(node, left, -i64::from(size.trailing_zeros()));
        }
        if !self.is_narrow(left) {
            return Err(Unsupported::Wide(if is_modulo { "%" } else { "/" }));
        }
        let dividend = self.low(left)?;
        let (word, sign, greatest) = self.without_sign(left, dividend);
        let quotient = self.quotient_by_constant(word, greatest, size);
        let quotient = self.builder.bitwise(Operation::Xor, quotient, sign);
        let size = self.builder.constant(size as i64);
        Ok(match (is_modulo, divisor < 0) {
            (true, _) => {
                let remainder = self.remainder(dividend, quotient, size);
                self.fitted(node, remainder)
            }
            (false, true) => self.opposite(node, quotient, sign),
            (false, false) => self.fitted(node, quotient),
        })
    }

    /// A value modulo a power of two.
    fn low_bits(&mut self, node: usize, left: usize, bits: u32) -> Result<Legal, Unsupported> {
        let word_bits = self.builder.spec.word_bits;
        let mask = |bits: u32| Word::Constant((1_u64 << bits.min(word_bits)).wrapping_sub(1) as u32);
        let low = self.low(left)?;
        let low = self.builder.bitwise(Operation::And, low, mask(bits));
        if self.is_narrow(node) {
            return Ok(Legal::Word(low));
        }
        let high = self.high(left)?;
        Ok(Legal::Pair(low, self.builder.bitwise(Operation::And, high, mask(bits.saturating_sub(word_bits)))))
    }

    /// A value without its sign, its sign as a mask, and the greatest value that it can have: `n` of `n >= 0` and `-n - 1` of
    /// others. Their quotients differ by the mask, too, because division rounds down.
    pub(crate) fn without_sign(&mut self, node: usize, word: Word) -> (Word, Word, u64) {
        let (least, greatest) = self.range(node);
        if least >= 0 {
            return (word, Word::Constant(0), greatest as u64);
        }
        let sign = self.builder.sign(word);
        (self.builder.bitwise(Operation::Xor, word, sign), sign, greatest.max(-least - 1) as u64)
    }

    /// The quotient of a word of at most `greatest` by a constant that is no power of two.
    fn quotient_by_constant(&mut self, word: Word, greatest: u64, divisor: u64) -> Word {
        let bits = self.builder.spec.word_bits;
        if greatest < divisor {
            return Word::Constant(0);
        }
        // A divisor of at most the greatest word has fewer bits than two words.
        for shift in 0..=bits {
            let power = 1_u128 << (bits + shift);
            let factor = power.div_ceil(u128::from(divisor));
            let excess = factor * u128::from(divisor) - power;
            if excess * u128::from(greatest) >= power {
                continue;
            }
            if factor < 1 << bits {
                let high = self.builder.multiply_high(word, Word::Constant(factor as u32), false);
                return self.builder.shift(Operation::ShiftRightUnsigned, high, shift);
            }
            if shift > 0 {
                // The factor has one bit more than a word: `(n - t) / 2 + t` is `(n + t) / 2` without overflow.
                let factor = (factor - (1 << bits)) as u32;
                let high = self.builder.multiply_high(word, Word::Constant(factor), false);
                let rest = self.builder.subtract(word, high).0;
                let half = self.builder.shift(Operation::ShiftRightUnsigned, rest, 1);
                let sum = self.builder.add(half, high).0;
                return self.builder.shift(Operation::ShiftRightUnsigned, sum, shift - 1);
            }
        }
        unreachable!("some factor of one bit more than a word is exact for all words")
    }

    fn division_by_value(
        &mut self,
        node: usize,
        is_modulo: bool,
        left: usize,
        right: usize,
    ) -> Result<Legal, Unsupported> {
        if !self.is_narrow(left) || !self.is_narrow(right) {
            return Err(Unsupported::Wide(if is_modulo { "%" } else { "/" }));
        }
        if let Some(plan) = self.plan_of_tables(is_modulo, left, right) {
            return self.division_by_tables(node, is_modulo, left, right, plan);
        }
        let (dividend, divisor) = (self.low(left)?, self.low(right)?);
        let size = self.size(right, divisor);
        let (word, sign, greatest) = self.without_sign(left, dividend);
        let quotient = self.long_division(word, greatest, size, self.range(right));
        let quotient = self.builder.bitwise(Operation::Xor, quotient, sign);
        self.finished_by_value(node, is_modulo, (left, right), (quotient, sign), self.may_be_zero(right))
    }

    /// The absolute value of a divisor.
    pub(crate) fn size(&mut self, node: usize, divisor: Word) -> Word {
        if self.is_natural(node) { divisor } else { self.builder.absolute(divisor) }
    }

    /// The quotient with the sign of a divisor that is a value, or the remainder; 0 if the divisor is 0 and that is not so yet.
    /// `sign` is the high word of the quotient by the divisor without its sign.
    pub(crate) fn finished_by_value(
        &mut self,
        node: usize,
        is_modulo: bool,
        (left, right): (usize, usize),
        (quotient, sign): (Word, Word),
        fixes_zero: bool,
    ) -> Result<Legal, Unsupported> {
        let (dividend, divisor) = (self.low(left)?, self.low(right)?);
        let size = self.size(right, divisor);
        let result = match (is_modulo, !self.is_natural(right)) {
            (false, true) => {
                let opposite = self.opposite(node, quotient, sign);
                let is_negative = self.builder.less(divisor, Word::Constant(0), true);
                let same = if matches!(opposite, Legal::Pair(..)) {
                    Legal::Pair(quotient, sign)
                } else {
                    Legal::Word(quotient)
                };
                self.either(is_negative, opposite, same)
            }
            (false, false) => self.fitted(node, quotient),
            (true, _) => {
                let remainder = self.remainder(dividend, quotient, size);
                self.fitted(node, remainder)
            }
        };
        if !fixes_zero {
            return Ok(result);
        }
        let is_zero = self.builder.equal(divisor, Word::Constant(0));
        let zero = match result {
            Legal::Pair(..) => Legal::Pair(Word::Constant(0), Word::Constant(0)),
            _ => Legal::Word(Word::Constant(0)),
        };
        Ok(self.either(is_zero, zero, result))
    }

    /// A quotient with the other sign, of two words if its type needs them: -32768 / -1 and 65535 / -1 fit no word. `sign` is the
    /// high word of the quotient.
    fn opposite(&mut self, node: usize, quotient: Word, sign: Word) -> Legal {
        let (low, no_borrow) = self.builder.subtract(Word::Constant(0), quotient);
        if self.is_narrow(node) {
            return self.fitted(node, low);
        }
        let high = self.builder.subtract_carry(Word::Constant(0), sign, no_borrow).0;
        Legal::Pair(low, high)
    }

    /// One of two values with as many words each.
    fn either(&mut self, bit: Bit, one: Legal, other: Legal) -> Legal {
        match (one, other) {
            (Legal::Pair(low, high), Legal::Pair(other_low, other_high)) => {
                Legal::Pair(self.builder.select(bit, low, other_low), self.builder.select(bit, high, other_high))
            }
            (Legal::Word(one), Legal::Word(other)) => Legal::Word(self.builder.select(bit, one, other)),
            _ => unreachable!("both have one word, or both have two"),
        }
    }

    /// The quotient of words without sign, a bit after the other. Any word if the divisor is 0.
    fn long_division(&mut self, dividend: Word, greatest: u64, divisor: Word, range: (i64, i64)) -> Word {
        let bits = self.builder.spec.word_bits;
        let steps = u64::BITS - greatest.leading_zeros();
        // Bits of the dividend leave at the left end of this word, and those of the quotient enter at its right end.
        let mut both = self.builder.shift(Operation::ShiftLeft, dividend, bits - steps);
        let mut rest = Word::Constant(0);
        let mut is_in = Bit::constant(false);
        let overflows = range.1 > 1 << (bits - 1);
        for _ in 0..steps {
            let (next, bit) = self.builder.add_carry(both, both, is_in);
            both = next;
            let (doubled, overflow) = self.builder.add_carry(rest, rest, bit);
            let (less, no_borrow) = self.builder.subtract(doubled, divisor);
            is_in = match overflows {
                true => self.builder.logic(overflow, no_borrow, |overflow, no_borrow| overflow || no_borrow),
                false => no_borrow,
            };
            rest = self.builder.select(is_in, less, doubled);
        }
        self.builder.add_carry(both, both, is_in).0
    }

    fn remainder(&mut self, dividend: Word, quotient: Word, size: Word) -> Word {
        let product = self.builder.multiply(quotient, size);
        self.builder.subtract(dividend, product).0
    }

    /// A word as a value of its type, which fits a word: only the quotient of the least number of the type by -1 wraps.
    fn fitted(&mut self, node: usize, word: Word) -> Legal {
        if self.is_natural(node) {
            return Legal::Word(word);
        }
        let value = self.values.values[node].value;
        Legal::Word(self.builder.extended(word, value.bits().min(self.builder.spec.word_bits), value.is_signed()))
    }
}
