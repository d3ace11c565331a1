//! What is to be synthesized, and what the scripts are told of it.

use std::path::Path;

use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_packaging::{Design as Package, Timing, package};
use pushmem_technology::{Binding, ClockGate};
use serde::{Deserialize, Serialize};

use crate::block::BlockKind;
use crate::liberty::with_passing_clock;
use crate::process::read;
use crate::tools::{Library, Tools};

/// What the mapping to cells goes for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimize {
    /// Small cells, as many as needed.
    #[default]
    Area,
    /// Buffers and larger cells where paths are long.
    Speed,
}

/// What is to be synthesized.
#[derive(Clone, Copy, Debug)]
pub struct Design<'a> {
    /// The design, as it is packaged.
    pub package: &'a Package<'a>,
    /// Its clock and delays.
    pub timing: &'a Timing,
    /// Cells.
    pub library: &'a Library,
    /// What the mapping goes for.
    pub optimize: Optimize,
}

/// What the scripts are told.
#[derive(Serialize)]
pub(crate) struct Job<'a> {
    pub(crate) name: &'a str,
    pub(crate) top: &'a str,
    files: Vec<String>,
    pub(crate) liberty: Vec<String>,
    /// The cell of clock gates.
    #[serde(skip)]
    pub(crate) gate: Option<&'a ClockGate>,
    optimize: Optimize,
    /// What is no cell: the macros.
    pub(crate) macros: Vec<String>,
    /// What has no inside: the macros, and the cell of clock gates.
    black_boxes: Vec<String>,
    blocks: Vec<String>,
}

/// The library for OpenSTA where there is a cell for clock gates.
const PASSING_LIBRARY: &str = "library.lib";

impl Job<'_> {
    /// The libraries that OpenSTA reads.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &str> {
        let first = self.gate.map(|_| PASSING_LIBRARY);
        first.into_iter().chain(self.liberty.iter().map(String::as_str).skip(usize::from(self.gate.is_some())))
    }
}

/// What the scripts are told of a design, and the files that they read.
pub(crate) fn job<'a>(design: &Design<'a>) -> (Job<'a>, Vec<(String, String)>) {
    let Design { package: made, timing, library, optimize } = *design;
    let mut files: Vec<(String, String)> = made.rtl.clone();
    files.extend(package(made, timing));
    let list = files.iter().find(|(path, _)| path == "filelist_synthesis.f").map_or("", |(_, text)| text);
    let sources = list.lines().map(str::to_owned).collect_vec();
    let mut liberty = vec![library.path.display().to_string()];
    liberty.extend(made.technology.bindings().filter_map(Binding::liberty).map(absolute));
    let modules = sources.iter().filter_map(|path| path.rsplit('/').next()?.strip_suffix(".sv"));
    let blocks = modules.filter(|module| BlockKind::of(module, made) != BlockKind::Rest).map(str::to_owned).collect();
    let job = Job {
        name: &made.name,
        top: &made.top,
        gate: made.technology.clock_gate(),
        files: sources,
        macros: made.technology.bindings().map(|binding| binding.name.clone()).collect(),
        black_boxes: made.technology.black_boxes().map(str::to_owned).collect(),
        blocks,
        optimize,
        liberty,
    };
    (job, files)
}

/// The texts of the libraries.
pub(crate) fn library_texts(job: &Job) -> Result<Vec<String>, Diagnostic> {
    job.liberty.iter().map(|file| read(Path::new(file))).collect()
}

/// Writes the library that OpenSTA reads for a job with these texts of libraries, if there is one of its own.
pub(crate) fn write_library(job: &Job, libraries: &[String], folder: &Path) -> Result<(), Diagnostic> {
    let Some(gate) = job.gate else { return Ok(()) };
    write_file(&folder.join(PASSING_LIBRARY), with_passing_clock(gate, &libraries[0]).as_bytes())
}

/// What makes a result besides what is in files: what bindings say of macros, which the report has, the tools, what power is divided by,
/// and what reads what they say.
pub(crate) fn made_by(design: &Design, tools: &Tools) -> Vec<String> {
    let figures = design.package.technology.bindings().map(|binding| format!("{:?}", binding.figures));
    let overcharge = format!("{:?}", tools.overcharge());
    figures.chain([tools.versions.clone(), overcharge, env!("PUSHMEM_MADE_BY").to_owned()]).collect()
}

fn absolute(file: &str) -> String {
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}
