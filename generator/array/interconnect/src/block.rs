//! Blocks of tiles.

use askama::Template;
use itertools::Itertools;
use num_integer::Integer;
use pushmem_fabric::{ArraySpec, Layer, Place, Side, TileKind};
use pushmem_resources::{START, STOP};
use pushmem_veryl::Source;

use crate::{block_module, io_block_module, render, takes_flush, tile_module};

#[derive(Template)]
#[template(path = "block.veryl", escape = "none")]
struct Block<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    description: String,
    is_io: bool,
    /// The numbers of registers of the array itself.
    start_register: u32,
    stop_register: u32,
    /// Paths of configuration from a global buffer, the columns of each, and whether a tile took a write of each; none without one.
    paths: u32,
    columns_of_path: u32,
    path_done: Vec<String>,
    edges: Vec<Edge>,
    nets: Vec<Net>,
    tiles: Vec<Tile>,
}

/// The paths on which the banks of a global buffer configure the columns of a block. All blocks have as many, so that they are one module.
pub struct Paths {
    /// How many.
    pub count: u32,
    /// Columns of each.
    pub columns: u32,
}

impl Paths {
    /// The paths of the blocks of an array, if it has a global buffer: each path has columns of one bank.
    pub fn of(spec: &ArraySpec) -> Option<Self> {
        let columns = spec.global_buffer.as_ref()?.columns.gcd(&spec.block.columns);
        Some(Paths { count: spec.block.columns / columns, columns })
    }

    /// The bank of each path of the blocks in a column of blocks.
    pub fn groups(&self, spec: &ArraySpec, column: u32) -> Vec<u32> {
        let banks = spec.global_buffer.iter();
        let bank = |path: u32, columns: u32| (column * spec.block.columns + path * self.columns) / columns;
        banks.flat_map(|buffer| (0..self.count).map(move |path| bank(path, buffer.columns))).collect()
    }
}

/// The tracks that leave a tile, or come into the block, on a side.
struct Net {
    name: String,
    width: u32,
    count: u32,
}

/// The ports of a block on a side.
pub struct Edge {
    pub port: String,
    tracks: u32,
    width: u32,
    ends: Vec<End>,
}

impl Edge {
    /// Bits of a port.
    pub fn bits(&self) -> u32 {
        self.tracks * self.width * self.ends.len() as u32
    }
}

/// The nets of a tile at the edge.
struct End {
    /// The place of its first track among those of the port.
    first: u32,
    incoming: String,
    outgoing: String,
}

struct Tile {
    name: String,
    module: String,
    column: u32,
    row: u32,
    has_flush: bool,
    /// Ports and nets.
    tracks: Vec<(String, String)>,
}

/// A rectangle of tiles, whose own places count from 0.
pub struct Shape {
    columns: u32,
    rows: u32,
    sides: &'static [Side],
}

impl Shape {
    /// The block of tiles.
    pub fn of_tiles(spec: &ArraySpec) -> Self {
        Shape { columns: spec.block.columns, rows: spec.block.rows, sides: &Side::ALL }
    }

    /// The block of IO tiles: tracks to the south alone.
    pub fn of_io(spec: &ArraySpec) -> Self {
        Shape { columns: spec.block.columns, rows: 1, sides: &[Side::South] }
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let columns = self.columns;
        (0..self.rows).flat_map(move |row| (0..columns).map(move |column| Place { row, column }))
    }

    fn has(&self, place: Place) -> bool {
        place.column < self.columns && place.row < self.rows
    }

    /// The places of the tiles on a side.
    fn edge(&self, side: Side) -> Vec<Place> {
        self.places().filter(|place| place.neighbour(side).is_none_or(|beyond| !self.has(beyond))).collect()
    }

