//! The initiation interval of a raster scan.

use std::fmt;

use pushmem_files::counted;
use pushmem_schedule::Circle;
use serde::Serialize;

use crate::compile::Compiled;

/// How many cycles after one another the iterations of a raster scan begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitiationInterval {
    /// The cycles.
    pub cycles: u64,
    /// The recurrence that needs so many; nothing if it is one cycle.
    pub recurrence: Option<RecurrencePath>,
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
    /// That of a compiled program; nothing if its stages take no results of earlier iterations, or it is no raster scan.
    pub fn of(compiled: &Compiled) -> Option<Self> {
        let recurrence = compiled.recurrence.as_ref()?;
        let name = |&stage: &usize| compiled.extraction.pipeline.stages[stage].name.clone();
        let path = |circle: &Circle| RecurrencePath {
            operations: circle.stages.iter().map(name).collect(),
            latency: circle.latency,
            distance: circle.distance,
        };
        Some(InitiationInterval { cycles: recurrence.interval, recurrence: recurrence.circle.as_ref().map(path) })
    }
}

impl fmt::Display for InitiationInterval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(RecurrencePath { operations, latency, distance }) = &self.recurrence else {
            return write!(formatter, "{}", counted(self.cycles, "cycle"));
        };
        let (latency, distance) = (counted(*latency, "cycle"), counted(*distance, "iteration"));
        let path = operations.join(", ");
        write!(formatter, "{}: {path} takes {latency} for a word of {distance} ago", counted(self.cycles, "cycle"))
    }
}
