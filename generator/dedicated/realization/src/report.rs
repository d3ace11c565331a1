//! Report of a compile.

use std::fmt;

use pushmem_arithmetic::certainty;
use pushmem_assembly::Constraints;
use pushmem_compiler::{Bottleneck, InitiationInterval, OccupancyComparison};
use pushmem_files::counted;
use pushmem_graph::{Memories, Stream};
use pushmem_nest::Level;
use serde::Serialize;

use crate::dedicated::Dedicated;

/// The figures of a compiled program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The program.
    pub name: String,
    /// The tile.
    pub tile: String,
    /// Constraints that it was compiled with.
    pub constraints: Constraints,
    /// Cycles of a run, to the last output; the first input comes in its first cycle, or later where nests come before it.
    pub cycles: u64,
    /// The same when one stage runs after the other, with the same memories.
    pub sequential_cycles: u64,
    /// The initiation interval of a raster scan with recurrences; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initiation_interval: Option<InitiationInterval>,
    /// The bottleneck of the run.
    pub bottleneck: Option<Bottleneck>,
    /// Whether the accelerator runs that way, because a pipeline would wait for the memories longer.
    pub in_sequence: bool,
    /// Words that are live in memories at most.
    pub sram_words: u64,
    /// Words that memories made for the program have room for; left out if memories are tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_words: Option<u64>,
    /// Memories of delays that are made for the program; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_lines: usize,
    /// Words of all arrays between stages, which the sequential schedule keeps.
    pub sequential_words: u64,
    /// Memory tiles, or memories that are made for arrays of the program.
    pub memory_tiles: usize,
    /// The bank of the global buffer, if it is used.
    pub global_buffer: Option<String>,
    /// Banks of the global buffer.
    pub global_buffer_banks: usize,
    /// The register file, if such are used.
    pub register_file: Option<String>,
    /// Register files.
    pub register_files: usize,
    /// The tile that large tables are in.
    pub rom_tile: String,
    /// ROM tiles.
    pub rom_tiles: usize,
    /// Words in shift registers.
    pub shift_register_words: u64,
    /// Hold registers, each of a word; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub hold_registers: usize,
    /// Random-access memories; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub random_access_memories: usize,
    /// Their words: of each memory as often as it has read ports; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub random_access_words: usize,
    /// Operations of the datapaths, in processing elements.
    pub processing_elements: u64,
    /// Multipliers of the datapaths.
    pub multipliers: u64,
    /// How much of the time they are busy, in a coarse pipeline.
    pub occupancy: Option<OccupancyComparison>,
    /// Instances of kernels: one that operations share counts once.
    pub kernels: usize,
    /// Words that one of two is chosen for in front of kernels that operations share.
    pub multiplexed_words: usize,
    /// Words a cycle that all inputs take together at most.
    pub input_words: usize,
    /// Words a cycle that all outputs give together at most.
    pub output_words: usize,
    /// Bits of the pipeline registers in the datapaths.
    pub pipeline_register_bits: u64,
    /// Memory tile cycles that the proof covers.
    pub proven_cycles: u64,
    /// Memory tile cycles that were simulated for it.
    pub simulated_cycles: u64,
    /// Operations that are proven to compute their statements.
    pub proven_operations: usize,
    /// Operations that were compared with their statements on samples; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared_operations: usize,
}

