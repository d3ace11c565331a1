//! Selection: the operations of processing elements that compute an operation of the loop nest.
//!
//! [`select`] takes the values of an operation, legalizes their widths to words and bits of the array, and covers them
//! with the operations of a [`PeSpec`](pushmem_pe::PeSpec). The result is a graph of [`Cell`](pushmem_cells::Cell)s without times.

mod arithmetic;
mod builder;
mod cover;
mod division;
mod legalize;
mod logic;
mod operators;
mod pairs;
mod predicate;
mod products;
mod quotient;
mod reciprocal;
mod select;

pub use operators::PeOperators;
pub use reciprocal::TableTiles;
pub use select::{Refused, select};
