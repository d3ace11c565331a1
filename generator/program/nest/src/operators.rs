//! The arithmetic of the operators.
//!
//! Values are `i64` that their type [holds](Type::holds). Every operation wraps in its own type. Division and modulo are
//! Halide's: the remainder is never negative, so that division by a positive number rounds down; division and modulo by 0
//! give 0. Shifting by at least as many bits as there are shifts everything out, and shifting by a negative amount shifts
//! the other way.
//!
//! Numbers with a fraction have operators of their own, by their format, so that nothing that is true of integers only is said of them.

use pushmem_float::{Format, Function};

use crate::types::Type;

/// An operator of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`, also of unsigned values, where it wraps.
    Negate,
    /// `!a`: all bits inverted.
    Not,
    /// `abs(a)`: of a signed type gives the unsigned type of as many bits.
    Absolute,
    /// `-a` of a number with a fraction: the other sign.
    FloatNegate(Format),
    /// `abs(a)` of a number with a fraction: without its sign.
    FloatAbsolute(Format),
    /// The word of the number nearest to an integer of 16 bits with sign, in datapaths; expressions have casts.
    FloatFromInteger(Format),
    /// The integer of 16 bits with sign nearest to a number, towards zero, in datapaths; expressions have casts.
    FloatToInteger(Format),
    /// A function of a number, as `sqrt(a)`: datapaths have its table and operations of integers.
    FloatFunction(Format, Function),
}

/// An operator of two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a % b`
    Modulo,
    /// `a << b`
    ShiftLeft,
    /// `a >> b`: of a signed type copies the sign.
    ShiftRight,
    /// `a & b`, of truth values also `a && b`
    And,
    /// `a | b`, of truth values also `a || b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `min(a, b)`
    Minimum,
    /// `max(a, b)`
    Maximum,
    /// `absd(a, b)`: the distance of two numbers; of a signed type gives the unsigned type of as many bits.
    AbsoluteDifference,
    /// `a + b` of numbers with a fraction.
    FloatAdd(Format),
    /// `a - b` of numbers with a fraction.
    FloatSubtract(Format),
    /// `a * b` of numbers with a fraction.
    FloatMultiply(Format),
    /// `a == b` of numbers with a fraction.
    FloatEqual(Format),
    /// `a < b` of numbers with a fraction.
    FloatLess(Format),
    /// `a <= b` of numbers with a fraction.
    FloatLessEqual(Format),
    /// `min(a, b)` of numbers with a fraction: `a` if it is less than `b`, else `b`.
    FloatMinimum(Format),
    /// `max(a, b)` of numbers with a fraction: `a` if `b` is less than it, else `b`.
    FloatMaximum(Format),
}

impl Unary {
    /// The type of the result for an operand of this type.
    pub fn result(self, operand: Type) -> Type {
        match self {
            Unary::Absolute => operand.unsigned(),
            Unary::FloatFromInteger(_) => Type::U16,
            Unary::FloatToInteger(_) => Type::I16,
            _ => operand,
        }
    }

    /// The result for a value of this type.
    pub fn apply(self, operand: Type, value: i64) -> i64 {
        let value = match self {
            Unary::Negate => -value,
            Unary::Not => !value,
            Unary::Absolute => value.abs(),
            Unary::FloatNegate(format) => format.negate(value as u16).into(),
            Unary::FloatAbsolute(format) => format.absolute(value as u16).into(),
            Unary::FloatFromInteger(format) => format.from_integer(value).into(),
            Unary::FloatToInteger(format) => format.to_integer(value as u16, Type::I16.min(), Type::I16.max()),
            Unary::FloatFunction(format, function) => function.apply(format, value as u16).into(),
        };
        self.result(operand).wrap(value)
    }

    /// The operator that stands for this one of integers with numbers of a format.
    pub(crate) fn for_float(self, format: Format) -> Option<Unary> {
        match self {
            Unary::Negate => Some(Unary::FloatNegate(format)),
            Unary::Absolute => Some(Unary::FloatAbsolute(format)),
            _ => None,
        }
    }
}

