//! The stencil scheduler: worked examples of the papers, and random pipelines against enumeration.

use proptest::prelude::*;
use pushmem_affine::Affine;
use pushmem_schedule::{
    Access, Array, Boundary, CoarseOptions, Dependence, Options, Pipeline, Schedule, ScheduleError, ScheduleFault,
    Stage, StageLoop, Subscript, Transport, dependences, distances, sequential,
};

/// Without padding.
fn stencil(pipeline: &Pipeline) -> Result<Schedule, ScheduleError> {
    pushmem_schedule::stencil(pipeline, &Options::default())
}

/// A subscript `coefficient · loop + constant`, divided.
fn along(levels: usize, level: usize, coefficient: i64, constant: i64, divisor: i64) -> Subscript {
    let mut coefficients = vec![0; levels];
    coefficients[level] = coefficient;
    Subscript { divisor, ..Subscript::affine(coefficients, constant) }
}

/// An access to `array` whose dimension `d` is indexed by loop `d`, moved by `offset[d]`.
fn at(array: usize, offset: &[i64]) -> Access {
    scaled(array, 1, offset, 1)
}

fn scaled(array: usize, coefficient: i64, offset: &[i64], divisor: i64) -> Access {
    let levels = offset.len();
    let subscripts =
        offset.iter().enumerate().map(|(level, &offset)| along(levels, level, coefficient, offset, divisor)).collect();
    Access { array, subscripts }
}

fn stage(name: &str, extents: &[u64], reads: Vec<Access>, write: usize) -> Stage {
    let names = ["x", "y", "z"];
    let loops = extents
        .iter()
        .zip(names)
        .map(|(&extent, name)| StageLoop { name: name.to_owned(), min: 0, extent })
        .collect::<Vec<_>>();
    let write = at(write, &vec![0; extents.len()]);
    // Tests write to an array from one group.
    Stage { name: name.to_owned(), group: write.array, shared: 0, loops, reads, write, latency: 0 }
}

fn arrays(names: &[&str]) -> Vec<Array> {
    names.iter().map(|name| Array { name: (*name).to_owned(), weight: 1 }).collect()
}

fn brighten_blur() -> Pipeline {
    let window = vec![at(0, &[0, 0]), at(0, &[1, 0]), at(0, &[0, 1]), at(0, &[1, 1])];
    Pipeline {
        arrays: arrays(&["brighten", "blur"]),
        stages: vec![stage("brighten", &[64, 64], vec![], 0), stage("blur", &[63, 63], window, 1)],
    }
}

/// The unified-buffer paper, Figure 2; the dissertation, Tables 5.1 and 5.2.
/// For each array, how many cycles the longest-lived element is kept: from its write to its last read.
fn lifetimes(schedule: &Schedule, pipeline: &Pipeline) -> Vec<i64> {
    let mut lifetimes = vec![0; pipeline.arrays.len()];
    for dependence in dependences(pipeline).unwrap() {
        let lifetime = &mut lifetimes[dependence.array];
        *lifetime = (*lifetime).max(distances(schedule, pipeline, &dependence).1);
    }
    lifetimes
}

#[test]
fn brighten_blur_starts_at_65_with_the_published_distances() {
    let pipeline = brighten_blur();
    let schedule = stencil(&pipeline).unwrap();
    let shown = |stage: usize| pipeline.stages[stage].display(&schedule.stages[stage]).to_string();
    assert_eq!(shown(0), "(x, y) → 64y + x");
    assert_eq!(shown(1), "(x, y) → 64y + x + 65");
    let distances: Vec<(i64, i64)> =
        dependences(&pipeline).unwrap().iter().map(|d| distances(&schedule, &pipeline, d)).collect();
    assert_eq!(distances, [(65, 65), (64, 64), (1, 1), (0, 0)]);
    assert_eq!(lifetimes(&schedule, &pipeline), [65, 0]);
    assert_eq!(sequential(&pipeline, &CoarseOptions::default()).length(&pipeline), 64 * 64 + 63 * 63);
}

