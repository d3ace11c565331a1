//! Helpers that the tests share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pushmem_datapaths::{Datapath, Evaluator};
use pushmem_files::Document;
use pushmem_images::Image;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{ArrayKind, Observer, Operation, Program, Type};
use pushmem_rewriting::{with_halves, with_random_access};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// The program of this text, which must be right.
pub fn read(text: &str) -> Program {
    let document = Document::parse("test.yaml", text).unwrap();
    Program::from_document(&document).unwrap_or_else(|problem| panic!("{problem:?}\n{text}")).program
}

/// All programs in `apps`, by name, with the accesses of random-access memories in one form.
pub fn apps() -> Vec<Program> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../apps");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let programs = files.iter().map(|file| Program::from_document(&Document::read(file).unwrap()).unwrap().program);
    programs.map(|program| with_halves(with_random_access(program).unwrap().0).unwrap().0).collect()
}

/// The program of this name in `apps`.
pub fn app(name: &str) -> Program {
    apps().into_iter().find(|program| program.name == name).unwrap()
}

/// The operation of this name.
pub fn operation<'a>(program: &'a Program, name: &str) -> &'a Operation {
    program.operations().into_iter().find(|(_, operation)| operation.name == name).unwrap().1
}

/// The datapath of the operation of this name.
pub fn datapath(program: &Program, name: &str) -> Datapath {
    DatapathGraph::of(program, operation(program, name)).dedicated()
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

/// Images for the inputs of the program.
pub fn random_inputs(program: &Program, random: &mut ChaCha8Rng) -> BTreeMap<String, Image> {
    let mut image = |array: &pushmem_nest::Array| {
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        let values = (0..array.size()).map(|_| random_value(array.element, random));
        Image::from_values(array.element.element().unwrap(), &shape, values).unwrap().with_min(&array.min)
    };
    program.arrays_of(ArrayKind::Input).map(|array| (array.name.clone(), image(array))).collect()
}

/// Compares datapaths with the interpreter.
pub struct Comparison<'a> {
    pub program: &'a Program,
    pub datapaths: Vec<Datapath>,
    evaluators: Vec<Evaluator>,
    /// How many executions were compared.
    pub compared: usize,
}

impl<'a> Comparison<'a> {
    pub fn new(program: &'a Program) -> Self {
        let datapaths: Vec<Datapath> = program
            .operations()
            .iter()
            .map(|(_, operation)| DatapathGraph::of(program, operation).dedicated())
            .collect();
        let evaluators = datapaths.iter().map(|datapath| Evaluator::new(datapath, &program.tables)).collect();
        Self { program, datapaths, evaluators, compared: 0 }
    }
}

impl Observer for Comparison<'_> {
    fn executed(&mut self, operation: usize, variables: &[i64], loads: &[i64], stored: i64) {
        let found = self.evaluators[operation].evaluate(loads, variables);
        let datapath = &self.datapaths[operation];
        assert_eq!(found, stored, "{} of {loads:?} at {variables:?}: {datapath:#?}", self.program);
        self.compared += 1;
    }
}
