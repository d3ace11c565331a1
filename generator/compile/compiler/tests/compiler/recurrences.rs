//! Statements that read what they wrote in earlier iterations.

use pushmem_realization::{Dedicated, Report};

use crate::common::{compare, compiled, program, try_compile};

/// A program with one statement over an image, `output[x, y] = …`.
fn filter(policy: &str, element: &str, value: &str) -> String {
    format!(
        "
name: filter{policy}
inputs: {{input: {{type: {element}, shape: [40, 12]}}, other: {{type: {element}, shape: [40, 12]}}}}
outputs: {{output: {{type: {element}, shape: [40, 12]}}}}
nest:
  - for y in 0..12:
    - for x in 0..40:
      - output[x, y] = {value}
"
    )
}

fn checked(text: &str, tile: &str) -> Dedicated {
    let compiled = compiled(program(text), tile);
    compare(&compiled);
    compiled
}

/// A statement's element type and value, and its initiation interval with the latency and the distance of the recurrence that
/// bounds it.
type Interval = (&'static str, &'static str, u64, Option<(u64, u64)>);

const INTERVALS: [Interval; 12] = [
    // A sum, a maximum, an integral image: one operator.
    ("u16", "input[x, y] + other[x, y] + outside(output[x-1, y], 0)", 1, None),
    ("i16", "max(input[x, y], outside(output[x-1, y], -7)) - other[x, y]", 1, None),
    (
        "u16",
        "input[x, y] + other[x, y] + outside(output[x-1, y], 0) + outside(output[x, y-1], 0) - outside(output[x-1, y-1], 0)",
        1,
        None,
    ),
    // The sum of products: they are computed before.
    ("u16", "input[x, y] * other[x, y] + outside(output[x-1, y], 0)", 1, None),
    ("u16", "(input[x, y] * other[x, y]) / (other[x, y] + 3) + outside(output[x-1, y], 0)", 1, None),
    // A product and a sum in the feedback, two of a filter of second order, and one whose feedback is two iterations old.
    ("u16", "(input[x, y] * 77 + outside(output[x-1, y], 9) * other[x, y]) >> 3", 2, Some((2, 1))),
    (
        "i16",
        "(input[x, y] + 437 * outside(output[x-1, y], 0) - 231 * outside(output[x-2, y], 0)) >> 8",
        2,
        Some((2, 1)),
    ),
    ("i16", "(input[x, y] - 231 * outside(output[x-2, y], 0)) >> 8", 1, None),
    // Down the columns the word is a row old.
    ("u16", "(input[x, y] * 77 + outside(output[x, y-1], 9) * other[x, y]) / (other[x, y] + 1)", 1, None),
    ("u16", "(input[x, y] * 77 + outside(output[x+2, y-1], 9) * other[x, y]) >> 3", 1, None),
    // A quotient in the feedback: 8 stages of 16 bits, and the sum.
    ("u16", "input[x, y] / (outside(output[x-1, y], 1) + 1) + other[x, y]", 10, Some((10, 1))),
    ("u16", "input[x, y] / (outside(output[x-3, y], 1) + 1) + other[x, y]", 4, Some((10, 3))),
];

/// The interval is that of the recurrence, on all tiles, and the run is as long as that says.
#[test]
fn the_interval_is_that_of_the_recurrence() {
    for (element, value, interval, bound) in INTERVALS {
        for tile in ["amber", "dual_port", "small"] {
            let report = Report::of(&checked(&filter("\nschedule: stencil", element, value), tile));
            let found = report.initiation_interval.clone().expect("there is a recurrence");
            let path = found.recurrence.as_ref().map(|path| (path.latency, path.distance));
            assert_eq!((found.cycles, path), (interval, bound), "{value} on {tile}");
            let rows = 40 * 12 * interval;
            assert!((rows..rows + 40).contains(&report.cycles), "{value} on {tile}: {} cycles", report.cycles);
        }
    }
}

/// The same statements as a nest of a coarse pipeline, whose arrays are kept: where that is faster, the columns of the image, of which each
/// result is then 12 iterations old, come after all of its rows.
#[test]
fn nests_of_coarse_pipelines_have_the_same_interval() {
    for (element, value, interval, _) in INTERVALS {
        let compiled = checked(&filter("\nschedule: dnn", element, value), "dual_port");
        let report = Report::of(&compiled);
        let words = 40 * 12;
        let (least, most) = if interval < 3 { (interval * words, interval * words) } else { (words, 2 * words) };
        assert!((least..most + 40).contains(&report.cycles), "{value}: {} cycles", report.cycles);
    }
}

