//! The ports of the top module.

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_graph::{Stream, WORD_BITS};
use pushmem_tile::TEST_ENABLE;

use super::Context;
use super::self_test::{self_tested, widest};
use crate::text::{bits_for, lines, range};

/// Ports with a common comment.
struct Group {
    comment: String,
    ports: Vec<Port>,
}

struct Port {
    direction: &'static str,
    bits: u32,
    name: String,
}

fn input(bits: u32, name: impl Into<String>) -> Port {
    Port { direction: "input ", bits, name: name.into() }
}

fn output(bits: u32, name: impl Into<String>) -> Port {
    Port { direction: "output", bits, name: name.into() }
}

impl Context<'_> {
    /// The lines that declare the ports, by groups.
    pub(super) fn ports(&self) -> Vec<Vec<String>> {
        let groups = self.groups();
        let ports = groups.iter().flat_map(|group| &group.ports);
        let width = ports.clone().map(|port| range(port.bits).len()).max().unwrap_or(0);
        let mut left = ports.count();
        let mut declared = Vec::new();
        for Group { comment, ports } in &groups {
            let mut text = lines(comment).into_iter().map(|line| format!("// {line}")).collect_vec();
            for Port { direction, bits, name } in ports {
                left -= 1;
                let comma = if left > 0 { "," } else { "" };
                text.push(format!("{direction} logic{:width$} {name}{comma}", range(*bits)));
            }
            declared.push(text);
        }
        declared
    }

    fn groups(&self) -> Vec<Group> {
        let runs = "A pulse on `start_i` asks for a run; while one goes on, one more is remembered. `busy_o` is high during a \
                    run, `done_o` in its last cycle.";
        let mut ports = vec![input(1, "clk_i"), input(1, "rst_ni")];
        if self.accelerator.has_clock_gates() {
            ports.push(input(1, TEST_ENABLE));
        }
        let mut groups = vec![
            Group { comment: String::new(), ports },
            Group {
                comment: runs.to_owned(),
                ports: vec![input(1, "start_i"), output(1, "busy_o"), output(1, "done_o")],
            },
        ];
        if !self.accelerator.configured().is_empty() {
            groups.push(self.configuration_ports());
        }
        groups.extend(self.self_test_ports());
        let streams = &self.signals.streams;
        for (stream, port) in self.accelerator.inputs.iter().zip(&streams.inputs) {
            let valid = input(1, format!("{port}_valid_i"));
            let ready = output(1, format!("{port}_ready_o"));
            let data = input(stream.lanes.len() as u32 * WORD_BITS, format!("{port}_data_i"));
            groups.push(Group { comment: self.describe("Input", stream), ports: vec![valid, ready, data] });
        }
        for (stream, port) in self.accelerator.outputs.iter().zip(&streams.outputs) {
            let valid = output(1, format!("{port}_valid_o"));
            let ready = input(1, format!("{port}_ready_i"));
            let data = output(stream.lanes.len() as u32 * WORD_BITS, format!("{port}_data_o"));
            groups.push(Group { comment: self.describe("Output", stream), ports: vec![valid, ready, data] });
        }
        groups
    }

    fn configuration_ports(&self) -> Group {
        let (memories, roms) = (self.accelerator.tiles.len(), self.accelerator.roms.len());
        let place = match memories + roms {
            1 => "the registers of the memory tile".to_owned(),
            _ => format!("the registers of memory tile N are at byte address N * {}", self.window.bytes()),
        };
        let behind =
            if memories > 0 && roms > 0 { format!("; those from {memories} on are ROMs") } else { String::new() };
        let words = match self.accelerator.target.rom().sram_latency {
            latency if latency > 1 && roms > 0 => format!(", words of a ROM {latency} cycles later"),
            _ => String::new(),
        };
        Group {
            comment: format!(
                "Configuration, between runs: {place}{behind}. Data that was read shows from the next cycle on{words}. \
                 `config_error_o` is high in the cycle after an access to an address at which there is nothing."
            ),
            ports: vec![
                input(1, "config_write_i"),
                input(1, "config_read_i"),
                input(self.window.bits(), "config_address_i"),
                input(32, "config_write_data_i"),
                output(32, "config_read_data_o"),
                output(1, "config_error_o"),
            ],
        }
    }

    fn self_test_ports(&self) -> Option<Group> {
        let tiles = self_tested(self.accelerator).len() as u32;
        let (width, address_bits) = widest(self.accelerator)?;
        let whose = if tiles > 1 { "`bist_select_i` chooses whose" } else { "The" };
        let mut ports = vec![
            input(1, "bist_start_i"),
            output(1, "bist_busy_o"),
            output(1, "bist_done_o"),
            output(1, "bist_fail_o"),
            output(tiles, "bist_fail_tiles_o"),
            output(address_bits, "bist_fail_address_o"),
            output(width, "bist_fail_bits_o"),
        ];
        if tiles > 1 {
            ports.insert(1, input(bits_for(u64::from(tiles) - 1), "bist_select_i"));
        }
        Some(Group {
            comment: format!(
                "Self-test of the memories, between runs: a pulse on `bist_start_i` starts all. Words in memories are undefined \
                 afterwards. Which fail, the lowest bit first: {}. {whose} row that failed first and bits that failed in any \
                 are shown.",
                self.self_tested_names()
            ),
            ports,
        })
    }

    fn describe(&self, kind: &str, stream: &Stream) -> String {
        let beats = counted(self.accelerator.counters[stream.counter].iterations(), "beat");
        let words = counted(stream.lanes.len(), "word");
        let order = if stream.lanes.len() > 1 { ", lane 0 lowest" } else { "" };
        format!("{kind} stream of `{}`: {beats} a run of {words} ({}){order}.", stream.name, stream.element.name())
    }
}
