//! Random stencil programs, to test the compiler with.
//!
//! [`random_program`] writes the text of a program: one to six stages that form a graph with fan-out and reconvergence,
//! windows of up to 7 × 7, reductions and enlargements of the image, boundaries, unrolled loops, one to three dimensions
//! of odd sizes, all types and operators. The text depends on the seed alone, so that a seed names a test. The example
//! `random_programs` writes them to files.

mod expression;
mod generate;

pub use generate::random_program;
