//! Arrays that are kept in memory tiles: how the accesses of the stages become the ports of a buffer.
//!
//! Each stage that writes the array has a write port. A read that follows no write at a constant distance has a read port,
//! perhaps by [port sharing](crate::port_sharing) that of another stage. Where the lanes of unrolled stages have a
//! residue of their own in a dimension, so that each lane has a bank to itself, a read that goes through all residues has a
//! port for each: a selection by the loop indices puts the words together.
//!
//! Loops around all accesses of an array that no dimension follows make the array anew in each of their iterations: they
//! become dimensions of the buffer, so that the next version can be written while the last one is still read.

use itertools::Itertools;
use num_integer::{gcd, lcm};
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Loop, Port, UnifiedBuffer};
use pushmem_schedule::{Access, Boundary, Pipeline, Schedule, Stage};

use crate::pointwise::range;
use crate::port_sharing::SharedPorts;
use pushmem_graph::Condition;

/// A read of a stage, by its number among the reads of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadOf {
    pub stage: usize,
    pub read: usize,
}

/// Some iterations of a read, and the port that serves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Conditions on loops of the stage, all of which hold in these iterations.
    pub conditions: Vec<(usize, Condition)>,
    /// The number of the port in the buffer.
    pub port: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayPorts {
    pub buffer: UnifiedBuffer,
    /// The stage of each write port; the write ports come first.
    pub writers: Vec<usize>,
    /// The parts of each read.
    pub reads: Vec<(ReadOf, Vec<Part>)>,
}

/// Iterations of a stage: some of each loop.
#[derive(Clone, Debug)]
struct Iterations {
    /// Of each loop, innermost first: the first index counted from 0, the step, and how many.
    levels: Vec<(i64, i64, u64)>,
}

impl Iterations {
    fn all(stage: &Stage) -> Iterations {
        Iterations { levels: stage.loops.iter().map(|level| (0, 1, level.extent)).collect() }
    }

    /// The iterations in which an access is within the limits of its array, and the conditions on loops for that. They are a box,
    /// because each limited subscript follows one loop at most: see [`is_stored`].
    fn within(stage: &Stage, access: &Access) -> (Vec<(usize, Condition)>, Iterations) {
        let mut iterations = Iterations::all(stage);
        let mut limited = vec![false; stage.loops.len()];
        for subscript in &access.subscripts {
            let (Boundary::Outside { low, high }, Ok(Some(level))) = (subscript.boundary, subscript.single_loop())
            else {
                continue;
            };
            let step = subscript.coefficients[level];
            let at_first = subscript.constant + step * stage.loops[level].min;
            let (to_low, to_high) = if step > 0 { (low, high) } else { (high, low) };
            // The first index is rounded up, the last down.
            let (first, last) = (-(at_first - to_low).div_euclid(step), (to_high - at_first).div_euclid(step));
            let (begin, _, extent) = &mut iterations.levels[level];
            let end = (*begin + *extent as i64 - 1).min(last);
            *begin = first.max(*begin);
            *extent = u64::try_from(end - *begin + 1).expect("a read that is never within its array has no port");
            limited[level] = true;
        }
        let condition = |level: usize| {
            let (begin, _, extent) = iterations.levels[level];
            let first = stage.loops[level].min + begin;
            (level, Condition { first, last: first + extent as i64 - 1, step: 1 })
        };
        let conditions = (0..limited.len()).filter(|&level| limited[level]).map(condition).collect();
        (conditions, iterations)
    }

    /// An affine function of the stage's indices, given by its value in the first iteration and its strides, over these.
    fn function(&self, first: i64, strides: &[i64]) -> Affine {
        let steps = self.levels.iter().zip(strides);
        Affine {
            start: first + steps.clone().map(|((begin, ..), stride)| begin * stride).sum::<i64>(),
            stride: steps.map(|((_, step, _), stride)| step * stride).collect(),
        }
    }
}

