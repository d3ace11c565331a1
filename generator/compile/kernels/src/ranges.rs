//! Ranges of the values of nodes.

use pushmem_nest::Type;

use pushmem_datapaths::NodeKind;

/// Bounds of a value.
type Range = (i64, i64);

/// Bounds of the value of a node, from the types and bounds of its operands. The true range may be smaller.
pub(crate) fn range(kind: &NodeKind, value: Type, operand: impl Fn(usize) -> (Type, Range)) -> Range {
    let whole = (value.min(), value.max());
    match *kind {
        NodeKind::Constant(number) => (number, number),
        NodeKind::Load(_)
        | NodeKind::Variable(_)
        | NodeKind::Lookup { .. }
        | NodeKind::Fetch { .. }
        | NodeKind::Read { .. } => whole,
        NodeKind::Cast(from) => value.fitting(Some(operand(from).1)),
        NodeKind::Select { then, otherwise, .. } => {
            let (then, otherwise) = (operand(then).1, operand(otherwise).1);
            (then.0.min(otherwise.0), then.1.max(otherwise.1))
        }
        NodeKind::Unary { operator, operand: from } => value.fitting(operator.range(operand(from).1)),
        NodeKind::Binary { operator, left, right } => value.fitting(operator.range(operand(left).1, operand(right).1)),
    }
}
