//! Operations that share a compute unit: they compute the same as the interpreter, on fewer operators.

use std::collections::BTreeMap;

use pushmem_assembly::{TileSharing, Tiles, Waits, application_graph};
use pushmem_compiler::Compiled;
use pushmem_mapping::Mappings;
use pushmem_nest::{Node, Program, Share};
use pushmem_programs::random_network;
use pushmem_proof::prove;
use pushmem_realization::{Dedicated, Report, realize};

use crate::common::{app, compare, compiled, program, try_compile};

/// Three levels of a pyramid on the operators of one, as fast as on their own: in a raster scan, where their iterations fall
/// between each other, and in a pipeline of loop nests.
#[test]
fn a_pyramid_needs_the_operators_of_one_level() {
    for tile in ["amber", "dual_port", "quad_port", "fetch2"] {
        let (apart, shared) = (compiled(app("gpyr"), tile), compiled(app("gpyr_shared"), tile));
        compare(&shared);
        let (apart, shared) = (Report::of(&apart), Report::of(&shared));
        assert_eq!((shared.kernels, shared.multiplexed_words), (1, 4 * 2), "{tile}");
        assert!(16 * shared.processing_elements <= 6 * apart.processing_elements, "{tile}");
        assert!(shared.cycles <= apart.cycles + 2, "{tile}: {} {}", shared.cycles, apart.cycles);
    }
}

/// The convolutions of two layers, which are updates of different arrays in loops of different lengths.
const LAYERS: &str = "
name: layers
inputs: {input: {type: i16, shape: [2, 10]}, first: {type: i16, shape: [2, 2, 3]}, second: {type: i16, shape: [2, 2, 3]}}
outputs: {output: {type: i16, shape: [2, 6]}}
buffers:
  pixels: {type: i16, shape: [2, 10]}
  kernel1: {type: i16, shape: [2, 2, 3]}
  kernel2: {type: i16, shape: [2, 2, 3]}
  middle: {type: i16, shape: [2, 8]}
  sums: {type: i16, shape: [2, 6]}
nest:
  - for x in 0..10:
    - for z in 0..2 unroll 2:
      - pixels[z, x] = input[z, x]
  - for r in 0..3:
    - for w in 0..2:
      - for z in 0..2:
        - kernel1[z, w, r] = first[z, w, r]
  - for r in 0..3:
    - for w in 0..2:
      - for z in 0..2:
        - kernel2[z, w, r] = second[z, w, r]
  - for x in 0..8:
    - for w in 0..2 unroll 2:
      - middle[w, x] = 0
  - for r in 0..3:
    - for x in 0..8:
      - for w in 0..2 unroll 2:
        - for z in 0..2 unroll 2:
          - middle[w, x] += kernel1[z, w, r] * pixels[z, x+r]: {share: layer}
  - for x in 0..6:
    - for w in 0..2 unroll 2:
      - sums[w, x] = 0
  - for r in 0..3:
    - for x in 0..6:
      - for w in 0..2 unroll 2:
        - for z in 0..2 unroll 2:
          - sums[w, x] += kernel2[z, w, r] * middle[z, x+r]: {share: layer}
  - for x in 0..6:
    - for w in 0..2:
      - output[w, x] = sums[w, x]
";

fn apart(text: &str) -> String {
    text.replace(": {share: layer}", "")
}

#[test]
fn layers_share_their_multipliers() {
    for tile in ["amber", "dual_port", "quad_port"] {
        let (one, both) = (compiled(program(LAYERS), tile), compiled(program(&apart(LAYERS)), tile));
        compare(&one);
        let accelerator = &one.accelerator;
        assert_eq!(accelerator.units.len(), 2, "one for each output channel");
        assert!(accelerator.units.iter().all(|unit| unit.kernels.len() == 2));
        let (one, both) = (Report::of(&one), Report::of(&both));
        assert_eq!((one.multipliers, both.multipliers), (4, 8), "{tile}");
        // Pixels are the same for both channels, and chosen once; kernels and sums are not.
        assert_eq!(one.multiplexed_words, 2 + 2 * 2 + 2, "{tile}");
        let busy = |report: &Report| report.occupancy.as_ref().map(|occupancy| occupancy.loop_optimized);
        assert!(one.cycles >= both.cycles && busy(&one) > busy(&both), "{tile}");
    }
}

