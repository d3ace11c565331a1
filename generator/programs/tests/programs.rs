//! Random programs are programs.

use pushmem_files::Document;
use pushmem_nest::Program;
use pushmem_programs::random_program;

#[test]
fn every_random_program_is_accepted() {
    for seed in 0..500 {
        let text = random_program(seed);
        let document = Document::parse("random.yaml", &text).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
        if let Err(error) = Program::from_document(&document) {
            panic!("{text}\n{:?}", error);
        }
    }
}

#[test]
fn a_seed_names_a_program() {
    assert_eq!(random_program(7), random_program(7));
    assert_ne!(random_program(7), random_program(8));
}
