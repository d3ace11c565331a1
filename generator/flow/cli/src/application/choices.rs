//! The target of a compile: arguments of `build` and `synth`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use itertools::Itertools;
use pushmem_assembly::Constraints;
use pushmem_compiler::{CompileError, Compiled, Trial, compile, compile_observed};
use pushmem_files::Diagnostic;
use pushmem_mapper::{Edited, Mapped, Target, compile_for};
use pushmem_nest::Program;
use pushmem_routing::{Options, Progress};
use pushmem_tile::TileSpec;

use crate::application::tiles;
use crate::output;

/// For so long tiles are tried in place of one that does not do.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Args)]
pub struct Choices {
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
    /// Arrays of coarse pipelines have two versions at most, though loops wait for it: paths are not balanced.
    #[arg(long)]
    unbalanced: bool,
}

/// The chosen files, read.
pub struct Chosen {
    spec: TileSpec,
    rom_spec: TileSpec,
    constraints: Constraints,
}

impl Choices {
    /// The first option that was given another value than it has without.
    pub fn given(&self) -> Option<&'static str> {
        let default = Constraints::default();
        let options = [
            ("--tile", self.tile.is_some()),
            ("--rom-tile", self.rom_tile.is_some()),
            ("--global-buffer", self.global_buffer.is_some()),
            ("--register-file", self.register_file.is_some()),
            ("--shift-register-threshold", self.shift_register_threshold != default.shift_register_threshold),
            ("--table-logic-words", self.table_logic_words != default.table_logic_words),
            ("--unbalanced", self.unbalanced),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Reads the specifications.
    ///
    /// # Errors
    /// As [`tiles::read`].
    pub fn read(&self) -> Result<Chosen, Diagnostic> {
        let spec = tiles::read(self.tile.as_deref())?;
        Ok(Chosen {
            rom_spec: tiles::read_rom(self.rom_tile.as_deref(), &spec)?,
            constraints: Constraints {
                shift_register_threshold: self.shift_register_threshold.max(1),
                table_logic_words: self.table_logic_words,
                balance_paths: !self.unbalanced,
                levels: tiles::read_levels(self.global_buffer.as_deref(), self.register_file.as_deref(), &spec)?,
                ..Constraints::default()
            },
            spec,
        })
    }
}

impl Chosen {
    /// The tiles that there may be instances of.
    pub fn specs(&self) -> Vec<&TileSpec> {
        let levels = [&self.constraints.levels.global_buffer, &self.constraints.levels.register_file];
        [&self.spec, &self.rom_spec].into_iter().chain(levels.into_iter().flatten()).collect_vec()
    }

    /// Compiles a program for them. With `--verbose`, each schedule that is tried is a line as soon as it is known whether the
    /// memories serve it.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn compile(&self, program: Program) -> Result<Compiled, Diagnostic> {
        let compiled = |spec: &TileSpec| compile(program.clone(), spec, &self.rom_spec, &self.constraints);
        let observe = |trial: &Trial| output::note(&trial.to_string());
        compile_observed(program.clone(), &self.spec, &self.rom_spec, &self.constraints, &observe).map_err(|error| {
            let is_unmapped = matches!(error, CompileError::Unmapped { .. });
            let refused = Diagnostic::from(error);
            match is_unmapped.then(|| self.suitable(|spec| compiled(spec).is_ok())).flatten() {
                Some(name) => {
                    let help = refused.help().unwrap_or_default().to_owned();
                    refused.with_help(format!("`--tile {name}` can; else {help}"))
                }
                None => refused,
            }
        })
    }

    /// Compiles a program for an array.
    ///
    /// # Errors
    /// As [`compile_for`].
    pub fn compile_for(
        &self,
        program: &Program,
        target: &Target,
        edited: &Edited,
        options: Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Compiled, Mapped), Diagnostic> {
        // Look-ups are of the array's memories, whatever the size of a table.
        let constraints = Constraints { table_logic_words: usize::MAX, ..self.constraints.clone() };
        compile_for(program, target, &self.rom_spec, &constraints, edited, options, progress)
    }

    /// The first tile of the project with which a program compiles, of those that differ from the chosen one in nothing but
    /// what their controllers count to, their memory and their buffers. None of those that come up late is tried.
    fn suitable(&self, compiles: impl Fn(&TileSpec) -> bool) -> Option<String> {
        let started = Instant::now();
        let mut specs = tiles::memories()
            .into_iter()
            .filter(|spec| spec.name != self.spec.name && spec.kind == self.spec.kind && spec.reset == self.spec.reset);
        specs.find(|spec| started.elapsed() < PATIENCE && compiles(spec)).map(|spec| spec.name)
    }
}
