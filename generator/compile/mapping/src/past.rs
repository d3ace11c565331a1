//! Which write each read takes its word from, where several ports write the same elements, by enumeration.

use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain, deltas};

use crate::nest::Nest;
use crate::rounds::cut;

/// Most firings of writes and reads that are enumerated; those of longer runs are judged by their beginning.
const ENUMERATION_LIMIT: usize = 1 << 20;

/// Most elements whose last writes are kept in an array.
const ARRAY_LIMIT: i64 = 1 << 20;

/// A word, by when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Written {
    /// Number of the write.
    pub write: usize,
    /// Cycle in which it was on the wire.
    pub cycle: i64,
    /// How many words were written before it in the run.
    pub number: usize,
}

/// The least time from one write of an element to the next by another port: `gaps[before][after]`, if there is one.
pub(crate) type Gaps = Vec<Vec<Option<i64>>>;

/// A read that was followed.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    /// The read, cut to the rounds that were followed.
    pub nest: Nest,
    /// The word of each iteration, in their order, as far as they were enumerated. Cycles are those of the cut run.
    pub words: Vec<Written>,
    /// The writes whose words it takes, in their order.
    pub sources: Vec<usize>,
}

impl Followed {
    /// Whether it was followed to its end.
    pub fn is_whole(&self) -> bool {
        self.words.len() as u128 == self.nest.firings()
    }
}

/// Which words reads take.
#[derive(Debug)]
pub(crate) struct Past {
    pub reads: Vec<Rc<Followed>>,
    pub gaps: Gaps,
}

/// A read of an element before its first write.
#[derive(Debug)]
pub(crate) struct NeverWritten {
    /// Number of the read.
    pub read: usize,
    pub cycle: i64,
    pub element: Vec<i64>,
}

impl Past {
    /// Follows writes and reads, whose functions are elements: a read takes the word last written before.
    pub fn of(writes: &[&Nest], reads: &[&Nest]) -> Result<Past, NeverWritten> {
        let numbers = Numbers::of(&[reads, writes].concat());
        let whole = reads.iter().chain(writes).map(|nest| numbers.of_nest(nest)).collect_vec();
        // An error names the cycle of the whole run.
        let past = Past::of_run(&cut(&whole.iter().collect_vec()), reads.len(), &numbers);
        past.or_else(|_| Past::of_run(&whole, reads.len(), &numbers))
    }

    /// Follows all iterations of nests, of which so many reads come first, with the number of the element as function.
    fn of_run(nests: &[Nest], reads: usize, numbers: &Numbers) -> Result<Past, NeverWritten> {
        let mut last = Last::of(nests);
        let (reads, writes) = nests.split_at(reads);
        let mut words = vec![Vec::new(); reads.len()];
        let mut gaps: Gaps = vec![vec![None; writes.len()]; writes.len()];
        let mut number = 0;
        for Firing { cycle, nest, value } in firings(nests) {
            if nest < reads.len() {
                let never = || NeverWritten { read: nest, cycle, element: numbers.element(value) };
                let written = last.get(value).ok_or_else(never)?;
                words[nest].push(written);
                continue;
            }
            let write = nest - reads.len();
            let before = last.replace(value, Written { write, cycle, number });
            number += 1;
            if let Some(before) = before
                && before.write != write
            {
                let gap = &mut gaps[before.write][write];
                *gap = Some(gap.map_or(cycle - before.cycle, |gap| gap.min(cycle - before.cycle)));
            }
        }
        let followed = |(nest, words): (&Nest, Vec<Written>)| {
            let mut takes = vec![false; writes.len()];
            words.iter().for_each(|written| takes[written.write] = true);
            Rc::new(Followed { nest: nest.clone(), words, sources: takes.iter().positions(|takes| *takes).collect() })
        };
        Ok(Past { reads: reads.iter().zip(words).map(followed).collect(), gaps })
    }

