//! `pushmem check`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use itertools::Itertools;
use pushmem_buffers::UnifiedBuffer;
use pushmem_configuration::Configuration;
use pushmem_files::{Diagnostic, Document, FieldPath, counted, read_words};
use pushmem_nest::{Checked, Program};
use pushmem_packaging::Timing;
use pushmem_regression::{MutantList, RegressionList};
use pushmem_technology::{Binding, ClockGate, Described};
use pushmem_tile::TileSpec;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::mutants::accelerators::AcceleratorList;
use crate::mutants::choice::Choice;
use crate::output;

#[derive(Args)]
pub struct Check {
    /// Files to check; what they are is told from their contents.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Tile specification that configurations are for. Without, `constraints/tiles/NAME.yaml` and the folder of the
    /// configuration are searched for the tile they name.
    #[arg(long, value_name = "SPEC")]
    tile: Option<PathBuf>,
    /// Report as JSON. What is wrong is on standard error, too, with its place.
    #[arg(long)]
    json: bool,
}

/// What became of the files.
#[derive(Serialize)]
struct Report {
    files: Vec<Checkup>,
}

#[derive(Serialize)]
struct Checkup {
    file: String,
    /// What it is, if nothing is wrong.
    is: Option<String>,
    /// What is wrong.
    error: Option<String>,
}

/// The keys that tell what a file is.
#[derive(Deserialize)]
struct Keys {
    kind: Option<IgnoredAny>,
    tile: Option<IgnoredAny>,
    tests: Option<IgnoredAny>,
    mutants: Option<IgnoredAny>,
    accelerator_mutants: Option<IgnoredAny>,
    nest: Option<IgnoredAny>,
    #[serde(rename = "macro")]
    sram: Option<IgnoredAny>,
    any_shape: Option<IgnoredAny>,
    cell: Option<IgnoredAny>,
    ports: Option<IgnoredAny>,
}

/// Refuses a file that is for another command: it has a key of that, and not the one of this command.
///
/// # Errors
/// At that key, with the help.
pub fn suggest_command(document: &Document, own: &str, key: &str, help: &str) -> Result<(), Diagnostic> {
    match has_key(document, key)? && !has_key(document, own)? {
        true => Err(document.error_at_key(&FieldPath::root().key(key), format!("unknown key `{key}`")).with_help(help)),
        false => Ok(()),
    }
}

/// Whether a document is a mapping with this key.
///
/// # Errors
/// When it is not a mapping.
pub fn has_key(document: &Document, key: &str) -> Result<bool, Diagnostic> {
    Ok(keys_of(document)?.contains_key(key))
}

fn keys_of(document: &Document) -> Result<BTreeMap<String, IgnoredAny>, Diagnostic> {
    document.deserialize()
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
        if pushmem_halide::is_statement(file) {
            return Ok(accept(pushmem_halide::read(file)?));
        }
        let document = Document::read(file)?;
        let keys: Keys = document.deserialize()?;
        let folder = file.parent().unwrap_or(Path::new("."));
        match keys {
            Keys { kind: Some(_), .. } => {
                let spec = TileSpec::from_document(&document)?;
                Ok(format!("specification of the {} tile `{}`", spec.kind.name(), spec.name))
            }
            Keys { tests: Some(_), .. } => {
                let list = RegressionList::from_document(&document, folder)?;
                Ok(format!("regression list of {} tests", list.tests.len()))
            }
            Keys { mutants: Some(_), .. } => {
                let list = MutantList::from_document(document, folder)?;
                Ok(format!("list of {} mutants", list.mutants.len()))
            }
            Keys { accelerator_mutants: Some(_), .. } => {
                let list = AcceleratorList::read(file, &Choice::default())?;
                Ok(format!("list of {} mutants of accelerators", list.len()))
            }
            Keys { nest: Some(_), .. } => {
                Ok(accept(Program::from_document(&document)?))
            }
            Keys { sram: Some(_), .. } | Keys { any_shape: Some(_), .. } => match Described::of_document(&document)? {
                Described::Macro(Binding { name, depth, width, .. }) => {
                    Ok(format!("binding of the macro `{name}` of {depth} rows of {width} bits"))
                }
                Described::AnyShape(_) => Ok("binding of macros in the shapes of memories".to_owned()),
            },
            Keys { cell: Some(_), .. } => {
                Ok(format!("clock gate: the cell `{}`", ClockGate::of_document(&document)?.cell))
            }
            Keys { ports: Some(_), .. } => {
                let buffer = UnifiedBuffer::from_document(&document)?;
                let (writes, reads) = (buffer.writes().count(), buffer.reads().count());
                Ok(format!("buffer `{}` of {} ports: {writes} write, {reads} read", buffer.name, writes + reads))
            }
            Keys { tile: Some(_), .. } => {
                let spec = self.spec_of(&document, folder)?;
                let configuration = Configuration::from_document(&document, &spec)?;
                let names = configuration.controllers.keys().join(", ");
                Ok(format!("configuration for `{}`: {names}", spec.name))
            }
            _ if {
                let keys = keys_of(&document)?;
                Timing::keys().any(|key| keys.contains_key(&key))
            } => {
                let timing = Timing::of_document(&document)?;
                Ok(format!("timing constraints with a clock period of {} ps", timing.clock_period_ps))
            }
            _ => Err(Diagnostic::new(format!("{}: it is not clear what this file is", file.display())).with_help(
                "a specification has the key `kind`, a configuration `tile`, a program `nest`, a buffer `ports`, a regression \
                 list `tests`, a list of mutants `mutants`, a binding `macro`, a clock gate `cell`, timing constraints `clock_period_ps`; streams are named *.hex; a misspelt key may be the reason",
            )),
        }
    }

    fn spec_of(&self, configuration: &Document, folder: &Path) -> Result<TileSpec, Diagnostic> {
        if let Some(path) = &self.tile {
            return TileSpec::read(path);
        }
        let name = Configuration::tile_of(configuration)?;
        let file = format!("{name}.yaml");
        let places = [Path::new("constraints/tiles").join(&file), folder.join(&file)];
        // The configuration itself may bear the name of its tile.
        let itself = |place: &Path| place == Path::new(configuration.name());
        match places.iter().find(|place| place.is_file() && !itself(place)) {
            Some(place) => TileSpec::read(place),
            None => Err(Diagnostic::new(format!(
                "{}: the specification of the tile `{name}` is neither {} nor {}",
                configuration.name(),
                places[0].display(),
                places[1].display()
            ))
            .with_help("name it by --tile")),
        }
    }
}
