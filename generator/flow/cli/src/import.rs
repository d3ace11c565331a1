//! `pushmem import`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_nest::ArrayKind;
use pushmem_networks::Imported;
use serde::Serialize;

use crate::application::program::{self, OfNetwork, Reading};
use crate::kinds::{self, FileKind};
use crate::output;

/// The folder of the constants of a network.
const CONSTANTS: &str = "constants";

#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Subcommand)]
enum From {
    /// Read a pipeline of Halide, as `halide.serialize_pipeline` writes it.
    Halide(Halide),
    /// Read a network of integers of 8 bits, as quantizers for ONNX write it.
    Onnx(FromNetwork),
    /// Read a network of integers of 8 bits, as the converter of TensorFlow Lite writes it.
    Tflite(FromNetwork),
}

#[derive(Args)]
struct Halide {
    /// Pipeline, named *.hlpipe.
    pipeline: PathBuf,
    /// Where to write the loop nest (YAML). Without, it is printed.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON; the loop nest is part of it, if it is not written to a file.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct FromNetwork {
    /// Network, named *.onnx or *.tflite.
    network: PathBuf,
    /// Folder for the loop nest (YAML), and for the constants of the network, an image (.npy) for each input that has some.
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    reading: OfNetwork,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// The network that was read, as JSON.
#[derive(Serialize)]
struct Network<'a> {
    program: &'a str,
    operations: usize,
    /// The loop nest.
    file: &'a Path,
    /// Names of the inputs that are no constants.
    inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    /// The folder with the images of constants.
    constants: &'a Path,
}

/// The program that was read, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    program: &'a str,
    operations: usize,
    /// The loop nest, where it is written to no file.
    nest: Option<&'a str>,
}

impl Import {
    pub fn run(&self) -> Result<(), Diagnostic> {
        match &self.from {
            From::Halide(halide) => halide.run(),
            From::Onnx(network) => network.run(FileKind::Onnx),
            From::Tflite(network) => network.run(FileKind::Tflite),
        }
    }
}

impl FromNetwork {
    fn run(&self, kind: FileKind) -> Result<(), Diagnostic> {
        kinds::expect(&self.network, &[kind])?;
        let Imported { checked, constants } = self.reading.read(&self.network)?;
        checked.warnings.into_iter().for_each(output::report);
        let program = &checked.program;
        let file = self.output.join(format!("{}.yaml", program.name));
        let folder = self.output.join(CONSTANTS);
        output::keep_inputs(&file, [self.network.as_path()])?;
        write_file(&file, program.to_string().as_bytes())?;
        for (name, image) in &constants {
            image.write(&folder.join(format!("{name}.npy")))?;
        }
        let operations = program.operations().len();
        let names = |kind: ArrayKind| program.arrays_of(kind).map(|array| array.name.as_str());
        let inputs = names(ArrayKind::Input).filter(|name| !constants.contains_key(*name)).collect_vec();
        let outputs = names(ArrayKind::Output).collect_vec();
        let report = Network { program: &program.name, operations, file: &file, inputs, outputs, constants: &folder };
        output::result(self.json, &report, || {
            let Network { program, inputs, outputs, .. } = &report;
            let mut text = format!("{}: program `{program}` of {operations} operations\n", file.display());
            text += &format!("  inputs   {}\n  outputs  {}\n", inputs.join(", "), outputs.join(", "));
            if !constants.is_empty() {
                text += &format!("{}: constants of {} inputs\n", folder.display(), constants.len());
            }
            text
        })
    }
}

impl Halide {
    fn run(&self) -> Result<(), Diagnostic> {
        let Halide { pipeline, output: file, reading, json } = self;
        kinds::expect(pipeline, &[FileKind::Pipeline])?;
        let checked = program::read_pipeline(pipeline, *reading)?;
        checked.warnings.into_iter().for_each(output::report);
        let text = checked.program.to_string();
        if let Some(file) = file {
            output::keep_inputs(file, [pipeline.as_path()])?;
            write_file(file, text.as_bytes())?;
        }
        let nest = file.is_none().then_some(text.as_str());
        if *json {
            let operations = checked.program.operations().len();
            output::result(true, &Report { program: &checked.program.name, operations, nest }, String::new)?;
        } else if let Some(nest) = nest {
            output::print(nest)?;
        }
        Ok(())
    }
}
