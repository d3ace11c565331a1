//! Refusals for what memories cannot do: at a place, in the words of the program.

use pushmem_compiler::CompileError;

use crate::common::{app, compiled, program, try_compile};

/// A delay that is longer than the controllers of `amber` count, and not those of `amber_long`.
#[test]
fn a_long_delay_is_refused_at_its_statement() {
    let long = program(
        "name: long
inputs: {i: {type: u16, shape: [512, 200]}}
outputs: {a: {type: u16, shape: [512, 60]}}
buffers: {s: {type: u16, shape: [512, 200]}}
nest:
  - for y in 0..200:
    - for x in 0..512:
      - s[x, y] = i[x, y] * 3
  - for y in 0..60:
    - for x in 0..512:
      - a[x, y] = s[x, y] + s[x, y+140]
",
    );
    let error = try_compile(long.clone(), "amber").unwrap_err();
    assert!(matches!(error, CompileError::Unmapped { .. }), "{error:?}");
    assert!(
        error.to_string().starts_with("`s` cannot be delayed by 71680 cycles in memory tiles of `amber`"),
        "{error}"
    );
    assert_eq!(error.diagnostic().location().map(|(_, line, _)| line), Some(8));
    compiled(long, "amber_long");
}

/// That two statements write an array of a tile with one input is said by their lines.
#[test]
fn too_few_inputs_are_told_by_lines() {
    let error = try_compile(app("matmul"), "fetch2").unwrap_err().to_string();
    assert!(
        error.contains(
            "2 ports write the same words (the write in line 21, the write in line 27), and a fetch2 tile has 1 input"
        ),
        "{error}"
    );
}

/// Updates of one element wait for the memory, in the baseline as in the accelerator.
#[test]
fn a_sum_of_one_element_is_no_slower_than_one_stage_after_the_other() {
    let sum = program(
        "name: sum
schedule: dnn
inputs: {i: {type: i16, shape: [30, 30]}}
outputs: {total: {type: i16, shape: [1]}}
buffers: {s: {type: i16, shape: [1]}}
nest:
  - for x in 0..1:
    - s[x] = 0
  - for x in 0..1:
    - for c in 0..30:
      - for d in 0..30:
        - s[x] += i[d, c]
  - for x in 0..1:
    - total[x] = s[x]
",
    );
    for tile in ["amber", "dual_port"] {
        let found = compiled(sum.clone(), tile);
        assert!(found.accelerator.length <= found.sequential_cycles(), "{tile}: {}", found.accelerator.length);
        assert!(found.warnings().is_empty());
    }
    let slower = compiled(app("mobilenet_small"), "amber");
    let warned = slower.warnings().iter().any(|warning| warning.message().contains("one stage after the other"));
    assert_eq!(warned, slower.accelerator.length > slower.sequential_cycles());
}
