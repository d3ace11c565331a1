//! Copies with an edge: which are cut into the edge and what is within, and that it changes nothing of what is computed.

use pushmem_nest::Program;
use pushmem_proof::prove_rewritten;
use pushmem_rewriting::{with_edges, with_outside_loads, without_edges};

use crate::common::{program, transformed};

/// A program that copies an image of 6 × 5 elements, twice, by this statement in these loops.
fn copies(loops: &str, copy: &str) -> Program {
    program(&format!(
        "
name: copies
schedule: dnn
inputs: {{input: {{type: i16, shape: [6, 5]}}}}
outputs: {{output: {{type: i16, shape: [10, 9, 2]}}}}
buffers: {{edged: {{type: i16, shape: [10, 9, 2]}}}}
nest:
  - for t in 0..2:
{loops}
        - {copy}
  - for t in 0..2:
    - for y in 0..9:
      - for x in 0..10:
        - output[x, y, t] = edged[x, y, t]
"
    ))
}

/// Checks that cutting changes nothing, which the proof says, too; returns the program as text.
fn cut(program: &Program) -> String {
    let (result, again) = transformed(program, |program| with_edges(program).0);
    let (cut, witness) = with_edges(program.clone());
    prove_rewritten(program, &cut, &witness).unwrap();
    let text = result.to_string();
    assert_eq!(with_edges(again).0.to_string(), text);
    text
}

const ROWS: &str = "    - for y in 0..9:\n      - for x in 0..10:";

#[test]
fn the_edge_is_written_first() {
    let text = cut(&copies(ROWS, "edged[x, y, t] = outside(input[x - 2, y - 1], 7)"));
    let nests = "  - for t in 0..2:
    - for y in 0..9:
      - for x in 0..10:
        - edged[x, y, t] = 7
  - for t in 0..2:
    - for y in 1..6:
      - for x in 2..8:
        - edged[x, y, t] = input[x - 2, y - 1]
";
    assert!(text.contains(nests), "{text}");
}

#[test]
fn steps_leave_what_is_between() {
    let text = cut(&copies(ROWS, "edged[x, y, t] = outside(input[2*x - 5, 3*y - 8], 0)"));
    assert!(text.contains("    - for y in 3..5:\n      - for x in 3..6:\n"), "{text}");
}

#[test]
fn other_copies_stay() {
    for (loops, copy) in [
        // Nothing is beyond.
        (ROWS, "edged[x, y, t] = outside(input[x / 2, y / 2], 7)"),
        // The index follows two loops, or goes backwards.
        (ROWS, "edged[x, y, t] = outside(input[x + y - 3, 2], 7)"),
        (ROWS, "edged[x, y, t] = outside(input[9 - x, 1], 7)"),
        // It does more than to copy.
        (ROWS, "edged[x, y, t] = outside(input[x, y], 7) + 1"),
        // Copies of the hardware share the iterations.
        ("    - for y in 0..9:\n      - for x in 0..10 unroll 2:", "edged[x, y, t] = outside(input[x - 2, 1], 7)"),
    ] {
        let program = copies(loops, copy);
        assert_eq!(with_edges(program.clone()).0, program, "{copy}");
    }
}

#[test]
fn an_edge_and_what_is_within_are_one_copy() {
    let source = copies(ROWS, "edged[x, y, t] = outside(input[x - 2, y - 1], 7)");
    let (cut, _) = with_edges(source.clone());
    let written = cut.to_string();
    // The elements within have loops of their own, or copies share those of a dimension without an edge.
    let moved = written.replace("y in 1..6", "y in 0..5").replace("x in 2..8", "x in 0..6");
    let moved = moved.replace("edged[x, y, t] = input[x - 2, y - 1]", "edged[x + 2, y + 1, t] = input[x, y]");
    assert_ne!(moved, written);
    let unrolled = moved.replace("for t in 0..2:", "for t in 0..2 unroll 2:");
    for (text, whole) in [(&written, &source.to_string()), (&moved, &source.to_string())] {
        let program = program(text);
        let (result, _) = transformed(&program, |program| without_edges(program).0);
        let (joined, witness) = without_edges(program.clone());
        prove_rewritten(&joined, &program, &witness).unwrap();
        assert_eq!(&result.to_string(), whole);
    }
    let program = program(&unrolled);
    assert_ne!(without_edges(program.clone()).0, program);
}

