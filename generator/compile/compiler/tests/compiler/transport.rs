//! Words that travel between stages: schedules with a transport latency give the same images.

use pushmem_assembly::{Constraints, Delivery};
use pushmem_compiler::{CompileError, plan};
use pushmem_nest::Program;
use pushmem_realization::Dedicated;

use crate::common::{app, compare, difference, program, spec, target};

fn with_transport(program: Program, tile: &str, transport: u64) -> Result<Dedicated, CompileError> {
    let delivery = Delivery { transport, ..Delivery::default() };
    Dedicated::of(plan(program, &target(spec(tile)), &Constraints::default(), delivery, &|_| {})?)
}

#[test]
fn stencils_start_later_and_are_as_fast() {
    for name in ["gaussian", "harris", "unsharp", "camera_pipeline"] {
        let [near, far] = [0, 4].map(|cycles| with_transport(app(name), "dual_port", cycles).unwrap());
        compare(&far);
        let later = far.accelerator.length - near.accelerator.length;
        assert!(later > 0 && later < near.accelerator.length / 4, "{name}: {later}");
    }
}

#[test]
fn coarse_pipelines_wait_for_what_travels() {
    for name in ["conv_3_3", "residual_block"] {
        let [near, far] = [0, 4].map(|cycles| with_transport(app(name), "quad_port", cycles).unwrap());
        compare(&far);
        assert!(far.accelerator.length > near.accelerator.length, "{name}");
    }
}

#[test]
fn random_programs_are_right_at_all_distances() {
    let mut right = 0;
    for seed in 0..60 {
        let text = pushmem_programs::random_program(seed);
        match with_transport(program(&text), "dual_port", 1 + seed % 7) {
            Ok(compiled) => {
                assert_eq!(difference(&compiled, seed), None, "{seed}");
                right += 1;
            }
            Err(CompileError::Fault(error)) => panic!("{seed}: {error}"),
            Err(_) => {}
        }
    }
    assert!(right > 40, "{right}");
}

/// Statements that only pass on a word, on its way from a memory and back to it.
const PASSED_ON: [&str; 2] = [
    "
name: adds_nothing
schedule: dnn
outputs: {o: {type: u16, shape: [5]}}
nest:
  - for i in 0..5:
    - o[i] = 0
    - o[i] += 1
    - o[i] += 0
",
    "
name: copied_between
schedule: dnn
outputs: {s: {type: u16, shape: [3]}, o: {type: u16, shape: [3]}}
buffers: {t: {type: u16, shape: [3]}}
nest:
  - for i in 0..3:
    - s[i] = 3
    - t[i] = s[i]
    - s[i] += t[i]
    - o[i] = 0
",
];

#[test]
fn words_that_are_passed_on_travel_too() {
    for text in PASSED_ON {
        for tile in ["amber", "dual_port", "quad_port"] {
            for transport in 0..8 {
                let compiled = with_transport(program(text), tile, transport).unwrap();
                assert_eq!(difference(&compiled, 1), None, "{text} on {tile} at {transport}");
            }
        }
    }
}
