//! Why a comparison of RTL and model stops.

use pushmem_files::{Diagnostic, Fault};
use thiserror::Error;

use crate::streams::MAX_CYCLES;

/// Where the RTL differs from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock cycles since the bench began, stalled ones included.
    pub clock: u64,
    /// The signal that differs, with both values.
    pub difference: String,
}

/// Why a scenario or a run of streams failed, or a self-test has no verdict.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The RTL differs from the model.
    #[error("RTL and model differ at clock {}: {}", .0.clock, .0.difference)]
    Mismatch(Mismatch),
    /// The RTL simulation stopped, for example because an assertion failed.
    #[error("{}", .0.message())]
    Rtl(Diagnostic),
    /// The configuration does not fit the tile.
    #[error("{0}")]
    Configuration(Fault),
    /// The RTL cannot be run.
    #[error("{}", .0.message())]
    NotRun(Diagnostic),
    /// An input stream ended too early.
    #[error("input {input} has {words} words, but cycle {cycle} takes one more")]
    StreamEnded {
        /// Number of the input.
        input: usize,
        /// Words in its stream.
        words: usize,
        /// Unstalled cycle that needed one more.
        cycle: u64,
    },
    /// The run would be longer than anyone is likely to want.
    #[error("the run takes {length} cycles; more than {} only if --cycles asks for them", MAX_CYCLES)]
    TooLong {
        /// Its length, in unstalled cycles.
        length: u128,
    },
}
