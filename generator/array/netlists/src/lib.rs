//! Netlists for tests and benchmarks.

mod builder;
mod harris;
mod random;

pub use builder::{Builder, Operand, Word};
pub use harris::{copies, harris};
pub use random::{Shape, random};
