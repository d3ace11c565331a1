//! Levels of the memory hierarchy: arrays are at the levels that the program names, or where there is room.

use std::cell::RefCell;

use pushmem_assembly::Constraints;
use pushmem_compiler::{CompileError, CompileStage, Trial};
use pushmem_files::Document;
use pushmem_graph::Target;
use pushmem_nest::{ArrayKind, Level, Program};
use pushmem_programs::random_network;
use pushmem_realization::{Dedicated, Report, build};
use pushmem_tile::TileSpec;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{app, compare, compiled, difference, program, spec, target, try_compile};

/// Random networks with arrays at random levels.
const NETWORKS: u64 = 60;

/// Reads an image backwards, which takes all of it to be kept.
const BACKWARDS: &str = "
name: backwards
schedule: dnn
inputs: {input: {type: i16, shape: [40, 60]}}
outputs: {output: {type: i16, shape: [40, 60]}}
buffers: {kept: {type: i16, shape: [40, 60]}}
nest:
  - for y in 0..60:
    - for x in 0..40:
      - kept[x, y] = input[x, y]
  - for y in 0..60:
    - for x in 0..40:
      - output[x, y] = kept[x, 59 - y] + 1
";

fn compile_with(text: &str, target: &Target) -> Result<Dedicated, CompileError> {
    build(program(text), target, &Constraints::default(), &|_| {})
}

/// Tiles in memory, in the global buffer and register files.
fn tiles(compiled: &Dedicated) -> [usize; 3] {
    let report = Report::of(compiled);
    [report.memory_tiles, report.global_buffer_banks, report.register_files]
}

#[test]
fn an_array_is_where_the_program_says() {
    let at = |level: &str| {
        BACKWARDS.replace(
            "kept: {type: i16, shape: [40, 60]}",
            &format!("kept: {{type: i16, shape: [40, 60], level: {level}}}"),
        )
    };
    for tile in ["amber", "dual_port"] {
        let found = compiled(program(&at("global_buffer")), tile);
        assert_eq!(tiles(&found), [0, 1, 0]);
        compare(&found);
        // The image is too large for one memory tile.
        let found = compiled(program(&at("memory")), tile);
        assert_eq!(tiles(&found), [2, 0, 0]);
        compare(&found);
    }
    let error = try_compile(program(&at("register_file")), "amber").unwrap_err();
    assert!(error.to_string().starts_with("`kept` cannot be kept in register files of"), "{error}");
    let small = at("register_file").replace("40", "5").replace("60", "6").replace("59", "5");
    let found = compiled(program(&small), "amber");
    assert_eq!(tiles(&found), [0, 0, 1]);
    compare(&found);
}

