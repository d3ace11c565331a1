//! The target of a compile: arguments of `build` and `synth`.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_assembly::{Constraints, Delivery};
use pushmem_blocking::Capacity;
use pushmem_compiler::{CompileError, Compiled, Trial, plan};
use pushmem_fabric::ArraySpec;
use pushmem_files::Diagnostic;
use pushmem_graph::{Memories, Target};
use pushmem_halide::Loops;
use pushmem_mapper::{
    ArrayTarget, Edited, Mapped, Refused, SideBySide, compile_for, compile_side_by_side, compile_unplaced,
    cycles_unplaced,
};
use pushmem_nest::Program;
use pushmem_realization::{Dedicated, build, planned};
use pushmem_routing::{Options, Progress};
use pushmem_tile::TileSpec;

use crate::application::arrays;
use crate::application::program::Reading;
use crate::application::tiles::{self, Named};
use crate::output;

/// The loops of a file with whole arrays that are tried beside those of its schedule.
const WITH_WHOLE_ARRAYS: [Loops; 3] = [Loops::Kept, Loops::LookedUp, Loops::Gathered];

/// With so many scheduled operations, tiles are no longer tried in place of one that does not do.
const MOST_SCHEDULED: usize = 200;

/// The most registers of a stall: each is one more beat of room in each stream.
const MOST_STALL_LATENCY: i64 = 16;

/// How memories are made.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum MadeOf {
    /// Of tiles, whose controllers are configured before a run.
    #[default]
    Tiles,
    /// For the program: each as large as its words need, with controllers of constants.
    Fixed,
}

#[derive(Args, Clone)]
pub struct Choices {
    /// How memories are made.
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    memories: MadeOf,
    /// Tile that memories are made of: a specification, or the name of one in `constraints/tiles`. Without, the tile that
    /// `amber` is.
    #[arg(long, value_name = "SPEC")]
    tile: Option<PathBuf>,
    /// Tile that large tables are in, likewise. Without, the tile that `rom` is.
    #[arg(long, value_name = "SPEC")]
    rom_tile: Option<PathBuf>,
    /// Bank of the global buffer, likewise. Without, the tile that `global_buffer` is.
    #[arg(long, value_name = "SPEC")]
    global_buffer: Option<PathBuf>,
    /// Register file, likewise. Without, the tile that `pond` is.
    #[arg(long, value_name = "SPEC")]
    register_file: Option<PathBuf>,
    /// Delays of fewer cycles become registers, longer ones memories.
    #[arg(long, value_name = "CYCLES", default_value_t = Constraints::default().shift_register_threshold)]
    shift_register_threshold: u64,
    /// Tables of so many entries stay in the logic of kernels, larger ones go to ROM tiles.
    #[arg(long, value_name = "ENTRIES", default_value_t = Constraints::default().table_logic_words)]
    table_logic_words: usize,
    /// Registers between the handshakes of the streams and the stall of the hardware: for accelerators so large that a stall
    /// does not reach all of them within a cycle. Streams get room for the beats between.
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=MOST_STALL_LATENCY))]
    stall_latency: u32,
    /// Arrays of coarse pipelines have two versions at most, though loops wait for it: paths are not balanced.
    #[arg(long)]
    unbalanced: bool,
    /// Lanes of coarse pipelines load the words that they keep at once, each from a bank of its own, and not one after the other.
    #[arg(long)]
    parallel_loads: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// The chosen files, read.
pub struct Chosen {
    target: Target,
    constraints: Constraints,
    reading: Reading,
}

impl Choices {
    /// The first option that was given another value than it has without.
    pub fn given(&self) -> Option<&'static str> {
        let default = Constraints::default();
        let options = [
            ("--memories", self.memories != MadeOf::default()),
            ("--tile", self.tile.is_some()),
            ("--rom-tile", self.rom_tile.is_some()),
            ("--global-buffer", self.global_buffer.is_some()),
            ("--register-file", self.register_file.is_some()),
            ("--shift-register-threshold", self.shift_register_threshold != default.shift_register_threshold),
            ("--table-logic-words", self.table_logic_words != default.table_logic_words),
            ("--stall-latency", self.stall_latency != default.stall_latency),
            ("--unbalanced", self.unbalanced),
            ("--parallel-loads", self.parallel_loads),
            ("--narrow-floats", self.reading.narrow_floats.is_some()),
        ];
        options.into_iter().chain(self.reading.network.given()).find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The target whose memories are made for the program.
    ///
    /// # Errors
    /// When a tile is named.
    fn fixed(&self) -> Result<Target, Diagnostic> {
        let named = [
            ("--tile", &self.tile),
            ("--rom-tile", &self.rom_tile),
            ("--global-buffer", &self.global_buffer),
            ("--register-file", &self.register_file),
        ];
        match named.into_iter().find(|(_, named)| named.is_some()) {
            None => tiles::fixed(),
            Some((option, _)) => {
                let message = format!("`{option}` names a tile, but `--memories fixed` has none");
                Err(Diagnostic::new(message).with_help("leave out one of the two"))
            }
        }
    }