impl Binary {
    /// All but those of numbers with a fraction.
    pub const OF_INTEGERS: [Binary; 19] = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::Modulo,
        Binary::ShiftLeft,
        Binary::ShiftRight,
        Binary::And,
        Binary::Or,
        Binary::Xor,
        Binary::Equal,
        Binary::NotEqual,
        Binary::Less,
        Binary::LessEqual,
        Binary::Greater,
        Binary::GreaterEqual,
        Binary::Minimum,
        Binary::Maximum,
        Binary::AbsoluteDifference,
    ];

    /// The number that leaves any other of the type as it is, if operands may be joined in any order: in sums and products of integers,
    /// which wrap, and of bits and extremes.
    pub fn identity(self, operands: Type) -> Option<i64> {
        match self {
            Binary::Add | Binary::Or | Binary::Xor => Some(0),
            Binary::Multiply => Some(1),
            Binary::And => Some(operands.wrap(-1)),
            Binary::Minimum => Some(operands.max()),
            Binary::Maximum => Some(operands.min()),
            _ => None,
        }
    }

    /// The operator that stands for this one between numbers of a format.
    pub fn for_float(self, format: Format) -> Option<Binary> {
        match self {
            Binary::Add => Some(Binary::FloatAdd(format)),
            Binary::Subtract => Some(Binary::FloatSubtract(format)),
            Binary::Multiply => Some(Binary::FloatMultiply(format)),
            Binary::Equal => Some(Binary::FloatEqual(format)),
            Binary::Less => Some(Binary::FloatLess(format)),
            Binary::LessEqual => Some(Binary::FloatLessEqual(format)),
            Binary::Minimum => Some(Binary::FloatMinimum(format)),
            Binary::Maximum => Some(Binary::FloatMaximum(format)),
            _ => None,
        }
    }

    /// Whether the operands are numbers with a fraction.
    pub fn is_of_numbers(self) -> bool {
        self.of_integers() != self
    }

    /// The operator of integers that is written in the same way. A match, since every result of an operator asks for it.
    pub(crate) fn of_integers(self) -> Binary {
        match self {
            Binary::FloatAdd(_) => Binary::Add,
            Binary::FloatSubtract(_) => Binary::Subtract,
            Binary::FloatMultiply(_) => Binary::Multiply,
            Binary::FloatEqual(_) => Binary::Equal,
            Binary::FloatLess(_) => Binary::Less,
            Binary::FloatLessEqual(_) => Binary::LessEqual,
            Binary::FloatMinimum(_) => Binary::Minimum,
            Binary::FloatMaximum(_) => Binary::Maximum,
            of_integers => of_integers,
        }
    }

    /// The operator of `+=` for elements of this type.
    pub fn sum_of(element: Type) -> Binary {
        element.format().map_or(Binary::Add, Binary::FloatAdd)
    }

    /// How the operator is written: a symbol between its operands, or the name of a function.
    pub fn symbol(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Modulo => "%",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::And => "&",
            Binary::Or => "|",
            Binary::Xor => "^",
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterEqual => ">=",
            Binary::Minimum => "min",
            Binary::Maximum => "max",
            Binary::AbsoluteDifference => "absd",
            of_numbers => of_numbers.of_integers().symbol(),
        }
    }

    /// How tightly the operator binds, as in Rust; nothing for functions.
    pub fn precedence(self) -> Option<u8> {
        match self.of_integers() {
            Binary::Multiply | Binary::Divide | Binary::Modulo => Some(9),
            Binary::Add | Binary::Subtract => Some(8),
            Binary::ShiftLeft | Binary::ShiftRight => Some(7),
            Binary::And => Some(6),
            Binary::Xor => Some(5),
            Binary::Or => Some(4),
            comparison if comparison.is_comparison() => Some(3),
            _ => None,
        }
    }

    /// Whether the result is a truth value whatever the type of the operands.
    pub fn is_comparison(self) -> bool {
        matches!(
            self.of_integers(),
            Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual
        )
    }

    /// Whether the operator takes truth values.
    pub fn takes_bool(self) -> bool {
        matches!(self, Binary::And | Binary::Or | Binary::Xor | Binary::Equal | Binary::NotEqual)
    }

    /// The type of the result for operands of this type.
    pub fn result(self, operands: Type) -> Type {
        match self {
            Binary::AbsoluteDifference => operands.unsigned(),
            comparison if comparison.is_comparison() => Type::Bool,
            _ => operands,
        }
    }

    /// The result for values of this type.
    pub fn apply(self, operands: Type, left: i64, right: i64) -> i64 {
        let number = |format: Format, of: fn(Format, u16, u16) -> u16| i64::from(of(format, left as u16, right as u16));
        let holds = |format: Format, of: fn(Format, u16, u16) -> bool| i64::from(of(format, left as u16, right as u16));
        let value = match self {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            // Two unsigned numbers of 32 bits have a product beyond i64, whose low bits are right all the same.
            Binary::Multiply => left.wrapping_mul(right),
            Binary::Divide if right == 0 => 0,
            Binary::Divide => left.div_euclid(right),
            Binary::Modulo if right == 0 => 0,
            Binary::Modulo => left.rem_euclid(right),
            Binary::ShiftLeft => shift_left(left, right),
            Binary::ShiftRight => shift_left(left, -right),
            Binary::And => left & right,
            Binary::Or => left | right,
            Binary::Xor => left ^ right,
            Binary::Equal => i64::from(left == right),
            Binary::NotEqual => i64::from(left != right),
            Binary::Less => i64::from(left < right),
            Binary::LessEqual => i64::from(left <= right),
            Binary::Greater => i64::from(left > right),
            Binary::GreaterEqual => i64::from(left >= right),
            Binary::Minimum => left.min(right),
            Binary::Maximum => left.max(right),
            Binary::AbsoluteDifference => (left - right).abs(),
            Binary::FloatAdd(format) => number(format, Format::add),
            Binary::FloatSubtract(format) => number(format, Format::subtract),
            Binary::FloatMultiply(format) => number(format, Format::multiply),
            Binary::FloatEqual(format) => holds(format, Format::equal),
            Binary::FloatLess(format) => holds(format, Format::less),
            Binary::FloatLessEqual(format) => holds(format, Format::less_equal),
            Binary::FloatMinimum(format) => number(format, Format::minimum),
            Binary::FloatMaximum(format) => number(format, Format::maximum),
        };
        self.result(operands).wrap(value)
    }
}

