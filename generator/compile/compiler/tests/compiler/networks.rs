//! Networks: programs whose reductions are loops, of the project and random ones. The compiled accelerator computes the
//! same as the interpreter.

use std::time::Instant;

use pushmem_nest::Policy;
use pushmem_programs::{random_network, random_rows};
use pushmem_realization::{Dedicated, Report};

use crate::common::{app, apps, compare, compiled, difference, program, try_compile};
use crate::outcome::{Outcome, check, outcome};

/// Networks of the project that take seconds in a debug build.
const LARGE: [&str; 32] = [
    "brighten_blur_tiled",
    "cnn",
    "depthwise",
    "fsrcnn",
    "fsrcnn_shared",
    "fsrcnn_unroll16",
    "gemm_tiled",
    "gpyr_tiled",
    "gpyr_tiled_shared",
    "harris_sch3",
    "harris_sch4",
    "matmul",
    "matmul_tiled",
    "max_pool",
    "mobilenet",
    "mobilenet_rolled",
    "nlmeans",
    "residual_block",
    "residual_block_tiled",
    "resnet",
    "resnet16",
    "resnet1_small",
    "resnet2_x_small",
    "resnet3_1_small",
    "resnet3_x_small",
    "resnet4_1_small",
    "resnet4_x_small",
    "resnet5_1_small",
    "resnet5_x_small",
    "resnet88",
    "resnet_tiled_small",
    "stereo_small",
];

/// Tiles that random networks are built for, in rotation.
const TILES: [&str; 5] = ["amber", "dual_port", "quad_port", "fetch2", "fetch8"];

/// Random networks of a normal run, and of a long one.
const NETWORKS: u64 = 200;
const MANY_NETWORKS: u64 = 10_000;

/// Of a hundred, so many may be refused. Most of them have copies of a reduction that update an array one after the
/// other, or two stages that write an array at once, which is too much for the one input of `fetch2`.
const MOST_REFUSED: usize = 33;

/// A seed of the normal run whose mapping to `fetch8` takes long in a debug build: its SRAM is all but full, so that many
/// offsets of the accesses are tried.
const SLOW: u64 = 194;

/// Outcome of a random network on a tile.
fn network(seed: u64, tile: &str) -> Outcome {
    outcome(&random_network(seed), tile, seed)
}

