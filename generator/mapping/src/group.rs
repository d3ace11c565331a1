//! What shares a tile, or a chain of tiles.

use pushmem_configuration::Configuration;

use crate::nest::Nest;

/// Where a stream takes its words from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// This write port.
    Port(usize),
    /// An output of a group before.
    Group { group: usize, output: usize },
}

/// Words that are written and those of their reads that share tiles.
pub(crate) struct Stream {
    pub feed: Feed,
    pub write: Nest,
    /// The reads; those without a number only feed other groups.
    pub reads: Vec<(Option<usize>, Nest)>,
}

/// A tile, or a chain of tiles. Each stream has an input; the outputs are those of the reads of the first stream, then those
/// of the next.
pub(crate) struct Group {
    pub streams: Vec<Stream>,
    pub configurations: Vec<Configuration>,
}

impl Group {
    /// How many outputs it takes.
    pub fn outputs(&self) -> usize {
        self.streams.iter().map(|stream| stream.reads.len()).sum()
    }
}
