//! The self-tests of memory tiles, which all run at once.

use itertools::Itertools;
use pushmem_accelerator::Accelerator;
use pushmem_bist::Shape;

use super::{Context, Section};
use crate::instance::Instance;
use crate::text::range;

/// Places, on the configuration bus, of the tiles that have a self-test, with their SRAMs.
pub(crate) fn self_tested(accelerator: &Accelerator) -> Vec<(usize, Shape)> {
    let configured = accelerator.configured();
    configured.iter().enumerate().filter_map(|(place, tile)| Some((place, Shape::of(tile.spec)?))).collect()
}

/// Cycles until the last self-test is done; nothing when no tile has one.
pub(crate) fn cycles(accelerator: &Accelerator) -> Option<u64> {
    self_tested(accelerator).iter().map(|(_, shape)| shape.cycles()).max()
}

impl Context<'_> {
    /// What the self-tests show together.
    pub(super) fn self_tests(&self) -> Option<Section> {
        let tested = self_tested(self.accelerator);
        if tested.is_empty() {
            return None;
        }
        let count = range(tested.len() as u32);
        let mut body = vec![format!("    logic{count} bist_tile_busy;"), format!("    logic{count} bist_tile_done;")];
        for (place, shape) in &tested {
            let address = range(pushmem_tile::address_bits_for(shape.rows));
            body.push(format!("    logic{address} {};", self.failing(*place, "address")));
            body.push(format!("    logic{} {};", range(shape.width), self.failing(*place, "bits")));
        }
        body.push("    assign bist_busy = |bist_tile_busy;".to_owned());
        body.push("    assign bist_done = &bist_tile_done;".to_owned());
        body.push("    assign bist_fail = |bist_fail_tiles;".to_owned());
        Some(Section::new("Self-tests: the longest is done last.", body.join("\n")))
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
            .same(&["bist_start"])
            .port("bist_busy", format!("bist_tile_busy{bit}"))
            .port("bist_done", format!("bist_tile_done{bit}"))
            .port("bist_fail", format!("bist_fail_tiles{bit}"))
            .port("bist_fail_address", self.failing(place, "address"))
            .port("bist_fail_bits", self.failing(place, "bits"))
    }

    /// The signal of what fails in a tile, for who looks into it.
    fn failing(&self, place: usize, what: &str) -> String {
        format!("{}_bist_{what}_unused", self.place_name(place))
    }

    fn place_name(&self, place: usize) -> &str {
        let tiles = &self.signals.tiles;
        tiles.get(place).unwrap_or_else(|| &self.signals.roms[place - tiles.len()])
    }
}
