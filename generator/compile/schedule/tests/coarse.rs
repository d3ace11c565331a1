//! The coarse-grained scheduler: worked examples of the dissertation, and random pipelines against enumeration.

mod programs;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use programs::Builder;
use proptest::prelude::*;
use pushmem_schedule::{
    Bound, Coarse, CoarseOptions, Pipeline, Resource, Schedule, ScheduleError, ScheduleFault, Stage, Subscript,
    Writers, coarse, sequential, stencil, takes_own_results,
};

fn scheduled(pipeline: &Pipeline, options: &CoarseOptions) -> Coarse {
    let found = coarse(pipeline, options).unwrap();
    check(pipeline, &found.schedule, Some((&found, options)));
    found
}

fn shown(pipeline: &Pipeline, schedule: &Schedule, stage: &str) -> String {
    let number = pipeline.stages.iter().position(|other| other.name == stage).unwrap();
    pipeline.stages[number].display(&schedule.stages[number]).to_string()
}

/// Figure 4.1a: 16 tiles.
fn brighten_blur() -> Pipeline {
    let mut program = Builder::default();
    program.operation("brighten", "t:16 y:64 x:64", 0, &[], "brighten[x,y]");
    let window = ["brighten[x,y]", "brighten[x+1,y]", "brighten[x,y+1]", "brighten[x+1,y+1]"];
    program.operation("blur", "t:16 y:63 x:63", 1, &window, "blur[x,y,t]");
    program.pipeline
}

/// §4.3 and Figures 4.5 to 4.8.
#[test]
fn brighten_and_blur_tiles_overlap() {
    let pipeline = brighten_blur();
    let found = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!(shown(&pipeline, &found.schedule, "brighten"), "(x, y, t) → 4096t + 64y + x");
    assert_eq!(shown(&pipeline, &found.schedule, "blur"), "(x, y, t) → 4096t + 63y + x + 4096");
    let tiles = &found.loops[0];
    assert_eq!((tiles.interval, tiles.length), (4096, 4096 + 3969));
    assert_eq!(tiles.bound, Bound::Resource(Resource::Unit("brighten".to_owned())));
    assert_eq!(
        found.table(Some(0)),
        "unit blur       blur [0, 3969)\n\
         unit brighten   brighten [0, 4096)\n\
         write blur      blur [0, 3969)\n\
         write brighten  brighten [0, 4096)\n\
         read brighten   blur [0, 3969)\n"
    );
    assert!(found.to_string().starts_with("loop t: 16 iterations, one every 4096 cycles (bound by unit brighten)"));

    // One tile after the other: 8065 cycles before the next.
    let baseline = sequential(&pipeline, &CoarseOptions::default());
    check(&pipeline, &baseline, None);
    assert_eq!(shown(&pipeline, &baseline, "blur"), "(x, y, t) → 8065t + 63y + x + 4096");
    let single = scheduled(&pipeline, &CoarseOptions { double_buffer: false, ..CoarseOptions::default() });
    assert_eq!(single.loops[0].interval, 8065);
    assert_eq!(single.loops[0].bound, Bound::Arrays(vec!["brighten".to_owned()]));
}

/// Figure 4.3. The two convolutions are one stage in two lanes, or two stages.
fn convolution(isomorphic: bool) -> Pipeline {
    let mut program = Builder::default();
    program.operation("init", "t:4 y:28 x:28 k:2", 0, &[], "output[k,x,y]");
    program.operation("load", "t:4 y:30 x:30 c:4", 1, &[], "input[c,x,y]");
    program.operation("weights", "t:4 ky:3 kx:3 k:2 c:4", 1, &[], "weight[c,k,kx,ky]");
    for k in 0..2 {
        let mut reads: Vec<String> = Vec::new();
        for c in 0..4 {
            reads.push(format!("input[{c},x+kx,y+ky]"));
            reads.push(format!("weight[{c},{k},kx,ky]"));
        }
        let target = format!("output[{k},x,y]");
        reads.push(target.clone());
        let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
        program.operation(&format!("conv_{k}"), "t:4 ky:3 kx:3 y:28 x:28", 1, &reads, &target);
        if isomorphic && k == 1 {
            program.join();
        }
    }
    program.operation("drain", "t:4 y:28 x:28 k:2", 1, &["output[k,x,y]"], "glb[k,x,y,t]");
    program.pipeline
}

/// Figures 4.6, 4.11 and 4.12.
#[test]
fn convolution_is_bound_by_the_ports_of_its_output() {
    let apart = convolution(false);
    let found = scheduled(&apart, &CoarseOptions::default());
    let busy: Vec<u64> = found.stages.iter().map(|stage| stage.busy).collect();
    assert_eq!(busy, [1568, 3600, 72, 7056, 7056, 1568]);
    assert_eq!(found.loops[0].interval, 2 * 7056 + 1568);
    assert!(matches!(found.loops[0].bound, Bound::Resource(Resource::Write(_) | Resource::Read(_))));

    let banked = convolution(true);
    let found = scheduled(&banked, &CoarseOptions::default());
    let busy: Vec<u64> = found.stages.iter().map(|stage| stage.busy).collect();
    assert_eq!(busy, [1568, 3600, 72, 7056, 1568]);
    assert_eq!(found.loops[0].interval, 7056 + 1568);
    // The output is initialized just before it is used.
    let start = |stage: usize| found.stages[stage].start;
    assert_eq!((start(1), start(0), start(3), start(4)), (0, 3600 - 1568, 3600, 3600 + 7056));

    // With two ports each, initialization and draining run beside the convolution.
    let ports = CoarseOptions { write_ports: 2, read_ports: 2, ..CoarseOptions::default() };
    let found = scheduled(&banked, &ports);
    assert_eq!(found.loops[0].interval, 7056);
    assert_eq!(found.loops[0].bound, Bound::Resource(Resource::Unit("conv_0".to_owned())));

    // A single port for the output: initialization comes on top.
    let output = banked.arrays.iter().position(|array| array.name == "output").unwrap();
    let found = scheduled(&banked, &CoarseOptions { serialized: [output].into(), ..CoarseOptions::default() });
    assert_eq!(found.loops[0].interval, 1568 + 7056 + 1568);
    assert_eq!(found.loops[0].bound, Bound::Resource(Resource::Access("output".to_owned())));
}

/// Figure 4.13, with the sizes of Figure 4.14: each level has a quarter of the pixels of the one before.
#[test]
fn pyramid_shares_one_unit_for_free() {
    let mut program = Builder::default();
    program.operation("load", "t:16 y:64 x:64", 0, &[], "input[x,y]");
    for (level, (from, to, size)) in [("input", "p1", 32), ("p1", "p2", 16), ("p2", "p3", 8)].into_iter().enumerate() {
        let reads: Vec<String> =
            ["2*x,2*y", "2*x+1,2*y", "2*x,2*y+1", "2*x+1,2*y+1"].iter().map(|at| format!("{from}[{at}]")).collect();
        let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
        let loops = format!("t:16 y:{size} x:{size}");
        program.operation(&format!("pyramid_{}", level + 1), &loops, 1, &reads, &format!("{to}[x,y]"));
    }
    let pipeline = program.pipeline;
    let apart = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!(apart.loops[0].interval, 4096);
    let units = |found: &Coarse| found.stages.iter().map(|stage| stage.unit.clone()).collect::<BTreeSet<_>>().len();
    assert_eq!(units(&apart), 4);
    let unit = Some("pyramid".to_owned());
    let share = vec![None, unit.clone(), unit.clone(), unit];
    let shared = scheduled(&pipeline, &CoarseOptions { share, ..CoarseOptions::default() });
    assert_eq!(shared.loops[0].interval, 4096);
    assert_eq!(shared.schedule, apart.schedule);
    assert_eq!(units(&shared), 2);
}

