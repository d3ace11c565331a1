//! Regression lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath};
use pushmem_model::MAX_PORTS;
use pushmem_tile::TileSpec;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected};

/// Most unstalled cycles of a run, where a test does not say: a mistyped extent should not run for hours.
pub const LONGEST_RUN: u64 = 4_000_000;

/// By output: how many cycles later it repeats input 0.
pub type Delays = BTreeMap<usize, u64>;

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
    tile: Option<PathBuf>,
    sram: Option<PathBuf>,
    configuration: Option<PathBuf>,
    #[serde(default)]
    violations: bool,
    #[serde(default)]
    delays: BTreeMap<String, u64>,
    stops_at: Option<String>,
    longest_run: Option<u64>,
    chain: Option<Vec<PathBuf>>,
    legal: Option<RandomConfigurations>,
    arbitrary: Option<RandomConfigurations>,
    specs: Option<RandomSpecs>,
    faults: Option<RandomFaults>,
    array: Option<PathBuf>,
    bitstreams: Option<RandomBitstreams>,
    arrays: Option<RandomArrays>,
}

/// Random configurations.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomConfigurations {
    /// Seed.
    pub seed: u64,
    /// How many.
    #[serde(deserialize_with = "at_least_one")]
    pub configurations: u32,
}

/// Random faults of an SRAM.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomFaults {
    /// Seed.
    pub seed: u64,
    /// How many.
    #[serde(deserialize_with = "at_least_one")]
    pub faults: u32,
}

/// Random specifications, each with random configurations.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomSpecs {
    /// Seed.
    pub seed: u64,
    /// How many specifications.
    #[serde(deserialize_with = "at_least_one")]
    pub specs: u32,
    /// Configurations for each.
    #[serde(deserialize_with = "at_least_one")]
    pub configurations: u32,
    /// Whether tiles have modes, access to their contents, or chained outputs.
    #[serde(default)]
    pub extras: bool,
}

/// Random bitstreams.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomBitstreams {
    /// Seed.
    pub seed: u64,
    /// How many.
    #[serde(deserialize_with = "at_least_one")]
    pub bitstreams: u32,
}

/// Random arrays, each with random bitstreams.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomArrays {
    /// Seed.
    pub seed: u64,
    /// How many arrays.
    #[serde(deserialize_with = "at_least_one")]
    pub arrays: u32,
    /// Bitstreams for each.
    #[serde(deserialize_with = "at_least_one")]
    pub bitstreams: u32,
    /// Most rows and columns.
    #[serde(deserialize_with = "at_least_one")]
    pub longest_side: u32,
}

/// Reads how many: a test of nothing could not fail.
fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(D::Error::invalid_value(
            Unexpected::Unsigned(0),
            &format!("an integer from 1 to {}", u32::MAX).as_str(),
        )),
        count => Ok(count),
    }
}

/// The work of a test.
#[derive(Clone, Debug)]
pub enum Work {
    /// A configuration file.
    Configuration {
        /// Tile specification.
        tile: PathBuf,
        /// Configuration.
        configuration: PathBuf,
        /// Whether it breaks promises on purpose, and must; otherwise each violation fails the test.
        violations: bool,
        /// Outputs that repeat input 0 some cycles later.
        delays: Delays,
        /// Assertion that stops the RTL when assertions are on.
        stops_at: Option<String>,
        /// Most unstalled cycles that a run may take: it is run several times.
        longest_run: u64,
    },
    /// The tiles of a chain, each of which shows its words to the next.
    Chain {
        /// Tile specification, of all tiles.
        tile: PathBuf,
        /// Configuration of each tile.
        configurations: Vec<PathBuf>,
        /// Outputs of the last tile that repeat input 0 some cycles later.
        delays: Delays,
    },
    /// Random configurations of a tile without violations.
    Legal(PathBuf, RandomConfigurations),
    /// Random configurations of a tile of any kind: RTL and model agree on nonsense, too.
    Arbitrary(PathBuf, RandomConfigurations),
    /// Random faults of the SRAM of a tile, each of which the self-test must find.
    Faults(PathBuf, RandomFaults),
    /// Random tiles.
    Specs(RandomSpecs),
    /// Random bitstreams on an array, whose specification is in a folder beside those of its blocks.
    Bitstreams(PathBuf, RandomBitstreams),
    /// Random arrays.
    Arrays(RandomArrays),
}

