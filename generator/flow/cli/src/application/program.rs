//! The program that a command works on.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Args, ValueEnum, value_parser};
use pushmem_files::Diagnostic;
use pushmem_float::Format;
use pushmem_halide::Floats;
use pushmem_images::Image;
use pushmem_nest::{Checked, Program};
use pushmem_networks::{Choices, Imported};

use crate::kinds::{self, FileKind};
use crate::output;

/// How programs are read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Let all numbers with a fraction in a pipeline of Halide be of this type, of fewer bits: results are near to Halide's.
    #[arg(long, value_name = "TYPE")]
    pub(super) narrow_floats: Option<Narrow>,
    #[command(flatten)]
    pub(super) network: OfNetwork,
}

/// How networks are read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfNetwork {
    /// Let the sums of products of a network take so many multipliers, the busiest layer the most; 64 without this.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    multipliers: Option<u64>,
    /// Let a network take so many images or steps in a run, each as soon as the busiest layer has done with the one before; 1 without this.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    batch: Option<u32>,
}

impl OfNetwork {
    /// The options, and whether each is given.
    pub(super) fn given(self) -> [(&'static str, bool); 2] {
        [("--multipliers", self.multipliers.is_some()), ("--batch", self.batch.is_some())]
    }

    /// Reads a network.
    ///
    /// # Errors
    /// As [`pushmem_networks::read`].
    pub fn read(self, path: &Path) -> Result<Imported, Diagnostic> {
        let default = Choices::default();
        let multipliers = self.multipliers.unwrap_or(default.multipliers);
        pushmem_networks::read(path, Choices { multipliers, batch: self.batch.unwrap_or(default.batch) })
    }
}

/// The type that numbers with a fraction are narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Narrow {
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

/// Reads a program, a loop nest, a pipeline of Halide or a network, and reports its warnings.
///
/// # Errors
/// A located message when it is none of them; with what to do where it is for another command.
pub fn read(path: &Path, reading: Reading) -> Result<Program, Diagnostic> {
    let checked = match imported(path, reading) {
        Some(checked) => checked?,
        None => Program::from_document(&kinds::read(path, &[FileKind::Program])?)?,
    };
    Ok(reported(checked))
}

/// Reads a program that is no loop nest; nothing of another file.
///
/// # Errors
/// As [`pushmem_halide::read`] and [`pushmem_networks::read`].
pub fn imported(path: &Path, reading: Reading) -> Option<Result<Checked, Diagnostic>> {
    match path {
        path if pushmem_halide::is_halide(path) => Some(read_pipeline(path, reading)),
        path if pushmem_networks::FileFormat::of(path).is_some() => {
            Some(reading.network.read(path).map(|network| network.checked))
        }
        _ => None,
    }
}

/// The images of inputs that the file of a program has: the constants of a network.
///
/// # Errors
/// As [`read`].
pub fn constants(path: &Path, reading: Reading) -> Result<BTreeMap<String, Image>, Diagnostic> {
    match pushmem_networks::FileFormat::of(path).is_some() {
        true => Ok(reading.network.read(path)?.constants),
        false => Ok(BTreeMap::new()),
    }
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
    if let Some(checked) = imported(path, reading) {
        return Ok(Some(reported(checked?)));
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
