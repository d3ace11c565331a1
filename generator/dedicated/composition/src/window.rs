//! Where the registers of each tile are on the configuration bus.

use itertools::Itertools;
use pushmem_configuration::{RegisterWrite, encode};
use pushmem_files::Diagnostic;
use pushmem_graph::{Accelerator, Configured};
use pushmem_registers::RegisterMap;

use crate::text::bits_for;

/// The addresses of the tiles, those of memories and then those of ROMs: each has a window of the same size, a power of two
/// that is enough for all.
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
    pub fn of(accelerator: &Accelerator) -> Result<Self, Diagnostic> {
        let configured = accelerator.configured();
        let bytes = configured.iter().map(|tile| tile.spec).dedup().map(|spec| RegisterMap::of(spec).bytes());
        let offset_bits = bytes.max().unwrap_or(1).next_power_of_two().ilog2();
        let tiles = configured.len();
        let tile_bits = if tiles <= 1 { 0 } else { bits_for(tiles as u64 - 1) };
        let window = Window { offset_bits, tile_bits };
        let bits = window.bits();
        if bits > u32::BITS {
            let message =
                format!("the registers of {tiles} memory tiles need {bits} address bits; the configuration bus has 32");
            let help = "choose a tile with more rows or ports, or unroll less, so that there are fewer tiles";
            return Err(Diagnostic::new(message).with_help(help));
        }
        Ok(window)
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

/// Bytes between the first registers of one tile and of the next on the configuration bus, in the order of
/// [`Accelerator::configured`].
///
/// # Errors
/// When 32 bits are not enough.
pub fn tile_bytes(accelerator: &Accelerator) -> Result<u64, Diagnostic> {
    Window::of(accelerator).map(Window::bytes)
}

/// The register writes that configure all tiles, with addresses on the configuration bus: for each of
/// [`Accelerator::configured`], its own.
///
/// # Errors
/// When a configuration does not fit its tile, or the addresses do not fit 32 bits.
pub fn register_writes(accelerator: &Accelerator) -> Result<Vec<Vec<RegisterWrite>>, Diagnostic> {
    let window = Window::of(accelerator)?;
    let of_tile = |(number, tile): (usize, &Configured)| {
        let writes = encode(tile.configuration, tile.spec, &RegisterMap::of(tile.spec)).map_err(|fault| {
            Diagnostic::new(format!("the memory tile {} cannot be configured: {}", tile.name, fault.message))
        })?;
        let base = (number as u64 * window.bytes()) as u32;
        Ok(writes.into_iter().map(|write| RegisterWrite { address: base + write.address, ..write }).collect())
    };
    accelerator.configured().iter().enumerate().map(of_tile).collect()
}