/// The ports of an array, whose writers are all stages that write it, and whose reads are these. A read has a port for each
/// residue of its element modulo `divisors`, one for each dimension and then for each loop that makes the array anew,
/// innermost first; missing ones are 1.
pub(crate) fn ports(
    pipeline: &Pipeline,
    schedule: &Schedule,
    array: usize,
    reads: &[ReadOf],
    divisors: &[i64],
) -> ArrayPorts {
    let writers = writers_of(pipeline, array);
    let versions = version_loops(pipeline, array);
    let port = |stage: usize, access: &Access, iterations: &Iterations, late: i64, name: String, direction| {
        let (content, scheduled) = (&pipeline.stages[stage], &schedule.stages[stage]);
        let first = content.loops.iter().map(|level| level.min).collect_vec();
        let element = access.subscripts.iter().map(|subscript| {
            let moved = subscript.coefficients.iter().zip(&first).map(|(step, index)| step * index).sum::<i64>();
            iterations.function(moved + subscript.constant + subscript.offset, &subscript.coefficients)
        });
        let depth = content.loops.len();
        let version = (0..versions).rev().map(|outer| iterations.function(0, &version_coefficients(depth, outer)));
        let loops = content.loops.iter().zip(&iterations.levels);
        Port {
            name,
            direction,
            domain: loops.map(|(level, (.., extent))| Loop { name: level.name.clone(), extent: *extent }).collect(),
            access: element.chain(version).collect(),
            schedule: iterations.function(content.first_cycle(scheduled) + late, &scheduled.stride),
        }
    };
    let mut ports = Vec::new();
    for &stage in &writers {
        let content = &pipeline.stages[stage];
        let name = format!("{}_write", content.name);
        let all = Iterations::all(content);
        ports.push(port(stage, &content.write, &all, content.latency as i64, name, Direction::Write));
    }
    // All groups stay in residues of a divisor that they have in common.
    let common = |of_groups: Vec<i64>| of_groups.into_iter().reduce(gcd).unwrap_or(1);
    let residues = residues(pipeline, &writers, reads).into_iter().map(common).chain(vec![1; versions]);
    let residues = residues.zip_longest(divisors).map(|pair| pair.or(1, &1)).map(|(of, by)| lcm(of, *by)).collect_vec();
    let array_name = &pipeline.arrays[array].name;
    let mut shared = SharedPorts::default();
    let mut of_reads = Vec::new();
    for &read in reads {
        let content = &pipeline.stages[read.stage];
        let access = &content.reads[read.read];
        let mut parts = Vec::new();
        for (conditions, iterations) in split(content, access, versions, &residues) {
            let name = format!("{}_read_{array_name}_{}", content.name, ports.len());
            let made = port(read.stage, access, &iterations, 0, name, Direction::Read);
            parts.push(Part { conditions, port: shared.add(&mut ports, made) });
        }
        of_reads.push((read, parts));
    }
    ArrayPorts { buffer: UnifiedBuffer { name: array_name.clone(), ports }, writers, reads: of_reads }
}

/// Whether an array can be kept for a read: its addresses are affine where it is within the array, and these iterations are a box.
pub(crate) fn is_stored(access: &Access) -> bool {
    access.subscripts.iter().all(|subscript| {
        let boundary = match subscript.boundary {
            Boundary::None => true,
            Boundary::Outside { .. } => subscript.single_loop().is_ok(),
            Boundary::Clamp { .. } | Boundary::Mirror { .. } => false,
        };
        subscript.divisor == 1 && boundary
    })
}

/// The stages that write an array.
fn writers_of(pipeline: &Pipeline, array: usize) -> Vec<usize> {
    pipeline.stages.iter().positions(|stage| stage.write.array == array).collect()
}

/// How many of the outermost loops make an array anew: all its accesses are in them, none of its subscripts follows them, and
/// each iteration begins with a write of all elements.
pub(crate) fn version_loops(pipeline: &Pipeline, array: usize) -> usize {
    let touches = |stage: &Stage| stage.write.array == array || stage.reads.iter().any(|read| read.array == array);
    let stages = pipeline.stages.iter().positions(touches).collect_vec();
    let (Some(&first), Some(&last)) = (stages.first(), stages.last()) else { return 0 };
    let common = pipeline.shared_loops(first, last).min(pipeline.stages[first].loops.len());
    let accesses = stages.iter().flat_map(|&number| {
        let stage = &pipeline.stages[number];
        let reads = stage.reads.iter().filter(|read| read.array == array);
        reads.chain((stage.write.array == array).then_some(&stage.write)).map(move |access| (stage, access))
    });
    let accesses = accesses.collect_vec();
    let follows = |outer: usize| accesses.iter().any(|(stage, access)| access.follows(stage.loops.len() - 1 - outer));
    let beginning = &pipeline.stages[first];
    let begins = beginning.write.array == array && !beginning.reads.iter().any(|read| read.array == array);
    if !begins {
        return 0;
    }
    (0..common).take_while(|&outer| !follows(outer)).count()
}

