//! The passes in their order.

use std::collections::BTreeSet;

use pushmem_accelerator::{Accelerator, AssemblyError, Constraints, WORD_BITS, assemble, prove, prove_roms};
use pushmem_extraction::{Extraction, diagnose, extract};
use pushmem_files::Diagnostic;
use pushmem_kernels::{Datapath, TableMemories};
use pushmem_nest::{Operation, Program, Schedule as Policy};
use pushmem_replay::replay;
use pushmem_schedule::{Coarse, CoarseOptions, Options, Schedule, ScheduleError, coarse, stencil};
use pushmem_tile::{Kind, TileSpec, timing};

use crate::sharing;

/// A program through all stages.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its stages.
    pub extraction: Extraction,
    /// When they run.
    pub schedule: Schedule,
    /// How the schedule of a coarse pipeline came about.
    pub coarse: Option<CoarsePlan>,
    /// The datapath of each operation.
    pub datapaths: Vec<Datapath>,
    /// The hardware.
    pub accelerator: Accelerator,
    /// What it may be made of.
    pub constraints: Constraints,
    /// What was proven of it.
    pub proof: Proof,
}

/// A coarse schedule, and what it was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarsePlan {
    /// The schedule.
    pub coarse: Coarse,
    /// Ports of memories, arrays whose accesses take turns, and which optimizations there are.
    pub options: CoarseOptions,
}

/// What the last pass has shown: every value that an operation reads is the value that the program says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Memories replayed.
    pub memories: usize,
    /// Cycles of all tiles that were simulated for it.
    pub simulated_cycles: u64,
    /// Cycles of all tiles that it holds for: those between were skipped, because the state repeats.
    pub proven_cycles: u64,
}

/// Compiles a program for accelerators with memories of this tile, and with large tables in ROM tiles of `rom_spec`.
///
/// # Errors
/// A located message when the program cannot be streamed, scheduled or mapped, with what was tried; and when the proof
/// fails, which is a fault of the compiler.
pub fn compile(
    program: Program,
    spec: &TileSpec,
    rom_spec: &TileSpec,
    constraints: &Constraints,
) -> Result<Compiled, Diagnostic> {
    if spec.word_bits < WORD_BITS {
        return Err(Diagnostic::new(format!(
            "`{}` has words of {} bits, but elements need {WORD_BITS}",
            spec.name, spec.word_bits
        ))
        .with_help("choose a tile with words of at least 16 bits"));
    }
    if rom_spec.kind != Kind::Rom {
        return Err(Diagnostic::new(format!(
            "`{}` is a {} tile; tables need a rom",
            rom_spec.name,
            rom_spec.kind.name()
        ))
        .with_help("give a specification with `kind: rom`"));
    }
    let memories = TableMemories {
        logic_words: constraints.table_logic_words,
        latency: timing::sram_to_output(rom_spec.sram_latency),
    };
    let datapath = |operation: &Operation| Datapath::with_memories(&program, operation, memories);
    let datapaths: Vec<Datapath> = program.operations().iter().map(|(_, operation)| datapath(operation)).collect();
    sharing::check(&program, &datapaths)?;
    let extraction = extract(&program, |operation| datapaths[operation].latency())?;
    let passes =
        Passes { program: &program, extraction: &extraction, datapaths: &datapaths, spec, rom_spec, constraints };
    let planned = match program.policy() {
        Policy::Stencil => passes.stencil(),
        Policy::Dnn => passes.coarse(),
    };
    let Planned { schedule, coarse, accelerator } = planned.map_err(|error| match error {
        AssemblyError::Program(diagnostic) => *diagnostic,
        memory @ AssemblyError::Memory { .. } => Diagnostic::new(memory.to_string())
            .with_help("choose a tile with more rows, more words in its buffers, or chaining"),
        AssemblyError::Array { array, .. } => program
            .diagnostic(program.arrays[array].span, error.to_string())
            .with_help("choose a tile with more rows or ports, or divide the work into smaller tiles of the array"),
    })?;
    let mut compiled = Compiled {
        program,
        extraction,
        schedule,
        coarse,
        datapaths,
        accelerator,
        constraints: constraints.clone(),
        proof: Proof::default(),
    };
    compiled.proof = compiled.prove()?;
    Ok(compiled)
}

