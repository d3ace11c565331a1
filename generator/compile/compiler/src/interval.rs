//! The initiation interval of a raster scan, or of a loop around stages.

use std::fmt;

use pushmem_files::counted;
use pushmem_schedule::{Circle, Coarse};
use serde::Serialize;

use crate::compile::Compiled;

/// How many cycles after one another the iterations of a raster scan begin, or those of the outermost loop around stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitiationInterval {
    /// The cycles.
    pub cycles: u64,
    /// The recurrence that needs so many; nothing if it is one cycle, and for a loop around stages.
    pub recurrence: Option<RecurrencePath>,
    /// The loop around stages.
    pub of_loop: Option<PipelinedLoop>,
}

/// A loop around stages, whose iterations overlap: the throughput of a run of many of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PipelinedLoop {
    /// Its variable.
    pub variable: String,
    /// Iterations.
    pub iterations: u64,
    /// The bound that keeps the interval from being shorter.
    pub bound: String,
}

/// Operations of which each takes the result of the one before, and the first that of the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecurrencePath {
    /// The operations.
    pub operations: Vec<String>,
    /// Cycles that a word takes around.
    pub latency: u64,
    /// Iterations after which it must be back.
    pub distance: u64,
}

impl InitiationInterval {
    /// That of a compiled program; nothing for a raster scan whose stages take no results of earlier iterations, and without a loop around
    /// stages.
    pub fn of(compiled: &Compiled) -> Option<Self> {
        if let Some(coarse) = compiled.coarse.as_ref().and_then(|plan| plan.coarse.as_ref()) {
            return Self::of_loop(coarse);
        }
        let recurrence = compiled.recurrence.as_ref()?;
        let name = |&stage: &usize| compiled.extraction.pipeline.stages[stage].name.clone();
        let path = |circle: &Circle| RecurrencePath {
            operations: circle.stages.iter().map(name).collect(),
            latency: circle.latency,
            distance: circle.distance,
        };
        let recurrence_path = recurrence.circle.as_ref().map(path);
        Some(InitiationInterval { cycles: recurrence.interval, recurrence: recurrence_path, of_loop: None })
    }

    /// That of the outermost loop that takes the most cycles.
    fn of_loop(coarse: &Coarse) -> Option<Self> {
        let outermost = coarse.loops.iter().filter(|level| level.parent.is_none() && level.extent > 1);
        let longest = outermost.max_by_key(|level| level.extent * level.interval)?;
        let of_loop = PipelinedLoop {
            variable: longest.name.clone(),
            iterations: longest.extent,
            bound: longest.bound.to_string(),
        };
        Some(InitiationInterval { cycles: longest.interval, recurrence: None, of_loop: Some(of_loop) })
    }
}

impl fmt::Display for InitiationInterval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(PipelinedLoop { variable, bound, .. }) = &self.of_loop {
            return write!(formatter, "{} of loop {variable}, bound by {bound}", counted(self.cycles, "cycle"));
        }
        let Some(RecurrencePath { operations, latency, distance }) = &self.recurrence else {
            return write!(formatter, "{}", counted(self.cycles, "cycle"));
        };
        let (latency, distance) = (counted(*latency, "cycle"), counted(*distance, "iteration"));
        let path = operations.join(", ");
        write!(formatter, "{}: {path} takes {latency} for a word of {distance} ago", counted(self.cycles, "cycle"))
    }
}
