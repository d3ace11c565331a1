//! The array: blocks beside each other, and the way of commands to them.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_files::template;
use pushmem_resources::{CLEAR, DIGEST, START, STOP};
use pushmem_veryl::SourceFile;

use crate::block::{Paths, Tracks};
use crate::tile::part;
use crate::{answer_latency, array_module, block_module, io_block_module, render};

pub fn source(spec: &ArraySpec) -> SourceFile {
    let module = array_module(spec);
    let groups = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.banks);
    let paths = Paths::of(spec).map_or(0, |paths| paths.count);
    let columns = spec.columns / spec.block.columns;
    let template = template!(
        "array.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = &module,
        /// Columns and rows of blocks, without the row of blocks of IO tiles.
        columns: u32 = columns,
        rows: u32 = spec.rows / spec.block.rows,
        /// Groups of columns that the banks of a global buffer configure, and the columns of each; 0 without one.
        groups: u32 = groups,
        columns_of_group: u32 = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.columns),
        /// Paths of a block, and of a group of columns.
        paths: u32 = paths,
        paths_of_group: u32 = (columns * paths).checked_div(groups).unwrap_or(0),
        /// The last stage of commands.
        last: u32 = spec.control_depth - 1,
        layers: [Tracks; 2] = Layer::ALL.map(|layer| Tracks::of_layer(spec, layer)),
        /// The parts of the ports of streams for a column of blocks: words, and single bits.
        word: String = part("column", spec.block.columns * spec.word_bits()),
        stream: String = part("column", spec.block.columns),
    );
    render(&module, &template)
}
