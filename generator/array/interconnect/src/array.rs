//! The array: blocks beside each other, and the way of commands to them.

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Layer, Side};
use pushmem_files::template;
use pushmem_resources::{CLEAR, DIGEST, START, STOP};
use pushmem_veryl::SourceFile;

use crate::block::{BlockShape, Paths, SidePorts};
use crate::{answer_latency, array_module, block_module, io_block_module, render};

/// The tracks that leave a block on a side.
struct Net {
    name: String,
    bits: u32,
}

struct Block {
    name: String,
    module: String,
    /// The place of its first tile.
    column: u32,
    row: u32,
    is_io: bool,
    /// Ports and nets.
    tracks: Vec<(String, String)>,
    /// The group of columns of each of its paths of configuration, and the last stage on the way to it.
    paths: Vec<u32>,
    last: u32,
}

impl Block {
    /// The part of a signal, of so many bits for each group, that the paths of the block take, the first path lowest.
    fn of_paths(&self, signal: &str, bits: u32) -> String {
        let Block { paths, last, .. } = self;
        let of_group = |group: &u32| format!("{signal}_{last}[{} +: {bits}]", group * bits);
        format!("{{{}}}", paths.iter().rev().map(of_group).format(", "))
    }
}

pub fn source(spec: &ArraySpec) -> SourceFile {
    let module = array_module(spec);
    let (nets, blocks) = blocks(spec);
    let template = template!(
        "array.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = &module,
        /// Groups of columns that the banks of a global buffer configure, and the columns of each; 0 without one.
        groups: u32 = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.banks),
        columns_of_group: u32 = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.columns),
        /// Paths of a block, and by group, whether one of its tiles took a write.
        paths: usize = Paths::of(spec).map_or(0, |paths| paths.count as usize),
        group_done: Vec<String> = group_done(spec, &blocks),
        nets: Vec<Net> = nets,
        blocks: Vec<Block> = blocks,
    );
    render(&module, &template)
}

/// By group of columns, whether a tile took a write of it.
fn group_done(spec: &ArraySpec, blocks: &[Block]) -> Vec<String> {
    let banks = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.banks);
    let groups = blocks.iter().flat_map(|block| &block.paths);
    let of_group = |group: u32| {
        let places = groups.clone().positions(|of_path| *of_path == group);
        places.map(|place| format!("path_done[{place}]")).join(" | ")
    };
    (0..banks).map(of_group).collect()
}

/// All blocks, in rows and columns of blocks. Row 0 is that of the blocks of IO tiles.
fn blocks(spec: &ArraySpec) -> (Vec<Net>, Vec<Block>) {
    let (columns, rows) = (spec.columns / spec.block.columns, spec.rows / spec.block.rows);
    let (mut nets, mut blocks) = (Vec::new(), Vec::new());
    for row in 0..=rows {
        for column in 0..columns {
            let is_io = row == 0;
            let shape = if is_io { BlockShape::of_io(spec) } else { BlockShape::of_tiles(spec) };
            let mut tracks = Vec::new();
            for (edge, (layer, side)) in shape.edges(spec).iter().zip(shape.tracks_of_edges()) {
                let (net, from) =
                    (outgoing(spec, layer, side, column, row), incoming(spec, layer, side, column, row, edge));
                tracks.push((format!("{}_i", edge.port), from));
                tracks.push((format!("{}_o", edge.port), net.clone()));
                nets.push(Net { name: net, bits: edge.bits() });
            }
            blocks.push(Block {
                name: if is_io { format!("io_{column}") } else { format!("block_{column}_{}", row - 1) },
                module: if is_io { io_block_module(spec) } else { block_module(spec) },
                column: column * spec.block.columns,
                row: if is_io { 0 } else { 1 + (row - 1) * spec.block.rows },
                is_io,
                tracks,
                paths: Paths::of(spec).map_or(Vec::new(), |paths| paths.groups(spec, column)),
                last: spec.control_depth - 1,
            });
        }
    }
    (nets, blocks)
}

/// The block beside another, if there is one.
fn neighbour(spec: &ArraySpec, side: Side, column: u32, row: u32) -> Option<(u32, u32)> {
    let (columns, rows) = (spec.columns / spec.block.columns, spec.rows / spec.block.rows);
    let (column, row) = match side {
        Side::North => (column, row.checked_sub(1)?),
        Side::East => (column + 1, row),
        Side::South => (column, row + 1),
        Side::West => (column.checked_sub(1)?, row),
    };
    (column < columns && row <= rows).then_some((column, row))
}

/// The net that leaves a block; nothing takes it at the edge of the array.
fn outgoing(spec: &ArraySpec, layer: Layer, side: Side, column: u32, row: u32) -> String {
    let end = if neighbour(spec, side, column, row).is_some() { "" } else { "_unused" };
    format!("{}_{}_{column}_{row}{end}", layer.name(), side.name())
}

/// The net that comes into a block.
fn incoming(spec: &ArraySpec, layer: Layer, side: Side, column: u32, row: u32, edge: &SidePorts) -> String {
    match neighbour(spec, side, column, row) {
        Some((column, row)) => outgoing(spec, layer, side.opposite(), column, row),
        None => format!("{}'d0", edge.bits()),
    }
}
