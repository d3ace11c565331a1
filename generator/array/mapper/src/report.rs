//! The figures of a program on an array.

use std::fmt;

use pushmem_compiler::Compiled;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{Layer, TileKind};
use pushmem_netlist::Core;
use pushmem_resources::Node;
use serde::Serialize;

use crate::mapping::{ArrayTarget, Mapped};

/// How many of something a program uses, and how many the array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Used by the program.
    pub used: usize,
    /// Of the array.
    pub available: usize,
}

impl fmt::Display for Used {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.used as f64 / self.available.max(1) as f64;
        write!(formatter, "{} of {} ({percent:.1} %)", self.used, self.available)
    }
}

/// The figures of a program on an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name of the program.
    pub name: String,
    /// Name of the array.
    pub array: String,
    /// Tiles of processing elements.
    pub processing_elements: Used,
    /// Tiles of memories, for words and for the bits of boxes of loop indices.
    pub memories: Used,
    /// Of these, the tiles of which only the bit is used.
    pub predicates: usize,
    /// Of these, the tiles that are tables.
    pub tables: usize,
    /// IO tiles where words enter.
    pub inputs: Used,
    /// IO tiles where words leave.
    pub outputs: Used,
    /// Tracks of words, each from one tile to the next.
    pub word_tracks: Used,
    /// Tracks of bits.
    pub bit_tracks: Used,
    /// Registers of tracks on the way of words and bits.
    pub track_registers: usize,
    /// Registers of operands.
    pub operand_registers: usize,
    /// Writes of the bitstream.
    pub bitstream_words: usize,
    /// Cycles of a run in hardware of its own, by the schedule.
    pub schedule_cycles: u64,
    /// Cycles from the first word that enters to the last that leaves, on the array.
    pub cycles: u64,
    /// Words that were compared to prove the bitstream.
    pub proven_words: usize,
    /// The seed of the placement.
    pub seed: u64,
}

impl Report {
    /// The figures of a mapped program.
    pub fn of(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) -> Self {
        let (spec, graph, netlist) = (&target.spec, &target.graph, &mapped.lowered.netlist);
        let routing = &mapped.implementation.routing;
        let statistics = routing.statistics(netlist, graph);
        let tracks = |layer: Layer| {
            let is_track = |node: &pushmem_resources::NodeId| {
                let resource = graph.resource(*node);
                resource.layer == layer && matches!(resource.node, Node::Segment { .. })
            };
            graph.nodes().filter(is_track).count()
        };
        let tiles = |used: usize, kind: TileKind| Used { used, available: spec.count(kind) as usize };
        let cells = |core: Core| netlist.cells.iter().filter(|cell| cell.core == core).count();
        let is_predicate = |core: &Core| match core {
            Core::Memory(configuration) => {
                let addresses = |each: &ControllerConfiguration| !each.addresses().is_empty();
                configuration.contents.is_empty() && !configuration.controllers.values().any(addresses)
            }
            _ => false,
        };
        let is_table = |core: &Core| matches!(core, Core::Memory(configuration) if !configuration.contents.is_empty());
        let accelerator = &compiled.accelerator;
        // The last word leaves later than in the schedule by the lag of its cell.
        let last = mapped.lowered.output_lanes(accelerator).into_iter().map(|lane| {
            let counter = &accelerator.counters[lane.counter];
            counter.last() + routing.lags[lane.cell]
        });
        Report {
            name: netlist.name.clone(),
            array: spec.name.clone(),
            processing_elements: tiles(netlist.count(TileKind::Pe), TileKind::Pe),
            memories: tiles(netlist.count(TileKind::Memory), TileKind::Memory),
            predicates: netlist.cells.iter().filter(|cell| is_predicate(&cell.core)).count(),
            tables: netlist.cells.iter().filter(|cell| is_table(&cell.core)).count(),
            inputs: tiles(cells(Core::Input), TileKind::Io),
            outputs: tiles(cells(Core::Output), TileKind::Io),
            word_tracks: Used { used: statistics.word_wires, available: tracks(Layer::Word) },
            bit_tracks: Used { used: statistics.bit_wires, available: tracks(Layer::Bit) },
            track_registers: statistics.registers,
            operand_registers: statistics.delays,
            bitstream_words: mapped.bitstream.writes.len(),
            schedule_cycles: accelerator.length,
            cycles: last.max().unwrap_or(-1) as u64 + 1,
            proven_words: mapped.proof.words,
            seed: mapped.implementation.seed,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycles = format!("{}, {} by the schedule without routes", self.cycles, self.schedule_cycles);
        let proof = format!("{} words that leave are those of the program", self.proven_words);
        let mut memories = self.memories.to_string();
        for (count, what) in [(self.predicates, "for bits of loop indices"), (self.tables, "for tables")] {
            if count > 0 {
                memories += &format!(", {count} {what}");
            }
        }
        let lines: [(&str, String); 12] = [
            ("array", self.array.clone()),
            ("processing elements", self.processing_elements.to_string()),
            ("memory tiles", memories),
            ("IO tiles, words in", self.inputs.to_string()),
            ("IO tiles, words out", self.outputs.to_string()),
            ("tracks of words", self.word_tracks.to_string()),
            ("tracks of bits", self.bit_tracks.to_string()),
            ("registers", format!("{} of tracks, {} of operands", self.track_registers, self.operand_registers)),
            ("bitstream", format!("{} words", self.bitstream_words)),
            ("cycles", cycles),
            ("seed", self.seed.to_string()),
            ("proof", proof),
        ];
        lines.iter().try_for_each(|(name, value)| writeln!(formatter, "  {name:<22} {value}"))
    }
}
