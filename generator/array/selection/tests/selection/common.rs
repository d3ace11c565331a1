//! Helpers that the tests share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pushmem_cells::{Cells, Table};
use pushmem_datapaths::Datapath;
use pushmem_files::Document;
use pushmem_images::Image;
use pushmem_kernels::{ArrayRanges, DatapathGraph};
use pushmem_nest::{ArrayKind, Observer, Program, Type};
use pushmem_pe::{Numbers, PeSpec};
use pushmem_selection::{Refused, TableTiles, select};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// The program of this text, which must be right.
pub fn read(text: &str) -> Program {
    let document = Document::parse("test.yaml", text).unwrap();
    Program::from_document(&document).unwrap_or_else(|problem| panic!("{problem:?}\n{text}")).program
}

/// A program in `apps`.
pub fn app(name: &str) -> Program {
    let file = PathBuf::from(ROOT).join("apps").join(name).with_extension("yaml");
    Program::from_document(&Document::read(&file).unwrap()).unwrap().program
}

/// A shipped processing element.
pub fn pe(name: &str) -> PeSpec {
    let file = PathBuf::from(ROOT).join("constraints/pes").join(name).with_extension("yaml");
    PeSpec::from_document(&Document::read(&file).unwrap()).unwrap()
}

/// A number of the type, often an extreme or a small one.
pub fn random_value(value: Type, random: &mut ChaCha8Rng) -> i64 {
    let near = random.random_range(-3..=3);
    match random.random_range(0..6) {
        0 => value.wrap(value.min() + near),
        1 => value.wrap(near),
        2 => value.wrap(1 << random.random_range(0..value.bits())),
        _ => value.wrap(random.random()),
    }
}

/// The tables of the array `amber`.
pub const TABLES: TableTiles = TableTiles { words: 2048, elements: 3 };

/// The cells of each operation of a program.
pub fn selected(program: &Program, spec: &PeSpec) -> Vec<Result<Cells, Refused>> {
    let graphs = DatapathGraph::all_within(program, ArrayRanges::of_operations(program));
    graphs.map(|graph| select(&graph, spec, Some(TABLES), Vec::new())).collect()
}

/// Runs a program on random images, and compares each execution of an operation with its cells. Returns how many were.
pub fn compare(program: &Program, spec: &PeSpec, seed: u64) -> usize {
    let cells = selected(program, spec);
    let loads =
        program.operations().iter().map(|(_, operation)| Datapath::accesses(program, operation).len()).collect();
    let datapaths =
        program.operations().iter().map(|(_, operation)| DatapathGraph::of(program, operation).dedicated()).collect();
    let mut comparison = Comparison { program, spec, cells, loads, datapaths, compared: 0 };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut image = |array: &pushmem_nest::Array| {
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        let values = (0..array.size()).map(|_| random_value(array.element, &mut random));
        Image::from_values(array.element.element().unwrap(), &shape, values).unwrap().with_min(&array.min)
    };
    let inputs: BTreeMap<_, _> =
        program.arrays_of(ArrayKind::Input).map(|array| (array.name.clone(), image(array))).collect();
    // Random images reach beyond the tables of some programs: there the run ends.
    let _ = program.run_observed(&inputs, &mut comparison);
    comparison.compared
}

struct Comparison<'a> {
    program: &'a Program,
    spec: &'a PeSpec,
    cells: Vec<Result<Cells, Refused>>,
    /// Loads of each operation.
    loads: Vec<usize>,
    datapaths: Vec<Datapath>,
    compared: usize,
}

impl Observer for Comparison<'_> {
    fn executed(&mut self, operation: usize, variables: &[i64], loads: &[i64], stored: i64) {
        let Ok(cells) = &self.cells[operation] else { return };
        // Copies of an unrolled reduction are one operation, and the interpreter executes them one by one.
        if self.loads[operation] != loads.len() {
            return;
        }
        let word_bits = self.spec.word_bits;
        let mask = u32::MAX >> (32 - word_bits);
        let operands = self.datapaths[operation].operands();
        let words: Vec<u32> = operands.iter().map(|(load, word)| u32::from(word.of(loads[*load])) & mask).collect();
        let entry = |table: Table, index: u32| {
            cells.contents(self.program, table).get(index as usize).map_or(0, |entry| *entry as u32 & mask)
        };
        let found = cells.evaluate(&Numbers { word_bits }, &words, variables, entry);
        let results = self.datapaths[operation].result_type().words().iter();
        let expected: Vec<u32> = results.map(|word| u32::from(word.of(stored)) & mask).collect();
        assert_eq!(found, expected, "{} of {loads:?} at {variables:?}: {cells:#?}", self.program);
        self.compared += 1;
    }
}