/// Two operations in one loop: the loop runs at half the speed.
#[test]
fn operations_of_one_loop_share_a_unit() {
    let text = "
name: pair
schedule: dnn
inputs: {input: {type: u16, shape: [40]}}
outputs: {output: {type: u16, shape: [38]}}
buffers: {line: {type: u16, shape: [40]}, other: {type: u16, shape: [38]}}
nest:
  - for x in 0..40:
    - line[x] = input[x]
  - for x in 0..38:
    - other[x] = line[x] * line[x+1]: {share: product}
    - output[x] = line[x+2] * other[x]: {share: product}
";
    for tile in ["dual_port", "quad_port"] {
        let one = compiled(program(text), tile);
        compare(&one);
        assert_eq!(Report::of(&one).multipliers, 1);
        assert!(one.compiled.coarse.unwrap().coarse.unwrap().loops.iter().any(|level| level.interval >= 2));
    }
}

/// An operation with more copies than the other has some of them for itself.
#[test]
fn copies_share_copy_by_copy() {
    let text = "
name: copies
schedule: dnn
inputs: {input: {type: u16, shape: [4, 12]}}
outputs: {output: {type: u16, shape: [2, 11]}}
buffers: {line: {type: u16, shape: [4, 12]}, squares: {type: u16, shape: [4, 12]}}
nest:
  - for x in 0..12:
    - for c in 0..4 unroll 4:
      - line[c, x] = input[c, x]
  - for x in 0..12:
    - for c in 0..4 unroll 4:
      - squares[c, x] = line[c, x] * line[c, 11-x]: {share: product}
  - for x in 0..11:
    - for c in 0..2 unroll 2:
      - output[c, x] = squares[c, x] * squares[c+2, x+1]: {share: product}
";
    for tile in ["amber", "dual_port", "quad_port"] {
        let found = compiled(program(text), tile);
        compare(&found);
        assert_eq!((found.accelerator.units.len(), Report::of(&found).multipliers), (2, 4), "{tile}");
    }
}

/// With the schedule of a program that does not share, the last two levels begin iterations in the same cycles.
#[test]
fn two_kernels_at_once_are_noticed_by_the_proof() {
    let (apart, shared) = (compiled(app("gpyr"), "amber"), compiled(app("gpyr_shared"), "amber"));
    let Compiled { program, extraction, datapaths, target, .. } = &shared.compiled;
    let tiles = Tiles { target, mappings: &Mappings::default() };
    let graph = application_graph(program, extraction, &apart.schedule, datapaths, &Waits::default(), tiles).unwrap();
    let wrong = Compiled { graph, ..shared.compiled.clone() }.with_tiles(TileSharing::Shared).unwrap();
    let realized = realize(&wrong).unwrap();
    let staged = extraction.staged();
    let error = prove(program, staged, &apart.schedule, datapaths, &wrong.graph, &realized).unwrap_err();
    assert_eq!(error.to_string(), "average: two of its kernels begin an iteration in the same cycle");
}

fn refusal(text: &str) -> String {
    let error = try_compile(program(text), "dual_port").map(|_| ()).unwrap_err();
    format!("{error:?}")
}

/// Each difference is reported at its place, in both statements.
#[test]
fn operations_that_differ_are_refused() {
    for (from, to, messages) in [
        (
            "kernel2[z, w, r] * middle",
            "kernel2[z, w, r] - middle",
            ["has `-` giving i16 here", "has `*` giving i16 here"],
        ),
        (
            "kernel2[z, w, r] * middle[z, x+r]",
            "3 * (kernel2[z, w, r] * middle[z, x+r])",
            ["has the i16 3 here", "has its i16 operand 0 here"],
        ),
        (
            "sums[w, x] += kernel2[z, w, r]",
            "sums[w, x] = sums[w, x] + kernel2[z, w, r]",
            ["replaces an element", "adds to an element"],
        ),
        (
            "      - for w in 0..2 unroll 2:\n        - for z in 0..2 unroll 2:\n          - sums",
            "      - for w in 0..2 unroll 2:\n        - for z in 0..2:\n          - sums",
            ["computes with 3 words at once", "computes with 5 words at once"],
        ),
    ] {
        assert!(LAYERS.contains(from), "{from}");
        let error = refusal(&LAYERS.replace(from, to));
        assert!(error.contains("this statement cannot share `layer` with the one in line"), "{error}");
        for message in messages {
            assert!(error.contains(message), "{message}: {error}");
        }
    }
}