/// For fields that are left out of the JSON where they are 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Report {
    /// The figures of a compiled program.
    pub fn of(compiled: &Dedicated) -> Self {
        let accelerator = &compiled.accelerator;
        let pipeline = &compiled.extraction.pipeline;
        let is_written = |array: usize| pipeline.stages.iter().any(|stage| stage.write.array == array);
        let is_read =
            |array: usize| pipeline.stages.iter().flat_map(|stage| &stage.reads).any(|read| read.array == array);
        let kept = (0..pipeline.arrays.len()).filter(|&array| is_written(array) && is_read(array));
        let lanes = |streams: &[Stream]| streams.iter().map(|stream| stream.lanes.len()).sum();
        let name_of = |level: Level| (accelerator.count_at(level) > 0).then(|| accelerator.spec_at(level).name.clone());
        Report {
            name: compiled.program.name.clone(),
            tile: accelerator.target.memory().name.clone(),
            constraints: compiled.constraints.clone(),
            cycles: accelerator.length,
            sequential_cycles: compiled.sequential_cycles(),
            initiation_interval: InitiationInterval::of(compiled),
            bottleneck: Bottleneck::of(compiled),
            in_sequence: compiled.coarse.as_ref().is_some_and(|plan| plan.coarse.is_none()),
            sram_words: accelerator.memory_words(),
            made_words: (accelerator.target.memories == Memories::Fixed).then(|| accelerator.made_words()),
            delay_lines: accelerator.delay_lines.len(),
            sequential_words: kept.map(|array| compiled.program.arrays[array].size() as u64).sum(),
            memory_tiles: accelerator.count_at(Level::Memory),
            global_buffer: name_of(Level::GlobalBuffer),
            global_buffer_banks: accelerator.count_at(Level::GlobalBuffer),
            register_file: name_of(Level::RegisterFile),
            register_files: accelerator.count_at(Level::RegisterFile),
            rom_tile: accelerator.target.rom().name.clone(),
            rom_tiles: accelerator.roms.len(),
            shift_register_words: accelerator.shift_register_words(),
            hold_registers: accelerator.hold_registers(),
            random_access_memories: accelerator.rams.len(),
            random_access_words: accelerator.rams.iter().map(|ram| ram.words as usize * ram.ports()).sum(),
            processing_elements: accelerator.instances().map(|datapath| datapath.processing_elements()).sum(),
            multipliers: accelerator.instances().map(|datapath| datapath.multipliers()).sum(),
            occupancy: compiled.coarse.as_ref().and_then(|plan| OccupancyComparison::of(compiled, plan)),
            kernels: accelerator.instances().count(),
            multiplexed_words: accelerator.multiplexed_words(),
            input_words: lanes(accelerator.inputs.as_raw_slice()),
            output_words: lanes(&accelerator.outputs),
            pipeline_register_bits: accelerator.instances().map(|datapath| datapath.registers()).sum(),
            proven_cycles: compiled.proof.proven_cycles,
            simulated_cycles: compiled.proof.simulated_cycles,
            proven_operations: compiled.proof.arithmetic.proven(),
            compared_operations: compiled.proof.arithmetic.compared,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(formatter, "  {name:<22} {value}");
        line(
            "cycles",
            match self.in_sequence {
                true => format!("{}, one stage after the other: a pipeline would take longer", self.cycles),
                false => format!("{} ({} one stage after the other)", self.cycles, self.sequential_cycles),
            },
        )?;
        if let Some(interval) = &self.initiation_interval {
            line("initiation interval", interval.to_string())?;
        }
        for (name, value) in self.bottleneck.iter().flat_map(Bottleneck::lines) {
            line(name, value)?;
        }
        let others = [
            (self.global_buffer_banks, self.global_buffer.as_ref()),
            (self.register_files, self.register_file.as_ref()),
            (self.rom_tiles, Some(&self.rom_tile)),
        ];
        let used = others.into_iter().filter(|(count, _)| *count > 0);
        let others: String = used.filter_map(|(count, name)| Some(format!(", {count} of `{}`", name?))).collect();
        match self.made_words {
            None => {
                line("memory tiles", format!("{} of `{}`{others}", self.memory_tiles, self.tile))?;
                line(
                    "SRAM words",
                    format!("{} ({} one stage after the other)", self.sram_words, self.sequential_words),
                )?;
            }
            Some(words) => {
                let tables = counted(self.rom_tiles, "table");
                let tables = if self.rom_tiles == 0 { String::new() } else { format!(", {tables}") };
                let lines = counted(self.delay_lines, "delay line");
                line("memories", format!("{}, {lines}{tables}", counted(self.memory_tiles, "bank")))?;
                let live = format!("{words} for {} that are live", self.sram_words);
                line("words of memories", format!("{live} ({} one stage after the other)", self.sequential_words))?;
            }
        }
        line("shift-register words", self.shift_register_words.to_string())?;
        if self.hold_registers > 0 {
            line("hold registers", self.hold_registers.to_string())?;
        }
        if self.random_access_memories > 0 {
            let memories = match self.random_access_memories {
                1 => "1 memory".to_owned(),
                several => format!("{several} memories"),
            };
            line("random-access words", format!("{} in {memories}", self.random_access_words))?;
        }
        let multiplexed = match self.multiplexed_words {
            0 => String::new(),
            words => format!(", {} multiplexed", counted(words, "word")),
        };
        line(
            "kernels",
            format!("{} with {}{multiplexed}", self.kernels, counted(self.processing_elements, "processing element")),
        )?;
        if let Some(OccupancyComparison { sequential, double_buffered, loop_optimized, limit }) = &self.occupancy {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let of = match self.multipliers {
                0 => counted(self.processing_elements, "processing element"),
                count => counted(count, "multiplier"),
            };
            let buffered =
                double_buffered.map_or(String::new(), |share| format!(", {} double-buffered", percent(share)));
            let [own, sequential, limit] = [*loop_optimized, *sequential, *limit].map(percent);
            line("compute occupancy", format!("{own} of {of} ({sequential} in sequence{buffered})"))?;
            if let Some(Bottleneck { name, .. }) = &self.bottleneck {
                line("occupancy limit", format!("{limit}, as `{name}` has no more copies"))?;
            }
        }
        line("words a cycle", format!("{} in, {} out", self.input_words, self.output_words))?;
        let proof = match self.proven_cycles {
            0 => "all that operations read; no tile to simulate".to_owned(),
            cycles => format!("{}, {} of them simulated", counted(cycles, "tile cycle"), self.simulated_cycles),
        };
        line("proof", proof)?;
        line("arithmetic", certainty(self.proven_operations, self.compared_operations))
    }
}
