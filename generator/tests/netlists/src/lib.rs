//! Netlists for tests and benchmarks.

mod builder;
mod harris;
mod random;

pub use builder::{Builder, Operand, Tap};
pub use harris::{copies, harris};
pub use random::{NetlistSize, random};
