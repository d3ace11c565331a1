//! The operations of processing elements, and their meaning.

use pushmem_float::Format;

pushmem_files::named! {
    /// An operation of a processing element: of up to three words `a`, `b`, `c` and a bit `d`, it gives a word and a bit.
    ///
    /// Words wrap. The order is the order of opcodes.
    #[derive(PartialOrd, Ord)]
    pub enum Operation {
        /// `a`; the bit is `d`.
        Pass = "pass",
        /// `a + b`; the bit is the carry.
        Add = "add",
        /// `a + b + d`; the bit is the carry.
        AddCarry = "add_carry",
        /// `a - b`; the bit is the carry of `a + !b + 1`: no borrow.
        Subtract = "subtract",
        /// `a + !b + d`; the bit is the carry.
        SubtractCarry = "subtract_carry",
        /// `a + b + c`.
        AddThree = "add_three",
        /// The low word of `a · b`.
        Multiply = "multiply",
        /// `a · b + c`.
        MultiplyAdd = "multiply_add",
        /// The word in the middle of the product of unsigned words.
        MultiplyMiddleUnsigned = "multiply_middle_unsigned",
        /// The word in the middle of the product of signed words.
        MultiplyMiddleSigned = "multiply_middle_signed",
        /// The high word of the product of unsigned words.
        MultiplyHighUnsigned = "multiply_high_unsigned",
        /// The high word of the product of signed words.
        MultiplyHighSigned = "multiply_high_signed",
        /// `a << b`; 0 from the bits of a word on.
        ShiftLeft = "shift_left",
        /// `a >> b` of an unsigned word; 0 from the bits of a word on.
        ShiftRightUnsigned = "shift_right_unsigned",
        /// `a >> b` of a signed word; all bits the sign from the bits of a word on. The amount has no sign.
        ShiftRightSigned = "shift_right_signed",
        /// `a & b`.
        And = "and",
        /// `a | b`.
        Or = "or",
        /// `a ^ b`.
        Xor = "xor",
        /// The least of unsigned words; the bit is `a < b`.
        MinimumUnsigned = "minimum_unsigned",
        /// The least of signed words; the bit is `a < b`.
        MinimumSigned = "minimum_signed",
        /// The greatest of unsigned words; the bit is `a < b`.
        MaximumUnsigned = "maximum_unsigned",
        /// The greatest of signed words; the bit is `a < b`.
        MaximumSigned = "maximum_signed",
        /// `|a|` of a signed word, which is its own negative if it is the least; the bit is its sign.
        Absolute = "absolute",
        /// `|a - b|` of unsigned words; the bit is `a < b`.
        AbsoluteDifferenceUnsigned = "absolute_difference_unsigned",
        /// `|a - b|` of signed words, an unsigned word; the bit is `a < b`.
        AbsoluteDifferenceSigned = "absolute_difference_signed",
        /// `max(min(a, b), c)` of unsigned words.
        ClampUnsigned = "clamp_unsigned",
        /// `max(min(a, b), c)` of signed words.
        ClampSigned = "clamp_signed",
        /// `a` if `d`, else `b`; the bit is `d`.
        Select = "select",
        /// `a == b`, as bit and as word.
        Equal = "equal",
        /// `a < b` of unsigned words, as bit and as word.
        LessUnsigned = "less_unsigned",
        /// `a < b` of signed words, as bit and as word.
        LessSigned = "less_signed",
        /// `a <= b` of unsigned words, as bit and as word.
        LessEqualUnsigned = "less_equal_unsigned",
        /// `a <= b` of signed words, as bit and as word.
        LessEqualSigned = "less_equal_signed",
        /// The low half of `a`, with zeros above.
        ExtendUnsigned = "extend_unsigned",
        /// The low half of `a`, with its sign above.
        ExtendSigned = "extend_signed",
        /// The sum of bfloat16 numbers.
        BfloatAdd = "bfloat_add",
        /// The difference of bfloat16 numbers.
        BfloatSubtract = "bfloat_subtract",
        /// The product of bfloat16 numbers.
        BfloatMultiply = "bfloat_multiply",
        /// `a == b` of bfloat16 numbers, as bit and as word.
        BfloatEqual = "bfloat_equal",
        /// `a < b` of bfloat16 numbers, as bit and as word.
        BfloatLess = "bfloat_less",
        /// `a <= b` of bfloat16 numbers, as bit and as word.
        BfloatLessEqual = "bfloat_less_equal",
        /// The bfloat16 number nearest to a signed word.
        BfloatFromInteger = "bfloat_from_integer",
        /// The signed word of a bfloat16 number without its fraction: the nearest word if it is out of range, 0 if it is none.
        BfloatToInteger = "bfloat_to_integer",
        /// The sum of float16 numbers.
        Float16Add = "float16_add",
        /// The difference of float16 numbers.
        Float16Subtract = "float16_subtract",
        /// The product of float16 numbers.
        Float16Multiply = "float16_multiply",
        /// `a == b` of float16 numbers, as bit and as word.
        Float16Equal = "float16_equal",
        /// `a < b` of float16 numbers, as bit and as word.
        Float16Less = "float16_less",
        /// `a <= b` of float16 numbers, as bit and as word.
        Float16LessEqual = "float16_less_equal",
        /// The float16 number nearest to a signed word.
        Float16FromInteger = "float16_from_integer",
        /// The signed word of a float16 number without its fraction: the nearest word if it is out of range, 0 if it is none.
        Float16ToInteger = "float16_to_integer",
    }
}

