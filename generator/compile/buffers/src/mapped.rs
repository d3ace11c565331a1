//! A buffer on memory tiles.

use pushmem_configuration::Configuration;

/// Where an input of a tile takes its words from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The wire of a write port, by its number among the ports of the buffer.
    Port(usize),
    /// An output of another tile, in the same cycle.
    Output {
        /// Number of the tile among the tiles of the mapped buffer.
        tile: usize,
        /// Number of its output.
        output: usize,
    },
}

/// One tile of a mapped buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedTile {
    /// The configuration of its controllers.
    pub configuration: Configuration,
    /// Where each of its inputs takes words from.
    pub inputs: Vec<Option<Source>>,
    /// The read port, by its number among the ports of the buffer, that each of its outputs serves.
    pub outputs: Vec<Option<usize>>,
    /// The tile whose outputs feed its chain inputs.
    pub chain_from: Option<usize>,
}

/// A buffer on tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedBuffer {
    /// The tiles; those that feed others come first.
    pub tiles: Vec<MappedTile>,
    /// Words that are kept at most, from the cycle in which the port writes them to their last read, summed over the
    /// copies that the tiles keep.
    pub live_words: u64,
    /// The cyclic partition factor of each dimension, innermost first, if the buffer is in banks.
    pub factors: Option<Vec<u64>>,
    /// Whether some words are in several tiles, for as many sets of their reads.
    pub copied: bool,
    /// Earlier attempts, and why they failed.
    pub tried: Vec<String>,
}
