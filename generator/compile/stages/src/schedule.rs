//! When stages run.

use pushmem_affine::Affine;

use crate::pipeline::Pipeline;

/// When all stages run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// For each stage the cycle in which an iteration reads, over the indices of its loops from their first ones on. It
    /// writes its latency later.
    pub stages: Vec<Affine>,
}

impl Schedule {
    /// Cycles from the first read of any stage to the last write, both included.
    pub fn length(&self, pipeline: &Pipeline) -> i64 {
        let stages = || self.stages.iter().zip(&pipeline.stages);
        let first = stages().map(|(schedule, stage)| stage.first_cycle(schedule)).min().unwrap_or(0);
        let last =
            stages().map(|(schedule, stage)| stage.last_cycle(schedule) + stage.latency as i64).max().unwrap_or(-1);
        last - first + 1
    }
}
