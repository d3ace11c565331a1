//! The functions that pipelines call.

use pushmem_float::Function;
use pushmem_nest::Binary;

use super::scalar::{
    Arithmetic, Found, Scalar, Stop, limits, of_function, of_integers, of_numbers, rounded, shifted, wrapped,
};
use crate::syntax::{Element, TypeCode};

/// Arguments with their types.
type Arguments<'a> = &'a [(Scalar, Element)];

/// The function of Halide of this name, with a result of this type.
pub(crate) fn called(name: &str, arguments: Arguments, result: Element, arithmetic: Arithmetic) -> Found {
    if result.is_number() || arguments.iter().any(|(value, _)| matches!(value, Scalar::Number(_))) {
        return with_numbers(name, arguments, result, arithmetic);
    }
    if arithmetic == Arithmetic::OfTables {
        return match name {
            "likely" | "likely_if_innermost" => arguments.first().map(|(value, _)| *value).ok_or(Stop::Open),
            _ => Err(Stop::Foreign),
        };
    }
    let values: Vec<i64> = arguments.iter().map(|(value, _)| value.integer()).collect::<Found<_>>()?;
    with_integers(name, &values, arguments, result).map(Scalar::Integer)
}

fn with_integers(name: &str, values: &[i64], arguments: Arguments, result: Element) -> Found<i64> {
    let at = |place: usize| values.get(place).copied().ok_or(Stop::Open);
    let exact = |place: usize| at(place).map(i128::from);
    let type_of = |place: usize| arguments.get(place).map(|(_, of)| *of).ok_or(Stop::Open);
    let wrap = |value: i128| Ok(wrapped(value, result));
    let saturate = |value: i128| {
        let (least, greatest) = limits(result);
        Ok(value.clamp(least, greatest) as i64)
    };
    let bits = || Ok(wrapped(exact(0)?, Element { code: TypeCode::Unsigned, ..type_of(0)? }) as u64);
    match name {
        "min" => of_integers(Binary::Minimum, result, at(0)?, at(1)?),
        "max" => of_integers(Binary::Maximum, result, at(0)?, at(1)?),
        "abs" => wrap(exact(0)?.abs()),
        "absd" => wrap((exact(0)? - exact(1)?).abs()),
        "bitwise_and" => wrap(exact(0)? & exact(1)?),
        "bitwise_or" => wrap(exact(0)? | exact(1)?),
        "bitwise_xor" => wrap(exact(0)? ^ exact(1)?),
        "bitwise_not" => wrap(!exact(0)?),
        "shift_left" | "widening_shift_left" => wrap(shifted(at(0)?, at(1)?, result)?),
        "shift_right" | "widening_shift_right" => wrap(shifted(at(0)?, -at(1)?, result)?),
        "rounding_shift_left" => wrap(rounding_shift(at(0)?, at(1)?, result)?),
        "rounding_shift_right" => wrap(rounding_shift(at(0)?, -at(1)?, result)?),
        "likely" | "likely_if_innermost" | "strict" => at(0),
        "promise_clamped" | "unsafe_promise_clamped" => match values {
            [value, least, greatest] if !(least..=greatest).contains(&value) => Err(Stop::Open),
            _ => at(0),
        },
        "widening_add" | "widen_right_add" => wrap(exact(0)? + exact(1)?),
        "widening_sub" | "widen_right_sub" => wrap(exact(0)? - exact(1)?),
        "widening_mul" | "widen_right_mul" => wrap(exact(0)? * exact(1)?),
        "halving_add" => wrap((exact(0)? + exact(1)?) >> 1),
        "rounding_halving_add" => wrap((exact(0)? + exact(1)? + 1) >> 1),
        "halving_sub" => wrap((exact(0)? - exact(1)?) >> 1),
        "saturating_add" => saturate(exact(0)? + exact(1)?),
        "saturating_sub" => saturate(exact(0)? - exact(1)?),
        "saturating_cast" => saturate(exact(0)?),
        "mul_shift_right" | "rounding_mul_shift_right" => {
            let by = at(2)?;
            if !(0..2 * i64::from(result.bits)).contains(&by) {
                return Err(Stop::Open);
            }
            let half = if name == "mul_shift_right" { 0 } else { (1_i128 << by) >> 1 };
            saturate((exact(0)? * exact(1)? + half) >> by)
        }
        "lerp" => lerp(exact(0)?, exact(1)?, exact(2)?, result, type_of(2)?),
        "div_round_to_zero" | "mod_round_to_zero" if at(1)? == 0 => Err(Stop::Open),
        "div_round_to_zero" => wrap(exact(0)? / exact(1)?),
        "mod_round_to_zero" => wrap(exact(0)? % exact(1)?),
        "popcount" => Ok(i64::from(bits()?.count_ones())),
        "count_leading_zeros" => Ok(i64::from(bits()?.leading_zeros()) - 64 + i64::from(type_of(0)?.bits)),
        "count_trailing_zeros" => Ok(i64::from(bits()?.trailing_zeros()).min(type_of(0)?.bits.into())),
        _ => Err(Stop::Open),
    }
}

