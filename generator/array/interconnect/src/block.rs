//! Blocks of tiles.

use num_integer::Integer;
use pushmem_fabric::{ArraySpec, Layer, Place, Side, TileKind};
use pushmem_files::template;
use pushmem_resources::{START, STOP};
use pushmem_veryl::SourceFile;

use crate::tile::part;
use crate::{block_module, io_block_module, render, takes_flush, tile_module};

/// The tracks of a layer between two tiles.
pub struct Tracks {
    pub name: &'static str,
    pub bits: u32,
}

impl Tracks {
    pub fn of_layer(spec: &ArraySpec, layer: Layer) -> Self {
        Tracks { name: layer.name(), bits: bits(spec, layer) }
    }

    /// The bits of those of a row or column in a port of the block.
    fn of(&self, index: &str) -> String {
        part(index, self.bits)
    }
}

/// A kind of tiles.
struct Kind {
    name: &'static str,
    module: String,
    has_flush: bool,
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
}

/// The ports of a block on a side.
struct SidePorts {
    port: String,
    bits: u32,
}

/// A rectangle of tiles, whose own places count from 0.
struct BlockShape {
    columns: u32,
    rows: u32,
    sides: &'static [Side],
}

impl BlockShape {
    /// The block of tiles.
    fn of_tiles(spec: &ArraySpec) -> Self {
        BlockShape { columns: spec.block.columns, rows: spec.block.rows, sides: &Side::ALL }
    }

    /// The block of IO tiles: tracks to the south alone.
    fn of_io(spec: &ArraySpec) -> Self {
        BlockShape { columns: spec.block.columns, rows: 1, sides: &[Side::South] }
    }

    /// The ports of a block of this shape.
    fn edges(&self, spec: &ArraySpec) -> Vec<SidePorts> {
        let tiles = |side: Side| match side {
            Side::North | Side::South => self.columns,
            Side::East | Side::West => self.rows,
        };
        let edge = |(layer, side): (Layer, Side)| SidePorts {
            port: format!("{}_{}", layer.name(), side.name()),
            bits: tiles(side) * bits(spec, layer),
        };
        Layer::ALL.into_iter().flat_map(|layer| self.sides.iter().map(move |side| (layer, *side))).map(edge).collect()
    }
}

/// Bits of the tracks of a layer between two tiles.
fn bits(spec: &ArraySpec, layer: Layer) -> u32 {
    spec.tracks.of(layer) * spec.bits(layer)
}

/// The instance of a tile within the array.
pub fn tile_instance(spec: &ArraySpec, place: Place) -> String {
    let Place { row, column } = place;
    let (block, column) = column.div_rem(&spec.block.columns);
    let Some(row) = row.checked_sub(1) else { return format!("gen_io[{block}].u_block.gen_column[{column}].u_tile") };
    let (block_row, row) = row.div_rem(&spec.block.rows);
    let kind = match spec.memory {
        Some(_) => format!(".gen_{}", spec.kind_of_column(place.column).name()),
        None => String::new(),
    };
    format!("gen_row[{block_row}].gen_column[{block}].u_block.gen_row[{row}].gen_column[{column}]{kind}.u_tile")
}

pub fn sources(spec: &ArraySpec) -> [SourceFile; 2] {
    let (columns, rows) = (spec.block.columns, spec.block.rows);
    let io = block(spec, &io_block_module(spec), &BlockShape::of_io(spec), format!("Block of {columns} IO tiles"));
    let description = format!("Block of {columns} columns and {rows} rows of tiles");
    [io, block(spec, &block_module(spec), &BlockShape::of_tiles(spec), description)]
}

fn block(spec: &ArraySpec, module: &str, shape: &BlockShape, description: String) -> SourceFile {
    let is_io = shape.sides.len() == 1;
    let kinds = spec.kinds().filter(|kind| (*kind == TileKind::Io) == is_io);
    let kind = |kind: TileKind| Kind {
        name: kind.name(),
        module: tile_module(spec, kind),
        has_flush: takes_flush(spec, kind),
    };
    let paths = Paths::of(spec);
    let path = |paths: &Paths| match (paths.count, paths.columns) {
        (1, _) => "0".to_owned(),
        (_, 1) => "column".to_owned(),
        (_, columns) => format!("(column / {columns})"),
    };
    let template = template!(
        "block.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = module,
        description: String = description,
        is_io: bool = is_io,
        columns: u32 = shape.columns,
        rows: u32 = shape.rows,
        /// The path of configuration of a column, if there is a global buffer.
        path: Option<String> = paths.as_ref().map(path),
        /// Paths of configuration from a global buffer, and the columns of each; none without one.
        paths: u32 = paths.as_ref().map_or(0, |paths| paths.count),
        columns_of_path: u32 = paths.as_ref().map_or(1, |paths| paths.columns),
        edges: Vec<SidePorts> = shape.edges(spec),
        layers: [Tracks; 2] = Layer::ALL.map(|layer| Tracks::of_layer(spec, layer)),
        /// The bits of the word of a column, and the number of a tile.
        word: String = part("column", spec.word_bits()),
        place: String = if is_io { "column".to_owned() } else { format!("row * {} + column", shape.columns) },
        /// The attribute of the declaration of tracks: where they pass around registers, Verilator sees a loop in an array that has none.
        split: &'static str = if spec.hop_limit > 1 { " /* verilator split_var */" } else { "" },
        /// The kinds of tiles, and of how many columns the last is one of memories.
        kinds: Vec<Kind> = kinds.map(kind).collect(),
        memories: Option<u32> = spec.memory.as_ref().map(|memory| memory.every),
    );
    render(module, &template)
}