impl Work {
    /// The specification of a tile or an array that everything runs on, if it is one.
    pub fn design(&self) -> Option<&Path> {
        match self {
            Work::Bitstreams(array, _) => Some(array),
            _ => self.tile(),
        }
    }

    /// The tile specification that everything runs on, if it is one.
    pub fn tile(&self) -> Option<&Path> {
        match self {
            Work::Configuration { tile, .. }
            | Work::Chain { tile, .. }
            | Work::Legal(tile, _)
            | Work::Arbitrary(tile, _)
            | Work::Faults(tile, _) => Some(tile),
            Work::Specs(_) | Work::Bitstreams(..) | Work::Arrays(_) => None,
        }
    }
}

/// A named test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Name, unique among all lists.
    pub name: String,
    /// Its purpose.
    pub about: String,
    /// Whether it runs only when all tests are asked for.
    pub all_only: bool,
    /// The list that it stands in.
    pub list: PathBuf,
    /// Binding of the SRAM macro that the memory of its tile is made of; without, it is the model of the wrapper.
    pub sram: Option<PathBuf>,
    /// Its work.
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
    /// A located message when the list cannot be read, a test is not one of the known kinds, or two have one name.
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
        let names = file.tests.iter().map(|test| test.name.as_str()).collect_vec();
        if let Some(index) = second_of_a_name(&names) {
            let message = format!("two tests are named `{}`", names[index]);
            return Err(document.error(&root.index(index).key("name"), message));
        }
        let tests = file
            .tests
            .into_iter()
            .enumerate()
            .map(|(index, test)| {
                let path = root.index(index);
                let name = test.name.clone();
                work(test, Path::new(document.name()), folder).map_err(|fault| {
                    let message = format!("test `{name}`: {}", fault.message);
                    Fault { message, ..fault }.under(&path).located(document, Code::List)
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(RegressionList { tests })
    }
}

/// The place of the first that has the name of one before it.
pub(crate) fn second_of_a_name(names: &[&str]) -> Option<usize> {
    (0..names.len()).find(|&index| names[..index].contains(&names[index]))
}

/// A fault at a key of a test.
fn refusal(keys: &[&str], message: impl Into<String>, help: impl Into<String>) -> Fault {
    Fault::new(keys.iter().fold(FieldPath::root(), |path, key| path.key(key)), message, help)
}

fn work(test: TestFile, list: &Path, folder: &Path) -> Result<Test, Fault> {
    let TestFile {
        name,
        about,
        all_only,
        tile,
        sram,
        configuration,
        violations,
        delays,
        stops_at,
        longest_run,
        chain,
        legal,
        arbitrary,
        specs,
        faults,
        array,
        bitstreams,
        arrays,
    } = test;
    if stops_at.is_some() && !violations {
        return Err(refusal(
            &["stops_at"],
            "`stops_at` goes with `violations: true`",
            "an assertion stops the RTL when a promise is broken: add `violations: true`",
        ));
    }
    let tile = tile.map(|tile| folder.join(tile));
    let delays = read_delays(&delays, tile.as_deref())?;
    let (has_delays, stops) = (!delays.is_empty(), stops_at.is_some());
    let of_array = array_work(folder, array, bitstreams, arrays)?;
    let work = match (tile, configuration, chain, legal, arbitrary, specs, faults) {
        (None, None, None, None, None, None, None) if let Some(work) = of_array => work,
        _ if of_array.is_some() => {
            let help = "a test of an array has `array` and `bitstreams`, or `arrays` alone";
            return Err(refusal(&["name"], "this is a test of a tile and of an array", help));
        }
        (Some(tile), Some(configuration), None, None, None, None, None) => Work::Configuration {
            tile,
            configuration: folder.join(configuration),
            violations,
            delays,
            stops_at,
            longest_run: longest_run.unwrap_or(LONGEST_RUN),
        },
        (Some(tile), None, Some(chain), None, None, None, None) => chain_work(folder, tile, &chain, delays)?,
        (Some(tile), None, None, Some(legal), None, None, None) => Work::Legal(tile, legal),
        (Some(tile), None, None, None, Some(arbitrary), None, None) => Work::Arbitrary(tile, arbitrary),
        (Some(tile), None, None, None, None, None, Some(faults)) => Work::Faults(tile, faults),
        (None, None, None, None, None, Some(specs), None) => Work::Specs(specs),
        _ => return Err(unclear()),
    };
    let configured = matches!(work, Work::Configuration { .. });
    let misplaced = [
        ("violations", violations && !configured, "`configuration`"),
        ("stops_at", stops && !configured, "`configuration`"),
        ("longest_run", longest_run.is_some() && !configured, "`configuration`"),
        ("sram", sram.is_some() && work.tile().is_none(), "`tile`"),
        ("sram", sram.is_some() && matches!(work, Work::Faults(..)), "what runs the memory without faults"),
        ("delays", has_delays && !configured && !matches!(work, Work::Chain { .. }), "`configuration` or `chain`"),
    ];
    if let Some((key, _, with)) = misplaced.into_iter().find(|(_, misplaced, _)| *misplaced) {
        return Err(refusal(&[key], format!("`{key}` goes with {with}"), format!("remove `{key}`")));
    }
    let sram = sram.map(|sram| folder.join(sram));
    Ok(Test { name, about, all_only, list: list.to_owned(), sram, work })
}

/// The refusal of a test with the keys of several kinds, or of none.
fn unclear() -> Fault {
    refusal(
        &["name"],
        "it is not clear what to run",
        "a test has a `tile` and one of `configuration`, `chain`, `legal`, `arbitrary` and `faults`; or `specs` alone; or \
         `array` and `bitstreams`; or `arrays` alone",
    )
}

/// The work on an array, or on random ones, if the test names any.
fn array_work(
    folder: &Path,
    array: Option<PathBuf>,
    bitstreams: Option<RandomBitstreams>,
    arrays: Option<RandomArrays>,
) -> Result<Option<Work>, Fault> {
    match (array, bitstreams, arrays) {
        (Some(array), Some(bitstreams), None) => Ok(Some(Work::Bitstreams(folder.join(array), bitstreams))),
        (None, None, Some(arrays)) => Ok(Some(Work::Arrays(arrays))),
        (None, None, None) => Ok(None),
        _ => {
            let message = "`array` and `bitstreams` go together; `arrays` stands alone";
            Err(refusal(&["name"], message, "give `array` and `bitstreams`, or `arrays`"))
        }
    }
}

fn chain_work(folder: &Path, tile: PathBuf, chain: &[PathBuf], delays: Delays) -> Result<Work, Fault> {
    let help = "a chain is checked by what its last tile shows: name its tiles' configurations and its `delays`";
    if chain.len() < 2 {
        return Err(refusal(&["chain"], "a chain has at least two tiles", help));
    }
    if delays.is_empty() {
        return Err(refusal(&["chain"], "a chain needs `delays`", help));
    }
    Ok(Work::Chain { tile, configurations: chain.iter().map(|file| folder.join(file)).collect(), delays })
}

/// The numbers of outputs. A tile that cannot be read is reported by its test.
fn read_delays(delays: &BTreeMap<String, u64>, tile: Option<&Path>) -> Result<Delays, Fault> {
    if delays.is_empty() {
        return Ok(Delays::new());
    }
    let outputs = tile.and_then(|tile| TileSpec::read(tile).ok()).map_or(MAX_PORTS, |spec| spec.outputs as usize);
    let help = "a delay is the number of an output, `:` and a number of cycles, such as `{0: 64}`";
    delays
        .iter()
        .map(|(output, &delay)| match output.parse::<usize>() {
            Ok(number) if number < outputs => Ok((number, delay)),
            Ok(number) => {
                let message = format!("there is no output {number}: the tile has {outputs}, counted from 0");
                Err(refusal(&["delays", output], message, help))
            }
            Err(_) => Err(refusal(&["delays", output], format!("`{output}` is not the number of an output"), help)),
        })
        .collect()
}
