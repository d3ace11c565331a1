//! The statements of the programs of the project, and random ones.

use std::path::{Path, PathBuf};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use pushmem_arithmetic::{Arithmetic, Ranges, prove_arithmetic};
use pushmem_datapaths::{Datapath, DedicatedOperators, TableMemories};
use pushmem_files::Document;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Observer, Program, Type};
use pushmem_programs::{
    random_network, random_program, random_program_of_wide_elements, random_program_with_recurrences,
};
use pushmem_rewriting::{with_halves, with_random_access};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[expect(dead_code, reason = "its numbers with a fraction are for other tests")]
#[path = "../../../compile/kernels/tests/kernels/expressions.rs"]
mod expressions;

/// The programs of a folder of the project.
fn programs(folder: &str) -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|path| Program::read(path).unwrap().program).collect()
}

fn datapaths(program: &Program) -> Vec<Datapath> {
    let memories = TableMemories { logic_words: 64, latency: 1 };
    let all = DatapathGraph::all(program).map(|graph| graph.pipelined(&DedicatedOperators::LONG_STAGES, memories));
    all.collect::<Result<_, _>>().unwrap()
}

fn sum(one: Arithmetic, other: Arithmetic) -> Arithmetic {
    Arithmetic {
        normal_forms: one.normal_forms + other.normal_forms,
        exhaustive: one.exhaustive + other.exhaustive,
        compared: one.compared + other.compared,
    }
}

#[test]
fn statements_of_the_project_are_proven() {
    let proven = |program: Program| {
        let (program, _) = with_random_access(program).unwrap();
        let (program, _) = with_halves(program).unwrap();
        let found = prove_arithmetic(&program, &datapaths(&program)).unwrap();
        assert_eq!(found.compared, 0, "{}", program.name);
        found
    };
    let all = ["apps", "rtl-tests/mutants/programs"].into_iter().flat_map(programs).map(proven);
    let all = all.fold(Arithmetic::default(), sum);
    assert!(all.normal_forms > 700 && all.exhaustive > 5, "{all:?}");
}

/// No datapath of a random expression is thought to be wrong, and most are proven.
#[test]
fn random_statements_are_mostly_proven() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut all = Arithmetic::default();
    for number in 0..600 {
        let (expression, _) = expressions::expression().new_tree(&mut runner).unwrap().current();
        let results = [Type::U16, Type::I16, Type::U8, Type::I8, Type::U32, Type::I32];
        let text = expressions::program(&expression, results[number % results.len()]);
        let program = Program::from_document(&Document::parse("random.yaml", text).unwrap()).unwrap().program;
        let begin = std::time::Instant::now();
        let found =
            prove_arithmetic(&program, &datapaths(&program)).unwrap_or_else(|wrong| panic!("{expression}: {wrong}"));
        if found.compared > 0 || begin.elapsed().as_millis() > 100 {
            println!("{:?} {found:?} {expression}", begin.elapsed());
        }
        all = sum(all, found);
    }
    println!("{all:?}");
    assert!(all.proven() > 9 * all.compared, "{all:?}");
}

/// Checks that what operations store is in the ranges of its arrays.
struct Within<'a> {
    program: &'a Program,
    targets: Vec<usize>,
    ranges: Ranges,
    /// Arrays whose ranges are closer than their types.
    close: usize,
}

impl<'a> Within<'a> {
    fn of(program: &'a Program) -> Self {
        let targets: Vec<usize> = program.operations().iter().map(|(_, operation)| operation.target.array).collect();
        let ranges = Ranges::of(program);
        let arrays = program.arrays.iter().enumerate();
        let is_close = |number: usize, of: Type| ranges.of_array(number) != (of.min(), of.max());
        let close = arrays.filter(|(number, array)| is_close(*number, array.element)).count();
        Self { program, targets, ranges, close }
    }
}

impl Observer for Within<'_> {
    fn executed(&mut self, operation: usize, _: &[i64], _: &[i64], stored: i64) {
        let array = self.targets[operation];
        let (low, high) = self.ranges.of_array(array);
        let name = &self.program.arrays[array].name;
        assert!((low..=high).contains(&stored), "`{name}` has {stored}, not of {low} to {high}\n{}", self.program);
    }
}

#[test]
fn elements_are_in_their_ranges() {
    let texts = (0..60).flat_map(|seed| {
        [random_program, random_network, random_program_of_wide_elements, random_program_with_recurrences]
            .map(|draw| draw(seed))
    });
    let random =
        texts.map(|text| Program::from_document(&Document::parse("random.yaml", text).unwrap()).unwrap().program);
    let mut close = 0;
    let is_small = |program: &Program| program.arrays.iter().map(|array| array.size()).sum::<usize>() < 50_000;
    for program in random.chain(programs("apps").into_iter().filter(is_small)) {
        let mut within = Within::of(&program);
        close += within.close;
        for seed in 0..2 {
            let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(seed));
            program.run_observed(&inputs, &mut within).unwrap();
        }
    }
    assert!(close > 40, "{close}");
}
