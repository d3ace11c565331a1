//! Lags from difference constraints.

use index_vec::IndexVec;
use pushmem_netlist::{CellId, Connection, Netlist};
use pushmem_retiming::{Error, Problem, Variable};

use crate::error::StartError;
use crate::parity;

/// The cycles by which each cell starts later than in its schedule. The least is 0.
pub type Lags = IndexVec<CellId, i64>;

/// The registers that a connection can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The fewest.
    pub least: i64,
    /// How many of them an operand can hold, in place of tracks.
    pub delay: i64,
    /// Whether the number must be the least or differ from it by an even number.
    pub is_even: bool,
}

/// The registers that a connection takes.
pub fn registers(lags: &Lags, connection: &Connection) -> i64 {
    connection.sink.cycles + lags[connection.sink.cell] - lags[connection.of.source]
}

/// The lags with which tracks hold the fewest words, of those that meet the demands of all connections. Demands are in the
/// order of [`Netlist::connections`].
///
/// # Errors
/// When a loop of cells has too few cycles, or the parities of two ways between the same cells do not match.
pub fn starts(netlist: &Netlist, demands: &[Demand]) -> Result<Lags, StartError> {
    let mut problem = Problem::new();
    let cells: IndexVec<CellId, Variable> = netlist.cells.iter().map(|_| problem.variable()).collect();
    // The registers of a net are those of its longest connection: a tree shares them.
    let ends: IndexVec<_, Variable> = netlist.nets.iter().map(|_| problem.variable()).collect::<IndexVec<_, _>>();
    let (first, last) = (problem.variable(), problem.variable());
    let mut longest = vec![0; netlist.nets.len()];
    for (connection, demand) in netlist.connections().zip(demands) {
        let (source, sink) = (cells[connection.of.source], cells[connection.sink.cell]);
        problem.require(source, sink, demand.least - connection.sink.cycles);
        problem.require(sink, ends[connection.net], connection.sink.cycles - demand.delay);
        let longest = &mut longest[connection.net.index()];
        *longest = demand.least.max(*longest);
    }
    for ((net, end), longest) in netlist.nets.iter().zip(&ends).zip(longest) {
        problem.require(cells[net.source], *end, longest);
        problem.charge(cells[net.source], *end, 1);
    }
    // Of as many registers, the shorter pipeline.
    let mut reads: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    netlist.nets.iter().flat_map(|net| &net.sinks).for_each(|sink| reads[sink.cell] = true);
    let mut drives: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
    netlist.nets.iter().for_each(|net| drives[net.source] = true);
    for (cell, variable) in cells.iter_enumerated() {
        if !reads[cell] {
            problem.require(first, *variable, 0);
        }
        if !drives[cell] {
            problem.require(*variable, last, 0);
        }
    }
    problem.require(first, last, 0);
    problem.charge(first, last, 1);
    let solution = problem.solve().map_err(|error| match error {
        Error::Circle { circle } => {
            let circle: Vec<CellId> = circle
                .iter()
                .filter_map(|variable| cells.iter_enumerated().find(|(_, other)| *other == variable))
                .map(|(cell, _)| cell)
                .collect();
            let short = shortage(netlist, demands, &circle);
            StartError::of_loop(netlist, circle, short)
        }
        Error::Unbounded => unreachable!("the end of a net is not before its source"),
    })?;
    let mut lags: Lags = cells.iter().map(|variable| solution.value(*variable)).collect();
    parity::align(netlist, demands, &mut lags)?;
    let least = lags.iter().copied().min().unwrap_or(0);
    lags.iter_mut().for_each(|lag| *lag -= least);
    Ok(lags)
}

/// The cycles that a circle of cells, each read by the next, is short of.
fn shortage(netlist: &Netlist, demands: &[Demand], circle: &[CellId]) -> i64 {
    let pairs = circle.iter().zip(circle.iter().cycle().skip(1));
    pairs
        .filter_map(|(from, to)| {
            let between = netlist
                .connections()
                .zip(demands)
                .filter(|(connection, _)| connection.of.source == *from && connection.sink.cell == *to);
            between.map(|(connection, demand)| demand.least - connection.sink.cycles).max()
        })
        .sum()
}
