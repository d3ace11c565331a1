//! Rewrites of loop nests: each takes a [`Program`](pushmem_nest::Program) and gives one that computes the same, in the form that a
//! later pass needs, or that costs less.
//!
//! A rewrite knows nothing of what the result costs: the search calls it and compares. The proof, which uses no rewrite, compares the program
//! that was compiled with the one that was written.

mod accumulators;
mod digits;
mod edges;
mod halves;
mod lanes;
mod levels;
mod orders;
mod outside;
mod padding;
mod random_access;
mod rolled;
mod serial_loads;

pub use accumulators::with_accumulators;
pub use edges::{with_edges, without_edges};
pub use halves::with_halves;
pub use lanes::with_joined_lanes;
pub use levels::with_copies;
pub use orders::{
    with_first_values_as_sums, with_inner_reductions, with_loops_of_first_values, with_loops_of_output,
    with_outer_reductions, with_outer_rows,
};
pub use outside::with_outside_loads;
pub use padding::with_padding;
pub use random_access::with_random_access;
pub use rolled::with_rolled_copies;
pub use serial_loads::with_serial_loads;
