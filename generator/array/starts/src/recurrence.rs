//! Loops of cells, before any cell has a place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index_vec::IndexVec;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use pushmem_netlist::{CellId, Netlist};

use crate::error::StartError;
use crate::solve::{Demand, starts};

/// A connection on a loop, with the cycles that the tightest loop through it has to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopConnection {
    /// The connection, by its number.
    pub connection: usize,
    /// The cycles that the tightest loop has beyond its demands.
    pub slack: i64,
    /// The connections of that loop.
    pub length: i64,
}

/// The connections on loops. Demands are those of neighbouring tiles.
///
/// # Errors
/// When a loop has too few cycles wherever its cells are.
pub fn recurrences(netlist: &Netlist, demands: &[Demand]) -> Result<Vec<LoopConnection>, StartError> {
    // With these lags, no connection has a negative rest, and the shortest way back is Dijkstra's.
    let lags = starts(netlist, demands)?;
    let mut leaving: IndexVec<CellId, Vec<(CellId, i64)>> = netlist.cells.iter().map(|_| Vec::new()).collect();
    let rest = |connection: &pushmem_netlist::Connection, demand: &Demand| {
        crate::solve::registers(&lags, connection) - demand.least
    };
    for (connection, demand) in netlist.connections().zip(demands) {
        leaving[connection.of.source].push((connection.sink.cell, rest(&connection, demand)));
    }
    let groups = components(&leaving);
    let mut found = Vec::new();
    for (number, (connection, demand)) in netlist.connections().zip(demands).enumerate() {
        let (source, sink) = (connection.of.source, connection.sink.cell);
        if groups[source] != groups[sink] {
            continue;
        }
        if let Some((back, length)) = shortest(&leaving, &groups, sink, source) {
            let slack = back + rest(&connection, demand);
            found.push(LoopConnection { connection: number, slack, length: length + 1 });
        }
    }
    Ok(found)
}

/// The length of the shortest way between two cells of a group, and its connections.
fn shortest(
    leaving: &IndexVec<CellId, Vec<(CellId, i64)>>,
    groups: &IndexVec<CellId, usize>,
    from: CellId,
    to: CellId,
) -> Option<(i64, i64)> {
    let mut heap = BinaryHeap::from([Reverse((0, 0, from))]);
    let mut done: IndexVec<CellId, bool> = leaving.iter().map(|_| false).collect();
    while let Some(Reverse((far, arcs, cell))) = heap.pop() {
        if cell == to {
            return Some((far, arcs));
        }
        if std::mem::replace(&mut done[cell], true) {
            continue;
        }
        for &(next, length) in leaving[cell].iter().filter(|(next, _)| groups[*next] == groups[to]) {
            heap.push(Reverse((far + length, arcs + 1, next)));
        }
    }
    None
}

/// The number of the strongly connected component of each cell.
fn components(leaving: &IndexVec<CellId, Vec<(CellId, i64)>>) -> IndexVec<CellId, usize> {
    let mut graph = DiGraphMap::<CellId, ()>::new();
    for (cell, ways) in leaving.iter_enumerated() {
        graph.add_node(cell);
        ways.iter().for_each(|(next, _)| {
            graph.add_edge(cell, *next, ());
        });
    }
    let mut group: IndexVec<CellId, usize> = leaving.iter().map(|_| 0).collect();
    for (number, members) in tarjan_scc(&graph).into_iter().enumerate() {
        members.into_iter().for_each(|cell| group[cell] = number);
    }
    group
}