/// Two layers, and the input of the first added to the result of the second: the short way is as long as both.
fn block() -> Pipeline {
    let mut program = Builder::default();
    program.operation("load", "t:6 y:10 x:10", 0, &[], "input[x,y]");
    program.operation("first", "t:6 y:10 x:10", 1, &["input[x,9]"], "middle[x,y]");
    program.operation("second", "t:6 y:10 x:10", 1, &["middle[x,9]"], "sums[x,y]");
    program.operation("add", "t:6 y:10 x:10", 1, &["sums[x,9]", "input[x,y]"], "result[x,y,t]");
    program.pipeline
}

/// HIDA paper §5.4: the shorter of two paths gets the buffers that it needs, and no more.
#[test]
fn paths_that_meet_again_are_balanced() {
    let pipeline = block();
    let options = |balance_paths: bool| CoarseOptions { balance_paths, read_ports: 2, ..CoarseOptions::default() };
    let (balanced, double) = (scheduled(&pipeline, &options(true)), scheduled(&pipeline, &options(false)));
    let level = &balanced.loops[0];
    assert_eq!((level.interval, &level.versions), (100, &vec![("input".to_owned(), 4)]));
    assert!(balanced.to_string().contains("  4 versions of input, for it is read so late\n"), "{balanced}");
    // An image is loaded into the place of the one before the last, when that was added: after four times its pixels.
    assert_eq!((double.loops[0].interval, &double.loops[0].versions), (200, &Vec::new()));
    assert_eq!(double.loops[0].bound, Bound::Arrays(vec!["input".to_owned()]));
}

/// A layer of a residual network, untiled.
fn residual(latency: u64) -> Pipeline {
    let mut program = Builder::default();
    program.operation("load", "y:30 x:30", 0, &[], "input[x,y]");
    program.operation("weights", "y:9 x:64", 0, &[], "weight[x,y]");
    program.operation("init", "y:28 x:28", 0, &[], "output[x,y]");
    let reads = ["output[x,y]", "input[x+kx,y+ky]", "weight[kx,ky]"];
    program.operation("update", "ky:3 kx:3 y:28 x:28", 0, &reads, "output[x,y]");
    program.pipeline.stages[3].latency = latency;
    program.operation("drain", "y:28 x:28", 0, &["output[x,y]"], "result[x,y]");
    program.pipeline
}

#[test]
fn an_untiled_layer_loads_everything_at_once() {
    let pipeline = residual(3);
    let found = scheduled(&pipeline, &CoarseOptions::default());
    let starts: Vec<u64> = found.stages.iter().map(|stage| stage.start).collect();
    assert_eq!(starts, [0, 0, 0, 900, 900 + 7056 + 3]);
    assert_eq!(found.schedule.length(&pipeline), 900 + 7056 + 3 + 784);
    let slow = scheduled(&pipeline, &CoarseOptions { round_trip: 4, ..CoarseOptions::default() });
    assert_eq!(slow.schedule.length(&pipeline), 900 + 4 + 7056 + 3 + 4 + 784);
    // The update takes rows of the input as they come, but it has to wait for the ports of the output, and so has the
    // drain.
    let starts = |options: &CoarseOptions| -> Vec<u64> {
        scheduled(&pipeline, options).stages.iter().map(|stage| stage.start).collect()
    };
    let early = CoarseOptions { overlap: true, ..CoarseOptions::default() };
    assert_eq!(starts(&early), [0, 0, 0, 784 - 3, 784 - 3 + 7056]);
    // With ports enough: the input's row 27 has its column 27 in time, and the output is drained as it is updated for the
    // last time.
    let ports = CoarseOptions { write_ports: 2, read_ports: 2, ..early };
    let update = 27 * 30 + 27 - (27 * 28 + 27) + 1;
    assert_eq!(starts(&ports), [0, 0, 0, update, update + 8 * 784 + 3 + 1]);
}

/// Two nests, each a loop over rows around two stages: the second begins as soon as the rows are there that it reads.
#[test]
fn loops_overlap_those_that_write_what_they_read() {
    let mut program = Builder::default();
    program.operation("line", "y:30 x:30", 0, &[], "line[x]");
    program.operation("layer", "y:30 x:30", 1, &["line[x]"], "layer[x,y]");
    program.operation("sums", "y:28 x:28", 0, &["layer[x,y]", "layer[x+2,y+2]"], "sums[x]");
    program.operation("output", "y:28 x:28", 1, &["sums[x]"], "output[x,y]");
    let pipeline = program.pipeline;
    let apart = scheduled(&pipeline, &CoarseOptions::default());
    let starts = |coarse: &Coarse| coarse.loops.iter().map(|level| (level.start, level.interval)).collect::<Vec<_>>();
    assert_eq!(starts(&apart), [(0, 30), (900, 28)]);
    let early = scheduled(&pipeline, &CoarseOptions { overlap: true, ..CoarseOptions::default() });
    // Rows of 28 cycles catch up with rows of 30: the last element is read in the cycle after its write.
    let last = |interval: u64, rows: u64| interval * (rows - 1) + rows - 1;
    assert_eq!(starts(&early), [(0, 30), (last(30, 30) + 1 - last(28, 28), 28)]);
}

/// So many layers of one size, each a window of 3 x 3 that is summed up in memory, of an image with a frame.
fn layers(count: usize, size: u64, order: &str) -> Pipeline {
    let mut program = Builder::default();
    let (loops, framed) = (format!("y:{size} x:{size}"), format!("y:{0} x:{0}", size + 2));
    program.operation("load", &framed, 0, &[], "l0[x,y]");
    for layer in 1..=count {
        let (sums, read) = (format!("s{layer}[x,y]"), format!("l{}[x+i,y+j]", layer - 1));
        program.operation(&format!("zero{layer}"), &loops, 0, &[], &sums);
        let order = order.replace("y", &format!("y:{size}")).replace('x', &format!("x:{size}"));
        let order = order.replace('i', "i:3").replace('j', "j:3");
        program.operation(&format!("sum{layer}"), &order, 0, &[&read, &sums], &sums);
        program.operation(&format!("frame{layer}"), &framed, 0, &[], &format!("l{layer}[x,y]"));
        program.operation(&format!("relu{layer}"), &loops, 0, &[&sums], &format!("l{layer}[x+1,y+1]"));
    }
    program.pipeline
}