/// When the stages run, and on what hardware.
struct Planned {
    schedule: Schedule,
    coarse: Option<CoarsePlan>,
    accelerator: Accelerator,
}

/// What the passes behind extraction work on.
struct Passes<'a> {
    program: &'a Program,
    extraction: &'a Extraction,
    datapaths: &'a [Datapath],
    spec: &'a TileSpec,
    rom_spec: &'a TileSpec,
    constraints: &'a Constraints,
}

impl Passes<'_> {
    /// All stages fused into one raster scan.
    fn stencil(&self) -> Result<Planned, AssemblyError> {
        let with_rows = |row_multiple: u64| {
            let share = sharing::units(self.program, self.extraction);
            let schedule = stencil(&self.extraction.pipeline, &Options { row_multiple, share });
            self.assembled(schedule.map_err(|error| self.refused(&error))?, None)
        };
        // Rows as they are first; if a memory does not fit so, rows of whole fetches.
        match (with_rows(1), self.spec.kind) {
            (Err(AssemblyError::Memory { .. }), Kind::WideFetch { fetch_width, .. }) => {
                with_rows(u64::from(fetch_width))
            }
            (outcome, _) => outcome,
        }
    }

    /// A coarse pipeline of loop nests: with nests divided and paths balanced where that is faster; and as the program has
    /// the nests, if arrays then live too long for the tile.
    fn coarse(&self) -> Result<Planned, AssemblyError> {
        let share = sharing::units(self.program, self.extraction);
        let balance_paths = self.constraints.balance_paths;
        let best = CoarseOptions { share, balance_paths, ..coarse_options(self.spec) };
        let whole = CoarseOptions { distribute: false, ..best.clone() };
        let unbalanced = CoarseOptions { balance_paths: false, ..best.clone() };
        let planned = self.coarse_or_slower(&best);
        let planned = match self.has_versions(&best) {
            // Memories that cannot hold that many versions at once serve their accesses one after the other.
            true => faster(self.coarse_or_slower(&unbalanced), planned),
            false => planned,
        };
        planned.or_else(|_| self.coarse_or_slower(&whole))
    }

    /// Whether some array has more than two versions.
    fn has_versions(&self, options: &CoarseOptions) -> bool {
        let found = coarse(&self.extraction.pipeline, options);
        found.is_ok_and(|found| found.loops.iter().any(|level| !level.versions.is_empty()))
    }

    /// A coarse pipeline with stages that overlap those that they read from, if the memories of the tile can serve both at
    /// the same time; without; and with pauses between the rows of the arrays that did not fit.
    fn coarse_or_slower(&self, options: &CoarseOptions) -> Result<Planned, AssemblyError> {
        let mut options = options.clone();
        let mut refused = BTreeSet::new();
        let overlapping = CoarseOptions { overlap: true, ..options.clone() };
        let pipeline = &self.extraction.pipeline;
        let length = |options: &CoarseOptions| coarse(pipeline, options).map(|found| found.schedule.length(pipeline));
        // As a rule the first; but ports may be busy for longer where stages overlap.
        let shorter = matches!((length(&overlapping), length(&options)), (Ok(one), Ok(other)) if other < one);
        let [one, other] = if shorter { [options.clone(), overlapping] } else { [overlapping, options.clone()] };
        let first = self.coarse_with(one, &mut refused).or_else(|_| self.coarse_with(other, &mut refused));
        match (first, self.spec.kind) {
            (Err(AssemblyError::Array { .. }), Kind::WideFetch { .. }) => {
                options.whole_rows = std::mem::take(&mut refused);
                self.coarse_with(options, &mut refused)
            }
            (outcome, _) => outcome,
        }
    }

    /// A coarse pipeline; the arrays whose accesses had to come one after the other, or did not fit at all, are noted.
    fn coarse_with(&self, mut options: CoarseOptions, refused: &mut BTreeSet<usize>) -> Result<Planned, AssemblyError> {
        loop {
            let coarse = coarse(&self.extraction.pipeline, &options).map_err(|error| self.refused(&error))?;
            let plan = CoarsePlan { coarse, options: options.clone() };
            match self.assembled(plan.coarse.schedule.clone(), Some(plan)) {
                // Accesses that the memory cannot serve at the same time come one after the other.
                Err(AssemblyError::Array { array, .. }) if options.serialized.insert(array) => {
                    _ = refused.insert(array)
                }
                outcome => return outcome,
            }
        }
    }

    fn refused(&self, error: &ScheduleError) -> AssemblyError {
        AssemblyError::Program(Box::new(diagnose(self.program, self.extraction, error)))
    }

    fn assembled(&self, schedule: Schedule, coarse: Option<CoarsePlan>) -> Result<Planned, AssemblyError> {
        let Passes { program, extraction, datapaths, spec, rom_spec, constraints } = *self;
        let accelerator = assemble(program, extraction, &schedule, datapaths, spec, rom_spec, constraints)?;
        Ok(Planned { schedule, coarse, accelerator })
    }
}

