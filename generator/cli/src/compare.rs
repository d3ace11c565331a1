//! `pushmem compare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use itertools::Itertools;
use pushmem_accelerator::Constraints;
use pushmem_compiler::compile;
use pushmem_composition::{Files, SimulationSources};
use pushmem_files::{Diagnostic, write_file};
use pushmem_nest::Program;
use pushmem_tile::TileSpec;
use serde::Deserialize;

use crate::application::{folder, images, rtl, run_model, tiles};
use crate::output;

const FOLDER: &str = "the folder is one that `pushmem build PROGRAM -o FOLDER` has written";

/// What of a report decides how a program is compiled.
#[derive(Deserialize)]
struct Built {
    constraints: Constraints,
}

#[derive(Args)]
pub struct Compare {
    /// Folder that `pushmem build` has written.
    folder: PathBuf,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. Inputs without one are random.
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = images::name_file)]
    inputs: Vec<(String, PathBuf)>,
    /// Where to write an output, in the format of the file's ending.
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = images::name_file)]
    outputs: Vec<(String, PathBuf)>,
    /// Only the interpreter and the model.
    #[arg(long)]
    no_rtl: bool,
}

impl Compare {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let program = self.folder.join("program.yaml");
        if !program.is_file() {
            let message =
                format!("`{}` is not the folder of an accelerator: it holds no program", self.folder.display());
            return Err(Diagnostic::new(message).with_help(FOLDER));
        }
        let program = Program::read(&program)?.program;
        let spec = TileSpec::read(&self.folder.join("tile.yaml"))?;
        let rom_tile = self.folder.join(folder::ROM_TILE);
        let rom_spec = tiles::read_rom(rom_tile.is_file().then_some(rom_tile.as_path()), &spec)?;
        let levels = folder::LEVELS.map(|(_, file)| Some(self.folder.join(file)).filter(|path| path.is_file()));
        let levels = tiles::read_levels(levels[0].as_deref(), levels[1].as_deref(), &spec)?;
        let compiled = compile(program, &spec, &rom_spec, &Constraints { levels, ..self.constraints()? })?;
        images::check_outputs(&compiled.program, &self.inputs, &self.outputs)?;
        let inputs = images::inputs(&compiled.program, &self.inputs)?;
        let expected = run_model(&compiled, &inputs)?;
        let mut text = String::new();
        for (name, image) in &expected {
            text += &format!("{name}: {} elements, the model as the interpreter\n", image.values().len());
        }
        if !self.no_rtl {
            let files = folder::files(&compiled, None, &inputs, &expected)?;
            let run = self.run_rtl(&files)?;
            text += &run.scenarios.iter().map(|scenario| format!("RTL: {scenario}\n")).join("");
        }
        images::write(&self.outputs, &expected)?;
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The constraints it was built with.
    fn constraints(&self) -> Result<Constraints, Diagnostic> {
        let path = self.folder.join("report.json");
        let built: Built = serde_json::from_str(&read(&path)?)
            .map_err(|error| Diagnostic::new(format!("{}: {error}", path.display())).with_help(FOLDER))?;
        Ok(built.constraints)
    }

    /// Runs the RTL and the registers of the folder, whatever has become of them, on the streams of these images.
    fn run_rtl(&self, files: &Files) -> Result<rtl::RtlRun, Diagnostic> {
        let temporary =
            tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
        for (name, text) in &files.others {
            let text = if name.starts_with("configuration/") { read(&self.folder.join(name))? } else { text.clone() };
            write_file(&temporary.path().join(name), text.as_bytes())?;
        }
        let plain = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let listed = read(&self.folder.join("filelist.f"))?;
        let file = |path: &str| Ok::<_, Diagnostic>((plain(path), read(&self.folder.join(path))?));
        let rtl = listed.lines().map(file).try_collect()?;
        let sources = SimulationSources { rtl, ..files.simulation_sources(false) };
        rtl::run_in(temporary.path(), &sources, None)
    }
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    fs::read_to_string(path)
        .map_err(|error| Diagnostic::new(format!("cannot read {}: {error}", path.display())).with_help(FOLDER))
}
