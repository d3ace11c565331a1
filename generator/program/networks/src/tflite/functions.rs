//! Functions of one element in fixed point, as the reference kernels compute them: what tables have.

use crate::multiplier::{Multiplier, divided};

/// The integer of 1 where all bits are behind the point.
const ONE: i64 = i32::MAX as i64;

/// The bits before the point of what a function takes.
const BITS: i32 = 4;

/// e to the power of -1/4, -1/2, -1, -2, -4, -8 and -16, with all bits behind the point.
const POWERS: [i64; 7] = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

/// A function between two limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limited {
    /// 1 / (1 + e^-x), in units of 2^-8 less 128.
    Logistic,
    /// The hyperbolic tangent, in units of 2^-7.
    Tangent,
}

impl Limited {
    /// The result for an integer less its zero point, which has this scale.
    pub fn of(self, integer: i64, scale: f32) -> i64 {
        let units = f64::from(scale) * f64::from(1 << (31 - BITS));
        let multiplier = Multiplier::of_real(units);
        // From here on the result is its limit.
        let radius = (f64::from((1 << BITS) - 1) * f64::from(1 << (31 - BITS)) / multiplier.power()).floor() as i64;
        if integer <= -radius {
            return -128;
        } else if integer >= radius {
            return 127;
        }
        let operand = multiplier.of(integer);
        let of_positive = |operand: i64| match self {
            Limited::Logistic => inverse(exponential(-operand, BITS), 0),
            Limited::Tangent => inverse(exponential(-operand, BITS + 1), 1),
        };
        let result = match (operand.signum(), self) {
            (0, Limited::Logistic) => 1 << 30,
            (0, Limited::Tangent) => 0,
            (1, _) => of_positive(operand),
            (_, Limited::Logistic) => ONE - of_positive(-operand),
            (_, Limited::Tangent) => -of_positive(-operand),
        };
        let result = match self {
            Limited::Logistic => divided(result, 23) - 128,
            Limited::Tangent => divided(result, 24),
        };
        result.clamp(-128, 127)
    }
}

/// The product of two numbers with all bits behind the point, or with as many before it as one of them has.
fn product(one: i64, other: i64) -> i64 {
    (one * other + (1 << 30)) >> 31
}

/// A number times a power of two, within 32 bits.
fn scaled(number: i64, bits: u32) -> i64 {
    (number << bits).clamp(i32::MIN.into(), ONE)
}

/// e to the power of a number that is not above 0, with so many bits before its point.
fn exponential(number: i64, bits: i32) -> i64 {
    if number == 0 {
        return ONE;
    }
    let quarter = 1 << (29 - bits);
    let rest = (number & (quarter - 1)) - quarter;
    // The series around -1/8.
    let x = scaled(rest, bits as u32) + (1 << 28);
    let (square, cube) = (product(x, x), product(product(x, x), x));
    let fourth = divided(product(square, square), 2);
    let higher = divided(product(fourth + cube, 715_827_883) + square, 1);
    let first = 1_895_147_668;
    let series = first + product(first, x + higher);
    let powers = POWERS.iter().enumerate().filter(|(place, _)| (rest - number) >> (29 - bits + *place as i32) & 1 == 1);
    powers.fold(series, |result, (_, power)| product(result, *power))
}

/// (1 - `ones` * x) / (1 + x) of a number from 0 to 1, with all bits behind the point.
fn inverse(number: i64, ones: i64) -> i64 {
    let half = (number + ONE + 1) / 2;
    // 48/17 and 32/17 with two bits before the point, and three steps of Newton's method.
    let first = 1_515_870_810 + product(half, -1_010_580_540);
    let result = (0..3).fold(first, |x, _| x + scaled(product(x, (1 << 29) - product(half, x)), 2));
    match ones {
        0 => scaled(result, 1),
        _ => scaled(result - (1 << 29), 2),
    }
}
