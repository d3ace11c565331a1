//! Why the stages of a schedule have no graph with memories on tiles.

use std::fmt;

use pushmem_files::Diagnostic;
use pushmem_mapping::MappingError;
use pushmem_nest::Level;

/// Why the stages of a schedule have no graph with memories on tiles.
#[derive(Clone, Debug)]
pub enum Unserved {
    /// A fault of the program, with its place, whatever the memories are.
    Program(Box<Diagnostic>),
    /// The elements of an array are accessed in an order that only a random-access memory serves, whatever the other memories are.
    Order {
        /// The name of the array.
        array: String,
        /// The refusal of other memories.
        refused: Box<Diagnostic>,
    },
    /// Memories are short: those of another schedule may do.
    Short(Shortage),
}

/// The memory that is short.
#[derive(Clone, Debug)]
pub enum Shortage {
    /// A delay that the memory tiles cannot make.
    Delay {
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
    /// More tiles than there are of a kind.
    Tiles {
        /// The name of the kind.
        tile: String,
        /// Tiles that the memories need beyond those that there are.
        missing: usize,
        /// The array in them that is to be in the global buffer: the one with the most words that may be at another level.
        movable: Option<usize>,
        /// The refusal of the program, if it has to be.
        refused: Box<Diagnostic>,
    },
}

impl Shortage {
    /// The array for which memory is short, if it is one.
    pub fn array(&self) -> Option<usize> {
        match self {
            Shortage::Delay { .. } => None,
            Shortage::Array { array, .. } | Shortage::Inputs { array, .. } => Some(*array),
            Shortage::Tiles { movable, .. } => *movable,
        }
    }
}

impl From<Shortage> for Unserved {
    fn from(shortage: Shortage) -> Self {
        Unserved::Short(shortage)
    }
}

impl From<Diagnostic> for Unserved {
    fn from(fault: Diagnostic) -> Self {
        Unserved::Program(Box::new(fault))
    }
}

impl fmt::Display for Unserved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unserved::Program(refused) | Unserved::Order { refused, .. } => write!(formatter, "{refused}"),
            Unserved::Short(Shortage::Delay { error, .. } | Shortage::Array { error, .. }) => {
                write!(formatter, "{error}")
            }
            Unserved::Short(Shortage::Inputs { array, tile, .. }) => {
                write!(formatter, "array {array} has too many writes for {tile}")
            }
            Unserved::Short(Shortage::Tiles { refused, .. }) => write!(formatter, "{refused}"),
        }
    }
}

impl std::error::Error for Unserved {}
