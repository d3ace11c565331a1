//! The configuration bus that the memory tiles share.

use itertools::Itertools;
use pushmem_tile::TEST_ENABLE;

use super::{Context, Section};
use crate::instance::Instance;
use crate::text::{literal, range};

impl Context<'_> {
    /// What several tiles need to share the bus.
    pub(super) fn configuration_bus(&self) -> Option<Section> {
        let tiles = self.accelerator.configured().len();
        if tiles <= 1 {
            return None;
        }
        let (bits, low) = (self.window.tile_bits, self.window.offset_bits);
        let mut body = vec![
            format!("    logic{} config_tile;", range(bits)),
            format!("    logic{} config_tile_q;", range(bits)),
            format!("    assign config_tile = config_address[{}:{low}];", low + bits - 1),
            "    always_ff @(posedge clk, negedge rst_n) begin".to_owned(),
            "        if (!rst_n) begin".to_owned(),
            "            config_tile_q <= '0;".to_owned(),
            "        end else if (config_read) begin".to_owned(),
            "            config_tile_q <= config_tile;".to_owned(),
            "        end".to_owned(),
            "    end".to_owned(),
        ];
        let data = (0..tiles).map(|tile| self.read_data(tile)).collect_vec();
        body.extend(data.iter().map(|data| format!("    logic [31:0] {data};")));
        body.push("    always_comb begin".to_owned());
        body.push("        case (config_tile_q)".to_owned());
        let case = |(tile, data): (usize, &String)| {
            format!("            {}: config_read_data = {data};", literal(bits, tile as u64))
        };
        body.extend(data.iter().enumerate().map(case));
        body.push("            default: config_read_data = '0;".to_owned());
        body.push("        endcase".to_owned());
        body.push("    end".to_owned());
        let comment = "Configuration bus: the upper bits of an address select the tile.";
        Some(Section::new(comment, body.join("\n")))
    }

    /// Connects the clock, the control of time and the configuration port of a tile.
    pub(super) fn configured(&self, instance: Instance, tile: usize) -> Instance {
        let selected = |signal: &str| match self.window.tile_bits {
            0 => signal.to_owned(),
            bits => format!("{signal} && config_tile == {}", literal(bits, tile as u64)),
        };
        let zeros = u32::BITS - self.window.offset_bits;
        let offset = match self.window.tile_bits {
            0 => "config_address".to_owned(),
            _ => format!("config_address[{}:0]", self.window.offset_bits - 1),
        };
        let address = if zeros == 0 { offset } else { format!("{{{}, {offset}}}", literal(zeros, 0)) };
        let begin = self.accelerator.tiles.get(tile).map_or(0, |tile| tile.begin);
        let gated = self.accelerator.configured()[tile].spec.clock_gating;
        let instance = instance
            .same(if gated { &["clk", "rst_n", TEST_ENABLE] } else { &["clk", "rst_n"] })
            .port("flush", self.signals.late_flushes.get(&begin).map_or("flush", |(flush, _)| flush.as_str()))
            .port("stall", "~step")
            .port("config_write", selected("config_write"))
            .port("config_read", selected("config_read"))
            .port("config_address", address)
            .port("config_write_data", "config_write_data")
            .port("config_read_data", self.read_data(tile));
        self.with_self_test(instance, tile)
    }

    /// What a tile shows on its configuration port.
    pub(super) fn read_data(&self, tile: usize) -> String {
        match self.accelerator.configured().len() {
            1 => "config_read_data".to_owned(),
            _ => format!("config_read_data_{tile}"),
        }
    }
}
