//! Mapping of unified buffers to memory tiles.
//!
//! [`map`] turns the ports of a buffer into configurations of tiles, in passes over small types: loops in the order of
//! time; cyclic banks, where ports are too many for a memory; streams of ports that take words from each other; for each
//! read the iteration of the write that it needs, or, where several ports write the same elements again and again, the
//! elements themselves, followed through time; the layout of the words in memory, in the order in which they are written or
//! in place; vectorized fetches into the transpose buffer; cycles of the SRAM; controllers; and streams that share a tile.
//! The decisions of a pass are checked against the tile before the next begins, and where a choice does not fit the
//! next is tried (dissertation §5.2–5.6).
//!
//! Mapping reasons about loops; the replay shows that a configuration implements its buffer.

mod attempt;
mod bank_merging;
mod cascade;
mod chaining;
mod controllers;
mod cyclic_banking;
mod dependence;
mod digits;
mod direct;
mod error;
mod exhaustive_banking;
mod group;
mod known;
mod linearization;
mod live;
mod map;
mod mappings;
mod meeting;
mod nest;
mod past;
mod rounds;
mod storage_folding;
mod streams;
mod supply;
mod vectorization;
mod waits;
mod wide;

pub use cyclic_banking::{Bank, Banking, PortLimit, banking};
pub use error::MappingError;
pub use map::map;
pub use mappings::Mappings;
pub use pushmem_buffers::{MappedBuffer, MappedTile, Source};
pub use waits::check_waits;
