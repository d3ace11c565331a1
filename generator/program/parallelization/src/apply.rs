//! A program with the unroll factors of a parallelization.

use std::collections::BTreeMap;

use pushmem_nest::{Node, Program};

use crate::search::Parallelization;

impl Parallelization {
    /// The program with these factors. It is the one that the nodes are of.
    pub fn applied(&self, program: &Program) -> Program {
        let factors: BTreeMap<usize, i64> =
            self.nodes.iter().flat_map(|node| node.loops.iter().copied().zip(node.factors())).collect();
        let mut unrolled = program.clone();
        unroll(&mut unrolled.nest, &factors, &mut 0);
        unrolled
    }
}

/// Sets the factors of loops by their numbers.
fn unroll(nodes: &mut [Node], factors: &BTreeMap<usize, i64>, next: &mut usize) {
    for node in nodes {
        if let Node::Loop(level) = node {
            if let Some(factor) = factors.get(next) {
                level.unroll = *factor;
            }
            *next += 1;
            unroll(&mut level.body, factors, next);
        }
    }
}
