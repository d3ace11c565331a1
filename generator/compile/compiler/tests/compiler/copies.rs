//! Copies of unrolled operations: their readers, and the limit of their number.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{compare, compiled, program};

/// A kernel and a copy may read the same lanes in either order; a copy shares the selection of a kernel before it.
#[test]
fn lanes_are_read_by_a_kernel_and_a_copy_in_either_order() {
    let read = |kernel: &str, copy: &str| {
        program(&format!(
            "name: lanes
inputs: {{i: {{type: u16, shape: [16, 8]}}}}
outputs: {{a: {{type: u16, shape: [16, 8]}}, b: {{type: u16, shape: [16, 8]}}}}
buffers: {{s: {{type: u16, shape: [16, 8]}}}}
nest:
  - for y in 0..8:
    - for x in 0..16 unroll 2:
      - s[x, y] = i[x, y] + 1
  - for y in 0..8:
    - for x in 0..16:
      - {kernel}
  - for y in 0..8:
    - for x in 0..16:
      - {copy}
"
        ))
    };
    let (kernel, copy) = ("a[x, y] = s[x, y] * 3", "b[x, y] = s[x, y]");
    // The selection of a copy is its result, which no later kernel takes.
    for (program, expected) in [(read(kernel, copy), 1), (read(copy, kernel), 2)] {
        let found = compiled(program, "amber");
        compare(&found);
        let selections = found.accelerator.wires.iter().filter(|wire| wire.name.contains("_load_"));
        assert_eq!(selections.count(), expected);
    }
}

/// A copy whose element is never there takes the constant, be arrays streamed or kept.
#[test]
fn a_copy_may_lie_outside_as_a_whole() {
    for schedule in ["stencil", "dnn"] {
        let found = compiled(
            program(&format!(
                "name: outside
schedule: {schedule}
inputs: {{i: {{type: u16, shape: [16, 8, 2]}}}}
outputs: {{a: {{type: u16, shape: [16, 8, 3]}}}}
buffers: {{s: {{type: u16, shape: [16, 8, 2]}}}}
nest:
  - for c in 0..2 unroll 2:
    - for y in 0..8:
      - for x in 0..16:
        - s[x, y, c] = i[x, y, c] + 1
  - for y in 0..8:
    - for x in 0..16:
      - for c in 0..3 unroll 3:
        - a[x, y, c] = outside(s[x, y, c], 7) * 3
"
            )),
            "amber",
        );
        compare(&found);
    }
}

/// Compiling is nearly linear in the copies: cubic, this took minutes. The benchmarks hold the time.
#[test]
fn thousands_of_copies_are_compiled_at_once() {
    let copies = 4096;
    let many = program(&format!(
        "name: many
inputs: {{i: {{type: u16, shape: [{width}, 4]}}}}
outputs: {{o: {{type: u16, shape: [{pixels}, 4]}}}}
nest:
  - for y in 0..4:
    - for x in 0..{pixels} unroll {copies}:
      - o[x, y] = i[x, y] + i[x+1, y] + i[x+2, y]
",
        pixels = 2 * copies,
        width = 2 * copies + 2,
    ));
    let found = compiled(many, "amber");
    assert_eq!(found.accelerator.kernels.len(), copies);
}

/// The same of operations, each of which reads the one before.
#[test]
fn thousands_of_operations_are_compiled_at_once() {
    let count = 3000;
    let name = |number: usize| match number {
        0 => "i".to_owned(),
        number if number == count => "o".to_owned(),
        number => format!("b{number}"),
    };
    let buffers: String =
        (1..count).map(|number| format!("  {}: {{type: u16, shape: [8, 4]}}\n", name(number))).collect();
    let stage = |number: usize| {
        format!(
            "  - for y in 0..4:\n    - for x in 0..8:\n      - {}[x, y] = {}[x, y] + 1\n",
            name(number),
            name(number - 1)
        )
    };
    let nest: String = (1..=count).map(stage).collect();
    let chain = program(&format!(
        "name: chain
inputs: {{i: {{type: u16, shape: [8, 4]}}}}
outputs: {{o: {{type: u16, shape: [8, 4]}}}}
buffers:
{buffers}nest:
{nest}"
    ));
    let found = compiled(chain, "amber");
    assert_eq!(found.accelerator.kernels.len(), count);
}

/// Fifty windows one after the other on an image in HD, with a hundred million elements: none of them takes memory.
#[test]
fn large_images_are_compiled_at_once() {
    let (count, [width, height]) = (50, [1920, 1080]);
    let name = |number: usize| match number {
        0 => "input".to_owned(),
        number if number == count => "output".to_owned(),
        number => format!("blurred{number}"),
    };
    let shape = |number: usize| format!("{{type: u8, shape: [{}, {}]}}", width - 2 * number, height - 2 * number);
    let buffers: String = (1..count).map(|number| format!("  {}: {}\n", name(number), shape(number))).collect();
    let stage = |number: usize| {
        let from = name(number - 1);
        format!(
            "  - for y in 0..{}:\n    - for x in 0..{}:\n      - {}[x, y] = ((({from}[x, y] as u16) + ({from}[x+2, y+2] as u16)) / 2) as u8\n",
            height - 2 * number,
            width - 2 * number,
            name(number)
        )
    };
    let nest: String = (1..=count).map(stage).collect();
    let (input, output) = (shape(0), shape(count));
    let blurs = program(&format!(
        "name: blurs\ninputs: {{input: {input}}}\noutputs: {{output: {output}}}\nbuffers:\n{buffers}nest:\n{nest}"
    ));
    let found = compiled(blurs, "amber_long");
    assert!(found.program.arrays.iter().map(|array| array.size()).sum::<usize>() > 90_000_000);
    assert!(found.accelerator.length < (width * height + 1000) as u64, "{}", found.accelerator.length);
}