#[test]
fn what_memory_tiles_have_no_room_for_is_in_the_global_buffer() {
    // No tile and no chain holds it.
    let single = TileSpec { chaining: false, ..spec("dual_port") };
    let found = compile_with(BACKWARDS, &target(single.clone())).unwrap();
    assert_eq!(tiles(&found), [0, 1, 0]);
    assert!(CompileStage::LoopNest.text(&found).contains("kept: {type: i16, shape: [40, 60], level: global_buffer}"));
    compare(&found);
    let error = compile_with(BACKWARDS, &Target::new(single.clone(), spec("rom"))).unwrap_err();
    assert_eq!(error.diagnostic().offending_text(), Some("kept"));
    // There are too few of them.
    let few = TileSpec { count: Some(1), ..spec("dual_port") };
    assert_eq!(tiles(&compile_with(BACKWARDS, &target(few.clone())).unwrap()), [0, 1, 0]);
    let enough = TileSpec { count: Some(2), ..spec("dual_port") };
    assert_eq!(tiles(&compile_with(BACKWARDS, &target(enough.clone())).unwrap()), [2, 0, 0]);
    let error = compile_with(BACKWARDS, &Target::new(few.clone(), spec("rom"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`backwards` needs 2 `dual_port` tiles, and the specification has `count: 1`; this array has the most, 2"
    );
    // And no room there, either.
    let small = TileSpec { rows: 1024, count: Some(2), ..spec("global_buffer") };
    let error = compile_with(BACKWARDS, &target(few).with_level(Level::GlobalBuffer, Some(small))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`backwards` needs 3 `global_buffer` tiles, and the specification has `count: 2`; this array has the most, 3"
    );
    assert_eq!(error.diagnostic().offending_text(), Some("kept"));
}

/// Layers of sums whose rows follow each other, and the last one read backwards.
const LAYERS: &str = "
name: layers
inputs: {input: {type: i16, shape: [30, 30]}}
outputs: {output: {type: i16, shape: [24, 24]}}
buffers:
  one: {type: i16, shape: [28, 28]}
  two: {type: i16, shape: [26, 26]}
  kept: {type: i16, shape: [24, 24]}
nest:
  - for y in 0..28:
    - for x in 0..28:
      - one[x, y] = 0
      - for t in 0..3:
        - one[x, y] += input[x + t, y]
  - for y in 0..26:
    - for x in 0..26:
      - two[x, y] = 0
      - for t in 0..3:
        - two[x, y] += one[x + t, y + 2]
  - for y in 0..24:
    - for x in 0..24:
      - kept[x, y] = 0
      - for t in 0..3:
        - kept[x, y] += two[x + t, y + 2]
  - for y in 0..24:
    - for x in 0..24:
      - output[x, y] = kept[x, 23 - y]
";

/// The schedules that were tried in their order, and whether the memories serve them.
fn trials(text: &str, target: &Target) -> (Result<Dedicated, CompileError>, Vec<(String, bool)>) {
    let tried = RefCell::new(Vec::new());
    let observe = |trial: &Trial| tried.borrow_mut().push((trial.schedule.clone(), trial.short.is_none()));
    let outcome = build(program(text), target, &Constraints::default(), &observe);
    (outcome, tried.into_inner())
}

#[test]
fn an_array_moves_for_a_much_shorter_schedule_before_others_are_tried() {
    let single = TileSpec { chaining: false, rows: 256, ..spec("dual_port") };
    let (found, tried) = trials(LAYERS, &target(single.clone()));
    let rows_follow = "stages overlap, paths are balanced, rows follow the slowest";
    assert_eq!(tried[..2], [(rows_follow.to_owned(), false), (rows_follow.to_owned(), true)]);
    let found = found.unwrap();
    assert_eq!(tiles(&found), [2, 1, 0]);
    compare(&found);
    // Where that leads to no schedule, all are tried before the array moves.
    let small = TileSpec { rows: 64, count: Some(2), ..spec("global_buffer") };
    let (refused, tried) = trials(LAYERS, &target(single).with_level(Level::GlobalBuffer, Some(small)));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("`global_buffer` tiles, and the specification has `count: 2`"), "{refused}");
    assert_eq!(tried[..2], [false, false].map(|is_served| (rows_follow.to_owned(), is_served)));
    assert_ne!(tried[2].0, rows_follow);
}

#[test]
fn what_has_a_level_that_there_is_not_is_in_memory_tiles() {
    let text = BACKWARDS
        .replace("input: {type: i16, shape: [40, 60]}", "input: {type: i16, shape: [40, 60], level: global_buffer}");
    let found = compile_with(&text, &Target::new(spec("dual_port"), spec("rom"))).unwrap();
    assert_eq!(tiles(&found), [2, 0, 0]);
    let [warning] = found.warnings().try_into().unwrap();
    assert_eq!(warning.to_string(), "`input` is kept in memory tiles: there is no global buffer");
    assert_eq!(warning.offending_text(), Some("input"));
    let narrow = TileSpec { word_bits: 8, ..spec("global_buffer") };
    let error = compile_with(&text, &target(spec("amber")).with_level(Level::GlobalBuffer, Some(narrow))).unwrap_err();
    assert_eq!(error.to_string(), "`global_buffer` tiles cannot keep `input_global_buffer`");
}

/// The next image is loaded while one is read: two are in the global buffer.
#[test]
fn images_are_double_buffered() {
    let text = "
name: images
inputs: {input: {type: i16, shape: [16, 16, 6], level: global_buffer}}
outputs: {output: {type: i16, shape: [16, 16, 6]}}
buffers: {turned: {type: i16, shape: [16, 16]}}
nest:
  - for n in 0..6:
    - for y in 0..16:
      - for x in 0..16:
        - turned[x, y] = input[15 - x, 15 - y, n]
    - for y in 0..16:
      - for x in 0..16:
        - output[x, y, n] = turned[x, y]
";
    let found = compiled(program(text), "amber");
    compare(&found);
    assert_eq!(tiles(&found), [0, 1, 0]);
    // One image to fill, then six at one word a cycle, and a few cycles of latency.
    let cycles = found.accelerator.length;
    assert!((7 * 256..7 * 256 + 32).contains(&cycles), "{cycles}");
}

/// Controllers of the memory tile count to 127 only; the tile is used from cycle 174 on.
#[test]
fn the_time_of_a_late_tile_begins_late() {
    let text = "
name: late
inputs: {input: {type: u16, shape: [10, 18], level: global_buffer}}
outputs: {output: {type: u16, shape: [10, 6]}}
buffers: {tile: {type: u16, shape: [10, 6]}}
nest:
  - for y in 0..6:
    - for x in 0..10:
      - tile[x, y] = input[x, 17 - y]
  - for y in 0..6:
    - for x in 0..10:
      - output[x, y] = tile[x, 5 - y] + 1
";
    let mut short = spec("dual_port");
    short.controllers.values_mut().for_each(|controller| controller.cycle_bits = 7);
    let begins = |spec: &TileSpec| {
        let found = compile_with(text, &target(spec.clone())).unwrap();
        compare(&found);
        let tiles = found.accelerator.tiles.iter();
        tiles.map(|tile| (tile.level, tile.begin)).collect::<Vec<_>>()
    };
    assert_eq!(begins(&short), [(Level::Memory, 174), (Level::GlobalBuffer, 0)]);
    assert_eq!(begins(&spec("dual_port")), [(Level::Memory, 0), (Level::GlobalBuffer, 0)]);
}

/// Where sums have a port for each sort of access, multipliers never wait; else while sums are drained (Figure 7.9 of the
/// dissertation).
#[test]
fn ports_of_the_memory_decide_how_busy_multipliers_are() {
    let interval = |tile: &str| {
        let found = compiled(app("resnet_tiled_small"), tile);
        let loops = found.compiled.coarse.expect("a coarse pipeline").coarse.expect("a pipeline").loops;
        loops.iter().find(|each| each.name == "wt").expect("a loop over blocks of channels").interval
    };
    // Two blocks of input channels, each in nine steps for all pixels of a tile.
    let multiplying = 2 * 9 * 64;
    let draining = 8 * 64;
    assert_eq!(interval("quad_port"), multiplying);
    let dual = interval("dual_port");
    assert!((multiplying + draining..multiplying + draining + 32).contains(&dual), "{dual}");
}

/// How many levels the accelerator of a network has, if it is not refused; else the fault.
fn outcome(seed: u64, tile: &str) -> Result<Option<usize>, String> {
    let text = random_network(seed);
    let document = Document::parse("random.yaml", &text).expect("random networks are YAML");
    let mut network = Program::from_document(&document).map_err(|error| error.to_string())?.program;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for array in &mut network.arrays {
        let is_stream = array.kind != ArrayKind::Buffer;
        array.level = match random.random_range(0..3) {
            0 => Some(Level::GlobalBuffer),
            1 if !is_stream && array.size() <= 16 => Some(Level::RegisterFile),
            _ => None,
        };
    }
    let inputs = network.random_inputs(&mut random);
    let expected = network.run(&inputs).map_err(|error| error.to_string())?;
    match try_compile(network, tile) {
        Ok(compiled) => {
            let found = compiled.program.run(&inputs).map_err(|error| error.to_string())?;
            let copied = expected.iter().all(|(name, image)| found[name].values() == image.values());
            let wrong = difference(&compiled, seed);
            let levels = tiles(&compiled).iter().filter(|count| **count > 0).count();
            wrong.map_or(if copied { Ok(Some(levels)) } else { Err("the copies change it".to_owned()) }, Err)
        }
        Err(CompileError::Fault(error)) => Err(error.to_string()),
        Err(_) => Ok(None),
    }
}

#[test]
fn random_networks_with_levels_compute_what_they_say() {
    let mut several = 0;
    for seed in 0..NETWORKS {
        let tile = ["dual_port", "quad_port"][(seed % 2) as usize];
        let levels = outcome(seed, tile).unwrap_or_else(|how| panic!("{seed} on {tile}: {how}"));
        several += u64::from(levels.is_some_and(|levels| levels > 1));
    }
    // A few are refused, and some have no array that is kept.
    println!("{several} of {NETWORKS} have several levels");
    assert!(several >= NETWORKS / 4, "only {several} of {NETWORKS} have several levels");
}

/// A constant beyond the edges of an array is one beyond those of its copy in the global buffer, too: random program 24 with parameters.
#[test]
fn arrays_with_edges_are_copied_between_levels() {
    let text = "name: edges\ninputs: {input: {type: u16, shape: [40, 9], level: global_buffer}}\n\
                outputs: {output: {type: u16, shape: [40, 9]}}\nnest:\n  - for y in 0..9:\n    - for x in 0..40:\n      \
                - output[x, y] = outside(input[x - 1, y - 1], 7) + input[x, 8 - y]\n";
    let compiled = compile_with(text, &target(spec("amber"))).unwrap();
    assert!(compiled.accelerator.count_at(Level::GlobalBuffer) > 0);
    compare(&compiled);
}

/// Modules have the names of tiles: of two tiles with one name, one would be in the place of the other.
#[test]
fn different_tiles_of_one_name_are_refused() {
    let text = BACKWARDS
        .replace("input: {type: i16, shape: [40, 60]}", "input: {type: i16, shape: [40, 60], level: global_buffer}")
        .replace("= input[x, y]", "= input[x, 59 - y]");
    let namesake = || TileSpec { name: "amber".to_owned(), ..spec("global_buffer") };
    let with = |text: &str, tile: &TileSpec| {
        compile_with(text, &target(tile.clone()).with_level(Level::GlobalBuffer, Some(namesake())))
    };
    let error = with(&text, &spec("amber")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`backwards` needs two tiles that are both named `amber`: a wide_fetch tile of 512 rows and a dual_port tile of \
         131072 rows"
    );
    // One tile in both places, and one that the program does not need.
    compare(&with(&text, &namesake()).unwrap());
    compare(&with(BACKWARDS, &spec("amber")).unwrap());
}
