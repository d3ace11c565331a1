//! Why a test failed.

use std::fmt::{Display, Formatter};

use pushmem_files::Diagnostic;
use pushmem_simulation::{BenchError, Mismatch};

/// The meaning of a failure for the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Nothing: a file of the test is wrong, or a tool refuses, so that it could not run.
    NotRun,
    /// RTL and model differ, first in this clock cycle.
    Difference {
        /// The clock cycle, counted from the start of the test.
        clock: u64,
    },
    /// It does not do what the test asks for, or stopped, for example at an assertion.
    Wrong,
}

/// Why a test failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its meaning for the RTL.
    pub kind: FailureKind,
    /// It in words.
    pub message: String,
}

impl Failure {
    /// The RTL does not do what the test asks for.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::Wrong, message: message.into() }
    }

    /// The test could not run.
    pub(crate) fn not_run(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::NotRun, message: message.into() }
    }

    /// The same, with where it was in front.
    pub(crate) fn at(self, place: impl Display) -> Self {
        Failure { message: format!("{place}: {}", self.message), ..self }
    }

    /// The same, with the random specification that it happened with.
    pub(crate) fn with_specification(self, seed: u64, described: &str) -> Self {
        Failure { message: format!("{self}\nspecification of seed {seed}:\n{described}"), ..self }
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// An error of a file or a tool in a test.
impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure::not_run(match diagnostic.location() {
            Some((file, line, column)) => format!("{file}:{line}:{column}: {}", diagnostic.message()),
            None => diagnostic.message().to_owned(),
        })
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        let kind = match error {
            BenchError::NotRun(diagnostic) => return diagnostic.into(),
            BenchError::Mismatch(Mismatch { clock, .. }) => FailureKind::Difference { clock },
            BenchError::Rtl(_) => FailureKind::Wrong,
            BenchError::Configuration(_) | BenchError::StreamEnded { .. } | BenchError::TooLong { .. } => {
                FailureKind::NotRun
            }
        };
        Failure { kind, message: error.to_string() }
    }
}
