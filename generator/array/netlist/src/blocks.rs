//! In which order cells do all the work of a block of cycles.
//!
//! A cell that is in no loop does all cycles of a block at once, after those that it takes values of. Cells of a loop do them together,
//! one cycle after the other.

use std::collections::HashMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeFiltered, Reversed};

use crate::netlist::{CellId, Core, Netlist};

/// Cells that are in a loop together, or a cell that is in none.
pub(crate) struct Group {
    /// In a cycle each is after those whose values of the same cycle it takes.
    pub cells: Vec<CellId>,
    /// Whether there is a loop.
    pub is_loop: bool,
}

/// The cells of a netlist, each group after those that it takes values of.
pub(crate) fn groups(netlist: &Netlist) -> Vec<Group> {
    let graph = dependences(netlist);
    let places = places_in_cycle(&graph);
    let group = |mut nodes: Vec<NodeIndex>| {
        let is_loop = nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]);
        nodes.sort_by_key(|node| places[node]);
        Group { cells: nodes.into_iter().map(|node| graph[node]).collect(), is_loop }
    };
    // The components come in the opposite order.
    tarjan_scc(&graph).into_iter().rev().map(group).collect()
}

/// The cells, and the cycles from a value of one to those of another that depend on it.
fn dependences(netlist: &Netlist) -> DiGraph<CellId, i64> {
    let mut graph = DiGraph::new();
    netlist.cells.indices().for_each(|cell| {
        graph.add_node(cell);
    });
    let node = |cell: CellId| NodeIndex::new(cell.index());
    for net in &netlist.nets {
        for sink in &net.sinks {
            // Memories show the words of a cycle in the next one.
            let own = match netlist.cells[sink.cell].core {
                Core::Memory(_) | Core::Predicate(_) => 1,
                Core::Pe(_) | Core::Input | Core::Output => 0,
            };
            graph.add_edge(node(net.source), node(sink.cell), sink.cycles + own);
        }
    }
    graph
}

/// The place of each cell in an order of the work of a cycle, each after those that it depends on in it.
fn places_in_cycle(graph: &DiGraph<CellId, i64>) -> HashMap<NodeIndex, usize> {
    let of_cycle = EdgeFiltered::from_fn(graph, |edge| *edge.weight() == 0);
    let of_cycle = Reversed(&of_cycle);
    let mut walk = DfsPostOrder::empty(of_cycle);
    let mut places = HashMap::new();
    for start in graph.node_indices() {
        walk.move_to(start);
        while let Some(node) = walk.next(of_cycle) {
            places.insert(node, places.len());
        }
    }
    places
}
