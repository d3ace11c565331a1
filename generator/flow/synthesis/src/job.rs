//! The design to synthesize, and the input of the scripts.

use std::path::Path;

use pushmem_files::{Diagnostic, write_file};
use pushmem_packaging::{Design as Package, Timing, package};
use pushmem_technology::{Binding, ClockGate};
use serde::Serialize;

use crate::block::BlockKind;
use crate::liberty::with_passing_clock;
use crate::process::read;
use crate::tools::{Library, Tools};

pushmem_files::named! {
    /// The goal of the mapping to cells.
    #[derive(Default)]
    pub enum Optimize {
        /// Small cells, as many as needed.
        #[default]
        Area = "area",
        /// Buffers and larger cells where paths are long.
        Speed = "speed",
    }
}

/// The design to synthesize.
#[derive(Clone, Copy, Debug)]
pub struct Design<'a> {
    /// The design, as it is packaged.
    pub package: &'a Package<'a>,
    /// Its clock and delays.
    pub timing: &'a Timing,
    /// Cells.
    pub library: &'a Library,
    /// The goal of the mapping.
    pub optimize: Optimize,
    /// The operations of the processing element of a tile, in the order of their opcodes, whose paths are asked for one by one.
    pub operations: &'a [String],
}

/// The input of the scripts.
#[derive(Serialize)]
pub(crate) struct Job<'a> {
    pub(crate) name: &'a str,
    pub(crate) top: &'a str,
    files: Vec<String>,
    /// The libraries, by the names that they have in the work folder: the cells first, then the macros.
    liberty: Vec<String>,
    /// The cell of clock gates.
    #[serde(skip)]
    pub(crate) gate: Option<&'a ClockGate>,
    /// Whether it is a tile of an array.
    #[serde(skip)]
    pub(crate) has_tracks: bool,
    /// The operations of its processing element, in the order of their opcodes.
    #[serde(skip)]
    pub(crate) operations: &'a [String],
    optimize: Optimize,
    /// Modules that are no cells: the macros.
    pub(crate) macros: Vec<String>,
    /// Modules without contents: the macros, and the cell of clock gates.
    black_boxes: Vec<String>,
    blocks: Vec<String>,
}

/// The library of the cells, in a work folder.
pub(crate) const CELLS: &str = "cells.lib";

/// The same for OpenSTA where there is a cell for clock gates.
const PASSING_LIBRARY: &str = "passing.lib";

impl Job<'_> {
    /// The libraries that OpenSTA reads.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &str> {
        let first = self.gate.map(|_| PASSING_LIBRARY);
        first.into_iter().chain(self.liberty.iter().map(String::as_str).skip(usize::from(self.gate.is_some())))
    }
}

/// The files of a design, and what Yosys reads of them.
pub(crate) fn sources(made: &Package, timing: &Timing) -> (Vec<(String, String)>, Vec<String>) {
    let mut files: Vec<(String, String)> = made.rtl.clone();
    files.extend(package(made, timing));
    let list = files.iter().find(|(path, _)| path == "filelist_synthesis.f").map_or("", |(_, text)| text);
    let sources = list.lines().map(str::to_owned).collect();
    (files, sources)
}

/// The input of the scripts for a design, and the files that they read.
pub(crate) fn job<'a>(design: &Design<'a>) -> (Job<'a>, Vec<(String, String)>) {
    let Design { package: made, timing, optimize, operations, .. } = *design;
    let (files, sources) = sources(made, timing);
    let macros = (0..of_macros(design).count()).map(|number| format!("macro_{number}.lib"));
    let liberty = std::iter::once(CELLS.to_owned()).chain(macros).collect();
    let modules = sources.iter().filter_map(|path| path.rsplit('/').next()?.strip_suffix(".sv"));
    let blocks = modules.filter(|module| BlockKind::of(module, made) != BlockKind::Rest).map(str::to_owned).collect();
    let job = Job {
        name: &made.name,
        top: &made.top,
        gate: made.technology.clock_gate(),
        files: sources,
        has_tracks: !made.processing_elements.is_empty(),
        operations,
        macros: made.technology.bindings().map(|binding| binding.name.clone()).collect(),
        black_boxes: made.technology.black_boxes().map(str::to_owned).collect(),
        blocks,
        optimize,
        liberty,
    };
    (job, files)
}

