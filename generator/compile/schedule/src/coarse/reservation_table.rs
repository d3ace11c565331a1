//! The reservation table: the owner of each resource in each cycle, modulo the initiation interval (dissertation
//! §4.3.1, Algorithm 1 and Figures 4.7 and 4.8).

use std::collections::BTreeSet;

use super::modulo_scheduling::{Problem, Use};

/// Reservations: by resource and port, the owners with their first and last cycles.
pub(super) struct Table<'a> {
    problem: &'a Problem<'a>,
    period: Option<i64>,
    slots: Vec<Vec<Vec<(i64, i64, usize)>>>,
}

/// Whether two reservations meet, in some iterations of each.
fn overlap(one: (i64, i64), other: (i64, i64), period: Option<i64>) -> bool {
    match period {
        None => one.0 < other.1 && other.0 < one.1,
        Some(period) => {
            let shift = (other.0 - one.0).rem_euclid(period);
            shift < one.1 - one.0 || shift + (other.1 - other.0) > period
        }
    }
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
            let span = (start + taken.from, start + taken.to);
            if self.period.is_some_and(|period| span.1 - span.0 > period) {
                return None;
            }
            let free = |port: usize| {
                let own = uses[..number]
                    .iter()
                    .zip(&ports)
                    .filter(|(other, with)| other.resource == taken.resource && **with == port);
                let mut own = own.map(|(other, _)| (start + other.from, start + other.to));
                let mut others = self.slots[taken.resource][port].iter().map(|&(from, to, _)| (from, to));
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
            self.slots[taken.resource][port].push((start + taken.from, start + taken.to, node));
        }
    }

    /// The owners of resources of which none is left for a node at a start.
    pub fn in_the_way(&self, node: usize, start: i64) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for taken in &self.problem.nodes[node] {
            let span = (start + taken.from, start + taken.to);
            let meets = |&&(from, to, _): &&(i64, i64, usize)| overlap(span, (from, to), self.period);
            let slots = &self.slots[taken.resource];
            if slots.iter().all(|port| port.iter().any(|slot| meets(&slot))) {
                found.extend(slots.iter().flatten().filter(meets).map(|&(_, _, of)| of));
            }
        }
        found
    }

    /// Takes back the reservations of a node.
    pub fn release(&mut self, node: usize) {
        self.slots.iter_mut().flatten().for_each(|slots| slots.retain(|&(_, _, of)| of != node));
    }

    /// Starts from `first` to `last` at which reservations of others end just before those of a node, and `first`.
    pub fn ascending(&self, node: usize, first: i64, last: i64) -> BTreeSet<i64> {
        let mut starts = BTreeSet::from([first]);
        for taken in &self.problem.nodes[node] {
            for &(_, to, _) in self.slots[taken.resource].iter().flatten() {
                let start = to - taken.from;
                starts.insert(match self.period {
                    Some(period) => first + (start - first).rem_euclid(period),
                    None => start,
                });
            }
        }
        starts.into_iter().filter(|start| (first..=last).contains(start)).collect()
    }

    /// Likewise those at which reservations of others begin just behind, and `last`.
    pub fn descending(&self, node: usize, first: i64, last: i64) -> BTreeSet<i64> {
        let mut starts = BTreeSet::from([last]);
        for taken in &self.problem.nodes[node] {
            for &(from, _, _) in self.slots[taken.resource].iter().flatten() {
                let start = from - taken.to;
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
