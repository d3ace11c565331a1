//! The cycle-accurate model of a tile, bit-exact with its RTL.
//!
//! [`TileModel`] has the ports of the RTL: [`TileModel::outputs`] gives the outputs of a cycle and [`TileModel::clock`] takes
//! it to the next. On the way it checks what the compiler promises and records each [`Violation`]: reads of words that
//! no port wrote, or of another row than the one that was meant, two accesses through one memory port, words of an
//! aggregator that are overwritten before they were moved. Rows that are fetched for nothing break no promise:
//! [`TileModel::unread_rows`] counts them. Of words that no fetch brings nothing can be told:
//! [`TileModel::unfetched_words`] counts those.

mod context;
mod controller;
mod direct;
mod fetches;
mod fifo;
mod memory;
mod order;
mod ports;
mod rom;
mod tile;
mod violation;
mod wide_fetch;
mod word;

pub use ports::{Handshake, Inputs, MAX_PORTS, Outputs};
pub use tile::TileModel;
pub use violation::{Violation, ViolationKind};
pub use word::Word;