/// The files of the libraries of macros.
fn of_macros<'a>(design: &Design<'a>) -> impl Iterator<Item = &'a Path> {
    design.package.technology.bindings().filter_map(Binding::liberty).map(Path::new)
}

/// The texts of the libraries, in the order of those of the job.
pub(crate) fn library_texts(design: &Design) -> Result<Vec<String>, Diagnostic> {
    std::iter::once(design.library.path.as_path()).chain(of_macros(design)).map(read).collect()
}

/// Writes the libraries of a job, which have these texts, to a work folder: there they have names that scripts can hold,
/// wherever they are from.
pub(crate) fn write_libraries(job: &Job, texts: &[String], folder: &Path) -> Result<(), Diagnostic> {
    for (name, text) in job.liberty.iter().zip(texts) {
        write_file(&folder.join(name), text.as_bytes())?;
    }
    let Some(gate) = job.gate else { return Ok(()) };
    write_file(&folder.join(PASSING_LIBRARY), with_passing_clock(gate, &texts[0]).as_bytes())
}

/// The inputs of a result beside files: the name of the library and the figures of macros in bindings, which the report has, the
/// tools, the divisor of power, and the sources of the readers of their logs.
pub(crate) fn made_by(design: &Design, tools: &Tools) -> Vec<String> {
    let figures = design.package.technology.bindings().map(|binding| format!("{:?}", binding.figures));
    let overcharge = format!("{:?}", tools.overcharge());
    let library = design.library.name.clone();
    figures.chain([library, tools.versions.clone(), overcharge, env!("PUSHMEM_MADE_BY").to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pushmem_files::Document;
    use pushmem_simulation::rtl_files;
    use pushmem_technology::{Assembly, Technology, TileSram};
    use pushmem_tile::{Reset, TileSpec};

    use itertools::Itertools;

    use super::*;

    /// Scripts name files in places where a blank ends a name.
    #[test]
    fn libraries_are_in_the_work_folder_wherever_they_are_from() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a folder [1]");
        let [cells, sram] = ["the cells.lib", "the sram.lib"].map(|name| from.join(name));
        write_file(&cells, b"library (cells) {}\n").unwrap();
        write_file(&sram, b"library (sram) {}\n").unwrap();
        let spec = Document::parse("tile.yaml", "name: rom\nkind: rom\nrows: 64\n").unwrap();
        let spec = TileSpec::from_document(&spec).unwrap();
        let memory = TileSram::of(&spec).unwrap();
        let binding = format!(
            "macro: sram\nwidth: {}\ndepth: {}\nviews: {{liberty: '{}'}}\nports:\n  - {{kind: read_write, clock: c, select: {{port: \
             s}}, write: {{port: w}}, address: a, data_in: d, data_out: q}}\n",
            memory.width,
            memory.depth,
            sram.display()
        );
        let binding = Document::parse("binding.yaml", binding).unwrap();
        let (binding, document) = Binding::of_document(binding, &memory).unwrap();
        let technology = Technology::new(vec![Assembly::new(memory, binding, Some(&document)).unwrap()]).unwrap();
        let rtl = rtl_files(&spec).unwrap().into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect();
        let package = Package {
            tiles: vec![&spec],
            ..Package::new("rom_tile", String::new(), technology.bind(rtl), Reset::default(), &technology)
        };
        let library = Library { name: "cells".to_owned(), path: cells };
        let design = Design {
            package: &package,
            timing: &Timing::default(),
            library: &library,
            optimize: Optimize::Area,
            operations: &[],
        };
        let (job, _) = job(&design);
        let work = folder.path().join("work");
        write_libraries(&job, &library_texts(&design).unwrap(), &work).unwrap();
        let told: serde_json::Value = serde_json::to_value(&job).unwrap();
        let told = told["liberty"].as_array().unwrap();
        let named = told.iter().map(|name| name.as_str().unwrap()).collect_vec();
        assert_eq!(named, job.libraries().collect_vec());
        assert!(named.iter().all(|name| !name.contains([' ', '[', '/'])), "{named:?}");
        let texts = named.iter().map(|name| fs::read_to_string(work.join(name)).unwrap()).collect_vec();
        assert_eq!(texts, ["library (cells) {}\n", "library (sram) {}\n"]);
    }
}
