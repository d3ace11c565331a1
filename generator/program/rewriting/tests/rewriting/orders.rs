//! Loops over which reductions add: which come inside, and that they change nothing of what is computed.

use pushmem_rewriting::with_inner_reductions;

use crate::common::{program, transformed};

/// A program with this nest, whose sums are of a type.
fn sums(element: &str, nest: &str) -> String {
    format!(
        "name: sums\ninputs: {{a: {{type: {element}, shape: [3, 4, 5]}}}}\noutputs: {{s: {{type: {element}, shape: [4, 2]}}}}\nnest:\n{nest}"
    )
}

/// The statements before the sum, which begin with 0.
const BEGIN: &str = "  - for t in 0..2:\n    - for y in 0..4:\n      - s[y, t] = 0\n";

/// Checks that other loops change nothing; returns the nest after that of the first values.
fn turned(text: &str) -> String {
    let (turned, again) = transformed(&program(text), |program| with_inner_reductions(program).0);
    let text = turned.to_string();
    assert_eq!(with_inner_reductions(again).0.to_string(), text);
    text.split_once("s[y, t] = 0\n").map(|(_, rest)| rest.to_owned()).unwrap()
}

#[test]
fn loops_of_sums_come_inside_in_their_order() {
    let nest = "  - for z in 0..5:\n    - for t in 0..2:\n      - for x in 0..3:\n        - for y in 0..4 unroll 2:\n          - s[y, t] += (a[x, y, z] as i32 + x - 2*z) as i16\n";
    let right = "  - for t in 0..2:\n    - for y in 0..4 unroll 2:\n      - for z in 0..5:\n        - for x in 0..3:\n";
    let found = turned(&sums("i16", &format!("{BEGIN}{nest}")));
    assert!(found.starts_with(right) && found.contains("(a[x, y, z] as i32 + x - 2 * z) as i16"), "{found}");
}

#[test]
fn loops_around_several_statements_stay() {
    let nest = "  - for t in 0..2:\n    - for y in 0..4:\n      - s[y, t] = 0\n    - for z in 0..5:\n      - for y in 0..4:\n        - for x in 0..3:\n          - s[y, t] += a[x, y, z]\n";
    let right =
        "    - for y in 0..4:\n      - for z in 0..5:\n        - for x in 0..3:\n          - s[y, t] += a[x, y, z]\n";
    assert_eq!(turned(&sums("u16", nest)), right);
}

#[test]
fn sums_whose_order_matters_stay() {
    let nest = "  - for z in 0..5:\n    - for t in 0..2:\n      - for y in 0..4:\n        - for x in 0..3:\n          - s[y, t] += a[x, y, z]\n";
    let (written, _) = transformed(&program(&sums("bf16", &format!("{BEGIN}{nest}"))), |program| program);
    assert_eq!(with_inner_reductions(written.clone()).0, written);
    let (whole, _) = transformed(&program(&sums("i16", &format!("{BEGIN}{nest}"))), |program| program);
    assert_ne!(with_inner_reductions(whole.clone()).0, whole);
}
