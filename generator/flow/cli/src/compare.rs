//! `pushmem compare`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools;
use pushmem_assembly::Constraints;
use pushmem_composition::{Files, SimulationSources};
use pushmem_files::{Diagnostic, write_file};
use pushmem_nest::ArrayKind;
use pushmem_realization::build;
use pushmem_systemverilog::{FILE_LIST, INCLUDE_FOLDER, is_header};
use pushmem_tile::TileSpec;
use serde::{Deserialize, Serialize};

use crate::application::program::{self, Reading};
use crate::application::tiles::{self, Named};
use crate::application::{folder, images, rtl, run_model};
use crate::progress::Spinner;
use crate::{output, waves};

const FOLDER: &str = "the folder is one that `pushmem build PROGRAM -o FOLDER` has written";

/// The part of a report that decides how a program is compiled.
#[derive(Deserialize)]
struct Built {
    constraints: Constraints,
}

#[derive(Args)]
pub struct Compare {
    /// Folder that `pushmem build` has written.
    folder: PathBuf,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. The name may be left out where there is one input. Inputs without an image are
    /// random.
    #[arg(long = "input", value_name = "[NAME=]FILE")]
    inputs: Vec<String>,
    /// Where to write an output, in the format of the file's ending. The name may be left out where there is one output.
    #[arg(long = "output", value_name = "[NAME=]FILE")]
    outputs: Vec<String>,
    /// Only the interpreter and the model.
    #[arg(long)]
    no_rtl: bool,
    /// Write the waves of the RTL at full speed (FST), and beside them layouts for GTKWave and Surfer.
    #[arg(long, value_name = "FILE", conflicts_with = "no_rtl", value_parser = waves::wave_file)]
    wave: Option<PathBuf>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// The compared outputs.
#[derive(Serialize)]
struct Report<'a> {
    /// The outputs, which the model computes as the interpreter does.
    outputs: Vec<Output<'a>>,
    /// The run of the RTL, if there was one.
    rtl: Option<rtl::RtlRun>,
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    elements: usize,
}

impl Report<'_> {
    fn text(&self) -> String {
        let outputs = self.outputs.iter();
        let outputs = outputs
            .map(|Output { name, elements }| format!("{name}: {elements} elements, the model as the interpreter\n"));
        let scenarios =
            self.rtl.iter().flat_map(|run| &run.result.scenarios).map(|scenario| format!("RTL: {scenario}\n"));
        outputs.chain(scenarios).collect()
    }
}

impl Compare {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let file = self.folder.join("program.yaml");
        if !file.is_file() {
            let message =
                format!("`{}` is not the folder of an accelerator: it holds no program", self.folder.display());
            return Err(Diagnostic::new(message).with_help(FOLDER));
        }
        let program = program::read(&file, Reading::default())?;
        let spec = TileSpec::read(&self.folder.join("tile.yaml"))?;
        let rom_tile = self.folder.join(folder::ROM_TILE);
        let levels = folder::LEVELS.map(|(_, file)| Some(self.folder.join(file)).filter(|path| path.is_file()));
        let named = Named {
            rom: rom_tile.is_file().then_some(rom_tile.as_path()),
            global_buffer: levels[0].as_deref(),
            register_file: levels[1].as_deref(),
        };
        let compiled = build(program, &tiles::target(&spec, named)?, &self.constraints()?, &|_| {})?;
        let inputs = images::named(&compiled.program, ArrayKind::Input, &self.inputs)?;
        let outputs = images::named(&compiled.program, ArrayKind::Output, &self.outputs)?;
        images::check_outputs(&compiled.program, &inputs, &outputs)?;
        let inputs = images::inputs(&compiled.program, BTreeMap::new(), &inputs)?;
        let expected = run_model(&compiled, &inputs)?;
        let compared = expected.iter().map(|(name, image)| Output { name, elements: image.values().len() });
        let mut report = Report { outputs: compared.collect(), rtl: None };
        if !self.no_rtl {
            let files = folder::files(&compiled, None, &inputs, &expected)?;
            report.rtl = Some(self.run_rtl(&files).map_err(told_of_changes)?);
        }
        images::write(&outputs, &expected)?;
        output::result(self.json, &report, || report.text())
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
        let listed = read(&self.folder.join(FILE_LIST))?;
        let file = |path: &str| Ok::<_, Diagnostic>((plain(path), read(&self.folder.join(path))?));
        let headers = files.rtl.iter().map(|(path, _)| path.as_str()).filter(|path| is_header(path));
        let modules = listed.lines().filter(|line| !line.starts_with(INCLUDE_FOLDER));
        let mut rtl: Vec<_> = headers.chain(modules).map(file).try_collect()?;
        let sources = files.simulation_sources(self.wave.is_some());
        // But for what is only there for the waves.
        rtl.extend(sources.rtl.into_iter().skip(files.rtl.len()));
        let wave = self.wave.as_deref().map(|wave| (wave, &files.waves));
        rtl::run_in(temporary.path(), &SimulationSources { rtl, ..sources }, wave, &Spinner::new())
    }
}

/// A fault of the RTL in a folder, which is ours only if it is the RTL that was written.
fn told_of_changes(error: Diagnostic) -> Diagnostic {
    match error.is_fault() {
        true => error.with_help(
            "unless files of the folder were changed, this is a fault of pushmem; please report the program",
        ),
        false => error,
    }
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    fs::read_to_string(path)
        .map_err(|error| Diagnostic::new(format!("cannot read {}: {error}", path.display())).with_help(FOLDER))
}
