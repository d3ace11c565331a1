//! Every program in `apps/`: extracted and scheduled, checked against the interpreter and the papers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pushmem_extraction::{Origin, extract};
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Observer, Program};
use pushmem_schedule::{CoarseOptions, Options, Pipeline, Schedule, dependences, distances, sequential, stencil};
use serde_json::Value;

fn program(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../apps/{name}.yaml"));
    Program::read(&path).unwrap_or_else(|error| panic!("{error:?}")).program
}

fn scheduled(name: &str) -> (Pipeline, Schedule) {
    let pipeline = extract(&program(name), |_| 0).unwrap_or_else(|error| panic!("{error:?}")).pipeline;
    let schedule = stencil(&pipeline, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    (pipeline, schedule)
}

/// Cycles from the first input to the last output, before the latencies of datapaths: the published figures (the
/// unified-buffer paper, Table III; the dissertation, Table 7.4) contain some cycles of latency on top.
#[test]
fn lengths_are_within_the_published_ones() {
    let figures: Vec<Value> = serde_json::from_str(include_str!("../../../flow/report/published.json")).expect("JSON");
    let of = |program: &str| figures.iter().find(|entry| entry["program"] == program && entry["tile"] == "amber");
    for name in ["gaussian", "harris", "up_sample", "unsharp", "camera_pipeline", "harris_sch6"] {
        let published = of(name).and_then(|entry| entry["cycles"].as_i64()).expect("it is published");
        let (pipeline, schedule) = scheduled(name);
        let length = schedule.length(&pipeline);
        assert!(length <= published, "{name}: {length} cycles, published {published}");
        assert!(
            length < sequential(&pipeline, &CoarseOptions::default()).length(&pipeline),
            "{name}: not shorter than one stage after the other"
        );
    }
}

/// Checks that each operation reads elements written before, by running the program.
struct Replay<'a> {
    program: &'a Program,
    schedule: &'a Schedule,
    /// Stages of each operation by the lanes of its copies, innermost first.
    stages: HashMap<(usize, Vec<i64>), usize>,
    /// When each element of each array is there.
    written: HashMap<(usize, Vec<i64>), i64>,
    executed: usize,
    /// Reads beyond the arrays.
    outside: usize,
}

impl Observer for Replay<'_> {
    fn executed(&mut self, operation: usize, variables: &[i64], _loads: &[i64], _stored: i64) {
        let operations = self.program.operations();
        let (loops, content) = &operations[operation];
        let split = loops.iter().zip(variables).rev().map(|(level, variable)| {
            let from_zero = variable - level.min;
            (from_zero % level.unroll, from_zero / level.unroll)
        });
        let (lanes, index): (Vec<i64>, Vec<i64>) = split.unzip();
        let now = self.schedule.stages[self.stages[&(operation, lanes)]].value(&index);
        let element = |access: &pushmem_nest::Access| {
            (access.array, access.indices.iter().map(|index| index.evaluate(variables)).collect::<Vec<_>>())
        };
        let may_be_outside = |access: &pushmem_nest::Access| {
            content.loads.iter().any(|load| load.access == *access && load.outside.is_some())
        };
        for access in content.reads() {
            let Some(ready) = self.written.get(&element(access)) else {
                assert!(may_be_outside(access), "{} reads elements without a write", content.name);
                self.outside += 1;
                continue;
            };
            assert!(*ready <= now, "{}: reads at {now} what is there at {ready}", content.name);
        }
        self.written.insert(element(&content.target), now);
        self.executed += 1;
    }
}

#[test]
fn every_read_finds_its_value() {
    for name in [
        "gaussian",
        "cascade",
        "strided_conv",
        "up_sample",
        "down_sample",
        "harris",
        "gaussian_unroll2",
        "laplacian_pyramid",
        "camera_pipeline_new",
        "bc_const",
        "bc_mirror",
        "bc_repeat",
        "harris_sch1",
        "up_sample_unroll4",
        "mobilenet",
    ] {
        let program = program(name);
        let extraction = extract(&program, |_| 0).unwrap_or_else(|error| panic!("{error:?}"));
        let schedule =
            stencil(&extraction.pipeline, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut stages = HashMap::new();
        let mut written = HashMap::new();
        for (stage, origin) in extraction.origins.iter().enumerate() {
            match origin {
                Origin::Operation { operation, .. } => {
                    stages.extend(
                        extraction.copies(&program, stage).into_iter().map(|lanes| ((*operation, lanes), stage)),
                    );
                }
                Origin::Input { array, .. } => {
                    let (content, times) = (&extraction.pipeline.stages[stage], &schedule.stages[stage]);
                    let points = content.loops.iter().fold(vec![Vec::new()], |points, level| {
                        let extended =
                            |point: Vec<i64>| (level.min..=level.max()).map(move |i| [point.clone(), vec![i]].concat());
                        points.into_iter().flat_map(extended).collect::<Vec<_>>()
                    });
                    for point in points {
                        let element = content.write.subscripts.iter().map(|subscript| subscript.at(&point).unwrap());
                        written.insert((*array, element.collect()), times.value(&point));
                    }
                }
            }
        }
        let inputs: BTreeMap<String, Image> = program
            .arrays_of(ArrayKind::Input)
            .map(|array| {
                let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
                let element = array.element.element().expect("an array holds elements");
                (array.name.clone(), Image::new(element, &shape).with_min(&array.min))
            })
            .collect();
        let mut replay = Replay { program: &program, schedule: &schedule, stages, written, executed: 0, outside: 0 };
        program.run_observed(&inputs, &mut replay).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(replay.executed > 0);
        assert_eq!(replay.outside > 0, name == "bc_const");
    }
}

#[test]
fn recomputing_harris_changes_nothing_and_needs_no_lines() {
    let (recomputed, buffered) = (program("harris_sch1"), program("harris_sch5"));
    for largest in [255, 32767] {
        let mut state = 1_u64;
        let values = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % (largest + 1)
        });
        let input = Image::from_values(pushmem_images::Element::I16, &[64, 64], values.take(64 * 64)).unwrap();
        let inputs = BTreeMap::from([("input".to_owned(), input.with_min(&[-3, -3]))]);
        let expected = buffered.run(&inputs).unwrap();
        assert_eq!(recomputed.run(&inputs).unwrap(), expected);
        assert!(expected["output"].values().to_vec().contains(&255));
    }
    let (pipeline, schedule) = scheduled("harris_sch1");
    for dependence in dependences(&pipeline).unwrap() {
        let name = &pipeline.arrays[dependence.array].name;
        let (_, kept) = distances(&schedule, &pipeline, &dependence);
        // A line has 64 pixels.
        assert!(kept < 8 || name == "pixels", "{name}: {kept}");
    }
}
