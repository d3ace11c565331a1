//! Which copies of an unrolled operation are executed together.

use itertools::Itertools;

use crate::program::{Load, Loop, Operation};

impl Operation {
    /// Whether all copies along a loop, numbered from the outermost, reduce to the same element. Then they are executed
    /// together, as one sum, product or extreme, in the order of their lanes. Of integers the order does not matter, because additions wrap.
    pub fn merges(&self, variable: usize) -> bool {
        self.reduction.is_some() && !self.target.follows(variable)
    }

    /// The lanes of copies that are executed each by itself: for each loop, innermost first, which of the unrolled
    /// iterations. The loops are those around the operation, outermost first. The innermost lane turns fastest.
    pub fn copies_apart(&self, loops: &[&Loop]) -> Vec<Vec<i64>> {
        lanes(loops, |variable| !self.merges(variable))
    }

    /// The lanes of the copies that are executed together, relative to those of
    /// [`copies_apart`](Operation::copies_apart). Several only for a reduction.
    pub fn copies_together(&self, loops: &[&Loop]) -> Vec<Vec<i64>> {
        lanes(loops, |variable| self.merges(variable))
    }

    /// The load behind a read of copies that are executed together. Their reads are the loads of all of them, copy by
    /// copy, and of a reduction the old value of the target, for which there is no load.
    pub fn load_of_read(&self, loops: &[&Loop], read: usize) -> Option<&Load> {
        let together = loops.iter().enumerate().filter(|(variable, _)| self.merges(*variable));
        let copies: usize = together.map(|(_, level)| level.unroll as usize).product();
        (read < copies * self.loads.len()).then(|| &self.loads[read % self.loads.len()])
    }
}

/// All combinations of the lanes of chosen loops, the others staying in lane 0. That of no loops is one copy.
fn lanes(loops: &[&Loop], chosen: impl Fn(usize) -> bool) -> Vec<Vec<i64>> {
    let lanes = loops.iter().enumerate().map(|(variable, level)| 0..if chosen(variable) { level.unroll } else { 1 });
    lanes.multi_cartesian_product().map(|lanes| lanes.into_iter().rev().collect()).collect()
}