/// The book, §4.3.3: shifting the observation too saves its line buffer.
#[test]
fn deconvolution_stores_four_words() {
    let pipeline = Pipeline {
        arrays: arrays(&["lat", "obs", "rel", "out"]),
        stages: vec![
            stage("lat", &[100], vec![], 0),
            stage("obs", &[100], vec![], 1),
            Stage {
                loops: vec![StageLoop { name: "x".to_owned(), min: 1, extent: 98 }],
                ..stage("rel", &[98], vec![at(1, &[0]), at(0, &[-1]), at(0, &[0]), at(0, &[1])], 2)
            },
            Stage {
                loops: vec![StageLoop { name: "x".to_owned(), min: 2, extent: 96 }],
                ..stage("out", &[96], vec![at(0, &[0]), at(2, &[-1]), at(2, &[0]), at(2, &[1])], 3)
            },
        ],
    };
    let lifetimes = lifetimes(&stencil(&pipeline).unwrap(), &pipeline);
    assert_eq!(lifetimes.iter().sum::<i64>(), 4);
}

#[test]
fn upsampling_reads_every_other_pixel_of_every_other_row() {
    let pipeline = Pipeline {
        arrays: arrays(&["in", "out"]),
        stages: vec![
            stage("load", &[64, 64], vec![], 0),
            stage("nearest", &[128, 128], vec![scaled(0, 1, &[0, 0], 2)], 1),
        ],
    };
    let schedule = stencil(&pipeline).unwrap();
    assert_eq!(schedule.stages[0].stride, [2, 256]);
    assert_eq!(schedule.stages[1].stride, [1, 128]);
    assert_eq!(schedule.length(&pipeline), 128 * 128);
}

#[test]
fn downsampling_runs_at_a_quarter_of_the_rate() {
    let window = vec![scaled(0, 2, &[0, 0], 1), scaled(0, 2, &[1, 1], 1)];
    let pipeline = Pipeline {
        arrays: arrays(&["in", "out"]),
        stages: vec![stage("load", &[64, 64], vec![], 0), stage("average", &[32, 32], window, 1)],
    };
    let schedule = stencil(&pipeline).unwrap();
    assert_eq!(schedule.stages[1].stride, [2, 128]);
    assert_eq!(schedule.stages[1].start, 65);
    assert_eq!(schedule.length(&pipeline), 64 * 64);
}

/// Dissertation, Figure 4.20: kernels whose rates are 1, 2, 4 and 8 share one unit, and nothing stalls. Each level
/// of the pyramid takes every second word of the one before; all of them together leave the unit idle in one of 16 cycles.
#[test]
fn levels_of_a_pyramid_share_a_unit_without_a_stall() {
    let pool = |level: usize| vec![scaled(level, 2, &[0], 1), scaled(level, 2, &[1], 1)];
    let levels = (1..=4).map(|level| stage(&format!("level{level}"), &[128 >> level], pool(level - 1), level));
    let mut pipeline = Pipeline {
        arrays: arrays(&["input", "level1", "level2", "level3", "level4"]),
        stages: std::iter::once(stage("input", &[128], vec![], 0)).chain(levels).collect(),
    };
    pipeline.stages[1..].iter_mut().for_each(|stage| stage.latency = 1);
    let options = |unit: &str| Options {
        share: pipeline.stages.iter().map(|stage| (stage.name != "input").then(|| unit.to_owned())).collect(),
        ..Options::default()
    };
    let apart = stencil(&pipeline).unwrap();
    let shared = pushmem_schedule::stencil(&pipeline, &options("pool")).unwrap();
    let mut cycles = Vec::new();
    for (timed, stage) in shared.stages.iter().zip(&pipeline.stages).skip(1) {
        cycles.extend((0..=stage.loops[0].max()).map(|x| timed.at(&[x])));
    }
    let count = cycles.len();
    cycles.sort_unstable();
    cycles.dedup();
    assert_eq!((cycles.len(), count), (64 + 32 + 16 + 8, 64 + 32 + 16 + 8));
    // The last level waits for its turns, less than the 16 cycles between two of its words.
    assert!(shared.length(&pipeline) - apart.length(&pipeline) < 16);
    enumerate(&pipeline, &shared);
    // A fifth level that runs as often as the fourth still fits in. A sixth has to wait until the first has ended.
    let mut more = pipeline.clone();
    for (level, begins) in [(5, 0..32), (6, 127..145)] {
        more.arrays.push(Array { name: format!("level{level}"), weight: 1 });
        let last = Stage { latency: 1, ..stage(&format!("level{level}"), &[8], vec![at(level - 1, &[0])], level) };
        more.stages.push(last);
        let share = more.stages.iter().map(|stage| (stage.name != "input").then(|| "pool".to_owned())).collect();
        let found = pushmem_schedule::stencil(&more, &Options { share, ..Options::default() }).unwrap();
        assert!(begins.contains(&found.stages[level].start), "{found:?}");
        enumerate(&more, &found);
    }
}

