//! Operands of a kernel that come in different cycles.

use std::collections::VecDeque;

use pushmem_datapaths::Datapath;

/// The operands of the last cycles, to join those of an iteration: a load may come some cycles after it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrivals<Word = u16> {
    /// By operand, the cycles after the begin.
    late: Vec<u64>,
    /// The operands and variables of earlier cycles, the oldest first: as many as the latest operand is late. Before the run there are no
    /// variables.
    before: VecDeque<(Vec<Word>, Option<Vec<i64>>)>,
}

impl<Word: Copy + Default> Arrivals<Word> {
    /// Those of a datapath.
    pub fn of(datapath: &Datapath) -> Self {
        let latest = datapath.operands().into_iter().map(|(load, _)| datapath.arrival(load)).max();
        Self::up_to(datapath, latest.unwrap_or(0))
    }

    /// Those of a datapath up to a stage: operands that come later are those of an iteration before.
    pub fn up_to(datapath: &Datapath, stage: u64) -> Self {
        let late = datapath.operands().into_iter().map(|(load, _)| datapath.arrival(load).min(stage));
        let late: Vec<u64> = late.collect();
        let most = stage as usize;
        let before = VecDeque::from(vec![(vec![Word::default(); late.len()], None); most]);
        Arrivals { late, before }
    }

    /// Cycles from the begin of an iteration until all of its operands are there.
    pub fn latest(&self) -> u64 {
        self.before.len() as u64
    }

    /// Replaces the operands of a cycle by those of the iteration of which the latest come in it.
    pub fn join(&mut self, operands: &mut [Word], variables: &mut [i64]) {
        if self.before.is_empty() {
            return;
        }
        self.before.push_back((operands.to_vec(), Some(variables.to_vec())));
        for (operand, (word, late)) in operands.iter_mut().zip(&self.late).enumerate() {
            *word = self.before[*late as usize].0[operand];
        }
        // A result of operands before the run is none, but its variables are those of some iteration.
        if let Some(begun) = &self.before[0].1 {
            variables.copy_from_slice(begun);
        }
        self.before.pop_front();
    }
}
