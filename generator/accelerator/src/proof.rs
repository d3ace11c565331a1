//! The proof of an accelerator, and why there is none.

use std::fmt;

use pushmem_extraction::Extraction;
use pushmem_kernels::Datapath;
use pushmem_nest::Program;
use pushmem_schedule::Schedule;

use crate::accelerator::Accelerator;
use crate::parts::{self, Compilation};
use crate::provenance::{self, ProvenanceError};

/// A part that is not what it is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError {
    /// Name of the part.
    pub part: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for PartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.part, self.reason)
    }
}

/// An error about a part unless something holds.
pub(crate) fn require(holds: bool, part: impl FnOnce() -> String, reason: &str) -> Result<(), PartError> {
    if holds { Ok(()) } else { Err(PartError { part: part(), reason: reason.to_owned() }) }
}

/// Why an accelerator is not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// A part is not what it is said to be.
    Part(PartError),
    /// A value is not the one that the program says.
    Value(ProvenanceError),
}

impl fmt::Display for ProofError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Part(error) => write!(formatter, "{error}"),
            ProofError::Value(error) => write!(formatter, "{error}"),
        }
    }
}

impl std::error::Error for ProofError {}

impl From<PartError> for ProofError {
    fn from(error: PartError) -> Self {
        ProofError::Part(error)
    }
}

impl From<ProvenanceError> for ProofError {
    fn from(error: ProvenanceError) -> Self {
        ProofError::Value(error)
    }
}

/// Proves that an accelerator, as it is printed, computes what the program says, given that `datapaths` are those of the
/// operations, and that the tiles of each memory do what its buffer says, which a replay of its mapping shows.
///
/// # Errors
/// The first part or value that is wrong.
pub fn prove(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    datapaths: &[Datapath],
    accelerator: &Accelerator,
) -> Result<(), ProofError> {
    parts::check(Compilation { program, extraction, schedule, datapaths, accelerator })?;
    provenance::prove(program, extraction, schedule, accelerator)
}
