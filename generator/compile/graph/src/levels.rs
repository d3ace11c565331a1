//! The tiles of the levels of the memory hierarchy.

use pushmem_nest::Level;
use pushmem_tile::TileSpec;

/// The tiles of the levels of the memory hierarchy beside the memory tiles, where there are such.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// The bank of the global buffer.
    pub global_buffer: Option<TileSpec>,
    /// The register file.
    pub register_file: Option<TileSpec>,
}

impl Levels {
    /// The specification of the tiles of a level; `memory` is that of the memory tiles.
    pub fn spec<'a>(&'a self, level: Level, memory: &'a TileSpec) -> Option<&'a TileSpec> {
        match level {
            Level::GlobalBuffer => self.global_buffer.as_ref(),
            Level::Memory => Some(memory),
            Level::RegisterFile => self.register_file.as_ref(),
        }
    }
}
