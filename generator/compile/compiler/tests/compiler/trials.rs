//! The record of a search for a schedule.

use std::cell::RefCell;

use pushmem_assembly::Constraints;
use pushmem_compiler::Trial;
use pushmem_graph::Target;
use pushmem_realization::{Dedicated, build};

use crate::common::{app, compare, compiled, program, spec, target};

/// The result of a search, and the trials that an observer saw.
fn search(name: &str, tile: &str) -> (Dedicated, Vec<Trial>) {
    let seen = RefCell::new(Vec::new());
    let observe = |trial: &Trial| seen.borrow_mut().push(trial.clone());
    let compiled = build(app(name), &target(spec(tile)), &Constraints::default(), &observe);
    (compiled.unwrap_or_else(|error| panic!("{error:?}")), seen.into_inner())
}

#[test]
fn a_feasible_schedule_of_the_fewest_cycles_is_taken() {
    for (name, tile) in [("gpyr_tiled", "amber"), ("three_stage", "amber"), ("gaussian", "amber")] {
        let (compiled, seen) = search(name, tile);
        assert_eq!(seen, compiled.trials, "{name}");
        let feasible = seen.iter().filter(|trial| trial.tiles.is_some());
        let least = feasible.map(|trial| trial.cycles).min().expect("a feasible schedule");
        assert_eq!(compiled.schedule.length(&compiled.extraction.pipeline) as u64, least, "{name}");
        assert!(seen.iter().all(|trial| trial.tiles.is_some() != trial.short.is_some()), "{name}");
    }
}

/// One window in four, and sixteen filters on each: a scan of the image has cycles for neither.
#[test]
fn nests_take_the_place_of_a_scan_that_waits() {
    let text = "
name: rates
inputs: {image: {type: u8, shape: [16, 16]}, weights: {type: u8, shape: [16, 2]}}
outputs: {output: {type: u8, shape: [16, 8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - for k in 0..16:
        - output[k, x, y] = (image[2*x, 2*y] ^ weights[k, 0]) + (image[2*x + 1, 2*y] ^ weights[k, 1])
";
    let scan = compiled(program(&text.replace("inputs", "schedule: stencil\ninputs")), "amber");
    let cheapest = compiled(program(text), "amber");
    assert!(cheapest.coarse.is_some() && cheapest.no_scan.is_none());
    assert!(2 * cheapest.graph.length < scan.graph.length, "{} {}", cheapest.graph.length, scan.graph.length);
    compare(&cheapest);
}

#[test]
fn a_refused_schedule_names_the_array_and_the_next_relieves_it() {
    let (_, seen) = search("residual_block_tiled", "amber");
    let refused = seen.iter().find_map(|trial| trial.short.as_ref()).expect("memories do not serve the first schedule");
    assert_eq!((refused.buffer.as_str(), refused.level), ("in_loaded", "memory tiles"));
    assert!(refused.reason.contains("in line 43"), "{}", refused.reason);
    let relieved = |trial: &Trial| trial.schedule.contains("reads pause between rows of in_loaded");
    assert!(seen.iter().any(relieved), "{seen:?}");
}

/// The image comes in a ninth of the time that the layer takes. Loaded at once, nearly all of it would be kept.
#[test]
fn rows_of_an_image_beyond_the_memories_come_as_they_are_read() {
    let text = "
name: layer
inputs: {input: {type: u8, shape: [302, 302]}}
outputs: {output: {type: u8, shape: [300, 300]}}
buffers: {pixels: {type: u8, shape: [302, 302]}, sums: {type: u16, shape: [300, 300]}}
nest:
  - for y in 0..302:
    - for x in 0..302:
      - pixels[x, y] = input[x, y] + 1
  - for y in 0..300:
    - for x in 0..300:
      - sums[x, y] = 0
  - for v in 0..3:
    - for u in 0..3:
      - for y in 0..300:
        - for x in 0..300:
          - sums[x, y] += pixels[x+u, y+v] as u16
  - for y in 0..300:
    - for x in 0..300:
      - output[x, y] = (sums[x, y] / 9) as u8
";
    let target = target(spec("quad_port"));
    let compiled = build(program(text), &target, &Constraints::default(), &|_| {}).unwrap();
    let taken = compiled.trials.iter().find(|trial| trial.tiles.is_some()).expect("a feasible schedule");
    assert!(taken.schedule.contains("rows follow the slowest, those of inputs as well"), "{}", taken.schedule);
    // Nine products a pixel, and some rows.
    let cycles = compiled.schedule.length(&compiled.extraction.pipeline);
    assert!(cycles < 9 * 300 * 304, "{cycles}");
    assert!(compiled.accelerator.tiles.len() < 10, "{}", compiled.accelerator.tiles.len());
}

#[test]
fn trials_of_a_refused_program_are_seen() {
    let text = "
name: wide
inputs: {input: {type: u16, shape: [4000, 3]}}
outputs: {output: {type: u16, shape: [4000]}}
nest:
  - for x in 0..4000:
    - output[x] = input[x, 0] + input[x, 2]
";
    let seen = RefCell::new(Vec::new());
    let observe = |trial: &Trial| seen.borrow_mut().push(trial.to_string());
    // Its controllers cannot count the words of a line.
    let mut tile = spec("dual_port");
    tile.controllers.values_mut().for_each(|controller| controller.cycle_bits = 8);
    let refused = build(program(text), &Target::new(tile, spec("rom")), &Constraints::default(), &observe);
    assert!(refused.is_err());
    let seen = seen.into_inner();
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|trial| trial.contains("refused, memory tiles cannot serve `input`: ")), "{seen:?}");
}
