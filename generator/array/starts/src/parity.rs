//! Even and odd numbers of registers.

use std::collections::VecDeque;

use index_vec::IndexVec;
use pushmem_netlist::{CellId, Netlist};

use crate::error::StartError;
use crate::solve::{Demand, Lags};

/// A constraint on two lags: `to - from >= least`.
#[derive(Clone, Copy)]
struct Arc {
    from: CellId,
    to: CellId,
    least: i64,
}

/// Raises lags until each connection that must has an even number of registers more than its least.
///
/// # Errors
/// When two ways between the same cells demand different parities, or no cycle of a loop is left for it.
pub fn align(netlist: &Netlist, demands: &[Demand], lags: &mut Lags) -> Result<(), StartError> {
    let Some(parities) = parities(netlist, demands, lags)? else { return Ok(()) };
    let arcs: Vec<Arc> = netlist
        .connections()
        .zip(demands)
        .map(|(connection, demand)| Arc {
            from: connection.of.source,
            to: connection.sink.cell,
            least: demand.least - connection.sink.cycles,
        })
        .collect();
    // The ports of a memory in a bank start together.
    let pairs = netlist.banks.iter().flat_map(|bank| [(bank.load, bank.store), (bank.store, bank.load)]);
    let of_banks = pairs.map(|(from, to)| Arc { from, to, least: 0 });
    let mut leaving: IndexVec<CellId, Vec<Arc>> = netlist.cells.iter().map(|_| Vec::new()).collect();
    for arc in arcs.into_iter().chain(of_banks) {
        leaving[arc.from].push(arc);
    }
    // Each round of a loop that never ends raises its lags; in a loop that ends, none rises further than all slack there is.
    let rounding = |cell: CellId, lag: i64| match parities[cell] {
        Some(parity) if lag.rem_euclid(2) != parity => lag + 1,
        _ => lag,
    };
    let ceiling = lags.iter().max().copied().unwrap_or(0) + 4 * netlist.cells.len() as i64 + 4;
    let mut queue: VecDeque<CellId> = netlist.cells.indices().collect();
    let mut before: IndexVec<CellId, Option<CellId>> = netlist.cells.iter().map(|_| None).collect();
    for (cell, lag) in lags.iter_mut_enumerated() {
        *lag = rounding(cell, *lag);
    }
    while let Some(cell) = queue.pop_front() {
        for arc in &leaving[cell] {
            let lag = rounding(arc.to, lags[cell] + arc.least);
            if lag <= lags[arc.to] {
                continue;
            }
            (lags[arc.to], before[arc.to]) = (lag, Some(cell));
            if lag > ceiling {
                return Err(StartError::of_loop(netlist, around(&before, arc.to), 1));
            }
            queue.push_back(arc.to);
        }
    }
    Ok(())
}

/// The parity of the lag of each cell that has one: those of cells joined by connections that must match. Nothing, if no
/// connection must.
fn parities(
    netlist: &Netlist,
    demands: &[Demand],
    lags: &Lags,
) -> Result<Option<IndexVec<CellId, Option<i64>>>, StartError> {
    if demands.iter().all(|demand| !demand.is_even) {
        return Ok(None);
    }
    let mut joined: IndexVec<CellId, Vec<(CellId, i64)>> = netlist.cells.iter().map(|_| Vec::new()).collect();
    for (connection, demand) in netlist.connections().zip(demands).filter(|(_, demand)| demand.is_even) {
        let difference = (demand.least - connection.sink.cycles).rem_euclid(2);
        joined[connection.of.source].push((connection.sink.cell, difference));
        joined[connection.sink.cell].push((connection.of.source, difference));
    }
    for bank in &netlist.banks {
        joined[bank.load].push((bank.store, 0));
        joined[bank.store].push((bank.load, 0));
    }
    let mut parities: IndexVec<CellId, Option<i64>> = netlist.cells.iter().map(|_| None).collect();
    for root in netlist.cells.indices() {
        if joined[root].is_empty() || parities[root].is_some() {
            continue;
        }
        // Of the two ways, the one in which fewer lags rise.
        let mut group = vec![(root, 0)];
        parities[root] = Some(0);
        let mut next = 0;
        while let Some(&(cell, parity)) = group.get(next) {
            next += 1;
            for &(other, difference) in &joined[cell] {
                if parities[other].is_none() {
                    parities[other] = Some(parity ^ difference);
                    group.push((other, parity ^ difference));
                }
            }
        }
        let odd = group.iter().filter(|(cell, parity)| lags[*cell].rem_euclid(2) != *parity).count();
        if 2 * odd > group.len() {
            for (cell, parity) in group {
                parities[cell] = Some(parity ^ 1);
            }
        }
    }
    for (number, (connection, demand)) in netlist.connections().zip(demands).enumerate() {
        if !demand.is_even {
            continue;
        }
        let difference = (demand.least - connection.sink.cycles).rem_euclid(2);
        let [source, sink] = [connection.of.source, connection.sink.cell].map(|cell| parities[cell].unwrap_or(0));
        if source ^ sink != difference {
            return Err(StartError::Parity { number, connection: netlist.connection_name(&connection) });
        }
    }
    Ok(Some(parities))
}

/// The circle of cells that lead back to a cell, in the order in which they are read.
fn around(before: &IndexVec<CellId, Option<CellId>>, cell: CellId) -> Vec<CellId> {
    let back = |cell: &CellId| before[*cell];
    let inside = std::iter::successors(Some(cell), back).nth(before.len()).unwrap_or(cell);
    let mut circle = vec![inside];
    circle.extend(std::iter::successors(before[inside], back).take_while(|cell| *cell != inside));
    circle.reverse();
    circle
}
