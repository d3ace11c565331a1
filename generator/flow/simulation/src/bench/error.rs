//! Why a comparison of RTL and model stops.

use std::fmt;

use pushmem_files::{Diagnostic, Fault};

/// Where the RTL differs from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock cycles since the bench began, stalled ones included.
    pub clock: u64,
    /// The signal that differs, with both values.
    pub difference: String,
}

/// Why a scenario failed.
#[derive(Debug)]
pub enum BenchError {
    /// The RTL differs from the model.
    Mismatch(Mismatch),
    /// The RTL simulation stopped, for example because an assertion failed.
    Rtl(Diagnostic),
    /// The configuration does not fit the tile.
    Configuration(Fault),
}

impl fmt::Display for BenchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Mismatch(Mismatch { clock, difference }) => {
                write!(formatter, "RTL and model differ at clock {clock}: {difference}")
            }
            BenchError::Rtl(diagnostic) => write!(formatter, "{}", diagnostic.message()),
            BenchError::Configuration(fault) => write!(formatter, "{fault}"),
        }
    }
}

impl std::error::Error for BenchError {}
