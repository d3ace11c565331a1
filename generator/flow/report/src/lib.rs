//! The report of a build as a page: one HTML file that works offline in a plain browser.
//!
//! [`Contents`] is what the page knows of a compiled program: stages, arrays, memories, tiles and figures. All that happens
//! in time is there as affine functions over boxes, never as a list of events, so that the page of a long run is as small
//! as that of a short one; its script computes what is visible. [`Contents::to_html`] puts the contents, as one JSON block,
//! into the templates of `templates/report`; [`Contents::on_array`] are those of a program on an array. [`Contents::to_trace`] is the
//! schedule for viewers of traces.

mod array;
mod arrays;
mod build;
mod chain;
mod contents;
mod floorplan;
mod live;
mod memories;
mod page;
mod published;
mod sequence;
mod stages;
mod synthesis;
mod tiles;
mod trace;

pub use array::{OnArray, StageTiles};
pub use arrays::{ArrayRow, PortRow};
pub use build::{Build, RtlCheck, ShellPart, Stream};
pub use chain::{Chain, Link};
pub use contents::{Contents, Unit};
pub use floorplan::{Floorplan, Load, NetLines, PlacedTile};
pub use live::Live;
pub use memories::{MemoryRow, PortGroup};
pub use published::{Published, published};
pub use sequence::Sequence;
pub use stages::{Executed, StageRow};
pub use synthesis::{Synthesized, add_synthesis, check_synthesis};
pub use tiles::{Buffer, Instance, MemoryPort, RomRow, Spec, TileRow};
