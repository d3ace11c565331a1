//! Mutants: single faults in the RTL, each of which the regression must catch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_simulation::{Verilator, rtl_files};
use pushmem_tile::TileSpec;
use serde::{Deserialize, Serialize};

use crate::arrays::read_array;
use crate::failure::FailureKind;
use crate::list::{Test, second_of_a_name};
use crate::run::{Build, Design, Progress, in_parallel, run_test};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFile {
    mutants: Vec<MutantFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantFile {
    name: String,
    fault: String,
    tile: Option<PathBuf>,
    array: Option<PathBuf>,
    module: String,
    find: String,
    replace: String,
    occurrence: Option<usize>,
}

/// Names and texts of the files of a design.
type Rtl = Vec<(String, String)>;

/// Files without a fault, by the path of the specification.
type Designs = BTreeMap<PathBuf, Rtl>;

/// A tile or an array with one fault in its RTL.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Name, unique in its list.
    pub name: String,
    /// The fault.
    pub fault: String,
    /// File of the specification of the tile or the array.
    pub design: PathBuf,
    /// The key of the list that names it.
    key: &'static str,
    /// All files, the fault in one of them.
    rtl: Rtl,
    /// Where the list describes it.
    path: FieldPath,
}

/// A list of mutants, with the text it was read from.
#[derive(Debug)]
pub struct MutantList {
    /// The mutants in order.
    pub mutants: Vec<Mutant>,
    document: Document,
}

impl MutantList {
    /// Reads a list and plants the faults. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// A located message when the list cannot be read, two mutants have one name, or a fault does not fit the RTL: its
    /// module does not exist, or the text to replace is not there exactly once.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        Self::from_document(Document::read(path)?, path.parent().unwrap_or(Path::new(".")))
    }

    /// Reads a list from a document; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// As [`MutantList::read`].
    pub fn from_document(document: Document, folder: &Path) -> Result<Self, Diagnostic> {
        let file: ListFile = document.deserialize()?;
        let names = file.mutants.iter().map(|mutant| mutant.name.as_str()).collect_vec();
        if let Some(index) = second_of_a_name(&names) {
            let path = FieldPath::root().key("mutants").index(index).key("name");
            return Err(document.error(&path, format!("two mutants are named `{}`", names[index])));
        }
        let mut designs = Designs::new();
        let mutants = file.mutants.into_iter().enumerate().map(|(index, mutant)| {
            let path = FieldPath::root().key("mutants").index(index);
            let MutantFile { name, fault, tile, array, module, find, replace, occurrence } = mutant;
            let (key, design, is_array) = match (tile, array) {
                (Some(tile), None) => ("tile", folder.join(tile), false),
                (None, Some(array)) => ("array", folder.join(array), true),
                _ => {
                    let message = format!("mutant `{name}`: it is not clear where the fault is");
                    return document.refuse(&path.key("name"), message, "name a `tile` or an `array`");
                }
            };
            let mut rtl = rtl_of(&design, is_array, &mut designs)?;
            let replacement = Replacement { module: &module, find: &find, replace: &replace, occurrence };
            replacement.plant(&mut rtl).map_err(|(key, message)| document.error(&path.key(key), message))?;
            Ok(Mutant { name, fault, design, key, rtl, path })
        });
        let (mutants, errors): (Vec<_>, Vec<Diagnostic>) = mutants.partition_result();
        let mut errors = errors.into_iter();
        match errors.next() {
            Some(first) => Err(first.with_related(errors.collect())),
            None => Ok(MutantList { mutants, document }),
        }
    }

    fn tests_for<'a>(mutant: &'a Mutant, tests: &'a [Test]) -> impl Iterator<Item = &'a Test> {
        let design = std::fs::canonicalize(&mutant.design).ok();
        let of_test = |test: &Test| test.work.design().and_then(|design| std::fs::canonicalize(design).ok());
        tests.iter().filter(move |test| of_test(test) == design)
    }

    /// Those of the tests that are for the tile or the array of any mutant: they must pass without a fault, or their failures with
    /// one mean nothing.
    pub fn relevant(&self, tests: &[Test]) -> Vec<Test> {
        let names =
            self.mutants.iter().flat_map(|mutant| Self::tests_for(mutant, tests)).map(|test| &test.name).collect_vec();
        tests.iter().filter(|test| names.contains(&&test.name)).cloned().collect()
    }

    /// Runs the mutants, `jobs` at a time, each against the tests for its design, in order, up to the first that fails.
    ///
    /// # Errors
    /// A located message when there is no test for a mutant, or one cannot run, for example because its RTL cannot be built:
    /// such a mutant tells nothing.
    pub fn run(
        &self,
        tests: &[Test],
        verilator: &Verilator,
        jobs: usize,
        progress: &impl Progress,
    ) -> Result<Vec<MutantResult>, Diagnostic> {
        let run = |mutant: &Mutant| {
            MutantResult::with_progress(&mutant.name, progress, || {
                self.run_one(mutant, tests, &|design: Design| design.build(verilator, &mutant.rtl))
            })
        };
        in_parallel(&self.mutants, jobs, run).into_iter().collect()
    }

    fn run_one(&self, mutant: &Mutant, tests: &[Test], build: &Build) -> Result<MutantResult, Diagnostic> {
        let mut tests = Self::tests_for(mutant, tests).peekable();
        if tests.peek().is_none() {
            return Err(self
                .document
                .error(&mutant.path.key(mutant.key), format!("the regression has no test for this {}", mutant.key)));
        }
        let first = tests.find_map(|test| Some((test, run_test(test, build).failure?)));
        let caught = match first {
            None => None,
            Some((test, failure)) => {
                let clock = match failure.kind {
                    FailureKind::Difference { clock } => Some(clock),
                    FailureKind::Wrong => None,
                    FailureKind::NotRun => {
                        let message = format!("mutant `{}` cannot run `{}`: {failure}", mutant.name, test.name);
                        return Err(self.document.error(&mutant.path.key("replace"), message));
                    }
                };
                Some(Catch { test: test.name.clone(), clock, failure: failure.message })
            }
        };
        Ok(MutantResult { name: mutant.name.clone(), fault: mutant.fault.clone(), caught })
    }
}

