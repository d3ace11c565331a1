//! Random programs on random arrays, in the model of the array against the interpreter.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pushmem_bitstream::decode;
use pushmem_fabric::{ArraySpec, Blocks, Folder};
use pushmem_files::{Code, Diagnostic, Document};
use pushmem_mapper::{ArrayTarget, execute};
use pushmem_nest::Program;
use pushmem_programs::{
    random_network, random_network_of_wide_elements, random_program, random_program_of_numbers,
    random_program_of_wide_elements, random_program_with_parameters, random_program_with_recurrences,
    random_reductions, random_reductions_of_numbers,
};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::mapped;

/// The shipped blocks, with a processing element and a memory tile in which fields are drawn.
struct DrawnBlocks {
    shipped: Folder,
    pe: String,
    memory: String,
}

impl Blocks for DrawnBlocks {
    fn processing_element(&self, name: &str) -> Result<Document, Diagnostic> {
        Document::parse(name, self.pe.clone())
    }

    fn tile(&self, name: &str) -> Result<Document, Diagnostic> {
        if name == "drawn_tile" { Document::parse(name, self.memory.clone()) } else { self.shipped.tile(name) }
    }
}

/// The operations of numbers of bfloat16.
const NUMBERS: &str = "bfloat_add, bfloat_subtract, bfloat_multiply, bfloat_equal, bfloat_less, bfloat_less_equal, \
                       bfloat_from_integer, bfloat_to_integer";

/// A processing element with all operations of amber's, those of numbers, some more, and those that others take the place of or not.
fn processing_element(random: &mut ChaCha8Rng) -> String {
    let mut operations = "pass add subtract multiply multiply_middle_unsigned multiply_middle_signed multiply_high_unsigned \
                          multiply_high_signed shift_left shift_right_unsigned shift_right_signed and or xor select equal \
                          less_unsigned less_signed add_carry subtract_carry"
        .split_whitespace()
        .collect::<Vec<_>>();
    let others = "minimum_unsigned minimum_signed maximum_unsigned maximum_signed absolute less_equal_unsigned less_equal_signed \
                  add_three multiply_add absolute_difference_unsigned absolute_difference_signed clamp_unsigned clamp_signed \
                  extend_unsigned extend_signed";
    operations.extend(others.split_whitespace().filter(|_| random.random_bool(0.5)));
    let held = if random.random_bool(0.9) { "held_operands: true\n" } else { "" };
    // Nothing is drawn, so that seeds that once failed still stand for the same arrays.
    let has_third =
        operations.iter().any(|name| ["add_three", "multiply_add"].contains(name) || name.starts_with("clamp"));
    let accumulator = match operations.len() % 3 {
        _ if held.is_empty() => "",
        0 => "",
        1 if has_third => "accumulator: c\n",
        _ => "accumulator: b\n",
    };
    format!(
        "name: drawn_pe\nkind: processing_element\nlut: true\n{held}{accumulator}operand_delay: {}\nmultiplier_cycles: {}\noperations: [{}, {NUMBERS}]\n",
        random.random_range(1..=3),
        random.random_range(1..=2),
        operations.join(", "),
    )
}

/// A memory tile behind a wide SRAM.
fn memory(random: &mut ChaCha8Rng) -> String {
    let (inputs, outputs) = *[(1, 1), (1, 2), (2, 2), (2, 2), (2, 2)].choose(random).expect("some ports");
    let fetch_width = *[4, 4, 8].choose(random).expect("some widths");
    format!(
        "name: drawn_tile\nkind: wide_fetch\nword_bits: 16\nfetch_width: {fetch_width}\nrows: {}\ninputs: {inputs}\noutputs: {outputs}\n\
         agg_words: {}\ntb_words: {}\nchaining: {}\nstencil_valid: true\nrom_mode: {}\n\
         controllers: {{all: {{levels: {}, extent_bits: 16, cycle_bits: 16}}}}\n",
        [512, 1_024, 2_048].choose(random).expect("some sizes") / fetch_width,
        fetch_width * random.random_range(2..=4),
        fetch_width * random.random_range(2..=4),
        random.random_bool(0.8),
        random.random_bool(0.9),
        random.random_range(4..=7),
    )
}

