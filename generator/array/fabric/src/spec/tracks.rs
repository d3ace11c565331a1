//! Tiles and the tracks between them: layers, sides, places, and the topologies of switch boxes.

use std::fmt;

use serde::{Deserialize, Serialize};

pushmem_files::named! {
    /// One of the two networks of tracks.
    #[derive(PartialOrd, Ord)]
    pub enum Layer {
        /// Tracks of words.
        Word = "word",
        /// Tracks of single bits.
        Bit = "bit",
    }
}

pushmem_files::named! {
    /// A side of a tile: clockwise from north, the order of configurations and ports.
    #[derive(PartialOrd, Ord)]
    pub enum Side {
        /// Towards row 0.
        North = "north",
        /// Towards the last column.
        East = "east",
        /// Towards the last row.
        South = "south",
        /// Towards column 0.
        West = "west",
    }
}

impl Side {
    /// The side across the tile.
    pub fn opposite(self) -> Side {
        match self {
            Side::North => Side::South,
            Side::East => Side::West,
            Side::South => Side::North,
            Side::West => Side::East,
        }
    }
}

pushmem_files::named! {
    /// How a switch box joins the tracks of two sides around a corner. Straight on, a track keeps its number.
    #[derive(Default)]
    pub enum Topology {
        /// A track keeps its number: tracks of different numbers never meet.
        Disjoint = "disjoint",
        /// A track changes its number in a turn (Wilton, Architecture and Algorithms for Field-Programmable Gate Arrays with
        /// Embedded Memory, 1997, §5.1).
        #[default]
        Wilton = "wilton",
    }
}

impl Topology {
    /// The track of side `from` that comes in where the outgoing `track` of side `to` can take it, of so many tracks.
    pub fn source(self, from: Side, to: Side, track: u32, tracks: u32) -> u32 {
        use Side::{East, North, South, West};
        let track = i64::from(track);
        let source = match (self, from, to) {
            (Topology::Disjoint, ..) | (_, East, West) | (_, West, East) | (_, North, South) | (_, South, North) => {
                track
            }
            // Of a pair of sides, both directions join the same numbers.
            (Topology::Wilton, West, North) | (Topology::Wilton, North, West) => -track,
            (Topology::Wilton, North, East) | (Topology::Wilton, South, West) => track - 1,
            (Topology::Wilton, East, North) | (Topology::Wilton, West, South) => track + 1,
            (Topology::Wilton, East, South) | (Topology::Wilton, South, East) => -2 - track,
            (Topology::Wilton, ..) => unreachable!("tracks do not turn back"),
        };
        source.rem_euclid(i64::from(tracks)) as u32
    }
}

pushmem_files::named! {
    /// The kind of a tile: all tiles of a kind are one module.
    #[derive(PartialOrd, Ord)]
    pub enum TileKind {
        /// A processing element.
        Pe = "pe",
        /// A memory.
        Memory = "mem",
        /// A stream in and a stream out of the array.
        Io = "io",
    }
}

/// Where a tile is. Places are ordered as addresses are: by row, then by column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Row from the north; 0 is the row of IO tiles.
    pub row: u32,
    /// Column from the west.
    pub column: u32,
}

impl Place {
    /// The next place on a side, if there can be one to the north and west.
    pub fn neighbour(self, side: Side) -> Option<Place> {
        let Place { row, column } = self;
        Some(match side {
            Side::North => Place { row: row.checked_sub(1)?, column },
            Side::East => Place { row, column: column + 1 },
            Side::South => Place { row: row + 1, column },
            Side::West => Place { row, column: column.checked_sub(1)? },
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "column {}, row {}", self.column, self.row)
    }
}

/// Numbers of tracks between two neighbours, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracks {
    /// Tracks of words.
    pub word: u32,
    /// Tracks of bits.
    pub bit: u32,
}

impl Tracks {
    /// The most tracks of a layer.
    pub const MOST: u32 = 16;

    /// The number of tracks of a layer.
    pub fn of(self, layer: Layer) -> u32 {
        match layer {
            Layer::Word => self.word,
            Layer::Bit => self.bit,
        }
    }

    /// The same with one more of a layer.
    pub fn with_one_more(self, layer: Layer) -> Self {
        match layer {
            Layer::Word => Tracks { word: self.word + 1, ..self },
            Layer::Bit => Tracks { bit: self.bit + 1, ..self },
        }
    }
}