#[test]
fn what_cannot_be_fused_is_refused() {
    let load = || stage("load", &[8, 8], vec![], 0);
    let with = |reads: Vec<Access>| Pipeline {
        arrays: arrays(&["in", "out"]),
        stages: vec![load(), stage("use", &[8, 8], reads, 1)],
    };
    let transposed = Access { array: 0, subscripts: vec![along(2, 1, 1, 0, 1), along(2, 0, 1, 0, 1)] };
    assert!(matches!(stencil(&with(vec![transposed])), Err(ScheduleError { fault: ScheduleFault::Order, .. })));
    let diagonal = Access { array: 0, subscripts: vec![along(2, 0, 1, 0, 1), along(2, 0, 1, 0, 1)] };
    assert!(matches!(stencil(&with(vec![diagonal])), Err(ScheduleError { fault: ScheduleFault::Collapsed(_), .. })));
    let two_rates = vec![at(0, &[0, 0]), scaled(0, 2, &[0, 0], 1)];
    assert!(matches!(stencil(&with(two_rates)), Err(ScheduleError { fault: ScheduleFault::Rates(_), .. })));
    assert!(matches!(stencil(&with(vec![at(1, &[0, 0])])), Err(ScheduleError { fault: ScheduleFault::Cycle, .. })));
}

/// Two lanes of an array of odd width, of which stages read different ones.
fn two_lanes() -> Pipeline {
    let lane = |name: &str, group: usize, extent: u64, reads: Vec<Access>, array: usize, first: i64| Stage {
        group,
        shared: 0,
        write: Access { array, subscripts: vec![along(2, 0, 2, first, 1), along(2, 1, 1, 0, 1)] },
        ..stage(name, &[extent, 8], reads, array)
    };
    let pixel = |offset: i64| Access { array: 0, subscripts: vec![along(2, 0, 2, offset, 1), along(2, 1, 1, 0, 1)] };
    Pipeline {
        arrays: arrays(&["in", "near", "far"]),
        stages: vec![
            lane("in_0", 0, 5, vec![], 0, 0),
            lane("in_1", 0, 4, vec![], 0, 1),
            lane("near_0", 1, 3, vec![pixel(0)], 1, 0),
            lane("near_1", 1, 3, vec![pixel(4)], 1, 1),
            stage(
                "far",
                &[1, 8],
                vec![Access { array: 0, subscripts: vec![along(2, 1, 0, 8, 1), along(2, 1, 1, 0, 1)] }],
                2,
            ),
        ],
    }
}

