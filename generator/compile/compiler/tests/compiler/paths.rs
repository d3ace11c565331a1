//! Paths that part and meet again: arrays that are read late have the versions that the interval needs.

use pushmem_assembly::Constraints;
use pushmem_graph::Target;
use pushmem_realization::Dedicated;

use crate::common::{compare, program, spec};

/// A residual block of three layers, of which the second gives two channels, for one image after the other. Sums of numbers with a fraction stay in
/// their order, so that each layer needs all of the one before it.
const BLOCK: &str = "
name: block
inputs:
  input: {type: bf16, shape: [12, 12, 6]}
  weights1: {type: bf16, shape: [3, 3]}
  weights2: {type: bf16, shape: [2, 3, 3]}
  weights3: {type: bf16, shape: [2, 3, 3]}
outputs: {output: {type: bf16, shape: [6, 6, 6]}}
buffers:
  pixels: {type: bf16, shape: [12, 12]}
  kernel1: {type: bf16, shape: [3, 3]}
  kernel2: {type: bf16, shape: [2, 3, 3]}
  kernel3: {type: bf16, shape: [2, 3, 3]}
  sums1: {type: bf16, shape: [10, 10]}
  sums2: {type: bf16, shape: [2, 8, 8]}
  sums3: {type: bf16, shape: [6, 6]}
nest:
  - for v in 0..3:
    - for u in 0..3:
      - kernel1[u, v] = weights1[u, v]
  - for v in 0..3:
    - for u in 0..3:
      - for w in 0..2:
        - kernel2[w, u, v] = weights2[w, u, v]
  - for v in 0..3:
    - for u in 0..3:
      - for z in 0..2:
        - kernel3[z, u, v] = weights3[z, u, v]
  - for t in 0..6:
    - for y in 0..12:
      - for x in 0..12:
        - pixels[x, y] = input[x, y, t]
    - for y in 0..10:
      - for x in 0..10:
        - sums1[x, y] = 0.0
    - for v in 0..3:
      - for u in 0..3:
        - for y in 0..10:
          - for x in 0..10:
            - sums1[x, y] += kernel1[u, v] * pixels[x+u, y+v]
    - for w in 0..2:
      - for y in 0..8:
        - for x in 0..8:
          - sums2[w, x, y] = 0.0
    - for v in 0..3:
      - for u in 0..3:
        - for w in 0..2:
          - for y in 0..8:
            - for x in 0..8:
              - sums2[w, x, y] += kernel2[w, u, v] * sums1[x+u, y+v]
    - for y in 0..6:
      - for x in 0..6:
        - sums3[x, y] = 0.0
    - for v in 0..3:
      - for u in 0..3:
        - for z in 0..2:
          - for y in 0..6:
            - for x in 0..6:
              - sums3[x, y] += kernel3[z, u, v] * sums2[z, x+u, y+v]
    - for y in 0..6:
      - for x in 0..6:
        - output[x, y, t] = max(sums3[x, y] + pixels[x+3, y+3], 0.0)
";

/// The interval of the images, and the versions of their pixels where these are more than two.
fn interval(compiled: &Dedicated) -> (u64, Option<u64>) {
    let level = &compiled.coarse.as_ref().unwrap().coarse.as_ref().unwrap().loops[0];
    assert!(level.versions.iter().all(|(array, _)| array == "pixels"));
    (level.interval, level.versions.first().map(|(_, versions)| *versions))
}

#[test]
fn a_residual_block_is_faster_with_a_third_version_of_its_input() {
    let build = |balance_paths: bool| {
        let constraints = Constraints { balance_paths, ..Constraints::default() };
        let target = Target::new(spec("quad_port"), spec("rom"));
        let found = pushmem_realization::build(program(BLOCK), &target, &constraints, &|_| {}).unwrap();
        compare(&found);
        found
    };
    let (balanced, double) = (build(true), build(false));
    let ((short, versions), (long, two)) = (interval(&balanced), interval(&double));
    assert_eq!((versions, two), (Some(3), None), "{short} {long}");
    assert_eq!(short, 9 * 2 * 64, "the second layer is busy all the time");
    assert!(long > short);
    assert!(balanced.accelerator.length < double.accelerator.length);
}