/// Rows flow from layer to layer, whatever is between them, and in whatever order the program has the loops: a layer more takes a row and
/// a bit more, not as long as the image.
#[test]
fn rows_follow_the_slowest() {
    let ports = CoarseOptions { write_ports: 2, read_ports: 2, overlap: true, ..CoarseOptions::default() };
    let matched = CoarseOptions { match_rates: true, ..ports.clone() };
    for order in ["y j i x", "j i y x"] {
        let length = |count: usize, options: &CoarseOptions| {
            let pipeline = layers(count, 20, order);
            scheduled(&pipeline, options).schedule.length(&pipeline)
        };
        assert!(length(4, &ports) > 3 * 3600);
        let lengths = [1, 2, 3, 4].map(|count| length(count, &matched));
        assert!(lengths[0] < 3600 + 60, "{lengths:?}");
        // A row of 180 cycles; the last row is read from two thirds of that of the next layer on.
        let steps = lengths.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
        assert!(steps.iter().all(|&step| step <= 180 + 60 + 10), "{lengths:?}");
    }
    let found = scheduled(&layers(4, 20, "j i y x"), &matched);
    assert!(found.matches_rates());
    let rows = found.stages.iter().map(|stage| stage.rows).collect::<BTreeSet<_>>();
    // Those of the image are loaded at once, for the first layer to begin early.
    assert_eq!(rows, [Some(22), Some(180)].into());
    // Or come at the rate of the layers, for memories to keep few of them.
    let slow = scheduled(&layers(4, 20, "j i y x"), &CoarseOptions { loads_follow: true, ..matched.clone() });
    assert!(slow.stages.iter().all(|stage| stage.rows == Some(180)), "{slow}");
    assert!(found.to_string().contains("sum2 from cycle"));
    assert!(found.to_string().contains(", loops interchanged, a row every 180 cycles"));
    // With one port, zeroing and the sums take turns.
    let single = CoarseOptions { write_ports: 1, read_ports: 1, ..matched };
    let found = scheduled(&layers(4, 20, "y j i x"), &single);
    assert_eq!(found.stages[2].rows, Some(200), "{found}");
}

/// Of the random pipelines of rows, many have some that follow, and are shorter for it.
#[test]
fn random_rows_follow() {
    let follows = |seed: u64| {
        let (pipeline, options) = programs::rows(seed);
        coarse(&pipeline, &options).is_ok_and(|found| found.matches_rates())
    };
    let count = (0..200).filter(|&seed| follows(seed)).count();
    assert!(count > 60, "{count} of 200");
}

/// A layer of half the rows takes two of its producer's for one of its own; layers that share a loop follow the rows of others.
#[test]
fn rows_of_other_sizes_follow_as_well() {
    let mut program = Builder::default();
    program.operation("load", "y:32 x:32", 0, &[], "a[x,y]");
    program.operation("zero", "y:30 x:30", 0, &[], "s[x,y]");
    program.operation("sum", "y:30 j:3 i:3 x:30", 0, &["a[x+i,y+j]", "s[x,y]"], "s[x,y]");
    program.operation("pool", "y:15 x:15 k:2", 0, &["s[2*x+k,2*y]", "s[2*x+k,2*y+1]"], "p[k,x,y]");
    program.operation("line", "y:15 x:15", 0, &["p[0,x,y]"], "line[x]");
    program.operation("out", "y:15 k:9 x:15", 1, &["line[x]"], "out[x,k,y]");
    let pipeline = program.pipeline;
    let options = CoarseOptions { write_ports: 2, read_ports: 2, overlap: true, ..CoarseOptions::default() };
    let dense = scheduled(&pipeline, &options);
    let matched = scheduled(&pipeline, &CoarseOptions { match_rates: true, ..options });
    let rows = matched.stages.iter().map(|stage| stage.rows).collect::<Vec<_>>();
    assert_eq!(rows, [Some(32), Some(270), Some(270), Some(540), None, None]);
    assert_eq!((matched.loops[0].interval, &matched.loops[0].bound), (540, &Bound::Rate));
    assert!(matched.schedule.length(&pipeline) < dense.schedule.length(&pipeline) - 1000);
}

#[test]
fn a_row_multiple_pads_the_fastest_loop() {
    let mut program = Builder::default();
    program.operation("load", "y:30 x:30", 0, &[], "input[x,y]");
    program.operation("line", "x:30", 0, &[], "line[x]");
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions { row_multiple: 4, ..CoarseOptions::default() });
    assert_eq!(found.schedule.stages[0].stride, [1, 32]);
    assert_eq!((found.stages[0].busy, found.stages[0].iterations), (29 * 32 + 30, 900));
    assert_eq!(found.schedule.stages[1].stride, [1]);
}

#[test]
fn a_sum_in_the_innermost_loop_is_interchanged() {
    let mut program = Builder::default();
    program.operation("init", "x:32", 0, &[], "out[x]");
    program.operation("sum", "x:32 k:5", 0, &["out[x]", "in[x+k]"], "out[x]");
    program.pipeline.stages[1].latency = 3;
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!((found.stages[1].interval, found.stages[1].interchanged), (1, true));
    assert_eq!(found.schedule.stages[1].stride, [32, 1]);
    let fixed = scheduled(&pipeline, &CoarseOptions { interchange: false, ..CoarseOptions::default() });
    assert_eq!((fixed.stages[1].interval, fixed.stages[1].interchanged), (4, false));
    assert_eq!(fixed.schedule.stages[1].stride, [4, 20]);
    let slow = scheduled(&pipeline, &CoarseOptions { interchange: false, round_trip: 3, ..CoarseOptions::default() });
    assert_eq!(slow.stages[1].interval, 7);
    // Rows of 3 elements are too short for a gap of 4 cycles, but better than none.
    let mut program = Builder::default();
    program.operation("init", "x:3", 0, &[], "out[x]");
    program.operation("sum", "x:3 k:5", 0, &["out[x]"], "out[x]");
    program.pipeline.stages[1].latency = 3;
    let found = scheduled(&program.pipeline, &CoarseOptions::default());
    assert_eq!((found.stages[1].interval, found.stages[1].interchanged), (2, true));
    // The loops of the sum are outside already.
    let found = scheduled(&residual(3), &CoarseOptions::default());
    assert!(!found.stages[3].interchanged);
    check(&pipeline, &sequential(&pipeline, &CoarseOptions::default()), None);
    assert_eq!(sequential(&pipeline, &CoarseOptions::default()).stages[1].stride, [4, 20]);
}

#[test]
fn updates_that_nothing_tells_apart_wait_for_each_other() {
    // Two stages of a group whose elements meet: one is at an element an iteration after the other.
    let mut program = Builder::default();
    program.operation("init", "x:9", 0, &[], "out[x]");
    program.operation("near", "x:8", 0, &["out[x]"], "out[x]");
    program.operation("far", "x:8", 0, &["out[x+1]"], "out[x+1]");
    program.join();
    program.pipeline.stages[1].latency = 2;
    program.pipeline.stages[2].latency = 2;
    assert!(matches!(
        coarse(&program.pipeline, &CoarseOptions::default()),
        Err(ScheduleError { fault: ScheduleFault::Chained, .. })
    ));

    // Copies of an unrolled loop, each of which needs the other's result for the same element.
    let mut program = Builder::default();
    program.operation("init", "x:9", 0, &[], "out[x]");
    program.operation("one", "x:9", 0, &["out[x]"], "out[x]");
    program.operation("other", "x:9", 0, &["out[x]"], "out[x]");
    program.join();
    let refused = coarse(&program.pipeline, &CoarseOptions::default()).map_err(|error| error.to_string());
    assert_eq!(refused, Err("copies of one update `out` one after the other, not at once".to_owned()));

    // A convolution that scatters: elements meet in any two iterations, also those of two turns of the shared loop.
    let mut program = Builder::default();
    program.operation("init", "x:12", 0, &[], "out[x]");
    program.operation("load", "t:4 k:3", 0, &[], "w[k]");
    program.operation("scatter", "t:4 k:3 x:10", 1, &["out[x+k]", "w[k]"], "out[x+k]");
    program.pipeline.stages[2].latency = 2;
    let found = scheduled(&program.pipeline, &CoarseOptions::default());
    assert_eq!((found.stages[2].interval, found.stages[2].busy), (3, 29 * 3 + 1));
    assert_eq!(found.loops[0].interval, 30 * 3);
    assert_eq!(found.loops[0].bound, Bound::Arrays(vec!["out".to_owned()]));
}

