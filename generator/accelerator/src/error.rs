//! Why an application has no accelerator, or one is not proven.

use std::fmt;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_mapping::MappingError;
use pushmem_nest::Level;

/// Why stages cannot be assembled.
#[derive(Debug)]
pub enum AssemblyError {
    /// Something in the program, with its place.
    Program(Box<Diagnostic>),
    /// A delay that the memory tiles cannot make.
    Memory {
        /// Name of the wire that would be delayed.
        wire: String,
        /// Delays, in cycles.
        delays: Vec<u64>,
        /// What was tried.
        error: Box<MappingError>,
    },
    /// An array that the tiles of its level cannot keep.
    Array {
        /// The array, an index of the program's.
        array: usize,
        /// Where it is to be.
        level: Level,
        /// Its name.
        name: String,
        /// What was tried.
        error: Box<MappingError>,
    },
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Program(diagnostic) => write!(formatter, "{diagnostic}"),
            AssemblyError::Memory { wire, delays, error } => {
                let delays = delays.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                write!(formatter, "{wire} cannot be delayed by {delays} cycles in memory tiles: {error}")
            }
            AssemblyError::Array { name, level, error, .. } => {
                let place = match level {
                    Level::GlobalBuffer => "the global buffer",
                    Level::Memory => "memory tiles",
                    Level::RegisterFile => "register files",
                };
                write!(formatter, "{name} cannot be kept in {place}: {error}")
            }
        }
    }
}

impl std::error::Error for AssemblyError {}

/// What a wire or an operand is found not to be.
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
    /// What should be there.
    pub expected: String,
    /// What is there.
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
