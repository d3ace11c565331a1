//! Reads of kept arrays beyond their edge: the accelerator computes the same as the interpreter, on tiles of all kinds.

use crate::common::{compare, compiled, program, try_compile};

/// A coarse pipeline over a kept array of 8 × 16 × 12 elements, of which each is read twice.
fn pipeline(buffer: &str, loops: &str, read: &str) -> String {
    format!(
        "
name: edges
schedule: dnn
inputs: {{input: {{type: u8, shape: [8, 16, 12]}}}}
outputs: {{output: {{type: u8, shape: [8, 16, 12]}}}}
buffers:
  kept: {{type: u8, shape: [8, 16, 12]}}
  bordered: {{type: u8, shape: {buffer}}}
nest:
  - for y in 0..12:
    - for x in 0..16:
      - for c in 0..8 unroll 2:
        - kept[c, x, y] = input[c, x, y] + 3
  - {loops}
          - bordered[c, x, y] = {read}
  - for y in 0..12:
    - for x in 0..16:
      - for c in 0..8 unroll 2:
        - output[c, x, y] = bordered[c, x, y] + kept[c, x, y]
"
    )
}

#[test]
fn iterations_within_the_array_read_its_memory() {
    let loops = "for y in 0..14:\n      - for x in 0..18:\n        - for c in 0..8 unroll 2:";
    for read in [
        "outside(kept[c, x - 1, y - 1], 7)",
        // Backwards, in the other direction of each loop.
        "outside(kept[7 - c, 16 - x, 12 - y], 7)",
        // Every other element, and beyond one edge only.
        "outside(kept[c, 2*x + 1, y - 2], 1)",
        // An edge across the lanes.
        "outside(kept[c + 1, x, y], 200)",
        // Never within.
        "outside(kept[c, x + 20, y], 9)",
    ] {
        for tile in ["amber", "dual_port", "quad_port"] {
            compare(&compiled(program(&pipeline("[8, 18, 14]", loops, read)), tile));
        }
    }
}

/// A layer of 4 to 3 channels whose output has the size of its input, in these loops over the window.
fn layer(window: &str, read: &str) -> String {
    format!(
        "
name: layer
schedule: dnn
inputs: {{input: {{type: i16, shape: [4, 16, 12]}}, weights: {{type: i16, shape: [4, 3, 3, 3]}}}}
outputs: {{output: {{type: i16, shape: [3, 16, 12]}}}}
buffers:
  kept: {{type: i16, shape: [4, 16, 12]}}
  kernel: {{type: i16, shape: [4, 3, 3, 3]}}
  sums: {{type: i16, shape: [3, 16, 12]}}
nest:
  - for y in 0..12:
    - for x in 0..16:
      - for z in 0..4 unroll 4:
        - kept[z, x, y] = input[z, x, y]
  - for v in 0..3:
    - for u in 0..3:
      - for w in 0..3:
        - for z in 0..4:
          - kernel[z, w, u, v] = weights[z, w, u, v]
  - for y in 0..12:
    - for x in 0..16:
      - for w in 0..3 unroll 3:
        - sums[w, x, y] = 0
  - for v in 0..3{window}:
    - for u in 0..3{window}:
      - for y in 0..12:
        - for x in 0..16:
          - for w in 0..3 unroll 3:
            - for z in 0..4 unroll 4:
              - sums[w, x, y] += kernel[z, w, u, v] * {read}
  - for y in 0..12:
    - for x in 0..16:
      - for w in 0..3 unroll 3:
        - output[w, x, y] = sums[w, x, y]
"
    )
}

#[test]
fn windows_beyond_the_edge_read_a_copy_with_it() {
    for (window, read) in [
        ("", "outside(kept[z, x + u - 1, y + v - 1], 0)"),
        ("", "outside(kept[3 - z, 16 - x - u, y + 2*v - 2], 9)"),
        ("", "outside(kept[z, x + u - 1, y], 9) * outside(kept[z, x, y + v - 2], 9)"),
        (" unroll 3", "outside(kept[z, x + u - 1, y + v - 1], 0)"),
        // In another image, between which and this one the edge lies.
        ("", "outside(input[z, x + u - 1, y + v - 1], 1)"),
    ] {
        for tile in ["amber", "dual_port", "quad_port"] {
            let compiled = compiled(program(&layer(window, read)), tile);
            assert!(compiled.program.arrays.iter().any(|array| array.name.ends_with("_padded")), "{read}");
            compare(&compiled);
        }
    }
}

#[test]
fn windows_without_affine_addresses_are_refused_at_the_read() {
    let loops = "for y in 0..12:\n      - for x in 0..16:\n        - for c in 0..8:";
    let text = pipeline("[8, 16, 12]", loops, "outside(kept[c, (x + c) / 2 - 1, y], 0)");
    let error = try_compile(program(&text), "dual_port").unwrap_err().to_string();
    assert!(error.contains("this read of a kept array has no affine addresses"), "{error}");
}

/// A copy with an edge starts before the whole array is written.
#[test]
fn copies_with_an_edge_follow_the_stream() {
    for (index, padded) in
        [("x, y", 14 * 15 * 2), ("11 - x, y", 14 * 15 * 2 + 12), ("x, 11 - y", 14 * 15 * 2 + 12 * 12)]
    {
        let pooled = format!(
            "name: pooled
schedule: dnn
inputs: {{input: {{type: i8, shape: [12, 12, 2]}}}}
outputs: {{output: {{type: i8, shape: [6, 6, 2]}}}}
buffers: {{padded: {{type: i8, shape: [15, 14, 2], min: [-2, -1, 0]}}}}
nest:
  - for c in 0..2:
    - for y in -1..13:
      - for x in -2..13:
        - padded[x, y, c] = outside(input[{index}, c], -128)
  - for c in 0..2:
    - for y in 0..6:
      - for x in 0..6:
        - output[x, y, c] = max(padded[2*x-2, 2*y-1, c], max(padded[2*x, 2*y, c], padded[2*x+1, 2*y+1, c]))
"
        );
        for tile in ["amber", "dual_port"] {
            let compiled = compiled(program(&pooled), tile);
            compare(&compiled);
            let cycles = compiled.graph.length;
            assert!(cycles < padded + 60, "{index} on {tile}: {cycles} cycles");
        }
    }
}