#[test]
fn other_nests_are_not_joined() {
    let source = copies(ROWS, "edged[x, y, t] = outside(input[x - 2, y - 1], 7)");
    let written = with_edges(source).0.to_string();
    for (from, to) in [
        ("x in 2..8", "x in 2..7"),
        ("input[x - 2, y - 1]", "input[7 - x, y - 1]"),
        ("edged[x, y, t] = 7", "edged[9 - x, y, t] = 7"),
        ("edged[x, y, t] = 7", "edged[x, y, t] = x as i16"),
        ("= input[x - 2, y - 1]", "+= input[x - 2, y - 1]"),
        ("    - for y in 1..6:", "    - for y in 1..6 unroll 5:"),
    ] {
        let text = written.replacen(from, to, 1);
        assert_ne!(text, written, "{from}");
        let program = program(&text);
        assert_eq!(without_edges(program.clone()).0, program, "{to}");
    }
}

#[test]
fn an_edge_that_is_another_is_found() {
    let source = copies(ROWS, "edged[x, y, t] = outside(input[x - 2, y - 1], 7)");
    let (cut, witness) = with_edges(source.clone());
    let within = "what is within are not the elements of the array";
    for (from, to, reason) in [
        ("for x in 2..8", "for x in 2..7", within),
        ("for x in 2..8", "for x in 3..8", within),
        ("for y in 1..6", "for y in 2..6", within),
        ("edged[x, y, t] = 7", "edged[x, y, t] = 8", "it computes another value"),
        ("edged[x, y, t] = 7", "edged[9 - x, y, t] = 7", "an edge and what is within are not of one array"),
        ("input[x - 2, y - 1]\n", "input[x - 2, y - 1] + 1\n", "it is not the edge of a copy"),
    ] {
        let text = cut.to_string().replacen(from, to, 1);
        assert_ne!(text, cut.to_string(), "{from}");
        let found = prove_rewritten(&source, &program(&text), &witness).unwrap_err().to_string();
        assert!(found.contains(reason), "{from} {to}: {found}");
    }
}

/// A program whose second nest writes within an edge that the first one writes, by these texts, and its nest without the edge if there is one. Checks
/// that this changes nothing, which the proof says, too.
fn without_written_edge(edge: &str, within: &str, last: &str) -> Option<String> {
    let source = program(&format!(
        "
name: edged
inputs: {{input: {{type: i16, shape: [6, 5]}}}}
outputs: {{output: {{type: i16, shape: [6, 5]}}}}
buffers: {{edged: {{type: i16, shape: [8, 7]}}}}
nest:
{edge}  - for y in 0..5:
    - for x in 0..6:
      - {within}
  - for y in 0..5:
    - for x in 0..6:
      - {last}
"
    ));
    let (result, again) = transformed(&source, |program| with_outside_loads(program).0);
    assert_eq!(with_outside_loads(again.clone()).0, again);
    prove_rewritten(&result, &source, &with_outside_loads(source.clone()).1).unwrap();
    (result != source).then(|| result.to_string().split_once("buffers:\n").unwrap().1.to_owned())
}

const EDGE: &str = "  - for y in 0..7:\n    - for x in 0..8:\n      - edged[x, y] = 3\n";
const WITHIN: &str = "edged[x + 1, y + 1] = 2 * input[x, y]";
const LAST: &str = "output[x, y] = edged[x, y] + edged[x + 2, y + 2]";

#[test]
fn what_is_read_beyond_an_array_is_no_edge_of_it() {
    let text = without_written_edge(EDGE, WITHIN, LAST).unwrap();
    let right = "  edged: {type: i16, shape: [6, 5], min: [1, 1]}
nest:
  - for y in 0..5:
    - for x in 0..6:
      - edged[x + 1, y + 1] = 2 * input[x, y]
  - for y in 0..5:
    - for x in 0..6:
      - output[x, y] = outside(edged[x, y], 3) + outside(edged[x + 2, y + 2], 3)
";
    assert_eq!(text, right);
}

#[test]
fn edges_stay_where_more_is_written_or_read() {
    let half = "  - for y in 0..7:\n    - for x in 0..8:\n      - edged[x, y] = 3\n  - for y in 0..1:\n    - for x in 0..8:\n      - edged[x, y] = 4\n";
    assert_eq!(without_written_edge(half, WITHIN, LAST), None);
    assert_eq!(without_written_edge(EDGE, "edged[x + 1, y + 1] = edged[x, y] + input[x, y]", LAST), None);
    assert_eq!(without_written_edge(EDGE, "edged[x + 1, y + 1] += input[x, y]", LAST), None);
    let of_loop = "  - for y in 0..7:\n    - for x in 0..8:\n      - edged[x, y] = x as i16\n";
    assert_eq!(without_written_edge(of_loop, WITHIN, LAST), None);
}
