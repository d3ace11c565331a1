//! The time of each step.

use std::time::Instant;

use serde::Serialize;

/// Seconds of each step from a program to a bitstream, with those of schedules that were tried before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// The schedule, the memories and the kernels, with their proof.
    pub compile: f64,
    /// Selection of operations, and the netlist.
    pub selection: f64,
    /// Places, starts and routes.
    pub place_and_route: f64,
    /// Configuration and register writes.
    pub encoding: f64,
    /// The proof that the bitstream is the program.
    pub proof: f64,
}

impl Times {
    /// The sum of two, step by step.
    #[must_use]
    pub fn plus(&self, other: &Times) -> Times {
        Times {
            compile: self.compile + other.compile,
            selection: self.selection + other.selection,
            place_and_route: self.place_and_route + other.place_and_route,
            encoding: self.encoding + other.encoding,
            proof: self.proof + other.proof,
        }
    }
}

/// Runs a step, and adds its time.
pub(crate) fn timed<Result>(seconds: &mut f64, step: impl FnOnce() -> Result) -> Result {
    let started = Instant::now();
    let result = step();
    *seconds += started.elapsed().as_secs_f64();
    result
}
