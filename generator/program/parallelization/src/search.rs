//! The choice of unroll factors (HIDA, §5.5.1, steps 3 and 4, and Algorithm 4).

use std::cmp::Reverse;

use itertools::Itertools;
use pushmem_affine::Fraction;
use serde::Serialize;

use crate::dataflow::{Alignment, Connection, Dataflow, DataflowNode, NodeOperation};
use crate::partition::choices;

/// Which facts the choice is aware of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awareness {
    /// The work of nodes: copies in proportion to it. Without, all nodes have as many.
    pub intensity: bool,
    /// The loops of connected nodes: factors agree with theirs. Without, each node is alone.
    pub connection: bool,
}

impl Default for Awareness {
    fn default() -> Self {
        Awareness { intensity: true, connection: true }
    }
}

/// One of several choices of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// The factors with the fewest banks.
    Best,
    /// No loop along which copies add to one sum is unrolled: then sums may stay in registers.
    WholeSums,
    /// The first node of the [order](Dataflow::order) has the factors that come next.
    Second,
}

impl Alternative {
    /// All of them.
    pub const ALL: [Alternative; 3] = [Alternative::Best, Alternative::WholeSums, Alternative::Second];
}

/// The unroll factors of all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parallelization {
    /// By node.
    pub nodes: Vec<NodeParallelization>,
}

/// The unroll factors of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeParallelization {
    /// The name of its operation with the most iterations.
    pub node: String,
    /// Its iterations in an image.
    pub intensity: u64,
    /// The most copies that it may have.
    pub parallel_factor: u64,
    /// The factor of each loop with its variable, each before those within it.
    pub unroll: Vec<(String, i64)>,
    /// The numbers of these loops in the program.
    #[serde(skip)]
    pub(crate) loops: Vec<usize>,
}

impl NodeParallelization {
    /// The factors of its loops.
    pub fn factors(&self) -> Vec<i64> {
        self.unroll.iter().map(|(_, factor)| *factor).collect()
    }
}

impl Dataflow {
    /// Unroll factors with which no node has more than `most` copies, beside those that the program has.
    pub fn parallelize(&self, most: u64, awareness: Awareness) -> Parallelization {
        self.alternative(most, awareness, Alternative::Best)
    }

    /// The same, but others than the best, for a compiler to compare.
    pub fn alternative(&self, most: u64, awareness: Awareness, alternative: Alternative) -> Parallelization {
        let heaviest = self.nodes.iter().map(|node| node.intensity).max().unwrap_or(1).max(1);
        let parallel_factor = |node: &DataflowNode| match awareness.intensity {
            true => (u128::from(most) * u128::from(node.intensity)).div_ceil(heaviest.into()).max(1) as u64,
            false => most.max(1),
        };
        let mut chosen: Vec<Option<Vec<i64>>> = vec![None; self.nodes.len()];
        for (place, node) in self.order().into_iter().enumerate() {
            let rank = usize::from(place == 0 && alternative == Alternative::Second);
            let own =
                Search { dataflow: self, node, most: parallel_factor(&self.nodes[node]), chosen: &chosen, awareness };
            chosen[node] = Some(own.ranked(rank, alternative != Alternative::WholeSums));
        }
        let node = |(node, chosen): (&DataflowNode, Option<Vec<i64>>)| NodeParallelization {
            node: node.name.clone(),
            intensity: node.intensity,
            parallel_factor: parallel_factor(node),
            unroll: node
                .loops
                .iter()
                .map(|level| level.variable.clone())
                .zip(chosen.expect("all are chosen"))
                .collect(),
            loops: node.loops.iter().map(|level| level.number).collect(),
        };
        Parallelization { nodes: self.nodes.iter().zip(chosen).map(node).collect() }
    }
}

/// The choice of the factors around an operation.
struct OfOperation<'a> {
    operation: &'a NodeOperation,
    /// Its loops that have no factor yet, as places among those of the node.
    left: &'a [usize],
    /// The most copies beside those that the program has.
    most: u64,
}

/// The search for the factors of a node.
struct Search<'a> {
    dataflow: &'a Dataflow,
    node: usize,
    /// The most copies of the operation with the most work.
    most: u64,
    /// The factors of nodes that have them.
    chosen: &'a [Option<Vec<i64>>],
    awareness: Awareness,
}