#[test]
fn operations_without_a_datapath_for_turns_are_refused() {
    let text = |value: &str| {
        format!(
            "
name: alone
inputs: {{input: {{type: u16, shape: [8]}}}}
outputs: {{output: {{type: u16, shape: [8]}}}}
nest:
  - for x in 0..8:
    - output[x] = {value}: {{share: unit}}
"
        )
    };
    assert!(refusal(&text("input[x]")).contains("it takes no cycle, and needs no unit"));
    assert!(refusal(&text("7")).contains("it takes no cycle, and needs no unit"));
    assert!(refusal(&text("input[x] + x as u16")).contains("it computes with the loop variable `x`"));
}

/// In a raster scan at one pixel a cycle there are no cycles for two.
#[test]
fn a_unit_that_is_busy_all_the_time_is_refused() {
    let text = "
name: busy
inputs: {input: {type: u16, shape: [16, 16]}}
outputs: {output: {type: u16, shape: [14, 14]}}
buffers: {middle: {type: u16, shape: [15, 15]}}
nest:
  - for y in 0..15:
    - for x in 0..15:
      - middle[x, y] = input[x, y] + input[x+1, y+1]: {share: sum}
  - for y in 0..14:
    - for x in 0..14:
      - output[x, y] = middle[x, y] + middle[x+1, y+1]: {share: sum}
";
    let error = refusal(&text.replace("inputs:", "schedule: stencil\ninputs:"));
    assert!(error.contains("finds no cycles of unit `sum` in which the statement in line 10 does not run"), "{error}");
    // Without a word on the schedule, nests take turns.
    let patient = compiled(program(text), "dual_port");
    assert!(patient.coarse.is_some() && patient.no_scan.is_some());
    compare(&patient);
}

/// Lets operations with the same datapath share it; nothing if there are no two.
fn shared(compiled: &Dedicated) -> Option<Program> {
    fn visit(nodes: &mut [Node], units: &BTreeMap<String, String>) {
        for node in nodes {
            match node {
                Node::Loop(inner) => visit(&mut inner.body, units),
                Node::Operation(operation) => {
                    let unit = units.get(&operation.name);
                    operation.share = unit.map(|name| Share { name: name.clone(), span: operation.span });
                }
            }
        }
    }
    let (mut program, datapaths) = (compiled.program.clone(), &compiled.datapaths);
    let mut units = BTreeMap::new();
    for (number, (_, operation)) in compiled.program.operations().iter().enumerate() {
        let same = (0..datapaths.len()).filter(|&other| datapaths[other] == datapaths[number]).collect::<Vec<_>>();
        let fit = datapaths[number].latency() > 0 && datapaths[number].variables().is_empty();
        if same.len() > 1 && fit && datapaths[number].fetches().is_empty() {
            units.insert(operation.name.clone(), format!("unit_{}", same[0]));
        }
    }
    visit(&mut program.nest, &units);
    (!units.is_empty()).then_some(program)
}

/// Random networks with operations that compute the same, by their seeds.
const ALIKE: [u64; 12] = [419, 448, 520, 575, 606, 804, 641, 806, 737, 766, 785, 798];

#[test]
fn random_networks_share_what_they_compute_alike() {
    for (seed, tile) in ALIKE.into_iter().zip(["dual_port", "quad_port", "dual_port"].into_iter().cycle()) {
        let apart = compiled(program(&random_network(seed)), tile);
        let shared = compiled(shared(&apart).unwrap_or_else(|| panic!("{seed}: nothing is alike")), tile);
        assert!(!shared.accelerator.units.is_empty(), "{seed}");
        compare(&shared);
    }
}