/// `value · 2^amount`, rounded down. At most 32 bits count, so that shifts beyond make no difference.
fn shift_left(value: i64, amount: i64) -> i64 {
    match amount {
        32.. => 0,
        0..32 => value << amount,
        -31..0 => value >> -amount,
        _ => value >> 32,
    }
}

#[cfg(test)]
mod tests {
    use pushmem_float::Format;

    use super::{Binary, Unary};
    use crate::types::Type;

    /// Operator, type, operands, result. The signed results are what Halide computes.
    const TABLE: &[(Binary, Type, i64, i64, i64)] = &[
        (Binary::Add, Type::U8, 200, 100, 44),
        (Binary::Add, Type::I8, 100, 100, -56),
        (Binary::Add, Type::U16, 65535, 1, 0),
        (Binary::Add, Type::I16, 32767, 1, -32768),
        (Binary::Add, Type::U32, 4294967295, 2, 1),
        (Binary::Add, Type::I32, 2147483647, 1, -2147483648),
        (Binary::Subtract, Type::U8, 0, 1, 255),
        (Binary::Subtract, Type::I8, -128, 1, 127),
        (Binary::Subtract, Type::U16, 3, 5, 65534),
        (Binary::Subtract, Type::I16, -32768, 1, 32767),
        (Binary::Subtract, Type::U32, 0, 1, 4294967295),
        (Binary::Subtract, Type::I32, -2147483648, 1, 2147483647),
        (Binary::Multiply, Type::U8, 16, 17, 16),
        (Binary::Multiply, Type::I8, -128, -1, -128),
        (Binary::Multiply, Type::U16, 256, 257, 256),
        (Binary::Multiply, Type::I16, 255, 255, -511),
        (Binary::Multiply, Type::U32, 4294967295, 4294967295, 1),
        (Binary::Multiply, Type::I32, 65536, 65536, 0),
        (Binary::Divide, Type::U16, 65535, 256, 255),
        (Binary::Divide, Type::I16, 7, 2, 3),
        (Binary::Divide, Type::I16, -7, 2, -4),
        (Binary::Divide, Type::I16, 7, -2, -3),
        (Binary::Divide, Type::I16, -7, -2, 4),
        (Binary::Divide, Type::I16, -8, -3, 3),
        (Binary::Divide, Type::I16, 5, 0, 0),
        (Binary::Divide, Type::U8, 5, 0, 0),
        (Binary::Divide, Type::I16, -32768, -1, -32768),
        (Binary::Divide, Type::I32, -2147483648, -1, -2147483648),
        (Binary::Modulo, Type::U16, 65535, 256, 255),
        (Binary::Modulo, Type::I16, 7, 2, 1),
        (Binary::Modulo, Type::I16, -7, 2, 1),
        (Binary::Modulo, Type::I16, 7, -2, 1),
        (Binary::Modulo, Type::I16, -7, -2, 1),
        (Binary::Modulo, Type::I16, -8, -3, 1),
        (Binary::Modulo, Type::I16, 5, 0, 0),
        (Binary::Modulo, Type::I32, -2147483648, -1, 0),
        (Binary::ShiftLeft, Type::I16, 1, 3, 8),
        (Binary::ShiftLeft, Type::I16, -7, -1, -4),
        (Binary::ShiftLeft, Type::I16, 1, 15, -32768),
        (Binary::ShiftLeft, Type::I16, 5, 16, 0),
        (Binary::ShiftLeft, Type::I16, 5, -16, 0),
        (Binary::ShiftLeft, Type::U8, 255, 1, 254),
        (Binary::ShiftLeft, Type::U32, 4294967295, 31, 2147483648),
        (Binary::ShiftLeft, Type::U32, 1, 4294967295, 0),
        (Binary::ShiftRight, Type::I16, -9, 1, -5),
        (Binary::ShiftRight, Type::I16, -7, -1, -14),
        (Binary::ShiftRight, Type::I16, 5, 16, 0),
        (Binary::ShiftRight, Type::I16, -5, 16, -1),
        (Binary::ShiftRight, Type::I32, -5, -2147483648, 0),
        (Binary::ShiftRight, Type::I32, -5, 2147483647, -1),
        (Binary::ShiftRight, Type::U16, 65535, 4, 4095),
        (Binary::And, Type::I16, -2, 7, 6),
        (Binary::Or, Type::I16, -8, 3, -5),
        (Binary::Xor, Type::U8, 0xf0, 0xff, 0x0f),
        (Binary::Xor, Type::I8, -1, 1, -2),
        (Binary::And, Type::Bool, 1, 0, 0),
        (Binary::Or, Type::Bool, 1, 0, 1),
        (Binary::Xor, Type::Bool, 1, 1, 0),
        (Binary::Equal, Type::U16, 3, 3, 1),
        (Binary::NotEqual, Type::U16, 3, 3, 0),
        (Binary::Less, Type::I16, -1, 0, 1),
        (Binary::Less, Type::U16, 65535, 0, 0),
        (Binary::LessEqual, Type::I8, -128, -128, 1),
        (Binary::Greater, Type::U8, 255, 1, 1),
        (Binary::GreaterEqual, Type::I32, -1, 0, 0),
        (Binary::Minimum, Type::I16, -1, 1, -1),
        (Binary::Minimum, Type::U16, 65535, 1, 1),
        (Binary::Maximum, Type::I8, -128, 127, 127),
        (Binary::AbsoluteDifference, Type::I16, -32768, 32767, 65535),
        (Binary::AbsoluteDifference, Type::I16, 3, -1, 4),
        (Binary::AbsoluteDifference, Type::U16, 5, 9, 4),
        (Binary::AbsoluteDifference, Type::U32, 0, 4294967295, 4294967295),
        (Binary::FloatAdd(Format::Bfloat16), Type::Bf16, 0x3f80, 0x3b80, 0x3f80),
        (Binary::FloatSubtract(Format::Bfloat16), Type::Bf16, 0x4000, 0x3f80, 0x3f80),
        (Binary::FloatMultiply(Format::Bfloat16), Type::Bf16, 0x4000, 0xbf00, 0xbf80),
        (Binary::FloatLess(Format::Bfloat16), Type::Bf16, 0xbf80, 0x3f80, 1),
        (Binary::FloatEqual(Format::Bfloat16), Type::Bf16, 0x8000, 0, 1),
        (Binary::FloatLessEqual(Format::Bfloat16), Type::Bf16, 0x7fc0, 0x7fc0, 0),
        (Binary::FloatMinimum(Format::Bfloat16), Type::Bf16, 0x7fc0, 0x3f80, 0x3f80),
        (Binary::FloatMaximum(Format::Bfloat16), Type::Bf16, 0x3f80, 0x7fc0, 0x7fc0),
        (Binary::FloatAdd(Format::Float16), Type::F16, 0x3c00, 0x1000, 0x3c00),
        (Binary::FloatAdd(Format::Float16), Type::F16, 0x03ff, 0x0001, 0x0400),
        (Binary::FloatSubtract(Format::Float16), Type::F16, 0x4000, 0x3c00, 0x3c00),
        (Binary::FloatMultiply(Format::Float16), Type::F16, 0x5c00, 0x5c00, 0x7c00),
        (Binary::FloatMultiply(Format::Float16), Type::F16, 0x0003, 0x3800, 0x0002),
        (Binary::FloatLess(Format::Float16), Type::F16, 0xbc00, 0x3c00, 1),
        (Binary::FloatEqual(Format::Float16), Type::F16, 0x8000, 0, 1),
        (Binary::FloatLessEqual(Format::Float16), Type::F16, 0x7e00, 0x7e00, 0),
        (Binary::FloatMinimum(Format::Float16), Type::F16, 0x7e00, 0x3c00, 0x3c00),
    ];

