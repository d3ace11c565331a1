//! The bottleneck of a run, and the cost and gain of the next step beside the program that takes it.

use pushmem_compiler::{Bottleneck, with_next_step};
use pushmem_realization::{Dedicated, Report};

use crate::common::{app, compiled, program};

/// A layer whose sums have so many copies.
fn layer(copies: i64) -> Dedicated {
    let text = format!(
        "
name: layer
schedule: dnn
inputs: {{input: {{type: i16, shape: [20, 20]}}, weights: {{type: i16, shape: [8, 3, 3]}}}}
outputs: {{output: {{type: i16, shape: [8, 18, 18]}}}}
buffers: {{kernel: {{type: i16, shape: [8, 3, 3]}}, sums: {{type: i16, shape: [8, 18, 18]}}}}
nest:
  - for v in 0..3:
    - for u in 0..3:
      - for k in 0..8 unroll {copies}:
        - kernel[k, u, v] = weights[k, u, v]
  - for y in 0..18:
    - for x in 0..18:
      - for k in 0..8 unroll {copies}:
        - sums[k, x, y] = 0
  - for v in 0..3:
    - for u in 0..3:
      - for y in 0..18:
        - for x in 0..18:
          - for k in 0..8 unroll {copies}:
            - sums[k, x, y] += kernel[k, u, v] * input[x+u, y+v]
  - for y in 0..18:
    - for x in 0..18:
      - for k in 0..8 unroll {copies}:
        - output[k, x, y] = max(sums[k, x, y], 0)
"
    );
    compiled(program(&text), "quad_port")
}

fn bottleneck(report: &Report) -> &Bottleneck {
    report.bottleneck.as_ref().expect("a program has an operation")
}

#[test]
fn the_next_step_costs_and_gains_what_is_said() {
    for copies in [1, 2, 4] {
        let built = layer(copies);
        let (now, then) = (Report::of(&built), Report::of(&layer(2 * copies)));
        let Bottleneck { name, line, cycles, interval, next_step } = bottleneck(&now);
        assert_eq!((name.as_str(), *line, *interval), ("sums", Some(21), 1));
        assert_eq!(*cycles, 9 * 18 * 18 * 8 / copies as u64);
        let next = next_step.as_ref().expect("more copies help");
        assert_eq!((next.of.as_slice(), next.words), (["sums".to_owned()].as_slice(), 0));
        assert_eq!(now.multipliers + next.multipliers, then.multipliers);
        // Not much is before the sums and after them.
        let is_near = |cycles: u64| cycles.abs_diff(next.cycles) < now.cycles / 10;
        assert!(is_near(then.cycles), "{copies}: {} is {}", next.cycles, then.cycles);
        let taken = Report::of(&compiled(with_next_step(&built).unwrap(), "quad_port"));
        assert_eq!(now.multipliers + next.multipliers, taken.multipliers);
        assert!(is_near(taken.cycles), "{copies}: {} is {}", next.cycles, taken.cycles);
    }
}

#[test]
fn a_raster_scan_needs_more_words_a_cycle() {
    let text = "
name: bright
inputs: {input: {type: u16, shape: [64, 64]}}
outputs: {output: {type: u16, shape: [64, 64]}}
nest:
  - for y in 0..64:
    - for x in 0..64:
      - output[x, y] = input[x, y] * 2
";
    let report = Report::of(&compiled(program(text), "amber"));
    let next = bottleneck(&report).next_step.clone().expect("more copies help");
    assert_eq!((next.of, next.words), (vec!["input".to_owned(), "output".to_owned()], 2));
    assert!(next.cycles.abs_diff(2048) < 10, "{}", next.cycles);
}

#[test]
fn more_copies_do_not_help_a_recurrence() {
    let text = "
name: smooth
inputs: {input: {type: u16, shape: [64, 64]}}
outputs: {output: {type: u16, shape: [64, 64]}}
nest:
  - for y in 0..64:
    - for x in 0..64:
      - output[x, y] = (outside(output[x-1, y], 0) * 13 + input[x, y] * 3) >> 4
";
    let recurrent = compiled(program(text), "amber");
    assert!(with_next_step(&recurrent).unwrap_err().message().contains("waits for its own results"));
    let report = Report::of(&recurrent);
    assert_eq!((bottleneck(&report).interval, &bottleneck(&report).next_step), (1, &None));
    let report = Report::of(&compiled(app("iir_rows"), "amber"));
    assert_eq!((bottleneck(&report).interval, &bottleneck(&report).next_step), (2, &None));
}
