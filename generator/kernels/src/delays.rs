//! How long operations take: the one place that decides how deep pipelines are.
//!
//! The unit is about the delay of one gate. Only ratios matter.

use pushmem_nest::{Binary, Type, Unary};

use crate::node::NodeKind;

/// What fits between two registers: a multiplication, or three additions one after the other.
pub(crate) const UNITS_PER_STAGE: u32 = 12;

/// Quotient bits that a stage of the divider computes, each a subtraction and a selection.
const QUOTIENT_BITS_PER_STAGE: u32 = 2;

const ADD: u32 = 4;
const COMPARE: u32 = 4;
const SELECT: u32 = 2;
const BITWISE: u32 = 1;
const SHIFT: u32 = 4;
const LOOKUP: u32 = 8;
const MULTIPLY: u32 = 12;

/// The delay of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// Combinational, in units.
    Units(u32),
    /// A pipeline of its own, in stages. It takes its operands from registers and gives its result from registers.
    Stages(u64),
}

/// The delay of a node: `operand` is the type of its first operand, `constant` whether its last operand is a constant.
pub(crate) fn delay(kind: &NodeKind, operand: Type, constant: bool) -> Delay {
    let units = match kind {
        NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Cast(_) => 0,
        NodeKind::Lookup { .. } => LOOKUP,
        NodeKind::Fetch { latency, .. } => return Delay::Stages(*latency),
        NodeKind::Select { .. } => SELECT,
        NodeKind::Unary { operator, .. } => match operator {
            Unary::Negate => ADD,
            Unary::Not => 0,
            Unary::Absolute => ADD + SELECT,
        },
        NodeKind::Binary { operator, .. } => match operator {
            Binary::Add | Binary::Subtract => ADD,
            Binary::Multiply => MULTIPLY,
            Binary::Divide | Binary::Modulo => return Delay::Stages(divider_stages(operand)),
            Binary::ShiftLeft | Binary::ShiftRight if constant => 0,
            // The sign of the amount selects the direction.
            Binary::ShiftLeft | Binary::ShiftRight if operand.is_signed() => SHIFT + SELECT,
            Binary::ShiftLeft | Binary::ShiftRight => SHIFT,
            Binary::And | Binary::Or | Binary::Xor if constant => 0,
            Binary::And | Binary::Or | Binary::Xor => BITWISE,
            Binary::Minimum | Binary::Maximum | Binary::AbsoluteDifference => COMPARE + SELECT,
            _ => COMPARE,
        },
    };
    Delay::Units(units)
}

/// The stages of the divider `pushmem_divider` for operands of this type. Signed ones have a stage that takes the signs
/// off and one that puts them on again.
pub(crate) fn divider_stages(operands: Type) -> u64 {
    let signs = if operands.is_signed() { 2 } else { 0 };
    u64::from(operands.bits().div_ceil(QUOTIENT_BITS_PER_STAGE)) + signs
}