/// An operation of numbers with a fraction, whatever their format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOperation {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// `a == b`, as bit and as word.
    Equal,
    /// `a < b`, as bit and as word.
    Less,
    /// `a <= b`, as bit and as word.
    LessEqual,
    /// The number nearest to a signed word.
    FromInteger,
    /// The signed word of a number without its fraction: the nearest word if it is out of range, 0 if it is none.
    ToInteger,
}

impl FloatOperation {
    /// The word, and the bit, for the words `a` and `b` and the signed word of `a`.
    #[inline(always)]
    fn evaluate(self, format: Format, a: u16, b: u16, integer: i64) -> (i64, bool) {
        let number = |word: u16| (i64::from(word), false);
        let flag = |flag: bool| (i64::from(flag), flag);
        match self {
            FloatOperation::Add => number(format.add(a, b)),
            FloatOperation::Subtract => number(format.subtract(a, b)),
            FloatOperation::Multiply => number(format.multiply(a, b)),
            FloatOperation::Equal => flag(format.equal(a, b)),
            FloatOperation::Less => flag(format.less(a, b)),
            FloatOperation::LessEqual => flag(format.less_equal(a, b)),
            FloatOperation::FromInteger => number(format.from_integer(integer)),
            FloatOperation::ToInteger => (format.to_integer(a, i16::MIN.into(), i16::MAX.into()), false),
        }
    }

    /// Whether it is a relation of two numbers.
    pub fn is_comparison(self) -> bool {
        matches!(self, FloatOperation::Equal | FloatOperation::Less | FloatOperation::LessEqual)
    }
}

/// The word and the bit that an operation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The word.
    pub word: u32,
    /// The bit: false for operations that do not say otherwise.
    pub bit: bool,
}

impl Operation {
    /// The format and the operation, of one of numbers with a fraction, which are words of 16 bits.
    #[inline(always)]
    pub fn float(self) -> Option<(Format, FloatOperation)> {
        use FloatOperation::{Add, Equal, FromInteger, Less, LessEqual, Multiply, Subtract, ToInteger};
        Some(match self {
            Operation::BfloatAdd => (Format::Bfloat16, Add),
            Operation::BfloatSubtract => (Format::Bfloat16, Subtract),
            Operation::BfloatMultiply => (Format::Bfloat16, Multiply),
            Operation::BfloatEqual => (Format::Bfloat16, Equal),
            Operation::BfloatLess => (Format::Bfloat16, Less),
            Operation::BfloatLessEqual => (Format::Bfloat16, LessEqual),
            Operation::BfloatFromInteger => (Format::Bfloat16, FromInteger),
            Operation::BfloatToInteger => (Format::Bfloat16, ToInteger),
            Operation::Float16Add => (Format::Float16, Add),
            Operation::Float16Subtract => (Format::Float16, Subtract),
            Operation::Float16Multiply => (Format::Float16, Multiply),
            Operation::Float16Equal => (Format::Float16, Equal),
            Operation::Float16Less => (Format::Float16, Less),
            Operation::Float16LessEqual => (Format::Float16, LessEqual),
            Operation::Float16FromInteger => (Format::Float16, FromInteger),
            Operation::Float16ToInteger => (Format::Float16, ToInteger),
            _ => return None,
        })
    }

    /// The operation of the numbers of a format.
    pub fn of_numbers(format: Format, operation: FloatOperation) -> Operation {
        let found = Operation::ALL.into_iter().find(|one| one.float() == Some((format, operation)));
        found.expect("each format has all operations")
    }

    /// Whether this is an operation of numbers with a fraction.
    pub fn has_fraction(self) -> bool {
        self.float().is_some()
    }

