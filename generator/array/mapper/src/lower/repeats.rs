//! Selections that repeat the words of a stream, as an enlarged image does: a memory reads each word as often as it is wanted, in place
//! of one that delays the stream and elements that choose between delays.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_buffers::{Direction, Loop, Port, Source as MappedSource, UnifiedBuffer};
use pushmem_configuration::Configuration;
use pushmem_graph::{Accelerator, Case, Counter, DelayMemory, Driver, Source, WireId};
use pushmem_tile::TileSpec;

/// The most cycles that words come later than through the selection: memories collect rows and spread them.
const MOST_LATE: i64 = 64;

/// A memory in place of a selection.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// The selection.
    pub selection: WireId,
    /// The wire that it repeats, and the input that takes it.
    pub of: WireId,
    pub input: u32,
    /// The output, and how many cycles later than the selection it has each word.
    pub output: u32,
    pub late: i64,
    /// Its controllers.
    pub configuration: Configuration,
}

/// The memories that can take the place of selections of an accelerator.
pub(super) fn repeats(accelerator: &Accelerator, tile: &TileSpec) -> Vec<Repeat> {
    let wires = accelerator.wires.iter_enumerated();
    let repeat = |(wire, driver): (WireId, &pushmem_graph::Wire)| match &driver.driver {
        Driver::Select { counter, cases } if cases.len() > 1 => {
            let counter = &accelerator.counters[*counter];
            accelerator.memories.iter().find_map(|memory| repeat(accelerator, tile, wire, counter, cases, memory))
        }
        _ => None,
    };
    wires.filter_map(repeat).collect()
}

/// The memory in place of a selection, if all its sources are delays of the wire that a memory delays.
fn repeat(
    accelerator: &Accelerator,
    tile: &TileSpec,
    selection: WireId,
    counter: &Counter,
    cases: &[Case],
    memory: &DelayMemory,
) -> Option<Repeat> {
    let [delayed] = memory.streams.as_slice() else { return None };
    let write = &memory.buffer.ports[0];
    let (root, before) = undelayed(accelerator, delayed.of);
    let delay = |case: &Case| match case.source {
        Source::Wire(wire) => Some(undelayed(accelerator, wire)).filter(|(of, _)| *of == root).map(|(_, delay)| delay),
        Source::Constant(_) => None,
    };
    let delays: Vec<i64> = cases.iter().map(delay).collect::<Option<_>>()?;
    let written = write.extents();
    let numbers: HashMap<i64, i64> = written.values(&write.schedule).zip(written.values(&write.access[0])).collect();
    let number = |index: &[i64]| {
        let case = cases.iter().position(|case| case.conditions.iter().all(|(level, one)| one.holds(index[*level])))?;
        numbers.get(&(counter.cycle.value(index) - delays[case] + before)).copied()
    };
    let read = split(counter, cases).and_then(|levels| read_port(counter, &levels, number))?;
    // A memory that only delays has the words sooner.
    (0..=MOST_LATE).find_map(|late| {
        let schedule = Affine { start: read.schedule.start + late, ..read.schedule.clone() };
        let ports = vec![write.clone(), Port { schedule, ..read.clone() }];
        let buffer = UnifiedBuffer { name: accelerator.wires[selection].name.clone(), ports };
        let mapped = pushmem_mapping::map(&buffer, tile).ok()?;
        let [only] = mapped.tiles.as_slice() else { return None };
        let input = only.inputs.iter().position(|source| *source == Some(MappedSource::Port(0)))? as u32;
        let output = only.outputs.iter().position(|port| *port == Some(1))? as u32;
        let configuration = only.configuration.clone();
        Some(Repeat { selection, of: delayed.of, input, output, late, configuration })
    })
}

/// The wire that a wire delays, and by how many cycles.
pub(super) fn undelayed(accelerator: &Accelerator, wire: WireId) -> (WireId, i64) {
    let (of, by) = match &accelerator.wires[wire].driver {
        Driver::ShiftRegister { of, length } => (*of, *length as i64),
        Driver::Tile { .. } => {
            let delays = |delayed: &pushmem_graph::Delayed| {
                let place = delayed.wires.iter().position(|other| *other == wire)?;
                Some((delayed.of, delayed.delays[place] as i64))
            };
            match accelerator.memories.iter().flat_map(|memory| &memory.streams).find_map(delays) {
                Some(delayed) => delayed,
                None => return (wire, 0),
            }
        }
        _ => return (wire, 0),
    };
    let (root, before) = undelayed(accelerator, of);
    (root, before + by)
}

/// For each level of a counter its loops, innermost first, with their steps: conditions on every so many-th index make it two.
fn split(counter: &Counter, cases: &[Case]) -> Option<Vec<Vec<(u64, i64)>>> {
    let level = |(level, extent): (usize, &u64)| {
        let conditions = cases.iter().flat_map(|case| &case.conditions).filter(|(of, _)| *of == level);
        let period = conditions.map(|(_, one)| one.step).max().unwrap_or(1);
        match period {
            1 => Some(vec![(*extent, 1)]),
            _ if extent % period as u64 == 0 => Some(vec![(period as u64, 1), (extent / period as u64, period)]),
            _ => None,
        }
    };
    counter.extent.iter().enumerate().map(level).collect()
}

/// A port that reads the word of each iteration, if its number is an affine function of the loops.
fn read_port(counter: &Counter, levels: &[Vec<(u64, i64)>], number: impl Fn(&[i64]) -> Option<i64>) -> Option<Port> {
    let loops = levels.iter().enumerate().flat_map(|(level, parts)| parts.iter().map(move |part| (level, *part)));
    let loops = loops.collect_vec();
    let extents: Domain = loops.iter().map(|(_, (extent, _))| *extent).collect();
    let number_at = |point: &[u64]| {
        let mut index = vec![0; levels.len()];
        point.iter().zip(&loops).for_each(|(part, (level, (_, step)))| index[*level] += *part as i64 * step);
        number(&index)
    };
    let origin = vec![0; loops.len()];
    let first = number_at(&origin)?;
    let stride = |place: usize| {
        let mut next = origin.clone();
        next[place] = 1;
        match loops[place].1.0 {
            1 => Some(0),
            _ => Some(number_at(&next)? - first),
        }
    };
    let stride = (0..loops.len()).map(stride).collect::<Option<Vec<i64>>>()?;
    let access = Affine { start: first, stride };
    let mut is_affine = true;
    extents.for_each(|point| is_affine = is_affine && number_at(point) == Some(access.value(point)));
    if !is_affine {
        return None;
    }
    let cycles = loops.iter().map(|(level, (_, step))| counter.cycle.stride[*level] * step).collect();
    let named = |(place, extent): (usize, &u64)| Loop { name: format!("i{place}"), extent: *extent };
    Some(Port {
        name: "read".to_owned(),
        direction: Direction::Read,
        domain: extents.iter().enumerate().map(named).collect(),
        access: vec![access],
        schedule: Affine { start: counter.cycle.start, stride: cycles },
    })
}
