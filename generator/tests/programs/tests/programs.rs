//! Random programs are programs.

use pushmem_files::Document;
use pushmem_nest::{Policy, Program};
use pushmem_programs::{
    in_float16, random_network, random_program, random_program_of_numbers, random_program_with_parameters,
    random_program_with_recurrences, random_program_with_units, random_reductions_of_numbers, random_rows,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn accepted(text: &str) -> Program {
    let document = Document::parse("random.yaml", text).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
    Program::from_document(&document).unwrap_or_else(|error| panic!("{text}\n{error:?}")).program
}

#[test]
fn every_random_program_is_accepted() {
    for seed in 0..500 {
        accepted(&random_program(seed));
    }
}

#[test]
fn every_random_program_of_numbers_is_accepted() {
    for seed in 0..500 {
        let texts = [random_program_of_numbers(seed), random_reductions_of_numbers(seed)];
        for text in texts.each_ref().map(|text| in_float16(text)).into_iter().chain(texts) {
            let program = accepted(&text);
            let printed = program.to_string();
            let again = accepted(&printed);
            assert_eq!(again.to_string(), printed);
            let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(seed));
            assert_eq!(program.run(&inputs).unwrap(), again.run(&inputs).unwrap(), "{text}\n{printed}");
        }
    }
}

#[test]
fn every_random_program_with_parameters_is_accepted() {
    for seed in 0..500 {
        accepted(&random_program_with_parameters(seed));
    }
}

#[test]
fn every_random_program_with_recurrences_is_accepted() {
    for seed in 0..500 {
        accepted(&random_program_with_recurrences(seed));
    }
}

#[test]
fn every_random_program_with_units_shares_one() {
    for seed in 0..500 {
        let program = accepted(&random_program_with_units(seed));
        assert!(program.operations().iter().filter(|(_, operation)| operation.unit().is_some()).count() > 1, "{seed}");
    }
}

#[test]
fn every_random_network_is_accepted() {
    for seed in 0..500 {
        assert_eq!(accepted(&random_network(seed)).policy(), Policy::Dnn);
    }
}

#[test]
fn all_random_rows_are_accepted() {
    for seed in 0..500 {
        assert_eq!(accepted(&random_rows(seed)).policy(), Policy::Dnn);
    }
}

#[test]
fn a_seed_names_a_program() {
    assert_eq!(random_program(7), random_program(7));
    assert_ne!(random_program(7), random_program(8));
    assert_eq!(random_network(7), random_network(7));
    assert_ne!(random_network(7), random_network(8));
    assert_eq!(random_rows(7), random_rows(7));
    assert_ne!(random_rows(7), random_rows(8));
}
