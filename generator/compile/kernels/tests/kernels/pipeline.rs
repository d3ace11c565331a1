//! The cycle-accurate model of a datapath.

use pushmem_datapaths::{Datapath, Evaluator};
use pushmem_nest::Table;

/// A running datapath, one step a cycle.
///
/// Before the first result is through, results are 0; of the hardware they are anything.
#[derive(Clone, Debug)]
pub struct Pipeline {
    evaluator: Evaluator,
    /// The results under way and, at the place of the next one, the result on the output.
    results: Vec<i64>,
    /// The place of the result that entered last.
    place: usize,
}

impl Pipeline {
    /// The pipeline of a datapath of a program with these tables.
    pub fn new(datapath: &Datapath, tables: &[Table]) -> Self {
        let results = vec![0; datapath.latency() as usize + 1];
        Self { evaluator: Evaluator::new(datapath, tables), results, place: 0 }
    }

    /// Begins the next cycle, in which the operands have these values: those of the loads in the order of
    /// [`Operation::reads`](pushmem_nest::Operation::reads) and of the loop variables, outermost first.
    pub fn step(&mut self, loads: &[i64], variables: &[i64]) {
        self.place = self.next();
        self.results[self.place] = self.evaluator.evaluate(loads, variables);
    }

    /// The result in the cycle of the last step: of the operands [`Datapath::latency`] steps before it.
    pub fn result(&self) -> i64 {
        self.results[self.next()]
    }

    fn next(&self) -> usize {
        if self.place + 1 < self.results.len() { self.place + 1 } else { 0 }
    }
}