/// An array that is computed in lanes is read by copies and kernels in any order, in nests of their own, with lanes or without.
#[test]
fn random_copies_and_kernels_of_lanes_share_them() {
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut pick = |from: &[&'static str]| from[rng.random_range(0..from.len())];
        let policy = pick(&["", "schedule: dnn\n", "schedule: stencil\n"]);
        let lanes = pick(&["", " unroll 2", " unroll 4"]);
        let names = ["a", "b", "c"];
        let reads = names.map(|name| {
            let (kernel, unroll) = (pick(&["", "", " * 3", " + 7", " + s[x, y]"]), pick(&["", "", lanes]));
            format!("  - for y in 0..4:\n    - for x in 0..16{unroll}:\n      - {name}[x, y] = s[x, y]{kernel}\n")
        });
        let array = "{type: u16, shape: [16, 4]}";
        let outputs = names.map(|name| format!("{name}: {array}")).join(", ");
        let text = format!(
            "name: lanes\n{policy}inputs: {{i: {array}}}\noutputs: {{{outputs}}}\nbuffers: {{s: {array}}}\nnest:\n  \
             - for y in 0..4:\n    - for x in 0..16{lanes}:\n      - s[x, y] = i[x, y] + 1\n{}",
            reads.concat()
        );
        let tile = pick(&["amber", "dual_port", "onyx"]);
        compare(&compiled(program(&text), tile));
    }
}

/// Stages with lanes in numbers of which neither divides the other exchange an array at full rate: it is divided by the least common
/// multiple.
#[test]
fn lanes_of_any_two_numbers_exchange_an_array() {
    for (writers, readers) in [(4, 2), (2, 4), (3, 2), (2, 3), (4, 3), (12, 3), (6, 4)] {
        let text = format!(
            "name: lanes
schedule: dnn
inputs: {{i: {{type: u16, shape: [24, 24]}}}}
outputs: {{o: {{type: u16, shape: [24, 24]}}}}
buffers: {{s: {{type: u16, shape: [24, 24]}}}}
nest:
  - for y in 0..24:
    - for x in 0..24 unroll {writers}:
      - s[x, y] = i[x, y] + 1
  - for y in 0..24:
    - for x in 0..24 unroll {readers}:
      - o[x, y] = s[x, 23 - y] * 3
"
        );
        for tile in ["amber", "dual_port"] {
            let found = compiled(program(&text), tile);
            compare(&found);
            // The reader begins with the last row.
            let both = 24 * 24 / writers + 24 * 24 / readers;
            assert!(found.accelerator.length <= both + 64, "{writers} -> {readers}: {}", found.accelerator.length);
        }
    }
}

/// Rows that are read backwards from the middle of a row of memory; an array of a scan that two statements copy into, one of them a
/// column; a copy of a copy of a constant; and channels in the innermost loop, whose rows are fetched again and again.
#[test]
fn copies_and_reads_in_other_orders_are_what_the_interpreter_computes() {
    let programs = [
        "
name: rev1
inputs: {input: {type: u16, shape: [12]}}
outputs: {output: {type: u16, shape: [11]}}
nest:
  - for x in 0..11:
    - output[x] = input[10-x]
",
        "
name: c4
inputs: {input: {type: u16, shape: [2, 2]}}
outputs: {output: {type: u16, shape: [2, 2]}}
buffers: {b: {type: u16, shape: [2, 2]}}
nest:
  - for y in 0..2:
    - b[0, y] = input[0, y]
    - for x in 1..2:
      - b[x, y] = input[x, y]
  - for y in 0..2:
    - for x in 0..2:
      - output[x, y] = b[x, 1-y]
",
        "
name: f4
schedule: dnn
inputs: {input: {type: u8, shape: [4]}}
outputs: {output: {type: u8, shape: [4]}}
buffers: {b: {type: u8, shape: [4]}, c: {type: u8, shape: [4]}}
nest:
  - for x in 0..4:
    - b[x] = 3
  - for x in 0..4:
    - c[x] = b[x]
  - output[0] = c[1]
  - for x in 1..4:
    - output[x] = input[x]
",
        "
name: z7
schedule: dnn
inputs:
  input: {type: i16, shape: [4, 3, 3]}
  weights: {type: i16, shape: [4, 1, 2, 2]}
outputs:
  output: {type: i16, shape: [1, 2, 2]}
buffers:
  sums: {type: i16, shape: [1, 2]}
nest:
  - for y in 0..2:
    - for x in 0..2:
      - for w in 0..1:
        - sums[w, x] = 0
    - for ry in 0..2:
      - for rx in 0..2:
        - for x in 0..2:
          - for w in 0..1:
            - for z in 0..4:
              - sums[w, x] += input[z, x+rx, y+ry] * weights[z, w, rx, ry]
    - for x in 0..2:
      - for w in 0..1:
        - output[w, x, y] = max(sums[w, x] >> 2, 0)
",
    ];
    for text in programs {
        for tile in ["amber", "dual_port"] {
            compare(&compiled(program(text), tile));
        }
    }
}