#[test]
fn copies_run_in_the_same_cycles() {
    let pipeline = two_lanes();
    let schedule = stencil(&pipeline).unwrap();
    assert_eq!(schedule.stages[0], schedule.stages[1]);
    assert_eq!(schedule.stages[2], schedule.stages[3]);
    // The second copy has to wait for its pixel, and so the first does.
    assert_eq!(schedule.stages[2].start, 2);
    assert_eq!(pipeline.stages[4].first_cycle(&schedule.stages[4]), 4);
    // A copy that waits for another of the same cycle.
    let mut chained = two_lanes();
    chained.stages[2].latency = 1;
    chained.stages[3].reads = vec![chained.stages[2].write.clone()];
    assert!(matches!(stencil(&chained), Err(ScheduleError { fault: ScheduleFault::Chained, .. })));
}

#[test]
fn words_travel_before_they_are_read() {
    // The blur takes four pixels of each window, the sharpening one of them and the blurred one.
    let mut pipeline = brighten_blur();
    pipeline.arrays.push(Array { name: "sharpen".to_owned(), weight: 1 });
    pipeline.stages.push(stage("sharpen", &[63, 63], vec![at(1, &[0, 0]), at(0, &[1, 1])], 2));
    let starts = |transport: Transport| {
        let options = Options { transport, ..Options::default() };
        let schedule = pushmem_schedule::stencil(&pipeline, &options).unwrap();
        for dependence in dependences(&pipeline).unwrap() {
            let Dependence { producer, consumer, read, .. } = dependence;
            let travels = options.transport.to_operand(producer, consumer, read);
            assert!(distances(&schedule, &pipeline, &dependence).0 >= travels);
        }
        schedule.stages.iter().map(|stage| stage.start).collect::<Vec<_>>()
    };
    assert_eq!(starts(Transport::default()), [0, 65, 65]);
    assert_eq!(starts(Transport::uniform(3)), [0, 68, 71]);
    let mut one_route = Transport::default();
    one_route.set(1, 2, 5);
    assert_eq!(starts(one_route), [0, 65, 70]);
    // The pixel that the sharpening takes has been there for a row: its way is as long as that without a later start.
    let mut hidden = Transport::default();
    hidden.set(0, 2, 0);
    assert_eq!(starts(hidden), [0, 65, 65]);
    // The blurred word is later at its operand than the pixel at its own, and decides; then the pixel does.
    let mut operands = Transport::uniform(1);
    operands.set_operand(2, 0, 4);
    operands.set_operand(2, 1, 2);
    assert_eq!(starts(operands), [0, 66, 71]);
    let mut pixel = Transport::default();
    pixel.set_operand(2, 1, 5);
    assert_eq!(starts(pixel), [0, 65, 70]);
}

#[test]
fn rows_begin_at_multiples() {
    let periods = |pipeline: &Pipeline, row_multiple: u64| {
        let schedule = pushmem_schedule::stencil(pipeline, &Options { row_multiple, ..Options::default() }).unwrap();
        schedule.stages.iter().map(|stage| stage.stride.clone()).collect::<Vec<_>>()
    };
    assert_eq!(periods(&brighten_blur(), 4), [[1, 64], [1, 64]]);
    let down = |width: u64| Pipeline {
        arrays: arrays(&["in", "out"]),
        stages: vec![
            stage("load", &[width, 8], vec![], 0),
            stage("average", &[width / 3, 2], vec![scaled(0, 3, &[0, 0], 1)], 1),
        ],
    };
    assert_eq!(periods(&down(20), 1), [[1, 21], [3, 63]]);
    assert_eq!(periods(&down(20), 4), [[1, 24], [3, 72]]);
    assert_eq!(periods(&down(25), 4), [[1, 36], [3, 108]]);
}

