//! Why an application has no accelerator.

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

impl std::fmt::Display for AssemblyError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
