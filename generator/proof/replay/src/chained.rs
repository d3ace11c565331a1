//! Chains as one tile.

use pushmem_affine::Affine;
use pushmem_buffers::{MappedBuffer, MappedTile, Source};
use pushmem_configuration::ControllerConfiguration;
use pushmem_tile::TileSpec;

/// The rows that the controllers of a chain address, when its tiles act as one tile with so many rows.
///
/// They do when they hold consecutive pieces of one memory and do everything else alike: the same controllers on the same
/// inputs, so that their aggregators and transpose buffers agree up to who has which row, and the chain passes each row on
/// from the tile that has it. Only the SRAM ports are not one: two tiles may use theirs in the same cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    /// The tiles, the last of which shows the words.
    pub tiles: std::ops::Range<usize>,
    /// Rows that are addressed: addresses are at least 0 and less.
    pub rows: u32,
}

/// All tiles, in order, chains folded where that is exact.
pub(crate) fn folded(mapped: &MappedBuffer, spec: &TileSpec) -> Vec<Option<Folded>> {
    let mut found: Vec<Option<Folded>> = Vec::new();
    let mut next = 0;
    while next < mapped.tiles.len() {
        let chain = chain_from(mapped, spec, next);
        next = chain.as_ref().map_or(next + 1, |folded| folded.tiles.end);
        found.push(chain);
    }
    found
}

fn chain_from(mapped: &MappedBuffer, spec: &TileSpec, first: usize) -> Option<Folded> {
    let tile = &mapped.tiles[first];
    if !tile.configuration.chain.enable || tile.chain_from.is_some() {
        return None;
    }
    let continues = |number: usize| {
        let other: &MappedTile = &mapped.tiles[number];
        let chain = other.configuration.chain;
        other.chain_from == Some(number - 1)
            && chain.enable
            && chain.tile_id as usize == number - first
            && other.inputs == tile.inputs
            && other.configuration.controllers == tile.configuration.controllers
    };
    let count = 1 + (first + 1..mapped.tiles.len()).take_while(|&number| continues(number)).count();
    let tiles = first..first + count;
    let silent = mapped.tiles[first..first + count - 1].iter().all(|tile| tile.outputs.iter().all(Option::is_none));
    let unused = mapped.tiles.iter().enumerate().all(|(number, tile)| {
        let feeds = tile.inputs.iter().flatten().any(|source| match source {
            Source::Output { tile, .. } => tiles.contains(tile) && *tile + 1 != tiles.end,
            Source::Port(_) => false,
        });
        let chains = tile.chain_from.is_some_and(|from| tiles.contains(&from)) && !tiles.contains(&number);
        !feeds && !chains
    });
    if tile.configuration.chain.tile_id != 0 || count == 1 || !silent || !unused {
        return None;
    }
    let space = 1_i128 << (spec.tile_id_bits() + spec.rows.ilog2());
    let mut rows = 1;
    for configured in tile.configuration.controllers.values() {
        if let Some(address) = configured.address(spec.main_memory()) {
            rows = rows.max(highest(configured, address, space)? + 1);
        }
    }
    (rows <= count as i128 * i128::from(spec.rows)).then_some(Folded { tiles, rows: rows as u32 })
}

/// The highest address, if addresses never wrap in the address space.
fn highest(configured: &ControllerConfiguration, address: &Affine, space: i128) -> Option<i128> {
    let (mut low, mut high) = (i128::from(address.start), i128::from(address.start));
    for (&stride, &extent) in address.stride.iter().zip(&configured.extent) {
        // Strides are modulo the address space; the small ones are meant.
        let stride = (i128::from(stride) + space / 2).rem_euclid(space) - space / 2;
        let travel = stride * (i128::from(extent) - 1);
        low += travel.min(0);
        high += travel.max(0);
    }
    (0 <= low && high < space).then_some(high)
}
