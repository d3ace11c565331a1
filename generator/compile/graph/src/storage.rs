//! The memories of an application graph: its arrays and its long delays on tiles.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_buffers::{MappedBuffer, UnifiedBuffer};
use pushmem_nest::Level;

use crate::accelerator::Tile;
use crate::application::Edge;
use crate::ids::{ArrayId, TileId, WordId};
use crate::target::Memories;

/// The arrays and the long delays of an application graph on memory tiles. All other delays are registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// The tiles. Those of arrays come first.
    pub tiles: IndexVec<TileId, MemoryTile>,
    /// The mapping of each array of the graph.
    pub arrays: IndexVec<ArrayId, ArrayMemory>,
    /// The memories of delays.
    pub delays: Vec<DelayTiles>,
    /// Words of long delays that no tile has: those of delay lines, where memories are made for the program.
    pub line_words: u64,
}

/// Words of a memory that is made for the program that cost as much as the access sequence of a port.
pub const WORDS_OF_SEQUENCE: u64 = 128;

/// A memory tile, with its place among the edges of the graph, and the number of its outputs.
pub type MemoryTile = Tile<TileInput, usize>;

/// Source of an input of a memory tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileInput {
    /// An edge of the graph; nothing else is known of a word that an array is written with.
    Edge(Edge),
    /// An output of another tile, in the same cycle.
    Output {
        /// The tile.
        tile: TileId,
        /// Which output.
        output: usize,
    },
}

/// An array on tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayMemory {
    /// The cycle of the run in which the time of its tiles begins.
    pub begin: u64,
    /// The mapping of its ports in the time of the tiles, with tiles numbered from [`ArrayMemory::first_tile`].
    pub mapped: MappedBuffer,
    /// The first of its tiles.
    pub first_tile: TileId,
}

/// Words delayed in memory tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTiles {
    /// The words. Several streams share one tile.
    pub streams: Vec<DelayedNet>,
    /// The ports: for each stream one write and a read for each delay.
    pub buffer: UnifiedBuffer,
    /// The mapping, with tiles numbered from [`DelayTiles::first_tile`].
    pub mapped: MappedBuffer,
    /// The first of its tiles.
    pub first_tile: TileId,
}

/// A net that is delayed in memory tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedNet {
    /// The net.
    pub net: WordId,
    /// How old its words are, in cycles, when the memory takes them.
    pub from: u64,
    /// Delays in cycles from then on, ascending.
    pub delays: Vec<u64>,
}

/// An output of a tile.
pub type TileOutput = (TileId, usize);

impl Storage {
    /// The output that shows the words of a read port of an array.
    pub fn read(&self, array: ArrayId, port: usize) -> TileOutput {
        let ArrayMemory { mapped, first_tile, .. } = &self.arrays[array];
        place_of_read(mapped, *first_tile, port)
    }

    /// The output that shows each delayed net, by the net and its delay.
    pub fn delayed(&self) -> BTreeMap<(WordId, u64), TileOutput> {
        self.delays.iter().flat_map(DelayTiles::places).collect()
    }

    /// Words of tiles that are live at most.
    pub fn live_words(&self) -> u64 {
        let delayed = self.delays.iter().map(|delay| delay.mapped.live_words);
        delayed.chain(self.arrays.iter().map(|array| array.mapped.live_words)).sum()
    }

    /// The cost of the memories: tiles, or where they are made for the program, banks, the access sequences of their ports, and words of as
    /// much cost.
    pub fn cost(&self, memories: Memories) -> u64 {
        let sequences = self.tiles.iter().map(|tile| tile.configuration.controllers.len() as u64).sum::<u64>();
        match memories {
            Memories::Tiles => self.tiles.len() as u64,
            Memories::Fixed => {
                self.tiles.len() as u64 + sequences + (self.live_words() + self.line_words) / WORDS_OF_SEQUENCE
            }
        }
    }

    /// How many tiles of a level there are.
    pub fn count_at(&self, level: Level) -> usize {
        self.tiles.iter().filter(|tile| tile.level == level).count()
    }
}

impl DelayTiles {
    /// The port where each stream begins among those of the buffer.
    fn first_ports(&self) -> impl Iterator<Item = (usize, &DelayedNet)> {
        self.streams.iter().scan(0, |next, stream| {
            let first = *next;
            *next += 1 + stream.delays.len();
            Some((first, stream))
        })
    }

    /// The edge of a write port.
    pub fn written(&self, port: usize) -> Edge {
        let (_, stream) = self.first_ports().find(|(first, _)| *first == port).expect("a write port begins a stream");
        Edge::Net { net: stream.net, delay: stream.from }
    }

    /// The net of each read with its delay, and the output that shows it.
    fn places(&self) -> impl Iterator<Item = ((WordId, u64), TileOutput)> {
        self.first_ports().flat_map(move |(first, stream)| {
            let place = move |(read, delay): (usize, &u64)| {
                let output = place_of_read(&self.mapped, self.first_tile, first + 1 + read);
                ((stream.net, stream.from + delay), output)
            };
            stream.delays.iter().enumerate().map(place)
        })
    }
}

/// The tile and the output where a read port is. In a chain several tiles have the read: the last of them shows it.
fn place_of_read(mapped: &MappedBuffer, first_tile: TileId, port: usize) -> TileOutput {
    let feeds = |tile: usize| mapped.tiles.iter().any(|other| other.chain_from == Some(tile));
    let mut places = mapped.tiles.iter().enumerate().flat_map(|(tile, content)| {
        let outputs = content.outputs.iter().enumerate();
        outputs.filter(move |(_, of)| **of == Some(port)).map(move |(output, _)| (tile, output))
    });
    let end = places.find(|(tile, _)| !feeds(*tile));
    end.map(|(tile, output)| (first_tile + tile, output)).expect("every read port is mapped")
}
