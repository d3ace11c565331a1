//! Reductions along unrolled loops: the accelerator computes the same as the interpreter.

use pushmem_kernels::DatapathGraph;
use pushmem_realization::Dedicated;

use crate::common::{app, compare, compiled, program, try_compile};

/// The tile that all programs here are compiled for.
const TILE: &str = "amber";

/// Compiles a program of a `nest` and compares it. The input is 20 x 12 words, `sums` and the output are 16 x 8.
fn check(nest: &str) -> Dedicated {
    check_with("u16", "", nest)
}

fn check_with(element: &str, declarations: &str, nest: &str) -> Dedicated {
    let text = format!(
        "
name: reduction
inputs: {{input: {{type: {element}, shape: [20, 12]}}}}
outputs: {{output: {{type: {element}, shape: [16, 8]}}}}
buffers: {{sums: {{type: {element}, shape: [16, 8]}}}}
tables: {{weights: {{type: u16, values: [3, 7, 1, 0, 5, 11, 2, 9, 4]}}}}
{declarations}
nest:
{nest}
  - for y in 0..8:
    - for x in 0..16:
      - output[x, y] = sums[x, y] + 1
"
    );
    let compiled = compiled(program(&text), TILE);
    compare(&compiled);
    compiled
}

/// The sum over a window, with a separate initialization.
fn summed(window: &str, term: &str) -> Dedicated {
    let loops: Vec<&str> = window.lines().collect();
    let mut nest = "
  - for y in 0..8:
    - for x in 0..16:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..16:
"
    .to_owned();
    for (depth, header) in loops.iter().enumerate() {
        nest += &format!("{:indent$}- {header}:\n", "", indent = 6 + 2 * depth);
    }
    nest += &format!("{:indent$}- \"sums[x, y] += {term}\"\n", "", indent = 6 + 2 * loops.len());
    check(&nest)
}

const SQUARE: &str = "for j in 0..3 unroll 3\nfor i in 0..3 unroll 3";

#[test]
fn windows_are_summed_at_once() {
    let row = "for i in 0..3 unroll 3";
    summed(row, "input[x + i, y]");
    summed(row, "weights[i] * input[x + i, y]");
    summed(row, "input[x, y] * input[x + i, y + 1]");
    summed(SQUARE, "input[x + i, y + j]");
    summed(SQUARE, "weights[3*i + j] * input[x + i, y + j]");
    summed("for i in 1..4 unroll 3\nfor j in 2..5 unroll 3", "(weights[i + j] as u16) * input[x + i, y + j]");
}

#[test]
fn windows_meet_boundaries() {
    summed(SQUARE, "input[clamp(x + i - 2, 0, 9), y + j]");
    summed(SQUARE, "weights[i] * input[clamp(x + i - 1, 0, 19), mirror(y + j - 1, 0, 11)]");
    summed(
        SQUARE,
        "outside(input[x + i - 1, y + j - 1], 77) * (i + 1 as u16)".replace("i + 1 as", "(i + 1) as").as_str(),
    );
    // Two loads in a copy, of which the second has a constant.
    summed(SQUARE, "input[x, y] * outside(input[x + i - 1, y + j - 1], 1000)");
}

#[test]
fn loop_variables_differ_between_copies() {
    summed("for i in 0..3 unroll 3", "input[x + i, y] * ((x + 5*i) as u16)");
    summed(SQUARE, "sel(i == j, input[x + i, y + j], (y*i - j) as u16)");
    summed("for i in 2..5 unroll 3", "i as u16");
}

#[test]
fn copies_along_other_loops_share_a_sum() {
    let compiled = check(
        "
  - for y in 0..8:
    - for x in 0..16 unroll 2:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..16 unroll 2:
      - for j in 0..3 unroll 3:
        - for i in 0..3 unroll 3:
          - sums[x, y] += weights[3*j + i] * input[x + i, y + j] + (x as u16)
",
    );
    // Two words a cycle are enough for two copies: the window is no step.
    assert_eq!(compiled.accelerator.inputs[0].lanes.len(), 2);
    assert_eq!(compiled.accelerator.datapaths.iter().filter(|datapath| datapath.name == "sums_1").count(), 1);
    // Loops of the window around those of the image.
    check(
        "
  - for y in 0..8:
    - for x in 0..16:
      - sums[x, y] = 5
  - for j in 0..3 unroll 3:
    - for y in 0..8:
      - for i in 0..2 unroll 2:
        - for x in 0..16 unroll 4:
          - sums[x, y] += input[x + i, y + j] * ((x - 2*j) as u16)
",
    );
}

#[test]
fn sums_follow_sums() {
    check(
        "
  - for y in 0..8:
    - for x in 0..16:
      - sums[x, y] = input[x + 4, y + 4] * 3
      - for i in 0..3 unroll 3:
        - sums[x, y] += input[x + i, y]
      - for j in 0..3 unroll 3:
        - sums[x, y] += weights[j] * input[x, y + j]
",
    );
}

#[test]
fn narrow_elements_wrap() {
    for element in ["u8", "i8", "i16"] {
        check_with(
            element,
            "",
            &format!(
                "
  - for y in 0..8:
    - for x in 0..16:
      - sums[x, y] = -3
  - for y in 0..8:
    - for x in 0..16:
      - for i in 0..3 unroll 3:
        - sums[x, y] += (weights[i] as {element}) * input[x + i, y] - (i as {element})
"
            )
            .replace("= -3", if element == "u8" { "= 253" } else { "= -3" }),
        );
    }
}

