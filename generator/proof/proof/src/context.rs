//! The facts that proofs of graphs and accelerators share.

use pushmem_datapaths::Datapath;
use pushmem_nest::Program;
use pushmem_stages::{Origin, Schedule, Staged};

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
        match self.staged.origins.get(stage)? {
            Origin::Input { .. } => None,
            Origin::Operation { operation, .. } => self.datapaths.get(*operation),
        }
    }
}
