//! The mapper: programs on an array.
//!
//! [`lower`] makes the netlist of a compiled program: selection gives the cells of its kernels, memories become cells of
//! memory tiles, shift registers become cycles of connections. Placement and routing then give it tiles and tracks.

mod lower;
pub mod model;
mod predicates;

pub use lower::{Lowered, lower};