/// Compiles networks of the project and compares their results.
fn check_apps(are_large: bool) {
    let mut wrong = Vec::new();
    for name in apps() {
        let program = app(&name);
        if program.policy() != Policy::Dnn || LARGE.contains(&name.as_str()) != are_large {
            continue;
        }
        for tile in ["amber", "dual_port"] {
            let begin = Instant::now();
            let found = match try_compile(program.clone(), tile) {
                Ok(compiled) => difference(&compiled, 1),
                Err(error) => Some(error.to_string()),
            };
            wrong.extend(found.map(|how| format!("{name} on {tile}: {how}")));
            println!("{name} on {tile}: {:.1} s", begin.elapsed().as_secs_f32());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn networks_of_the_project_compute_what_they_say() {
    check_apps(false);
}

#[test]
#[ignore = "takes minutes"]
fn large_networks_of_the_project_compute_what_they_say() {
    check_apps(true);
}

/// The loops of an example, over arrays of 12 words and of 3 x 12.
fn check_nest(nest: &str) {
    let text = format!(
        "
name: network
schedule: dnn
inputs: {{input: {{type: i16, shape: [12]}}}}
outputs: {{output: {{type: i16, shape: [3, 12]}}}}
buffers:
  loaded: {{type: i16, shape: [12]}}
  other: {{type: i16, shape: [12]}}
  both: {{type: i16, shape: [3, 12]}}
nest:
  - for x in 0..12:
    - loaded[x] = input[x]
{nest}"
    );
    for tile in ["dual_port", "quad_port"] {
        compare(&compiled(program(&text), tile));
    }
}

/// The other one needs the memory, whose order is not that of the word that is taken on its way.
#[test]
fn a_buffer_is_followed_by_one_nest_and_kept_for_another() {
    check_nest(
        "
  - for x in 0..12:
    - other[x] = loaded[x] * 3
  - for x in 0..12:
    - for c in 0..3:
      - output[c, x] = other[x] - loaded[11 - x]
",
    );
}

/// Not the first update is the last, though the loop around both has one iteration.
#[test]
fn two_statements_in_a_loop_of_one_iteration_add_to_an_output() {
    let text = "
name: network
inputs: {input: {type: i16, shape: [12, 4]}}
outputs: {output: {type: i16, shape: [4]}}
nest:
  - for y in 0..4:
    - output[y] = 0
    - for z in 0..1:
      - output[y] += input[3, y]
      - output[y] += input[5, y]
";
    compare(&compiled(program(text), "dual_port"));
}

/// One of the nests that write parts of an array writes the word that a read takes on its way.
#[test]
fn words_of_parts_of_an_array_are_taken_on_their_way() {
    let blocks = "
name: blocks
schedule: dnn
inputs: {a: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
buffers: {w: {type: u16, shape: [8]}}
nest:
  - for c in 0..2:
    - for b in 0..2:
      - w[4*c + b] = a[4*c + b]
  - for b in 0..2 unroll 2:
    - for c in 0..2:
      - w[4*c + b + 2] = a[4*c + b + 2]
  - for x in 0..6:
    - output[x] = w[x]
  - for x in 6..8 unroll 2:
    - output[x] = w[x] + 1
";
    let first = "
name: first
schedule: dnn
inputs: {a: {type: u16, shape: [4]}}
outputs: {output: {type: u16, shape: [4]}}
buffers: {w: {type: u16, shape: [4]}}
nest:
  - for x in 0..1:
    - w[x] = a[x]
  - for x in 1..4:
    - w[x] = a[x] * 2
  - output[0] = w[0]
  - for x in 1..4:
    - output[x] = w[x] + output[x-1]
";
    for text in [blocks, first] {
        for tile in ["dual_port", "amber"] {
            compare(&compiled(program(text), tile));
        }
    }
}

/// One port shows the words of both writers.
#[test]
fn two_nests_write_parts_that_one_reads() {
    check_nest(
        "
  - for x in 0..12:
    - both[0, x] = loaded[11 - x]
  - for x in 0..12:
    - for c in 0..2:
      - both[c + 1, x] = loaded[x] + (c as i16)
  - for x in 0..12:
    - for c in 0..3:
      - output[c, x] = both[c, x]
",
    );
}

/// Turned around, each word has a row of a wide tile for itself, which a tile can write or read but not both: even and odd
/// versions are apart, and the pipeline keeps its pace.
#[test]
fn a_transposed_array_is_in_two_tiles_that_take_turns() {
    for (tile, tiles) in [("amber", 2), ("fetch2", 2), ("fetch8", 2), ("dual_port", 1)] {
        let compiled = compiled(app("transpose"), tile);
        assert_eq!(compiled.accelerator.tiles.len(), tiles, "{tile}");
        // 16 tiles of 256 words, one word a cycle; the last one is read when all are written.
        assert!(compiled.accelerator.length < 17 * 256 + 128, "{tile}: {}", compiled.accelerator.length);
    }
}

/// A read with a stride fetches words of a wide tile that it does not use, too many for each to be fetched in time.
#[test]
fn a_window_with_a_stride_keeps_its_pace() {
    let program = program(
        "
name: network
inputs: {input: {type: i16, shape: [36, 36, 4]}}
outputs: {output: {type: i16, shape: [16, 16, 4]}}
buffers:
  loaded: {type: i16, shape: [36, 36]}
  sums: {type: i16, shape: [16, 16]}
nest:
  - for t in 0..4:
      - for y in 0..36:
        - for x in 0..36:
          - loaded[x, y] = input[x, y, t]
      - for y in 0..16:
        - for x in 0..16:
          - sums[x, y] = 0
      - for ry in 0..5:
        - for rx in 0..5:
          - for y in 0..16:
            - for x in 0..16:
              - sums[x, y] += loaded[2*x + rx, 2*y + ry]
      - for y in 0..16:
        - for x in 0..16:
          - output[x, y, t] = sums[x, y]
",
    );
    let compiled = compiled(program, "amber");
    compare(&compiled);
    let loaded = compiled.accelerator.arrays.iter().find(|array| array.buffer.name == "loaded").expect("it is kept");
    assert!(loaded.mapped.factors.is_some(), "it is divided");
    let updates = 25 * 16 * 16;
    assert!(compiled.accelerator.length < 36 * 36 + 4 * updates + 16 * 16 + 128, "{}", compiled.accelerator.length);
}

/// The copies share the read port of their operand, and the memory of their results takes it three times.
#[test]
fn copies_write_the_same_element_to_several_places() {
    check_nest(
        "
  - for x in 0..12:
    - for c in 0..3 unroll 3:
      - both[c, x] = loaded[11 - x]
  - for c in 0..3:
    - for x in 0..12:
      - output[c, x] = both[c, x]
",
    );
}

/// Found by long runs: seed and tile.
#[test]
fn random_networks_that_failed_compute_what_they_say() {
    let failed = [
        (14, "quad_port"),
        (22, "quad_port"),
        (36, "amber"),
        (48, "amber"),
        (57, "dual_port"),
        (85, "dual_port"),
        (187, "fetch2"),
        (202, "quad_port"),
        (319, "fetch8"),
        (519, "fetch8"),
        (5454, "fetch8"),
        (6469, "fetch8"),
        (6801, "dual_port"),
        // Operands that follow their writer in a loop that writes all elements anew, and copies of such words.
        (360, "amber"),
        (392, "quad_port"),
        (529, "fetch8"),
        (1038, "fetch2"),
        (8066, "dual_port"),
    ];
    // These were refused: more writers than inputs, though never at once, more than sixteen reads of an array, and inputs in
    // lanes that have elements in common.
    let refused = [
        (16, "dual_port"),
        (66, "dual_port"),
        (106, "dual_port"),
        (113, "amber"),
        (134, "quad_port"),
        (143, "amber"),
        (127, "quad_port"),
        (1055, "amber"),
        (1201, "dual_port"),
        (1219, "fetch8"),
    ];
    for (seed, tile) in failed.into_iter().chain(refused) {
        let found = network(seed, tile);
        assert!(found == Outcome::Right, "{seed} on {tile}: {found:?}");
    }
}

#[test]
fn random_networks_compute_what_they_say() {
    check((0..NETWORKS).filter(|&seed| seed != SLOW), &TILES, random_network, MOST_REFUSED);
}

/// Programs of a normal run whose rows can flow from layer to layer.
const ROWS: u64 = 150;

/// Of a hundred, so many may be refused: frames begin within rows of a wide-fetch tile, and `fetch2` has one input.
const MOST_ROWS_REFUSED: usize = 40;

#[test]
fn random_rows_compute_what_they_say() {
    check(0..ROWS, &TILES, random_rows, MOST_ROWS_REFUSED);
}

/// Of other seeds with `ROWS=first..end`.
#[test]
#[ignore = "takes long"]
fn many_random_rows_compute_what_they_say() {
    let wanted = std::env::var("ROWS").ok();
    let wanted = wanted.as_deref().and_then(|range| range.split_once(".."));
    let seeds = wanted.and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    check(seeds.unwrap_or(ROWS..20 * ROWS), &TILES, random_rows, 100);
}

/// So many layers of one size: 3 x 3 windows of an image of two channels with a frame of zeros, loops of the update in this order.
fn equal_layers(count: usize, [width, height]: [usize; 2], order: [&str; 3]) -> String {
    let mut text = format!(
        "name: equal\nschedule: dnn\ninputs:\n  input: {{type: i16, shape: [2, {}, {}]}}\n",
        width + 2,
        height + 2
    );
    let kernels = |name: &str| -> String {
        (0..count).map(|layer| format!("  {name}{layer}: {{type: i16, shape: [2, 2, 3, 3]}}\n")).collect()
    };
    text += &kernels("weights");
    text += &format!(
        "outputs:\n  layer{count}: {{type: i16, shape: [2, {width}, {height}]}}\nbuffers:\n{}",
        kernels("kernel")
    );
    for layer in 0..count {
        text += &format!("  layer{layer}: {{type: i16, shape: [2, {}, {}]}}\n", width + 2, height + 2);
        text += &format!("  sums{layer}: {{type: i16, shape: [2, {width}, {height}]}}\n");
    }
    let nest = |loops: &[(&str, usize)], statement: &str| -> String {
        let header = |(depth, (name, extent)): (usize, &(&str, usize))| {
            let unroll = if matches!(*name, "k" | "c") { " unroll 2" } else { "" };
            format!("{:indent$}- for {name} in 0..{extent}{unroll}:\n", "", indent = 2 + 2 * depth)
        };
        let headers: String = loops.iter().enumerate().map(header).collect();
        format!("{headers}{:indent$}- {statement}\n", "", indent = 2 + 2 * loops.len())
    };
    let all = [("y", height), ("x", width), ("k", 2)];
    let framed = [("y", height + 2), ("x", width + 2), ("k", 2)];
    text += "nest:\n";
    text += &nest(&framed, "layer0[k, x, y] = input[k, x, y]");
    for layer in 0..count {
        let load = format!("kernel{layer}[z, w, u, v] = weights{layer}[z, w, u, v]");
        text += &nest(&[("v", 3), ("u", 3), ("w", 2), ("z", 2)], &load);
    }
    for layer in 0..count {
        let (next, last) = (layer + 1, layer + 1 == count);
        text += &nest(&all, &format!("sums{layer}[k, x, y] = 0"));
        let extent = |name| if name == "y" { height } else { 3 };
        let update = [order.map(|name| (name, extent(name))).to_vec(), vec![("x", width), ("k", 2), ("c", 2)]].concat();
        text +=
            &nest(&update, &format!("sums{layer}[k, x, y] += kernel{layer}[c, k, u, v] * layer{layer}[c, x+u, y+v]"));
        if !last {
            text += &nest(&framed, &format!("layer{next}[k, x, y] = 0"));
        }
        let target = if last { "k, x, y" } else { "k, x+1, y+1" };
        text += &nest(&all, &format!("layer{next}[{target}] = max(sums{layer}[k, x, y] >> 4, 0)"));
    }
    text
}

/// How much of the time multipliers are busy.
fn occupancy(compiled: &Dedicated) -> f64 {
    Report::of(compiled).occupancy.expect("it multiplies").loop_optimized
}

/// With memories that have ports enough, multipliers of up to 16 layers are busy at a time.
#[test]
fn rows_flow_from_layer_to_layer() {
    for (count, least) in [(1, 0.99), (2, 0.98), (4, 0.96), (8, 0.93), (16, 0.86)] {
        let found = compiled(program(&equal_layers(count, [16, 128], ["y", "v", "u"])), "quad_port");
        assert!(occupancy(&found) >= least, "{count} layers: {}", occupancy(&found));
    }
    // In whatever order the program has the loops; and with one port, which initialization, updates and drain share.
    for (order, tile, least) in [(["v", "u", "y"], "quad_port", 0.87), (["y", "v", "u"], "dual_port", 0.69)] {
        let found = compiled(program(&equal_layers(3, [12, 24], order)), tile);
        compare(&found);
        assert!(occupancy(&found) >= least, "{tile}: {}", occupancy(&found));
    }
}

/// Memories keep the rows that are still to be read, not images.
#[test]
fn memories_keep_the_rows_that_are_to_be_read() {
    let found = compiled(program(&equal_layers(2, [16, 128], ["y", "v", "u"])), "quad_port");
    let words = |name: &str| {
        let array = found.program.arrays.iter().position(|array| array.name == name).unwrap();
        found.accelerator.arrays.iter().find(|kept| kept.array == array).unwrap().mapped.live_words
    };
    // Two channels of a few rows, with their edges.
    assert!(words("layer1_padded") <= 2 * 5 * 18, "{}", words("layer1_padded"));
    assert!(words("sums0") <= 2 * 3 * 16, "{}", words("sums0"));
}

/// The one that is slow, and others. Of other seeds with `NETWORKS=first..end`, of which any may be refused.
#[test]
#[ignore = "takes hours"]
fn many_random_networks_compute_what_they_say() {
    let wanted = std::env::var("NETWORKS").ok();
    let wanted = wanted.as_deref().and_then(|range| range.split_once(".."));
    match wanted.and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?)) {
        Some(seeds) => check(seeds, &TILES, random_network, 100),
        None => {
            let others = NETWORKS..NETWORKS + MANY_NETWORKS;
            check([SLOW].into_iter().chain(others), &TILES, random_network, MOST_REFUSED);
        }
    }
}

/// Networks as one program each: all layers by turns on one set of multipliers, edges by `outside`.
#[test]
fn whole_networks_compute_what_they_say() {
    for (name, multipliers) in [("networks/mobilenet_v1", 36), ("networks/resnet18", 32)] {
        let compiled = compiled(app(name), "dual_port");
        assert_eq!(Report::of(&compiled).multipliers, multipliers, "{name}");
        compare(&compiled);
    }
}
