//! Copies that a program spells out: which become lanes of a loop, and that it changes nothing of what is computed.

use pushmem_proof::prove_rewritten;
use pushmem_rewriting::{with_joined_lanes, with_rolled_copies};

use crate::common::{program, transformed};

/// Checks that loops in the place of copies change nothing, which the proof says, too; returns the nest, first with lanes and then with lanes joined.
fn rolled(arrays: &str, nest: &str) -> [String; 2] {
    let source = program(&format!("name: copies\n{arrays}\nnest:\n{nest}"));
    let (rolled, again) = transformed(&source, |program| with_rolled_copies(program).0);
    assert_eq!(with_rolled_copies(again.clone()).0, again);
    prove_rewritten(&rolled, &source, &with_rolled_copies(source.clone()).1).unwrap();
    let (joined, again) = transformed(&rolled, |program| with_joined_lanes(program).0);
    assert_eq!(with_joined_lanes(again.clone()).0, again);
    prove_rewritten(&joined, &rolled, &with_joined_lanes(rolled.clone()).1).unwrap();
    [rolled, joined].map(|program| program.to_string().split_once("nest:\n").unwrap().1.to_owned())
}

const LAYER: &str =
    "inputs: {a: {type: i16, shape: [6, 5]}, w: {type: i16, shape: [6, 4]}}\noutputs: {o: {type: i16, shape: [4, 5]}}";
const ZEROS: &str = "  - for y in 0..5:\n    - for k in 0..4:\n      - o[k, y] = 0\n";

#[test]
fn statements_become_lanes() {
    let statement = |lane: usize| format!("        - o[2*k + {lane}, y] += a[c, y] * w[c, 2*k + {lane}]\n");
    let loops = "  - for y in 0..5:\n    - for k in 0..2:\n      - for c in 0..6:\n";
    let [lanes, joined] = rolled(LAYER, &format!("{ZEROS}{loops}{}{}", statement(0), statement(1)));
    let right = format!(
        "{ZEROS}{loops}        - for lane in 0..2 unroll 2:\n          - o[lane + 2*k, y] += a[c, y] * w[c, lane + 2*k]\n"
    );
    assert_eq!(lanes, right);
    let loops = "  - for y in 0..5:\n    - for k in 0..4 unroll 2:\n      - for c in 0..6:\n";
    assert_eq!(joined, format!("{ZEROS}{loops}        - o[k, y] += a[c, y] * w[c, k]\n"));
}

#[test]
fn terms_become_lanes() {
    let term = |lane: usize| format!("a[3*c + {lane}, y] * w[3*c + {lane}, k]");
    let loops = "  - for y in 0..5:\n    - for k in 0..4:\n";
    let terms = format!("      - for c in 0..2:\n        - o[k, y] += {} + {} + {}\n", term(0), term(1), term(2));
    let [_, joined] = rolled(LAYER, &format!("{ZEROS}{loops}{terms}"));
    let right = format!("{ZEROS}{loops}      - for c in 0..6 unroll 3:\n        - o[k, y] += a[c, y] * w[c, k]\n");
    assert_eq!(joined, right);
}

#[test]
fn windows_become_lanes_of_rows_and_columns() {
    let arrays = "inputs: {a: {type: u16, shape: [8, 7]}, w: {type: u16, shape: [3, 2]}}\noutputs: {o: {type: u16, shape: [6, 6]}}";
    let zeros = "  - for y in 0..6:\n    - for x in 0..6:\n      - o[x, y] = 0\n";
    let term = |(u, v): (usize, usize)| format!("a[x + {u}, y + {v}] * w[{u}, {v}]");
    let terms = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)].map(term).join(" + ");
    let loops = "  - for y in 0..6:\n    - for x in 0..6:\n";
    let [lanes, _] = rolled(arrays, &format!("{zeros}{loops}      - o[x, y] += {terms}\n"));
    let right = "      - for lane in 0..2 unroll 2:\n        - for lane_1 in 0..3 unroll 3:\n          - o[x, y] += a[lane_1 + x, lane + y] * w[lane_1, lane]\n";
    assert_eq!(lanes, format!("{zeros}{loops}{right}"));
}

#[test]
fn copies_with_zeros_of_their_own_are_one_loop() {
    let nest = |k: &str, body: &str| format!("  - for y in 0..5:\n    - for k in {k}:\n{body}");
    let zeros = "      - o[2*k, y] = 0\n      - o[2*k + 1, y] = 0\n";
    let sums = "      - for c in 0..6:\n        - o[2*k, y] += a[c, y] * w[c, 2*k]\n        - o[2*k + 1, y] += a[c, y] * w[c, 2*k + 1]\n";
    let [_, joined] = rolled(LAYER, &nest("0..2", &format!("{zeros}{sums}")));
    // The loop of the zeros has no loop of its own, apart from that of its lanes.
    let right = "      - o[k, y] = 0\n      - for c in 0..6:\n        - o[k, y] += a[c, y] * w[c, k]\n";
    assert_eq!(joined, nest("0..4 unroll 2", right));
}

#[test]
fn statements_that_differ_stay() {
    for (size, [one, other]) in [
        (8, ["o[2*x] = a[2*x]", "o[2*x + 1] = a[2*x + 1] + 1"]),
        (8, ["o[2*x] = a[2*x]", "o[2*x + 1] = o[2*x]"]),
        (4, ["o[x] = a[x]", "o[x] = a[x + 3]"]),
    ] {
        let arrays =
            format!("inputs: {{a: {{type: u16, shape: [8]}}}}\noutputs: {{o: {{type: u16, shape: [{size}]}}}}");
        let nest = format!("  - for x in 0..4:\n    - {one}\n    - {other}\n");
        let [lanes, joined] = rolled(&arrays, &nest);
        assert!(!lanes.contains("unroll") && lanes == joined, "{lanes}");
    }
}

#[test]
fn sums_in_their_order_stay() {
    let arrays = "inputs: {a: {type: bf16, shape: [8]}}\noutputs: {o: {type: bf16, shape: [1]}}";
    let nest = "  - o[0] = 0.0\n  - for x in 0..4:\n    - o[0] += a[2*x] + a[2*x + 1]\n  - for x in 0..4:\n    - o[0] += a[2*x]\n    - o[0] += a[2*x + 1]\n";
    assert!(!rolled(arrays, nest)[0].contains("unroll"));
}

#[test]
fn steps_stay_that_are_used_without_their_lanes() {
    let arrays =
        "inputs: {a: {type: u16, shape: [8]}, b: {type: u16, shape: [4]}}\noutputs: {o: {type: u16, shape: [8]}}";
    let nest =
        "  - for x in 0..4:\n    - for lane in 0..2 unroll 2:\n      - o[lane + 2 * x] = a[lane + 2 * x] + b[x]\n";
    let [lanes, joined] = rolled(arrays, nest);
    assert_eq!(lanes, joined);
}