    /// Whether words are taken as signed.
    #[inline(always)]
    pub fn is_signed(self) -> bool {
        use Operation::*;
        matches!(
            self,
            MultiplyMiddleSigned
                | MultiplyHighSigned
                | ShiftRightSigned
                | MinimumSigned
                | MaximumSigned
                | Absolute
                | AbsoluteDifferenceSigned
                | ClampSigned
                | LessSigned
                | LessEqualSigned
                | ExtendSigned
        )
    }

    /// Whether the word is one of a product, or of a product and a word: a result of the multiplier.
    pub fn is_product(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Multiply
                | MultiplyAdd
                | MultiplyMiddleUnsigned
                | MultiplyMiddleSigned
                | MultiplyHighUnsigned
                | MultiplyHighSigned
        )
    }

    /// The number of words that the result depends on: `a`, then `b`, then `c`.
    pub fn words(self) -> usize {
        use Operation::*;
        match self {
            AddThree | MultiplyAdd | ClampUnsigned | ClampSigned => 3,
            Pass | Absolute | ExtendUnsigned | ExtendSigned => 1,
            _ if matches!(self.float(), Some((_, FloatOperation::FromInteger | FloatOperation::ToInteger))) => 1,
            _ => 2,
        }
    }

    /// Whether the result depends on the bit `d`.
    pub fn uses_bit(self) -> bool {
        matches!(self, Operation::Pass | Operation::AddCarry | Operation::SubtractCarry | Operation::Select)
    }

    /// Whether the word stays the same when `a` and `b` change places.
    pub fn commutes(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Add | AddCarry
                | AddThree
                | Multiply
                | MultiplyAdd
                | MultiplyMiddleUnsigned
                | MultiplyMiddleSigned
                | MultiplyHighUnsigned
                | MultiplyHighSigned
                | And
                | Or
                | Xor
                | MinimumUnsigned
                | MinimumSigned
                | MaximumUnsigned
                | MaximumSigned
                | AbsoluteDifferenceUnsigned
                | AbsoluteDifferenceSigned
                | ClampUnsigned
                | ClampSigned
                | Equal
        ) || matches!(self.float(), Some((_, FloatOperation::Add | FloatOperation::Multiply | FloatOperation::Equal)))
    }

    /// Whether the bit tells which of `a` and `b` is the lesser one.
    pub fn compares(self) -> bool {
        use Operation::*;
        matches!(
            self,
            MinimumUnsigned
                | MinimumSigned
                | MaximumUnsigned
                | MaximumSigned
                | AbsoluteDifferenceUnsigned
                | AbsoluteDifferenceSigned
        )
    }

    /// The result for words of `word_bits` (2 to 32; 16 for numbers with a fraction), and the bit `d`. This is the meaning of the
    /// operation, for the RTL, the model and the mapper.
    #[inline(always)]
    pub fn evaluate(self, word_bits: u32, [a, b, c]: [u32; 3], d: bool) -> Outcome {
        use Operation::*;
        let mask = u64::from(u32::MAX >> (32 - word_bits));
        let signed = |word: u32| i64::from(word) << (64 - word_bits) >> (64 - word_bits);
        let value = |word: u32| if self.is_signed() { signed(word) } else { i64::from(word) };
        let (x, y, z) = (value(a), value(b), value(c));
        let carry_of = |sum: i64| (sum as u64 >> word_bits) & 1 == 1;
        let inverted = i64::from(!b & mask as u32);
        let shifted = |amount: i64| amount.min(i64::from(word_bits)) as u32;
        let flag = |flag: bool| (i64::from(flag), flag);
        let (word, bit) = match self {
            Pass => (x, d),
            Add => (x + y, carry_of(x + y)),
            AddCarry => (x + y + i64::from(d), carry_of(x + y + i64::from(d))),
            Subtract => (x - y, carry_of(x + inverted + 1)),
            SubtractCarry => (x + inverted + i64::from(d), carry_of(x + inverted + i64::from(d))),
            AddThree => (x + y + z, false),
            Multiply => (x.wrapping_mul(y), false),
            MultiplyAdd => (x.wrapping_mul(y).wrapping_add(z), false),
            MultiplyMiddleUnsigned => (((x as u64 * y as u64) >> (word_bits / 2)) as i64, false),
            MultiplyMiddleSigned => ((x * y) >> (word_bits / 2), false),
            MultiplyHighUnsigned => (((x as u64 * y as u64) >> word_bits) as i64, false),
            MultiplyHighSigned => ((x * y) >> word_bits, false),
            ShiftLeft => (x << shifted(y), false),
            ShiftRightUnsigned => (x >> shifted(y), false),
            ShiftRightSigned => (x >> shifted(i64::from(b)), false),
            And => (x & y, false),
            Or => (x | y, false),
            Xor => (x ^ y, false),
            MinimumUnsigned | MinimumSigned => (x.min(y), x < y),
            MaximumUnsigned | MaximumSigned => (x.max(y), x < y),
            Absolute => (x.abs(), x < 0),
            AbsoluteDifferenceUnsigned | AbsoluteDifferenceSigned => ((x - y).abs(), x < y),
            ClampUnsigned | ClampSigned => (x.min(y).max(z), false),
            Select => (if d { x } else { y }, d),
            Equal => flag(x == y),
            LessUnsigned | LessSigned => flag(x < y),
            LessEqualUnsigned | LessEqualSigned => flag(x <= y),
            ExtendUnsigned => (x & (mask as i64 >> (word_bits - word_bits / 2)), false),
            ExtendSigned => (x << (64 - word_bits / 2) >> (64 - word_bits / 2), false),
            _ => {
                let (format, operation) = self.float().expect("all others are of numbers with a fraction");
                operation.evaluate(format, a as u16, b as u16, signed(a))
            }
        };
        Outcome { word: (word as u64 & mask) as u32, bit }
    }
}

