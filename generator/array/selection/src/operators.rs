//! The operators of processing elements, as the balancing of chains sees them.

use pushmem_datapaths::{Delay, NodeKind, Operator, Operators};
use pushmem_nest::{Binary, Type};
use pushmem_pe::PeSpec;

/// The operators of a processing element: each takes one, and a cycle.
#[derive(Clone, Copy, Debug)]
pub struct PeOperators<'a>(pub &'a PeSpec);

impl Operators for PeOperators<'_> {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn word_bits(&self) -> u32 {
        self.0.word_bits
    }

    fn units_per_stage(&self) -> u32 {
        1
    }

    fn of_recurrences(&self) -> &dyn Operators {
        self
    }

    /// A multiplication by a constant takes one processing element, as an addition does.
    fn adders_per_multiplier(&self) -> usize {
        0
    }

    fn shifts_are_wires(&self) -> bool {
        false
    }

    /// Selection divides by constants with products of words.
    fn divides_by_products(&self) -> bool {
        false
    }

    /// Arrays have no random-access memories. Of other operators, selection itself says which it cannot legalize.
    fn computes(&self, operator: &Operator) -> bool {
        !matches!(operator.kind, NodeKind::Read { .. })
    }

    fn delay(&self, operator: &Operator) -> Delay {
        match operator.kind {
            NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Cast(_) => Delay::Units(0),
            NodeKind::Fetch { latency, .. } => Delay::Stages(latency),
            NodeKind::Binary { operator: Binary::Divide | Binary::Modulo, .. } if !operator.constant => {
                Delay::Stages(u64::from(operator.operand.bits()))
            }
            _ => Delay::Units(1),
        }
    }

    /// Registers of operands are among those of the routes, whose number placement decides.
    fn operand_latency(&self, _: Type) -> u64 {
        0
    }

    fn processing_elements(&self, operator: &Operator) -> u64 {
        u64::from(operator.value.bits().div_ceil(self.word_bits()))
    }
}
