//! Regression lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath};
use serde::Deserialize;

/// By output: how many cycles later it repeats input 0.
pub type Delays = BTreeMap<String, u64>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFile {
    tests: Vec<TestFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestFile {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    all_only: bool,
    #[serde(default)]
    tile: Option<PathBuf>,
    #[serde(default)]
    configuration: Option<PathBuf>,
    #[serde(default)]
    violations: bool,
    #[serde(default)]
    delays: Delays,
    #[serde(default)]
    stops_at: Option<String>,
    #[serde(default)]
    legal: Option<RandomFile>,
    #[serde(default)]
    arbitrary: Option<RandomFile>,
    #[serde(default)]
    specs: Option<SpecsFile>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RandomFile {
    seed: u64,
    configurations: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecsFile {
    seed: u64,
    specs: u32,
    configurations: u32,
}

/// What a test runs.
#[derive(Clone, Debug)]
pub enum Work {
    /// A configuration file.
    Configuration {
        /// Tile specification.
        tile: PathBuf,
        /// Configuration.
        configuration: PathBuf,
        /// Whether it may break promises on purpose; otherwise each violation fails the test.
        violations: bool,
        /// Outputs that repeat input 0 some cycles later.
        delays: Delays,
        /// Assertion that stops the RTL when assertions are on.
        stops_at: Option<String>,
    },
    /// Random configurations without violations.
    Legal {
        /// Tile specification.
        tile: PathBuf,
        /// Seed.
        seed: u64,
        /// How many.
        configurations: u32,
    },
    /// Random configurations of any kind: RTL and model agree on nonsense, too.
    Arbitrary {
        /// Tile specification.
        tile: PathBuf,
        /// Seed.
        seed: u64,
        /// How many.
        configurations: u32,
    },
    /// Random specifications, each with random configurations.
    Specs {
        /// Seed.
        seed: u64,
        /// How many specifications.
        specs: u32,
        /// Configurations for each.
        configurations: u32,
    },
}

impl Work {
    /// The tile specification that everything runs on, if it is one.
    pub fn tile(&self) -> Option<&Path> {
        match self {
            Work::Configuration { tile, .. } | Work::Legal { tile, .. } | Work::Arbitrary { tile, .. } => Some(tile),
            Work::Specs { .. } => None,
        }
    }
}

/// A named test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Name, unique among all lists.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Whether it runs only when all tests are asked for.
    pub all_only: bool,
    /// What it runs.
    pub work: Work,
}

/// A list of tests.
#[derive(Clone, Debug, Default)]
pub struct RegressionList {
    /// The tests in order.
    pub tests: Vec<Test>,
}

impl RegressionList {
    /// Reads a list. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// A located message when the list cannot be read or a test is not one of the known kinds.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        Self::from_document(&Document::read(path)?, path.parent().unwrap_or(Path::new(".")))
    }

    /// Reads all lists (`*.yaml`) of a folder, in order of their names.
    ///
    /// # Errors
    /// As [`RegressionList::read`]; also when the folder has none, or two tests have one name.
    pub fn read_folder(folder: &Path) -> Result<Self, Diagnostic> {
        let entries = std::fs::read_dir(folder).map_err(|error| {
            Diagnostic::new(format!("{}: {error}", folder.display()))
                .with_help("run from the root of the project, or name the folder of the lists by --lists")
        })?;
        let paths = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
            .sorted()
            .collect_vec();
        let mut list = RegressionList::default();
        for path in &paths {
            list.tests.extend(Self::read(path)?.tests);
        }
        if list.tests.is_empty() {
            return Err(Diagnostic::new(format!("{}: no tests in this folder", folder.display())));
        }
        if let Some(name) = list.tests.iter().map(|test| &test.name).duplicates().next() {
            return Err(Diagnostic::new(format!("two tests are named `{name}`")));
        }
        Ok(list)
    }

    /// Reads a list from a document; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// As [`RegressionList::read`].
    pub fn from_document(document: &Document, folder: &Path) -> Result<Self, Diagnostic> {
        let file: ListFile = document.deserialize()?;
        let root = FieldPath::root().key("tests");
        let tests = file
            .tests
            .into_iter()
            .enumerate()
            .map(|(index, test)| {
                let path = root.index(index);
                let name = test.name.clone();
                work(test, folder).map_err(|message| {
                    document.error(&path.key("name"), format!("test `{name}`: {message}")).with_help(
                        "a test has a `tile` and one of `configuration`, `legal` and `arbitrary`; or `specs` alone",
                    )
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(RegressionList { tests })
    }
}

fn work(test: TestFile, folder: &Path) -> Result<Test, &'static str> {
    let TestFile { name, about, all_only, tile, configuration, violations, delays, stops_at, legal, arbitrary, specs } =
        test;
    let expectations = violations || !delays.is_empty() || stops_at.is_some();
    if stops_at.is_some() && !violations {
        return Err("`stops_at` goes with `violations: true`");
    }
    let tile = tile.map(|tile| folder.join(tile));
    let work = match (tile, configuration, legal, arbitrary, specs) {
        (Some(tile), Some(configuration), None, None, None) => {
            Work::Configuration { tile, configuration: folder.join(configuration), violations, delays, stops_at }
        }
        (Some(tile), None, Some(RandomFile { seed, configurations }), None, None) => {
            Work::Legal { tile, seed, configurations }
        }
        (Some(tile), None, None, Some(RandomFile { seed, configurations }), None) => {
            Work::Arbitrary { tile, seed, configurations }
        }
        (None, None, None, None, Some(SpecsFile { seed, specs, configurations })) => {
            Work::Specs { seed, specs, configurations }
        }
        _ => return Err("it is not clear what to run"),
    };
    if !matches!(work, Work::Configuration { .. }) && expectations {
        return Err("`violations`, `delays` and `stops_at` go with `configuration`");
    }
    Ok(Test { name, about, all_only, work })
}