    /// Reads the specifications.
    ///
    /// # Errors
    /// As [`tiles::read`].
    pub fn read(&self) -> Result<Chosen, Diagnostic> {
        let named = Named {
            rom: self.rom_tile.as_deref(),
            global_buffer: self.global_buffer.as_deref(),
            register_file: self.register_file.as_deref(),
        };
        let target = match self.memories {
            MadeOf::Fixed => self.fixed()?,
            MadeOf::Tiles => tiles::target(&tiles::read(self.tile.as_deref())?, named)?,
        };
        Ok(Chosen {
            target,
            constraints: Constraints {
                shift_register_threshold: self.shift_register_threshold.max(1),
                table_logic_words: self.table_logic_words,
                stall_latency: self.stall_latency,
                balance_paths: !self.unbalanced,
                serial_loads: !self.parallel_loads,
            },
            reading: self.reading,
        })
    }
}

impl Chosen {
    /// The tiles that there may be instances of.
    pub fn specs(&self) -> Vec<&TileSpec> {
        self.target.kinds.iter().map(|kind| &kind.spec).collect_vec()
    }

    /// So many memory tiles, or as many as the specification has.
    pub fn capacity(&self, tiles: Option<u64>) -> Capacity {
        let memory = self.target.memory();
        let words = memory.words();
        let least = tiles.into_iter().chain(memory.count.map(u64::from)).min();
        Capacity { tiles: least.unwrap_or(u64::from(u32::MAX)), words }
    }

    /// Compiles a program for them. With `--verbose`, each schedule that is tried is a line as soon as it is known whether the
    /// memories serve it.
    fn observed(&self, program: Program) -> Result<Dedicated, CompileError> {
        let observe = |trial: &Trial| output::note(&trial.to_string());
        build(program, &self.target, &self.constraints, &observe)
    }