/// A shift to the left, or to the right with the last bit that it drops added.
fn rounding_shift(value: i64, by: i64, of: Element) -> Found<i128> {
    let last = if by < 0 { i128::from(value) >> (-by - 1).min(126) & 1 } else { 0 };
    Ok(shifted(value, by, of)? + last)
}

/// `zero + (one - zero) · weight / greatest`, to the nearest; of signed values, by their distances to the least one.
fn lerp(zero: i128, one: i128, weight: i128, result: Element, of_weight: Element) -> Found<i64> {
    let (least, _) = limits(result);
    let most = (1 << result.bits) - 1;
    let most_weight = (1 << of_weight.bits) - 1;
    let weight = if most_weight <= most { weight * (most / most_weight) } else { weight / (most_weight / most) };
    let sum = (zero - least) * (most - weight) + (one - least) * weight;
    Ok(wrapped((2 * sum + most) / (2 * most) + least, result))
}

fn with_numbers(name: &str, arguments: Arguments, result: Element, arithmetic: Arithmetic) -> Found {
    let stem = ["_f16", "_f32", "_f64"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let number = |place: usize| arguments.get(place).ok_or(Stop::Open)?.0.number();
    let near = |number: f64| rounded(number, result, arithmetic);
    let operated = |operator: Binary| {
        let (_, of) = arguments.first().ok_or(Stop::Open)?;
        of_numbers(operator, *of, (number(0)?, number(1)?), arithmetic, false)
    };
    let function = |function: Function, of: f64| of_function(function, of, result, arithmetic);
    let is_table = arithmetic == Arithmetic::OfTables;
    Ok(Scalar::Number(match stem {
        "likely" | "likely_if_innermost" | "promise_clamped" | "unsafe_promise_clamped" | "strict" => number(0)?,
        "strict_add" => return operated(Binary::Add),
        "strict_sub" => return operated(Binary::Subtract),
        "strict_mul" => return operated(Binary::Multiply),
        "strict_div" => return operated(Binary::Divide),
        "strict_mod" => return operated(Binary::Modulo),
        "strict_min" | "min" => return operated(Binary::Minimum),
        "strict_max" | "max" => return operated(Binary::Maximum),
        "strict_eq" => return operated(Binary::Equal),
        "strict_lt" => return operated(Binary::Less),
        "strict_le" => return operated(Binary::LessEqual),
        "strict_cast" | "saturating_cast" => return arguments.first().ok_or(Stop::Open)?.0.cast(result, arithmetic),
        "is_nan" => return number(0).map(|_| Scalar::Integer(0)),
        "abs" => number(0)?.abs(),
        "absd" => near(number(0)? - number(1)?)?.abs(),
        "floor" => near(number(0)?.floor())?,
        "ceil" => near(number(0)?.ceil())?,
        "round" => near(number(0)?.round_ties_even())?,
        "trunc" => near(number(0)?.trunc())?,
        "sqrt" => function(Function::SquareRoot, number(0)?)?,
        "exp" => function(Function::Exponential, number(0)?)?,
        "log" => function(Function::Logarithm, number(0)?)?,
        "sin" => function(Function::Sine, number(0)?)?,
        "cos" => function(Function::Cosine, number(0)?)?,
        "tanh" => function(Function::HyperbolicTangent, number(0)?)?,
        "fast_inverse" => function(Function::Reciprocal, number(0)?)?,
        "fast_inverse_sqrt" if is_table => near(1.0 / number(0)?.sqrt())?,
        "fast_inverse_sqrt" => function(Function::Reciprocal, function(Function::SquareRoot, number(0)?)?)?,
        "tan" if is_table => near(number(0)?.tan())?,
        "tan" => near(
            function(Function::Sine, number(0)?)?
                * function(Function::Reciprocal, function(Function::Cosine, number(0)?)?)?,
        )?,
        "pow" if is_table => near(number(0)?.powf(number(1)?))?,
        "pow" => {
            let (base, exponent) = (number(0)?, number(1)?);
            near(function(Function::Exponential, near(function(Function::Logarithm, base)? * exponent)?)?)?
        }
        "lerp" if is_table => near(number(0)? * (1.0 - number(2)?) + number(1)? * number(2)?)?,
        "lerp" => near(near(number(0)? * near(1.0 - number(2)?)?)? + near(number(1)? * number(2)?)?)?,
        other if is_table => near(match other {
            "acos" => number(0)?.acos(),
            "acosh" => number(0)?.acosh(),
            "asin" => number(0)?.asin(),
            "asinh" => number(0)?.asinh(),
            "atan" => number(0)?.atan(),
            "atan2" => number(0)?.atan2(number(1)?),
            "atanh" => number(0)?.atanh(),
            "cosh" => number(0)?.cosh(),
            "sinh" => number(0)?.sinh(),
            _ => return Err(Stop::Foreign),
        })?,
        _ => return Err(Stop::Open),
    }))
}

/// A power with a constant exponent that is a product, a root or a reciprocal; nothing, if it is none.
pub(crate) fn power(base: f64, exponent: f64, of: Element, arithmetic: Arithmetic) -> Option<Found<f64>> {
    let near = |number: f64| rounded(number, of, arithmetic);
    Some(if exponent == 0.5 {
        of_function(Function::SquareRoot, base, of, arithmetic)
    } else if exponent == 1.0 {
        Ok(base)
    } else if exponent == 2.0 {
        near(base * base)
    } else if exponent == 3.0 {
        near(base * base).and_then(|square| near(square * base))
    } else if exponent == 4.0 {
        near(base * base).and_then(|square| near(square * square))
    } else if exponent == -1.0 {
        of_function(Function::Reciprocal, base, of, arithmetic)
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn element(code: TypeCode, bits: u8) -> Element {
        Element { code, bits, lanes: 1, format: Element::INT32.format }
    }

    const U8: Element = element(TypeCode::Unsigned, 8);
    const U16: Element = element(TypeCode::Unsigned, 16);
    const U32: Element = element(TypeCode::Unsigned, 32);
    const I8: Element = element(TypeCode::Int, 8);
    const I16: Element = element(TypeCode::Int, 16);
    const I32: Element = element(TypeCode::Int, 32);

    /// A function, its arguments, its result and the type of that.
    type Case = (&'static str, &'static [(i64, Element)], i64, Element);

    /// As Halide 21 computes them.
    const CASES: &[Case] = &[
        ("lerp", &[(10, U8), (251, U8), (77, U8)], 83, U8),
        ("lerp", &[(-100, I8), (90, I8), (200, U8)], 49, I8),
        ("lerp", &[(1, U16), (60000, U16), (3, U8)], 707, U16),
        ("abs", &[(-32768, I16)], 32768, U16),
        ("absd", &[(-100, I8), (100, I8)], 200, U8),
        ("popcount", &[(0xf0f1, U16)], 9, U16),
        ("count_leading_zeros", &[(5, U8)], 5, U8),
        ("count_trailing_zeros", &[(-64, I16)], 6, I16),
        ("div_round_to_zero", &[(-7, I16), (2, I16)], -3, I16),
        ("mod_round_to_zero", &[(-7, I16), (2, I16)], -1, I16),
        ("saturating_cast", &[(-300, I16)], -128, I8),
        ("shift_right", &[(-9, I16), (1, I16)], -5, I16),
        ("shift_left", &[(-9, I16), (-2, I16)], -3, I16),
        ("shift_left", &[(200, U8), (1, U8)], 144, U8),
        ("halving_add", &[(-7, I8), (2, I8)], -3, I8),
        ("rounding_halving_add", &[(255, U8), (254, U8)], 255, U8),
        ("halving_sub", &[(3, U8), (8, U8)], 253, U8),
        ("saturating_add", &[(32000, I16), (1000, I16)], 32767, I16),
        ("saturating_sub", &[(3, U32), (9, U32)], 0, U32),
        ("widening_add", &[(200, U8), (100, U8)], 300, U16),
        ("widening_sub", &[(3, U8), (100, U8)], -97, I16),
        ("widening_mul", &[(-300, I16), (300, I16)], -90000, I32),
        ("rounding_shift_right", &[(-5, I16), (1, U16)], -2, I16),
        ("rounding_shift_right", &[(255, U8), (3, U8)], 32, U8),
        ("rounding_shift_left", &[(-7, I16), (-2, I16)], -2, I16),
        ("mul_shift_right", &[(-32768, I16), (-32768, I16), (15, U16)], 32767, I16),
        ("rounding_mul_shift_right", &[(1000, I16), (77, I16), (8, U16)], 301, I16),
    ];

    #[test]
    fn functions_are_those_of_halide() {
        for (name, arguments, expected, result) in CASES {
            let values: Vec<_> = arguments.iter().map(|(value, of)| (Scalar::Integer(*value), *of)).collect();
            let found = called(name, &values, *result, Arithmetic::Written);
            assert_eq!(found, Ok(Scalar::Integer(*expected)), "{name}: {arguments:?}");
        }
        for (operator, (left, right), expected) in [
            (Binary::Divide, (-7, 2), -4),
            (Binary::Divide, (7, -2), -3),
            (Binary::Divide, (5, 0), 0),
            (Binary::Modulo, (-7, -2), 1),
            (Binary::Modulo, (5, 0), 0),
            (Binary::Multiply, (256, 257), 256),
        ] {
            assert_eq!(of_integers(operator, I16, left, right), Ok(expected), "{operator:?} {left} {right}");
        }
    }

    #[test]
    fn values_that_halide_leaves_open_are_told() {
        let by = |name: &str, amount: i64| {
            called(name, &[(Scalar::Integer(1), U8), (Scalar::Integer(amount), I8)], U8, Arithmetic::Written)
        };
        assert_eq!((by("shift_left", 7), by("shift_left", 8)), (Ok(Scalar::Integer(128)), Err(Stop::Open)));
        assert_eq!(by("div_round_to_zero", 0), Err(Stop::Open));
        let promised = |value: i64| {
            let arguments = [value, 0, 9].map(|value| (Scalar::Integer(value), I32));
            called("unsafe_promise_clamped", &arguments, I32, Arithmetic::Written)
        };
        assert_eq!((promised(9), promised(10)), (Ok(Scalar::Integer(9)), Err(Stop::Open)));
    }
}