    #[test]
    fn computes_as_halide() {
        for &(operator, operands, left, right, expected) in TABLE {
            let found = operator.apply(operands, left, right);
            assert_eq!(found, expected, "{left} {} {right} of type {}", operator.symbol(), operands.name());
        }
        for (operator, operand, value, expected) in [
            (Unary::Negate, Type::U16, 1, 65535),
            (Unary::Negate, Type::I8, -128, -128),
            (Unary::Not, Type::U8, 1, 254),
            (Unary::Not, Type::I16, 0, -1),
            (Unary::Not, Type::Bool, 1, 0),
            (Unary::Not, Type::Bool, 0, 1),
            (Unary::Absolute, Type::I16, -32768, 32768),
            (Unary::Absolute, Type::I8, -1, 1),
            (Unary::Absolute, Type::U8, 200, 200),
        ] {
            assert_eq!(operator.apply(operand, value), expected, "{operator:?} {value} of type {}", operand.name());
        }
    }

    #[test]
    fn operators_of_numbers_are_written_as_those_of_integers() {
        let all = TABLE.iter().map(|&(operator, ..)| operator);
        for (operator, format) in all.flat_map(|operator| Format::ALL.map(|format| (operator, format))) {
            let Some(of_numbers) = operator.for_float(format) else { continue };
            assert_eq!(of_numbers.of_integers(), operator);
            assert!(of_numbers.is_of_numbers() && !operator.is_of_numbers());
        }
    }

