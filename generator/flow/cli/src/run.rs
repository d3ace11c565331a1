//! `pushmem run`.

mod peripheral;
mod whole;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};
use pushmem_nest::{ArrayKind, Program};

use self::whole::Whole;
use crate::application::choices::Choices;
use crate::application::program;
use crate::build::Build;

#[derive(Args)]
pub struct Run {
    /// Program: a loop nest, or a pipeline of Halide, named *.hlpipe.
    program: PathBuf,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. The name may be left out where there is one input. Inputs without an image are
    /// random. Images that are larger than those of the program are run in tiles.
    #[arg(long = "image", value_name = "[NAME=]FILE")]
    images: Vec<String>,
    /// Where to write an output, in the format of the file's ending. The name may be left out where there is one output.
    #[arg(short = 'o', long = "output", value_name = "[NAME=]FILE")]
    outputs: Vec<String>,
    /// Run the images in Verilator: through the driver in C, the bus shell, and the RTL, in place of the model. On an array, run the RTL
    /// as well, and compare every word.
    #[arg(long)]
    rtl: bool,
    /// Array to run on, in place of hardware of its own: a specification, or the name of one in `constraints/arrays`.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["tile", "stall_latency"])]
    array: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

impl Run {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let program = program::read(&self.program, self.choices.reading)?;
        let inputs = named(&program, ArrayKind::Input, &self.images)?;
        let outputs = named(&program, ArrayKind::Output, &self.outputs)?;
        if self.array.is_none() {
            return Whole {
                file: &self.program,
                choices: &self.choices,
                inputs,
                outputs,
                rtl: self.rtl,
                json: self.json,
            }
            .run(program);
        }
        let mut build = Build::of(self.program.clone(), self.choices.clone());
        (build.inputs, build.outputs) = (inputs, outputs);
        (build.rtl, build.json, build.is_run) = (self.rtl, self.json, true);
        build.array.clone_from(&self.array);
        build.run_programs(vec![program])
    }
}

/// Files by the names of arrays: given as `NAME=FILE`, or as the file of the only array of this kind.
fn named(program: &Program, kind: ArrayKind, files: &[String]) -> Result<Vec<(String, PathBuf)>, Diagnostic> {
    let names = program.arrays_of(kind).map(|array| array.name.as_str()).collect_vec();
    let of_file = |text: &String| {
        // A path may have the sign, too.
        let named = text.split_once('=').filter(|(name, _)| names.contains(name) || names.len() != 1);
        match (named, names.as_slice()) {
            (Some((name, file)), _) => Ok((name.to_owned(), file.into())),
            (None, [only]) => Ok(((*only).to_owned(), text.into())),
            (None, []) => {
                let message = format!("`{}` has no {}, and `{text}` is given for one", program.name, kind.name());
                Err(Diagnostic::new(message).or_code(Code::Image).with_help("leave it out"))
            }
            (None, _) => {
                let (count, kind) = (names.len(), kind.name());
                let message = format!("`{}` has {count} {kind}s, and `{text}` names none of them", program.name);
                let help = format!("write NAME={text} with one of {}", names.join(", "));
                Err(Diagnostic::new(message).or_code(Code::Image).with_help(help))
            }
        }
    };
    files.iter().map(of_file).try_collect()
}
