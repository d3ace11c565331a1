//! Windows beyond the edge of an array: where the copy with the edge is, and that it changes nothing of what is computed.

use pushmem_nest::Program;
use pushmem_rewriting::with_padding;

use crate::common::{program, transformed};

/// Checks that copies change nothing, and that what they made is a program that is as it is; returns it as text.
fn with_edge(program: &Program) -> String {
    let (padded, again) = transformed(program, |program| with_padding(program).0);
    let text = padded.to_string();
    assert_eq!(with_padding(again).0.to_string(), text);
    text
}

/// A blur of images of 6 × 5 elements, some of which come one after the other.
fn blur(images: &str, first: &str, window: &str) -> String {
    format!(
        "
name: blur
schedule: dnn
inputs: {{input: {{type: i16, shape: [6, 5, 3]}}}}
outputs: {{output: {{type: i16, shape: [6, 5, 3]}}}}
buffers: {{kept: {{type: i16, shape: [6, 5]}}, sums: {{type: i16, shape: [6, 5]}}}}
nest:
  - for {images}:
    - for y in 0..5:
      - for x in 0..6:
        - {first}
    - for y in 0..5:
      - for x in 0..6:
        - sums[x, y] = 0
    - for v in 0..3:
      - for u in 0..3:
        - for y in 0..5:
          - for x in 0..6:
            - sums[x, y] += {window}
    - for y in 0..5:
      - for x in 0..6:
        - output[x, y, t] = sums[x, y] + kept[x, y]
"
    )
}

#[test]
fn a_buffer_is_copied_after_it_is_written() {
    let text = blur("t in 0..3", "kept[x, y] = input[x, y, t]", "outside(kept[x + u - 1, y + v - 1], 7)");
    let padded = with_edge(&program(&text));
    let copy = "        - sums[x, y] = 0
    - for i1 in -1..6:
      - for i0 in -1..7:
        - kept_padded[i0, i1] = outside(kept[i0, i1], 7)
    - for v in 0..3:
      - for u in 0..3:
        - for y in 0..5:
          - for x in 0..6:
            - sums[x, y] += kept_padded[x + u - 1, y + v - 1]
";
    assert!(padded.contains(copy), "{padded}");
    assert!(padded.contains("kept_padded: {type: i16, shape: [8, 7], min: [-1, -1]}"), "{padded}");
}

/// A slice of an input is copied in each iteration of the loop over images, with the dimensions that move.
#[test]
fn a_slice_of_an_input_is_copied_in_its_loop() {
    let text = blur("t in 0..3", "kept[x, y] = input[x, y, t]", "outside(input[2*x + u - 1, 2*y - v, t], 7)");
    let padded = with_edge(&program(&text));
    let copy = "    - for i1 in -2..9:
      - for i0 in -1..12:
        - input_padded[i0, i1] = outside(input[i0, i1, t], 7)
";
    assert!(padded.contains(copy) && padded.contains("+= input_padded[2*x + u - 1, 2*y - v]"), "{padded}");
    // Without such a loop all of it, before all else.
    let text = blur("t in 0..3", "kept[x, y] = input[x, y, t]", "outside(input[x + u - 1, y + t - v, 2 - t], 7)");
    let padded = with_edge(&program(&text));
    assert!(
        padded.contains("nest:\n  - for i2 in 0..3:\n    - for i1 in -2..7:\n      - for i0 in -1..7:\n"),
        "{padded}"
    );
}

#[test]
fn windows_of_one_value_share_a_copy() {
    let sum = "outside(kept[x + u - 1, y], 7) + outside(kept[x - u, y + v], 7) + outside(kept[x + u, y + v], 8)";
    let padded = with_edge(&program(&blur("t in 0..3", "kept[x, y] = input[x, y, t]", sum)));
    assert!(padded.contains("kept_padded: {type: i16, shape: [9, 7], min: [-2, 0]}"), "{padded}");
    assert!(padded.contains("kept_padded_1: {type: i16, shape: [8, 7]}"), "{padded}");
}

#[test]
fn other_reads_stay() {
    for window in [
        // A box of iterations.
        "outside(kept[x - 1, y + 1], 7)",
        // Never outside.
        "outside(kept[x / 2 + u, y], 7)",
        // Clamped, which takes other addresses.
        "kept[clamp(x + u - 1, 0, 5), y]",
        // Divided.
        "outside(kept[(x + u) / 2 - 1, y], 7)",
    ] {
        let text = blur("t in 0..3", "kept[x, y] = input[x, y, t]", window);
        assert!(!with_edge(&program(&text)).contains("padded"), "{window}");
    }
    // The loops within write the array, in whatever order.
    let text = blur("t in 0..3", "kept[x, y] = input[x, y, t]", "outside(kept[x + u - 1, y], 7)");
    let text = text.replace(
        "\n    - for y in 0..5:\n      - for x in 0..6:\n        - output",
        "\n            - kept[x, y] = 3\n    - for y in 0..5:\n      - for x in 0..6:\n        - output",
    );
    assert!(!with_edge(&program(&text)).contains("padded[x + u"), "{text}");
}
