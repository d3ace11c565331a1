//! Memories that are made for the program: their controllers are constants.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_configuration::ControllerConfiguration;
use pushmem_files::counted;
use pushmem_graph::{Driver, TileId, WORD_BITS, WireId, reads_apart};
use pushmem_tile::{Controller, Memory};

use super::signals::TileOutput;
use super::{Context, Section};
use crate::instance::Instance;
use crate::loops::{literals, with_loops};
use crate::modules::{ACCESS_SEQUENCE, DELAY_LINE, FIXED_MEMORY};
use crate::text::{bits_for, concatenation, lines, literal, vector};

/// The accesses of a port of a memory, and the names of their signals.
struct Accesses<'a> {
    /// The input or output of the memory.
    port: usize,
    configured: &'a ControllerConfiguration,
    /// The stem of the names.
    name: String,
    /// The signal that is high in the cycle behind each access.
    accessed: String,
}

impl Accesses<'_> {
    /// When and where they are, as lines of a comment.
    fn comment(&self) -> String {
        let ControllerConfiguration { extent, cycle, .. } = self.configured;
        let names = (0..extent.depth()).map(|level| format!("i{level}")).collect_vec();
        let address = self.configured.address(Memory::Sram).map_or_else(String::new, |address| address.text(&names));
        let loops = names.iter().zip(extent).map(|(name, extent)| format!("{name} < {extent}")).join(", ");
        let loops = if loops.is_empty() { ", once".to_owned() } else { format!(", for {loops}") };
        let text = format!("In cycle {}, at address {address}{loops}.", cycle.text(&names));
        lines(&text).into_iter().map(|line| format!("    // {line}\n")).collect()
    }

    fn access(&self) -> String {
        format!("{}_access", self.name)
    }

    fn address(&self) -> String {
        format!("{}_address", self.name)
    }
}