/// The version of an array that one of the outermost of `depth` loops makes, as coefficients of the loops.
fn version_coefficients(depth: usize, outer: usize) -> Vec<i64> {
    (0..depth).map(|level| i64::from(level == depth - 1 - outer)).collect()
}

/// For each dimension, the numbers of residues among which the lanes of unrolled stages are divided, one for each group of
/// accesses that has lanes there.
fn residues(pipeline: &Pipeline, writers: &[usize], reads: &[ReadOf]) -> Vec<Vec<i64>> {
    let written = writers.iter().map(|&stage| (stage, &pipeline.stages[stage].write));
    let read = reads.iter().map(|read| (read.stage, &pipeline.stages[read.stage].reads[read.read]));
    let accesses = written.chain(read).collect_vec();
    let dimensions = accesses.first().map_or(0, |(_, access)| access.subscripts.len());
    let of_dimension = |dimension: usize| {
        let ranges =
            accesses.iter().map(|(stage, access)| range(&pipeline.stages[*stage], &access.subscripts[dimension]));
        let (low, high) = ranges.fold((i64::MAX, i64::MIN), |(low, high), of| (low.min(of.0), high.max(of.1)));
        // The stride of an access along the dimension; 0 if it stays in one place.
        let stride = |stage: usize, access: &Access| {
            let loops = &pipeline.stages[stage].loops;
            let moving = loops.iter().zip(&access.subscripts[dimension].coefficients);
            moving.filter(|(level, _)| level.extent > 1).fold(0, |divisor, (_, step)| gcd(divisor, *step))
        };
        // Lanes: accesses of one group that are in different places of the dimension and stay in their residues.
        let groups = accesses.iter().into_group_map_by(|(stage, _)| pipeline.stages[*stage].group);
        let of_group = |accesses: &Vec<&(usize, &Access)>| {
            let constants = accesses.iter().map(|(_, access)| access.subscripts[dimension].constant).unique().count();
            let strides = accesses.iter().fold(0, |divisor, (stage, access)| gcd(divisor, stride(*stage, access)));
            let factor = if strides == 0 { high - low + 1 } else { strides };
            (constants > 1 && factor > 1).then_some(factor)
        };
        groups.values().filter_map(of_group).sorted().collect()
    };
    (0..dimensions).map(of_dimension).collect()
}

/// Most residues of a dimension among which an array is divided for lanes of several numbers: a read has a port for each.
const MOST_RESIDUES: i64 = 64;

/// Ways to divide an array beyond its lanes, each as divisors for [`ports`]: where stages have lanes in different numbers, by
/// the least common multiple of these, so that no two lanes of a stage use a part; by the strides of the fastest loops of its
/// reads, so that each part is read without gaps; by even and odd iterations of the loop that makes it anew, so that a part is
/// written or read, but not both at the same time; by both.
pub(crate) fn divisions(pipeline: &Pipeline, schedule: &Schedule, array: usize, reads: &[ReadOf]) -> Vec<Vec<i64>> {
    let dimensions = pipeline.stages[reads[0].stage].reads[reads[0].read].subscripts.len();
    let mut strides = vec![0; dimensions];
    for read in reads {
        let (stage, scheduled) = (&pipeline.stages[read.stage], &schedule.stages[read.stage]);
        let moving = (0..stage.loops.len()).filter(|&level| stage.loops[level].extent > 1);
        let Some(fastest) = moving.min_by_key(|&level| scheduled.stride[level]) else { continue };
        for (stride, subscript) in strides.iter_mut().zip(&stage.reads[read.read].subscripts) {
            *stride = gcd(*stride, subscript.coefficients[fastest]);
        }
    }
    let strides = strides.into_iter().map(|stride| stride.max(1)).collect_vec();
    let versions = version_loops(pipeline, array);
    let even_and_odd = |divisors: &[i64]| {
        let mut divisors = divisors.to_vec();
        divisors.resize(dimensions + versions, 1);
        divisors[dimensions] = 2;
        divisors
    };
    let multiple = |of_groups: Vec<i64>| {
        let multiple = of_groups.into_iter().fold(1, lcm);
        if multiple <= MOST_RESIDUES { multiple } else { 1 }
    };
    let lanes = residues(pipeline, &writers_of(pipeline, array), reads).into_iter().map(multiple).collect_vec();
    let mut divisions = vec![lanes, strides.clone()];
    if versions > 0 {
        divisions.extend([even_and_odd(&vec![1; dimensions]), even_and_odd(&strides)]);
    }
    divisions.retain(|divisors| divisors.iter().any(|&divisor| divisor > 1));
    divisions.into_iter().unique().collect()
}