/// First elements that another statement writes, backward passes, recurrences over several statements, and what streams behind.
const PROGRAMS: [&str; 6] = [
    // The first column and the first row.
    "
name: first_column
inputs: {input: {type: u8, shape: [40, 12]}}
outputs: {output: {type: u8, shape: [40, 12]}}
nest:
  - for y in 0..12:
    - output[0, y] = input[0, y]
    - for x in 1..40:
      - output[x, y] = (input[x, y] + output[x-1, y]) >> 1
",
    "
name: first_row
inputs: {input: {type: u16, shape: [40, 12]}}
outputs: {output: {type: u16, shape: [40, 12]}}
nest:
  - for x in 0..40:
    - output[x, 0] = 3 * input[x, 0]
  - for y in 1..12:
    - for x in 0..40:
      - output[x, y] = input[x, y] * 5 + output[x, y-1] * 77
",
    // To the left, then up.
    "
name: backward
inputs: {input: {type: u16, shape: [40, 12]}}
outputs: {output: {type: u16, shape: [40, 12]}}
buffers: {left: {type: u16, shape: [40, 12]}}
nest:
  - for y in 0..12:
    - for x in 0..40:
      - left[39-x, y] = input[39-x, y] + outside(left[40-x, y], 0) / 2
  - for y in 0..12:
    - for x in 0..40:
      - output[x, 11-y] = left[x, 11-y] + outside(output[x, 12-y], 0) / 2
",
    // Two statements that take each other's results.
    "
name: lattice
inputs: {input: {type: u16, shape: [40, 12]}}
outputs: {output: {type: u16, shape: [40, 12]}}
buffers: {state: {type: u16, shape: [40, 12]}}
nest:
  - for y in 0..12:
    - for x in 0..40:
      - state[x, y] = input[x, y] * 3 - outside(output[x-1, y], 5)
      - output[x, y] = state[x, y] * 77 + outside(state[x-1, y], 1)
",
    // A stencil and an enlargement of an integral image.
    "
name: boxes
inputs: {input: {type: u8, shape: [40, 12]}}
outputs: {output: {type: u8, shape: [64, 16]}}
buffers: {integral: {type: u16, shape: [40, 12]}, mean: {type: u8, shape: [36, 8]}}
nest:
  - for y in 0..12:
    - for x in 0..40:
      - integral[x, y] = (input[x, y] as u16) + outside(integral[x-1, y], 0) + outside(integral[x, y-1], 0) -
          outside(integral[x-1, y-1], 0)
  - for y in 0..8:
    - for x in 0..36:
      - mean[x, y] = ((integral[x+4, y+4] - integral[x, y+4] - integral[x+4, y] + integral[x, y]) / 16) as u8
  - for y in 0..16:
    - for x in 0..64:
      - output[x, y] = mean[x/2, y/2]
",
    // Copies of columns, each with its own recurrence.
    "
name: columns
inputs: {input: {type: u16, shape: [40, 12]}}
outputs: {output: {type: u16, shape: [40, 12]}}
nest:
  - for y in 0..12:
    - for x in 0..40 unroll 2:
      - output[x, y] = input[x, y] + outside(output[x, y-1], 0) * 77
",
];

#[test]
fn programs_with_recurrences_compute_what_they_say() {
    for text in PROGRAMS {
        for tile in ["amber", "dual_port", "fetch2", "small"] {
            checked(text, tile);
        }
    }
}

/// Sums in place: each element is the one above, and the one before. Where arrays are kept, both come out of the memory.
#[test]
fn sums_in_place_take_the_results_before() {
    for (policy, tile) in [("stencil", "amber"), ("stencil", "dual_port"), ("dnn", "quad_port")] {
        let text = format!(
            "
name: in_place
schedule: {policy}
inputs: {{input: {{type: u16, shape: [40, 12]}}}}
outputs: {{output: {{type: u16, shape: [40, 12]}}}}
buffers: {{sums: {{type: u16, shape: [40, 12]}}}}
nest:
  - for y in 0..12:
    - for x in 0..40:
      - sums[x, y] = input[x, y]
  - for y in 0..12:
    - for x in 1..40:
      - sums[x, y] += sums[x-1, y]
  - for y in 0..12:
    - for x in 0..40:
      - output[x, y] = sums[x, y]
"
        );
        checked(&text, tile);
    }
}

/// A loop whose iterations need each other cannot be unrolled: at the statement, with what to do.
#[test]
fn copies_that_need_each_other_are_refused() {
    for policy in ["stencil", "dnn"] {
        let text = filter(&format!("\nschedule: {policy}"), "u16", "input[x, y] + outside(output[x-1, y], 0)");
        let text = text.replace("0..40:", "0..40 unroll 2:");
        let error = try_compile(program(&text), "dual_port").unwrap_err();
        assert_eq!(
            error.to_string(),
            "copies of this statement need elements of `output` of each other, one after the other",
            "{policy}"
        );
        assert_eq!(error.diagnostic().location().map(|(_, line, _)| line), Some(9));
    }
}
