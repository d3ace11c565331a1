//! Why an accelerator is not proven.

use std::fmt;

use itertools::Itertools;
use pushmem_arithmetic::WrongArithmetic;

/// A wire or an operand with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl fmt::Display for ProvenanceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProvenanceError { reader, load, iteration, cycle, expected, found } = self;
        write!(
            formatter,
            "cycle {cycle}: load {load} of {reader} at iteration ({}) must be {expected}, but is {found}",
            iteration.iter().join(", ")
        )
    }
}

impl std::error::Error for ProvenanceError {}

/// A part that differs from its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError {
    /// Name of the part.
    pub part: String,
    /// The fault.
    pub reason: String,
}

impl fmt::Display for PartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.part, self.reason)
    }
}

/// An error about a part unless a condition holds.
pub(crate) fn require(holds: bool, part: impl FnOnce() -> String, reason: &str) -> Result<(), PartError> {
    if holds { Ok(()) } else { Err(PartError { part: part(), reason: reason.to_owned() }) }
}

/// Why an accelerator is not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// A part differs from its description.
    Part(PartError),
    /// A value differs from the program.
    Value(ProvenanceError),
    /// A datapath computes something else than its operation.
    Arithmetic(WrongArithmetic),
}

impl fmt::Display for ProofError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Part(error) => write!(formatter, "{error}"),
            ProofError::Value(error) => write!(formatter, "{error}"),
            ProofError::Arithmetic(error) => write!(formatter, "{error}"),
        }
    }
}

impl std::error::Error for ProofError {}

impl From<PartError> for ProofError {
    fn from(error: PartError) -> Self {
        ProofError::Part(error)
    }
}

impl From<WrongArithmetic> for ProofError {
    fn from(error: WrongArithmetic) -> Self {
        ProofError::Arithmetic(error)
    }
}

impl From<ProvenanceError> for ProofError {
    fn from(error: ProvenanceError) -> Self {
        ProofError::Value(error)
    }
}
