//! The reservation table: the owner of each resource in each cycle, modulo the initiation interval (dissertation
//! §4.3.1, Algorithm 1 and Figures 4.7 and 4.8).

use std::collections::BTreeSet;

use super::modulo_scheduling::{Problem, Turns, Use};

/// Reservations: by resource and port, the cycles and their owner.
pub(super) struct Table<'a> {
    problem: &'a Problem<'a>,
    period: Option<i64>,
    slots: Vec<Vec<Vec<(Span, usize)>>>,
}

/// Cycles of a reservation: from one, before another, in each turn.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: i64,
    to: i64,
    turns: Turns,
}

impl Span {
    fn of(taken: &Use, start: i64) -> Span {
        Span { from: start + taken.from, to: start + taken.to, turns: taken.turns }
    }

    /// The cycle after the last turn.
    fn end(&self) -> i64 {
        self.to + self.turns.last
    }
}

/// The cycles after which two reservations meet again in the same way, if there is such a number.
fn common_period(one: Turns, other: Turns, period: Option<i64>) -> Option<i64> {
    period.or((one.every > 0 && one.every == other.every).then_some(one.every))
}

/// Whether two reservations meet, in some iterations of each.
fn overlap(one: Span, other: Span, period: Option<i64>) -> bool {
    if period.is_none() && !(one.from < other.end() && other.from < one.end()) {
        return false;
    }
    // Turns of different rates meet somewhere.
    let Some(common) = common_period(one.turns, other.turns, period) else { return true };
    let shift = (other.from - one.from).rem_euclid(common);
    shift < one.to - one.from || shift + (other.to - other.from) > common
}

impl<'a> Table<'a> {
    /// A table without reservations; with a period, modulo it.
    pub fn new(problem: &'a Problem<'a>, period: Option<i64>) -> Self {
        Table { problem, period, slots: problem.ports.iter().map(|&ports| vec![Vec::new(); ports]).collect() }
    }

    /// The ports that a node would get at a start, if there are enough.
    pub fn fits(&self, node: usize, start: i64) -> Option<Vec<usize>> {
        let uses = &self.problem.nodes[node];
        let mut ports: Vec<usize> = Vec::new();
        for (number, taken) in uses.iter().enumerate() {
            let span = Span::of(taken, start);
            if self.period.is_some_and(|period| span.to - span.from > period) {
                return None;
            }
            let free = |port: usize| {
                let own = uses[..number]
                    .iter()
                    .zip(&ports)
                    .filter(|(other, with)| other.resource == taken.resource && **with == port);
                let mut own = own.map(|(other, _)| Span::of(other, start));
                let mut others = self.slots[taken.resource][port].iter().map(|&(other, _)| other);
                !own.any(|other| overlap(span, other, self.period))
                    && !others.any(|other| overlap(span, other, self.period))
            };
            ports.push((0..self.slots[taken.resource].len()).find(|&port| free(port))?);
        }
        Some(ports)
    }

    /// Reserves the resources of a node from a start on.
    pub fn reserve(&mut self, node: usize, start: i64, ports: &[usize]) {
        for (taken, &port) in self.problem.nodes[node].iter().zip(ports) {
            self.slots[taken.resource][port].push((Span::of(taken, start), node));
        }
    }

    /// The owners of resources of which none is left for a node at a start.
    pub fn in_the_way(&self, node: usize, start: i64) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for taken in &self.problem.nodes[node] {
            let span = Span::of(taken, start);
            let meets = |&&(other, _): &&(Span, usize)| overlap(span, other, self.period);
            let slots = &self.slots[taken.resource];
            if slots.iter().all(|port| port.iter().any(|slot| meets(&slot))) {
                found.extend(slots.iter().flatten().filter(meets).map(|&(_, of)| of));
            }
        }
        found
    }

    /// Takes back the reservations of a node.
    pub fn release(&mut self, node: usize) {
        self.slots.iter_mut().flatten().for_each(|slots| slots.retain(|&(_, of)| of != node));
    }

    /// Starts from `first` to `last` at which reservations of others end just before those of a node, and `first`.
    pub fn ascending(&self, node: usize, first: i64, last: i64) -> BTreeSet<i64> {
        let mut starts = BTreeSet::from([first]);
        for taken in &self.problem.nodes[node] {
            for &(other, _) in self.slots[taken.resource].iter().flatten() {
                if let Some(common) = common_period(taken.turns, other.turns, self.period) {
                    starts.insert(first + (other.to - taken.from - first).rem_euclid(common));
                }
                if self.period.is_none() {
                    starts.insert(other.end() - taken.from);
                }
            }
        }
        starts.into_iter().filter(|start| (first..=last).contains(start)).collect()
    }

    /// Likewise those at which reservations of others begin just behind, and `last`.
    pub fn descending(&self, node: usize, first: i64, last: i64) -> BTreeSet<i64> {
        let mut starts = BTreeSet::from([last]);
        for taken in &self.problem.nodes[node] {
            for &(other, _) in self.slots[taken.resource].iter().flatten() {
                let start = other.from - taken.to;
                starts.insert(match self.period {
                    Some(period) => last - (last - start).rem_euclid(period),
                    None => start,
                });
            }
        }
        starts.into_iter().filter(|start| (first..=last).contains(start)).collect()
    }
}

/// Whether a node finds resources if nothing else has any.
pub(crate) fn fits_alone(node: Vec<Use>, ports: &[usize]) -> bool {
    let problem = Problem { nodes: vec![node], edges: Vec::new(), ports, repeats: false, least: 0 };
    Table::new(&problem, None).fits(0, 0).is_some()
}
