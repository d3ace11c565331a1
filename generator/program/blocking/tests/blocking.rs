//! Blocked programs compute what the programs do.

use itertools::Itertools;
use proptest::prelude::*;
use proptest::sample::Index;
use pushmem_blocking::{Blocking, Candidate, Capacity, Reduction};
use pushmem_files::Document;
use pushmem_nest::Program;
use rand::SeedableRng;
use rand::rngs::SmallRng;

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// A product whose sums begin and end in nests of their own.
const PRODUCT: &str = "
name: product
inputs: {a: {type: i16, shape: [12, 16]}, b: {type: i16, shape: [8, 12]}, bias: {type: i16, shape: [8]}}
outputs: {output: {type: i16, shape: [8, 16]}}
buffers: {sums: {type: i16, shape: [8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - sums[x, y] = bias[x]
  - for y in 0..16:
    - for x in 0..8 unroll 2:
      - for r in 0..12 unroll 3:
        - sums[x, y] += a[r, y] * b[x, r]
  - for y in 0..16:
    - for x in 0..8:
      - output[x, y] = max(sums[x, y], 0) + bias[x]
";

/// A convolution, all in loops around, with an image whose least index is not 0; the sums are the output.
const CONVOLUTION: &str = "
name: convolution
inputs: {image: {type: i16, shape: [4, 10, 18], min: [0, -1, -1]}, weights: {type: i16, shape: [4, 8, 3, 3]}}
outputs: {sums: {type: i16, shape: [8, 8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - for k in 0..8:
        - sums[k, x, y] = 0
        - for ry in -1..2:
          - for rx in -1..2:
            - for c in 0..4:
              - sums[k, x, y] += image[c, x + rx, y + ry] * weights[c, k, rx + 1, ry + 1]
";

/// A maximum over windows that are apart, of sums that are used twice.
const POOLING: &str = "
name: pooling
inputs: {image: {type: u8, shape: [16, 32]}}
outputs: {first: {type: u8, shape: [8, 16]}, second: {type: u8, shape: [8, 16]}}
buffers: {largest: {type: u8, shape: [8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - largest[x, y] = 0
  - for y in 0..16:
    - for ry in 0..2:
      - for x in 0..8:
        - for rx in 0..2:
          - largest[x, y] = max(largest[x, y], max(image[2*x + rx, 2*y + ry], image[2*x, 2*y]))
  - for y in 0..16:
    - for x in 0..8:
      - first[x, y] = largest[x, y] / 2
  - for y in 0..16:
    - for x in 0..8:
      - second[x, y] = largest[7 - x, y]
";

/// Sums of diagonals: blocks of them overlap.
const DIAGONALS: &str = "
name: diagonals
inputs: {image: {type: u16, shape: [16, 16]}}
outputs: {output: {type: u16, shape: [31]}}
buffers: {sums: {type: u16, shape: [31]}}
nest:
  - for d in 0..31:
    - sums[d] = 7
  - for y in 0..16:
    - for x in 0..16:
      - sums[x + y] += image[x, 15 - y]
  - for d in 0..31:
    - output[d] = sums[d]
";

/// Results that take the place of an operand: the nest that uses the sums stays where it is.
const IN_PLACE: &str = "
name: in_place
inputs: {a: {type: i16, shape: [8, 8]}, b: {type: i16, shape: [8, 8]}}
outputs: {output: {type: i16, shape: [8, 8]}}
buffers: {c: {type: i16, shape: [8, 8]}, sums: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - c[x, y] = b[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..8:
      - for r in 0..8:
        - sums[x, y] += a[r, y] * c[x, r]
  - for y in 0..8:
    - for x in 0..8:
      - c[x, y] = sums[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = c[x, y]
";

/// Results of which the last one stays: their order matters. A variable has the name that a copy would have.
const LAST_ONE: &str = "
name: last_one
inputs: {i0: {type: i16, shape: [8, 8]}, b: {type: i16, shape: [8, 8]}}
outputs: {output: {type: i16, shape: [15]}}
buffers: {d: {type: i16, shape: [15]}, sums: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..8:
      - for r in 0..8:
        - sums[x, y] += i0[r, y] * b[x, r]
  - for y in 0..8:
    - for x in 0..8:
      - d[x + y] = sums[x, y]
  - for i in 0..15:
    - output[i] = d[i]
";

const PROGRAMS: [&str; 6] = [PRODUCT, CONVOLUTION, POOLING, DIAGONALS, IN_PLACE, LAST_ONE];

/// A blocking of any blocks and orders.
fn blocking(reduction: &Reduction, choices: &[Index], is_wide: bool) -> Blocking {
    let mut choices = choices.iter().cycle();
    let mut choose = |count: usize| choices.next().expect("there are some").index(count);
    let tiles = { reduction.loops() }
        .map(|level| {
            let steps = level.extent / level.unroll;
            let sizes = (1..=steps).filter(|tile| steps % tile == 0).map(|tile| tile * level.unroll).collect_vec();
            sizes[choose(sizes.len())]
        })
        .collect_vec();
    let mut shuffled = |mut places: Vec<usize>| {
        (1..places.len()).rev().for_each(|last| places.swap(last, choose(last + 1)));
        places
    };
    let cut = reduction.loops().enumerate().filter(|(place, level)| tiles[*place] < level.extent);
    let outer = shuffled(cut.map(|(place, _)| place).collect());
    let inner = shuffled((0..tiles.len()).collect());
    Blocking { tiles, outer, inner, is_wide }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_blocking_computes_the_same(
        which in 0..PROGRAMS.len(), choices in prop::collection::vec(any::<Index>(), 24), is_wide: bool, seed: u64,
    ) {
        let program = program(PROGRAMS[which]);
        let reductions = Reduction::all(&program);
        let reduction = &reductions[0];
        let blocking = blocking(reduction, &choices, is_wide);
        let blocked = reduction.blocked(&blocking).unwrap().unwrap();
        let inputs = program.random_inputs(&mut SmallRng::seed_from_u64(seed));
        prop_assert_eq!(program.run(&inputs).unwrap(), blocked.run(&inputs).unwrap(), "{}", blocked);
    }
}

#[test]
fn each_program_has_its_reduction() {
    let names = PROGRAMS.map(|text| Reduction::all(&program(text)).iter().map(|each| each.name().to_owned()).join(" "));
    assert_eq!(names, ["sums_1", "sums_1", "largest_1", "sums_1", "sums_1", "sums_1"]);
}

/// Sums of bfloat16 are joined in the order of the program.
#[test]
fn sums_in_order_are_left_alone() {
    let text = PRODUCT.replace("i16", "bf16").replace("max(sums[x, y], 0)", "sums[x, y]").replace("= 0", "= 0.0");
    assert!(Reduction::all(&program(&text)).is_empty());
}

/// The sums of a product stay, and so does one operand, if blocks of the other are as small as they may be.
#[test]
fn the_estimate_counts_what_the_copies_move() {
    let program = program(PRODUCT);
    let product = &Reduction::all(&program)[0];
    let candidates = product.candidates(Capacity { tiles: 4, words: 64 }, usize::MAX);
    assert!(candidates.len() > 100, "{}", candidates.len());
    for Candidate { blocking, estimate } in candidates {
        let blocked = product.blocked(&blocking).unwrap().unwrap();
        let copies = blocked.operations().into_iter().filter(|(_, operation)| {
            let is_block = |array: usize| blocked.arrays[array].name.ends_with("_block");
            let load = operation.loads.first().map(|load| load.access.array);
            operation.reduction.is_none() && load.is_some_and(|load| is_block(load) != is_block(operation.target.array))
        });
        let words = |(loops, _): (Vec<&pushmem_nest::Loop>, _)| loops.iter().map(|level| level.extent).product::<i64>();
        assert_eq!(copies.map(words).sum::<i64>(), estimate.moved, "{blocked}");
    }
}
