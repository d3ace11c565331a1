//! The program that a command works on.

use std::path::Path;

use clap::{Args, ValueEnum};
use pushmem_files::Diagnostic;
use pushmem_float::Format;
use pushmem_halide::Floats;
use pushmem_nest::{Checked, Program};

use crate::kinds::{self, FileKind};
use crate::output;

/// How programs are read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Let all numbers with a fraction in a pipeline of Halide be of this type, of fewer bits: results are near to Halide's.
    #[arg(long, value_name = "TYPE")]
    narrow_floats: Option<Narrow>,
}

/// The type that numbers with a fraction are narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Narrow {
    Bf16,
    F16,
}

impl Reading {
    /// The numbers that pipelines of Halide may have.
    pub fn floats(self) -> Floats {
        match self.narrow_floats {
            Some(Narrow::Bf16) => Floats::Narrowed(Format::Bfloat16),
            Some(Narrow::F16) => Floats::Narrowed(Format::Float16),
            None => Floats::Exact,
        }
    }
}

/// Reads a program, a loop nest or a pipeline of Halide, and reports its warnings.
///
/// # Errors
/// A located message when it is neither; with what to do where it is for another command.
pub fn read(path: &Path, reading: Reading) -> Result<Program, Diagnostic> {
    let checked = match pushmem_halide::is_halide(path) {
        true => read_pipeline(path, reading)?,
        false => Program::from_document(&kinds::read(path, &[FileKind::Program])?)?,
    };
    Ok(reported(checked))
}

/// Reads a pipeline of Halide.
///
/// # Errors
/// As [`pushmem_halide::read`].
pub fn read_pipeline(path: &Path, reading: Reading) -> Result<Checked, Diagnostic> {
    pushmem_halide::read(path, reading.floats())
}

/// Reads a program as [`read`], for commands that take specifications, too: of a document that is no program, nothing.
///
/// # Errors
/// As [`read`].
pub fn read_unless_specification(path: &Path, reading: Reading) -> Result<Option<Program>, Diagnostic> {
    if pushmem_halide::is_halide(path) {
        return read(path, reading).map(Some);
    }
    let document = kinds::read(path, &[FileKind::Program, FileKind::Specification])?;
    match kinds::of(&document) {
        Some(FileKind::Program) => Ok(Some(reported(Program::from_document(&document)?))),
        _ => Ok(None),
    }
}

/// A program whose warnings are reported.
fn reported(checked: Checked) -> Program {
    checked.warnings.into_iter().for_each(output::report);
    checked.program
}
