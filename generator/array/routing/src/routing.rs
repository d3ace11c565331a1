//! Routes of nets.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use pushmem_fabric::Layer;
use pushmem_netlist::{NetId, Netlist};
use pushmem_resources::{Graph, Node, NodeId};
use pushmem_starts::Lags;

/// The way of a word from the source of a net to one of its sinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The nodes, from the output of the source to the input of the sink. The routes of a net are a tree: they share the
    /// beginnings of their ways.
    pub nodes: Vec<NodeId>,
    /// The cycles by which the operand is late, if the sink is one.
    pub delay: u32,
}

/// The routes of a placed netlist, and the starts of its cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// The cycles by which each cell starts later than in its schedule.
    pub lags: Lags,
    /// The routes of each net, in the order of its sinks.
    pub nets: IndexVec<NetId, Vec<Route>>,
}

/// Numbers of a routing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Tracks between two tiles that carry a word.
    pub word_wires: usize,
    /// Tracks that carry a bit.
    pub bit_wires: usize,
    /// Registers of tracks in use, of words and of bits.
    pub registers: usize,
    /// Operands that are late.
    pub delays: usize,
    /// The largest lag: cycles that routes add to the program.
    pub span: i64,
}

impl Routing {
    /// Counts of the resources that the routing takes.
    pub fn statistics(&self, netlist: &Netlist, graph: &Graph) -> Statistics {
        let span = self.lags.iter().copied().max().unwrap_or(0);
        let mut statistics = Statistics { span, ..Statistics::default() };
        for (net, routes) in netlist.nets.iter().zip(&self.nets) {
            let nodes: BTreeSet<NodeId> = routes.iter().flat_map(|route| &route.nodes).copied().collect();
            let count = |is: fn(Node) -> bool| nodes.iter().filter(|node| is(graph.resource(**node).node)).count();
            let wires = count(|node| matches!(node, Node::Segment { .. }));
            match net.layer {
                Layer::Word => statistics.word_wires += wires,
                Layer::Bit => statistics.bit_wires += wires,
            }
            statistics.registers += count(|node| matches!(node, Node::Register { .. }));
            statistics.delays += routes.iter().filter(|route| route.delay > 0).count();
        }
        statistics
    }
}
