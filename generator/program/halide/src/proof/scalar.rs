//! Values as Halide defines them: integers that wrap, and numbers that are rounded to their type.

use pushmem_float::{Format, Function};

use pushmem_nest::Binary;

use crate::syntax::{Element, TypeCode};

/// A value. Truth values are the integers 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Integer(i64),
    Number(f64),
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Halide leaves open which value it is.
    Open,
    /// The arithmetic of tables has no such function.
    Foreign,
    /// All operations that were allowed are used up.
    Exhausted,
}

pub(crate) type Found<T = Scalar> = Result<T, Stop>;

/// How numbers with a fraction are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    /// In the types of the pipeline, with the functions of hardware.
    Written,
    /// All in the format of the pipeline, and quotients as products with reciprocals.
    Narrowed,
    /// In the types of the pipeline, with the functions of a processor: so are entries of tables computed.
    OfTables,
}

/// The integer as a type holds it.
pub(crate) fn wrapped(value: i128, of: Element) -> i64 {
    let low = value & ((1 << of.bits) - 1);
    let is_negative = of.code == TypeCode::Int && of.bits > 0 && low >> (of.bits - 1) == 1;
    (if is_negative { low - (1 << of.bits) } else { low }) as i64
}

/// The least and the greatest integer of a type.
pub(crate) fn limits(of: Element) -> (i128, i128) {
    match of.code {
        TypeCode::Int => (-(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1),
        _ => (0, (1 << of.bits) - 1),
    }
}

/// The number of a format nearest to a number.
fn nearest(format: Format, number: f64) -> f64 {
    format.to_f64(format.from_f64(number))
}

/// The number as a type holds it. Words that are no number are many in Halide.
pub(crate) fn rounded(number: f64, of: Element, arithmetic: Arithmetic) -> Found<f64> {
    let format = if arithmetic == Arithmetic::Narrowed { Some(of.format) } else { of.written() };
    let rounded = match (format, of.code, of.bits) {
        (Some(format), ..) => nearest(format, number),
        (_, TypeCode::Float, 32) => f64::from(number as f32),
        (_, TypeCode::Float, 64) => number,
        _ => return Err(Stop::Foreign),
    };
    if rounded.is_nan() { Err(Stop::Open) } else { Ok(rounded) }
}

impl Scalar {
    pub fn integer(self) -> Found<i64> {
        match self {
            Scalar::Integer(integer) => Ok(integer),
            Scalar::Number(_) => Err(Stop::Open),
        }
    }

    pub fn number(self) -> Found<f64> {
        match self {
            Scalar::Number(number) => Ok(number),
            Scalar::Integer(_) => Err(Stop::Open),
        }
    }

    /// The value as one of another type. Integers keep their low bits; numbers become the nearest integer towards zero that the type has.
    pub fn cast(self, to: Element, arithmetic: Arithmetic) -> Found {
        let is_bool = to.code == TypeCode::Unsigned && to.bits == 1;
        Ok(match self {
            Scalar::Integer(integer) if to.is_number() => Scalar::Number(if arithmetic == Arithmetic::Narrowed {
                in_halves(integer, to.format)?
            } else {
                rounded(integer as f64, to, arithmetic)?
            }),
            Scalar::Number(number) if to.is_number() => Scalar::Number(rounded(number, to, arithmetic)?),
            Scalar::Number(number) if is_bool => Scalar::Integer((number != 0.0).into()),
            Scalar::Integer(integer) => Scalar::Integer(wrapped(integer.into(), to)),
            Scalar::Number(number) => {
                let (least, greatest) = limits(to);
                Scalar::Integer((number as i128).clamp(least, greatest) as i64)
            }
        })
    }
}

/// An integer as a narrowed number: beyond 16 bits, it is the sum of two, or infinite where numbers end below.
fn in_halves(integer: i64, format: Format) -> Found<f64> {
    let near = |number: f64| nearest(format, number);
    if near(65536.0).is_infinite() {
        return Ok(near(integer as f64));
    }
    let magnitude = integer.unsigned_abs();
    let (high, low) = ((magnitude >> 16) as f64, (magnitude & 0xffff) as f64);
    let sum = near(near(near(high) * 65536.0) + near(low));
    Ok(if integer < 0 { -sum } else { sum })
}

/// An operator of two integers of a type.
pub(crate) fn of_integers(operator: Binary, of: Element, left: i64, right: i64) -> Found<i64> {
    let (one, other) = (i128::from(left), i128::from(right));
    let value = match operator {
        Binary::Add => one + other,
        Binary::Subtract => one - other,
        Binary::Multiply => one * other,
        // Rounded so that the remainder is not negative; 0 where the divisor is.
        Binary::Divide | Binary::Modulo if right == 0 => 0,
        Binary::Divide => one.div_euclid(other),
        Binary::Modulo => one.rem_euclid(other),
        Binary::Minimum => one.min(other),
        Binary::Maximum => one.max(other),
        Binary::And => one & other,
        Binary::Or => one | other,
        Binary::Xor => one ^ other,
        comparison => return compared(comparison, left.partial_cmp(&right)),
    };
    Ok(wrapped(value, of))
}

fn compared(operator: Binary, order: Option<std::cmp::Ordering>) -> Found<i64> {
    let order = order.ok_or(Stop::Open)?;
    Ok(i64::from(match operator {
        Binary::Equal => order.is_eq(),
        Binary::NotEqual => order.is_ne(),
        Binary::Less => order.is_lt(),
        Binary::LessEqual => order.is_le(),
        Binary::Greater => order.is_gt(),
        Binary::GreaterEqual => order.is_ge(),
        _ => return Err(Stop::Open),
    }))
}

/// An operator of two numbers of a type. The divisor is known to be positive, or not.
pub(crate) fn of_numbers(
    operator: Binary,
    of: Element,
    (left, right): (f64, f64),
    arithmetic: Arithmetic,
    is_positive: bool,
) -> Found {
    let near = |number: f64| rounded(number, of, arithmetic);
    let quotient = || match arithmetic {
        Arithmetic::Narrowed => near(left * near(1.0 / right)?),
        _ => near(left / right),
    };
    Ok(Scalar::Number(match operator {
        Binary::Add => near(left + right)?,
        Binary::Subtract => near(left - right)?,
        Binary::Multiply => near(left * right)?,
        Binary::Divide => quotient()?,
        Binary::Modulo if arithmetic == Arithmetic::Narrowed => {
            // A quotient between two integers may be too small to be a number.
            let multiple = near(right * quotient()?.floor())?;
            // Hardware has the multiple towards zero.
            if multiple.is_infinite() {
                return Err(Stop::Open);
            }
            let rest = near(left - multiple);
            if is_positive && left.abs() < right { near(left + if left < 0.0 { right } else { 0.0 })? } else { rest? }
        }
        // Processors compute it in single precision.
        Binary::Modulo if arithmetic == Arithmetic::OfTables && of.bits != 64 => {
            let single = |number: f64| f64::from(number as f32);
            near(left - single(right * single(left / right).floor()))?
        }
        Binary::Modulo => near(left - right * (left / right).floor())?,
        Binary::Minimum if left < right => left,
        Binary::Maximum if left > right => left,
        Binary::Minimum | Binary::Maximum => right,
        comparison => return compared(comparison, left.partial_cmp(&right)).map(Scalar::Integer),
    }))
}

/// A function of one number.
pub(crate) fn of_function(function: Function, number: f64, of: Element, arithmetic: Arithmetic) -> Found<f64> {
    let format = of.format;
    match arithmetic {
        Arithmetic::OfTables => rounded(function.exact(number), of, arithmetic),
        _ if !function.is_of(format) => Err(Stop::Foreign),
        _ => rounded(format.to_f64(function.apply(format, format.from_f64(number))), of, arithmetic),
    }
}

/// A shift to the left; by a negative amount, to the right. Amounts of all bits and more are open in Halide.
pub(crate) fn shifted(value: i64, by: i64, of: Element) -> Found<i128> {
    if by.abs() >= i64::from(of.bits) {
        return Err(Stop::Open);
    }
    let value = i128::from(value);
    Ok(if by >= 0 { value << by } else { value >> -by })
}
