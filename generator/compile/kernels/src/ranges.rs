//! Ranges of the values of nodes.

use pushmem_nest::{Binary, Type, Unary};

use crate::node::NodeKind;

/// Bounds of a value.
type Range = (i64, i64);

/// Bounds of the value of a node, from the types and bounds of its operands. The true range may be smaller.
pub(crate) fn range(kind: &NodeKind, value: Type, operand: impl Fn(usize) -> (Type, Range)) -> Range {
    let whole = (value.min(), value.max());
    let fitting = |(low, high): Range| if value.holds(low) && value.holds(high) { (low, high) } else { whole };
    match *kind {
        NodeKind::Constant(number) => (number, number),
        NodeKind::Load(_)
        | NodeKind::Variable(_)
        | NodeKind::Lookup { .. }
        | NodeKind::Fetch { .. }
        | NodeKind::Read { .. } => whole,
        NodeKind::Cast(from) => fitting(operand(from).1),
        NodeKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (operand(then).1, operand(otherwise).1);
            (then.0.min(otherwise.0), then.1.max(otherwise.1))
        }
        NodeKind::Unary { operator, operand: from } => {
            let (low, high) = operand(from).1;
            match operator {
                Unary::Negate => fitting((-high, -low)),
                Unary::Absolute if low >= 0 => (low, high),
                Unary::Absolute => (if high < 0 { -high } else { 0 }, high.max(-low)),
                _ => whole,
            }
        }
        NodeKind::Binary { operator, left, right } => {
            let ((operands, left), (_, right)) = (operand(left), operand(right));
            binary(operator, operands, left, right).map_or(whole, fitting)
        }
    }
}

/// Bounds before wrapping: those of the program's own check, and some that only hardware gains from.
fn binary(operator: Binary, operands: Type, left: Range, right: Range) -> Option<Range> {
    operator.range(operands, left, right).or_else(|| match operator {
        // Division by 0 gives 0. Quotients by 1 and by -1 are the furthest from it.
        Binary::Divide => {
            let (low, high) = (left.0.min(0), left.1.max(0));
            Some(if right.0 >= 0 { (low, high) } else { (low.min(-high), high.max(-low)) })
        }
        Binary::Modulo if right.0 >= 0 => Some((0, (right.1 - 1).max(0))),
        Binary::ShiftLeft if right.0 >= 0 && right.1 < i64::from(operands.bits()) => {
            Some(((left.0 << right.0).min(left.0 << right.1), (left.1 << right.0).max(left.1 << right.1)))
        }
        // A mask without sign limits from above.
        Binary::And if right.0 >= 0 => Some((0, right.1)),
        Binary::And if left.0 >= 0 => Some((0, left.1)),
        _ => None,
    })
}
