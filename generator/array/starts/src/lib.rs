//! The cycle in which each cell of a netlist starts on an array.
//!
//! A connection takes at least as many registers as its shortest route has. That is a difference constraint on the lags of its
//! cells, and the lags that need the fewest registers are a problem of retiming (Leiserson and Saxe, "Retiming Synchronous
//! Circuitry", Algorithmica 1991, §8). [`starts`] solves it in integers. Where every hop has a register, the routes between two
//! tiles have all an even or all an odd number of them; an input that cannot be late must match that, too.

mod error;
mod parity;
mod recurrence;
mod solve;

pub use error::StartError;
pub use recurrence::{LoopConnection, recurrences};
pub use solve::{Demand, Lags, prices, registers, starts};
