//! Division and modulo.
//!
//! By a constant, a quotient is the high word of a product (Granlund and Montgomery, "Division by invariant integers using
//! multiplication", PLDI 1994). By another value it is a product with a [reciprocal](crate::reciprocal) from a table, or takes a row
//! of processing elements for each of its bits.

use pushmem_pe::Operation;

use crate::legalize::{Legal, Legalizer};
use crate::pairs::Pair;
use pushmem_cells::{Bit, Word};

impl Legalizer<'_, '_> {
    pub(crate) fn division(&mut self, node: usize, is_modulo: bool, left: usize, right: usize) -> Legal {
        let Some(divisor) = self.as_constant(right) else {
            return self.division_by_value(node, is_modulo, left, right);
        };
        let size = divisor.unsigned_abs();
        if size == 0 {
            return Legal::Word(Word::Constant(0));
        }
        if size.is_power_of_two() && is_modulo {
            return self.low_bits(node, left, size.trailing_zeros());
        }
        if size.is_power_of_two() && divisor > 0 {
            return self.shift_by_constant(node, left, -i64::from(size.trailing_zeros()));
        }
        self.division_by_constant(node, is_modulo, left, divisor)
    }

    /// The quotient by a constant, or the remainder.
    fn division_by_constant(&mut self, node: usize, is_modulo: bool, left: usize, divisor: i64) -> Legal {
        let (number, sign, greatest) = self.without_sign(left);
        let size = divisor.unsigned_abs();
        let quotient = self.builder.quotient_of_pair(number, greatest, size);
        let quotient = quotient.map(|word| self.builder.bitwise(Operation::Xor, word, sign));
        let result = match (is_modulo, divisor < 0) {
            (true, _) => {
                let size = self.builder.pair(size);
                self.remainder(left, quotient, size)
            }
            (false, true) => self.builder.negative(quotient),
            (false, false) => quotient,
        };
        self.fitted(node, result)
    }

    /// A value modulo a power of two.
    fn low_bits(&mut self, node: usize, left: usize, bits: u32) -> Legal {
        let word_bits = self.builder.spec.word_bits;
        let mask = |bits: u32| Word::Constant((1_u64 << bits.min(word_bits)).wrapping_sub(1) as u32);
        let low = self.low(left);
        let low = self.builder.bitwise(Operation::And, low, mask(bits));
        if self.is_narrow(node) {
            return Legal::Word(low);
        }
        let high = self.high(left);
        Legal::Pair(low, self.builder.bitwise(Operation::And, high, mask(bits.saturating_sub(word_bits))))
    }

    /// A value without its sign, its sign as a mask, and the greatest value that it can have: `n` of `n >= 0` and `-n - 1` of
    /// others. Their quotients differ by the mask, too, because division rounds down.
    pub(crate) fn without_sign(&mut self, node: usize) -> (Pair, Word, u64) {
        let (least, greatest) = self.range(node);
        let low = self.low(node);
        let number = if self.is_narrow(node) { [low, Word::Constant(0)] } else { [low, self.high(node)] };
        if least >= 0 {
            return (number, Word::Constant(0), greatest as u64);
        }
        let [low, high] = number;
        let sign = self.builder.sign(if self.is_narrow(node) { low } else { high });
        let high = if self.is_narrow(node) { high } else { self.builder.bitwise(Operation::Xor, high, sign) };
        let low = self.builder.bitwise(Operation::Xor, low, sign);
        ([low, high], sign, greatest.max(-least - 1) as u64)
    }

    fn division_by_value(&mut self, node: usize, is_modulo: bool, left: usize, right: usize) -> Legal {
        if let Some(plan) = self.plan_of_tables(is_modulo, left, right) {
            return self.division_by_tables(node, is_modulo, left, right, plan);
        }
        let size = self.size(right);
        let (number, sign, greatest) = self.without_sign(left);
        let (least, most) = self.range(right);
        let quotient = self.long_division(number, greatest, size, least.unsigned_abs().max(most.unsigned_abs()));
        let quotient = quotient.map(|word| self.builder.bitwise(Operation::Xor, word, sign));
        self.finished_by_value(node, is_modulo, (left, right), quotient, self.may_be_zero(right))
    }