/// An array for programs, and its specification with those of its blocks as text.
fn random_array(random: &mut ChaCha8Rng) -> (ArraySpec, String) {
    let shipped = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
    let blocks = DrawnBlocks { shipped, pe: processing_element(random), memory: memory(random) };
    let every = random.random_range(2..=5);
    let register_files = if random.random_bool(0.2) { "register_file: pond\n" } else { "" };
    let text = format!(
        "name: drawn\nkind: array\ncolumns: {}\nrows: {}\npe: drawn_pe\n{register_files}memory: {{tile: drawn_tile, every: {every}}}\n\
         tracks: {{word: {}, bit: {}}}\ntopology: {}\nhop_limit: {}\nio: {{levels: {}}}\nclock_gating: {}\n",
        every * random.random_range(12 / every..=48 / every),
        random.random_range(8..=31),
        random.random_range(3..=6),
        random.random_range(3..=6),
        ["wilton", "disjoint"].choose(random).expect("some topologies"),
        [1, 1, 2, 4].choose(random).expect("some limits"),
        random.random_range(6..=8),
        random.random_bool(0.5),
    );
    let spec = ArraySpec::from_document(&Document::parse("drawn.yaml", text.clone()).expect("it is YAML"), &blocks);
    let texts = [text, blocks.pe, blocks.memory].join("---\n");
    (spec.unwrap_or_else(|error| panic!("a drawn array can be built: {error:?}\n{texts}")), texts)
}

/// Whether a program fits its array and computes there as the interpreter does; `false` where it is refused.
///
/// Errors: it computes something else, or a pass is at fault.
fn computes(seed: u64, text: String) -> Result<bool, String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let program = Program::from_document(&Document::parse("random.yaml", text.clone()).expect("it is YAML"))
        .expect("it is right")
        .program;
    let (spec, array) = random_array(random);
    let texts = [array, text].join("---\n");
    let target = ArrayTarget::new(spec);
    let (compiled, mapped) = match mapped(&program, &target) {
        Ok(found) => found,
        Err(error) => {
            if error.code() == Some(Code::Fault) {
                return Err(format!("{error:?}\n{texts}"));
            }
            return Ok(false);
        }
    };
    let images = compiled.program.random_inputs(random);
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).map_err(|error| error.to_string())?;
    let found = execute(&mapped, &configuration, &compiled, &target, &images).map_err(|error| error.to_string())?;
    let is_right = found.outputs == compiled.source.run(&images).expect("it runs");
    if is_right { Ok(true) } else { Err(format!("it computes something else\n{texts}")) }
}

/// The random program of a seed: of all kinds in rotation.
fn program(seed: u64) -> String {
    let kinds = [random_program, random_program_with_parameters, random_program_with_recurrences, random_reductions];
    kinds[seed as usize % kinds.len()](seed)
}

/// Runs the programs of these seeds, each on an array of its own. Some of them need more than their arrays have.
fn check(seeds: impl IntoIterator<Item = u64>, program: impl Fn(u64) -> String) {
    let outcome = |seed| {
        let computed = catch_unwind(AssertUnwindSafe(|| computes(seed, program(seed))));
        computed.unwrap_or_else(|_| Err("it panics".to_owned()))
    };
    let outcomes = seeds.into_iter().map(|seed| (seed, outcome(seed))).collect::<Vec<_>>();
    let wrong = outcomes.iter().filter_map(|(seed, outcome)| Some(format!("{seed}: {}", outcome.as_ref().err()?)));
    let wrong = wrong.collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let refused = outcomes.iter().filter(|(_, outcome)| *outcome == Ok(false)).count();
    assert!(refused * 2 < outcomes.len(), "{refused} of {} are refused", outcomes.len());
}

#[test]
fn random_programs_compute_what_they_say_on_random_arrays() {
    check(0..40, program);
}

/// Elements of 32 bits: pairs of words. Shifts and divisions of these by data are refused, as arrays compute none.
#[test]
fn random_programs_of_wide_elements_compute_what_they_say_on_random_arrays() {
    check(0..24, |seed| match seed % 4 {
        0 => random_network_of_wide_elements(seed),
        _ => random_program_of_wide_elements(seed),
    });
}

/// Sums whose copies would add in another order than the program are refused.
#[test]
fn random_programs_of_numbers_compute_what_they_say_on_random_arrays() {
    check(0..24, |seed| match seed % 4 {
        0 => random_reductions_of_numbers(seed),
        _ => random_program_of_numbers(seed),
    });
}

/// Recurrences whose readers took their words for the first values of sums; copies of sums that use the value of an unrolled loop; words
/// that wait for readers that are not there; a reduction whose result is always its first value.
#[test]
fn random_programs_that_once_failed_compute_what_they_say_on_random_arrays() {
    check([75, 206, 302, 350, 407, 429, 435, 459, 606, 614, 735, 811, 919, 1_129, 1_290, 1_325], program);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_compute_what_they_say_on_random_arrays() {
    check(40..1_540, program);
}

#[test]
fn random_networks_compute_what_they_say_on_random_arrays() {
    check(0..10, random_network);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_networks_compute_what_they_say_on_random_arrays() {
    check(10..300, random_network);
}
