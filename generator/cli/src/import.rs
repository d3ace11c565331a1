//! `pushmem import`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pushmem_files::{Diagnostic, write_file};

use crate::output;

#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Subcommand)]
enum From {
    /// Read a lowered statement, as `Func.compile_to_lowered_stmt` of Halide writes it as text.
    Halide(Halide),
}

#[derive(Args)]
struct Halide {
    /// Lowered statement: text, named *.stmt.
    statement: PathBuf,
    /// Where to write the loop nest (YAML). Without, it is printed.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Import {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let From::Halide(Halide { statement, output: file }) = &self.from;
        let checked = pushmem_halide::read(statement)?;
        checked.warnings.into_iter().for_each(output::report);
        let text = checked.program.to_string();
        match file {
            Some(file) => {
                output::keep_inputs(file, [statement.as_path()])?;
                write_file(file, text.as_bytes())?;
            }
            None => output::print(&text)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
