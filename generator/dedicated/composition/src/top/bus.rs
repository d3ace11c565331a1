//! The configuration bus that the memory tiles share.

use itertools::Itertools;
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
        let mut body = vec![
            format!("    logic{} config_tile;", range(bits)),
            format!("    logic{} config_tile_q;", range(bits)),
            format!("    assign config_tile = config_address_i[{}:{low}];", low + bits - 1),
            "    always_ff @(posedge clk_i, negedge rst_ni) begin".to_owned(),
            "        if (!rst_ni) begin".to_owned(),
            "            config_tile_q <= '0;".to_owned(),
            "        end else if (config_read_i) begin".to_owned(),
            "            config_tile_q <= config_tile;".to_owned(),
            "        end".to_owned(),
            "    end".to_owned(),
        ];
        body.push(format!("    logic{} config_errors;", vector(tiles as u32)));
        let misses = match tiles == 1 << bits {
            true => String::new(),
            false => {
                body.extend(missed(&literal(bits, tiles as u64 - 1)));
                " | config_misses_q".to_owned()
            }
        };
        body.push(format!("    assign config_error_o = |config_errors{misses};"));
        let data = (0..tiles).map(|tile| self.read_data(tile)).collect_vec();
        body.extend(data.iter().map(|data| format!("    logic [31:0] {data};")));
        body.push("    always_comb begin".to_owned());
        body.push("        unique case (config_tile_q)".to_owned());
        let case = |(tile, data): (usize, &String)| {
            format!("            {}: config_read_data_o = {data};", literal(bits, tile as u64))
        };
        body.extend(data.iter().enumerate().map(case));
        body.push("            default: config_read_data_o = '0;".to_owned());
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

/// The response to accesses beyond the last tile, as lines.
fn missed(last: &str) -> [String; 8] {
    [
        "    logic config_misses_q;".to_owned(),
        "    always_ff @(posedge clk_i, negedge rst_ni) begin".to_owned(),
        "        if (!rst_ni) begin".to_owned(),
        "            config_misses_q <= 1'b0;".to_owned(),
        "        end else begin".to_owned(),
        format!("            config_misses_q <= (config_write_i || config_read_i) && config_tile > {last};"),
        "        end".to_owned(),
        "    end".to_owned(),
    ]
}
