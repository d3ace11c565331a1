//! DelayMemory tiles.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_graph::{DelayMemory, Delayed, Memories, StoredArray, TileId, WORD_BITS, WireId};
use pushmem_tile::TileSpec;

use super::signals::TileOutput;
use super::{Context, Section, tile_of};
use crate::instance::{Instance, tile_module};
use crate::text::{listing, literal, range, vector};

impl Context<'_> {
    pub(super) fn memory(&self, tiles: &[TileId], early: &BTreeSet<WireId>) -> Section {
        if self.accelerator.target.memories == Memories::Fixed {
            return self.fixed_memories(tiles, early);
        }
        let outputs = || tiles.iter().flat_map(|&tile| &self.signals.tile_outputs[tile]);
        let spec = self.spec_of(tiles[0]);
        let upper = spec.word_bits - WORD_BITS;
        let declare = |output: &TileOutput| match output {
            TileOutput::Wire(wire) => self.declared(*wire, early),
            TileOutput::Chain(name) | TileOutput::Unused(name) => {
                format!("    logic{} {name};\n", range(spec.word_bits))
            }
        };
        let mut body: String = outputs().map(declare).collect();
        for &tile in tiles {
            body.push_str(&self.declarations(tile, upper));
        }
        body.push_str(&tiles.iter().map(|&tile| self.tile(tile, upper).print()).join("\n"));
        body.push_str(&self.promises(outputs().filter_map(TileOutput::wire)));
        Section::new(self.tiles_comment(tiles), body)
    }

    /// The comment on the contents of a memory's tiles.
    pub(super) fn tiles_comment(&self, tiles: &[TileId]) -> String {
        let accelerator = self.accelerator;
        if let Some(array) = accelerator.arrays.iter().find(|array| array.first_tile == tiles[0]) {
            return self.array_comment(array, tiles.len());
        }
        let memory = accelerator.memories.iter().find(|memory| memory.first_tile == tiles[0]);
        memory.map_or_else(|| "DelayMemory tiles.".to_owned(), |memory| self.memory_comment(memory, tiles.len()))
    }

    fn array_comment(&self, array: &StoredArray, tiles: usize) -> String {
        let names =
            array.wires[..array.writers.len()].iter().map(|&wire| format!("`{}`", self.accelerator.wires[wire].name));
        format!(
            "The array `{}`, written by {}: {} with {}.",
            array.buffer.name,
            listing(&names.unique().collect_vec()),
            counted(tiles, tile_of(self.accelerator, self.accelerator.tiles[array.first_tile].level)),
            counted(array.mapped.live_words, "live word")
        )
    }

    fn memory_comment(&self, memory: &DelayMemory, tiles: usize) -> String {
        let delayed = |stream: &Delayed| {
            let delays = stream.delays.iter().map(u64::to_string).collect_vec();
            let cycles = if delays == ["1"] { "cycle" } else { "cycles" };
            format!("`{}` delayed by {} {cycles}", self.accelerator.wires[stream.of].name, listing(&delays))
        };
        format!(
            "{}: {} with {}.",
            memory.streams.iter().map(delayed).join("; "),
            counted(tiles, "memory tile"),
            counted(memory.mapped.live_words, "live word")
        )
    }

    /// The specification of a tile.
    fn spec_of(&self, tile: TileId) -> &TileSpec {
        &self.accelerator.tiles[tile].spec
    }

    /// The name of an unconnected signal of a tile.
    fn unused(&self, tile: TileId, what: &str) -> String {
        format!("{}_{what}_unused", self.signals.tiles[tile])
    }

    fn declarations(&self, tile: TileId, upper: u32) -> String {
        let spec = self.spec_of(tile);
        let taken = format!("    logic{} {};\n", vector(spec.inputs), self.unused(tile, "taken"));
        let valid =
            (0..spec.outputs as usize).map(|output| format!("    logic {};\n", self.signals.valid(tile, output)));
        let valid = valid.collect();
        let stencil = if spec.stencil_valid {
            format!("    logic {};\n", self.unused(tile, "stencil_valid"))
        } else {
            String::new()
        };
        let outputs = self.signals.tile_outputs[tile].iter().enumerate();
        let driven = outputs.filter(|(_, output)| upper > 0 && matches!(output, TileOutput::Wire(_)));
        let uppers = driven.map(|(number, _)| {
            format!("    logic{} {};\n", range(upper), self.unused(tile, &format!("out_{number}_upper")))
        });
        let ready = [(spec.has_modes(), "ready"), (spec.output_chaining && spec.fifo_mode, "chain_ready")];
        let ready = ready.iter().filter(|(has_it, _)| *has_it);
        let ready = ready.map(|(_, name)| format!("    logic {};\n", self.unused(tile, name)));
        [taken, valid, stencil].into_iter().chain(ready).chain(uppers).collect()
    }

    fn tile(&self, tile: TileId, upper: u32) -> Instance {
        let spec = self.spec_of(tile);
        let content = &self.accelerator.tiles[tile];
        let extended =
            |word: &str| if upper == 0 { word.to_owned() } else { format!("{{{}, {word}}}", literal(upper, 0)) };
        let instance = Instance::new(tile_module(spec), format!("u_{}", self.signals.tiles[tile]));
        let mut instance = self.configured(instance, tile.index());
        let bit = |what: &str, number: u32| format!("{}[{number}]", self.unused(tile, what));
        for input in 0..spec.inputs {
            let word = content.inputs.get(input as usize).copied().flatten();
            let word = word.map_or_else(|| "'0".to_owned(), |wire| extended(&self.signals.wires[wire]));
            instance = instance
                .port(&format!("data_in_{input}_i"), word)
                .port(&format!("data_in_{input}_taken_o"), bit("taken", input));
        }
        for output in 0..spec.outputs {
            let name = match &self.signals.tile_outputs[tile][output as usize] {
                TileOutput::Wire(wire) if upper == 0 => self.signals.wires[*wire].clone(),
                TileOutput::Wire(wire) => {
                    let upper = self.unused(tile, &format!("out_{output}_upper"));
                    format!("{{{upper}, {}}}", self.signals.wires[*wire])
                }
                TileOutput::Chain(name) | TileOutput::Unused(name) => name.clone(),
            };
            instance = instance
                .port(&format!("data_out_{output}_o"), name)
                .port(&format!("data_out_{output}_valid_o"), self.signals.valid(tile, output as usize));
        }
        if spec.chaining {
            for output in 0..spec.outputs {
                let word = match content.chain_from.map(|other| &self.signals.tile_outputs[other][output as usize]) {
                    None => "'0".to_owned(),
                    Some(TileOutput::Wire(wire)) => extended(&self.signals.wires[*wire]),
                    Some(TileOutput::Chain(name) | TileOutput::Unused(name)) => name.clone(),
                };
                instance = instance.port(&format!("chain_in_{output}_i"), word);
            }
        }
        // Nothing is before an output but where addresses choose between tiles.
        for output in 0..spec.outputs {
            if spec.output_chaining && !spec.chaining {
                instance = instance.port(&format!("chain_in_{output}_i"), "'0");
            }
            if spec.output_chaining {
                instance = instance.port(&format!("chain_in_{output}_valid_i"), "1'b0");
            }
        }
        if spec.output_chaining && spec.fifo_mode {
            instance = instance.port("chain_in_0_ready_o", self.unused(tile, "chain_ready"));
        }
        // A memory is a unified buffer.
        if spec.has_modes() {
            instance = instance.port("data_in_0_valid_i", "1'b0").port("data_in_0_ready_o", self.unused(tile, "ready"));
        }
        if spec.ram_mode {
            instance = instance.port("data_in_0_write_i", "1'b0");
        }
        if spec.fifo_mode {
            instance = instance.port("data_out_0_ready_i", "1'b0");
        }
        if spec.stencil_valid {
            instance = instance.port("stencil_valid_o", self.unused(tile, "stencil_valid"));
        }
        instance
    }
}
