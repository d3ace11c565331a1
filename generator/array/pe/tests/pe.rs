//! Processing elements: RTL against the meaning of operations.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use pushmem_files::Document;

use pushmem_pe::{Operation, PeSpec, generate};
use pushmem_systemverilog::{KEYWORDS, VERYL_KEYWORDS};
use pushmem_testing::Part;

use support::{Bench, spec};

/// The largest: all operations.
fn all(word_bits: u32, delay: u32) -> PeSpec {
    let operations = Operation::ALL.into_iter().filter(|operation| !operation.has_fraction() || word_bits == 16);
    spec("all", word_bits, delay, true, operations)
}

/// All operations, with words that can be held, and perhaps one that can be accumulated.
fn holding(word_bits: u32, delay: u32, accumulator: Option<char>) -> PeSpec {
    PeSpec { held_operands: true, accumulator, ..all(word_bits, delay) }
}

/// The same with products that take two cycles.
fn late_products(spec: PeSpec) -> PeSpec {
    PeSpec { multiplier_cycles: 2, ..spec }
}

#[test]
fn rtl_of_all_operations_is_clean_veryl() {
    for word_bits in [4, 8, 16, 32] {
        let files = generate(&all(word_bits, 2)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(files.last().unwrap().name, "all_pe");
    }
}

/// Each operation alone, and two operations at random, so that parts that only others need are left out right.
#[test]
fn every_operation_is_lint_clean_alone() {
    for operation in Part::chosen().of(Operation::ALL) {
        let needs_product = operation.name().starts_with("multiply_m") || operation.name().starts_with("multiply_h");
        let with = needs_product.then_some(Operation::Multiply);
        // Half a word is no operand.
        let extends = operation.name().starts_with("extend");
        let with = with.or(extends.then_some(Operation::Pass));
        let alone = spec("alone", 16, 1, false, with.into_iter().chain([operation]));
        Bench::lint(&alone);
    }
    for (word_bits, delay) in [(4, 1), (16, 1), (32, 8)] {
        Bench::lint(&all(word_bits, delay));
    }
    for accumulator in [None, Some('a'), Some('b'), Some('c')] {
        Bench::lint(&holding(8, 2, accumulator));
        Bench::lint(&late_products(holding(8, 2, accumulator)));
    }
    Bench::lint(&late_products(spec("alone", 16, 1, false, [Operation::Multiply])));
}

/// Every operation on all pairs of words of 8 bits.
#[test]
fn operations_are_what_they_mean_on_all_words_of_8_bits() {
    Bench::new(&all(8, 1)).exhaustive();
}

/// Every operation on random words and extremes, with operands of every mode: with words that are held and accumulated, and without.
#[test]
fn operations_are_what_they_mean_on_random_words() {
    let late = late_products(holding(16, 1, Some('c')));
    let specs = [all(16, 1), holding(16, 3, Some('a')), holding(32, 1, None), holding(4, 2, Some('c')), late];
    for spec in Part::chosen().of(specs) {
        Bench::new(&spec).random(200_000);
    }
}

#[test]
fn shipped_specifications_read_back_and_are_lint_clean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints/pes");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6);
    for file in Part::chosen().of(files) {
        let read = PeSpec::from_document(&Document::read(&file).unwrap()).unwrap();
        let again = Document::parse("again.yaml", read.to_yaml()).unwrap();
        assert_eq!(PeSpec::from_document(&again).unwrap(), read);
        Bench::lint(&read);
    }
}

/// Names of modules, which are written in Veryl and printed in SystemVerilog.
#[test]
fn no_reserved_word_is_a_name() {
    for word in KEYWORDS.iter().chain(&VERYL_KEYWORDS) {
        let text = format!("kind: processing_element\noperations: [add]\nname: \"{word}\"\n");
        let error = PeSpec::from_document(&Document::parse("pe.yaml", text).unwrap()).unwrap_err();
        assert_eq!(error.message(), format!("`{word}` cannot be the name of a module"));
        assert_eq!(error.location(), Some(("pe.yaml".to_owned(), 3, 7)));
    }
}

#[test]
fn errors_point_at_the_key() {
    for (text, message) in [
        ("name: Big\nkind: processing_element\noperations: [add]", "`Big` cannot be the name of a module"),
        (
            "name: always_comb\nkind: processing_element\noperations: [add]",
            "`always_comb` cannot be the name of a module",
        ),
        ("name: pushmem_operand\nkind: processing_element\noperations: [add]", "`pushmem_operand` cannot be"),
        ("name: a__b\nkind: processing_element\noperations: [add]", "`a__b` cannot be the name of a module"),
        ("name: a\nkind: processing_element\noperations: []", "there is no operation"),
        ("name: a\nkind: processing_element\noperations: [add, add]", "`add` is here twice"),
        ("name: a\nkind: processing_element\nword_bits: 7\noperations: [add]", "a word cannot have 7 bits"),
        ("name: a\nkind: processing_element\nword_bits: 34\noperations: [add]", "a word cannot have 34 bits"),
        (
            "name: a\nkind: processing_element\noperand_delay: 0\noperations: [add]",
            "operands cannot be delayed by up to 0",
        ),
        ("name: a\nkind: processing_element\noperations: [add, multiply_high_signed]", "without the low word"),
        ("name: a\nkind: processing_element\nword_bits: 8\noperations: [add, bfloat_add]", "needs words of 16 bits"),
        ("name: a\nkind: processing_element\nmultiplier_cycles: 3\noperations: [multiply]", "cannot take 3 cycles"),
        (
            "name: a\nkind: processing_element\nmultiplier_cycles: 2\noperations: [add]",
            "a multiplier that is not there",
        ),
        ("name: a\nkind: processing_element\noperations: [extend_signed]", "no operation takes a whole word"),
        ("name: a\nkind: processing_element\nheld_operands: true\noperations: [add]", "without a table"),
        ("name: a\nkind: processing_element\naccumulator: b\noperations: [add]", "without held operands"),
        (
            "name: a\nkind: processing_element\nlut: true\nheld_operands: true\naccumulator: c\noperations: [add]",
            "no operation takes a word `c`",
        ),
    ] {
        let document = Document::parse("pe.yaml", text).unwrap();
        let error = PeSpec::from_document(&document).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
