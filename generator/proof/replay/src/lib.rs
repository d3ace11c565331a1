//! The proof of a mapping: tiles implement their buffer.
//!
//! [`replay`] simulates mapped tiles from their configurations, with the timing of the cycle model, on words that carry
//! where they came from. Every word of every read port is compared with the element that the buffer says it must be,
//! and every conflict, overrun and undefined word is found.

mod chained;
mod error;
mod expectation;
mod memory;
mod parts;
mod recurrence;
mod replay;
mod report;
mod simulation;
mod tile;
mod walker;

pub use error::{ErrorKind, ReadIteration, ReplayError, WordOrigin};
pub use replay::{replay, replay_all};
pub use report::ReplayReport;
