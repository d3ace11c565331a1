//! Selections that repeat the words of a stream, as an enlarged image does: a memory reads each word as often as it is wanted, in place
//! of one that delays the stream and elements that choose between delays.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_buffers::{Direction, Loop, Port, Source as MappedSource, UnifiedBuffer};
use pushmem_compiler::Compiled;
use pushmem_configuration::Configuration;
use pushmem_graph::{
    ApplicationGraph, BitDriver, Choice, Condition, Counter, DelayTiles, Edge, WordDriver, WordId, WordNet,
};
use pushmem_tile::TileSpec;

/// The most cycles that words come later than through the selection: memories collect rows and spread them.
const MOST_LATE: i64 = 64;

/// A memory in place of a selection.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// The selection.
    pub selection: WordId,
    /// The edge whose words it repeats, and the input that takes them.
    pub of: Edge,
    pub input: u32,
    /// The output, and how many cycles later than the selection it has each word.
    pub output: u32,
    pub late: i64,
    /// Its controllers.
    pub configuration: Configuration,
}

/// A case of a selection by the indices of one counter: the conditions, all of which hold, and the edge.
struct Case<'a> {
    conditions: &'a [(usize, Condition)],
    edge: Edge,
}

/// The memories that can take the place of selections of a program.
pub(super) fn repeats(compiled: &Compiled, tile: &TileSpec) -> Vec<Repeat> {
    let repeat = |(selection, content): (WordId, &WordNet)| {
        let WordDriver::Select(choices) = &content.driver else { return None };
        let (counter, cases) = cases(&compiled.graph, choices)?;
        let selected = Selected { net: selection, name: &content.name, counter, cases };
        compiled.storage.delays.iter().find_map(|memory| selected.repeat(tile, memory))
    };
    compiled.graph.words.iter_enumerated().filter_map(repeat).collect()
}

/// The counter of a selection by indices, and its cases, of which there are several.
fn cases<'a>(graph: &'a ApplicationGraph, choices: &[Choice]) -> Option<(&'a Counter, Vec<Case<'a>>)> {
    let mut by = None;
    let mut cases = Vec::new();
    for choice in choices {
        let conditions = match choice.when.map(|bit| &graph.bits[bit].driver) {
            None => &[] as &[_],
            Some(BitDriver::Indices { counter, conditions }) if *by.get_or_insert(*counter) == *counter => conditions,
            Some(_) => return None,
        };
        cases.push(Case { conditions, edge: choice.edge });
    }
    Some((&graph.counters[by?], cases))
}

/// A selection by the indices of one counter.
struct Selected<'a> {
    net: WordId,
    name: &'a str,
    counter: &'a Counter,
    cases: Vec<Case<'a>>,
}

impl Selected<'_> {
    /// The memory in its place, if all its sources are delays of the net that a memory delays.
    fn repeat(&self, tile: &TileSpec, memory: &DelayTiles) -> Option<Repeat> {
        let Selected { counter, cases, .. } = self;
        let [delayed] = memory.streams.as_slice() else { return None };
        let write = &memory.buffer.ports[0];
        let delay = |case: &Case| match case.edge {
            Edge::Net { net, delay } => (net == delayed.net).then_some(delay as i64),
            Edge::Constant(_) => None,
        };
        let delays: Vec<i64> = cases.iter().map(delay).collect::<Option<_>>()?;
        let written = write.extents();
        let numbers: HashMap<i64, i64> =
            written.values(&write.schedule).zip(written.values(&write.access[0])).collect();
        let number = |index: &[i64]| {
            let case =
                cases.iter().position(|case| case.conditions.iter().all(|(level, one)| one.holds(index[*level])))?;
            numbers.get(&(counter.cycle.value(index) - delays[case] + delayed.from as i64)).copied()
        };
        let read = split(counter, cases).and_then(|levels| read_port(counter, &levels, number))?;
        // A memory that only delays has the words sooner.
        (0..=MOST_LATE).find_map(|late| {
            let schedule = Affine { start: read.schedule.start + late, ..read.schedule.clone() };
            let ports = vec![write.clone(), Port { schedule, ..read.clone() }];
            let buffer = UnifiedBuffer { name: self.name.to_owned(), ports };
            let mapped = pushmem_mapping::map(&buffer, tile).ok()?;
            let [only] = mapped.tiles.as_slice() else { return None };
            let input = only.inputs.iter().position(|source| *source == Some(MappedSource::Port(0)))? as u32;
            let output = only.outputs.iter().position(|port| *port == Some(1))? as u32;
            let configuration = only.configuration.clone();
            let of = Edge::Net { net: delayed.net, delay: delayed.from };
            Some(Repeat { selection: self.net, of, input, output, late, configuration })
        })
    }
}

/// For each level of a counter its loops, innermost first, with their steps: conditions on every so many-th index make it two.
fn split(counter: &Counter, cases: &[Case]) -> Option<Vec<Vec<(u64, i64)>>> {
    let level = |(level, extent): (usize, &u64)| {
        let conditions = cases.iter().flat_map(|case| case.conditions).filter(|(of, _)| *of == level);
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
