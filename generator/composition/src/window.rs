//! Where the registers of each tile are on the configuration bus.

use pushmem_accelerator::Accelerator;
use pushmem_configuration::{RegisterWrite, encode};
use pushmem_registers::RegisterMap;

use crate::error::CompositionError;
use crate::text::bits_for;

/// The addresses of the tiles: each has a window of the same size, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Bits of an address within a tile.
    pub offset_bits: u32,
    /// Bits that select the tile.
    pub tile_bits: u32,
}

impl Window {
    /// # Errors
    /// When 32 bits are not enough.
    pub fn of(map: &RegisterMap, tiles: usize) -> Result<Self, CompositionError> {
        let offset_bits = map.bytes().next_power_of_two().ilog2();
        let tile_bits = if tiles <= 1 { 0 } else { bits_for(tiles as u64 - 1) };
        let window = Window { offset_bits, tile_bits };
        if window.bits() > u32::BITS { Err(CompositionError::Addresses { tiles }) } else { Ok(window) }
    }

    /// Bits of an address.
    pub fn bits(self) -> u32 {
        self.offset_bits + self.tile_bits
    }

    /// Bytes of a tile.
    pub fn bytes(self) -> u64 {
        1 << self.offset_bits
    }
}

/// The register writes that configure all tiles, with addresses on the configuration bus: for each tile, its own.
///
/// # Errors
/// When a configuration does not fit its tile, or the addresses do not fit 32 bits.
pub fn register_writes(
    accelerator: &Accelerator,
    map: &RegisterMap,
) -> Result<Vec<Vec<RegisterWrite>>, CompositionError> {
    let window = Window::of(map, accelerator.tiles.len())?;
    let of_tile = |(number, tile): (usize, &pushmem_accelerator::Tile)| {
        let writes = encode(&tile.configuration, &accelerator.spec, map)
            .map_err(|finding| CompositionError::Configuration { tile: tile.name.clone(), finding })?;
        let base = (number as u64 * window.bytes()) as u32;
        Ok(writes.into_iter().map(|write| RegisterWrite { address: base + write.address, ..write }).collect())
    };
    accelerator.tiles.iter().enumerate().map(of_tile).collect()
}