    /// The words of a value, with its sign in the high one.
    pub(crate) fn pair(&mut self, node: usize) -> Pair {
        [self.low(node), self.high(node)]
    }

    /// The absolute value of a number.
    pub(crate) fn size(&mut self, node: usize) -> Pair {
        let number = self.pair(node);
        if self.is_natural(node) {
            return number;
        }
        if self.is_narrow(node) {
            return [self.builder.absolute(number[0]), Word::Constant(0)];
        }
        let is_negative = self.is_negative(node);
        let negative = self.builder.negative(number);
        self.builder.select_pair(is_negative, negative, number)
    }

    pub(crate) fn is_negative(&mut self, node: usize) -> Bit {
        let highest = if self.is_narrow(node) { self.low(node) } else { self.high(node) };
        self.builder.less(highest, Word::Constant(0), true)
    }

    /// The quotient with the sign of a divisor that is a value, or the remainder; 0 if the divisor is 0 and that is not so yet.
    pub(crate) fn finished_by_value(
        &mut self,
        node: usize,
        is_modulo: bool,
        (left, right): (usize, usize),
        quotient: Pair,
        fixes_zero: bool,
    ) -> Legal {
        let mut result = quotient;
        if is_modulo {
            let size = self.size(right);
            result = self.remainder(left, quotient, size);
        } else if !self.is_natural(right) {
            let opposite = self.builder.negative(quotient);
            let is_negative = self.is_negative(right);
            result = self.builder.select_pair(is_negative, opposite, quotient);
        }
        if fixes_zero {
            let [low, high] = self.pair(right);
            let bits = if self.is_narrow(right) { low } else { self.builder.bitwise(Operation::Or, low, high) };
            let is_zero = self.builder.equal(bits, Word::Constant(0));
            result = self.builder.select_pair(is_zero, [Word::Constant(0); 2], result);
        }
        self.fitted(node, result)
    }

    /// The quotient of numbers without sign, a bit after the other. Any number if the divisor, of at most `most`, is 0.
    fn long_division(&mut self, [low, high]: Pair, greatest: u64, divisor: Pair, most: u64) -> Pair {
        let bits = self.builder.spec.word_bits;
        let steps = u64::BITS - greatest.leading_zeros();
        let is_wide = most >> bits > 0;
        let overflows = most > 1 << (if is_wide { 2 * bits } else { bits } - 1);
        let mut rest = [Word::Constant(0); 2];
        let parts = [(high, steps.saturating_sub(bits)), (low, steps.min(bits))];
        let [high, low] = parts.map(|(word, steps)| {
            // Bits of the dividend leave at the left end of this word, and those of the quotient enter at its right end.
            let mut both = self.builder.shift(Operation::ShiftLeft, word, bits - steps);
            let mut is_in = Bit::constant(false);
            for _ in 0..steps {
                let (next, bit) = self.builder.add_carry(both, both, is_in);
                both = next;
                let (doubled, overflow) = self.builder.doubled(rest, bit, is_wide);
                let (less, no_borrow) = self.builder.subtract_pair(doubled, divisor, is_wide);
                is_in = match overflows {
                    true => self.builder.logic(overflow, no_borrow, |overflow, no_borrow| overflow || no_borrow),
                    false => no_borrow,
                };
                rest = self.builder.select_pair(is_in, less, doubled);
            }
            self.builder.add_carry(both, both, is_in).0
        });
        [low, high]
    }

    /// The dividend less the product of a quotient and the size of the divisor.
    fn remainder(&mut self, left: usize, quotient: Pair, size: Pair) -> Pair {
        let dividend = self.pair(left);
        let product = self.builder.product_of_pairs(quotient, size);
        self.builder.subtract_pair(dividend, product, true).0
    }

    /// A quotient or a remainder as a value of its type: only the quotient of the least number of the type by -1 wraps.
    fn fitted(&mut self, node: usize, [low, high]: Pair) -> Legal {
        let value = self.values.values[node].value;
        match self.is_narrow(node) {
            true if self.is_natural(node) => Legal::Word(low),
            true => {
                let bits = value.bits().min(self.builder.spec.word_bits);
                Legal::Word(self.builder.extended(low, bits, value.is_signed()))
            }
            false => Legal::Pair(low, high),
        }
    }
}