impl Context<'_> {
    /// The shift registers of one length, as one memory.
    pub(super) fn delay_line(&self, line: usize, early: &BTreeSet<WireId>) -> Section {
        let line = &self.accelerator.delay_lines[line];
        let declared = line.wires.iter().map(|&wire| self.declared(wire, early)).join("");
        let of = |wire: &WireId| match self.accelerator.wires[*wire].driver {
            Driver::ShiftRegister { of, .. } => self.signals.wires[of].clone(),
            _ => unreachable!("the wires of a delay line are those of shift registers"),
        };
        let instance = Instance::new(self.library(DELAY_LINE), self.signals.shift_registers[&line.wires[0]].as_str())
            .parameter("Width", WORD_BITS * line.wires.len() as u32)
            .parameter("Length", line.length)
            .same(&["clk_i", "rst_ni"])
            .port("step_i", "step")
            .port("in_data_i", concatenation(line.wires.iter().map(of)))
            .port("out_data_o", concatenation(line.wires.iter().map(|&wire| self.signals.wires[wire].clone())));
        let words = counted(line.wires.len(), "word");
        Section::new(
            format!("Delays of {} cycles: a memory of {words} a row.", line.length),
            declared + &instance.print(),
        )
    }

    /// The memories of an array.
    pub(super) fn fixed_memories(&self, tiles: &[TileId], early: &BTreeSet<WireId>) -> Section {
        let memories = tiles.iter().map(|&tile| self.fixed_memory(tile, early)).join("\n");
        let wires = tiles.iter().flat_map(|&tile| &self.signals.tile_outputs[tile]).filter_map(TileOutput::wire);
        Section::new(self.tiles_comment(tiles), memories + &self.promises(wires))
    }

    fn fixed_memory(&self, tile: TileId, early: &BTreeSet<WireId>) -> String {
        let content = &self.accelerator.tiles[tile];
        let name = &self.signals.tiles[tile];
        let rows = content.spec.rows;
        let (writes, reads) = (self.accesses(tile, true), self.accesses(tile, false));
        // No output is chained, and what nothing reads is not there.
        let shown = self.signals.tile_outputs[tile].iter().filter_map(TileOutput::wire).collect_vec();
        let mut parts: Vec<String> = shown.iter().map(|&wire| self.declared(wire, early)).collect();
        let bits = bits_for(u64::from(rows) - 1);
        for accesses in writes.iter().chain(&reads) {
            let [access, address] = [accesses.access(), accesses.address()];
            parts.push(format!(
                "    logic {access};\n    logic{} {address};\n    logic {};\n",
                vector(bits),
                accesses.accessed
            ));
        }
        parts.push(format!("    logic{} {name}_word;\n", vector(WORD_BITS)));
        for accesses in writes.iter().chain(&reads) {
            parts.push(accesses.comment() + &self.access_sequence(accesses, tile) + "\n");
        }
        let data = |accesses: &Accesses| match content.inputs[accesses.port] {
            Some(wire) => self.signals.wires[wire].clone(),
            None => "'0".to_owned(),
        };
        let any = |all: &[Accesses]| match all {
            [] => "1'b0".to_owned(),
            _ => all.iter().map(Accesses::access).join(" || "),
        };
        let memory = Instance::new(FIXED_MEMORY, format!("u_{name}"))
            .parameter("Width", WORD_BITS)
            .parameter("Words", rows)
            .parameter("Apart", format!("1'b{}", u8::from(reads_apart(&content.configuration, &content.spec))))
            .same(&["clk_i"])
            .port("step_i", "step")
            .port("write_i", any(&writes))
            .port("write_address_i", chosen(&writes, |of| of.address()))
            .port("write_data_i", chosen(&writes, data))
            .port("read_i", any(&reads))
            .port("read_address_i", chosen(&reads, |of| of.address()))
            .port("read_data_o", format!("{name}_word"));
        parts.push(memory.print());
        parts.extend(shown.iter().map(|&wire| format!("\n    assign {} = {name}_word;", self.signals.wires[wire])));
        parts.concat()
    }

    /// The accesses of the write port of a memory, or of its read port.
    fn accesses(&self, tile: TileId, write: bool) -> Vec<Accesses<'_>> {
        let content = &self.accelerator.tiles[tile];
        let name = &self.signals.tiles[tile];
        let controllers = content.spec.controllers().into_iter().filter(|of| of.role.takes_input() == write);
        let accesses = |of: Controller| {
            let (port, kind) = (of.port as usize, if write { "write" } else { "read" });
            let name = format!("{name}_{kind}_{port}");
            let accessed = if write { format!("{name}_accessed_unused") } else { self.signals.valid(tile, port) };
            Some(Accesses { port, configured: content.configuration.controllers.get(&of.name)?, name, accessed })
        };
        controllers.filter_map(accesses).collect()
    }

    fn access_sequence(&self, accesses: &Accesses, tile: TileId) -> String {
        let content = &self.accelerator.tiles[tile];
        let ControllerConfiguration { extent, cycle, .. } = accesses.configured;
        let address = accesses.configured.address(Memory::Sram).expect("a port has addresses");
        let (words, bits) = (i128::from(content.spec.rows), bits_for(u64::from(content.spec.rows) - 1));
        let range = extent.range(address);
        let wraps = *range.start() < 0 || *range.end() >= words;
        // Without wrapping, the adder drops what its sums carry beyond its bits.
        let modulus = if wraps { words } else { 1 << bits };
        let deltas = extent.deltas(&address.stride).into_iter().map(|delta| delta.rem_euclid(modulus) as u64);
        let flush = self.signals.late_flushes.get(&content.begin).map_or("flush", |(flush, _)| flush.as_str());
        let first = i128::from(address.start).rem_euclid(words) as u64;
        let sequence = Instance::new(self.library(ACCESS_SEQUENCE), format!("u_{}", accesses.name));
        with_loops(sequence, extent, cycle)
            .expect("configurations have accesses in the order of time")
            .parameter("Words", words)
            .parameter("First", literal(bits, first))
            .parameter("Deltas", literals(bits, &deltas.collect_vec(), extent.depth().max(1)))
            .parameter("Wraps", format!("1'b{}", u8::from(wraps)))
            .same(&["clk_i", "rst_ni"])
            .to(&[("flush_i", flush), ("step_i", "step")])
            .port("access_o", accesses.access())
            .port("address_o", accesses.address())
            .port("accessed_o", &accesses.accessed)
            .print()
    }
}

/// The value of the accesses of a port in whose cycle it is; in other cycles that of the last.
fn chosen(accesses: &[Accesses], value: impl Fn(&Accesses) -> String) -> String {
    let Some((last, others)) = accesses.split_last() else { return "'0".to_owned() };
    others.iter().map(|of| format!("{} ? {} : ", of.access(), value(of))).join("") + &value(last)
}
