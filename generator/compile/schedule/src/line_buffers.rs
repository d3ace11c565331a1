//! The line-buffer program: the delays of stages, under difference constraints with the least storage (the book §4.3.3, which
//! is the minimization of registers in retiming; dissertation §4.4).

use std::collections::BTreeMap;

use pushmem_retiming::{Error, Problem, Variable};

/// A group of consumers must start at least `lead` after a group of producers, whose elements are kept from their write
/// until the consumers have read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    pub array: usize,
    /// The group that writes.
    pub producer: usize,
    /// The group that reads, perhaps the same.
    pub consumer: usize,
    /// Least difference of the delays.
    pub lead: i64,
    /// The difference of the delays less this is how long the longest-lived word is kept; nothing if that costs nothing.
    pub kept: Option<i64>,
}

/// A group that runs so much after another one, or later, for other reasons than its reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// The first group.
    pub first: usize,
    /// The second group.
    pub second: usize,
    /// Least difference of the delays.
    pub least: i64,
}

/// Delays of `groups` of stages that satisfy all constraints and minimize the storage; among those, the earliest. A cycle
/// of all elements that a group writes of an array costs as much as `weights` says, by array and group.
///
/// # Errors
/// The groups of a recurrence that would have to run before themselves, each after the one whose words it takes.
pub(crate) fn solve(
    groups: usize,
    weights: &BTreeMap<(usize, usize), u64>,
    constraints: &[Constraint],
    apart: &[Apart],
) -> Result<Vec<i64>, Vec<usize>> {
    if let Some(own) =
        constraints.iter().find(|constraint| constraint.producer == constraint.consumer && constraint.lead > 0)
    {
        return Err(vec![own.producer]);
    }
    let mut problem = Problem::new();
    let delays: Vec<Variable> = (0..groups).map(|_| problem.variable()).collect();
    // When the longest-lived word that a group writes of an array is read for the last time.
    let mut ends: BTreeMap<(usize, usize), Variable> = BTreeMap::new();
    for constraint in constraints {
        let (producer, consumer) = (delays[constraint.producer], delays[constraint.consumer]);
        if constraint.producer != constraint.consumer {
            problem.require(producer, consumer, constraint.lead);
        }
        let Some(kept) = constraint.kept else { continue };
        let end = *ends.entry((constraint.array, constraint.producer)).or_insert_with(|| {
            let end = problem.variable();
            problem.require(producer, end, 0);
            problem.charge(producer, end, weights[&(constraint.array, constraint.producer)]);
            end
        });
        problem.require(consumer, end, -kept);
    }
    for apart in apart {
        problem.require(delays[apart.first], delays[apart.second], apart.least);
    }
    match problem.solve() {
        Ok(solution) => Ok(delays.into_iter().map(|delay| solution.value(delay)).collect()),
        Err(Error::Circle { circle }) => {
            let group = |variable: &Variable| delays.iter().position(|delay| delay == variable);
            Err(circle.iter().filter_map(group).collect())
        }
        Err(Error::Unbounded) => unreachable!("no word is kept less than no time"),
    }
}
