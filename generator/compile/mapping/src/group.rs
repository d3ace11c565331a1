//! Streams of words through a memory, and groups of streams that share a tile or a chain of tiles.

use std::rc::Rc;

use pushmem_affine::Affine;
use pushmem_configuration::Configuration;

use crate::nest::Nest;
use crate::past::{Followed, Past};

/// Where a write takes its words from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// This write port.
    Port(usize),
    /// An output of a group before.
    Group { group: usize, output: usize },
}

/// Meaning of the functions of a stream's nests: words in memory are placed by iterations or by elements.
#[derive(Clone, Debug)]
pub(crate) enum Space {
    /// Iterations of the only write, one function for each of its loops: words lie in the order in which they are written.
    Iterations,
    /// Elements, one function for each dimension, counted from 0: each has a place, whoever writes it and how often.
    Elements {
        /// The size of each dimension.
        size: Vec<u64>,
        /// Which words its reads take.
        past: Rc<Past>,
    },
}

/// Words that are written.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub feed: Feed,
    pub nest: Nest,
}

/// Words that are read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// The read port; a read without one only feeds other groups.
    pub port: Option<usize>,
    pub nest: Nest,
    /// The writes of its words; for elements only.
    pub past: Option<Rc<Followed>>,
}

/// Writes, and the reads of their words that share tiles, over one space.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Streams of one class differ in the numbers of ports and groups only, so that a mapping of one is a mapping of
    /// all; 0 until they have a group.
    pub class: usize,
    pub space: Space,
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
}

impl Stream {
    /// A write and reads that are given as iterations of it.
    pub fn of_iterations(feed: Feed, write: &Nest, reads: impl IntoIterator<Item = (Option<usize>, Nest)>) -> Stream {
        let digit = |level: usize| Affine {
            start: 0,
            stride: (0..write.depth()).map(|other| i64::from(other == level)).collect(),
        };
        let nest = Nest { functions: (0..write.depth()).map(digit).collect(), ..write.clone() };
        let read = |(port, nest)| Read { port, nest, past: None };
        Stream {
            class: 0,
            space: Space::Iterations,
            writes: vec![Write { feed, nest }],
            reads: reads.into_iter().map(read).collect(),
        }
    }

    /// The same words for some of the reads.
    pub fn with_reads(&self, reads: &[usize]) -> Stream {
        let reads = reads.iter().map(|&read| self.reads[read].clone()).collect();
        Stream { class: self.class, space: self.space.clone(), writes: self.writes.clone(), reads }
    }
}

/// A tile, or a chain of tiles. The inputs are those of the writes of the first stream, then those of the next, and the
/// outputs those of the reads.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub streams: Vec<Stream>,
    pub configurations: Vec<Configuration>,
}

impl Group {
    /// How many inputs it takes.
    pub fn inputs(&self) -> usize {
        self.writes().count()
    }

    /// How many outputs it takes.
    pub fn outputs(&self) -> usize {
        self.streams.iter().map(|stream| stream.reads.len()).sum()
    }

    /// The writes of all streams.
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        self.streams.iter().flat_map(|stream| &stream.writes)
    }
}
