//! The configuration bus that the memory tiles share.

use pushmem_files::template;
use pushmem_tile::TEST_ENABLE;

use super::{Context, Section};
use crate::instance::Instance;
use crate::text::{literal, range, vector};

impl Context<'_> {
    /// The address decoder and the error flags of the configuration bus, where several tiles share it.
    pub(super) fn configuration_bus(&self) -> Option<Section> {
        let tiles = self.accelerator.configured().len();
        if tiles <= 1 {
            return None;
        }
        let (bits, low) = (self.window.tile_bits, self.window.offset_bits);
        let data = |tile: usize| (literal(bits, tile as u64), self.read_data(tile));
        let body = template!(
            "configuration_bus.sv",
            range: String = range(bits),
            high: u32 = low + bits - 1,
            low: u32 = low,
            errors: String = vector(tiles as u32),
            /// The number of the last tile, if larger ones are of none.
            last: Option<String> = (tiles < 1 << bits).then(|| literal(bits, tiles as u64 - 1)),
            /// The number of each tile, and its read data.
            data: Vec<(String, String)> = (0..tiles).map(data).collect(),
        );
        Some(Section::of("Configuration bus: the upper bits of an address select the tile.", &body))
    }

    /// Connects the clock, the control of time and the configuration port of a tile.
    pub(super) fn configured(&self, instance: Instance, tile: usize) -> Instance {
        let selected = |signal: &str| match self.window.tile_bits {
            0 => signal.to_owned(),
            bits => format!("{signal} && config_tile == {}", literal(bits, tile as u64)),
        };
        let zeros = u32::BITS - self.window.offset_bits;
        let offset = match self.window.tile_bits {
            0 => "config_address_i".to_owned(),
            _ => format!("config_address_i[{}:0]", self.window.offset_bits - 1),
        };
        let address = if zeros == 0 { offset } else { format!("{{{}, {offset}}}", literal(zeros, 0)) };
        let begin = self.accelerator.tiles.get(tile).map_or(0, |tile| tile.begin);
        let gated = self.accelerator.configured()[tile].spec.clock_gating;
        let instance = instance
            .same(if gated { &["clk_i", "rst_ni", TEST_ENABLE] } else { &["clk_i", "rst_ni"] })
            .port("flush_i", self.signals.late_flushes.get(&begin).map_or("flush", |(flush, _)| flush.as_str()))
            .port("stall_i", "~step")
            .port("config_write_i", selected("config_write_i"))
            .port("config_read_i", selected("config_read_i"))
            .port("config_address_i", address)
            .port("config_write_data_i", "config_write_data_i")
            .port("config_read_data_o", self.read_data(tile))
            .port("config_error_o", self.error(tile));
        self.with_self_test(instance, tile)
    }

    /// Whether a tile had an access to an address at which it has nothing.
    fn error(&self, tile: usize) -> String {
        match self.accelerator.configured().len() {
            1 => "config_error_o".to_owned(),
            _ => format!("config_errors[{tile}]"),
        }
    }

    /// The read data of a tile's configuration port.
    pub(super) fn read_data(&self, tile: usize) -> String {
        match self.accelerator.configured().len() {
            1 => "config_read_data_o".to_owned(),
            _ => format!("config_read_data_{tile}"),
        }
    }
}
