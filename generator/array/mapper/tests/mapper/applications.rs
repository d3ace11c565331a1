//! The benchmark programs.

use pushmem_assembly::Constraints;
use pushmem_bitstream::decode;
use pushmem_fabric::TileKind;
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, Edited, Report, Sharing, StreamLane, compile_for, execute, join, lower, split};
use pushmem_nest::Program;
use pushmem_netlist::{Machine, Run};
use pushmem_pe::Numbers;
use pushmem_routing::Options;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, beside, compiled, mapped};

#[test]
fn netlists_of_applications_compute_what_the_interpreter_does() {
    let amber = array("amber");
    for (name, pes, memories) in [
        ("gaussian", 12, 1),
        ("harris", 70, 5),
        ("bc_mirror", 27, 8),
        ("demosaic", 109, 2),
        ("down_sample", 5, 1),
        ("laplacian_pyramid", 58, 6),
        ("gpyr_shared", 12, 2),
        ("transpose", 1, 2),
        ("fully_connected", 18, 9),
        ("resnet88", 128, 17),
    ] {
        let compiled = compiled(app(name), &amber);
        let lowered = lower(&compiled, &amber, Sharing::Shared).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let count = |kind| lowered.netlist.count(kind);
        assert_eq!((count(TileKind::Pe), count(TileKind::Memory)), (pes, memories), "{name}");
        let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
        let graph = &compiled.graph;
        let beats = graph.input_beats(&compiled.program, &images).unwrap();
        let words = split(&beats, graph.inputs.iter().map(|stream| stream.lanes.len()));
        let machine = Machine::new(&lowered.netlist, &amber, Numbers { word_bits: 16 });
        let in_time = |lanes: Vec<StreamLane>| lanes.iter().map(|lane| lane.in_time(graph)).collect::<Vec<_>>();
        let (entering, leaving) = (in_time(lowered.input_lanes(graph)), in_time(lowered.output_lanes(graph)));
        let mut run = Run::new(machine, &entering, &leaving, &[]);
        run.execute(run.length(), &|lane, number| words[lane][number].into());
        let left = run.left.iter().map(|words| words.iter().map(|word| *word as u16).collect()).collect::<Vec<_>>();
        let found = join(&left, graph.outputs.iter().map(|stream| stream.lanes.len()));
        assert!(run.take_violations().is_empty(), "{name}");
        let found = graph.arrays(&compiled.program, &found).unwrap();
        assert!(found == compiled.program.run(&images).unwrap(), "the netlist of {name} computes something else");
    }
}

/// Tables and memories that repeat words come later than their words are wanted: netlists with them run with the starts of cells only.
#[test]
fn memories_take_the_place_of_elements() {
    let amber = array("amber");
    for (name, pes, memories) in [("unsharp", 53, 6), ("up_sample", 1, 1), ("up_sample_unroll4", 4, 1)] {
        let lowered = lower(&compiled(app(name), &amber), &amber, Sharing::Shared).unwrap();
        let count = |kind| lowered.netlist.count(kind);
        assert_eq!((count(TileKind::Pe), count(TileKind::Memory)), (pes, memories), "{name}");
    }
}

#[test]
fn a_program_beyond_the_array_is_refused_at_its_place() {
    let word32 = array("word32");
    let error = format!("{:?}", lower(&compiled(app("rom"), &word32), &word32, Sharing::Shared).unwrap_err());
    assert!(error.contains("memory tiles of `word32` have no contents of their own for this table"), "{error}");
}

/// Elements that data choose, and elements that are written twice and read in an order that no loops give.
#[test]
fn what_only_random_access_memories_serve_has_the_way_to_other_hardware() {
    let target = ArrayTarget::new(array("amber"));
    let text = |nest: &str| {
        format!(
            "name: paths
inputs: {{energy: {{type: u16, shape: [8, 4]}}}}
outputs: {{o: {{type: u16, shape: [8, 4]}}}}
buffers: {{p: {{type: u16, shape: [8, 4]}}}}
nest:
  - for y in 0..4:
    - for x in 0..8:
      - p[x, y] = energy[x, y]
  {nest}
  - for y in 0..4:
    - for x in 0..8:
      - o[x, y] = p[x, y]
"
        )
    };
    let chosen = text("- for x in 0..8:\n    - p[min(energy[x, 0], 7), 0] = 1");
    let twice = text(
        "- for y in 1..4:\n    - for x in 0..8:\n      - p[x, y] = energy[x, y] + min(p[clamp(x-1, 0, 7), y-1], p[x, y-1])",
    );
    for text in [chosen, twice] {
        let document = Document::parse("paths.yaml", text.as_str()).unwrap();
        let program = Program::from_document(&document).unwrap().program;
        let refused = format!("{:?}", mapped(&program, &target).map(|_| ()).unwrap_err());
        let told = refused.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("build dedicated hardware, without `--array`"), "{told}");
    }
}

#[test]
fn bitstreams_of_applications_compute_what_the_interpreter_does() {
    let target = ArrayTarget::new(array("amber"));
    // Delays, tables, tables of reciprocals, a table that does not end with a row, boundaries, memories of several tiles, sums that need more cycles, a
    // memory that streams would share, weights that come at run time, loop variables of two loops, and of a loop beside others, arrays of a
    // level that arrays of tiles do not have.
    for name in [
        "gaussian",
        "harris",
        "rom",
        "unsharp",
        "unsharp_new",
        "bc_mirror",
        "up_sample",
        "three_stage",
        "mobilenet",
        "mobilenet_small",
        "exposure_fusion",
        "counter",
        "conv_1_3",
        "resnet_tiled_small",
    ] {
        computes(name, &target);
    }
}

/// Numbers with a fraction need processing elements for them.
#[test]
fn bitstreams_of_numbers_compute_what_the_interpreter_does() {
    let amber = array("amber");
    for (name, own, prefix) in [
        ("unsharp_bf16", "bfloat", "bfloat"),
        ("matmul_bf16", "bfloat", "bfloat"),
        ("unsharp_f16", "float16", "float16"),
    ] {
        computes(name, &ArrayTarget::new(array(own)));
        let error = lower(&compiled(app(name), &amber), &amber, Sharing::Shared).unwrap_err();
        let expected = format!("`amber_pe` has no operation `{prefix}_");
        assert!(error.to_string().contains(&expected), "{error:?}");
    }
}

/// A program on an array computes what the interpreter does, and its routes take few cycles of an image.
fn computes(name: &str, target: &ArrayTarget) {
    let options = Options::default();
    let found =
        compile_for(&app(name), target, &beside(), &Constraints::default(), &Edited::default(), options, &|_| ());
    let (compiled, mapped) = found.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    let found = execute(&mapped, &configuration, &compiled, target, &images).unwrap();
    assert!(found.outputs == compiled.source.run(&images).unwrap(), "the bitstream of {name} computes something else");
    // Routes take few cycles of an image.
    let added = Report::of(&compiled, &mapped, target).cycles - compiled.graph.length;
    assert!(added <= 220, "{name}: {added} cycles");
}

/// Loops with products and without, and held words, where products take two cycles.
#[test]
fn readers_of_late_products_start_later() {
    let mut late = array("amber");
    late.pe.multiplier_cycles = 2;
    let target = ArrayTarget::new(late);
    for name in ["gaussian", "harris", "conv_1_3", "mobilenet"] {
        computes(name, &target);
    }
}
