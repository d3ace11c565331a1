//! How many words a memory keeps over time.

use std::collections::BTreeMap;

use pushmem_affine::{Affine, Domain};
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_graph::Delayed;
use serde::Serialize;

use crate::sequence::Sequence;

/// Samples of a run, at most: a picture has no more points.
const SAMPLES: u64 = 300;

/// Cycles of a sample that are looked at, at most.
const CYCLES_OF_SAMPLE: u64 = 16;

/// Most writes, most reads and most elements of a memory that are enumerated. This many take some tens of milliseconds.
const ENUMERATION_LIMIT: u128 = 1 << 21;

/// Words that are live, each from the cycle in which it is written until it is read for the last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Live {
    /// Cycles of a sample; the first begins in cycle 0.
    pub step: u64,
    /// The most words of each sample, in those of its cycles that were looked at: in all of them if they are few.
    pub words: Vec<u64>,
}

impl Live {
    fn sampled(length: u64, words: impl Fn(i64) -> u64) -> Self {
        let step = length.div_ceil(SAMPLES).max(1);
        let most = |first: u64| {
            let cycles = (first..length.min(first + step)).step_by(step.div_ceil(CYCLES_OF_SAMPLE) as usize);
            cycles.map(|cycle| words(cycle as i64)).max().unwrap_or(0)
        };
        Live { step, words: (0..length).step_by(step as usize).map(most).collect() }
    }
}

/// The words of a memory that delays streams, in a run of so many cycles: those written, but for those of the longest delay
/// ago.
pub(crate) fn delayed(buffer: &UnifiedBuffer, streams: &[Delayed], length: u64) -> Live {
    let writes: Vec<Sequence> = buffer.writes().map(|(_, port)| Sequence::of_port(port)).collect();
    Live::sampled(length, |cycle| {
        let of_stream = |(write, stream): (&Sequence, &Delayed)| {
            let longest = stream.delays.iter().max().copied().unwrap_or(0) as i64;
            write.until(cycle) - write.until(cycle - longest)
        };
        writes.iter().zip(streams).map(of_stream).sum()
    })
}

/// The words of a memory that keeps an array, in a run of so many cycles: a read takes the word that was last written
/// before. Nothing if there are too many accesses.
pub(crate) fn stored(buffer: &UnifiedBuffer, length: u64) -> Option<Live> {
    let lifetimes = lanes(buffer).into_iter().map(|(lane, count)| Some((lifetimes(&lane)?, count)));
    let lifetimes: Vec<(Lifetimes, u64)> = lifetimes.collect::<Option<_>>()?;
    Some(Live::sampled(length, |cycle| lifetimes.iter().map(|(lifetimes, count)| count * lifetimes.at(cycle)).sum()))
}

/// The ports of a buffer in sets that have no element in common, and how many do the same with other elements: the lanes of
/// unrolled loops. Elements are in other lanes if they differ in a dimension in which all ports stay where they are.
fn lanes(buffer: &UnifiedBuffer) -> Vec<(Vec<Port>, u64)> {
    let stays = |function: &Affine| function.stride.iter().all(|&stride| stride == 0);
    let dimensions = buffer.ports.first().map_or(0, |port| port.access.len());
    let fixed: Vec<usize> =
        (0..dimensions).filter(|&dimension| buffer.ports.iter().all(|port| stays(&port.access[dimension]))).collect();
    let mut lanes: BTreeMap<Vec<i64>, Vec<Port>> = BTreeMap::new();
    for port in &buffer.ports {
        let lane = fixed.iter().map(|&dimension| port.access[dimension].start).collect();
        let moving = (0..dimensions).filter(|dimension| !fixed.contains(dimension));
        let access = moving.map(|dimension| port.access[dimension].clone()).collect();
        lanes.entry(lane).or_default().push(Port { name: String::new(), access, ..port.clone() });
    }
    let mut told: Vec<(Vec<Port>, u64)> = Vec::new();
    for lane in lanes.into_values() {
        match told.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, count)) => *count += 1,
            None => told.push((lane, 1)),
        }
    }
    told
}

/// The cycles in which words are written that are still to be read, and those of their last reads, both ascending.
struct Lifetimes {
    written: Vec<i64>,
    ended: Vec<i64>,
}

impl Lifetimes {
    /// The words that are live in a cycle.
    fn at(&self, cycle: i64) -> u64 {
        let until = |cycles: &[i64]| cycles.partition_point(|other| *other <= cycle) as u64;
        until(&self.written) - until(&self.ended)
    }
}

