//! The facts that the proofs of a graph share.

use pushmem_datapaths::Datapath;
use pushmem_graph::Counter;
use pushmem_nest::{Program, Word};
use pushmem_stages::{Schedule, Staged};

use crate::counters;
use crate::sequence::Sequence;

/// Facts of the proof beside the graph.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub staged: Staged<'a>,
    pub schedule: &'a Schedule,
    pub sequence: &'a Sequence<'a>,
    /// The datapath of each operation.
    pub datapaths: &'a [Datapath],
}

impl<'a> Context<'a> {
    /// The datapath of a stage that is no input.
    pub fn datapath(self, stage: usize) -> Option<&'a Datapath> {
        self.datapaths.get(self.staged.origins.get(stage)?.operation()?)
    }

    /// The name of a stage.
    pub fn name(self, stage: usize) -> String {
        self.staged.pipeline.stages[stage].name.clone()
    }

    /// The words of the results of a stage.
    pub fn words(self, stage: usize) -> &'static [Word] {
        let array = self.staged.pipeline.stages.get(stage).and_then(|stage| self.program.arrays.get(stage.write.array));
        array.map_or(&[Word::Low], |array| array.written().words())
    }

    /// The loop of a stage that each level of a counter counts, as [`counters::counted`].
    pub fn counted(self, counter: &Counter, stage: usize, late: u64) -> Option<Vec<usize>> {
        counters::counted(counter, &self.staged.pipeline.stages[stage], &self.schedule.stages[stage], late)
    }
}
