//! In which order cells do all the work of a block of cycles.
//!
//! A cell that is in no loop does all cycles of a block at once, after those that it takes values of. Cells of a loop do as many cycles at
//! once as pass on some connection of each loop: values on these come from an earlier turn.

use itertools::Itertools;
use petgraph::algo::{tarjan_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::netlist::{CellId, Core, Netlist};

/// Cells that are in a loop together, or a cell that is in none.
pub(crate) struct Group {
    /// Each is after those whose values of the same turn it takes.
    pub cells: Vec<CellId>,
    /// The cycles of a turn, at least one.
    pub cycles: usize,
}

/// The cells of a netlist, each group after those that it takes values of, with turns of at most so many cycles.
///
/// # Panics
/// If there is a loop without cycles.
pub(crate) fn groups(netlist: &Netlist, most: usize) -> Vec<Group> {
    let graph = dependences(netlist);
    // The components come in the opposite order.
    tarjan_scc(&graph).into_iter().rev().map(|nodes| group(&graph, &nodes, most)).collect()
}

/// The cells of a component, with the longest turns.
fn group(graph: &DiGraph<CellId, usize>, nodes: &[NodeIndex], most: usize) -> Group {
    if let [node] = nodes
        && !graph.contains_edge(*node, *node)
    {
        return Group { cells: vec![graph[*node]], cycles: most };
    }
    let inside = graph.filter_map(|node, cell| nodes.contains(&node).then_some(*cell), |_, cycles| Some(*cycles));
    let limits = inside.edge_weights().copied().filter(|cycles| *cycles < most).chain([most]);
    let group = limits.sorted().rev().dedup().filter(|cycles| *cycles > 0).find_map(|cycles| {
        let of_turn = inside.filter_map(|_, cell| Some(*cell), |_, other| (*other < cycles).then_some(()));
        let order = toposort(&of_turn, None).ok()?;
        Some(Group { cells: order.into_iter().map(|node| of_turn[node]).collect(), cycles })
    });
    group.expect("each loop takes cycles")
}

/// The cells, and the cycles from a value of one to those of another that depend on it.
fn dependences(netlist: &Netlist) -> DiGraph<CellId, usize> {
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
            let cycles = usize::try_from(sink.cycles + own).expect("no connection is early");
            graph.add_edge(node(net.source), node(sink.cell), cycles);
        }
    }
    graph
}
