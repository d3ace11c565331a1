//! The figures of a program on an array.

use std::collections::BTreeSet;
use std::fmt;

use itertools::Itertools;
use pushmem_arithmetic::certainty;
use pushmem_bitstream::{Netlist as Connections, ProcessingElement, TileConfiguration};
use pushmem_compiler::{Bottleneck, Compiled, InitiationInterval};
use pushmem_fabric::{ArraySpec, Direction, Layer, TileKind};
use pushmem_netlist::Core;
use pushmem_pe::Mode;
use pushmem_resources::{Node, NodeId};
use serde::Serialize;

use crate::bank_memory::bank_memories;
use crate::buffered::{BankImage, bank_images};
use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::StreamLane;

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
    /// Tiles of memories, for words, tables and bits of boxes of loop indices.
    pub memories: Used,
    /// Bits of boxes of loop indices.
    pub predicates: usize,
    /// Of the memory tiles, those of which only such a bit is used.
    pub predicate_tiles: usize,
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
    /// Registers of operands that are late.
    pub operand_registers: usize,
    /// Operands that hold a word, each in a register.
    pub held_operands: usize,
    /// Writes of the bitstream.
    pub bitstream_words: usize,
    /// The initiation interval of a raster scan with recurrences, with the routes of these; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initiation_interval: Option<InitiationInterval>,
    /// Cycles of a run in hardware of its own.
    pub dedicated_cycles: u64,
    /// Cycles of a run by the schedule, which may have cycles for the routes of loops, without the other routes.
    pub schedule_cycles: u64,
    /// Cycles from the start of a run to the first word that leaves, on the array.
    pub first_word: u64,
    /// Cycles from the start of a run to the last word that leaves, with that, on the array.
    pub cycles: u64,
    /// The bottleneck of the run. The next step counts the processing elements of hardware of its own.
    pub bottleneck: Option<Bottleneck>,
    /// The images in banks of the global buffer; left out without one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub banks: Vec<BankImage>,
    /// The arrays of the program in banks of their own; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrays_in_banks: Vec<BankArray>,
    /// Words that were compared to prove the bitstream.
    pub proven_words: usize,
    /// Cycles that the proof skipped, as they repeat an earlier period.
    pub repeated_cycles: u64,
    /// Operations whose cells are proven to compute their statements.
    pub proven_operations: usize,
    /// Operations whose cells were compared with their statements on samples.
    pub compared_operations: usize,
    /// The seed of the placement.
    pub seed: u64,
}

/// An array of a program that a bank of the global buffer keeps, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BankArray {
    /// Number of the bank.
    pub bank: u32,
    /// Name of the array.
    pub array: String,
}

/// The arrays of a program in banks.
fn bank_arrays(compiled: &Compiled, mapped: &Mapped, spec: &ArraySpec) -> Vec<BankArray> {
    let memories = bank_memories(compiled, &mapped.lowered).into_iter();
    let kept = mapped.lowered.netlist.banks.iter().zip(memories).filter_map(|(cells, memory)| {
        let bank = spec.global_buffer.as_ref()?.bank(mapped.place(cells.load).column, Direction::In)?;
        Some(BankArray { bank, array: compiled.program.arrays[memory.array].name.clone() })
    });
    kept.collect()
}

