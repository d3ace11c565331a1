//! Accelerators: the stages of a scheduled program as kernels, shift registers and memory tiles, and the wires between
//! them.
//!
//! [`assemble`] finds for every read how long after its write it comes. A distance that is the same for every iteration is
//! a delay: short ones become shift registers, long ones memory tiles (the dissertation §5.1). A read whose distance
//! depends on loop indices, as at the boundary of an image or when it enlarges one, selects among delays.
//! [`Accelerator::run`] is the cycle-accurate model of the result.

mod accelerator;
mod arrays;
mod assemble;
mod constraints;
mod error;
mod memories;
mod merge;
mod order;
mod outputs;
mod parts;
mod pointwise;
mod proof;
mod provenance;
mod roms;
mod run;
mod stored;
mod stream;
mod taps;
mod tiles;
mod units;

pub use accelerator::{
    Accelerator, Case, Condition, Configured, Constant, Copied, Counter, Delayed, Driver, Kernel, Lane, Memory,
    OperationDatapath, Rom, SharedUnit, Source, StoredArray, Stream, Tile, Turn, Variable, WORD_BITS, Wire, WireId,
};
pub use assemble::assemble;
pub use constraints::{Constraints, Levels};
pub use error::{AssemblyError, PartError, ProofError, ProvenanceError};
pub use proof::prove;
pub use roms::{RomError, RomFault, prove_roms};
pub use run::{Beats, Run};
