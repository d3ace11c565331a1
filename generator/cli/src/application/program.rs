//! The program that a command works on.

use std::fs;
use std::path::Path;

use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{Checked, Program};

use crate::check::{has_key, suggest_command};
use crate::output;

/// Reads a program, a loop nest or a lowered statement of Halide, and reports its warnings.
///
/// # Errors
/// A located message when it is neither; with what to do where it is for another command.
pub fn read(path: &Path) -> Result<Program, Diagnostic> {
    let Checked { program, warnings } = match pushmem_halide::is_statement(path) {
        true => pushmem_halide::read(path)?,
        false => {
            let document = document(path)?;
            suggest_command(&document, "nest", "kind", "this is a tile: `pushmem generate` prints it")?;
            suggest_command(&document, "nest", "ports", "this is a buffer: `pushmem map` maps it")?;
            Program::from_document(&document)?
        }
    };
    warnings.into_iter().for_each(output::report);
    Ok(program)
}

/// Whether a file is a program, for commands that take other files, too.
///
/// # Errors
/// When it cannot be read.
pub fn is_program(path: &Path) -> Result<bool, Diagnostic> {
    Ok(pushmem_halide::is_statement(path) || has_key(&document(path)?, "nest")?)
}

fn document(path: &Path) -> Result<Document, Diagnostic> {
    Document::read(path).map_err(|error| {
        match fs::read_to_string(path).is_ok_and(|text| pushmem_halide::holds_statement(&text)) {
            true => error.with_help("this is a lowered statement of Halide: name the file *.stmt"),
            false => error,
        }
    })
}
