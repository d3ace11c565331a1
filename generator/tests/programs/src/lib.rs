//! Random programs, to test the compiler with.
//!
//! [`random_program`] writes the text of a stencil program: one to six stages that form a graph with fan-out and
//! reconvergence, windows of up to 7 × 7, reductions and enlargements of the image, boundaries, unrolled loops, one to
//! three dimensions of odd sizes, all types and operators.
//!
//! [`random_program_with_parameters`] writes such a program whose stages also read parameters that come at run time: scalars,
//! weights, and words for each row or each plane of an image.
//!
//! [`random_program_with_recurrences`] writes such a program whose stages also take results of their own earlier iterations.
//!
//! [`random_program_in_parts`] writes one whose rows have any length, read in loops of two parts from some column on.
//!
//! [`random_network`] writes one whose reductions are loops: imperfect nests in up to two loops over tiles, with loads,
//! initializations, updates in any order of the loops, windows and strides, transposed reads, residual connections, updates
//! in place, and sums over all tiles.
//!
//! [`random_program_with_units`] writes layers that share a compute unit.
//!
//! [`random_rows`] writes a network of one image, whose rows can flow from layer to layer.
//! [`random_program_of_wide_elements`] and [`random_network_of_wide_elements`] write such programs whose arrays mostly have elements
//! of 32 bits.
//!
//! [`random_program_of_numbers`] and [`random_reductions_of_numbers`] write such programs with numbers of bfloat16, which
//! [`in_float16`] makes those of float16.
//!
//! [`random_program_of_random_accesses`] writes one whose data choose elements of arrays.
//!
//! [`random_reductions`] writes sums of one array or two as a reader of linear algebra would, in the innermost loops or not.
//!
//! The text depends on the seed alone, so that a seed names a test. The example `random_programs` writes them to files.

mod expression;
mod generate;
mod networks;
mod parameters;
mod parts;
mod random_access;
mod recurrences;
mod reductions;
mod rows;
mod units;

pub use expression::in_float16;
pub use generate::{
    random_program, random_program_of_numbers, random_program_of_wide_elements, random_program_with_parameters,
    random_program_with_recurrences,
};
pub use networks::{random_network, random_network_of_wide_elements};
pub use parts::random_program_in_parts;
pub use random_access::random_program_of_random_accesses;
pub use reductions::{random_reductions, random_reductions_of_numbers};
pub use rows::random_rows;
pub use units::random_program_with_units;
