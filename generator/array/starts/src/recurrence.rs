//! Loops of cells, before any cell has a place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index_vec::IndexVec;
use pushmem_netlist::{CellId, Netlist};

use crate::error::StartError;
use crate::solve::{Demand, starts};

/// A connection on a loop, with the cycles that the tightest loop through it has to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence {
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
pub fn recurrences(netlist: &Netlist, demands: &[Demand]) -> Result<Vec<Recurrence>, StartError> {
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
            found.push(Recurrence { connection: number, slack, length: length + 1 });
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

/// The strongly connected component of each cell (Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972), without
/// recursion.
fn components(leaving: &IndexVec<CellId, Vec<(CellId, i64)>>) -> IndexVec<CellId, usize> {
    const NONE: usize = usize::MAX;
    let fill = |value: usize| -> IndexVec<CellId, usize> { leaving.iter().map(|_| value).collect() };
    let (mut order, mut low, mut group) = (fill(NONE), fill(NONE), fill(NONE));
    let (mut stack, mut visited, mut groups) = (Vec::new(), 0, 0);
    for root in leaving.indices() {
        if order[root] != NONE {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((cell, place)) = calls.pop() {
            if place == 0 {
                (order[cell], low[cell]) = (visited, visited);
                visited += 1;
                stack.push(cell);
            }
            match leaving[cell].get(place) {
                Some(&(next, _)) => {
                    calls.push((cell, place + 1));
                    if order[next] == NONE {
                        calls.push((next, 0));
                    } else if group[next] == NONE {
                        low[cell] = low[cell].min(order[next]);
                    }
                }
                None => {
                    if low[cell] == order[cell] {
                        while let Some(member) = stack.pop() {
                            group[member] = groups;
                            if member == cell {
                                break;
                            }
                        }
                        groups += 1;
                    }
                    if let Some((caller, _)) = calls.last() {
                        low[*caller] = low[*caller].min(low[cell]);
                    }
                }
            }
        }
    }
    group
}
