//! Affine maps over boxes of iterations: the arithmetic of schedules, access maps and addresses.
//!
//! A [`Domain`] is a nest of loops with constant extents, an [`Affine`] map gives a cycle, an element or an address for each
//! of its points, and a [`Recurrence`] computes the same from point to point as hardware does: one register, one adder, one
//! delta for each loop (unified-buffer paper §IV-C, Figures 5 and 6). Level 0 is the innermost loop, everywhere.
//! A [`Fraction`] is the ratio of two strides. Numbers that are read stay within limits, such as [`LARGEST_VALUE`].

mod affine;
mod domain;
mod fraction;
mod limits;
mod recurrence;

pub use affine::{Affine, coalesced};
pub use domain::{Domain, deltas, strides};
pub use fraction::Fraction;
pub use limits::{LARGEST_BOUND, LARGEST_LOOP, LARGEST_VALUE, MOST_ITERATIONS, beyond_largest};
pub use recurrence::Recurrence;
