//! Arrays: their specifications, their RTL, and their configurations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use itertools::Itertools;
use pushmem_bitstream::{Bitstream, Configuration};
use pushmem_fabric::{ArraySpec, Blocks, TimingModel};
use pushmem_files::{Code, Diagnostic, Document, FieldPath, OutputFolder};
use pushmem_registers::RegisterMap;
use pushmem_resources::{ArrayMap, BankMap, Graph, bank_driver, memory_folder};
use pushmem_systemverilog::files_of;

use crate::application::pes::PES;
use crate::application::tiles::{self, TILES};
use crate::kinds::{self, FileKind};
use crate::shipped::Shipped;

/// The arrays of `constraints/arrays`.
pub const ARRAYS: Shipped = Shipped { what: "array", kind: FileKind::Array, folder: "constraints/arrays" };

/// The timing models of `constraints/timing_models`, by the names of arrays.
const TIMING_MODELS: Shipped =
    Shipped { what: "timing model", kind: FileKind::TimingModel, folder: "constraints/timing_models" };

/// Reads the timing model of an array: a file, or the name of one in `constraints/timing_models`; without, that of the array's name.
///
/// # Errors
/// When there is none, or it is that of another array.
pub fn timing_model(spec: &ArraySpec, named: Option<&Path>) -> Result<TimingModel, Diagnostic> {
    TimingModel::from_document(&TIMING_MODELS.document(named.unwrap_or(Path::new(&spec.name)))?, spec)
}

/// The blocks of an array: names as on the command line, and files beside the specification.
struct BlocksOf<'a> {
    document: &'a Document,
}

impl BlocksOf<'_> {
    /// The file of a name beside the specification, where the project and the program have none.
    fn found(&self, name: &str, shipped: Result<Document, Diagnostic>) -> Result<Document, Diagnostic> {
        let folder = Path::new(self.document.name()).parent().unwrap_or(Path::new("."));
        let beside = folder.join(format!("{name}.yaml"));
        match shipped {
            Err(_) if beside.is_file() => Document::read(&beside),
            shipped => shipped,
        }
    }
}

impl Blocks for BlocksOf<'_> {
    fn processing_element(&self, name: &str) -> Result<Document, Diagnostic> {
        self.found(name, PES.by_name(name))
    }

    fn tile(&self, name: &str) -> Result<Document, Diagnostic> {
        self.found(name, TILES.by_name(name))
    }
}

/// Whether a document is the specification of an array.
pub fn is_one(document: &Document) -> bool {
    kinds::of(document) == Some(ARRAYS.kind)
}

/// Reads the specification of an array.
///
/// # Errors
/// As [`ArraySpec::from_document`].
pub fn from_document(document: &Document) -> Result<ArraySpec, Diagnostic> {
    ArraySpec::from_document(document, &BlocksOf { document })
}

/// Reads the specification of an array: a file, or the name of one in `constraints/arrays`.
///
/// # Errors
/// When there is no such file or name, or the specification is wrong.
pub fn read_named(named: &Path) -> Result<ArraySpec, Diagnostic> {
    from_document(&ARRAYS.document(named)?)
}

/// The arrays of `constraints/arrays`.
pub fn shipped_specs() -> impl Iterator<Item = ArraySpec> {
    let specs = ARRAYS.shipped().map(|name| ARRAYS.by_name(&name).and_then(|document| from_document(&document)));
    specs.flatten()
}

/// Reads a file that is the specification of an array. Nothing, if it is a name or any other file.
///
/// # Errors
/// When the file is the specification of an array that is wrong.
pub fn read_file(path: &Path) -> Result<Option<ArraySpec>, Diagnostic> {
    let document = path.is_file().then(|| Document::read(path).ok()).flatten();
    document.filter(is_one).map(|document| from_document(&document)).transpose()
}

/// The array that a configuration names: in `constraints/arrays`, or beside the configuration.
///
/// # Errors
/// When there is none of the name, at the key that names it.
pub fn of_configuration(configuration: &Document) -> Result<ArraySpec, Diagnostic> {
    of_document(configuration, "array", &Configuration::array_of(configuration)?)
}

/// The array that a timing model names, likewise.
///
/// # Errors
/// As [`of_configuration`].
pub fn of_timing_model(model: &Document) -> Result<ArraySpec, Diagnostic> {
    of_document(model, "timing_of", &TimingModel::array_of(model)?)
}

/// The array of a name that a document has at a key.
fn of_document(document: &Document, key: &str, name: &str) -> Result<ArraySpec, Diagnostic> {
    let folder = Path::new(document.name()).parent().unwrap_or(Path::new("."));
    let beside = folder.join(format!("{name}.yaml"));
    let is_other = beside.is_file() && beside != Path::new(document.name());
    if is_other && let Some(spec) = read_file(&beside)? {
        return Ok(spec);
    }
    let found = ARRAYS.by_name(name).map_err(|unknown| {
        let message =
            format!("the specification of the array `{name}` is neither in {} nor {}", ARRAYS.folder, beside.display());
        let problem = document.error(&FieldPath::root().key(key), message).or_code(Code::Configuration);
        problem.with_help(unknown.help().unwrap_or_default())
    })?;
    from_document(&found)
}