#[test]
fn a_stream_is_followed_in_its_own_order_only() {
    let program = |loops: &str| {
        let mut program = Builder::default();
        program.operation("stream", loops, 0, &[], "stream[x,k]");
        program.operation("sum", loops, 0, &["out[x]", "stream[x,k]"], "out[x]");
        program.pipeline.stages[1].latency = 2;
        let init = Stage { group: 9, ..program.pipeline.stages[0].clone() };
        let write = program.pipeline.stages[1].write.clone();
        program.pipeline.stages.insert(0, Stage { name: "init".to_owned(), write, ..init });
        program.pipeline
    };
    let along = program("k:4 x:8");
    let found = scheduled(&along, &CoarseOptions { write_ports: 2, ..CoarseOptions::default() });
    assert_eq!((found.stages[1].start, found.stages[2].start), (32, 32));
    assert_eq!(found.stages[2].follows, [1]);
    let across = program("x:8 k:4");
    let found = scheduled(&across, &CoarseOptions { write_ports: 2, ..CoarseOptions::default() });
    assert!(found.stages[2].interchanged && found.stages[2].follows.is_empty());
}

/// Figure 4.16: the loop around starts again without a flush.
#[test]
fn loops_are_flattened() {
    let mut program = Builder::default();
    program.operation("load", "o:6 t:4 x:10", 0, &[], "tile[x]");
    program.operation("use", "o:6 t:4 x:8", 2, &["tile[x]", "tile[x+2]"], "out[x,t,o]");
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!(found.schedule.stages[0].stride, [1, 10, 40]);
    assert_eq!(found.loops[0].bound, Bound::Inner);
    let flushed = scheduled(&pipeline, &CoarseOptions { flatten: false, ..CoarseOptions::default() });
    assert_eq!(flushed.schedule.stages[0].stride, [1, 10, 48]);
    let baseline = sequential(&pipeline, &CoarseOptions::default());
    check(&pipeline, &baseline, None);
    assert_eq!(baseline.stages[1].stride, [1, 18, 72]);

    let mut program = Builder::default();
    program.operation("init", "x:32", 0, &[], "out[x]");
    program.operation("sum", "x:32 dx:5", 1, &["out[x]", "filter[dx]", "mem[x+dx]"], "out[x]");
    program.operation("store", "x:32", 1, &["out[x]"], "dram[x]");
    let pipeline = program.pipeline;
    let ports = CoarseOptions { write_ports: 2, read_ports: 2, ..CoarseOptions::default() };
    assert_eq!(scheduled(&pipeline, &ports).loops[0].interval, 5);
    assert_eq!(scheduled(&pipeline, &CoarseOptions::default()).loops[0].interval, 6);
}

/// Blocks of input channels are added up around tiles; weights come for each.
#[test]
fn sums_go_on_across_a_shared_loop() {
    let mut program = Builder::default();
    program.operation("init", "o:3 y:8 x:8", 0, &[], "out[x,y]");
    program.operation("load", "o:3 c:4 y:10 x:10", 1, &[], "in[x,y]");
    program.operation("weights", "o:3 c:4 k:9", 2, &[], "w[k]");
    let reads = ["out[x,y]", "in[x+kx,y+ky]", "w[kx+3*ky]"];
    program.operation("conv", "o:3 c:4 ky:3 kx:3 y:8 x:8", 2, &reads, "out[x,y]");
    program.pipeline.stages[3].latency = 2;
    program.operation("drain", "o:3 y:8 x:8", 1, &["out[x,y]"], "result[x,y,o]");
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!(found.loops[1].name, "c");
    assert_eq!(found.loops[1].interval, 9 * 64);
    assert_eq!(found.loops[0].interval, 4 * 9 * 64 + 64 + 2);
    check(&pipeline, &sequential(&pipeline, &CoarseOptions::default()), None);
}

#[test]
fn copies_in_place_follow_the_stream() {
    let mut program = Builder::default();
    program.operation("stream", "y:20 x:30", 0, &[], "stream[x,y]");
    program.operation("scale", "y:20 x:30", 0, &["stream[x,y]"], "scaled[x,y]");
    program.operation("sum", "y:20 x:30", 0, &["stream[x,y]", "scaled[x,y]"], "sum[x,y]");
    program.operation("window", "y:20 x:28", 0, &["sum[x,y]", "sum[x+2,y]"], "out[x,y]");
    program.pipeline.stages[1].latency = 2;
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions::default());
    let starts: Vec<u64> = found.stages.iter().map(|stage| stage.start).collect();
    assert_eq!(starts, [0, 0, 2, 602]);
    assert_eq!(found.stages[2].follows, [0, 1]);
    let early = scheduled(&pipeline, &CoarseOptions { overlap: true, ..CoarseOptions::default() });
    // Rows of 28 catch up with rows of 30.
    assert_eq!(early.stages[3].start, 2 + 600 - 560 + 1);
    // Whoever takes turns cannot follow.
    let share = vec![None, Some("alu".to_owned()), Some("alu".to_owned())];
    let turns = scheduled(&pipeline, &CoarseOptions { share, ..CoarseOptions::default() });
    assert_eq!(turns.stages[1].start, 0);
    assert_eq!(turns.stages[2].start, 602);
}

/// A result comes back out of the kernel, a row later out of a delay, and out of the memory where another stage writes elements, too.
#[test]
fn results_of_earlier_iterations_come_back_in_time() {
    let interval = |reads: &[&str], first: bool| {
        let mut program = Builder::default();
        if first {
            program.operation("first", "y:6", 0, &[], "sum[2,y+1]");
        }
        program.operation("scan", "y:6 x:10", 0, reads, "sum[x+3,y+1]");
        program.pipeline.stages[usize::from(first)].latency = 3;
        let options = CoarseOptions { round_trip: 4, interchange: false, ..CoarseOptions::default() };
        scheduled(&program.pipeline, &options).stages[usize::from(first)].interval
    };
    assert_eq!(interval(&["sum[x+2,y+1]"], false), 3);
    assert_eq!(interval(&["sum[x+1,y+1]"], false), 2);
    assert_eq!(interval(&["sum[x+3,y]"], false), 1);
    assert_eq!(interval(&["sum[x+2,y+1]"], true), 3 + 1 + 4);
}