    /// The ports of a block of this shape.
    pub fn edges(&self, spec: &ArraySpec) -> Vec<Edge> {
        let of = |layer: Layer| {
            self.sides.iter().map(move |&side| Edge {
                port: format!("{}_{}", layer.name(), side.name()),
                tracks: spec.tracks.of(layer),
                width: spec.bits(layer),
                ends: (0..)
                    .zip(self.edge(side))
                    .map(|(tile, place)| End {
                        first: tile * spec.tracks.of(layer),
                        incoming: self.incoming(layer, side, place),
                        outgoing: outgoing(layer, side, place),
                    })
                    .collect(),
            })
        };
        Layer::ALL.into_iter().flat_map(of).collect()
    }

    /// The layer and the side of each of them.
    pub fn tracks_of_edges(&self) -> impl Iterator<Item = (Layer, Side)> {
        Layer::ALL.into_iter().flat_map(|layer| self.sides.iter().map(move |side| (layer, *side)))
    }

    /// The net that comes into a tile on a side.
    fn incoming(&self, layer: Layer, side: Side, place: Place) -> String {
        match place.neighbour(side).filter(|neighbour| self.has(*neighbour)) {
            Some(neighbour) => outgoing(layer, side.opposite(), neighbour),
            None => format!("{}_from_{}_{}_{}", layer.name(), side.name(), place.column, place.row),
        }
    }

    /// All nets: those of tiles, and those that come in.
    fn nets(&self, spec: &ArraySpec) -> Vec<Net> {
        let mut nets = Vec::new();
        for layer in Layer::ALL {
            let mut add = |name| nets.push(Net { name, width: spec.bits(layer), count: spec.tracks.of(layer) });
            for place in self.places() {
                self.sides.iter().for_each(|side| add(outgoing(layer, *side, place)));
            }
            for side in self.sides {
                self.edge(*side).into_iter().for_each(|place| add(self.incoming(layer, *side, place)));
            }
        }
        nets
    }

    fn tracks(&self, place: Place) -> Vec<(String, String)> {
        let mut tracks = Vec::new();
        for layer in Layer::ALL {
            for &side in self.sides {
                let port = format!("{}_{}", layer.name(), side.name());
                tracks.push((format!("{port}_i"), self.incoming(layer, side, place)));
                tracks.push((format!("{port}_o"), outgoing(layer, side, place)));
            }
        }
        tracks
    }
}

/// The net that leaves a tile on a side.
fn outgoing(layer: Layer, side: Side, place: Place) -> String {
    format!("{}_{}_{}_{}", layer.name(), side.name(), place.column, place.row)
}

pub fn sources(spec: &ArraySpec) -> [Source; 2] {
    let (columns, rows) = (spec.block.columns, spec.block.rows);
    let io = block(spec, &io_block_module(spec), &Shape::of_io(spec), format!("Block of {columns} IO tiles"), |_| {
        TileKind::Io
    });
    let kind = |place: Place| spec.kind_of_column(place.column);
    let description = format!("Block of {columns} columns and {rows} rows of tiles");
    [io, block(spec, &block_module(spec), &Shape::of_tiles(spec), description, kind)]
}

fn block(
    spec: &ArraySpec,
    module: &str,
    shape: &Shape,
    description: String,
    kind: impl Fn(Place) -> TileKind,
) -> Source {
    let tile = |place: Place| {
        let kind = kind(place);
        let Place { row, column } = place;
        Tile {
            name: format!("{}_{column}_{row}", kind.name()),
            module: tile_module(spec, kind),
            column,
            row,
            has_flush: takes_flush(spec, kind),
            tracks: shape.tracks(place),
        }
    };
    let tiles: Vec<Tile> = shape.places().map(tile).collect();
    let (paths, columns_of_path) = Paths::of(spec).map_or((0, 1), |paths| (paths.count, paths.columns));
    let path_done = (0..paths).map(|path| {
        let places = tiles.iter().positions(|tile| tile.column / columns_of_path == path);
        places.map(|place| format!("done[{place}]")).join(" | ")
    });
    let template = Block {
        paths,
        columns_of_path,
        path_done: path_done.collect(),
        spec,
        module,
        description,
        is_io: shape.sides.len() == 1,
        start_register: START.register,
        stop_register: STOP.register,
        edges: shape.edges(spec),
        nets: shape.nets(spec),
        tiles,
    };
    render(module, &template)
}