/// A configuration of an array: of a bitstream, or as a person wrote it.
///
/// # Errors
/// When the file is neither, or is for another array.
pub fn configuration(path: &Path, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, Diagnostic> {
    if is_bitstream(path) {
        return Bitstream::decode_file(path, spec, graph);
    }
    let document = kinds::read(path, &[FileKind::ArrayConfiguration])?;
    Configuration::from_document(&document, spec, graph)
}

/// Whether a file is a bitstream: its name says so, or its first words are an address and data.
fn is_bitstream(path: &Path) -> bool {
    if path.extension().is_some_and(|extension| extension == "hex") {
        return true;
    }
    let Some(Ok(text)) = path.is_file().then(|| fs::read_to_string(path)) else { return false };
    let is_word = |word: &str| word.len() == 8 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    let words = text.lines().map(|line| line.split("//").next().unwrap_or_default()).flat_map(str::split_whitespace);
    let first = words.take(2).collect_vec();
    first.len() == 2 && first.into_iter().all(is_word)
}

/// The bitstream of a configuration in a file: of all of the array, or of some columns alone.
///
/// # Errors
/// When the configuration is wrong, or does not keep to the columns.
pub fn encode(spec: &ArraySpec, configuration: &Path, columns: Option<&Columns>) -> Result<Bitstream, Diagnostic> {
    let document = kinds::read(configuration, &[FileKind::ArrayConfiguration])?;
    let graph = Graph::of(spec);
    let configuration = Configuration::from_document(&document, spec, &graph)?;
    let Some(Columns(columns)) = columns else { return configuration.encode(spec, &graph) };
    if let Some(column) = columns.iter().find(|column| **column >= spec.columns) {
        let message = format!("`{}` has no column {column}", spec.name);
        return Err(Diagnostic::new(message).with_help(format!("its columns are 0 to {}", spec.columns - 1)));
    }
    configuration.keeps_to(&graph, columns).map_err(|fault| fault.located(&document, Code::Configuration))?;
    configuration.encode_columns(spec, &graph, columns)
}

/// Columns of an array.
#[derive(Clone, Debug)]
pub struct Columns(BTreeSet<u32>);

/// Parses columns: numbers and ranges of them, as `0,4-7`.
pub fn columns(text: &str) -> Result<Columns, String> {
    let number = |text: &str| text.parse::<u8>().map(u32::from).map_err(|_| expected(text));
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last { Err(expected(part)) } else { Ok(first..=last) }
    };
    let ranges: Vec<_> = text.split(',').map(range).collect::<Result<_, String>>()?;
    Ok(Columns(ranges.into_iter().flatten().collect()))
}

fn expected(part: &str) -> String {
    format!("`{part}` is neither the number of a column nor a range of them: expected something like 0,4-7")
}

/// The SystemVerilog files of an array: name and text of each, used modules before their users.
///
/// # Errors
/// When the RTL does not compile, which is a fault of the templates.
pub fn rtl_files(spec: &ArraySpec) -> Result<Vec<(String, String)>, Diagnostic> {
    let modules = pushmem_interconnect::generate(spec)
        .map_err(|error| Diagnostic::new(error.to_string()).as_fault("specification"))?;
    Ok(files_of(modules))
}

/// Adds the files of an array, without the RTL.
pub fn add_views(folder: &mut OutputFolder, spec: &ArraySpec, veryl: bool) {
    let map = ArrayMap::of(spec);
    folder.add("registers.json", map.to_json());
    folder.add("registers.h", map.to_c_header());
    folder.add("registers.rdl", map.to_system_rdl());
    folder.add("registers.md", map.to_markdown());
    folder.add("registers.py", map.to_python());
    folder.add("operations.md", spec.pe.to_markdown());
    folder.add("floorplan.svg", spec.to_svg());
    folder.add("hierarchy.vlt", pushmem_interconnect::verilator_hierarchy(spec));
    folder.add("spec.yaml", spec.to_yaml());
    folder.add("pe.yaml", spec.pe.to_yaml());
    for (kind, memory) in spec.memories_by_kind() {
        let within = memory_folder(kind);
        let views = tiles::views(memory, &RegisterMap::of(memory));
        folder.add_all(views.map(|(name, text)| (format!("{within}/{name}"), text)));
    }
    if let Some(map) = BankMap::of(spec) {
        folder.add("global_buffer/registers.json", map.to_json());
        folder.add("global_buffer/registers.rdl", map.to_system_rdl());
        folder.add("global_buffer/registers.md", map.to_markdown());
        folder.add_all(bank_driver(spec).into_iter().map(|(file, text)| (format!("global_buffer/{file}"), text)));
    }
    if veryl {
        let sources = pushmem_interconnect::sources(spec).into_iter();
        folder.add_all(sources.map(|source| (format!("veryl/{}.veryl", source.name), source.text)));
    }
}