/// The RTL of the tile or the array that a file specifies, made once.
fn rtl_of(design: &Path, is_array: bool, designs: &mut Designs) -> Result<Rtl, Diagnostic> {
    if let Some(known) = designs.get(design) {
        return Ok(known.clone());
    }
    let rtl = match is_array {
        true => Design::Array(&read_array(design)?).rtl()?,
        false => rtl_files(&TileSpec::read(design)?)?,
    };
    designs.insert(design.to_owned(), rtl.clone());
    Ok(rtl)
}

/// A fault in the text of a module.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// Name of the module.
    pub module: &'a str,
    /// The text that is replaced. White space in a line only separates, because it follows the longest name of a column.
    pub find: &'a str,
    /// The text in its place.
    pub replace: &'a str,
    /// Which of several places, from 1; nothing if there is one.
    pub occurrence: Option<usize>,
}

impl Replacement<'_> {
    /// Plants the fault in these files, each with its name.
    ///
    /// # Errors
    /// Which key of the list is wrong, and why.
    pub fn plant(self, rtl: &mut [(String, String)]) -> Result<(), (&'static str, String)> {
        let file = format!("{}.sv", self.module);
        let Some(index) = rtl.iter().position(|(name, _)| *name == file) else {
            let files = rtl.iter().map(|(name, _)| name).join(", ");
            return Err(("module", format!("there is no file {file}, but {files}")));
        };
        let text = &mut rtl[index].1;
        let plain = text.lines().map(|line| line.split_whitespace().join(" ")).join("\n");
        let places = plain.match_indices(self.find).map(|(place, _)| place).collect_vec();
        let place = match (places.as_slice(), self.occurrence) {
            ([], _) => return Err(("find", format!("this text is not in {file}"))),
            (&[place], None) => place,
            (_, None) => {
                let message = format!("this text is {} times in {file}; choose one by `occurrence`", places.len());
                return Err(("find", message));
            }
            (_, Some(number)) => match number.checked_sub(1).and_then(|index| places.get(index)) {
                Some(&place) => place,
                None => return Err(("occurrence", format!("must be from 1 to {}", places.len()))),
            },
        };
        *text = [&plain[..place], self.replace, &plain[place + self.find.len()..], "\n"].concat();
        Ok(())
    }
}