    /// Follows nests, of which so many reads come first, in the whole run or in as few rounds as matter.
    #[cfg(test)]
    pub fn of_nests(nests: &[Nest], reads: usize, short: bool) -> Result<Past, ()> {
        let numbers = Numbers::of(&nests.iter().collect_vec());
        let whole = nests.iter().map(|nest| numbers.of_nest(nest)).collect_vec();
        let nests = if short { cut(&whole.iter().collect_vec()) } else { whole };
        Past::of_run(&nests, reads, &numbers).map_err(drop)
    }
}

/// The last write of each element, by its number.
enum Last {
    Array { low: i64, elements: Vec<Option<Written>> },
    Map(HashMap<i64, Written>),
}

impl Last {
    fn of(nests: &[Nest]) -> Last {
        match ranges(&nests.iter().collect_vec())[..] {
            [(low, high)] if high - low < ARRAY_LIMIT => {
                Last::Array { low, elements: vec![None; (high - low + 1) as usize] }
            }
            _ => Last::Map(HashMap::default()),
        }
    }

    fn get(&self, element: i64) -> Option<Written> {
        match self {
            Last::Array { low, elements } => elements[(element - low) as usize],
            Last::Map(map) => map.get(&element).copied(),
        }
    }

    fn replace(&mut self, element: i64, written: Written) -> Option<Written> {
        match self {
            Last::Array { low, elements } => elements[(element - *low) as usize].replace(written),
            Last::Map(map) => map.insert(element, written),
        }
    }
}

/// Elements as numbers.
struct Numbers {
    low: Vec<i64>,
    size: Domain,
}

impl Numbers {
    fn of(nests: &[&Nest]) -> Numbers {
        let ranges = ranges(nests);
        Numbers {
            low: ranges.iter().map(|range| range.0).collect(),
            size: ranges.iter().map(|(low, high)| (high - low + 1) as u64).collect(),
        }
    }

    /// With the number of the element as the only function.
    fn of_nest(&self, nest: &Nest) -> Nest {
        let mut nest = nest.clone();
        for (function, low) in nest.functions.iter_mut().zip(&self.low) {
            function.start -= low;
        }
        nest.weighted(&self.size.numbering())
    }

    fn element(&self, number: i64) -> Vec<i64> {
        let point = self.size.point(number as u64);
        self.low.iter().zip(point).map(|(low, index)| low + index as i64).collect()
    }
}

/// The smallest and the largest coordinate in each dimension.
pub(crate) fn ranges(nests: &[&Nest]) -> Vec<(i64, i64)> {
    let dimensions = nests.first().map_or(0, |nest| nest.functions.len());
    let range = |dimension: usize| {
        let ranges = nests.iter().map(|nest| nest.range(&nest.functions[dimension]));
        ranges.reduce(|(low, high), range| (low.min(range.0), high.max(range.1))).expect("a nest has the dimension")
    };
    (0..dimensions).map(range).collect()
}

/// A firing of one of several nests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Firing {
    pub cycle: i64,
    /// Number of the nest.
    pub nest: usize,
    /// Its first function.
    pub value: i64,
}

/// The firings of one nest, one after the other.
struct Walk<'a> {
    extent: &'a Domain,
    /// How the cycle and the value change when each level increments.
    gaps: Vec<i64>,
    steps: Vec<i64>,
    index: Vec<u64>,
    next: Firing,
}