/// Loops along which a stage takes none of its own results run within the others, where that is much faster.
#[test]
fn rows_interleave_where_results_come_back_late() {
    let scan = |loops: &str, reads: &[&str], latency: u64| {
        let mut program = Builder::default();
        program.operation("scan", loops, 0, reads, "sum[x+1,y+1]");
        program.pipeline.stages[0].latency = latency;
        let found = scheduled(&program.pipeline, &CoarseOptions::default());
        (found.stages[0].interval, found.stages[0].interchanged)
    };
    assert_eq!(scan("y:20 x:30", &["sum[x,y+1]"], 9), (1, true));
    // A column has fewer iterations than a result takes.
    assert_eq!(scan("y:4 x:30", &["sum[x,y+1]"], 12), (3, true));
    // Twice as fast is not worth waiting for an array; nor is there a loop to run within along a diagonal.
    assert_eq!(scan("y:20 x:30", &["sum[x,y+1]"], 2), (2, false));
    assert_eq!(scan("y:20 x:30", &["sum[x,y]", "sum[x,y+1]"], 9), (9, false));
    // A loop around the recurrence is inside already.
    assert_eq!(scan("x:30 y:20", &["sum[x,y+1]"], 9), (1, false));
}

#[test]
fn what_cannot_be_scheduled_is_refused() {
    let mut program = Builder::default();
    program.operation("early", "x:4", 0, &["late[x]"], "early[x]");
    program.operation("late", "x:4", 0, &[], "late[x]");
    assert!(matches!(
        coarse(&program.pipeline, &CoarseOptions::default()),
        Err(ScheduleError { fault: ScheduleFault::Cycle, .. })
    ));

    let mut program = Builder::default();
    program.operation("scan", "x:4", 0, &["sum[x+1]", "in[x]"], "sum[x]");
    let error = coarse(&program.pipeline, &CoarseOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "scan reads elements of `sum` that it writes only later");

    let mut program = Builder::default();
    program.operation("long", "z:1000000000 y:1000000000 x:1000000000", 0, &[], "a[x,y,z]");
    let error = coarse(&program.pipeline, &CoarseOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "long would run beyond 2^44 cycles");
    assert_eq!(error.stage.number, 0);
    sequential(&program.pipeline, &CoarseOptions::default());

    let mut program = Builder::default();
    program.operation("one", "t:1000000000 x:1000000000", 0, &[], "a[x]");
    program.operation("two", "t:1000000000 x:100", 1, &["a[x]"], "b[x]");
    assert!(matches!(
        coarse(&program.pipeline, &CoarseOptions::default()),
        Err(ScheduleError { fault: ScheduleFault::TooLong, .. })
    ));
    program.pipeline.stages[1].shared = 3;
    assert!(matches!(
        coarse(&program.pipeline, &CoarseOptions::default()),
        Err(ScheduleError { fault: ScheduleFault::Nesting, .. })
    ));
    sequential(&program.pipeline, &CoarseOptions::default());

    let mut program = Builder::default();
    program.operation("one", "t:1000 x:1000000000", 0, &[], "a[x]");
    program.operation("two", "t:1000 x:1000000000", 1, &["a[x]", "a[0]"], "b[x]");
    let found = coarse(&program.pipeline, &CoarseOptions::default()).unwrap();
    assert_eq!(found.loops[0].interval, 1_000_000_000);
    let empty = coarse(&Pipeline::default(), &CoarseOptions::default()).unwrap();
    assert!(empty.stages.is_empty());
}

