//! What a datapath costs.

use pushmem_nest::{Binary, Type};

use crate::datapath::Datapath;
use crate::node::{Node, NodeKind};

impl Datapath {
    /// The number of 16-bit operations that elements with an arithmetic unit each would have to do in every cycle.
    ///
    /// Constants, casts, shifts by constants, operations of bits with constants, and inversions of truth values are free.
    /// Tables count nothing: they are memories. Everything else counts one, of 32 bits two; a multiplication of 32 bits
    /// counts three, its partial products; a division or modulo counts its quotient bits, each a subtraction, and both of
    /// the same operands count once. A multiplication by a constant that became shifts and additions counts the additions.
    pub fn processing_elements(&self) -> u64 {
        (0..self.nodes.len()).map(|node| self.operations(node)).sum()
    }

    /// The number of multipliers. A multiplication by a constant that became shifts and additions has none.
    pub fn multipliers(&self) -> u64 {
        let multiplies = |node: &&Node| matches!(node.kind, NodeKind::Binary { operator: Binary::Multiply, .. });
        self.nodes.iter().filter(multiplies).count() as u64
    }

    fn operations(&self, node: usize) -> u64 {
        let is_constant = |operand: usize| self.nodes[operand].kind.is_constant();
        let per_word = |bits: u32| u64::from(bits.div_ceil(16));
        match self.nodes[node].kind {
            NodeKind::Constant(_)
            | NodeKind::Load(_)
            | NodeKind::Variable(_)
            | NodeKind::Lookup { .. }
            | NodeKind::Fetch { .. }
            | NodeKind::Cast(_) => 0,
            NodeKind::Unary { .. } if self.nodes[node].value == Type::Bool => 0,
            NodeKind::Unary { operand, .. } => per_word(self.nodes[operand].value.bits()),
            NodeKind::Select { .. } => per_word(self.nodes[node].value.bits()),
            NodeKind::Binary { operator, left, right } => {
                let bits = self.nodes[left].value.bits();
                match operator {
                    Binary::And | Binary::Or | Binary::Xor | Binary::ShiftLeft | Binary::ShiftRight
                        if is_constant(right) =>
                    {
                        0
                    }
                    Binary::Multiply if bits > 16 => 3,
                    Binary::Divide => u64::from(bits) * per_word(bits),
                    Binary::Modulo if self.other_division(node).is_some() => 0,
                    Binary::Modulo => u64::from(bits) * per_word(bits),
                    _ => per_word(bits),
                }
            }
        }
    }

    /// The modulo of a division, or the division of a modulo: what the same divider computes.
    pub(crate) fn other_division(&self, node: usize) -> Option<usize> {
        let NodeKind::Binary { operator, left, right } = self.nodes[node].kind else {
            return None;
        };
        let operator = match operator {
            Binary::Divide => Binary::Modulo,
            Binary::Modulo => Binary::Divide,
            _ => return None,
        };
        let wanted = NodeKind::Binary { operator, left, right };
        self.nodes.iter().position(|other| other.kind == wanted && other.stage == self.nodes[node].stage)
    }

    /// The number of bits of all pipeline registers, those within dividers and that of the result included.
    pub fn registers(&self) -> u64 {
        let mut bits = 0;
        for (node, last) in self.last_uses().into_iter().enumerate() {
            let Some(width) = self.register_bits(node) else {
                continue;
            };
            bits += u64::from(width) * (last - self.available(node));
            if self.nodes[node].kind.is_division() {
                bits += self.divider_bits(node);
            }
        }
        bits
    }

    /// The width of a register for the value of the node, if the node needs any.
    pub(crate) fn register_bits(&self, node: usize) -> Option<u32> {
        let Node { kind, value, .. } = self.nodes[node];
        (!kind.is_constant()).then(|| value.bits())
    }

    /// The register bits of the divider of a node: three words a stage, of which the last keeps what is used only, and
    /// the signs.
    fn divider_bits(&self, node: usize) -> u64 {
        let width = u64::from(self.nodes[node].value.bits());
        let stages = self.nodes[node].latency();
        match (self.other_division(node), self.nodes[node].kind) {
            // Counted with the division, but for its result.
            (Some(_), NodeKind::Binary { operator: Binary::Modulo, .. }) => width,
            _ => {
                let signs = if self.nodes[node].value.is_signed() { 2 * (stages - 1) } else { 0 };
                3 * width * (stages - 1) + signs + width
            }
        }
    }
}