/// The iterations of a read, in parts that each stay in one residue of each dimension, and of each of the outermost loops
/// that make the array anew.
fn split(
    stage: &Stage,
    access: &Access,
    versions: usize,
    residues: &[i64],
) -> Vec<(Vec<(usize, Condition)>, Iterations)> {
    let depth = stage.loops.len();
    let coordinates = access.subscripts.iter().map(|subscript| subscript.coefficients.clone());
    let coordinates =
        coordinates.chain((0..versions).rev().map(|outer| version_coefficients(depth, outer))).collect_vec();
    let (limits, within) = Iterations::within(stage, access);
    let mut parts = vec![(Vec::new(), within.clone())];
    for (coefficients, &factor) in coordinates.iter().zip(residues).filter(|(_, factor)| **factor > 1) {
        for (level, bounds) in stage.loops.iter().enumerate() {
            let step = coefficients[level];
            let (begin, _, extent) = within.levels[level];
            // After so many iterations of the loop the residue comes back.
            let turn = (factor / gcd(factor, step)).min(extent as i64);
            if step == 0 || extent == 1 || turn == 1 {
                continue;
            }
            let of_turn = |(conditions, iterations): (Vec<(usize, Condition)>, Iterations)| {
                (0..turn).map(move |first| {
                    let count = (extent as i64 - first + turn - 1) / turn;
                    let first = begin + first;
                    let last = first + (count - 1) * turn;
                    let (mut conditions, mut iterations) = (conditions.clone(), iterations.clone());
                    let (first_index, last_index) = (bounds.min + first, bounds.min + last);
                    conditions.push((level, Condition { first: first_index, last: last_index, step: turn }));
                    iterations.levels[level] = (first, turn, count as u64);
                    (conditions, iterations)
                })
            };
            parts = parts.into_iter().flat_map(of_turn).collect();
        }
    }
    // Residues of a loop are counted within its limits already.
    for (conditions, _) in &mut parts {
        let is_free = |limit: &&(usize, Condition)| conditions.iter().all(|(level, _)| *level != limit.0);
        let free = limits.iter().filter(is_free).copied().collect_vec();
        conditions.extend(free);
    }
    parts
}

#[cfg(test)]
mod tests {
    use pushmem_schedule::{Array, Subscript};

    use super::*;

    fn loops(extents: &[u64]) -> Vec<pushmem_schedule::StageLoop> {
        let level = |(number, &extent)| pushmem_schedule::StageLoop { name: format!("i{number}"), min: 0, extent };
        extents.iter().enumerate().map(level).collect()
    }

    /// Eight lanes that write every eighth element of rows, and a stage that reads them one after the other.
    fn lanes() -> Pipeline {
        let lane = |lane: i64| Stage {
            name: format!("sums_{lane}"),
            group: 0,
            shared: 0,
            loops: loops(&[8, 64]),
            reads: Vec::new(),
            write: Access {
                array: 0,
                subscripts: vec![Subscript::affine(vec![8, 0], lane), Subscript::affine(vec![0, 1], 0)],
            },
            latency: 2,
        };
        let identity = vec![Subscript::affine(vec![1, 0], 0), Subscript::affine(vec![0, 1], 0)];
        let drain = Stage {
            name: "drain".to_owned(),
            group: 1,
            shared: 0,
            loops: loops(&[64, 64]),
            reads: vec![Access { array: 0, subscripts: identity.clone() }],
            write: Access { array: 1, subscripts: identity },
            latency: 0,
        };
        let arrays = ["sums", "output"].map(|name| Array { name: name.to_owned(), weight: 2 });
        Pipeline { arrays: arrays.to_vec(), stages: (0..8).map(lane).chain([drain]).collect() }
    }

