//! Random programs: the compiled accelerator computes the same as the interpreter.

use pushmem_programs::{
    in_float16, random_program, random_program_in_parts, random_program_of_numbers, random_program_of_random_accesses,
    random_program_with_parameters, random_program_with_recurrences, random_reductions, random_reductions_of_numbers,
};

use crate::common::FIXED;
use crate::outcome::{Outcome, check, outcome};

/// Tiles that programs are built for, in rotation.
const TILES: [&str; 9] =
    ["amber", "dual_port", "fetch2", "fetch8", "onyx", "quad_port", "small", "one_in_three_out", FIXED];

/// Those among them with a port for the first values of sums and one for their updates.
const TWO_INPUTS: [&str; 7] = ["amber", "dual_port", "fetch8", "onyx", "quad_port", "small", FIXED];

/// Programs of a normal run, and of a long one.
const PROGRAMS: u64 = 150;
const MANY_PROGRAMS: u64 = 10_000;

/// Of a hundred, so many may be refused.
const MOST_REFUSED: usize = 5;

/// The same of sums of numbers, whose copies may not add in another order than the program.
const MOST_NUMBERS_REFUSED: usize = 40;

#[test]
fn random_programs_compute_what_they_say() {
    check(0..PROGRAMS, &TILES, random_program, MOST_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TILES, random_program, MOST_REFUSED);
}

#[test]
fn random_programs_with_parameters_compute_what_they_say() {
    check(0..PROGRAMS / 2, &TILES, random_program_with_parameters, MOST_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_with_parameters_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TILES, random_program_with_parameters, MOST_REFUSED);
}

/// Rows of any length, read in parts from some column on.
#[test]
fn random_programs_in_parts_compute_what_they_say() {
    check(0..2 * PROGRAMS, &TILES, random_program_in_parts, MOST_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_in_parts_compute_what_they_say() {
    check(2 * PROGRAMS..2 * PROGRAMS + MANY_PROGRAMS, &TILES, random_program_in_parts, MOST_REFUSED);
}

/// Fetches that gain on the reads of a row were placed as if the row was short.
#[test]
fn parts_of_rows_that_end_within_a_fetch_compute_what_they_say() {
    for width in 36..=66 {
        let parts = (width - 1) / 2;
        let kept = format!("  - for y in 0..8:\n    - for x in 0..{width}:\n      - k[x, y] = image[x, y]\n");
        let crop = format!(
            "name: crop\nschedule: dnn\ninputs: {{image: {{type: u8, shape: [{width}, 8]}}}}\noutputs: {{o: {{type: u8, shape: [{}, \
             8]}}}}\nbuffers: {{k: {{type: u8, shape: [{width}, 8]}}}}\nnest:\n{kept}  - for y in 0..8:\n    - for t in 0..{parts}:\n      \
             - for i in 0..2:\n        - o[i + 2*t, y] = k[i + 2*t + 1, y]\n",
            2 * parts
        );
        let last = 2 * (width - 1);
        let enlarged = format!(
            "name: enlarged\ninputs: {{image: {{type: u8, shape: [{width}, 2]}}}}\noutputs: {{o: {{type: u8, shape: [{}, 2]}}}}\nnest:\n  \
             - for y in 0..2:\n    - for t in 0..{}:\n      - for i in 0..2:\n        - o[i + 2*t, y] = image[i + t, y]\n  \
             - for y in 0..2:\n    - o[{last}, y] = image[{}, y]\n",
            last + 1,
            width - 1,
            width - 1
        );
        for text in [crop, enlarged] {
            assert_eq!(outcome(&text, "amber", 1), Outcome::Right, "{width}\n{text}");
        }
    }
}

#[test]
fn random_programs_with_recurrences_compute_what_they_say() {
    check(0..PROGRAMS / 2, &TILES, random_program_with_recurrences, MOST_REFUSED);
}

/// Most of these have boundaries, which kept arrays do not.
#[test]
fn random_programs_with_recurrences_run_nest_by_nest() {
    let nests = |seed: u64| random_program_with_recurrences(seed).replace("\ninputs:", "\nschedule: dnn\ninputs:");
    check(0..PROGRAMS / 2, &["dual_port", "quad_port", "amber"], nests, 90);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_with_recurrences_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TILES, random_program_with_recurrences, MOST_REFUSED);
}

/// Sums in the innermost loops, which stay in registers, and others, which do not.
#[test]
fn random_reductions_compute_what_they_say() {
    check(0..PROGRAMS, &TWO_INPUTS, random_reductions, MOST_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_reductions_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TWO_INPUTS, random_reductions, MOST_REFUSED);
}

#[test]
fn random_programs_of_random_accesses_compute_what_they_say() {
    check(0..PROGRAMS, &TWO_INPUTS, random_program_of_random_accesses, MOST_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_of_random_accesses_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TWO_INPUTS, random_program_of_random_accesses, MOST_REFUSED);
}

#[test]
fn random_programs_of_numbers_compute_what_they_say() {
    check(0..PROGRAMS, &TILES, random_program_of_numbers, MOST_REFUSED);
    check(0..2 * PROGRAMS, &TWO_INPUTS, random_reductions_of_numbers, MOST_NUMBERS_REFUSED);
}

#[test]
fn random_programs_of_float16_compute_what_they_say() {
    check(0..PROGRAMS, &TILES, |seed| in_float16(&random_program_of_numbers(seed)), MOST_REFUSED);
    let reductions = |seed| in_float16(&random_reductions_of_numbers(seed));
    check(0..2 * PROGRAMS, &TWO_INPUTS, reductions, MOST_NUMBERS_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_of_numbers_compute_what_they_say() {
    let half = |seed| in_float16(&random_program_of_numbers(seed));
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TILES, half, MOST_REFUSED);
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TILES, random_program_of_numbers, MOST_REFUSED);
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS, &TWO_INPUTS, random_reductions_of_numbers, MOST_NUMBERS_REFUSED);
}