fn lifetimes(ports: &[Port]) -> Option<Lifetimes> {
    let numbers = Numbers::of(ports);
    let directed = |direction: Direction| ports.iter().filter(move |port| port.direction == direction);
    let writes: Vec<Accesses> = directed(Direction::Write).map(|port| Accesses::of(port, &numbers, false)).collect();
    let fits = |accesses: &[Accesses]| accesses.iter().map(|access| access.count()).sum::<u128>() <= ENUMERATION_LIMIT;
    if numbers.count() > ENUMERATION_LIMIT || !fits(&writes) {
        return None;
    }
    let words = Words::of(&writes, numbers.count() as usize);
    // Reads of an element again and again are one that lasts, if there is no write of the element between.
    [true, false].into_iter().find_map(|together| {
        let reads: Vec<Accesses> =
            directed(Direction::Read).map(|port| Accesses::of(port, &numbers, together)).collect();
        if fits(&reads) { words.read_by(&reads) } else { None }
    })
}

/// All words that are written: those of an element follow one another, in the order of time.
struct Words {
    /// The element and the cycle of each.
    words: Vec<(u64, i64)>,
    /// The first of each element, and the end.
    first: Vec<usize>,
}

impl Words {
    fn of(writes: &[Accesses], elements: usize) -> Self {
        let mut words: Vec<(u64, i64)> = Vec::new();
        writes.iter().for_each(|write| write.for_each(|element, cycle| words.push((element, cycle))));
        words.sort_unstable();
        let mut first = vec![0; elements + 1];
        for (element, _) in &words {
            first[*element as usize + 1] += 1;
        }
        for element in 1..first.len() {
            first[element] += first[element - 1];
        }
        Words { words, first }
    }

    /// How long these reads need them; nothing if a read lasts and its element is written meanwhile.
    fn read_by(&self, reads: &[Accesses]) -> Option<Lifetimes> {
        let mut last = vec![i64::MIN; self.words.len()];
        let mut apart = false;
        for read in reads {
            read.for_each(|element, cycle| {
                let (first, end) = (self.first[element as usize], self.first[element as usize + 1]);
                let before = |cycle: i64| self.words[first..end].partition_point(|(_, written)| *written < cycle);
                let (word, end) = (before(cycle), cycle + read.lasts);
                apart |= read.lasts > 0 && before(end) != word;
                if let Some(word) = word.checked_sub(1) {
                    last[first + word] = last[first + word].max(end);
                }
            });
        }
        if apart {
            return None;
        }
        let read = self.words.iter().zip(last).filter(|(_, last)| *last > i64::MIN);
        let (mut written, mut ended): (Vec<i64>, Vec<i64>) = read.map(|((_, cycle), last)| (*cycle, last)).unzip();
        written.sort_unstable();
        ended.sort_unstable();
        Some(Lifetimes { written, ended })
    }
}

/// Elements of ports as numbers.
struct Numbers {
    low: Vec<i64>,
    size: Vec<i64>,
}

impl Numbers {
    fn of(ports: &[Port]) -> Self {
        let dimensions = ports.first().map_or(0, |port| port.access.len());
        let range = |dimension: usize| {
            let ranges = ports.iter().map(|port| port.range(&port.access[dimension]));
            ranges.fold((i64::MAX, i64::MIN), |(low, high), range| {
                (low.min(*range.start() as i64), high.max(*range.end() as i64))
            })
        };
        let ranges: Vec<(i64, i64)> = (0..dimensions).map(range).collect();
        Numbers {
            low: ranges.iter().map(|(low, _)| *low).collect(),
            size: ranges.iter().map(|(low, high)| high - low + 1).collect(),
        }
    }

    fn count(&self) -> u128 {
        self.size.iter().fold(1, |count, size| count.saturating_mul(*size as u128))
    }
}

/// The iterations of a port with the number of the element and the cycle, as recurrences.
struct Accesses {
    domain: Domain,
    /// The first element and cycle.
    begin: (i64, i64),
    /// The change of both by a step of each loop.
    steps: Vec<(i64, i64)>,
    /// Cycles from the first access to an element to the last, where one stands for several.
    lasts: i64,
}

impl Accesses {
    /// The accesses of a port. Those of loops that stay at an element are one that lasts, if they are to be taken together.
    fn of(port: &Port, numbers: &Numbers, together: bool) -> Self {
        let (mut element, mut weight) = (0, 1);
        let mut stride = vec![0; port.domain.len()];
        for ((function, low), size) in port.access.iter().zip(&numbers.low).zip(&numbers.size) {
            element += weight * (function.start - low);
            for (sum, step) in stride.iter_mut().zip(&function.stride) {
                *sum += weight * step;
            }
            weight *= size;
        }
        let loops = port.domain.iter().zip(stride).zip(&port.schedule.stride);
        let (mut domain, mut elements, mut cycles) = (Domain::default(), Vec::new(), Vec::new());
        let (mut begin, mut lasts) = (port.schedule.start, 0);
        for ((level, element), &cycle) in loops {
            if together && element == 0 {
                let travel = cycle * (level.extent as i64 - 1);
                begin += travel.min(0);
                lasts += travel.abs();
            } else {
                domain.push(level.extent);
                elements.push(element);
                cycles.push(cycle);
            }
        }
        let steps = domain.deltas(&elements).into_iter().zip(domain.deltas(&cycles));
        let steps = steps.map(|(element, cycle)| (element as i64, cycle as i64)).collect();
        Accesses { domain, begin: (element, begin), steps, lasts }
    }