    #[test]
    fn a_read_through_all_banks_has_a_port_for_each() {
        let pipeline = lanes();
        let mut stages = vec![Affine { start: 0, stride: vec![1, 8] }; 8];
        stages.push(Affine { start: 600, stride: vec![1, 64] });
        let schedule = Schedule { stages };
        let ports = ports(&pipeline, &schedule, 0, &[ReadOf { stage: 8, read: 0 }], &[]);
        assert_eq!(ports.writers, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(ports.buffer.ports[3].schedule, Affine { start: 2, stride: vec![1, 8] });
        let [(_, parts)] = ports.reads.as_slice() else { panic!("one read") };
        assert_eq!(parts.len(), 8);
        assert_eq!(parts[5].conditions, [(0, Condition { first: 5, last: 61, step: 8 })]);
        let port = &ports.buffer.ports[parts[5].port];
        assert_eq!(port.extents(), [8, 64]);
        assert_eq!(port.access[0], Affine { start: 5, stride: vec![8, 0] });
        assert_eq!(port.schedule, Affine { start: 605, stride: vec![8, 64] });
        ports.buffer.check().unwrap();
    }

    /// A stage that writes 8 words in each of 6 iterations of a loop around it, and one that reads every other of them.
    #[test]
    fn divisions_are_by_stride_and_by_even_and_odd_versions() {
        let stage = |name: &str, group, own: &[u64], read: &[Subscript], write: Access| Stage {
            name: name.to_owned(),
            group,
            shared: 1,
            loops: loops(&[own, &[6]].concat()),
            reads: if read.is_empty() { Vec::new() } else { vec![Access { array: 0, subscripts: read.to_vec() }] },
            write,
            latency: 0,
        };
        let load = stage("load", 0, &[8], &[], Access { array: 0, subscripts: vec![Subscript::affine(vec![1, 0], 0)] });
        // Element 2x + r.
        let drain = stage(
            "drain",
            1,
            &[4, 2],
            &[Subscript::affine(vec![2, 1, 0], 0)],
            Access { array: 1, subscripts: vec![Subscript::affine(vec![1, 4, 8], 0)] },
        );
        let arrays = ["kept", "output"].map(|name| Array { name: name.to_owned(), weight: 1 });
        let pipeline = Pipeline { arrays: arrays.to_vec(), stages: vec![load, drain] };
        let schedule = Schedule {
            stages: vec![Affine { start: 0, stride: vec![1, 8] }, Affine { start: 9, stride: vec![1, 4, 8] }],
        };
        let read = [ReadOf { stage: 1, read: 0 }];
        assert_eq!(divisions(&pipeline, &schedule, 0, &read), [vec![2], vec![1, 2], vec![2, 2]]);
        let of = |divisors: &[i64]| ports(&pipeline, &schedule, 0, &read, divisors);
        assert_eq!(of(&[]).reads[0].1.len(), 1);
        // Even and odd elements: r selects between them.
        let by_stride = of(&[2]);
        let conditions = by_stride.reads[0].1.iter().map(|part| part.conditions.clone()).collect_vec();
        let is = |level, index| vec![(level, Condition { first: index, last: index, step: 2 })];
        assert_eq!(conditions, [is(1, 0), is(1, 1)]);
        // Even and odd versions: the reads of each have a port, and wait for two iterations of the loop.
        let by_version = of(&[1, 2]);
        let [_, (.., even), (.., odd)] = by_version.buffer.ports.iter().enumerate().collect_vec()[..] else {
            panic!("a write and two reads");
        };
        assert_eq!((even.extents(), odd.extents()), ([4, 2, 3].into(), [4, 2, 3].into()));
        assert_eq!((even.schedule.start, odd.schedule.start), (9, 17));
        assert_eq!(odd.schedule.stride, [1, 4, 16]);
        assert_eq!(odd.access[1], Affine { start: 1, stride: vec![0, 0, 2] });
        assert_eq!(of(&[2, 2]).reads[0].1.len(), 4);
    }
}