/// Each of thousands of lanes reads the element of one: comparing all pairs, 10^9, takes minutes.
#[test]
fn lanes_are_related_without_comparing_all_pairs() {
    let lanes = 1 << 15;
    let mut program = Builder::default();
    for (group, target) in ["a", "b"].into_iter().enumerate() {
        for lane in 0..lanes {
            let reads = [format!("a[{lane},x]")];
            let reads: Vec<&str> = reads.iter().filter(|_| group > 0).map(String::as_str).collect();
            program.operation(&format!("{target}{lane}"), "x:4", 0, &reads, &format!("{target}[{lane},x]"));
            (lane > 0).then(|| program.join());
        }
    }
    let began = Instant::now();
    let found = coarse(&program.pipeline, &CoarseOptions { overlap: true, ..CoarseOptions::default() }).unwrap();
    assert_eq!(program.pipeline.shared_loops(0, 2 * lanes - 1), 0);
    assert_eq!(found.stages.len(), 2);
    assert_eq!(found.stages[1].follows, [0]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// A sum in a loop over pixels, as the program has it: initialization and update in one loop.
fn rolled_convolution(latency: u64) -> Pipeline {
    let mut program = Builder::default();
    program.operation("load", "y:12 x:14", 0, &[], "in[x,y]");
    program.operation("init", "y:12 x:12", 0, &[], "sums[x,y]");
    program.operation("update", "y:12 x:12 k:3", 2, &["sums[x,y]", "in[x+k,y]"], "sums[x,y]");
    program.pipeline.stages[2].latency = latency;
    program.operation("drain", "y:12 x:12", 0, &["sums[x,y]"], "out[x,y]");
    program.pipeline
}

#[test]
fn a_sum_in_a_loop_over_pixels_is_distributed() {
    let pipeline = rolled_convolution(2);
    let fused = scheduled(&pipeline, &CoarseOptions { distribute: false, ..CoarseOptions::default() });
    assert_eq!((fused.loops.len(), fused.stages[2].interval), (2, 3));
    let apart = scheduled(&pipeline, &CoarseOptions::default());
    assert!(apart.loops.is_empty());
    assert_eq!((apart.stages[2].interval, apart.stages[2].interchanged), (1, true));
    assert_eq!(apart.schedule.stages[2].stride, [144, 1, 12]);
    assert_eq!(apart.schedule.length(&pipeline), 168 + 3 * 144 + 2 + 144);
    check(&pipeline, &sequential(&pipeline, &CoarseOptions::default()), None);
    // Without interchange nothing is gained.
    let fixed = CoarseOptions { interchange: false, ..CoarseOptions::default() };
    assert_eq!(scheduled(&pipeline, &fixed).loops.len(), 2);
    // Sums that follow one another at once are as fast in one loop.
    assert_eq!(scheduled(&rolled_convolution(0), &CoarseOptions::default()).loops.len(), 2);
}

#[test]
fn only_loops_that_updates_need_are_distributed() {
    // Rows of the input are replaced in each iteration of y, and the sums are gone thereafter.
    let mut program = Builder::default();
    program.operation("load", "y:6 x:14", 0, &[], "row[x]");
    program.operation("init", "y:6 x:12", 1, &[], "sums[x,y]");
    program.operation("update", "y:6 x:12 k:3", 2, &["sums[x,y]", "row[x+k]"], "sums[x,y]");
    program.pipeline.stages[2].latency = 2;
    program.operation("drain", "y:6 x:12", 1, &["sums[x,y]"], "out[x,y]");
    let found = scheduled(&program.pipeline, &CoarseOptions::default());
    let names: Vec<&str> = found.loops.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["y"]);
    assert_eq!(found.schedule.stages[2].stride[..2], [12, 1]);
    // The same where y could be split, too, but sums of all rows would take more room.
    let along = program.pipeline.stages[0].loops.iter().map(|level| i64::from(level.name == "y")).collect();
    program.pipeline.stages[0].write.subscripts.push(Subscript::affine(along, 0));
    let along = program.pipeline.stages[2].write.subscripts[1].clone();
    program.pipeline.stages[2].reads[1].subscripts.push(along);
    let found = scheduled(&program.pipeline, &CoarseOptions::default());
    assert_eq!(found.loops.len(), 1);

    // Operations before the sum stay in its loop: their values are used at once.
    let mut program = Builder::default();
    program.operation("scale", "x:12", 0, &[], "scaled[x]");
    program.operation("square", "x:12", 1, &["scaled[x]"], "squares[x]");
    program.operation("init", "x:12", 1, &[], "sums[x]");
    program.operation("update", "x:12 k:4", 1, &["sums[x]", "squares[x]"], "sums[x]");
    program.pipeline.stages[3].latency = 3;
    program.operation("drain", "x:12", 1, &["sums[x]"], "out[x]");
    let found = scheduled(&program.pipeline, &CoarseOptions::default());
    assert_eq!(found.loops.len(), 1);
    let parents: Vec<Option<usize>> = found.stages.iter().map(|stage| stage.parent).collect();
    assert_eq!(parents, [Some(0), Some(0), None, None, None]);
    assert_eq!(found.stages[3].interval, 1);
}

#[test]
fn what_iterations_hand_on_keeps_loops_together() {
    let fused = |sum: &str, before: &[&str], drain: (&str, &str)| {
        let mut program = Builder::default();
        program.operation("first", "x:9", 0, &[], "state[x]");
        program.operation("init", "x:8", 0, before, sum);
        program.operation("update", "x:8 k:4", 1, &[sum, "in[x+k]"], sum);
        program.pipeline.stages[2].latency = 3;
        program.operation("drain", "x:8", 1, &[drain.0, sum], drain.1);
        scheduled(&program.pipeline, &CoarseOptions::default()).loops.len() == 1
    };
    assert!(!fused("sums[x]", &[], ("in[x]", "out[x]")));
    // One room for all sums.
    assert!(fused("sums[0]", &[], ("in[x]", "out[x]")));
    assert!(fused("sums[0]", &["state[x]"], ("in[x]", "out[x]")));
    // An iteration begins with the state that the one before ended with.
    assert!(fused("sums[x]", &["state[x]"], ("in[x]", "state[x+1]")));
    // The state that ended this one is not used again, nor are later states.
    assert!(!fused("sums[x]", &["state[x]"], ("in[x]", "state[x]")));
    assert!(!fused("sums[x]", &["state[x+1]"], ("in[x]", "state[x]")));
}

/// Indices as one number, and loops of negative steps.
#[test]
fn the_direction_of_dependences_is_exact() {
    let loops = |target: &str, state: &str| {
        let mut program = Builder::default();
        program.operation("first", "y:9 x:9", 0, &[], "state[x+9*y]");
        program.operation("init", "y:4 x:3", 0, &[state], target);
        program.operation("update", "y:4 x:3 k:4", 2, &[target], target);
        program.pipeline.stages[2].latency = 3;
        program.operation("drain", "y:4 x:3", 2, &[target], "state[x+9*y+20]");
        let found = scheduled(&program.pipeline, &CoarseOptions::default());
        found.loops.iter().map(|level| level.name.clone()).collect::<String>()
    };
    assert_eq!(loops("sums[x+3*y]", "state[x+9*y+20]"), "");
    assert_eq!(loops("sums[-1*x+-3*y+11]", "state[x+9*y+21]"), "");
    // Along a row, values are handed on; to the next row, only the sum of another element.
    assert_eq!(loops("sums[x+3*y]", "state[x+9*y+19]"), "yx");
    assert_eq!(loops("sums[x+3*y]", "state[x+9*y+11]"), "y");
    assert_eq!(loops("sums[x+2*y]", "state[x+9*y+20]"), "y");
}

/// An access to an element, in program order.
#[derive(Clone, Copy, Debug)]
struct Event {
    group: usize,
    stage: usize,
    read: Option<i64>,
    /// Latency of the operand that it reads.
    operand: i64,
    /// Whether it reads a result of its own group out of the kernel.
    comes_back: bool,
    write: Option<i64>,
    version: i64,
}

/// Loops around a group that it shares, as numbers of loops, outermost first.
fn shared_loops(pipeline: &Pipeline, groups: &[std::ops::Range<usize>]) -> (Vec<Vec<usize>>, usize) {
    let stage = |group: usize| &pipeline.stages[groups[group].start];
    let mut count = 0;
    let mut paths: Vec<Vec<usize>> = Vec::new();
    for group in 0..groups.len() {
        let before = if group == 0 { 0 } else { stage(group).shared };
        let behind = if group + 1 < groups.len() { stage(group + 1).shared } else { 0 };
        let mut path: Vec<usize> = paths.last().map_or(Vec::new(), |path| path[..before].to_vec());
        while path.len() < before.max(behind) {
            path.push(count);
            count += 1;
        }
        paths.push(path);
    }
    (paths, count)
}

/// Checks a schedule by enumeration in program order: values are there when they are read and are kept until then, units do
/// one iteration in a cycle, and ports suffice.
fn check(pipeline: &Pipeline, schedule: &Schedule, coarse: Option<(&Coarse, &CoarseOptions)>) {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for (number, stage) in pipeline.stages.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if pipeline.stages[group.start].group == stage.group => group.end = number + 1,
            _ => groups.push(number..number + 1),
        }
    }
    // The sequential schedule runs the stages of a group one by one.
    let round_trip = coarse.map_or(0, |(_, options)| options.round_trip as i64);
    let transport = |producer: usize, consumer: usize| {
        coarse.map_or(0, |(_, options)| options.transport.between(producer, consumer) as i64)
    };
    let operand = |consumer: usize, read: usize| {
        coarse.map_or(0, |(_, options)| options.transport.operand(consumer, read) as i64)
    };
    let (paths, count) = shared_loops(pipeline, &groups);
    // Lanes may have an iteration less.
    let mut extents = vec![0; count];
    for (group, path) in groups.iter().zip(&paths) {
        for stage in &pipeline.stages[group.clone()] {
            let outermost = path.iter().zip(stage.loops.iter().rev());
            outermost.for_each(|(shared, level)| extents[*shared] = extents[*shared].max(level.extent as i64));
        }
    }
    // How many loops a group shares in the schedule: of loops that are distributed it has its own.
    let shared = |group: usize| match coarse {
        Some((found, _)) => {
            let parent = |level: &usize| found.loops[*level].parent;
            std::iter::successors(found.stages[group].parent, parent).count()
        }
        None => paths[group].len(),
    };
    // The innermost loop around all accesses of an array.
    let around: Vec<usize> = (0..pipeline.arrays.len())
        .map(|array| {
            let users = groups.iter().zip(&paths).enumerate().filter(|(_, (group, _))| {
                let mut stages = pipeline.stages[(*group).clone()].iter();
                stages.any(|stage| stage.reads.iter().chain([&stage.write]).any(|access| access.array == array))
            });
            let common = |one: Vec<usize>, other: &Vec<usize>| {
                one.into_iter().zip(other).take_while(|(one, other)| one == *other).map(|(one, _)| one).collect()
            };
            let paths: Vec<Vec<usize>> = users.map(|(number, (_, path))| path[..shared(number)].to_vec()).collect();
            paths.first().map_or(0, |first| paths.iter().fold(first.clone(), common).len())
        })
        .collect();

    let writers = Writers::of(pipeline);
    let mut order: Vec<(usize, Vec<i64>)> = Vec::new();
    enumerate(pipeline, &groups, 0, 0..groups.len(), &mut Vec::new(), &mut order);
    let mut elements: HashMap<(usize, Vec<i64>), Vec<Event>> = HashMap::new();
    let mut units: HashMap<(&Resource, i64), usize> = HashMap::new();
    let mut reading: HashMap<(usize, i64), BTreeSet<usize>> = HashMap::new();
    let mut writing: HashMap<(usize, i64), BTreeSet<usize>> = HashMap::new();
    for (group, point) in &order {
        for number in groups[*group].clone() {
            let stage = &pipeline.stages[number];
            if point.iter().zip(&stage.loops).any(|(index, level)| *index > level.max()) {
                continue;
            }
            let now = schedule.stages[number].value(point);
            assert!(now >= 0);
            let version = |array: usize| {
                let outermost = point.iter().zip(&stage.loops).rev().zip(&paths[*group]).take(around[array]);
                outermost.fold(0, |number, ((index, level), shared)| number * extents[*shared] + index - level.min)
            };
            if let Some((found, _)) = coarse {
                let unit = &found.stages[*group].unit;
                let other = units.insert((unit, now), *group);
                let lanes = groups[*group].start < number;
                assert!(other.is_none() || (lanes && other == Some(*group)), "{} twice at {now}", stage.name);
            }
            let updates = stage.updates();
            for (number_of_read, access) in stage.reads.iter().enumerate() {
                let element = access.subscripts.iter().map(|subscript| subscript.at(point)).collect::<Option<Vec<_>>>();
                let Some(element) = element else { continue };
                let direct = coarse.is_some_and(|(found, _)| {
                    found.stages[*group].follows.iter().any(|&other| {
                        pipeline.stages[groups[other].clone()].iter().any(|stage| stage.write.array == access.array)
                    })
                });
                if !direct {
                    reading.entry((access.array, now)).or_default().insert(*group);
                }
                if updates && *access == stage.write {
                    continue;
                }
                let event = Event {
                    group: *group,
                    stage: number,
                    read: Some(now),
                    operand: operand(number, number_of_read),
                    comes_back: takes_own_results(pipeline, &writers, number, number_of_read),
                    write: None,
                    version: version(access.array),
                };
                elements.entry((access.array, element)).or_default().push(event);
            }
            let element =
                stage.write.subscripts.iter().map(|subscript| subscript.at(point)).collect::<Option<Vec<_>>>();
            let written = now + stage.latency as i64;
            writing.entry((stage.write.array, written)).or_default().insert(*group);
            let version = version(stage.write.array);
            let update = stage.reads.iter().position(|read| updates && *read == stage.write);
            let event = Event {
                group: *group,
                stage: number,
                read: updates.then_some(now),
                operand: update.map_or(0, |read| operand(number, read)),
                comes_back: false,
                write: Some(written),
                version,
            };
            elements.entry((stage.write.array, element.unwrap())).or_default().push(event);
        }
    }
    if let Some((_, options)) = coarse {
        let none = BTreeSet::new();
        for ((array, now), readers) in &reading {
            let writers = writing.get(&(*array, *now)).unwrap_or(&none);
            if options.serialized.contains(array) {
                assert!(readers.union(writers).count() <= 1, "{} at {now}", pipeline.arrays[*array].name);
            }
            assert!(readers.len() <= options.read_ports, "{} at {now}", pipeline.arrays[*array].name);
        }
        for ((array, now), writers) in &writing {
            let most = if options.serialized.contains(array) { 1 } else { options.write_ports };
            assert!(writers.len() <= most, "{} at {now}", pipeline.arrays[*array].name);
        }
    }
    // An array that carries values from one iteration of its loop to another has one version.
    let mut carries = vec![false; pipeline.arrays.len()];
    for ((array, _), events) in &elements {
        let mut last: Option<i64> = None;
        for event in events {
            carries[*array] |= event.read.is_some() && last.is_some_and(|last| last != event.version);
            last = event.write.map(|_| event.version).or(last);
        }
    }
    for ((array, element), events) in &elements {
        let name = || format!("{}{element:?}", pipeline.arrays[*array].name);
        let versions = match coarse {
            Some((found, options)) if options.double_buffer && !carries[*array] => {
                let of_array = found.loops.iter().flat_map(|level| &level.versions);
                let named = of_array.filter(|(name, _)| *name == pipeline.arrays[*array].name);
                named.map(|(_, versions)| *versions as i64).max().unwrap_or(2)
            }
            _ => 1,
        };
        let follows = |event: &Event, producer: usize| {
            coarse.is_some_and(|(found, _)| found.stages[event.group].follows.contains(&producer))
        };
        // The last write, or all updates by one group since: sums in any order.
        let mut last: Vec<Event> = Vec::new();
        let mut touched: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
        let mut pending: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
        for event in events {
            let is_update = event.read.is_some() && event.write.is_some();
            let goes_on = is_update && last.iter().all(|other| other.group == event.group && other.read.is_some());
            let goes_on = goes_on && !last.is_empty();
            if let Some(read) = event.read {
                for other in &last {
                    let written = other.write.unwrap();
                    if goes_on {
                        let (one, two) = if other.read < event.read { (other, event) } else { (event, other) };
                        let gap = two.read.unwrap() - one.write.unwrap();
                        let least = round_trip + transport(one.stage, two.stage) + two.operand;
                        assert!(gap > least, "{} updated twice within {gap}", name());
                    } else {
                        let gap = if event.comes_back || follows(event, other.group) { 0 } else { 1 + round_trip };
                        let gap = gap + transport(other.stage, event.stage) + event.operand;
                        assert!(
                            read >= written + gap,
                            "{} written at {written} by group {} read at {read} by group {}",
                            name(),
                            other.group,
                            event.group
                        );
                    }
                }
            }
            if let Some(write) = event.write {
                if !goes_on {
                    for (version, time) in std::mem::take(&mut pending) {
                        let known = touched.entry(version).or_insert(time);
                        *known = (*known).max(time);
                    }
                    last.clear();
                }
                last.push(*event);
                for (version, (time, by)) in &touched {
                    let same_room = *version == event.version || *version <= event.version - versions;
                    assert!(
                        !same_room || write > *time || (write == *time && *by == event.group),
                        "{} overwritten at {write} by group {} in version {}, needed to {time} in {version}",
                        name(),
                        event.group,
                        event.version
                    );
                }
            }
            // Lanes of a group may write one element in the same cycle.
            let time = (event.read.max(event.write).unwrap(), event.group);
            let later = if event.write.is_some() { &mut pending } else { &mut touched };
            let known = later.entry(event.version).or_insert(time);
            *known = (*known).max(time);
        }
    }
}

