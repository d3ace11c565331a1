//! Lags from difference constraints.

use index_vec::IndexVec;
use pushmem_netlist::{CellId, Connection, NetId, Netlist};
use pushmem_retiming::{ConstraintId, Error, Problem, Variable};

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
    let Retiming { problem, cells, .. } = Retiming::of(netlist, demands);
    let solution = problem.solve().map_err(|error| loop_of(netlist, demands, &cells, error))?;
    let mut lags: Lags = cells.iter().map(|variable| solution.value(*variable)).collect();
    parity::align(netlist, demands, &mut lags)?;
    let least = lags.iter().copied().min().unwrap_or(0);
    lags.iter_mut().for_each(|lag| *lag -= least);
    Ok(lags)
}

/// How many more words tracks hold with each register more that a connection needs at least, by connection: the shadow prices of
/// [`starts`].
///
/// # Errors
/// When a loop of cells has too few cycles.
pub fn prices(netlist: &Netlist, demands: &[Demand]) -> Result<Vec<f32>, StartError> {
    let Retiming { problem, cells, of_connections, of_nets } = Retiming::of(netlist, demands);
    let solution = problem.solve().map_err(|error| loop_of(netlist, demands, &cells, error))?;
    let price = |constraint: &ConstraintId| solution.price(*constraint) as f32;
    let mut prices: Vec<f32> = of_connections.iter().map(price).collect();
    // A net that is no longer than its longest shortest route gets shorter with that.
    for (connection, constraint) in of_nets {
        prices[connection] += price(&constraint);
    }
    Ok(prices)
}

/// The starts of cells as a problem of retiming.
struct Retiming {
    problem: Problem,
    /// The lag of each cell.
    cells: IndexVec<CellId, Variable>,
    /// The constraint of each connection.
    of_connections: Vec<ConstraintId>,
    /// For each net, the connection whose shortest route is the longest, and the constraint that the net is as long.
    of_nets: Vec<(usize, ConstraintId)>,
}

impl Retiming {
    fn of(netlist: &Netlist, demands: &[Demand]) -> Self {
        let mut problem = Problem::new();
        let cells: IndexVec<CellId, Variable> = netlist.cells.iter().map(|_| problem.variable()).collect();
        // The registers of a net are those of its longest connection: a tree shares them.
        let ends: IndexVec<_, Variable> = netlist.nets.iter().map(|_| problem.variable()).collect::<IndexVec<_, _>>();
        let (first, last) = (problem.variable(), problem.variable());
        let mut of_connections = Vec::new();
        let mut longest: IndexVec<NetId, Option<(i64, usize)>> = netlist.nets.iter().map(|_| None).collect();
        for (number, (connection, demand)) in netlist.connections().zip(demands).enumerate() {
            let (source, sink) = (cells[connection.of.source], cells[connection.sink.cell]);
            of_connections.push(problem.require(source, sink, demand.least - connection.sink.cycles));
            problem.require(sink, ends[connection.net], connection.sink.cycles - demand.delay);
            let longest = &mut longest[connection.net];
            *longest = (*longest).max(Some((demand.least, number)));
        }
        // The ports of a memory in a bank start together.
        for bank in &netlist.banks {
            problem.require(cells[bank.load], cells[bank.store], 0);
            problem.require(cells[bank.store], cells[bank.load], 0);
        }
        let mut of_nets = Vec::new();
        for ((net, end), longest) in netlist.nets.iter().zip(&ends).zip(longest) {
            let (least, connection) = longest.expect("a net has a sink");
            of_nets.push((connection, problem.require(cells[net.source], *end, least)));
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
        Retiming { problem, cells, of_connections, of_nets }
    }
}

/// The loop of cells that has no solution.
fn loop_of(netlist: &Netlist, demands: &[Demand], cells: &IndexVec<CellId, Variable>, error: Error) -> StartError {
    let Error::Circle { circle } = error else { unreachable!("the end of a net is not before its source") };
    let cell = |variable: &Variable| cells.iter_enumerated().find(|(_, other)| *other == variable);
    let circle: Vec<CellId> = circle.iter().filter_map(cell).map(|(cell, _)| cell).collect();
    let short = shortage(netlist, demands, &circle);
    StartError::of_loop(netlist, circle, short)
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
