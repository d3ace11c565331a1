//! Cost of datapaths.

use pushmem_nest::Binary;

use crate::datapath::Datapath;
use crate::node::{DatapathNode, NodeKind};
use crate::operators::Operator;

impl Datapath {
    /// The number of processing elements: operations of a word that elements with an arithmetic unit each would have to do
    /// in every cycle, as [`Operators::processing_elements`](crate::Operators::processing_elements) counts them. A division
    /// and a modulo of the same operands in one stage count once. A multiplication by a constant that became shifts and
    /// additions counts the additions.
    pub fn processing_elements(&self) -> u64 {
        self.processing_elements
    }

    /// The number of multipliers. A multiplication by a constant that became shifts and additions has none.
    pub fn multipliers(&self) -> u64 {
        let multiplies = |node: &&DatapathNode| {
            matches!(node.kind, NodeKind::Binary { operator: Binary::Multiply | Binary::FloatMultiply(_), .. })
        };
        self.nodes.iter().filter(multiplies).count() as u64
    }

    /// A node, as a technology sees it.
    pub(crate) fn operator(&self, node: usize) -> Operator {
        let DatapathNode { kind, value, .. } = self.nodes[node];
        let operand = kind.operands().next().map_or(value, |first| self.nodes[first].value);
        let constant = kind.operands().last().is_some_and(|last| self.nodes[last].kind.is_constant());
        Operator { kind, operand, value, constant }
    }

    /// Whether a node is the modulo of a division that the datapath has, too: the same divider computes both.
    pub(crate) fn shares_divider(&self, node: usize) -> bool {
        let is_modulo = matches!(self.nodes[node].kind, NodeKind::Binary { operator: Binary::Modulo, .. });
        is_modulo && self.other_division(node).is_some()
    }

    /// The modulo of a division, or the division of a modulo: the same divider computes both.
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

    /// The number of bits of all pipeline registers, those within modules of the library and that of the result included.
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
            bits += float_bits(&self.nodes[node].kind);
        }
        bits
    }

    /// The width of a register for the value of the node, if the node needs any.
    pub(crate) fn register_bits(&self, node: usize) -> Option<u32> {
        let DatapathNode { kind, value, .. } = self.nodes[node];
        (!kind.is_constant()).then(|| value.bits())
    }

    /// The register bits of the divider of a node: three words a stage, of which the last keeps only the words in use,
    /// and the signs.
    fn divider_bits(&self, node: usize) -> u64 {
        let width = u64::from(self.nodes[node].value.bits());
        let stages = self.nodes[node].latency;
        match (self.other_division(node), self.nodes[node].kind) {
            // Counted with the division, except for its result.
            (Some(_), NodeKind::Binary { operator: Binary::Modulo, .. }) => width,
            _ => {
                let signs = if self.nodes[node].value.is_signed() { 2 * (stages - 1) } else { 0 };
                3 * width * (stages - 1) + signs + width
            }
        }
    }
}

/// The register bits of the module of an operator of numbers with a fraction: between its two stages, and the result.
fn float_bits(kind: &NodeKind) -> u64 {
    let NodeKind::Binary { operator, .. } = kind else { return 0 };
    let between = match *operator {
        Binary::FloatAdd(format) | Binary::FloatSubtract(format) => format.sum_terms(),
        Binary::FloatMultiply(format) => format.product_terms(),
        _ => return 0,
    };
    u64::from(between + u16::BITS)
}
