//! `pushmem import`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pushmem_files::{Diagnostic, write_file};
use serde::Serialize;

use crate::application::program::{self, Reading};
use crate::kinds::{self, FileKind};
use crate::output;

#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Subcommand)]
enum From {
    /// Read a pipeline of Halide, as `halide.serialize_pipeline` writes it.
    Halide(Halide),
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

/// The program that was read, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    program: &'a str,
    operations: usize,
    /// The loop nest, where it is written to no file.
    nest: Option<&'a str>,
}

impl Import {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let From::Halide(Halide { pipeline, output: file, reading, json }) = &self.from;
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
        Ok(ExitCode::SUCCESS)
    }
}
