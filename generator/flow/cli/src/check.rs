//! `pushmem check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use itertools::Itertools;
use pushmem_bitstream::Configuration as ArrayConfiguration;
use pushmem_buffers::UnifiedBuffer;
use pushmem_configuration::Configuration;
use pushmem_fabric::{ArraySpec, TimingModel};
use pushmem_files::{Code, Diagnostic, Document, FieldPath, counted, read_words};
use pushmem_nest::{Checked, Program};
use pushmem_packaging::Timing;
use pushmem_pe::PeSpec;
use pushmem_regression::{MutantList, RegressionList};
use pushmem_resources::Graph;
use pushmem_technology::{Binding, ClockGate, Described};
use pushmem_tile::{Mode, TileSpec};
use serde::Serialize;

use crate::application::arrays;
use crate::application::program::{self, Reading};
use crate::application::tiles::{self, TILES};
use crate::kinds::{self, FileKind};
use crate::mutants::accelerators::AcceleratorList;
use crate::mutants::choice::MutantFilter;
use crate::output;

#[derive(Args)]
pub struct Check {
    /// Files to check; what they are is told from their contents.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Tile that configurations are for: a specification, or the name of one in `constraints/tiles`. Without, the one that they
    /// name, there or in the folder of the configuration.
    #[arg(long, value_name = "SPEC")]
    tile: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON. Errors are on standard error, too, with their places.
    #[arg(long)]
    json: bool,
}

/// The result for each file.
#[derive(Serialize)]
struct Report {
    files: Vec<Checkup>,
}

#[derive(Serialize)]
struct Checkup {
    file: String,
    /// Its kind and name, if nothing is wrong.
    is: Option<String>,
    /// The message of the first error.
    error: Option<String>,
}

/// Reports the warnings of a program, and says what it is.
fn accept(checked: Checked) -> String {
    checked.warnings.into_iter().for_each(output::report);
    let operations = counted(checked.program.operations().len(), "operation");
    format!("program `{}` of {operations}", checked.program.name)
}

impl Check {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let mut report = Report { files: Vec::new() };
        for path in &self.files {
            let file = path.display().to_string();
            let (is, error) = match self.check(path) {
                Ok(is) => (Some(is), None),
                Err(diagnostic) => {
                    let error = diagnostic.message().to_owned();
                    output::report(diagnostic);
                    (None, Some(error))
                }
            };
            if let (Some(is), false) = (&is, self.json) {
                output::say(&format!("{file}: {is}\n"))?;
            }
            report.files.push(Checkup { file, is, error });
        }
        if self.json {
            output::result(true, &report, String::new)?;
        }
        let failed = report.files.iter().any(|file| file.error.is_some());
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn check(&self, file: &Path) -> Result<String, Diagnostic> {
        if file.extension().is_some_and(|extension| extension == "hex") {
            return Ok(format!("{} words", read_words(file, u64::BITS)?.len()));
        }
        if let Some(checked) = program::imported(file, self.reading) {
            return Ok(accept(checked?));
        }
        let document = kinds::read_document(file)?;
        let kind = kinds::of(&document);
        self.check_document(file, document, kind).map_err(|problem| problem.or_code(class(kind)))
    }

