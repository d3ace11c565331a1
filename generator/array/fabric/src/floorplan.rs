//! The floorplan of an array as a picture.

use askama::Template;
use pushmem_files::render;

use crate::spec::{ArraySpec, Place, TileKind};

/// Pixels from a tile to the next, and of a tile.
const PITCH: u32 = 34;
const SIDE: u32 = 28;
const MARGIN: u32 = 8;

#[derive(Template)]
#[template(path = "floorplan.svg", escape = "html")]
struct Floorplan<'a> {
    spec: &'a ArraySpec,
    width: u32,
    height: u32,
    side: u32,
    tiles: Vec<Tile>,
    blocks: Vec<Block>,
}

struct Tile {
    name: String,
    kind: &'static str,
    fill: &'static str,
    x: u32,
    y: u32,
}

struct Block {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl ArraySpec {
    /// The floorplan as SVG: tiles by kind, and the blocks around them.
    pub fn to_svg(&self) -> String {
        let at = |number: u32| MARGIN + number * PITCH;
        let tile = |place: Place| {
            let (kind, fill) = match self.kind(place)? {
                TileKind::Pe => ("PE", "#cfe3f7"),
                TileKind::Memory => ("MEM", "#f7dfb8"),
                TileKind::Io => ("IO", "#d9ecd0"),
            };
            let name = format!("{}_{}_{}", self.kind(place)?.name(), place.column, place.row);
            Some(Tile { name, kind, fill, x: at(place.column), y: at(place.row) })
        };
        let gap = (PITCH - SIDE) / 2;
        let block = |column: u32, row: u32, rows: u32| Block {
            x: at(column) - gap,
            y: at(row) - gap,
            width: self.block.columns * PITCH,
            height: rows * PITCH,
        };
        let columns = || (0..self.columns).step_by(self.block.columns as usize);
        let rows = (1..=self.rows).step_by(self.block.rows as usize);
        let of_tiles = rows.flat_map(|row| columns().map(move |column| (column, row)));
        let io = columns().map(|column| block(column, 0, 1));
        let blocks = io.chain(of_tiles.map(|(column, row)| block(column, row, self.block.rows))).collect();
        let floorplan = Floorplan {
            spec: self,
            width: at(self.columns) + MARGIN,
            height: at(self.rows + 1) + MARGIN,
            side: SIDE,
            tiles: self.places().filter_map(tile).collect(),
            blocks,
        };
        render(&floorplan)
    }
}