    /// Compiles one of several programs that are tried, of which nothing is said.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn compile_quietly(&self, program: Program) -> Result<Dedicated, Diagnostic> {
        build(program, &self.target, &self.constraints, &|_| {}).map_err(Diagnostic::from)
    }

    /// An error of the compiler for a program, the first of these, with the tile that could serve one of them.
    fn explained(&self, programs: &[Program], error: CompileError) -> Diagnostic {
        let is_unmapped = matches!(error, CompileError::Unmapped { .. });
        let refused = Diagnostic::from(error);
        let takes_tiles = self.target.memories == Memories::Tiles;
        match (is_unmapped && takes_tiles).then(|| self.suitable(programs)).flatten() {
            Some(name) => {
                let help = refused.help().unwrap_or_default().to_owned();
                refused.with_help(format!("`--tile {name}` can; else {help}"))
            }
            None => refused,
        }
    }

    /// Compiles the program of a file. A schedule of Halide says which hardware there is, and never whether there is any: where the
    /// memories cannot serve its loops, others are tried, and a warning says so. It does not say whether whole arrays are between its
    /// stages, nor whether elements are copied or looked up there: all are tried, and the cheapest is taken.
    ///
    /// # Errors
    /// Those of the compiler for the loops of the schedule.
    pub fn compile_file(&self, program: Program, file: &Path) -> Result<Dedicated, Diagnostic> {
        let (refused, (found, program)) = match self.observed(program.clone()) {
            Ok(found) => (None, (found, program)),
            Err(CompileError::Fault(fault)) => return Err(CompileError::Fault(fault).into()),
            Err(refused) => {
                let others = self.other_programs(file);
                let found = others.iter().find_map(|(loops, of)| Some((*loops, self.observed(of.clone()).ok()?, of)));
                let Some((loops, found, of)) = found else {
                    let programs = std::iter::once(program).chain(others.into_iter().map(|(_, program)| program));
                    return Err(self.explained(&programs.collect_vec(), refused));
                };
                (Some((refused.to_string(), loops)), (found, of.clone()))
            }
        };
        let mut cheapest: Option<(Loops, Compiled)> = None;
        for (loops, other) in self.with_whole_arrays(&program, &found, file, &WITH_WHOLE_ARRAYS) {
            let Ok(other) = planned(other, &self.target, &self.constraints, &|_| {}) else { continue };
            let least = cheapest.as_ref().map_or(&*found, |(_, compiled)| compiled);
            if other.is_cheaper(least) && !other.is_wider(&found) {
                cheapest = Some((loops, other));
            }
        }
        let other = cheapest.as_ref().map(|(loops, _)| *loops).or(refused.as_ref().map(|(_, first)| *first));
        if let Some(loops) = other {
            self.check_import(file, loops)?;
        }
        if let (Some(loops), Some((refused, _))) = (other, refused) {
            warn_of_loops(&program.name, loops, &refused);
        }
        let Some((_, cheapest)) = cheapest else { return Ok(found) };
        cheapest.trials.iter().for_each(|trial| output::note(&trial.to_string()));
        Ok(Dedicated::of(cheapest)?)
    }

    /// The programs of a file with whole arrays between its stages, of these kinds, that may be cheaper than the one that was `found`. Of
    /// the one that is taken, the import is still to be [checked](Self::check_import).
    fn with_whole_arrays(
        &self,
        program: &Program,
        found: &Compiled,
        file: &Path,
        kinds: &[Loops],
    ) -> Vec<(Loops, Program)> {
        let mut programs: Vec<(Loops, Program)> = Vec::new();
        // A schedule of whole arrays is the first kind already.
        let is_other = |loops: &Loops| !found.is_least() && (*loops != Loops::Kept || program.schedule.is_none());
        for &loops in kinds.iter().filter(|loops| is_other(loops)) {
            if let Some(Ok(other)) = pushmem_halide::candidate(file, loops, self.reading.floats())
                && other != *program
                && !programs.iter().any(|(_, known)| *known == other)
            {
                programs.push((loops, other));
            }
        }
        programs
    }

    /// Checks that the program of a file with these loops computes what the file says.
    ///
    /// # Errors
    /// A fault of the import.
    fn check_import(&self, file: &Path, loops: Loops) -> Result<(), Diagnostic> {
        pushmem_halide::read_with_loops(file, loops, self.reading.floats()).transpose().map(|_| ())
    }

    /// The programs of a file with other loops than those of its schedule. None for files that have no others. Of the one that is taken, the
    /// import is still to be [checked](Self::check_import).
    fn other_programs(&self, file: &Path) -> Vec<(Loops, Program)> {
        let others = Loops::ALL.into_iter().skip(1);
        let read = |loops| Some((loops, pushmem_halide::candidate(file, loops, self.reading.floats())?.ok()?));
        others.filter_map(read).collect()
    }

    /// Compiles a program for an array.
    ///
    /// # Errors
    /// As [`compile_for`].
    pub fn compile_for(
        &self,
        program: &Program,
        array: &ArrayTarget,
        edited: &Edited,
        options: Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Compiled, Mapped), Refused> {
        compile_for(program, array, &self.target, &self.constraints_on_arrays(), edited, options, progress)
    }

    /// Compiles the program of a file for an array, with other loops as [`compile_file`](Self::compile_file) where its memory tiles
    /// cannot serve those of a schedule.
    ///
    /// # Errors
    /// As [`compile_for`], for the loops of the schedule.
    pub fn compile_file_for(
        &self,
        (program, file): (&Program, &Path),
        array: &ArrayTarget,
        edited: &Edited,
        options: Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Compiled, Mapped), Diagnostic> {
        let compiled = |program: &Program| self.compile_for(program, array, edited, options, progress);
        let refused = match compiled(program) {
            Ok(found) if edited.is_empty() => {
                let kept = self.with_whole_arrays(program, &found.0, file, &[Loops::Kept]).pop();
                let is_shorter = |kept: &Compiled| kept.graph.length < found.0.graph.length;
                let kept = kept.filter(|(_, kept)| self.compile_unplaced(kept, array).is_ok_and(|of| is_shorter(&of)));
                let Some(((loops, _), kept)) = kept.and_then(|kept| Some((kept.clone(), compiled(&kept.1).ok()?)))
                else {
                    return Ok(found);
                };
                if !is_shorter(&kept.0) {
                    return Ok(found);
                }
                self.check_import(file, loops)?;
                return Ok(kept);
            }
            // Edited stages are those of the schedule.
            Err(refused) if edited.is_empty() => refused,
            done => return Ok(done?),
        };
        let others = self.other_programs(file);
        // A program that is too large has no other loops that are smaller.
        if others.is_empty() || refused.cycles.is_some() {
            return Err(self.with_longer_array(refused, program, array));
        }
        let other = others.iter().find_map(|(loops, other)| Some((loops, compiled(other).ok()?)));
        let Some((loops, found)) = other else { return Err(self.with_longer_array(refused, program, array)) };
        self.check_import(file, *loops)?;
        warn_of_loops(&program.name, *loops, refused.diagnostic.message());
        Ok(found)
    }

    /// The refusal of a program by an array, with the first shipped array of such tiles that counts the cycles of its schedule, where
    /// these are more than the refusing one counts.
    fn with_longer_array(&self, refused: Refused, program: &Program, array: &ArrayTarget) -> Diagnostic {
        let bits = |spec: &ArraySpec| spec.io.controller.cycle_bits;
        let Refused { diagnostic: refused, cycles } = refused;
        if cycles.is_some_and(|cycles| cycles >> bits(&array.spec) == 0) {
            return refused;
        }
        let is_alike = |spec: &ArraySpec| {
            spec.pe == array.spec.pe && spec.global_buffer.is_some() == array.spec.global_buffer.is_some()
        };
        let longer = arrays::shipped_specs().filter(|spec| is_alike(spec) && bits(spec) > bits(&array.spec));
        let counts = |longer: &ArraySpec| {
            let longer = ArrayTarget::new(longer.clone());
            let cycles = cycles_unplaced(program, &longer, &self.target, &self.constraints_on_arrays());
            cycles.is_some_and(|cycles| cycles >> bits(&array.spec) > 0 && cycles >> bits(&longer.spec) == 0)
        };
        match { longer }.find(counts) {
            Some(ArraySpec { name, .. }) => {
                let help = refused.help().unwrap_or_default().to_owned();
                refused.with_help(format!("`--array {name}` counts so many cycles; else {help}"))
            }
            None => refused,
        }
    }

    /// Compiles a program for an array that it may not fit.
    ///
    /// # Errors
    /// As [`compile_unplaced`].
    pub fn compile_unplaced(&self, program: &Program, array: &ArrayTarget) -> Result<Compiled, Diagnostic> {
        compile_unplaced(program, array, &self.target, &self.constraints_on_arrays())
    }

    /// Compiles programs for columns of an array.
    ///
    /// # Errors
    /// As [`compile_side_by_side`].
    pub fn compile_side_by_side(
        &self,
        programs: &[Program],
        array: &ArrayTarget,
        options: Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<SideBySide, Diagnostic> {
        compile_side_by_side(programs, array, &self.target, &self.constraints_on_arrays(), options, progress)
    }

    /// The constraints of programs on arrays: look-ups are of the array's memories, whatever the size of a table.
    fn constraints_on_arrays(&self) -> Constraints {
        Constraints { table_logic_words: usize::MAX, ..self.constraints.clone() }
    }

    /// The first tile of the project that serves the schedules of one of some programs: of those that differ from the chosen one in nothing
    /// but what their controllers count to, their memory and their buffers, then of the others with such words. The search is over when it has
    /// scheduled [`MOST_SCHEDULED`] operations, so that the refusal does not wait for one that is longer than most compiles.
    fn suitable(&self, programs: &[Program]) -> Option<String> {
        let chosen = self.target.memory();
        let can_replace = |spec: &TileSpec| {
            spec.name != chosen.name && spec.reset == chosen.reset && spec.word_bits == chosen.word_bits
        };
        let specs = tiles::memories().into_iter().filter(can_replace).sorted_by_key(|spec| spec.kind != chosen.kind);
        let mut scheduled = 0;
        for (spec, program) in specs.cartesian_product(programs) {
            if scheduled >= MOST_SCHEDULED {
                break;
            }
            let target = self.target.clone().with_memory(spec.clone());
            // One that is refused before any schedule is work, too.
            let schedules = Cell::new(1);
            let observe = |_: &Trial| schedules.set(schedules.get() + 1);
            if plan(program.clone(), &target, &self.constraints, Delivery::default(), &observe).is_ok() {
                return Some(spec.name);
            }
            scheduled += schedules.get() * program.operations().len();
        }
        None
    }
}

/// Warns that a program has these loops, where those of its schedule were refused.
fn warn_of_loops(name: &str, loops: Loops, refused: &str) {
    output::report(
        Diagnostic::new(format!("`{name}` has other loops than its schedule: {}", loops.said()))
            .with_help(format!("with those of the schedule, {refused}"))
            .as_warning(),
    );
}
