//! Tiles and the tracks between them: layers, sides, places, and the topologies of switch boxes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two networks of tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Tracks of words.
    Word,
    /// Tracks of single bits.
    Bit,
}

impl Layer {
    /// Both.
    pub const ALL: [Layer; 2] = [Layer::Word, Layer::Bit];

    /// `word` or `bit`.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Word => "word",
            Layer::Bit => "bit",
        }
    }
}

/// A side of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Towards row 0.
    North,
    /// Towards the last column.
    East,
    /// Towards the last row.
    South,
    /// Towards column 0.
    West,
}

impl Side {
    /// All four, clockwise from north: the order of configurations and ports.
    pub const ALL: [Side; 4] = [Side::North, Side::East, Side::South, Side::West];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Side::North => "north",
            Side::East => "east",
            Side::South => "south",
            Side::West => "west",
        }
    }

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

/// How a switch box joins the tracks of two sides around a corner. Straight on, a track keeps its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// A track keeps its number: tracks of different numbers never meet.
    Disjoint,
    /// A track changes its number in a turn (Wilton, Architecture and Algorithms for Field-Programmable Gate Arrays with
    /// Embedded Memory, 1997, §5.1).
    #[default]
    Wilton,
}

impl Topology {
    /// The name in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Topology::Disjoint => "disjoint",
            Topology::Wilton => "wilton",
        }
    }

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

/// The kind of a tile: all tiles of a kind are one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileKind {
    /// A processing element.
    Pe,
    /// A memory.
    Memory,
    /// A stream in and a stream out of the array.
    Io,
}

impl TileKind {
    /// All kinds.
    pub const ALL: [TileKind; 3] = [TileKind::Pe, TileKind::Memory, TileKind::Io];

    /// The beginning of the names of its tiles.
    pub fn name(self) -> &'static str {
        match self {
            TileKind::Pe => "pe",
            TileKind::Memory => "mem",
            TileKind::Io => "io",
        }
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