    /// The operators on types of 8 bits, all values, against Rust's own arithmetic.
    #[test]
    fn agrees_with_rust_on_bytes() {
        for left in 0..=255_u8 {
            for right in 0..=255_u8 {
                let (signed_left, signed_right) = (left.cast_signed(), right.cast_signed());
                let unsigned = |operator: Binary| operator.apply(Type::U8, left.into(), right.into());
                let signed = |operator: Binary| operator.apply(Type::I8, signed_left.into(), signed_right.into());
                assert_eq!(unsigned(Binary::Add), left.wrapping_add(right).into());
                assert_eq!(signed(Binary::Add), signed_left.wrapping_add(signed_right).into());
                assert_eq!(unsigned(Binary::Subtract), left.wrapping_sub(right).into());
                assert_eq!(signed(Binary::Subtract), signed_left.wrapping_sub(signed_right).into());
                assert_eq!(unsigned(Binary::Multiply), left.wrapping_mul(right).into());
                assert_eq!(signed(Binary::Multiply), signed_left.wrapping_mul(signed_right).into());
                assert_eq!(unsigned(Binary::Divide), left.checked_div(right).unwrap_or(0).into());
                assert_eq!(unsigned(Binary::Modulo), left.checked_rem(right).unwrap_or(0).into());
                if right != 0 {
                    assert_eq!(signed(Binary::Divide), signed_left.wrapping_div_euclid(signed_right).into());
                    assert_eq!(signed(Binary::Modulo), signed_left.wrapping_rem_euclid(signed_right).into());
                }
                assert_eq!(unsigned(Binary::ShiftLeft), left.checked_shl(right.into()).unwrap_or(0).into());
                assert_eq!(unsigned(Binary::ShiftRight), left.checked_shr(right.into()).unwrap_or(0).into());
                assert_eq!(signed(Binary::And), (signed_left & signed_right).into());
                assert_eq!(unsigned(Binary::Or), (left | right).into());
                assert_eq!(signed(Binary::Xor), (signed_left ^ signed_right).into());
                assert_eq!(unsigned(Binary::AbsoluteDifference), left.abs_diff(right).into());
                assert_eq!(signed(Binary::AbsoluteDifference), signed_left.abs_diff(signed_right).into());
                assert_eq!(signed(Binary::Less), (signed_left < signed_right).into());
                assert_eq!(unsigned(Binary::GreaterEqual), (left >= right).into());
            }
        }
    }
}
