//! The program that a command works on.

use std::path::Path;

use pushmem_files::Diagnostic;
use pushmem_nest::{Checked, Program};

use crate::kinds::{self, FileKind};
use crate::output;
use crate::progress::Spinner;

/// Reads a program, a loop nest, or a pipeline or lowered statement of Halide, and reports its warnings.
///
/// # Errors
/// A located message when it is neither; with what to do where it is for another command.
pub fn read(path: &Path) -> Result<Program, Diagnostic> {
    let checked = match pushmem_halide::is_halide(path) {
        true => read_statement(path)?,
        false => Program::from_document(&kinds::read(path, &[FileKind::Program])?)?,
    };
    Ok(reported(checked))
}

/// Reads a pipeline or a lowered statement of Halide, and shows on a terminal what is being done.
///
/// # Errors
/// As [`pushmem_halide::read`].
pub fn read_statement(path: &Path) -> Result<Checked, Diagnostic> {
    let spinner = Spinner::new();
    pushmem_halide::read_in_steps(path, |step| spinner.say(step))
}

/// Reads a program as [`read`], for commands that take specifications, too: of a document that is no program, nothing.
///
/// # Errors
/// As [`read`].
pub fn read_unless_specification(path: &Path) -> Result<Option<Program>, Diagnostic> {
    if pushmem_halide::is_halide(path) {
        return read(path).map(Some);
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