    fn count(&self) -> u128 {
        self.domain.iterations()
    }

    fn for_each(&self, mut visit: impl FnMut(u64, i64)) {
        let (mut element, mut cycle) = self.begin;
        let mut index = vec![0; self.domain.depth()];
        loop {
            visit(element as u64, cycle);
            let Some(level) = self.domain.advance(&mut index) else { return };
            element += self.steps[level].0;
            cycle += self.steps[level].1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pushmem_buffers::Loop;

    /// A port: loops as (extent, step of the element, step of the cycle), in a lane.
    fn port(direction: Direction, lane: i64, start: i64, loops: &[(u64, i64, i64)]) -> Port {
        Port {
            name: format!("{lane} {start}"),
            direction,
            domain: loops.iter().map(|(extent, ..)| Loop { name: "i".to_owned(), extent: *extent }).collect(),
            access: vec![
                Affine { start: lane, stride: vec![0; loops.len()] },
                Affine { start: 0, stride: loops.iter().map(|(_, step, _)| *step).collect() },
            ],
            schedule: Affine { start, stride: loops.iter().map(|(.., step)| *step).collect() },
        }
    }

    /// The words that are live in each cycle, by asking each word in each cycle.
    fn expected(buffer: &UnifiedBuffer, length: u64) -> Vec<u64> {
        let accesses = |direction: Direction| {
            let of_port = |(_, port): (usize, &Port)| {
                let port = port.clone();
                (0..port.iterations() as u64).map(move |number| {
                    let index = port.iteration(number);
                    (port.element(&index), port.cycle(&index) as i64)
                })
            };
            buffer.directed(direction).flat_map(of_port).collect::<Vec<_>>()
        };
        let (writes, reads) = (accesses(Direction::Write), accesses(Direction::Read));
        let next = |element: &Vec<i128>, cycle: i64| {
            let later = writes.iter().filter(|(other, at)| other == element && *at > cycle).map(|(_, at)| *at);
            later.min().unwrap_or(i64::MAX)
        };
        let live = |now: i64| {
            let is_live = |(element, cycle): &&(Vec<i128>, i64)| {
                let last = next(element, *cycle);
                *cycle <= now
                    && reads.iter().any(|(other, at)| other == element && *at > now && *at > *cycle && *at <= last)
            };
            writes.iter().filter(is_live).count() as u64
        };
        (0..length as i64).map(live).collect()
    }

    #[test]
    fn words_are_live_until_their_last_read() {
        use Direction::{Read, Write};
        let accumulated = |lane: i64| {
            let set = port(Write, lane, 0, &[(4, 1, 1)]);
            let reads = port(Read, lane, 10, &[(4, 1, 1), (3, 0, 8)]);
            let updates = port(Write, lane, 13, &[(4, 1, 1), (3, 0, 8)]);
            [set, reads, updates, port(Read, lane, 40, &[(4, 1, 2)])]
        };
        // A word that is read 5 times in a row, twice; and one that is read at once when the next is written.
        let held = [port(Write, 0, 0, &[(4, 1, 3)]), port(Read, 0, 7, &[(5, 0, 1), (4, 1, 6), (2, 0, 24)])];
        let delay = [port(Write, 0, 0, &[(8, 1, 2)]), port(Read, 0, 6, &[(8, 1, 2)])];
        let lanes = [accumulated(0), accumulated(1), accumulated(5)].concat();
        for ports in [lanes, held.to_vec(), delay.to_vec()] {
            let buffer = UnifiedBuffer { name: "b".to_owned(), ports };
            let found = stored(&buffer, 60).expect("few accesses");
            assert_eq!((found.step, found.words), (1, expected(&buffer, 60)));
        }
    }

    #[test]
    fn lanes_that_do_the_same_are_one() {
        let ports = (0..4).map(|lane| port(Direction::Write, lane, 0, &[(4, 1, 1)])).collect();
        let lanes = lanes(&UnifiedBuffer { name: "b".to_owned(), ports });
        assert_eq!(lanes.iter().map(|(ports, count)| (ports.len(), *count)).collect::<Vec<_>>(), [(1, 4)]);
    }
}
