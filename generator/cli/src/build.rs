//! `pushmem build`.

mod folder;
mod images;
mod rtl;
mod tiles;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pushmem_accelerator::Constraints;
use pushmem_compiler::{Compiled, Report, Stage, compile};
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;

use crate::output;

#[derive(Args)]
pub struct Build {
    /// Program: a loop nest.
    program: PathBuf,
    /// Tile that memories are made of: a specification, or the name of one in `constraints/tiles`. Without, the tile that
    /// `amber` is.
    #[arg(long, value_name = "SPEC")]
    tile: Option<PathBuf>,
    /// Folder for RTL, configurations, C header and testbench, replaced if a former run wrote it.
    #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. Inputs without one are random.
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = images::name_file)]
    inputs: Vec<(String, PathBuf)>,
    /// Where to write an output, in the format of the file's ending.
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = images::name_file)]
    outputs: Vec<(String, PathBuf)>,
    /// Delays of fewer cycles become registers, longer ones memories.
    #[arg(long, value_name = "CYCLES", default_value_t = Constraints::default().shift_register_threshold)]
    shift_register_threshold: u64,
    /// Run the RTL as well, in Verilator: at full speed, with random stalls, and twice without a gap; compare every word.
    #[arg(long)]
    rtl: bool,
    /// Write the waves of the RTL at full speed (FST). Implies --rtl.
    #[arg(long, value_name = "FILE")]
    wave: Option<PathBuf>,
    /// Print a stage of the compile instead of the report.
    #[arg(long, value_enum, value_name = "STAGE")]
    emit: Option<Emit>,
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
    /// The configuration of each memory tile.
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
        let checked = Program::read(&self.program)?;
        for warning in checked.warnings {
            output::report(warning);
        }
        let spec = tiles::read(self.tile.as_deref())?;
        let constraints = Constraints { shift_register_threshold: self.shift_register_threshold.max(1) };
        let compiled = compile(checked.program, &spec, &constraints)?;
        if let Some(emit) = self.emit {
            output::print(&emit.stage().text(&compiled))?;
            return Ok(ExitCode::SUCCESS);
        }
        let report = Report::of(&compiled);
        let rtl = self.rtl || self.wave.is_some();
        let mut notes = Vec::new();
        if self.folder.is_some() || rtl || !self.inputs.is_empty() || !self.outputs.is_empty() {
            let images = images::inputs(&compiled.program, &self.inputs)?;
            let expected = execute(&compiled, &images)?;
            notes.push("the model computes what the interpreter computes".to_owned());
            if self.folder.is_some() || rtl {
                let files = folder::files(&compiled, &report, &images, &expected)?;
                if rtl {
                    notes.extend(rtl::run(&files, self.wave.as_deref())?);
                }
                if let Some(path) = &self.folder {
                    folder::write(path, &files, &compiled, &report)?;
                    notes.push(format!("written to {}: `make` in it simulates the RTL", path.display()));
                }
            }
            images::write(&compiled.program, &self.outputs, &expected)?;
        }
        if self.json {
            output::print(&report.to_json())?;
        } else {
            output::print(&format!("{}\n{report}", report.name))?;
            for note in notes {
                output::print(&format!("  {note}\n"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Runs the accelerator in the model and compares with the interpreter, whose outputs it returns.
fn execute(compiled: &Compiled, images: &BTreeMap<String, Image>) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let expected = compiled.program.run(images)?;
    let run = compiled.accelerator.run(&compiled.program, images)?;
    if let Some((tile, violation)) = run.violations.first() {
        return Err(Diagnostic::new(format!("the model of {tile}: {violation}"))
            .with_help("this is a fault of pushmem; please report it with the program"));
    }
    for (name, image) in &expected {
        images::compare(name, image, &run.outputs[name], "the model")?;
    }
    Ok(expected)
}
