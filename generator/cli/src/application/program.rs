//! The program that a command works on.

use std::path::Path;

use pushmem_files::Diagnostic;
use pushmem_nest::{Checked, Program};

use crate::kinds::{self, FileKind};
use crate::output;

/// Reads a program, a loop nest or a lowered statement of Halide, and reports its warnings.
///
/// # Errors
/// A located message when it is neither; with what to do where it is for another command.
pub fn read(path: &Path) -> Result<Program, Diagnostic> {
    let Checked { program, warnings } = match pushmem_halide::is_statement(path) {
        true => pushmem_halide::read(path)?,
        false => Program::from_document(&kinds::read(path, &[FileKind::Program])?)?,
    };
    warnings.into_iter().for_each(output::report);
    Ok(program)
}

/// Whether a file is a program, for commands that take specifications, too.
///
/// # Errors
/// When it cannot be read, or is clearly neither.
pub fn is_program(path: &Path) -> Result<bool, Diagnostic> {
    let of = || kinds::read(path, &[FileKind::Program, FileKind::Specification]).map(|document| kinds::of(&document));
    Ok(pushmem_halide::is_statement(path) || of()? == Some(FileKind::Program))
}