/// The one with fewer cycles, of those that there are; the first if both have as many.
fn faster(
    one: Result<Planned, AssemblyError>,
    other: Result<Planned, AssemblyError>,
) -> Result<Planned, AssemblyError> {
    match (one, other) {
        (Ok(one), Ok(other)) if other.accelerator.length < one.accelerator.length => Ok(other),
        (one, other) => one.or(other),
    }
}

/// What the memory tiles can do, as the scheduler of coarse pipelines asks.
fn coarse_options(spec: &TileSpec) -> CoarseOptions {
    let (inputs, outputs) = (spec.inputs as usize, spec.outputs as usize);
    match spec.kind {
        // Every input and every output has a buffer of its own.
        Kind::WideFetch { fetch_width, .. } => CoarseOptions {
            write_ports: inputs,
            read_ports: outputs,
            round_trip: timing::wide_fetch_round_trip(fetch_width, spec.sram_latency),
            row_multiple: u64::from(fetch_width),
            ..CoarseOptions::default()
        },
        kind => CoarseOptions {
            write_ports: inputs.min(kind.memory_ports() as usize),
            read_ports: outputs.min(kind.memory_ports() as usize),
            round_trip: timing::SRAM_WRITE + timing::sram_to_output(spec.sram_latency),
            ..CoarseOptions::default()
        },
    }
}

impl Compiled {
    /// Proves the accelerator, as every compile does: what is printed of it computes what the program says.
    ///
    /// # Errors
    /// When something is wrong with it.
    pub fn prove(&self) -> Result<Proof, Diagnostic> {
        let fault = |error: String| {
            Diagnostic::new(format!("the compiled accelerator is wrong: {error}"))
                .with_help("this is a fault of pushmem, caught before it could do harm; please report the program")
        };
        prove(&self.program, &self.extraction, &self.schedule, &self.datapaths, &self.accelerator)
            .map_err(|error| fault(error.to_string()))?;
        prove_roms(&self.program, &self.extraction, &self.schedule, &self.accelerator)
            .map_err(|error| fault(error.to_string()))?;
        let mut proof = Proof::default();
        for memory in &self.accelerator.memories {
            let report = replay(&memory.buffer, &memory.mapped, &self.accelerator.spec).map_err(|error| {
                let wires = memory.streams.iter().map(|stream| self.accelerator.wires[stream.of].name.as_str());
                fault(format!("{}: {error}", wires.collect::<Vec<_>>().join(", ")))
            })?;
            proof.memories += 1;
            proof.simulated_cycles += report.cycles_simulated;
            proof.proven_cycles += report.cycles_total;
        }
        for array in &self.accelerator.arrays {
            let report = replay(&array.buffer, &array.mapped, &self.accelerator.spec)
                .map_err(|error| fault(format!("{}: {error}", array.buffer.name)))?;
            proof.memories += 1;
            proof.simulated_cycles += report.cycles_simulated;
            proof.proven_cycles += report.cycles_total;
        }
        Ok(proof)
    }
}
