//! Loops over which reductions add: which come inside, and that they change nothing of what is computed.

use pushmem_nest::{Program, Witness};
use pushmem_rewriting::{
    with_first_values_as_sums, with_inner_reductions, with_loops_of_first_values, with_loops_of_output,
};

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
fn turned_by(text: &str, rewrite: fn(Program) -> (Program, Witness)) -> String {
    let (turned, again) = transformed(&program(text), |program| rewrite(program).0);
    let text = turned.to_string();
    assert_eq!(rewrite(again).0.to_string(), text);
    text.split_once("s[y, t] = 0\n").map(|(_, rest)| rest.to_owned()).unwrap()
}

fn turned(text: &str) -> String {
    turned_by(text, with_inner_reductions)
}

#[test]
fn loops_of_sums_come_inside_in_their_order() {
    let nest = "  - for z in 0..5:\n    - for t in 0..2:\n      - for x in 0..3:\n        - for y in 0..4 unroll 2:\n          - s[y, t] += (a[x, y, z] as i32 + x - 2*z) as i16\n";
    let right = "  - for t in 0..2:\n    - for y in 0..4 unroll 2:\n      - for z in 0..5:\n        - for x in 0..3:\n";
    let found = turned(&sums("i16", &format!("{BEGIN}{nest}")));
    assert!(found.starts_with(right) && found.contains("(a[x, y, z] as i32 + x - 2 * z) as i16"), "{found}");
}

#[test]
fn loops_of_sums_come_outside_of_those_of_first_values() {
    let nest = "  - for y in 0..4:\n    - for z in 0..5:\n      - for t in 0..2:\n        - for x in 0..3:\n          - s[y, t] += a[x, y, z]\n";
    let right = "  - for z in 0..5:\n    - for x in 0..3:\n      - for t in 0..2:\n        - for y in 0..4:\n";
    let found = turned_by(&sums("u16", &format!("{BEGIN}{nest}")), with_loops_of_first_values);
    assert!(found.starts_with(right), "{found}");
}

/// The nests that write the sums `t`, whose first values are these, after first values come in the order of the sums. Checks that this changes
/// nothing of what is computed.
fn with_first_values(value: &str) -> String {
    let arrays = "inputs: {b: {type: u16, shape: [4, 2]}, a: {type: u16, shape: [3, 4]}}\noutputs: {o: {type: u16, shape: [4, 2]}}\nbuffers: {t: {type: u16, shape: [4, 2]}}";
    let first = format!("  - for z in 0..2:\n    - for y in 0..4:\n      - t[y, z] = {value}\n");
    let sum = "  - for y in 0..4:\n    - for z in 0..2:\n      - for x in 0..3:\n        - t[y, z] += a[x, y]\n";
    let last = "  - for z in 0..2:\n    - for y in 0..4:\n      - o[y, z] = t[y, z]\n";
    let text = format!("name: sums\n{arrays}\nnest:\n{first}{sum}{last}");
    let (turned, _) = transformed(&program(&text), |program| with_first_values_as_sums(program).0);
    turned.to_string().split_once("nest:\n").unwrap().1.strip_suffix(last).unwrap().to_owned()
}

/// An input that is read again and again is in a memory; the words of one that a nest goes through once come in the order of the program.
#[test]
fn first_values_come_in_the_order_of_sums() {
    let sum = "  - for x in 0..3:\n    - for y in 0..4:\n      - for z in 0..2:\n        - t[y, z] += a[x, y]\n";
    for value in ["b[0, 0]", "b[y, 0]", "b[0, z] + 1"] {
        let first = format!("  - for y in 0..4:\n    - for z in 0..2:\n      - t[y, z] = {value}\n");
        assert_eq!(with_first_values(value), format!("{first}{sum}"));
    }
    let first = "  - for z in 0..2:\n    - for y in 0..4:\n      - t[y, z] = b[y, z]\n";
    assert_eq!(with_first_values("b[y, z]"), format!("{first}{sum}"));
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

/// The nests that write `t`, after loops are as those of the output. Checks that this changes nothing of what is computed.
fn loops_of_middle(middle: &str) -> String {
    let first = "  - for x in 0..4:\n    - for y in 0..5:\n      - b[x, y] = a[x, y]\n";
    let last = "  - for y in 0..5:\n    - for x in 0..4:\n      - o[x, y] = t[x, y]\n";
    let arrays = "inputs: {a: {type: u16, shape: [4, 5]}}\noutputs: {o: {type: u16, shape: [4, 5]}}\nbuffers: {b: {type: u16, shape: [4, 5]}, t: {type: u16, shape: [4, 5]}}";
    let text = format!("name: turned\n{arrays}\nnest:\n{first}{middle}{last}");
    let (turned, again) = transformed(&program(&text), |program| with_loops_of_output(program).0);
    let text = turned.to_string();
    assert_eq!(with_loops_of_output(again).0.to_string(), text);
    text.split_once(first).unwrap().1.strip_suffix(last).unwrap().to_owned()
}

#[test]
fn loops_follow_those_of_the_output() {
    let statement = "      - t[x, y] = b[x, y] + x as u16\n";
    let middle = format!("  - for x in 0..4:\n    - for y in 0..5:\n{statement}");
    assert_eq!(loops_of_middle(&middle), format!("  - for y in 0..5:\n    - for x in 0..4:\n{statement}"));
}

#[test]
fn sums_follow_the_loops_of_the_output() {
    let [first, sum] = ["t[x, y] = 0", "t[x, y] += b[x, y] * k as u16"];
    let middle = format!(
        "  - for x in 0..4:\n    - for y in 0..5:\n      - {first}\n  - for x in 0..4:\n    - for k in 0..3:\n      - for y in 0..5:\n        - {sum}\n"
    );
    let right = format!(
        "  - for y in 0..5:\n    - for x in 0..4:\n      - {first}\n  - for y in 0..5:\n    - for x in 0..4:\n      - for k in 0..3:\n        - {sum}\n"
    );
    assert_eq!(loops_of_middle(&middle), right);
}

#[test]
fn loops_stay_where_several_iterations_write_one_element() {
    let middle =
        "  - for x in 0..4:\n    - for y in 0..5:\n      - for k in 0..3:\n        - t[x, y] = b[x, y] + k as u16\n";
    assert_eq!(loops_of_middle(middle), middle);
}
