//! Assembly: the stages of a scheduled program as kernels, shift registers and memory tiles, and the wires between them.
//!
//! [`assemble`] finds for every read how long after its write it comes. A distance that is the same for every iteration is
//! a delay: short ones become shift registers, long ones memory tiles (the dissertation §5.1). A read whose distance
//! depends on loop indices, as at the boundary of an image or when it enlarges one, selects among delays.

mod arrays;
mod assemble;
mod constraints;
mod error;
mod inputs;
mod merge;
mod outputs;
mod pointwise;
mod roms;
mod stream;
mod taps;
mod units;

pub use assemble::{Tiles, assemble};
pub use constraints::Constraints;
pub use error::AssemblyError;
pub use inputs::check_inputs;
