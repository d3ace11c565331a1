//! Routes, followed back to the registers and outputs that drive them.

use pushmem_bitstream::Configuration;
use pushmem_resources::{Chosen, Graph, Node, NodeId};

/// The index of a value: that of the node which has it.
pub type Slot = u32;

/// The slot of a node.
pub fn slot(node: NodeId) -> Slot {
    node.index() as Slot
}

/// Follows routes of a configuration.
pub struct Routes<'a> {
    pub graph: &'a Graph,
    pub configuration: &'a Configuration,
    /// The slot of the constant 0.
    pub zero: Slot,
}

impl Routes<'_> {
    /// The slot that a register takes at the end of a cycle; nothing, if it holds still.
    pub fn taken(&self, register: NodeId) -> Option<Slot> {
        match self.chosen(register) {
            Chosen::Node(node) => Some(self.driver(node)),
            Chosen::Edge => Some(self.zero),
            Chosen::Nothing => None,
        }
    }

    /// The slot that an input of a core shows, or a track after its register: that of 0, if it takes nothing.
    pub fn input(&self, input: NodeId) -> Slot {
        self.taken(input).unwrap_or(self.zero)
    }

    fn chosen(&self, node: NodeId) -> Chosen {
        self.graph.chosen(node, self.configuration.choice(self.graph, node))
    }

    /// The register or the output that a track carries, past the registers that it passes around.
    fn driver(&self, node: NodeId) -> Slot {
        match self.graph.resource(node).node {
            Node::Segment { .. } => self.input(node),
            Node::Register { .. } | Node::Output { .. } | Node::Input { .. } => slot(node),
        }
    }
}
