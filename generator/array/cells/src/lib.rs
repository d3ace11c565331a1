//! The cells of an operation: what selection results in, as data, and what it computes.
//!
//! [`Cells`] are operations of processing elements with their operands, without times and places. [`CellEvaluator`] computes their results
//! by the semantics of [`pushmem_pe`].

mod cell;
mod evaluator;
mod predicate;

pub use cell::{Bit, BitSource, Cell, Cells, Fetch, Sequence, Table, Word};
pub use evaluator::CellEvaluator;
pub use predicate::{Predicate, Steps};
