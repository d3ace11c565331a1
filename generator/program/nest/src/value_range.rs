//! The range of the values of an expression.

use crate::operators::Binary;
use crate::program::{Expression, ExpressionKind};
use crate::types::Type;

/// Bounds of the value, for these least and greatest values of the loop variables. The true range may be smaller.
pub(crate) fn value_range(expression: &Expression, variables: &[(i64, i64)]) -> (i64, i64) {
    let whole = (expression.value.min(), expression.value.max());
    let fitting = |(low, high): (i64, i64)| match expression.value.holds(low) && expression.value.holds(high) {
        true => (low, high),
        false => whole,
    };
    match &expression.kind {
        ExpressionKind::Constant(number) => (*number, *number),
        ExpressionKind::Variable(variable) => variables[*variable],
        ExpressionKind::Load(_) | ExpressionKind::Lookup { .. } | ExpressionKind::Unary { .. } => whole,
        ExpressionKind::Cast(operand) if operand.value.format().or(expression.value.format()).is_some() => whole,
        ExpressionKind::Cast(operand) => fitting(value_range(operand, variables)),
        ExpressionKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (value_range(then, variables), value_range(otherwise, variables));
            (then.0.min(otherwise.0), then.1.max(otherwise.1))
        }
        ExpressionKind::Binary { operator, left, right } => {
            let (left_range, right_range) = (value_range(left, variables), value_range(right, variables));
            operator.range(left.value, left_range, right_range).map_or(whole, fitting)
        }
    }
}

impl Binary {
    /// Bounds of the result before it wraps, for two operands of this type within these bounds, where they are easily
    /// told. The true range may be smaller.
    pub fn range(self, operands: Type, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
        let corners = |apply: fn(i64, i64) -> Option<i64>| {
            let corner = |left, right| apply(left, right);
            let all = [
                corner(left.0, right.0)?,
                corner(left.0, right.1)?,
                corner(left.1, right.0)?,
                corner(left.1, right.1)?,
            ];
            Some((*all.iter().min()?, *all.iter().max()?))
        };
        match self {
            Binary::Add => Some((left.0 + right.0, left.1 + right.1)),
            Binary::Subtract => Some((left.0 - right.1, left.1 - right.0)),
            Binary::Multiply => corners(i64::checked_mul),
            Binary::Minimum => Some((left.0.min(right.0), left.1.min(right.1))),
            Binary::Maximum => Some((left.0.max(right.0), left.1.max(right.1))),
            Binary::Divide if right.0 > 0 => corners(|left, right| Some(left.div_euclid(right))),
            Binary::Modulo if right.0 > 0 => Some((0, right.1 - 1)),
            Binary::ShiftRight if right.0 >= 0 && right.1 < i64::from(operands.bits()) => {
                corners(|left, right| Some(left >> right))
            }
            // A mask without sign limits from above.
            Binary::And if left.0 >= 0 && right.0 >= 0 => Some((0, left.1.min(right.1))),
            _ => None,
        }
    }
}
