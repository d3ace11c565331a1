//! The operators of a technology, their delays and their costs.
//!
//! A datapath graph says which function an operation computes; [`Operators`] decide how deep
//! its pipeline is.

use std::fmt;

use pushmem_nest::{Binary, Type, Unary};

use crate::node::NodeKind;
use crate::tables::READ_LATENCY;

/// An operator in its place in a graph, as a technology sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The kind of the node. Its operands are indices of the graph.
    pub kind: NodeKind,
    /// The type of the first operand; of the value, if there is none.
    pub operand: Type,
    /// The type of the value.
    pub value: Type,
    /// Whether the last operand is a constant.
    pub constant: bool,
}

/// The delay of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Combinational, in units of [`Operators::units_per_stage`].
    Units(u32),
    /// A pipeline of its own, in stages. It takes its operands from registers and gives its result from registers.
    Stages(u64),
}

/// The operators of a technology.
pub trait Operators: fmt::Debug + Send + Sync {
    /// The name of the technology, for messages.
    fn name(&self) -> &str;

    /// The bits of a word, which one processing element computes at a time.
    fn word_bits(&self) -> u32;

    /// The delay that fits between two registers, in units. A unit is about the delay of one gate; only ratios matter.
    fn units_per_stage(&self) -> u32;

    /// The same operators for operations whose results come back to them: the stages of these decide how often they begin.
    fn of_recurrences(&self) -> &dyn Operators;

    /// The cost of a multiplier, in adders of its width: a multiplication by a constant with more signed digits than this
    /// and one is left to a multiplier.
    fn adders_per_multiplier(&self) -> usize;

    /// Whether a shift by a constant is but wires, and not an operator of its own.
    fn shifts_are_wires(&self) -> bool;

    /// Whether a division by a constant becomes a product of 32 bits, which is smaller than a divider.
    fn divides_by_products(&self) -> bool;

    /// Whether the technology computes the operator.
    fn computes(&self, operator: &Operator) -> bool;

    /// The delay of an operator that the technology computes.
    fn delay(&self, operator: &Operator) -> Delay;

    /// Registers between the port of an operand and the first operator that takes it: a word is at the port so many cycles before
    /// an operation begins. Schedules know them as latencies of reads.
    fn operand_latency(&self, operand: Type) -> u64;

    /// The processing elements that an operator takes, if each has an arithmetic unit of a word and starts one operation a
    /// cycle.
    fn processing_elements(&self, operator: &Operator) -> u64;
}

/// The operators of the SystemVerilog that [`Datapath::module`](crate::Datapath::module) prints: all of the nest language.
///
/// Between two registers fits a multiplication, and some additions one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DedicatedOperators {
    /// The additions.
    additions: u32,
}

impl DedicatedOperators {
    /// Those of cell libraries.
    pub const LONG_STAGES: Self = DedicatedOperators { additions: 3 };

    /// Those of FPGAs, which have a register behind each adder anyway.
    pub const SHORT_STAGES: Self = DedicatedOperators { additions: 1 };

    /// Quotient bits that a stage of the divider computes, each a subtraction and a selection.
    fn quotient_bits_per_stage(self) -> u32 {
        if self.additions > 1 { 2 } else { 1 }
    }

    /// The stages of the divider `pushmem_divider` for operands of this type.
    fn divider_stages(self, operands: Type) -> u64 {
        u64::from(operands.bits().div_ceil(self.quotient_bits_per_stage())) + sign_stages(operands)
    }
}

const ADD: u32 = 4;
const COMPARE: u32 = 4;
const SELECT: u32 = 2;
const BITWISE: u32 = 1;
const SHIFT: u32 = 4;
const LOOKUP: u32 = 8;
const MULTIPLY: u32 = 12;
const FLOAT_TO_INTEGER: u32 = 8;

/// Stages of the modules that add and multiply numbers with a fraction: in each half the way from operands to results, which is
/// as long as that of a multiplication of 32 bits.
const FLOAT_STAGES: u64 = 2;

impl Operators for DedicatedOperators {
    fn name(&self) -> &str {
        "SystemVerilog"
    }

    fn word_bits(&self) -> u32 {
        16
    }

    fn units_per_stage(&self) -> u32 {
        self.additions * ADD
    }

    fn of_recurrences(&self) -> &dyn Operators {
        &Self::LONG_STAGES
    }

    fn adders_per_multiplier(&self) -> usize {
        2
    }

