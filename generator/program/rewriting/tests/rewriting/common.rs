//! Helpers that the tests of rewrites share.

use std::path::Path;

use pushmem_files::Document;
use pushmem_nest::{Checked, Program};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A program of the applications, which is read without warnings.
pub fn app(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps");
    let Checked { program, warnings } = Program::read(&folder.join(format!("{name}.yaml"))).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    program
}

/// The program of a text.
pub fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// Checks that a pass changes nothing of what a program computes, and that its result is a program without warnings when it is read
/// again; returns the result and what is read.
pub fn transformed(program: &Program, pass: impl Fn(Program) -> Program) -> (Program, Program) {
    let result = pass(program.clone());
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(result.run(&inputs).unwrap(), program.run(&inputs).unwrap(), "{result}");
    let text = result.to_string();
    let again = Program::from_document(&Document::parse("transformed", text.clone()).unwrap()).unwrap();
    assert!(again.warnings.is_empty(), "{text}\n{:?}", again.warnings);
    (result, again.program)
}