impl<'a> Walk<'a> {
    fn of((number, nest): (usize, &'a Nest)) -> Walk<'a> {
        let changes =
            |function: &Affine| deltas(&function.stride, &nest.extent).into_iter().map(|of| of as i64).collect();
        Walk {
            extent: &nest.extent,
            gaps: changes(&nest.cycle),
            steps: changes(&nest.functions[0]),
            index: vec![0; nest.depth()],
            next: Firing { cycle: nest.cycle.start, nest: number, value: nest.functions[0].start },
        }
    }

    /// Goes to the next firing, if there is one.
    fn advance(&mut self) -> Option<()> {
        let level = self.extent.advance(&mut self.index)?;
        self.next.cycle += self.gaps[level];
        self.next.value += self.steps[level];
        Some(())
    }
}

/// The first firings of nests in the order of time, within a cycle in the order of the nests.
pub(crate) fn firings(nests: &[Nest]) -> impl Iterator<Item = Firing> {
    let mut walks = nests.iter().enumerate().map(Walk::of).collect_vec();
    // The heap has two numbers a nest: it is sorted anew at each firing.
    let mut order: BinaryHeap<Reverse<(i64, usize)>> =
        walks.iter().map(|walk| Reverse((walk.next.cycle, walk.next.nest))).collect();
    let in_time = std::iter::from_fn(move || {
        let mut first = order.peek_mut()?;
        let walk = &mut walks[first.0.1];
        let firing = walk.next;
        match walk.advance() {
            Some(()) => first.0.0 = walk.next.cycle,
            None => drop(PeekMut::pop(first)),
        }
        Some(firing)
    });
    in_time.take(ENUMERATION_LIMIT)
}

/// The most words that are live at once: written, and still to be read. The word that a read frees in a cycle makes place
/// for the one written in that cycle.
pub(crate) fn live<'a>(reads: impl Iterator<Item = &'a Followed>) -> u64 {
    // By the number of each word: when it was written, and read for the last time.
    let mut spans: Vec<Option<(i64, i64)>> = Vec::new();
    for Followed { nest, words, .. } in reads {
        for (cycle, written) in nest.cycles().zip(words) {
            if written.number >= spans.len() {
                spans.resize(written.number + 1, None);
            }
            let span = spans[written.number].get_or_insert((written.cycle, cycle));
            span.1 = span.1.max(cycle);
        }
    }
    most_at_once(spans.into_iter().flatten())
}

/// The most words at once of those that are written in one cycle, and read for the last time in another. They come in the order
/// of their writes.
pub(crate) fn most_at_once(spans: impl Iterator<Item = (i64, i64)>) -> u64 {
    let (begins, mut ends): (Vec<i64>, Vec<i64>) = spans.unzip();
    ends.sort_unstable();
    // Ends come before beginnings within a cycle.
    let mut over = 0;
    let live = |(begun, begin): (usize, &i64)| {
        over += ends[over..].iter().take_while(|end| *end <= begin).count();
        (begun + 1).saturating_sub(over)
    };
    begins.iter().enumerate().map(live).max().unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A nest that goes through words from a cycle on, in rounds, with the word as its only function.
    fn words(first: i64, count: u64, start: i64, rounds: u64, round: i64) -> Nest {
        Nest {
            extent: vec![count, rounds].into(),
            cycle: Affine { start, stride: vec![1, round] },
            functions: vec![Affine { start: first, stride: vec![1, 0] }],
        }
    }

    #[test]
    fn reads_take_the_last_word_before() {
        let (set, update) = (words(10, 4, 0, 1, 4), words(10, 4, 12, 3, 8));
        let (sum, end) = (words(10, 4, 10, 3, 8), words(11, 2, 40, 1, 4));
        let past = Past::of(&[&set, &update], &[&sum, &end]).expect("all is written");
        assert_eq!((&past.reads[0].sources, &past.reads[1].sources), (&vec![0, 1], &vec![1]));
        let cycles = |read: usize| past.reads[read].words.iter().map(|word| word.cycle).collect_vec();
        assert_eq!(cycles(0), [0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23]);
        assert_eq!(cycles(1), [29, 30]);
        assert_eq!(past.gaps, [[None, Some(12)], [None, None]]);
        // A word on the wire in the cycle of the read comes too late.
        let early = words(10, 4, 0, 1, 4);
        let never = Past::of(&[&set, &update], &[&early]).expect_err("nothing is written before cycle 1");
        assert_eq!((never.read, never.cycle, never.element), (0, 0, vec![10]));
    }

    #[test]
    fn live_words_are_those_still_to_be_read() {
        let (set, read) = (words(0, 8, 0, 1, 8), words(0, 8, 3, 1, 8));
        let past = Past::of(&[&set], &[&read]).expect("all is written");
        assert_eq!(live(past.reads.iter().map(Rc::as_ref)), 3);
    }
}
