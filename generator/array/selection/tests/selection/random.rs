//! Random programs.

use pushmem_programs::{
    in_float16, random_network, random_program, random_program_of_numbers, random_program_of_wide_elements,
    random_reductions_of_numbers,
};

use crate::common::{compare, pe, read, selected};

/// Some operations of 32 bits have no cells: those that are there compute what they say.
#[test]
fn operations_of_wide_elements_compute_what_the_interpreter_does() {
    let specs = ["amber_pe", "largest_pe"].map(pe);
    let (mut compared, mut selections, mut refusals) = (0, 0, 0);
    for seed in 0..150 {
        let program = read(&random_program_of_wide_elements(seed));
        for spec in &specs {
            compared += compare(&program, spec, seed);
            let cells = selected(&program, spec);
            refusals += cells.iter().filter(|cells| cells.is_err()).count();
            selections += cells.len();
        }
    }
    assert!(compared > 0 && refusals * 3 < selections, "{refusals} of {selections} operations are refused");
}

#[test]
fn operations_of_random_programs_compute_what_the_interpreter_does() {
    let specs = ["amber_pe", "largest_pe"].map(pe);
    let (mut selections, mut refusals) = (0, 0);
    for seed in 0..150 {
        for text in [random_program(seed), random_network(seed)] {
            let program = read(&text);
            for spec in &specs {
                compare(&program, spec, seed);
                let cells = selected(&program, spec);
                refusals += cells.iter().filter(|cells| cells.is_err()).count();
                selections += cells.len();
            }
        }
    }
    assert!(refusals * 20 < selections, "{refusals} of {selections} operations are refused");
}

/// Of the operations of numbers, and of bits for their signs; others may be missing.
#[test]
fn operations_of_numbers_compute_what_the_interpreter_does() {
    let specs = ["bfloat_pe", "largest_pe", "float16_pe"].map(pe);
    // The first two have operations of bfloat16, the last two of float16.
    let (of_bfloat16, of_float16) = (&specs[..2], &specs[1..]);
    let (mut compared, mut selections, mut refusals) = (0, 0, 0);
    for seed in 0..150 {
        let texts = [random_program_of_numbers(seed), random_reductions_of_numbers(seed)];
        let halves = texts.each_ref().map(|text| (in_float16(text), of_float16));
        for (text, specs) in texts.map(|text| (text, of_bfloat16)).into_iter().chain(halves) {
            let program = read(&text);
            for spec in specs {
                compared += compare(&program, spec, seed);
                let cells = selected(&program, spec);
                refusals += cells.iter().filter(|cells| cells.is_err()).count();
                selections += cells.len();
            }
        }
    }
    assert!(compared > 0 && refusals * 3 < selections, "{refusals} of {selections} operations are refused");
}