    fn check_document(&self, file: &Path, document: Document, kind: Option<FileKind>) -> Result<String, Diagnostic> {
        let folder = file.parent().unwrap_or(Path::new("."));
        match kind {
            Some(FileKind::Array) => {
                let ArraySpec { name, columns, rows, .. } = arrays::from_document(&document)?;
                Ok(format!("specification of the array `{name}` of {columns} columns and {rows} rows"))
            }
            Some(FileKind::ArrayConfiguration) => {
                let spec = arrays::of_configuration(&document)?;
                let configuration = ArrayConfiguration::from_document(&document, &spec, &Graph::of(&spec))?;
                let tiles = counted(configuration.tiles.len(), "tile");
                Ok(format!("configuration for the array `{}`: {tiles}", spec.name))
            }
            Some(FileKind::TimingModel) => {
                let spec = arrays::of_timing_model(&document)?;
                let period = TimingModel::from_document(&document, &spec)?.period_ps(&spec);
                Ok(format!("timing model of the array `{}`: a clock period of {period} ps", spec.name))
            }
            Some(FileKind::ProcessingElement) => {
                let spec = PeSpec::from_document(&document)?;
                let operations = counted(spec.operations.len(), "operation");
                Ok(format!("specification of the processing element `{}` of {operations}", spec.name))
            }
            Some(FileKind::Specification) => {
                let spec = TileSpec::from_document(&document)?;
                Ok(format!("specification of the {} tile `{}`", spec.kind.name(), spec.name))
            }
            Some(FileKind::RegressionList) => {
                let list = RegressionList::from_document(&document, folder)?;
                Ok(format!("regression list of {} tests", list.tests.len()))
            }
            Some(FileKind::MutantList) => {
                let list = MutantList::from_document(document, folder)?;
                Ok(format!("list of {} mutants", list.mutants.len()))
            }
            Some(FileKind::AcceleratorMutantList) => {
                let list = AcceleratorList::read(file, &MutantFilter::default())?;
                Ok(format!("list of {} mutants of accelerators", list.len()))
            }
            Some(FileKind::Program) => Ok(accept(Program::from_document(&document)?)),
            Some(FileKind::SramBinding) => match Described::of_document(&document)? {
                Described::Macro(Binding { name, depth, width, .. }) => {
                    Ok(format!("binding of the macro `{name}` of {depth} rows of {width} bits"))
                }
                Described::AnyShape(_) => Ok("binding of macros in the shapes of memories".to_owned()),
            },
            Some(FileKind::ClockGate) => {
                Ok(format!("clock gate: the cell `{}`", ClockGate::of_document(&document)?.cell))
            }
            Some(FileKind::Buffer) => {
                let buffer = UnifiedBuffer::from_document(&document)?;
                let (writes, reads) = (buffer.writes().count(), buffer.reads().count());
                Ok(format!("buffer `{}` of {} ports: {writes} write, {reads} read", buffer.name, writes + reads))
            }
            Some(FileKind::Configuration) => self.check_configuration(&document, folder),
            Some(FileKind::Timing) => {
                let timing = Timing::of_document(&document)?;
                Ok(format!("timing constraints with a clock period of {} ps", timing.clock_period_ps))
            }
            _ => {
                let help =
                    format!("{}; streams are named *.hex; a misspelt key may be the reason", kinds::keys_of_kinds());
                Err(Diagnostic::new(format!("{}: it is not clear what this file is", file.display()))
                    .or_code(Code::UnclearFile)
                    .with_help(help))
            }
        }
    }

    fn check_configuration(&self, document: &Document, folder: &Path) -> Result<String, Diagnostic> {
        let spec = self.spec_of(document, folder)?;
        let configuration = Configuration::from_document(document, &spec)?;
        let names = match configuration.mode {
            Mode::UnifiedBuffer => configuration.controllers.keys().join(", "),
            mode => format!("mode {}", mode.name()),
        };
        Ok(format!("configuration for `{}`: {names}", spec.name))
    }

    fn spec_of(&self, configuration: &Document, folder: &Path) -> Result<TileSpec, Diagnostic> {
        if let Some(named) = &self.tile {
            return tiles::read_named(named);
        }
        let name = Configuration::tile_of(configuration)?;
        let beside = folder.join(format!("{name}.yaml"));
        // The configuration itself may bear the name of its tile.
        if beside.is_file() && beside != Path::new(configuration.name()) && !TILES.in_project(&name).is_file() {
            return TileSpec::read(&beside);
        }
        tiles::read_by_name(&name).map_err(|unknown| {
            let message = format!(
                "the specification of the tile `{name}` is neither in {} nor {}",
                TILES.folder,
                beside.display()
            );
            let problem = configuration.error(&FieldPath::root().key("tile"), message);
            problem
                .or_code(Code::Configuration)
                .with_help(format!("name it by --tile; {}", unknown.help().unwrap_or_default()))
        })
    }
}

/// The class of problems of a file that have no other.
fn class(kind: Option<FileKind>) -> Code {
    match kind {
        Some(FileKind::RegressionList | FileKind::MutantList | FileKind::AcceleratorMutantList) => Code::List,
        Some(FileKind::SramBinding | FileKind::ClockGate | FileKind::Timing | FileKind::TimingModel) => Code::Binding,
        Some(FileKind::Specification | FileKind::ProcessingElement) => Code::Specification,
        _ => Code::Request,
    }
}
