//! Operands of a kernel that come in different cycles.

use std::collections::VecDeque;

use pushmem_kernels::Datapath;

/// The operands of the last cycles, to join those of an iteration: a load may come some cycles after it begins.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals<Word> {
    /// By load, the cycles after the begin.
    late: Vec<u64>,
    /// The loads and variables of earlier cycles, the oldest first: as many as the latest load is late.
    before: VecDeque<(Vec<Word>, Vec<i64>)>,
}

impl<Word: Copy + Default> Arrivals<Word> {
    /// Those of a datapath of an operation with so many loops.
    pub fn of(datapath: &Datapath, depth: usize) -> Self {
        let loads = datapath.loads().len();
        let late: Vec<u64> = (0..loads).map(|load| datapath.arrival(load)).collect();
        let most = late.iter().copied().max().unwrap_or(0) as usize;
        let before = VecDeque::from(vec![(vec![Word::default(); loads], vec![0; depth]); most]);
        Arrivals { late, before }
    }

    /// Cycles from the begin of an iteration until all of its operands are there.
    pub fn latest(&self) -> u64 {
        self.before.len() as u64
    }

    /// Replaces the operands of a cycle by those of the iteration of which the latest come in it.
    pub fn join(&mut self, loads: &mut [Word], variables: &mut [i64]) {
        if self.before.is_empty() {
            return;
        }
        self.before.push_back((loads.to_vec(), variables.to_vec()));
        for (load, (word, late)) in loads.iter_mut().zip(&self.late).enumerate() {
            *word = self.before[*late as usize].0[load];
        }
        variables.copy_from_slice(&self.before[0].1);
        self.before.pop_front();
    }
}
