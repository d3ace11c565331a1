//! The proof that tiles, as they are printed, are those of a mapping.

use pushmem_buffers::{MappedTile, Source};
use pushmem_nest::Level;

use pushmem_graph::{Accelerator, Driver, Tile, TileId, WireId};

/// Tiles that a mapping stands for.
#[derive(Clone, Copy)]
pub(crate) struct Mapped<'a> {
    pub accelerator: &'a Accelerator,
    /// Those of the mapping.
    pub tiles: &'a [MappedTile],
    /// The first of them in the accelerator.
    pub first_tile: TileId,
    /// The level where they are.
    pub level: Level,
    /// When their time begins.
    pub begin: u64,
}

impl Mapped<'_> {
    /// Whether the tiles of the accelerator are those of the mapping, given the wire that each write port takes.
    pub fn are_printed(&self, written: impl Fn(usize) -> Option<WireId>) -> bool {
        let printed = |(number, mapped): (usize, &MappedTile)| {
            let tile = self.accelerator.tiles.get(self.first_tile + number);
            tile.is_some_and(|tile| self.is(tile, mapped, &written))
        };
        self.tiles.iter().enumerate().all(printed)
    }

    /// Whether a tile is one of the mapping.
    fn is(&self, tile: &Tile, mapped: &MappedTile, written: impl Fn(usize) -> Option<WireId>) -> bool {
        let is_source = |wire: Option<WireId>, source: Option<Source>| match (wire, source) {
            (None, None) => true,
            (Some(wire), Some(Source::Port(port))) => written(port) == Some(wire),
            (Some(wire), Some(Source::Output { tile, output })) => {
                self.accelerator.wires[wire].driver == Driver::Tile { tile: self.first_tile + tile, output }
            }
            _ => false,
        };
        // All are replayed as the first is specified.
        let first = self.accelerator.tiles.get(self.first_tile).map(|first| &first.spec);
        (tile.level, tile.begin) == (self.level, self.begin)
            && first == Some(&tile.spec)
            && tile.configuration == mapped.configuration
            && tile.chain_from == mapped.chain_from.map(|other| self.first_tile + other)
            && tile.inputs.len() == mapped.inputs.len()
            && tile.inputs.iter().zip(&mapped.inputs).all(|(wire, source)| is_source(*wire, *source))
    }

    /// Whether a wire is the output that serves a read port.
    pub fn shows(&self, wire: WireId, port: usize) -> bool {
        match self.accelerator.wires.get(wire).map(|wire| &wire.driver) {
            Some(&Driver::Tile { tile, output }) => {
                let tile = tile.index().checked_sub(self.first_tile.index()).and_then(|tile| self.tiles.get(tile));
                tile.and_then(|tile| tile.outputs.get(output)) == Some(&Some(port))
            }
            _ => false,
        }
    }
}
