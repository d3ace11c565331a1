//! In which order cells do all the work of a block of cycles.
//!
//! A cell that is in no loop does all cycles of a block at once, after those that it takes values of. Cells of a loop do them together,
//! one cycle after the other.

use index_vec::IndexVec;

use crate::netlist::{CellId, Core, Netlist};

/// Cells that are in a loop together, or a cell that is in none.
pub(crate) struct Group {
    /// In a cycle each is after those whose values of the same cycle it takes.
    pub cells: Vec<CellId>,
    /// Whether there is a loop.
    pub is_loop: bool,
}

/// A connection: its cells, and the cycles from a value of the first to one of the second that depends on it.
struct Dependence {
    from: CellId,
    to: CellId,
    cycles: i64,
}

/// The cells of a netlist, each group after those that it takes values of.
pub(crate) fn groups(netlist: &Netlist) -> Vec<Group> {
    let dependences = dependences(netlist);
    let of_cycle = places(&order(netlist, dependences.iter().filter(|each| each.cycles == 0)));
    let all = order(netlist, dependences.iter());
    let mut later: IndexVec<CellId, Vec<CellId>> = netlist.cells.iter().map(|_| Vec::new()).collect();
    let mut is_loop: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    for Dependence { from, to, .. } in &dependences {
        later[*from].push(*to);
        is_loop[*from] |= from == to;
    }
    // Strongly connected components as Kosaraju and Sharir find them, those that depend on others first.
    let mut is_placed: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    let mut groups = Vec::new();
    for &start in all.iter().rev() {
        let mut cells = Vec::new();
        let mut open = vec![start];
        while let Some(cell) = open.pop() {
            if !std::mem::replace(&mut is_placed[cell], true) {
                cells.push(cell);
                open.extend(&later[cell]);
            }
        }
        if !cells.is_empty() {
            cells.sort_by_key(|cell| of_cycle[*cell]);
            let is_loop = cells.len() > 1 || is_loop[start];
            groups.push(Group { cells, is_loop });
        }
    }
    groups.reverse();
    groups
}

fn dependences(netlist: &Netlist) -> Vec<Dependence> {
    let of_net = netlist.nets.iter().flat_map(|net| {
        net.sinks.iter().map(|sink| {
            // Memories show the words of a cycle in the next one.
            let own = match netlist.cells[sink.cell].core {
                Core::Memory(_) | Core::Predicate(_) => 1,
                Core::Pe(_) | Core::Input | Core::Output => 0,
            };
            Dependence { from: net.source, to: sink.cell, cycles: sink.cycles + own }
        })
    });
    of_net.collect()
}

/// The cells, each after those that it depends on, as far as there are no loops.
fn order<'a>(netlist: &Netlist, dependences: impl Iterator<Item = &'a Dependence>) -> Vec<CellId> {
    let mut earlier: IndexVec<CellId, Vec<CellId>> = netlist.cells.iter().map(|_| Vec::new()).collect();
    for Dependence { from, to, .. } in dependences {
        earlier[*to].push(*from);
    }
    let mut order = Vec::new();
    let mut is_placed: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    for start in netlist.cells.indices() {
        let mut open = vec![(start, false)];
        while let Some((cell, is_done)) = open.pop() {
            if is_done {
                order.push(cell);
            } else if !std::mem::replace(&mut is_placed[cell], true) {
                open.push((cell, true));
                open.extend(earlier[cell].iter().map(|before| (*before, false)));
            }
        }
    }
    order
}

/// The place of each cell in an order.
fn places(order: &[CellId]) -> IndexVec<CellId, usize> {
    let mut places: IndexVec<CellId, usize> = order.iter().map(|_| 0).collect();
    order.iter().enumerate().for_each(|(place, cell)| places[*cell] = place);
    places
}