#[test]
fn reads_relate_to_the_last_writer() {
    let region = |name: &str, first: i64, extent: u64, reads: Vec<Access>| Stage {
        write: at(0, &[first]),
        ..stage(name, &[extent], reads, 0)
    };
    let with = |stages: Vec<Stage>| {
        let all = stage("use", &[8], vec![at(0, &[0])], 1);
        Pipeline { arrays: arrays(&["a", "b"]), stages: stages.into_iter().chain([all]).collect() }
    };
    let of_use = |pipeline: &Pipeline| -> Vec<usize> {
        let last = pipeline.stages.len() - 1;
        dependences(pipeline).unwrap().iter().filter(|d| d.consumer == last).map(|d| d.producer).collect()
    };
    let halves = with(vec![region("left", 0, 4, vec![]), region("right", 4, 4, vec![])]);
    assert_eq!(of_use(&halves), [0, 1]);
    stencil(&halves).unwrap();
    let overlapping = with(vec![region("left", 0, 5, vec![]), region("right", 4, 4, vec![])]);
    let error = stencil(&overlapping).unwrap_err();
    assert_eq!((error.stage.number, error.other.as_ref().unwrap().number), (1, 0));
    assert_eq!(error.to_string(), "right overwrites elements of `a` that left wrote");
    // An update takes the place of the element that it updates.
    let updated = with(vec![region("first", 0, 8, vec![]), region("update", 0, 8, vec![at(0, &[0])])]);
    assert_eq!(of_use(&updated), [1]);
    // One of some elements leaves the others.
    let mut partly = with(vec![region("first", 0, 8, vec![]), region("update", 2, 3, vec![at(0, &[2])])]);
    // Its loop is another: in that of `first` it would read elements written two iterations later.
    partly.stages[1].group = 2;
    assert_eq!(of_use(&partly), [0, 1]);

    let mut rolled = updated.clone();
    rolled.stages[1] = Stage {
        write: Access { array: 0, subscripts: vec![along(2, 1, 1, 0, 1)] },
        ..stage("sum", &[3, 8], vec![Access { array: 0, subscripts: vec![along(2, 1, 1, 0, 1)] }], 0)
    };
    let error = stencil(&rolled).unwrap_err();
    assert_eq!(error.to_string(), "sum is a reduction: it updates `a` in every iteration of loop `x`");
    rolled.stages[1].reads.clear();
    assert!(matches!(stencil(&rolled), Err(ScheduleError { fault: ScheduleFault::Overwritten, .. })));
}

/// Every point of a stage's domain.
fn points(stage: &Stage) -> Vec<Vec<i64>> {
    stage.loops.iter().rev().fold(vec![Vec::new()], |outer, level| {
        outer
            .iter()
            .flat_map(|point| (level.min..=level.max()).map(move |i| [&[i], point.as_slice()].concat()))
            .collect()
    })
}

fn element(access: &Access, point: &[i64]) -> Option<Vec<i64>> {
    access.subscripts.iter().map(|subscript| subscript.at(point)).collect()
}

/// Checks by enumeration that every read comes no earlier than its write, and that no stage runs twice in a cycle.
/// Returns the longest lifetime of each array.
fn enumerate(pipeline: &Pipeline, schedule: &Schedule) -> Vec<i64> {
    let mut written = std::collections::HashMap::new();
    let mut lifetimes = vec![0; pipeline.arrays.len()];
    for (stage, times) in pipeline.stages.iter().zip(&schedule.stages) {
        let mut busy = std::collections::HashSet::new();
        for point in points(stage) {
            let now = times.value(&point);
            assert!(now >= 0 && busy.insert(now), "{} runs at {now}", stage.name);
            for access in &stage.reads {
                let Some(element) = element(access, &point) else { continue };
                if let Some(ready) = written.get(&(access.array, element)) {
                    assert!(*ready <= now, "{} reads at {now} what is written at {ready}", stage.name);
                    lifetimes[access.array] = lifetimes[access.array].max(now - *ready);
                }
            }
        }
        for point in points(stage) {
            let ready = times.value(&point) + stage.latency as i64;
            let target = element(&stage.write, &point).expect("all that is written is an element");
            written.insert((stage.write.array, target), ready);
        }
    }
    lifetimes
}

fn boundary(greatest: i64) -> impl Strategy<Value = Boundary> {
    (0..=greatest, 0..=greatest, 0..4_u8).prop_map(|(one, other, kind)| {
        let (low, high) = (one.min(other), one.max(other));
        match kind {
            0 => Boundary::None,
            1 => Boundary::Clamp { low, high },
            2 => Boundary::Mirror { low, high },
            _ => Boundary::Outside { low, high },
        }
    })
}

