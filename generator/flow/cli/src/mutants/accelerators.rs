//! Mutants of accelerators: single faults in the RTL of small programs, each of which their testbench must catch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use itertools::Itertools;
use pushmem_assembly::Constraints;
use pushmem_composition::Files;
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_nest::Program;
use pushmem_process::Invocation;
use pushmem_realization::build;
use pushmem_regression::{Catch, MutantResult, Replacement, in_parallel};
use pushmem_simulation::Verilator;
use pushmem_tile::TileSpec;
use serde::Deserialize;
use tempfile::TempDir;

use crate::application::tiles::{self, Named};
use crate::application::{folder, images, rtl, run_model};
use crate::mutants::choice::MutantFilter;
use crate::progress::Bar;

/// The runs of a testbench: as it does by itself, then many runs with stalls.
const RUNS: [(&str, &[&str]); 2] = [("scenarios", &[]), ("stalled runs", &["--runs", "20", "--stalls", "60"])];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFile {
    accelerator_mutants: Vec<MutantFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantFile {
    name: String,
    fault: String,
    program: PathBuf,
    /// Without, memories are made for the program.
    tile: Option<PathBuf>,
    /// Registers of the stall.
    #[serde(default)]
    stall_latency: u32,
    module: String,
    find: String,
    replace: String,
    occurrence: Option<usize>,
}

/// An accelerator without a fault, with its files in a folder.
struct Built {
    name: String,
    files: Files,
    folder: TempDir,
}

/// An accelerator with a fault.
struct AcceleratorMutant {
    file: MutantFile,
    /// Its sources; the fault is in one of them.
    rtl: Vec<(String, String)>,
    /// Place in [`AcceleratorList::built`].
    of: usize,
    /// Where the list describes it.
    path: FieldPath,
}

/// A list of mutants of accelerators.
pub struct AcceleratorList {
    mutants: Vec<AcceleratorMutant>,
    built: Vec<Built>,
    document: Document,
}

impl AcceleratorList {
    /// Reads a list, compiles its programs and plants the faults of the mutants that are chosen. Paths in the list
    /// are relative to its folder.
    ///
    /// # Errors
    /// A located message when the list or a program is wrong, or a fault does not fit the RTL.
    pub fn read(path: &Path, choice: &MutantFilter) -> Result<Self, Diagnostic> {
        let document = Document::read(path)?;
        let file: ListFile = document.deserialize()?;
        let mut list = AcceleratorList { mutants: Vec::new(), built: Vec::new(), document };
        let list_folder = path.parent().unwrap_or(Path::new("."));
        let mut places: BTreeMap<(PathBuf, Option<PathBuf>, u32), usize> = BTreeMap::new();
        for (index, mutant) in file.accelerator_mutants.into_iter().enumerate() {
            let path = FieldPath::root().key("accelerator_mutants").index(index);
            if list.mutants.iter().any(|other| other.file.name == mutant.name) {
                let message = format!("two mutants are named `{}`", mutant.name);
                return Err(list.document.error(&path.key("name"), message));
            }
            if !choice.takes(index, &mutant.name) {
                continue;
            }
            let tile = mutant.tile.as_ref().map(|tile| list_folder.join(tile));
            let program = list_folder.join(&mutant.program);
            let place = (program, tile, mutant.stall_latency);
            let of = match places.get(&place) {
                Some(&of) => of,
                None => {
                    list.built.push(Built::new(&place.0, place.1.as_deref(), place.2)?);
                    places.insert(place, list.built.len() - 1);
                    list.built.len() - 1
                }
            };
            let mut rtl = list.built[of].files.simulation_sources(false).rtl;
            let MutantFile { module, find, replace, occurrence, .. } = &mutant;
            let replacement = Replacement { module, find, replace, occurrence: *occurrence };
            replacement.plant(&mut rtl).map_err(|(key, message)| list.document.error(&path.key(key), message))?;
            list.mutants.push(AcceleratorMutant { file: mutant, rtl, of, path });
        }
        Ok(list)
    }

    pub fn is_empty(&self) -> bool {
        self.mutants.is_empty()
    }

    /// The number of mutants.
    pub fn len(&self) -> usize {
        self.mutants.len()
    }

    /// Runs the mutants, `jobs` at a time, after the accelerators without a fault.
    ///
    /// # Errors
    /// When an accelerator without a fault fails, or one with a fault cannot be built.
    pub fn run(&self, verilator: &Verilator, jobs: usize) -> Result<Vec<MutantResult>, Diagnostic> {
        for built in &self.built {
            let rtl = built.files.simulation_sources(false).rtl;
            if let Some(Catch { test, failure, .. }) = built.run(&rtl, verilator)? {
                return Err(Diagnostic::new(format!("`{test}` fails without a mutant:\n{failure}")));
            }
        }
        let bar = Bar::new(self.mutants.len());
        let run = |mutant: &AcceleratorMutant| {
            MutantResult::with_progress(&mutant.file.name, &bar, || self.run_one(mutant, verilator))
        };
        let results = in_parallel(&self.mutants, jobs, run);
        bar.clear();
        results.into_iter().collect()
    }

    fn run_one(&self, mutant: &AcceleratorMutant, verilator: &Verilator) -> Result<MutantResult, Diagnostic> {
        let caught = self.built[mutant.of].run(&mutant.rtl, verilator).map_err(|error| {
            let message = format!("mutant `{}` cannot be built: {error}", mutant.file.name);
            self.document.error(&mutant.path.key("replace"), message)
        })?;
        Ok(MutantResult { name: mutant.file.name.clone(), fault: mutant.file.fault.clone(), caught })
    }
}

impl Built {
    fn new(program: &Path, tile: Option<&Path>, stall_latency: u32) -> Result<Self, Diagnostic> {
        let program = Program::from_document(&Document::read(program)?)?.program;
        let target = match tile {
            Some(tile) => tiles::target(&TileSpec::read(tile)?, Named::default())?,
            None => tiles::fixed()?,
        };
        let constraints = Constraints { stall_latency, ..Constraints::default() };
        let compiled = build(program, &target, &constraints, &|_| {})?;
        let inputs = images::inputs(&compiled.program, BTreeMap::new(), &[])?;
        let expected = run_model(&compiled, &inputs)?;
        let files = folder::files(&compiled, None, &inputs, &expected)?;
        Ok(Built { name: compiled.program.name.clone(), folder: rtl::temporary(&files)?, files })
    }

    /// Runs the testbench with these sources; what fails, if anything.
    ///
    /// # Errors
    /// When they cannot be built or run.
    fn run(&self, rtl: &[(String, String)], verilator: &Verilator) -> Result<Option<Catch>, Diagnostic> {
        let sources = self.files.simulation_sources(false);
        let executable = verilator.build_model(rtl::model_sources(&sources, rtl, false))?;
        let cannot = |error: std::io::Error| Diagnostic::new(format!("cannot run the testbench: {error}"));
        let found = tempfile::tempdir().map_err(cannot)?;
        for (run, arguments) in RUNS {
            let mut command = Command::new(&executable);
            command.arg("--folder").arg(self.folder.path().join(rtl::ACCELERATOR));
            command.arg("--output").arg(found.path()).args(arguments);
            let finished = Invocation::of(&mut command).named("the testbench").finish()?;
            if !finished.status.success() {
                let failure = finished.log().lines().take(20).join("\n");
                return Ok(Some(Catch { test: format!("{}, {run}", self.name), clock: None, failure }));
            }
        }
        Ok(None)
    }
}
