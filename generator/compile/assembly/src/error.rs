//! Why an application has no accelerator.

use std::fmt;

use pushmem_files::Diagnostic;
use pushmem_mapping::MappingError;
use pushmem_nest::Level;

/// Why stages cannot be assembled.
#[derive(Clone, Debug)]
pub enum AssemblyError {
    /// A fault of the program, with its place.
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
        /// Other arrays that the tiles cannot keep.
        others: Vec<usize>,
        /// Schedules for which the array was mapped in vain, where the search was given up after so many.
        given_up: Option<usize>,
    },
    /// A schedule that takes longer than one that is known.
    TooLong {
        /// Its cycles.
        cycles: u64,
        /// The most cycles that it may take.
        most: u64,
    },
    /// An array whose tiles have fewer inputs than stages write the words of one read.
    Inputs {
        /// The array, an index of the program's.
        array: usize,
        /// Where it is to be.
        level: Level,
        /// The tile that is there.
        tile: String,
        /// Inputs of the tile.
        inputs: u32,
        /// The stage whose words come first.
        first: usize,
        /// The stage that updates them.
        update: usize,
        /// The loop in which it takes its own words.
        variable: String,
    },
}

impl AssemblyError {
    /// The array that its tiles cannot keep, if that is the reason.
    pub fn array(&self) -> Option<usize> {
        match self {
            AssemblyError::Program(_) | AssemblyError::Memory { .. } | AssemblyError::TooLong { .. } => None,
            AssemblyError::Array { array, .. } | AssemblyError::Inputs { array, .. } => Some(*array),
        }
    }
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Program(diagnostic) => write!(formatter, "{diagnostic}"),
            AssemblyError::Memory { error, .. } | AssemblyError::Array { error, .. } => write!(formatter, "{error}"),
            AssemblyError::TooLong { cycles, most } => {
                write!(formatter, "the schedule takes {cycles} cycles; one of {most} is known")
            }
            AssemblyError::Inputs { array, tile, .. } => {
                write!(formatter, "array {array} has too many writes for {tile}")
            }
        }
    }
}

impl std::error::Error for AssemblyError {}
