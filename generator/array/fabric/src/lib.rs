//! The specification of a reconfigurable array: its tiles, and the tracks between them.
//!
//! Columns count from the west, rows from the north. Row 0 is the row of IO tiles; the tiles of rows 1 and up are processing
//! elements (PE tiles) or memories (MEM tiles), by column.

mod floorplan;
mod read;
mod spec;
mod timing_model;

pub use read::{Blocks, Folder};
pub use spec::{
    ArrayKind, ArraySpec, BlockShape, Direction, GlobalBufferSpec, IoSpec, Layer, MemoryColumns, Place, Side, TileKind,
    Topology, Tracks,
};
pub use timing_model::{OperationPaths, TilePath, TilePaths, TimingModel};
