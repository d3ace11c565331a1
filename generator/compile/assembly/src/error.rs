//! Why an application has no accelerator.

use std::fmt;

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
        /// The stage whose result would be delayed.
        stage: usize,
        /// Delays, in cycles.
        delays: Vec<u64>,
        /// The mappings that were tried.
        error: Box<MappingError>,
    },
    /// An array that the tiles of its level cannot keep.
    Array {
        /// The array, an index of the program's.
        array: usize,
        /// Where it is to be.
        level: Level,
        /// The mappings that were tried.
        error: Box<MappingError>,
    },
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Program(diagnostic) => write!(formatter, "{diagnostic}"),
            AssemblyError::Memory { error, .. } | AssemblyError::Array { error, .. } => write!(formatter, "{error}"),
        }
    }
}

impl std::error::Error for AssemblyError {}