/// All iterations of groups in program order.
fn enumerate(
    pipeline: &Pipeline,
    groups: &[std::ops::Range<usize>],
    depth: usize,
    within: std::ops::Range<usize>,
    outer: &mut Vec<i64>,
    order: &mut Vec<(usize, Vec<i64>)>,
) {
    let mut first = within.start;
    while first < within.end {
        let stage = |group: usize| &pipeline.stages[groups[group].start];
        let end = (first + 1..within.end).find(|&group| stage(group).shared <= depth).unwrap_or(within.end);
        let count = stage(first).loops.len();
        if count == depth {
            order.push((first, outer.iter().rev().copied().collect()));
            first += 1;
            continue;
        }
        let stages = groups[first..end].iter().flat_map(|group| &pipeline.stages[group.clone()]);
        let most = stages.map(|stage| stage.loops[stage.loops.len() - 1 - depth].max()).max().unwrap();
        for index in stage(first).loops[count - 1 - depth].min..=most {
            outer.push(index);
            enumerate(pipeline, groups, depth + 1, first..end, outer, order);
            outer.pop();
        }
        first = end;
    }
}

/// Whether stages are refused for the order of their elements.
fn refuses_order(error: &ScheduleError) -> bool {
    matches!(
        error.fault,
        ScheduleFault::Cycle
            | ScheduleFault::Chained
            | ScheduleFault::Around(_)
            | ScheduleFault::Carried
            | ScheduleFault::SeveralLoops(_)
            | ScheduleFault::Collapsed(_)
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Random trees of stages, with random options: legal by enumeration.
    #[test]
    fn schedules_hold_for_every_iteration(seed in any::<u64>()) {
        let (pipeline, options) = programs::random(seed);
        match coarse(&pipeline, &options) {
            Ok(found) => check(&pipeline, &found.schedule, Some((&found, &options))),
            Err(error) => {
                prop_assert!(refuses_order(&error), "{}", error);
            }
        }
    }

    /// Rows that follow the slowest: legal by enumeration, and never longer than dense nests.
    #[test]
    fn rows_that_follow_hold_for_every_iteration(
        seed in any::<u64>(), of_rows in any::<bool>(), loads_follow in any::<bool>(),
    ) {
        let (pipeline, options) = if of_rows { programs::rows(seed) } else { programs::random(seed) };
        let options = CoarseOptions { match_rates: true, loads_follow, ..options };
        if let Ok(dense) = coarse(&pipeline, &CoarseOptions { match_rates: false, ..options.clone() }) {
            let found = coarse(&pipeline, &options).unwrap();
            check(&pipeline, &found.schedule, Some((&found, &options)));
            prop_assert!(loads_follow || found.schedule.length(&pipeline) <= dense.schedule.length(&pipeline));
        }
    }

    /// Which values come from the iteration before, and which arrays may have two versions.
    #[test]
    fn carried_values_are_kept(seed in any::<u64>()) {
        let (pipeline, options) = programs::carrying(seed);
        match coarse(&pipeline, &options) {
            Ok(found) => check(&pipeline, &found.schedule, Some((&found, &options))),
            // Nothing that is read was written.
            Err(error) => {
                prop_assert!(refuses_order(&error), "{}", error);
            }
        }
    }

    /// Where a reader begins early, it begins at the first cycle that enumeration allows.
    #[test]
    fn leads_are_exact(
        extents in prop::collection::vec(1_u64..6, 5),
        (turned, negative, low) in (any::<bool>(), any::<bool>(), 0_i64..3),
        latency in 0_u64..4,
    ) {
        let mut program = Builder::default();
        let (width, height) = (extents[0] + extents[2] - 1 + low as u64, extents[1] + extents[3] - 1);
        let target = if negative { format!("a[-1*x+{},y]", width - 1) } else { "a[x,y]".to_owned() };
        let loops = if turned { format!("x:{width} y:{height}") } else { format!("y:{height} x:{width}") };
        program.operation("write", &loops, 0, &[], &target);
        program.pipeline.stages[0].latency = latency;
        let loops = format!("j:{} i:{} y:{} x:{}", extents[3], extents[2], extents[1], extents[0]);
        let loops = if extents[4] % 2 == 0 { format!("{loops} z:2") } else { loops };
        program.operation("read", &loops, 0, &[&format!("a[x+i+{low},y+j]")], "b[x,y]");
        let pipeline = program.pipeline;
        let options = CoarseOptions { overlap: true, ..CoarseOptions::default() };
        let found = scheduled(&pipeline, &options);
        if found.stages[1].follows.is_empty() {
            let mut earlier = found.schedule.clone();
            earlier.stages[1].start -= 1;
            let late = |schedule: &Schedule| {
                let mut written = HashMap::new();
                for point in programs::points(&pipeline.stages[0]) {
                    let element: Vec<_> = pipeline.stages[0].write.subscripts.iter().map(|s| s.at(&point)).collect();
                    written.insert(element, schedule.stages[0].value(&point) + latency as i64);
                }
                programs::points(&pipeline.stages[1]).iter().any(|point| {
                    let element: Vec<_> = pipeline.stages[1].reads[0].subscripts.iter().map(|s| s.at(point)).collect();
                    written.get(&element).is_some_and(|written| schedule.stages[1].value(point) <= *written)
                })
            };
            prop_assert!(!late(&found.schedule));
            prop_assert!(late(&earlier));
        }
    }

    /// The sequential schedule is legal for trees, too.
    #[test]
    fn sequential_schedules_hold(seed in any::<u64>()) {
        let (pipeline, options) = programs::random(seed);
        if coarse(&pipeline, &options).is_ok() {
            check(&pipeline, &sequential(&pipeline, &CoarseOptions::default()), None);
        }
    }
}

/// Programs that fit the stencil scheduler are scheduled by this one as well, more slowly.
#[test]
fn stencils_run_whole_stage_by_whole_stage() {
    let mut program = Builder::default();
    program.operation("brighten", "y:64 x:64", 0, &[], "brighten[x,y]");
    program.operation("blur", "y:63 x:63", 0, &["brighten[x,y]", "brighten[x+1,y+1]"], "blur[x,y]");
    let pipeline = program.pipeline;
    let found = scheduled(&pipeline, &CoarseOptions::default());
    assert_eq!(found.schedule, sequential(&pipeline, &CoarseOptions::default()));
    let fused = stencil(&pipeline, &pushmem_schedule::Options::default()).unwrap();
    assert!(fused.length(&pipeline) < found.schedule.length(&pipeline));
}

/// One lane has an iteration of the shared loop less than the other: the reader of both takes its last element twice. A stage writes an
/// element again in a loop inside of the one that carries it to its reader.
#[test]
fn random_pipelines_that_once_failed_hold() {
    for seed in [13_868_299_382_382_497_906, 5_675_324_523_476_769_566, 16_918_167_237_123_985_958] {
        let (pipeline, options) = programs::random(seed);
        let found = coarse(&pipeline, &options).unwrap();
        check(&pipeline, &found.schedule, Some((&found, &options)));
        check(&pipeline, &sequential(&pipeline, &CoarseOptions::default()), None);
    }
}

/// Where no rows follow others after all, nests do not wait for them.
#[test]
fn no_rows_that_follow_are_dense_nests() {
    let (pipeline, options) = programs::rows(16937638329643506061);
    let of = |match_rates: bool| coarse(&pipeline, &CoarseOptions { match_rates, ..options.clone() }).unwrap();
    assert!(!of(true).matches_rates());
    assert_eq!(of(true), of(false));
}