impl Search<'_> {
    fn node(&self) -> &DataflowNode {
        &self.dataflow.nodes[self.node]
    }

    /// The factors of all loops: first those around the operation with the most work, of this rank; then, one operation after the other, of the
    /// loops that are left around it.
    fn ranked(&self, rank: usize, unrolls_sums: bool) -> Vec<i64> {
        let node = self.node();
        let constraints = self.constraints();
        let mut unroll = node.loops.iter().map(|level| level.written).collect_vec();
        let mut is_chosen = vec![false; node.loops.len()];
        let operations = node.operations.iter().sorted_by_key(|operation| Reverse(operation.iterations));
        for (place, operation) in operations.enumerate() {
            let around = operation.path.iter().flatten().copied();
            let may = |place: &usize| node.loops[*place].is_free && (unrolls_sums || !node.loops[*place].is_sum);
            let left = around.filter(|place| may(place) && !is_chosen[*place]).collect_vec();
            if !left.is_empty() {
                let own = OfOperation { operation, left: &left, most: self.copies_of(operation, &unroll) };
                unroll = self.best(&own, &unroll, &constraints, if place == 0 { rank } else { 0 });
                left.into_iter().for_each(|place| is_chosen[place] = true);
            }
        }
        unroll
    }

    /// The most copies of an operation beside those that the program has: in proportion to its work, or as many as its loops have already.
    fn copies_of(&self, operation: &NodeOperation, unroll: &[i64]) -> u64 {
        let of = u128::from(self.most) * u128::from(operation.iterations);
        let share = of.div_ceil(u128::from(self.node().intensity).max(1)) as u64;
        share.max(self.added(operation, unroll))
    }

    /// Copies of an operation beside those that the program has.
    fn added(&self, operation: &NodeOperation, unroll: &[i64]) -> u64 {
        let free = operation.path.iter().flatten().filter(|place| self.node().loops[**place].is_free);
        free.map(|place| unroll[*place] as u64).product()
    }

    /// The factors of this rank: those with the most copies of an operation first, of these those with the fewest banks and choices of banks,
    /// then those that are most alike, then the smallest of the outer loops.
    fn best(&self, own: &OfOperation, unroll: &[i64], constraints: &[Vec<Option<Fraction>>], rank: usize) -> Vec<i64> {
        let mut proposed = Vec::new();
        self.propose(own, &mut unroll.to_vec(), 0, constraints, &mut proposed);
        let most = |unroll: &Vec<i64>| own.left.iter().map(|place| unroll[*place]).max();
        let cost = |unroll: &Vec<i64>| {
            (Reverse(self.added(own.operation, unroll)), self.banks(unroll), most(unroll), unroll.clone())
        };
        proposed.sort_by_cached_key(cost);
        let last = proposed.len().saturating_sub(1);
        proposed.into_iter().nth(rank.min(last)).unwrap_or_else(|| unroll.to_vec())
    }

    /// For each connected node that has its factors, what they ask of the loops of this one (Algorithm 4, lines 3 to 8).
    fn constraints(&self) -> Vec<Vec<Option<Fraction>>> {
        let of = |connection: &Connection| {
            let (other, alignments) = match connection.target == self.node {
                true => (connection.source, &connection.to_target),
                false => (connection.target, &connection.to_source),
            };
            let unroll = self.chosen[other].as_ref()?;
            let scaled =
                |alignment: &Option<Alignment>| alignment.map(|Alignment { of, scale }| scale.times(unroll[of]));
            Some(alignments.iter().map(scaled).collect())
        };
        match self.awareness.connection {
            true => self.dataflow.connections_of(self.node).filter_map(of).collect(),
            false => Vec::new(),
        }
    }

    /// All factors from a loop on that agree with the constraints, and make no more copies of an operation than there may be.
    fn propose(
        &self,
        own: &OfOperation,
        unroll: &mut Vec<i64>,
        first: usize,
        constraints: &[Vec<Option<Fraction>>],
        proposed: &mut Vec<Vec<i64>>,
    ) {
        let Some(&place) = own.left.get(first) else {
            proposed.push(unroll.clone());
            return;
        };
        let extent = self.node().loops[place].extent;
        let agrees = |factor: i64| {
            let of_loop = constraints.iter().filter_map(|constraint| constraint[place]);
            { of_loop }.all(|constraint| agree(constraint, factor))
        };
        for factor in (1..=extent.min(own.most as i64)).filter(|factor| extent % factor == 0) {
            unroll[place] = factor;
            if agrees(factor) && self.added(own.operation, unroll) <= own.most {
                self.propose(own, unroll, first + 1, constraints, proposed);
            }
        }
        unroll[place] = self.node().loops[place].written;
    }

    /// Banks of the arrays that the node accesses, with those that connected nodes need that have their factors; and words that lanes of
    /// accesses choose from.
    fn banks(&self, unroll: &[i64]) -> i64 {
        let arrays = self.node().accesses().map(|access| access.array).unique();
        let unroll_of = |node: usize| match node == self.node {
            true => Some(unroll),
            false => self.chosen[node].as_deref().filter(|_| self.awareness.connection),
        };
        let of_array = |array: usize| self.dataflow.factors_of(array, unroll_of).into_iter().product::<i64>();
        let extent = |place: usize| self.node().loops[place].extent;
        let lanes = self.node().accesses().map(|access| choices(access, unroll, extent) - 1);
        arrays.map(of_array).sum::<i64>() + lanes.sum::<i64>()
    }
}

/// Whether a constraint is a multiple or a divisor of a factor (Algorithm 4, line 15).
fn agree(constraint: Fraction, factor: i64) -> bool {
    let quotient = constraint.divided(factor);
    quotient.numerator == 1 || quotient.denominator == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_agree_with_multiples_and_divisors() {
        let agrees = |numerator, denominator, factor| agree(Fraction::new(numerator, denominator), factor);
        assert!(agrees(8, 1, 4) && agrees(4, 1, 8) && agrees(1, 2, 1) && agrees(1, 2, 4) && agrees(3, 2, 3));
        assert!(!agrees(8, 1, 3) && !agrees(3, 2, 2));
    }
}