#[cfg(test)]
mod tests {
    use super::Operation;

    #[test]
    fn opcodes_follow_the_order() {
        assert!(Operation::ALL.is_sorted());
        assert_eq!(Operation::ALL[50], Operation::Float16ToInteger);
        assert_eq!(Operation::MultiplyMiddleSigned.name(), "multiply_middle_signed");
    }

    #[test]
    fn extremes_wrap() {
        let of = |operation: Operation, a: u32, b: u32, c: u32| operation.evaluate(16, [a, b, c], true).word;
        assert_eq!(of(Operation::Absolute, 0x8000, 0, 0), 0x8000);
        assert_eq!(of(Operation::AbsoluteDifferenceSigned, 0x8000, 0x7fff, 0), 0xffff);
        assert_eq!(of(Operation::MultiplyHighSigned, 0x8000, 0x8000, 0), 0x4000);
        assert_eq!(of(Operation::MultiplyMiddleSigned, 0xffff, 0x0100, 0), 0xffff);
        assert_eq!(of(Operation::ShiftRightSigned, 0x8000, 0xffff, 0), 0xffff);
        assert_eq!(of(Operation::ShiftLeft, 1, 16, 0), 0);
        assert_eq!(of(Operation::ClampSigned, 0x8000, 5, 0xfffe), 0xfffe);
        assert_eq!(Operation::MultiplyHighUnsigned.evaluate(32, [u32::MAX, u32::MAX, 0], false).word, u32::MAX - 1);
        assert_eq!(Operation::MultiplyHighSigned.evaluate(32, [1 << 31, 1 << 31, 0], false).word, 1 << 30);
    }

    #[test]
    fn words_that_change_places_give_the_same_where_the_operation_commutes() {
        let words = [0_u32, 1, 2, 0x7f, 0x3c00, 0x3f80, 0x4040, 0x7c00, 0x7fff, 0x8000, 0x8001, 0xbf80, 0xff81, 0xffff];
        for operation in Operation::ALL {
            let differs = |exchanged: &dyn Fn(u32, u32, u32, bool) -> bool| {
                let pairs = words.iter().flat_map(|a| words.iter().map(move |b| (*a, *b)));
                pairs.flat_map(|pair| [(pair, false), (pair, true)]).any(|((a, b), d)| exchanged(a, b, 5, d))
            };
            let of = |a: u32, b: u32, c: u32, d: bool| operation.evaluate(16, [a, b, c], d);
            let word_differs = differs(&|a, b, c, d| of(a, b, c, d).word != of(b, a, c, d).word);
            assert_eq!(word_differs, !operation.commutes(), "{operation:?}");
            if operation.commutes() {
                let bit_differs = differs(&|a, b, c, d| of(a, b, c, d).bit != of(b, a, c, d).bit);
                assert_eq!(bit_differs, operation.compares(), "{operation:?}");
            }
        }
    }

    #[test]
    fn subtraction_has_a_carry_unless_it_borrows() {
        for (a, b, carry) in [(0, 0, true), (5, 6, false), (6, 5, true), (0, 0xffff, false)] {
            let outcome = Operation::Subtract.evaluate(16, [a, b, 0], false);
            assert_eq!((outcome.word, outcome.bit), (a.wrapping_sub(b) & 0xffff, carry));
            assert_eq!(Operation::SubtractCarry.evaluate(16, [a, b, 0], true), outcome);
        }
    }
}
