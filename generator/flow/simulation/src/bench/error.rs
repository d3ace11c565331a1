//! Why a comparison of RTL and model stops.

use pushmem_files::{Diagnostic, Fault};
use thiserror::Error;

/// Where the RTL differs from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock cycles since the bench began, stalled ones included.
    pub clock: u64,
    /// The signal that differs, with both values.
    pub difference: String,
}

/// Why a scenario failed.
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
}
