//! The range of the values of an expression.

use crate::operators::Binary;
use std::collections::HashMap;

use crate::expression::{Expression, ExpressionKind, Part};

use crate::program::Table;
use crate::types::Type;

/// Bounds of the value, for these tables, and least and greatest values of the loop variables. The true range may be smaller.
pub(crate) fn value_range(expression: &Expression, tables: &[Table], variables: &[(i64, i64)]) -> (i64, i64) {
    let mut known = HashMap::new();
    for part in expression.parts() {
        let range = range_of(part, tables, variables, &known);
        known.insert(Part(part), range);
    }
    known[&Part(expression)]
}

/// The bounds of a value whose operands have known ones.
fn range_of(
    of: &Expression,
    tables: &[Table],
    variables: &[(i64, i64)],
    known: &HashMap<Part, (i64, i64)>,
) -> (i64, i64) {
    let whole = (of.value.min(), of.value.max());
    let fitting = |(low, high): (i64, i64)| match of.value.holds(low) && of.value.holds(high) {
        true => (low, high),
        false => whole,
    };
    match &of.kind {
        ExpressionKind::Constant(number) => (*number, *number),
        ExpressionKind::Variable(variable) => variables[*variable],
        ExpressionKind::Load(_) | ExpressionKind::Unary { .. } => whole,
        ExpressionKind::Lookup { table, .. } => {
            let entries = &tables[*table].values;
            let bounds = entries.iter().min().zip(entries.iter().max());
            bounds.filter(|_| of.value.format().is_none()).map_or(whole, |(low, high)| (*low, *high))
        }
        ExpressionKind::Cast(operand) if operand.value.format().or(of.value.format()).is_some() => whole,
        ExpressionKind::Cast(operand) => fitting(known[&Part(operand)]),
        ExpressionKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (known[&Part(then)], known[&Part(otherwise)]);
            (then.0.min(otherwise.0), then.1.max(otherwise.1))
        }
        ExpressionKind::Binary { operator, left, right } => {
            let (left_range, right_range) = (known[&Part(left)], known[&Part(right)]);
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
