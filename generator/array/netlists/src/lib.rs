//! Netlists for tests and benchmarks, and their direct evaluation.

mod builder;
mod evaluation;
mod harris;
mod random;

pub use builder::{Builder, Operand, Word};
pub use evaluation::{Evaluation, Stream};
pub use harris::{copies, harris};
pub use random::{Shape, random};
