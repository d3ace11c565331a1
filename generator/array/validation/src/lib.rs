//! The proof of a program on an array: its bitstream computes what its application graph computes.
//!
//! [`validate`] decodes the bitstream and lifts it to a netlist, from the routing-resource graph alone. It runs that and the
//! graph on random words, with *tokens* in place of numbers: each result is a random function of the operation and its
//! operands, so that words are equal only if they are the same operations of the same elements. All words that leave must be
//! equal. That the graph computes the loop nest, and each operand is the right element, is proven by itself.
//!
//! It knows nothing of placement, lags and routes but the tile of each stream, and shares no code with the passes that chose them.

mod banks;
mod lift;
mod meaning;
mod models;
mod operations;
mod periods;
mod tables;
mod tokens;
mod validate;
mod walks;

pub use lift::{TileCells, lift};
pub use validate::{BankSite, Invalid, Proof, Reference, Site, validate};
