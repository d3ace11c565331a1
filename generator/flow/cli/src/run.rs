//! `pushmem run`.

mod peripheral;
mod whole;

use std::path::PathBuf;

use clap::Args;
use pushmem_files::Diagnostic;
use pushmem_nest::ArrayKind;

use self::whole::Whole;
use crate::application::choices::Choices;
use crate::application::{images, program};
use crate::build::Build;
use crate::output;

#[derive(Args)]
pub struct Run {
    /// Program: a loop nest, a pipeline of Halide, named *.hlpipe, or a network, named *.onnx or *.tflite.
    program: PathBuf,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. The name may be left out where there is one input. Inputs without an image are
    /// random. Images that are larger than those of the program are run in tiles.
    #[arg(long = "input", value_name = "[NAME=]FILE")]
    inputs: Vec<String>,
    /// The former name of --input.
    #[arg(long = "image", value_name = "[NAME=]FILE", hide = true)]
    former_inputs: Vec<String>,
    /// Where to write an output, in the format of the file's ending. The name may be left out where there is one output.
    #[arg(short = 'o', long = "output", value_name = "[NAME=]FILE")]
    outputs: Vec<String>,
    /// Run the images in Verilator: through the driver in C, the bus shell, and the RTL, in place of the model. On an array, run the RTL
    /// as well, and compare every word.
    #[arg(long)]
    rtl: bool,
    /// Array to run on, in place of hardware of its own: a specification, or the name of one in `constraints/arrays`.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["memories", "tile", "stall_latency"])]
    array: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

impl Run {
    pub fn run(&self) -> Result<(), Diagnostic> {
        if !self.former_inputs.is_empty() {
            output::report_former_name("run --image", "--input");
        }
        let program = program::read(&self.program, self.choices.reading)?;
        let inputs = [self.inputs.as_slice(), &self.former_inputs].concat();
        if self.array.is_none() {
            return Whole {
                file: &self.program,
                choices: &self.choices,
                inputs: images::named(&program, ArrayKind::Input, &inputs)?,
                outputs: images::named(&program, ArrayKind::Output, &self.outputs)?,
                rtl: self.rtl,
                json: self.json,
            }
            .run(program);
        }
        let mut build = Build::of(self.program.clone(), self.choices.clone());
        (build.inputs, build.outputs) = (inputs, self.outputs.clone());
        (build.rtl, build.json, build.is_run) = (self.rtl, self.json, true);
        build.array.clone_from(&self.array);
        build.run_programs(vec![program])
    }
}