impl Report {
    /// The figures of a mapped program.
    pub fn of(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) -> Self {
        let (spec, graph, netlist) = (&target.spec, &target.graph, &mapped.lowered.netlist);
        let configuration = &mapped.configuration;
        let connections = Connections::of(configuration, graph);
        let nodes: BTreeSet<NodeId> = connections.ways(configuration, graph).into_iter().flatten().collect();
        let resources = || nodes.iter().map(|node| graph.resource(*node));
        let is_segment = |node: Node| matches!(node, Node::Segment { .. });
        let on_tracks = |layer: Layer| resources().filter(|of| of.layer == layer && is_segment(of.node)).count();
        let pes = configuration.tiles.iter().filter(|(place, _)| graph.kind(**place) == Some(TileKind::Pe));
        let modes = |(_, tile): (_, &TileConfiguration)| {
            let core = ProcessingElement::of(tile, spec, graph.layout(TileKind::Pe));
            core.modes().map(|(_, _, mode)| mode).collect_vec()
        };
        let modes = pes.flat_map(modes).collect_vec();
        let tracks = |layer: Layer| {
            let is_track = |node: &pushmem_resources::NodeId| {
                let resource = graph.resource(*node);
                resource.layer == layer && is_segment(resource.node)
            };
            graph.nodes().filter(is_track).count()
        };
        let tiles = |used: usize, kind: TileKind| Used { used, available: spec.count(kind) as usize };
        let cells = |core: Core| netlist.cells.iter().filter(|cell| cell.core == core).count();
        let predicates = netlist.cells.iter().filter(|cell| matches!(cell.core, Core::Predicate(_))).count();
        let is_table = |core: &Core| matches!(core, Core::Memory(configuration) if !configuration.contents.is_empty());
        let beats = |direction: Direction, lanes: Vec<StreamLane>| {
            let schedule = |lane: StreamLane| {
                let tile = configuration.tiles.get(&mapped.place(lane.cell))?;
                tile.stream(spec, graph.layout(TileKind::Io), direction)
            };
            lanes.into_iter().filter_map(schedule).collect_vec()
        };
        let leaving = beats(Direction::Out, mapped.lowered.output_lanes(&compiled.graph));
        let first = leaving.iter().map(|beats| beats.cycle.start).min();
        let last = leaving.iter().map(|beats| beats.last_firing() as i64).max();
        Report {
            name: netlist.name.clone(),
            array: spec.name.clone(),
            processing_elements: tiles(netlist.count(TileKind::Pe), TileKind::Pe),
            memories: tiles(netlist.count(TileKind::Memory), TileKind::Memory),
            predicates,
            predicate_tiles: predicates - netlist.shared_tiles(),
            tables: netlist.cells.iter().filter(|cell| is_table(&cell.core)).count(),
            inputs: tiles(cells(Core::Input), TileKind::Io),
            outputs: tiles(cells(Core::Output), TileKind::Io),
            word_tracks: Used { used: on_tracks(Layer::Word), available: tracks(Layer::Word) },
            bit_tracks: Used { used: on_tracks(Layer::Bit), available: tracks(Layer::Bit) },
            track_registers: resources().filter(|of| matches!(of.node, Node::Register { .. })).count(),
            operand_registers: modes.iter().filter(|mode| mode.delay() > 0).count(),
            held_operands: modes.iter().filter(|mode| **mode == Mode::Held).count(),
            bitstream_words: mapped.bitstream.writes.len(),
            initiation_interval: InitiationInterval::of(compiled),
            dedicated_cycles: mapped.dedicated_cycles,
            schedule_cycles: compiled.graph.length,
            first_word: first.unwrap_or(0) as u64,
            cycles: last.unwrap_or(-1) as u64 + 1,
            bottleneck: Bottleneck::of(compiled),
            banks: bank_images(compiled, mapped, spec),
            arrays_in_banks: bank_arrays(compiled, mapped, spec),
            proven_words: mapped.proof.words,
            repeated_cycles: mapped.proof.skipped,
            proven_operations: mapped.proof.proven,
            compared_operations: mapped.proof.operations - mapped.proof.proven,
            seed: mapped.implementation.seed,
        }
    }
}

impl Report {
    /// The figures as people read them, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let added = 100.0 * (self.cycles as f64 / self.dedicated_cycles.max(1) as f64 - 1.0);
        let mut cycles =
            format!("{}, {added:.1} % more than the {} of dedicated hardware", self.cycles, self.dedicated_cycles);
        if self.schedule_cycles != self.dedicated_cycles {
            let loops = self.schedule_cycles as i64 - self.dedicated_cycles as i64;
            cycles += &format!(", {loops} of them for routes of loops");
        }
        let proof = format!("{} words that leave are those of the program", self.proven_words);
        let mut memories = self.memories.to_string();
        for (count, what) in [(self.predicate_tiles, "for bits of loop indices"), (self.tables, "for tables")] {
            if count > 0 {
                memories += &format!(", {count} {what}");
            }
        }
        let mut registers = format!("{} of tracks, {} of operands", self.track_registers, self.operand_registers);
        if self.held_operands > 0 {
            registers += &format!(", {} that hold words", self.held_operands);
        }
        let mut lines = vec![
            ("array", self.array.clone()),
            ("processing elements", self.processing_elements.to_string()),
            ("memory tiles", memories),
            ("IO tiles, words in", self.inputs.to_string()),
            ("IO tiles, words out", self.outputs.to_string()),
            ("tracks of words", self.word_tracks.to_string()),
            ("tracks of bits", self.bit_tracks.to_string()),
            ("registers", registers),
            ("bitstream", format!("{} words", self.bitstream_words)),
            ("first word", format!("leaves in cycle {}", self.first_word)),
            ("cycles", cycles),
        ];
        lines.extend(self.bottleneck.iter().flat_map(Bottleneck::lines));
        let arithmetic = certainty(self.proven_operations, self.compared_operations);
        lines.extend([("seed", self.seed.to_string()), ("proof", proof), ("arithmetic", arithmetic)]);
        if !self.banks.is_empty() {
            let bank = |BankImage { bank, transfer, image, first_word, .. }: &BankImage| {
                let at = if *first_word > 0 { format!(" at word {first_word}") } else { String::new() };
                format!("bank {bank} {transfer}s `{image}`{at}")
            };
            let before_bitstream = lines.iter().position(|(name, _)| *name == "bitstream").unwrap_or(lines.len());
            let array = |BankArray { bank, array }: &BankArray| format!("bank {bank} keeps `{array}`");
            let text = self.banks.iter().map(bank).chain(self.arrays_in_banks.iter().map(array)).join(", ");
            lines.insert(before_bitstream, ("global buffer", text));
        }
        if let Some(interval) = &self.initiation_interval {
            let before_cycles = lines.iter().position(|(name, _)| *name == "cycles").unwrap_or(lines.len());
            lines.insert(before_cycles, ("initiation interval", interval.to_string()));
        }
        lines
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|(name, value)| writeln!(formatter, "  {name:<22} {value}"))
    }
}