#[test]
fn the_output_is_updated_itself() {
    let text = "
name: reduction
inputs: {input: {type: u16, shape: [20, 12]}}
outputs: {output: {type: u16, shape: [16, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..16:
      - output[x, y] = 0
      - for i in 0..3 unroll 3:
        - output[x, y] += input[x + i, y]
";
    let compiled = compiled(program(text), TILE);
    compare(&compiled);
    assert_eq!(compiled.accelerator.outputs.len(), 1);
    assert_eq!(compiled.accelerator.outputs[0].lanes.len(), 1);
}

#[test]
fn outputs_that_are_updated_in_part_are_complete_before_they_leave() {
    let text = "
name: reduction
schedule: stencil
inputs: {input: {type: u16, shape: [20]}}
outputs: {output: {type: u16, shape: [20]}}
nest:
  - for x in 0..20:
    - output[x] = input[x]
  - for x in 4..16:
    - for i in 0..3 unroll 3:
      - output[x] += input[x + i]
";
    let error = try_compile(program(text), TILE).unwrap_err();
    assert_eq!(error.diagnostic().offending_text(), Some("output[x] = input[x]"));
    // Without a word on the schedule, nests run one after the other, and a memory has the output until then.
    let kept = compiled(program(&text.replace("schedule: stencil\n", "")), TILE);
    assert!(kept.no_scan.is_some());
    compare(&kept);
}

#[test]
fn constants_cost_nothing() {
    let compiled = summed("for i in 0..3 unroll 3", "input[x + i, y]");
    let accelerator = &compiled.accelerator;
    let names: Vec<&str> = accelerator.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["sums_1", "output"]);
    assert!(accelerator.wires.iter().all(|wire| !wire.name.starts_with("sums_0")));
    assert_eq!(accelerator.shift_register_words(), 2);
}

#[test]
fn constants_go_outside() {
    let text = "
name: constants
inputs: {input: {type: i8, shape: [20]}}
outputs:
  output: {type: i8, shape: [20]}
  copy: {type: i8, shape: [20]}
  used: {type: i8, shape: [20]}
buffers: {minus: {type: i8, shape: [20]}}
nest:
  - for x in 0..20:
    - output[x] = -7
  - for x in 0..20:
    - minus[x] = input[x] - input[x] - 2
  - for x in 0..20:
    - copy[x] = minus[x]
  - for x in 0..20:
    - used[x] = input[x] * output[x] + minus[clamp(x - 3, 0, 19)] + outside(minus[x - 2], -2)
";
    let compiled = compiled(program(text), TILE);
    compare(&compiled);
    assert_eq!(compiled.accelerator.kernels.len(), 1);
}

#[test]
fn mobilenet_computes_what_it_says() {
    compare(&compiled(app("mobilenet"), TILE));
}

/// A window that is added up in loops makes a long schedule of a small image; a warning says how it becomes short.
#[test]
fn a_window_that_takes_too_long_is_to_be_unrolled() {
    let text = |size: i64, unroll: &str| {
        let wide = size + 4;
        format!(
            "
name: window
inputs: {{input: {{type: u16, shape: [{wide}, {wide}]}}}}
outputs: {{output: {{type: u16, shape: [{size}, {size}]}}}}
buffers: {{sums: {{type: u16, shape: [{size}, {size}]}}}}
nest:
  - for y in 0..{size}:
    - for x in 0..{size}:
      - sums[x, y] = 0
  - for y in 0..{size}:
    - for x in 0..{size}:
      - for j in 0..5{unroll}:
        - for i in 0..5{unroll}:
          - sums[x, y] += input[x + i, y + j]
  - for y in 0..{size}:
    - for x in 0..{size}:
      - output[x, y] = sums[x, y] / 25
"
        )
    };
    // Sums in registers take a cycle for each element of the window, whose rows are padded to whole rows of memory.
    let small = compiled(program(&text(32, "")), TILE);
    assert!((25_600..41_500).contains(&small.accelerator.length), "{}", small.accelerator.length);
    compare(&small);
    let error = try_compile(program(&text(96, "")), TILE).expect_err("the controllers do not count so far");
    let error = error.diagnostic();
    assert!(error.message().contains("schedule of 16 bits"), "{error:?}");
    assert!(error.help().unwrap().starts_with("unroll `j`, `i` fully"), "{error:?}");
    let warning = &error.related()[0];
    assert!(!warning.is_error() && warning.message().contains("230400 words for 10000 elements"), "{error:?}");
    compare(&compiled(program(&text(32, " unroll 5")), TILE));
}

/// The proof says so itself: the stages of integers, whose copies add in any order, are none of numbers.
#[test]
fn copies_of_numbers_in_another_order_are_a_fault() {
    let text = |element: &str| {
        format!(
            "
name: mixed
schedule: dnn
inputs: {{input: {{type: {element}, shape: [16, 4]}}}}
outputs: {{output: {{type: {element}, shape: [16]}}}}
buffers: {{sums: {{type: {element}, shape: [16]}}}}
nest:
  - for x in 0..16:
    - sums[x] = 0
  - for c in 0..2 unroll 2:
    - for k in 0..2:
      - for x in 0..16:
        - sums[x] += input[x, k+2*c]
  - for x in 0..16:
    - output[x] = sums[x]
"
        )
    };
    let mut mixed = compiled(program(&text("i16")), TILE);
    assert!(mixed.prove().is_ok());
    mixed.compiled.program = program(&text("bf16"));
    mixed.compiled.source = mixed.program.clone();
    let error = mixed.prove().unwrap_err().to_string();
    assert!(error.contains("the result is "), "{error}");
    mixed.compiled.datapaths = DatapathGraph::all(&mixed.source).map(|graph| graph.dedicated()).collect();
    let error = mixed.prove().unwrap_err().to_string();
    assert!(error.contains("its copies add in another order"), "{error}");
}
