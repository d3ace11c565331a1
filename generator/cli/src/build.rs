//! `pushmem build`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Args, ValueEnum};
use pushmem_compiler::{Report, Stage};
use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{Checked, Program};
use pushmem_packaging::Design;
use serde::Serialize;

use crate::application::choices::Choices;
use crate::application::rtl::{RtlResult, RtlRun};
use crate::application::{folder, images, rtl, run_model};
use crate::check::suggest_command;
use crate::output;
use crate::package::{self, FOLDER, Package, RTL};
use crate::waves;

#[derive(Args)]
#[command(group(ArgGroup::new(RTL).multiple(true)))]
pub struct Build {
    /// Program: a loop nest, or a lowered statement of Halide, named *.stmt.
    program: PathBuf,
    #[command(flatten)]
    choices: Choices,
    /// Folder for RTL, configurations, C header and testbench, replaced if a former run wrote it.
    #[arg(id = FOLDER, short = 'o', long = "folder", value_name = "FOLDER", group = RTL)]
    folder: Option<PathBuf>,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. Inputs without one are random.
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = images::name_file)]
    inputs: Vec<(String, PathBuf)>,
    /// Where to write an output, in the format of the file's ending.
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = images::name_file)]
    outputs: Vec<(String, PathBuf)>,
    /// Run the RTL as well, in Verilator: at full speed, with random stalls, and twice without a gap; compare every word.
    #[arg(long, group = RTL)]
    rtl: bool,
    /// Write the waves of the RTL at full speed (FST), and beside them layouts for GTKWave and Surfer. Implies --rtl.
    #[arg(long, value_name = "FILE", group = RTL, value_parser = waves::wave_file)]
    wave: Option<PathBuf>,
    /// Print a stage of the compile instead of the report; nothing else is done.
    #[arg(long, value_enum, value_name = "STAGE", conflicts_with_all = ["folder", "inputs", "outputs", "rtl", "wave", "package", "sram", "clock_gate", "json"])]
    emit: Option<Emit>,
    #[command(flatten)]
    package: Package,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// Stages by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// The program as the compiler understood it.
    Loopnest,
    /// When each stage runs.
    Schedule,
    /// The unified buffer of each array.
    Buffers,
    /// Kernels, shift registers, memory tiles and wires.
    Mapping,
    /// The configuration of each tile.
    Config,
}

impl Emit {
    fn stage(self) -> Stage {
        match self {
            Emit::Loopnest => Stage::LoopNest,
            Emit::Schedule => Stage::Schedule,
            Emit::Buffers => Stage::Buffers,
            Emit::Mapping => Stage::Mapping,
            Emit::Config => Stage::Config,
        }
    }
}

impl Build {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let checked = self.read()?;
        checked.warnings.into_iter().for_each(output::report);
        let chosen = self.choices.read()?;
        self.package.check(&chosen.specs())?;
        let compiled = chosen.compile(checked.program)?;
        compiled.warnings().into_iter().for_each(output::report);
        if let Some(emit) = self.emit {
            output::print(&emit.stage().text(&compiled))?;
            return Ok(ExitCode::SUCCESS);
        }
        let report = Report::of(&compiled);
        let simulate = self.rtl || self.wave.is_some();
        let mut outcome = Outcome { report, checked_by_model: false, rtl: None };
        if self.folder.is_some() || simulate || !self.inputs.is_empty() || !self.outputs.is_empty() {
            images::check_outputs(&compiled.program, &self.inputs, &self.outputs)?;
            let inputs = images::inputs(&compiled.program, &self.inputs)?;
            let expected = run_model(&compiled, &inputs)?;
            outcome.checked_by_model = true;
            if self.folder.is_some() || simulate {
                let technology = self.package.technology(&folder::tiles(&compiled))?;
                let files = folder::files(&compiled, technology.as_ref(), &inputs, &expected)?;
                if simulate {
                    outcome.rtl = Some(rtl::run(&files, self.wave.as_deref())?);
                }
                if let Some(path) = &self.folder {
                    let mut written = folder::contents(&files, &compiled, &outcome.report, outcome.to_json());
                    let blocks = folder::blocks(&compiled)?;
                    self.package.add(&mut written, technology.as_ref(), |technology| Design {
                        testbench: files.harness.iter().map(|(path, _)| path.clone()).collect(),
                        blocks,
                        ..package::accelerator(&compiled, &files, technology)
                    })?;
                    written.write(path)?;
                }
            }
            images::write(&self.outputs, &expected)?;
        }
        output::result(self.json, &outcome, || outcome.text(self.folder.as_deref()))?;
        Ok(ExitCode::SUCCESS)
    }

    fn read(&self) -> Result<Checked, Diagnostic> {
        if pushmem_halide::is_statement(&self.program) {
            return pushmem_halide::read(&self.program);
        }
        let named_otherwise =
            || fs::read_to_string(&self.program).is_ok_and(|text| pushmem_halide::holds_statement(&text));
        let document = Document::read(&self.program).map_err(|error| match named_otherwise() {
            true => error.with_help("this is a lowered statement of Halide: name the file *.stmt"),
            false => error,
        })?;
        suggest_command(&document, "nest", "kind", "this is a tile: `pushmem generate` prints it")?;
        suggest_command(&document, "nest", "ports", "this is a buffer: `pushmem map` maps it")?;
        Program::from_document(&document)
    }
}

/// What a build has shown.
#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: Report,
    /// Whether the model computed what the interpreter computes.
    checked_by_model: bool,
    /// What the RTL did, if it was run.
    rtl: Option<RtlRun>,
}

/// The same as the folder keeps it: without what another run would change.
#[derive(Serialize)]
struct Kept<'a> {
    #[serde(flatten)]
    report: &'a Report,
    checked_by_model: bool,
    rtl: Option<&'a RtlResult>,
}

impl Outcome {
    fn to_json(&self) -> String {
        let Outcome { report, checked_by_model, rtl } = self;
        let kept = Kept { report, checked_by_model: *checked_by_model, rtl: rtl.as_ref().map(|rtl| &rtl.result) };
        serde_json::to_string_pretty(&kept).expect("figures are numbers and names") + "\n"
    }

    fn text(&self, folder: Option<&Path>) -> String {
        let mut text = format!("{}\n{}", self.report.name, self.report);
        let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<22} {value}\n"));
        if self.checked_by_model {
            line("model", "computes what the interpreter computes".to_owned());
        }
        if let Some(rtl) = &self.rtl {
            for scenario in &rtl.result.scenarios {
                let name = format!("{}: ", self.report.name);
                line("RTL", scenario.strip_prefix(&name).unwrap_or(scenario).to_owned());
            }
        }
        if let Some(folder) = folder {
            line("written to", format!("{}: `make` there simulates the RTL", folder.display()));
        }
        text
    }
}
