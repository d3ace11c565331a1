//! Dedicated hardware: a back end of the compiler.
//!
//! [`realize`] makes an accelerator of an application graph and its memories: short delays become shift registers, large tables
//! ROM tiles, and wires connect these with the memory tiles and the kernels (the dissertation §5.1). [`Dedicated`] is a program
//! through all of this, proven.

mod dedicated;
mod emit;
mod realize;
mod report;

pub use dedicated::{Dedicated, Proof, build, planned};
pub use realize::realize;
pub use report::Report;