/// A random pipeline over two dimensions: each stage reads one or two earlier ones through windows, at random rates.
fn pipeline() -> impl Strategy<Value = Pipeline> {
    let window = prop::collection::vec((-2_i64..3, -2_i64..3), 1..4);
    let read = (any::<prop::sample::Index>(), window, 0..4_u8, boundary(9));
    let stages = prop::collection::vec((prop::collection::vec(read, 1..3), 0_u64..4, 1_u64..4), 1..5);
    (6_u64..12, 4_u64..9, stages).prop_map(|(width, height, stages)| {
        let mut pipeline = Pipeline {
            arrays: vec![Array { name: "in".to_owned(), weight: 1 }],
            stages: vec![stage("load", &[width, height], vec![], 0)],
        };
        // Rate of each array against the input, as a power of two, and its size.
        let mut rates = vec![0_i32];
        for (reads, latency, weight) in stages {
            let array = pipeline.arrays.len();
            let mut accesses = Vec::new();
            let mut own_rate = None;
            for (source, window, change, boundary) in reads {
                let source = source.index(array);
                // Down by two, up by two, or as it is; a second source must end at the same rate.
                let change = match (own_rate, change) {
                    (None, 2) => 1,
                    (None, 3) => -1,
                    (None, _) => 0,
                    (Some(rate), _) => rate - rates[source],
                };
                let (coefficient, divisor) = match change {
                    0 => (1, 1),
                    1 => (2, 1),
                    -1 => (1, 2),
                    _ => continue,
                };
                own_rate = Some(rates[source] + change);
                accesses.extend(window.into_iter().map(|(x, y)| {
                    let mut access = scaled(source, coefficient, &[x, y], divisor);
                    access.subscripts.iter_mut().for_each(|subscript| subscript.boundary = boundary);
                    access
                }));
            }
            rates.push(own_rate.unwrap_or(0));
            let size = |extent: u64| match rates[array] {
                rate if rate > 0 => (extent >> rate).max(1),
                rate => extent << -rate,
            };
            pipeline.arrays.push(Array { name: format!("a{array}"), weight });
            let extents = [size(width), size(height)];
            pipeline.stages.push(Stage { latency, ..stage(&format!("s{array}"), &extents, accesses, array) });
        }
        pipeline
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The closed form agrees with enumeration: legal, and the lifetimes that it says.
    #[test]
    fn schedules_hold_for_every_point(pipeline in pipeline()) {
        let schedule = stencil(&pipeline).unwrap();
        let enumerated = enumerate(&pipeline, &schedule);
        prop_assert_eq!(lifetimes(&schedule, &pipeline), enumerated);
        enumerate(&pipeline, &sequential(&pipeline, &CoarseOptions::default()));
    }

    /// The extremes of the time from write to read, for any strides of both.
    #[test]
    fn distances_are_those_of_enumeration(
        (write_step, write_constant, write_offset) in (1_i64..4, -9_i64..9, -2_i64..3),
        (read_step, constant, divisor, offset) in (-4_i64..5, -9_i64..9, 1_i64..4, -2_i64..3),
        boundary in boundary(12),
        negative in any::<bool>(),
        loops in prop::collection::vec((-5_i64..6, 1_u64..24, -6_i64..7), 3),
    ) {
        let level = |number: usize| StageLoop { name: "x".to_owned(), min: loops[number].0, extent: loops[number].1 };
        let write_step = if negative { -write_step } else { write_step };
        let write = Subscript { offset: write_offset, ..Subscript::affine(vec![write_step], write_constant) };
        // The second loop reads everything again.
        let read = Subscript { coefficients: vec![read_step, 0], constant, divisor, boundary, offset };
        let pipeline = Pipeline {
            arrays: arrays(&["a", "b"]),
            stages: vec![
                Stage {
                    loops: vec![level(0)],
                    write: Access { array: 0, subscripts: vec![write.clone()] },
                    ..stage("write", &[1], vec![], 0)
                },
                Stage {
                    loops: vec![level(1), level(2)],
                    ..stage("read", &[1, 1], vec![Access { array: 0, subscripts: vec![read.clone()] }], 1)
                },
            ],
        };
        let stride = |number: usize| loops[number].2;
        let schedule = Schedule {
            stages: vec![
                Affine { start: 3, stride: vec![stride(0)] },
                Affine { start: 5, stride: vec![stride(1), stride(2)] },
            ],
        };
        let mut found_distances = Vec::new();
        for point in points(&pipeline.stages[1]) {
            for writing in points(&pipeline.stages[0]) {
                if read.at(&point).is_some() && read.at(&point) == write.at(&writing) {
                    found_distances.push(schedule.stages[1].value(&point) - schedule.stages[0].value(&writing));
                }
            }
        }
        let found = dependences(&pipeline).unwrap();
        let extremes = found_distances.iter().min().map(|least| (*least, *found_distances.iter().max().unwrap()));
        prop_assert_eq!(found.first().map(|dependence| distances(&schedule, &pipeline, dependence)), extremes);
    }

    /// Whether two writers meet.
    #[test]
    fn elements_written_twice_are_found(writes in prop::collection::vec((1_i64..5, -9_i64..9, 1_u64..6), 2)) {
        let stages = writes.iter().map(|&(step, constant, extent)| Stage {
            write: scaled(0, step, &[constant], 1),
            ..stage("write", &[extent], vec![], 0)
        });
        let pipeline = Pipeline { arrays: arrays(&["a"]), stages: stages.collect() };
        let elements = |number: usize| {
            let stage: &Stage = &pipeline.stages[number];
            points(stage).iter().map(|point| element(&stage.write, point)).collect::<std::collections::HashSet<_>>()
        };
        prop_assert_eq!(dependences(&pipeline).is_err(), !elements(0).is_disjoint(&elements(1)));
    }

    /// No other delays store less, on rate-1 pipelines small enough to try them all.
    #[test]
    fn storage_is_optimal(
        offsets in prop::collection::vec((0_usize..2, -1_i64..2), 3..6),
        weights in prop::collection::vec(1_u64..4, 4),
    ) {
        // Two inputs, one stage over both, one over everything before.
        let load = |name: &str, array| Stage {
            loops: vec![StageLoop { name: "x".to_owned(), min: -3, extent: 20 }],
            ..stage(name, &[20], vec![], array)
        };
        let first: Vec<Access> = offsets.iter().map(|&(source, offset)| at(source, &[offset])).collect();
        let second = offsets.iter().map(|&(source, offset)| at(source * 2, &[-offset])).chain([at(1, &[0])]).collect();
        let mut pipeline = Pipeline {
            arrays: arrays(&["a", "b", "c", "d"]),
            stages: vec![load("a", 0), load("b", 1), stage("c", &[8], first, 2), stage("d", &[6], second, 3)],
        };
        for (array, weight) in pipeline.arrays.iter_mut().zip(&weights) {
            array.weight = *weight;
        }
        let cost = |schedule: &Schedule| -> i64 {
            let lifetimes = lifetimes(schedule, &pipeline);
            lifetimes.iter().zip(&weights).map(|(lifetime, weight)| lifetime * *weight as i64).sum()
        };
        let best = stencil(&pipeline).unwrap();
        let all = dependences(&pipeline).unwrap();
        let mut least = i64::MAX;
        for shifts in 0..8_i64.pow(4) {
            let mut schedule = best.clone();
            for (number, stage) in schedule.stages.iter_mut().enumerate() {
                stage.start = shifts / 8_i64.pow(number as u32) % 8;
            }
            if all.iter().all(|dependence| distances(&schedule, &pipeline, dependence).0 >= 0) {
                least = least.min(cost(&schedule));
            }
        }
        prop_assert_eq!(cost(&best), least);
    }
}
