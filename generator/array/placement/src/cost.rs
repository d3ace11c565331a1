//! The cost of a placement.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_fabric::{ArraySpec, Place};
use pushmem_netlist::{CellId, Netlist};
use pushmem_starts::LoopConnection;

use crate::distance::least_registers;

/// The cost of a cycle that a loop does not have, in hops: more than any net saves by it.
const MISSING_CYCLE: f32 = 50.0;

/// The cost of a register that a connection lacks, in hops.
const MISSING_REGISTER: f32 = 20.0;

/// The price of a register in hops, and how fast prices follow new ones.
const PRICE: f32 = 0.5;
const PRICE_STEP: f32 = 0.3;

/// Findings of later passes about earlier placements, by connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lessons {
    /// How much heavier a connection of a loop is because its loop did not fit. Those left out are 1.
    pub weights: BTreeMap<usize, f32>,
    /// The fewest registers that the shortest route of a connection must have: shorter ones, with their detours, had no routes.
    pub least: BTreeMap<usize, i64>,
}

/// A connection on a loop.
#[derive(Clone, Copy, Debug)]
struct LoopArc {
    from: CellId,
    to: CellId,
    /// The registers that it may take, its share of the slack of the loop included.
    allowed: f32,
    weight: f32,
}

/// A part of the cost.
#[derive(Clone, Debug)]
enum Term {
    /// The half perimeter of these cells.
    Net(Vec<CellId>),
    /// The registers of a connection of a loop.
    Loop(LoopArc),
    /// The registers of a connection, at its price.
    Price { from: CellId, to: CellId, price: f32 },
    /// The registers that a connection lacks.
    Apart { from: CellId, to: CellId, least: i64 },
}

/// The cost as a sum of terms, with those that each cell changes.
#[derive(Clone, Debug)]
pub struct Cost<'a> {
    spec: &'a ArraySpec,
    terms: Vec<Term>,
    of_cell: IndexVec<CellId, Vec<u32>>,
    /// The first term of a price. Those of all connections follow.
    first_price: usize,
}

impl<'a> Cost<'a> {
    pub fn new(netlist: &Netlist, spec: &'a ArraySpec, recurrences: &[LoopConnection], lessons: &Lessons) -> Self {
        let mut terms = Vec::new();
        for net in &netlist.nets {
            let mut cells: Vec<CellId> = net.sinks.iter().map(|sink| sink.cell).collect();
            cells.push(net.source);
            cells.sort_unstable();
            cells.dedup();
            terms.push(Term::Net(cells));
        }
        let connections: Vec<_> = netlist.connections().collect();
        for LoopConnection { connection: number, slack, length } in recurrences {
            let connection = &connections[*number];
            let least = crate::distance::least_demand(netlist, spec, connection).least;
            let allowed = least as f32 + *slack as f32 / *length as f32;
            let (from, to) = (connection.of.source, connection.sink.cell);
            let weight = lessons.weights.get(number).copied().unwrap_or(1.0);
            terms.push(Term::Loop(LoopArc { from, to, allowed, weight }));
        }
        let first_price = terms.len();
        for connection in &connections {
            let (from, to) = (connection.of.source, connection.sink.cell);
            terms.push(Term::Price { from, to, price: 0.0 });
        }
        for (number, least) in &lessons.least {
            let connection = &connections[*number];
            terms.push(Term::Apart { from: connection.of.source, to: connection.sink.cell, least: *least });
        }
        let mut of_cell: IndexVec<CellId, Vec<u32>> = netlist.cells.iter().map(|_| Vec::new()).collect();
        for (number, term) in terms.iter().enumerate() {
            match term {
                Term::Net(cells) => cells.iter().for_each(|cell| of_cell[*cell].push(number as u32)),
                Term::Loop(LoopArc { from, to, .. }) | Term::Price { from, to, .. } | Term::Apart { from, to, .. } => {
                    of_cell[*from].push(number as u32);
                    if to != from {
                        of_cell[*to].push(number as u32);
                    }
                }
            }
        }
        Cost { spec, terms, of_cell, first_price }
    }

    /// Moves the price of each connection towards a new one. Prices jump when another constraint binds: their mean shows how
    /// often each does.
    pub fn move_prices(&mut self, prices: &[f32]) -> std::ops::Range<usize> {
        let terms = self.first_price..self.first_price + prices.len();
        for (term, new) in self.terms[terms.clone()].iter_mut().zip(prices) {
            if let Term::Price { price, .. } = term {
                *price += PRICE_STEP * (PRICE * new - *price);
            }
        }
        terms
    }

    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    /// The terms that the place of a cell changes.
    pub fn of_cell(&self, cell: CellId) -> &[u32] {
        &self.of_cell[cell]
    }

    pub fn term(&self, number: usize, places: &IndexVec<CellId, Place>) -> f32 {
        match &self.terms[number] {
            Term::Net(cells) => half_perimeter(cells, places),
            Term::Loop(arc) => {
                let registers = least_registers(self.spec, places[arc.from], places[arc.to]) as f32;
                // A short loop is worth a little even where it fits.
                arc.weight * (MISSING_CYCLE * (registers - arc.allowed).max(0.0) + registers)
            }
            Term::Price { price: 0.0, .. } => 0.0,
            Term::Price { from, to, price } => price * least_registers(self.spec, places[*from], places[*to]) as f32,
            Term::Apart { from, to, least } => {
                let registers = least_registers(self.spec, places[*from], places[*to]);
                MISSING_REGISTER * (least - registers).max(0) as f32
            }
        }
    }
}

fn half_perimeter(cells: &[CellId], places: &IndexVec<CellId, Place>) -> f32 {
    let first = places[cells[0]];
    let (mut low, mut high) = (first, first);
    for cell in &cells[1..] {
        let Place { row, column } = places[*cell];
        (low.row, low.column) = (low.row.min(row), low.column.min(column));
        (high.row, high.column) = (high.row.max(row), high.column.max(column));
    }
    (high.row - low.row + high.column - low.column) as f32
}