    fn shifts_are_wires(&self) -> bool {
        true
    }

    fn divides_by_products(&self) -> bool {
        true
    }

    fn computes(&self, _: &Operator) -> bool {
        true
    }

    fn delay(&self, operator: &Operator) -> Delay {
        let &Operator { kind, operand, constant, .. } = operator;
        let units = match kind {
            NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Cast(_) => 0,
            NodeKind::Lookup { .. } => LOOKUP,
            NodeKind::Fetch { latency, .. } => return Delay::Stages(latency),
            NodeKind::Read { .. } => return Delay::Stages(READ_LATENCY),
            NodeKind::Select { .. } => SELECT,
            NodeKind::Unary { operator, .. } => match operator {
                Unary::Negate => ADD,
                Unary::Not => 0,
                Unary::Absolute => ADD + SELECT,
                Unary::FloatNegate(_) | Unary::FloatAbsolute(_) | Unary::FloatFunction(..) => 0,
                // An absolute value, a shift by as many bits as lead, and a sum.
                Unary::FloatFromInteger(_) => MULTIPLY,
                Unary::FloatToInteger(_) => FLOAT_TO_INTEGER,
            },
            NodeKind::Binary { operator, .. } => match operator {
                Binary::Add | Binary::Subtract => ADD,
                Binary::Multiply => MULTIPLY,
                Binary::Divide | Binary::Modulo => return Delay::Stages(self.divider_stages(operand)),
                Binary::ShiftLeft | Binary::ShiftRight if constant => 0,
                // The sign of the amount selects the direction.
                Binary::ShiftLeft | Binary::ShiftRight if operand.is_signed() => SHIFT + SELECT,
                Binary::ShiftLeft | Binary::ShiftRight => SHIFT,
                Binary::And | Binary::Or | Binary::Xor if constant => 0,
                Binary::And | Binary::Or | Binary::Xor => BITWISE,
                Binary::Minimum
                | Binary::Maximum
                | Binary::AbsoluteDifference
                | Binary::FloatMinimum(_)
                | Binary::FloatMaximum(_) => COMPARE + SELECT,
                Binary::FloatAdd(_) | Binary::FloatSubtract(_) | Binary::FloatMultiply(_) => {
                    return Delay::Stages(FLOAT_STAGES);
                }
                _ => COMPARE,
            },
        };
        // An operator that takes longer than a stage has a stage to itself.
        Delay::Units(units.min(self.units_per_stage()))
    }

    /// Operators take their operands from the ports.
    fn operand_latency(&self, _: Type) -> u64 {
        0
    }

    /// Constants, casts, shifts by constants, operations of bits with constants, and inversions of truth values are free.
    /// Tables count nothing: they are memories. Everything else counts one, of 32 bits two; a multiplication of 32 bits
    /// counts three, its partial products; a division or modulo counts its quotient bits, each a subtraction.
    fn processing_elements(&self, operator: &Operator) -> u64 {
        let &Operator { kind, operand, value, constant } = operator;
        let per_word = |bits: u32| u64::from(bits.div_ceil(self.word_bits()));
        let bits = operand.bits();
        match kind {
            NodeKind::Constant(_)
            | NodeKind::Load(_)
            | NodeKind::Variable(_)
            | NodeKind::Lookup { .. }
            | NodeKind::Fetch { .. }
            | NodeKind::Read { .. }
            | NodeKind::Cast(_) => 0,
            NodeKind::Unary { .. } if value == Type::Bool => 0,
            NodeKind::Unary { .. } => per_word(bits),
            NodeKind::Select { .. } => per_word(value.bits()),
            NodeKind::Binary { operator, .. } => match operator {
                Binary::And | Binary::Or | Binary::Xor | Binary::ShiftLeft | Binary::ShiftRight if constant => 0,
                Binary::Multiply if bits > self.word_bits() => 3,
                Binary::Divide | Binary::Modulo => u64::from(bits) * per_word(bits),
                _ => per_word(bits),
            },
        }
    }
}

/// The stages of a divider that take the signs off and put them on again.
fn sign_stages(operands: Type) -> u64 {
    if operands.is_signed() { 2 } else { 0 }
}

/// The quotient bits that a stage of a divider with so many stages computes.
pub(crate) fn quotient_bits_per_stage(operands: Type, stages: u64) -> u64 {
    u64::from(operands.bits()).div_ceil(stages - sign_stages(operands))
}
