//! The self-tests of memory tiles, which all run at once.

use itertools::Itertools;
use pushmem_bist::MemoryShape;
use pushmem_files::template;
use pushmem_graph::Accelerator;

use super::{Context, Section};
use crate::instance::Instance;
use crate::text::{bits_for, literal, range};

/// Places, on the configuration bus, of the tiles that have a self-test, with their SRAMs.
pub(crate) fn self_tested(accelerator: &Accelerator) -> Vec<(usize, MemoryShape)> {
    let configured = accelerator.configured();
    configured.iter().enumerate().filter_map(|(place, tile)| Some((place, MemoryShape::of(tile.spec)?))).collect()
}

/// The widest row of the memories with a self-test, in bits, and the bits of the longest address of a row; nothing when no tile
/// has one.
pub(crate) fn widest(accelerator: &Accelerator) -> Option<(u32, u32)> {
    let tested = self_tested(accelerator);
    let address = tested.iter().map(|(_, shape)| pushmem_tile::address_bits_for(shape.rows)).max();
    Some((tested.iter().map(|(_, shape)| shape.width).max()?, address?))
}

/// Cycles until the last self-test is done; nothing when no tile has one.
pub(crate) fn cycles(accelerator: &Accelerator) -> Option<u64> {
    self_tested(accelerator).iter().map(|(_, shape)| shape.cycles()).max()
}

/// A tile with a self-test: its number among them, and the signals of its failure.
struct SelfTested {
    number: String,
    address_range: String,
    row_range: String,
    address: String,
    bits: String,
}

impl Context<'_> {
    /// The common result of the self-tests.
    pub(super) fn self_tests(&self) -> Option<Section> {
        let tested = self_tested(self.accelerator);
        let (width, address_bits) = widest(self.accelerator)?;
        let number_bits = bits_for(tested.len() as u64 - 1);
        let tile = |(number, (place, shape)): (usize, &(usize, MemoryShape))| SelfTested {
            number: literal(number_bits, number as u64),
            address_range: range(pushmem_tile::address_bits_for(shape.rows)),
            row_range: range(shape.width),
            address: self.failing(*place, "address"),
            bits: self.failing(*place, "bits"),
        };
        let body = template!(
            "self_tests.sv",
            name: &'a str = &self.accelerator.name,
            count: String = range(tested.len() as u32),
            address_bits: u32 = address_bits,
            width: u32 = width,
            tiles: Vec<SelfTested> = tested.iter().enumerate().map(tile).collect(),
        );
        let comment =
            "Self-tests: the longest is done last. The findings of one of them are shown until the next start.";
        Some(Section::of(comment, &body))
    }

    /// Which tiles have the bits of `bist_fail_tiles`, as text.
    pub(super) fn self_tested_names(&self) -> String {
        self_tested(self.accelerator).iter().map(|(place, _)| format!("`{}`", self.place_name(*place))).join(", ")
    }

    /// Connects the self-test of a tile, if it has one.
    pub(super) fn with_self_test(&self, instance: Instance, place: usize) -> Instance {
        let tested = self_tested(self.accelerator);
        let Some(number) = tested.iter().position(|(other, _)| *other == place) else { return instance };
        let bit = if tested.len() > 1 { format!("[{number}]") } else { String::new() };
        instance
            .same(&["bist_start_i"])
            .port("bist_busy_o", format!("bist_tile_busy{bit}"))
            .port("bist_done_o", format!("bist_tile_done{bit}"))
            .port("bist_fail_o", format!("bist_fail_tiles_o{bit}"))
            .port("bist_fail_address_o", self.failing(place, "address"))
            .port("bist_fail_bits_o", self.failing(place, "bits"))
    }

    /// The signal with the failing address or bits of a tile.
    fn failing(&self, place: usize, what: &str) -> String {
        format!("{}_bist_{what}", self.place_name(place))
    }

    fn place_name(&self, place: usize) -> &str {
        let tiles = &self.signals.tiles;
        tiles.get(place).unwrap_or_else(|| &self.signals.roms[place - tiles.len()])
    }
}
