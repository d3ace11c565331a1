//! Values that a statement names, each used several times by the next one: were they written out, no pass would end.

use crate::common::{compare, compiled, program, try_compile};

/// Named values `v1` to `v40`, each of the one before by an operator that uses it twice.
fn steps(indent: usize, first: &str, step: &str) -> String {
    let lines = (1..=40).map(|number| {
        let value = step.replace('v', &format!("v{}", number - 1));
        format!("{:indent$}  v{number}: {value}\n", "")
    });
    format!("{:indent$}where:\n{:indent$}  v0: {first}\n{}", "", "", lines.collect::<String>())
}

#[test]
fn an_image_pipeline_computes_each_once() {
    let text = format!(
        "
name: steps
inputs: {{input: {{type: u16, shape: [16, 16]}}}}
outputs: {{output: {{type: u16, shape: [15, 16]}}}}
nest:
  - for y in 0..16:
    - for x in 0..15:
      - output[x, y] = v40 + v20:
{}",
        steps(10, "input[x, y] ^ input[x + 1, y]", "sel((v & 1) != 0, v >> 1 ^ 4129, v >> 1)")
    );
    compare(&compiled(program(&text), "amber"));
}

/// Sums in registers, of copies of the statement; values joined with themselves are operands as often.
#[test]
fn sums_of_them_stay_in_registers() {
    for value in ["v40", "v3 + v3", "max(v40, v39)"] {
        for step in ["v ^ v << 1", "v + v", "v * v + 1"] {
            let text = format!(
                "
name: sums
schedule: dnn
inputs: {{input: {{type: u16, shape: [8, 16]}}}}
outputs: {{output: {{type: u16, shape: [16]}}}}
nest:
  - for y in 0..16:
    - output[y] = 3
    - for x in 0..8 unroll 2:
      - output[y] += {value}:
{}",
                steps(10, "input[x, y] + (x as u16)", step)
            );
            compare(&compiled(program(&text), "amber"));
        }
    }
}

/// Two memories have the halves of elements of 32 bits; the index is one of the values.
#[test]
fn elements_that_data_choose_are_computed_of_them() {
    let text = format!(
        "
name: chosen
inputs: {{input: {{type: u8, shape: [64]}}}}
outputs: {{output: {{type: i32, shape: [8]}}}}
buffers: {{bins: {{type: i32, shape: [8]}}}}
nest:
  - for b in 0..8:
    - bins[b] = 5
  - for x in 0..64:
    - bins[(v40 & 7) as u8] += v40 * v39:
{}  - for b in 0..8:
    - output[b] = bins[b]
",
        steps(8, "input[x] as i32", "v - (v << 3) + (v & 5)")
    );
    compare(&compiled(program(&text), "dual_port"));
}

#[test]
fn statements_of_one_unit_name_the_same_values() {
    let of = |name: &str, from: &str, step: &str| {
        format!(
            "      - {name}[x, y] = v40 ^ v39:\n          share: steps\n{}",
            steps(10, &format!("{from}[x, y]"), step)
        )
    };
    let text = |step: &str| {
        format!(
            "
name: shared
inputs: {{input: {{type: u16, shape: [8, 8]}}}}
outputs: {{output: {{type: u16, shape: [8, 8]}}}}
buffers: {{middle: {{type: u16, shape: [8, 8]}}}}
nest:
  - for y in 0..8:
    - for x in 0..8:
{}  - for y in 0..8:
    - for x in 0..8:
{}",
            of("middle", "input", "v + (v >> 3)"),
            of("output", "middle", step)
        )
    };
    compare(&compiled(program(&text("v + (v >> 3)")), "amber"));
    let refused = try_compile(program(&text("v + (v >> 4)")), "amber").map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("this statement cannot share `steps`"), "{refused}");
}
