//! The range of the values of an expression.

use std::collections::HashMap;

use crate::expression::{Expression, ExpressionKind, Part};
use crate::operators::{Binary, Unary};
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
    match &of.kind {
        ExpressionKind::Constant(number) => (*number, *number),
        ExpressionKind::Variable(variable) => variables[*variable],
        ExpressionKind::Load(_) => whole,
        ExpressionKind::Unary { operator, operand } => of.value.fitting(operator.range(known[&Part(operand)])),
        ExpressionKind::Lookup { table, .. } => {
            let entries = &tables[*table].values;
            let bounds = entries.iter().min().zip(entries.iter().max());
            bounds.filter(|_| of.value.format().is_none()).map_or(whole, |(low, high)| (*low, *high))
        }
        ExpressionKind::Cast(operand) if operand.value.format().or(of.value.format()).is_some() => whole,
        ExpressionKind::Cast(operand) => of.value.fitting(Some(known[&Part(operand)])),
        ExpressionKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (known[&Part(then)], known[&Part(otherwise)]);
            (then.0.min(otherwise.0), then.1.max(otherwise.1))
        }
        ExpressionKind::Binary { operator, left, right } => {
            of.value.fitting(operator.range(known[&Part(left)], known[&Part(right)]))
        }
    }
}

impl Type {
    /// These bounds where the type holds them; otherwise, or where there are none, those of all its values, as values wrap.
    pub fn fitting(self, range: Option<(i64, i64)>) -> (i64, i64) {
        range.filter(|(low, high)| self.holds(*low) && self.holds(*high)).unwrap_or((self.min(), self.max()))
    }
}

impl Unary {
    /// Bounds of the result before it wraps, for an operand within these bounds, where they are easily told.
    pub fn range(self, (low, high): (i64, i64)) -> Option<(i64, i64)> {
        match self {
            Unary::Negate => Some((-high, -low)),
            Unary::Absolute if low >= 0 => Some((low, high)),
            Unary::Absolute => Some(((-high).max(0), high.max(-low))),
            _ => None,
        }
    }
}

impl Binary {
    /// Bounds of the result before it wraps, for two operands of one type within these bounds, where they are easily
    /// told. The true range may be smaller.
    pub fn range(self, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
        let corners = |apply: fn(i64, i64) -> i64| {
            let all = [apply(left.0, right.0), apply(left.0, right.1), apply(left.1, right.0), apply(left.1, right.1)];
            (all.into_iter().fold(i64::MAX, i64::min), all.into_iter().fold(i64::MIN, i64::max))
        };
        // Other amounts shift everything out, or the other way.
        let shifts = right.0 >= 0 && right.1 < 32;
        Some(match self {
            Binary::Add => (left.0 + right.0, left.1 + right.1),
            Binary::Subtract => (left.0 - right.1, left.1 - right.0),
            Binary::Multiply => corners(i64::saturating_mul),
            Binary::Minimum => (left.0.min(right.0), left.1.min(right.1)),
            Binary::Maximum => (left.0.max(right.0), left.1.max(right.1)),
            Binary::AbsoluteDifference => Unary::Absolute.range((left.0 - right.1, left.1 - right.0))?,
            Binary::Divide if right.0 > 0 => corners(i64::div_euclid),
            // Division by 0 gives 0. Quotients by 1 and by -1 are the furthest from it.
            Binary::Divide if right.0 == 0 => (left.0.min(0), left.1.max(0)),
            Binary::Divide => (left.0.min(-left.1).min(0), left.1.max(-left.0).max(0)),
            Binary::Modulo if right.0 > 0 && left.0 >= 0 && left.1 < right.0 => left,
            Binary::Modulo if right.0 >= 0 => (0, (right.1 - 1).max(0)),
            Binary::ShiftRight if shifts => corners(|left, right| left >> right),
            Binary::ShiftLeft if shifts => corners(|left, right| left << right),
            // A mask without sign limits from above.
            Binary::And if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
            Binary::And if left.0 >= 0 => (0, left.1),
            Binary::And if right.0 >= 0 => (0, right.1),
            Binary::Or | Binary::Xor if left.0 >= 0 && right.0 >= 0 => {
                (0, (1 << (64 - (left.1 | right.1).leading_zeros())) - 1)
            }
            comparison if comparison.is_comparison() => (0, 1),
            _ => return None,
        })
    }
}
