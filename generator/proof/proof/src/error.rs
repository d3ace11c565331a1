//! Why an accelerator is not proven.

use itertools::Itertools;
use pushmem_arithmetic::WrongArithmetic;
use thiserror::Error;

/// A wire or an operand with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cycle {cycle}: load {load} of {reader} at iteration ({}) must be {expected}, but is {found}", .iteration.iter().join(", "))]
pub struct ProvenanceError {
    /// Name of the stage that reads, or of the output stream.
    pub reader: String,
    /// Which load of it.
    pub load: usize,
    /// The iteration, innermost loop first.
    pub iteration: Vec<i64>,
    /// The cycle.
    pub cycle: i64,
    /// The expected value.
    pub expected: String,
    /// The value found.
    pub found: String,
}

/// A part that differs from its description.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{part}: {reason}")]
pub struct PartError {
    /// Name of the part.
    pub part: String,
    /// The fault.
    pub reason: String,
}

/// An error about a part unless a condition holds.
pub(crate) fn require(holds: bool, part: impl FnOnce() -> String, reason: &str) -> Result<(), PartError> {
    if holds { Ok(()) } else { Err(PartError { part: part(), reason: reason.to_owned() }) }
}

/// Why an accelerator is not proven.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProofError {
    /// A part differs from its description.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A value differs from the program.
    #[error(transparent)]
    Value(#[from] ProvenanceError),
    /// A datapath computes something else than its operation.
    #[error(transparent)]
    Arithmetic(#[from] WrongArithmetic),
}
