//! Words of lanes that come one after the other: which loads have them, and that they change nothing of what is computed.

use pushmem_nest::Program;
use pushmem_rewriting::with_serial_loads;

use crate::common::{app, program, transformed};

/// Checks that the loads change nothing, and that what they made is a program that is as it is; returns its nest as text.
fn serial(program: &Program) -> String {
    let (serial, again) = transformed(program, |program| with_serial_loads(program).0);
    let text = serial.to_string();
    assert_eq!(again.to_string(), text);
    text.split_once("nest:\n").unwrap().1.to_owned()
}

/// A product of matrices in lanes: those of `inner` share the words of `weights` in all iterations of `loop`.
fn matrices(loops: &str) -> String {
    format!(
        "
name: matrices
inputs:
  weights: {{type: i16, shape: [2, 3, 4]}}
  input: {{type: i16, shape: [2, 4, 8]}}
outputs:
  output: {{type: i16, shape: [3, 8]}}
buffers:
  sums: {{type: i16, shape: [3, 8]}}
nest:
  - for y in 0..8:
    - for w in 0..3:
      - sums[w, y] = 0
{loops}
  - for y in 0..8:
    - for w in 0..3:
      - output[w, y] = sums[w, y]
"
    )
}

#[test]
fn lanes_that_keep_a_word_load_it_before_the_loops_within() {
    let loops = "  - for k in 0..4:
    - for y in 0..8:
      - for w in 0..3 unroll 3:
        - for z in 0..2 unroll 2:
          - sums[w, y] += weights[z, w, k] * input[z, k, y]";
    let text = serial(&program(&matrices(loops)));
    let copied = "  - for k in 0..4:
    - for w in 0..3:
      - for z in 0..2:
        - weights_lanes[z, w, k] = weights[z, w, k]
    - for y in 0..8:
      - for w in 0..3 unroll 3:
        - for z in 0..2 unroll 2:
          - sums[w, y] += weights_lanes[z, w, k] * input[z, k, y]
";
    assert!(text.contains(copied), "{text}");
}

#[test]
fn words_of_other_places_in_a_loop_around_are_copied_in_each_of_its_iterations() {
    let loops = "  - for k in 0..2:
    - for y in 0..8:
      - for z in 0..2 unroll 2:
        - for w in 0..3 unroll 3:
          - sums[2 - w, y] += weights[1 - z, w, 2*k + 1] * input[z, k, y] + weights[1 - z, w, 2*k + 1]
          - sums[w, y] += weights[z, w, 3 - k]";
    let text = serial(&program(&matrices(loops)));
    let copied = "  - for k in 0..2:
    - for w in 0..3:
      - for z in 0..2:
        - weights_lanes[z, w, k] = weights[-z + 1, w, 2*k + 1]
    - for w in 0..3:
      - for z in 0..2:
        - weights_lanes_1[z, w, k] = weights[z, w, -k + 3]
    - for y in 0..8:
";
    assert!(text.contains(copied), "{text}");
    assert_eq!(text.matches("weights[").count(), 2, "a lane loads a word itself:\n{text}");
}

#[test]
fn other_lanes_load_their_words_themselves() {
    for loops in [
        // Fewer iterations within than lanes: the words of a round would come too late.
        "  - for k in 0..4:
    - for y in 0..5:
      - for w in 0..3 unroll 3:
        - for z in 0..2 unroll 2:
          - sums[w, y] += weights[z, w, k] * input[z, k, y]",
        // One word for all iterations, which waits in a register in any case.
        "  - for y in 0..8:
    - for w in 0..3 unroll 3:
      - for z in 0..2 unroll 2:
        - sums[w, y] += weights[z, w, 1] * input[z, 2, y]",
        // A loop within goes on to other words.
        "  - for k in 0..4:
    - for y in 0..8:
      - for w in 0..3:
        - for z in 0..2 unroll 2:
          - sums[w, y] += weights[z, w, k] * input[1, k, y]",
        // A single lane.
        "  - for k in 0..4:
    - for y in 0..8:
      - sums[1, y] += weights[1, 2, k] * input[1, k, y]",
    ] {
        let text = serial(&program(&matrices(loops)));
        assert!(!text.contains("_lanes"), "{text}");
    }
}

/// Words that the loops within change are those of the memory in each iteration.
#[test]
fn words_that_change_within_the_loops_are_not_copied() {
    let text = "
name: changing
inputs: {input: {type: i16, shape: [2, 4]}}
outputs: {output: {type: i16, shape: [2, 4, 8]}}
buffers: {kept: {type: i16, shape: [2, 4]}}
nest:
  - for k in 0..4:
    - for z in 0..2:
      - kept[z, k] = input[z, k]
  - for k in 0..4:
    - for y in 0..8:
      - for z in 0..2 unroll 2:
        - output[z, k, y] = kept[z, k]
        - kept[z, k] += 3
";
    assert!(!serial(&program(text)).contains("_lanes"));
}

#[test]
fn layers_compute_the_same() {
    for name in ["resnet88", "resnet4_1_small", "quantized_convolution", "cnn", "residual_block_tiled"] {
        assert!(serial(&app(name)).contains("_lanes["), "{name}");
    }
}