/// How a mutant ended.
#[derive(Clone, Debug, Serialize)]
pub struct MutantResult {
    /// Name of the mutant.
    pub name: String,
    /// The fault.
    pub fault: String,
    /// The failure that caught it; nothing if it survived.
    pub caught: Option<Catch>,
}

impl MutantResult {
    /// Runs a mutant of this name, and tells if it survives.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn with_progress(
        name: &str,
        progress: &impl Progress,
        run: impl FnOnce() -> Result<Self, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        progress.begin(name);
        let result = run();
        let survivor = result.iter().find(|result| result.caught.is_none());
        progress.end(survivor.map(|result| format!("SURVIVED {name}: {}", result.fault)));
        result
    }
}

/// A test that failed because of a fault.
#[derive(Clone, Debug, Serialize)]
pub struct Catch {
    /// Name of the test.
    pub test: String,
    /// Clock cycle of the first difference; none when the RTL stopped, for example at an assertion.
    pub clock: Option<u64>,
    /// Why the test failed.
    pub failure: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::RegressionList;
    use crate::run::Model;

    fn planted(find: &str, occurrence: Option<usize>) -> Result<String, &'static str> {
        let mut rtl = vec![("adder.sv".to_owned(), "assign  sum  = a + b; // a\nassign last = a;\n".to_owned())];
        let replacement = Replacement { module: "adder", find, replace: "c", occurrence };
        replacement.plant(&mut rtl).map_err(|(key, _)| key)?;
        Ok(rtl.remove(0).1)
    }

    #[test]
    fn a_fault_is_planted_in_one_place() {
        assert_eq!(planted("sum = a", None).unwrap(), "assign c + b; // a\nassign last = a;\n");
        assert_eq!(planted("= a", Some(2)).unwrap(), "assign sum = a + b; // a\nassign last c;\n");
    }

    #[test]
    fn a_fault_that_does_not_fit_is_an_error() {
        assert_eq!(planted("= a", None).unwrap_err(), "find");
        assert_eq!(planted("= d", Some(1)).unwrap_err(), "find");
        assert_eq!(planted("= a", Some(0)).unwrap_err(), "occurrence");
        assert_eq!(planted("= a", Some(3)).unwrap_err(), "occurrence");
    }

    /// One mutant of the tile in a file, and a test of that.
    fn list_and_test(folder: &Path) -> (MutantList, Test) {
        let tile = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../rtl-tests/specs/small_bist.yaml"));
        let tile = tile.display();
        let list = format!(
            "mutants:\n- name: renamed\n  fault: an instance has another name\n  tile: {tile}\n  module: small_bist_tile\n  \
             find: \") u_sram (\"\n  replace: \") u_memory (\"\n"
        );
        let list = MutantList::from_document(Document::parse("list.yaml", list).unwrap(), folder).unwrap();
        let tests = format!("tests: [{{name: faults, tile: {tile}, faults: {{seed: 1, faults: 1}}}}]");
        let tests = RegressionList::from_document(&Document::parse("tests.yaml", tests).unwrap(), folder).unwrap();
        (list, tests.tests.into_iter().next().unwrap())
    }

    /// That of a compiler, where the harness of the self-test knows an instance by its name.
    #[test]
    fn a_mutant_that_cannot_be_built_is_an_error_and_not_caught() {
        let (list, test) = list_and_test(Path::new("/"));
        let build = |design: Design| match design {
            Design::Tile(_, Model::SelfTest) => Err(Diagnostic::new("`g++` failed")),
            _ => Ok(PathBuf::from("/bin/true")),
        };
        let error = list.run_one(&list.mutants[0], std::slice::from_ref(&test), &build).unwrap_err();
        assert!(error.message().contains("mutant `renamed` cannot run `faults`: `g++` failed"), "{error:?}");
        assert_eq!(error.location(), Some(("list.yaml".to_owned(), 7, 12)));
    }
}
