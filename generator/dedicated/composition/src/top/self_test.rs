//! The self-tests of memory tiles, which all run at once.

use itertools::Itertools;
use pushmem_bist::MemoryShape;
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

impl Context<'_> {
    /// The common result of the self-tests.
    pub(super) fn self_tests(&self) -> Option<Section> {
        let tested = self_tested(self.accelerator);
        let (width, address_bits) = widest(self.accelerator)?;
        let count = range(tested.len() as u32);
        let mut body = vec![format!("    logic{count} bist_tile_busy;"), format!("    logic{count} bist_tile_done;")];
        for (place, shape) in &tested {
            let address = range(pushmem_tile::address_bits_for(shape.rows));
            body.push(format!("    logic{address} {};", self.failing(*place, "address")));
            body.push(format!("    logic{} {};", range(shape.width), self.failing(*place, "bits")));
        }
        body.push("    assign bist_busy_o = |bist_tile_busy;".to_owned());
        body.push("    assign bist_done_o = &bist_tile_done;".to_owned());
        body.push("    assign bist_fail_o = |bist_fail_tiles_o;".to_owned());
        let shown = |place: usize| {
            let address = format!("bist_fail_address_o = {address_bits}'({});", self.failing(place, "address"));
            [address, format!("bist_fail_bits_o = {width}'({});", self.failing(place, "bits"))]
        };
        match tested.as_slice() {
            [(only, _)] => body.extend(shown(*only).map(|shown| format!("    assign {shown}"))),
            _ => {
                let bits = bits_for(tested.len() as u64 - 1);
                body.push("    always_comb begin".to_owned());
                body.push("        bist_fail_address_o = '0;".to_owned());
                body.push("        bist_fail_bits_o = '0;".to_owned());
                body.push("        unique case (bist_select_i)".to_owned());
                for (number, (place, _)) in tested.iter().enumerate() {
                    body.push(format!("            {}: begin", literal(bits, number as u64)));
                    body.extend(shown(*place).map(|shown| format!("                {shown}")));
                    body.push("            end".to_owned());
                }
                body.push("            default: ;".to_owned());
                body.push("        endcase".to_owned());
                body.push("    end".to_owned());
            }
        }
        body.push(self.self_test_assertion());
        Some(Section::new(
            "Self-tests: the longest is done last. The findings of one of them are shown until the next start.",
            body.join("\n"),
        ))
    }

    /// The memories are the self-test's or a run's.
    fn self_test_assertion(&self) -> String {
        [
            "    `PUSHMEM_ASSERT(a_test_between_runs,",
            "        ((bist_start_i || bist_busy_o) && (start_i || busy_o)) !== 1'b1,",
            &format!("        (\"{}: a run and a self-test at the same time\"))", self.accelerator.name),
        ]
        .join("\n")
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
