//! Words expected on read ports.

use std::collections::HashMap;

use num_integer::gcd;
use pushmem_affine::Affine;
use pushmem_buffers::{Port, UnifiedBuffer};

use crate::memory::{Token, TracedMemory, UNDEFINED};
use crate::walker::{Advance, Mark, Walker};

/// Elements for which a table of last writers is a memory.
const TABLE_LIMIT: i64 = 1 << 22;

/// All elements that ports may touch, numbered.
#[derive(Clone, Debug)]
pub(crate) struct Numbering {
    low: Vec<i128>,
    weight: Vec<i128>,
    count: i64,
}

impl Numbering {
    /// Nothing when there are too many elements to number.
    pub fn of(buffer: &UnifiedBuffer) -> Option<Numbering> {
        let dimensions = buffer.ports.first().map_or(0, |port| port.access.len());
        let mut numbering = Numbering { low: Vec::new(), weight: Vec::new(), count: 1 };
        let mut count: i128 = 1;
        for dimension in 0..dimensions {
            let ranges = buffer.ports.iter().map(|port| port.range(&port.access[dimension]));
            let (low, high) = ranges
                .fold((i128::MAX, i128::MIN), |(low, high), range| (low.min(*range.start()), high.max(*range.end())));
            numbering.low.push(low);
            numbering.weight.push(count);
            count = count.checked_mul(high - low + 1).filter(|&count| count < 1 << 61)?;
        }
        numbering.count = count as i64;
        Some(numbering)
    }

    /// The number of the element that each iteration of a port touches.
    pub fn function(&self, port: &Port) -> Affine {
        let mut start = 0;
        let mut stride = vec![0; port.domain.len()];
        for ((function, low), weight) in port.access.iter().zip(&self.low).zip(&self.weight) {
            start += (i128::from(function.start) - low) * weight;
            for (sum, step) in stride.iter_mut().zip(&function.stride) {
                *sum += i128::from(*step) * weight;
            }
        }
        Affine { start: start as i64, stride: stride.into_iter().map(|stride| stride as i64).collect() }
    }
}

/// A write port whose iterations follow from elements: digits, the heaviest first.
#[derive(Clone, Debug)]
struct Inverse {
    base: i64,
    start: i64,
    digits: Vec<Digit>,
}

#[derive(Clone, Copy, Debug)]
struct Digit {
    weight: i64,
    count: i64,
    cycles: i64,
}

impl Inverse {
    /// Nothing when elements do not determine iterations digit by digit.
    fn of(port: &Port, element: &Affine) -> Option<Inverse> {
        let mut base = element.start;
        let mut start = port.schedule.start;
        let mut digits = Vec::new();
        for ((&weight, &cycles), level) in element.stride.iter().zip(&port.schedule.stride).zip(&port.domain) {
            let count = level.extent as i64;
            // Digits that count down are counted from their other end.
            if weight < 0 {
                base += weight * (count - 1);
                start += cycles * (count - 1);
            }
            digits.push(Digit { weight: weight.abs(), count, cycles: if weight < 0 { -cycles } else { cycles } });
        }
        digits.sort_by_key(|digit| digit.weight);
        let mut reach = 0;
        let mut merged: Vec<Digit> = Vec::new();
        for digit in digits {
            if digit.weight <= reach {
                return None;
            }
            reach += digit.weight * (digit.count - 1);
            match merged.last_mut() {
                Some(inside)
                    if digit.weight == inside.weight * inside.count && digit.cycles == inside.cycles * inside.count =>
                {
                    inside.count *= digit.count;
                }
                _ => merged.push(digit),
            }
        }
        merged.reverse();
        Some(Inverse { base, start, digits: merged })
    }

    /// When an element is written; `largest` keeps the largest index of each digit.
    fn cycle(&self, element: i64, largest: &mut [i64]) -> Option<i64> {
        let mut rest = element - self.base;
        if rest < 0 {
            return None;
        }
        let mut cycle = self.start;
        for (digit, largest) in self.digits.iter().zip(largest) {
            let index = rest / digit.weight;
            if index >= digit.count {
                return None;
            }
            rest -= index * digit.weight;
            cycle += index * digit.cycles;
            *largest = (*largest).max(index);
        }
        (rest == 0).then_some(cycle)
    }
}

/// The last writer of each element so far.
enum Table {
    /// A memory with a word for each element.
    Array(TracedMemory),
    /// For too many elements.
    Map(HashMap<i64, Token>),
}

impl Table {
    fn set(&mut self, element: i64, token: Token) {
        match self {
            Table::Array(memory) => _ = memory.write(element as usize, token),
            Table::Map(map) => _ = map.insert(element, token),
        }
    }

    fn get(&mut self, element: i64) -> Token {
        match self {
            Table::Array(memory) => memory.read(element as usize),
            Table::Map(map) => map.get(&element).copied().unwrap_or(UNDEFINED),
        }
    }
}

/// How elements become tokens.
enum Source {
    /// Each element is written once: its number gives the cycle.
    Inverse {
        writers: Vec<Inverse>,
        /// By reader and writer, since the last mark: the largest index of each digit.
        largest: Vec<Vec<Vec<i64>>>,
        used: Vec<Vec<bool>>,
    },
    /// Writes are enumerated.
    Table { walkers: Vec<Walker>, table: Table },
}

/// The next word expected on each read port.
pub(crate) struct Expectation {
    writers: u64,
    source: Source,
}

impl Expectation {
    /// Write and read ports in the order of time; the elements are numbered.
    pub fn new(numbering: &Numbering, writes: &[Port], readers: usize) -> Expectation {
        let elements: Vec<Affine> = writes.iter().map(|port| numbering.function(port)).collect();
        let inverses: Option<Vec<Inverse>> =
            writes.iter().zip(&elements).map(|(port, element)| Inverse::of(port, element)).collect();
        let apart = (0..writes.len()).all(|one| (0..one).all(|other| never_share(&writes[one], &writes[other])));
        let source = match inverses {
            Some(writers) if apart => Source::Inverse {
                largest: (0..readers)
                    .map(|_| writers.iter().map(|writer| vec![0; writer.digits.len()]).collect())
                    .collect(),
                used: vec![vec![false; writers.len()]; readers],
                writers,
            },
            _ => Source::Table {
                walkers: writes
                    .iter()
                    .zip(&elements)
                    .map(|(port, element)| Walker::new(&port.extents(), &port.schedule, &[(element, None)]))
                    .collect(),
                table: if numbering.count <= TABLE_LIMIT {
                    Table::Array(TracedMemory::new(numbering.count as usize, false))
                } else {
                    Table::Map(HashMap::new())
                },
            },
        };
        Expectation { writers: writes.len().max(1) as u64, source }
    }

    /// Whether it can say how long the expected words repeat.
    pub fn can_repeat(&self) -> bool {
        !matches!(self.source, Source::Table { table: Table::Map(_), .. })
    }

    /// Tokens between two cycles.
    pub fn tokens_per_cycle(&self) -> u64 {
        self.writers
    }

    /// The token of a write port's wire in a cycle.
    pub fn token(&self, writer: usize, cycle: u64) -> Token {
        cycle * self.writers + writer as u64
    }

    /// The cycle and the write port of a token.
    pub fn origin(&self, token: Token) -> (u64, usize) {
        (token / self.writers, (token % self.writers) as usize)
    }

    /// The word that a reader must show in a cycle when it reads an element: the word last written before.
    pub fn expected(&mut self, reader: usize, element: i64, cycle: u64) -> Token {
        self.follow(cycle);
        let writers = self.writers;
        match &mut self.source {
            Source::Inverse { writers: inverses, largest, used } => {
                for (number, inverse) in inverses.iter().enumerate() {
                    if let Some(written) = inverse.cycle(element, &mut largest[reader][number]) {
                        used[reader][number] = true;
                        let before = (written as u64) < cycle;
                        return if before { written as u64 * writers + number as u64 } else { UNDEFINED };
                    }
                }
                UNDEFINED
            }
            Source::Table { table, .. } => table.get(element),
        }
    }

    /// Takes the words on the wires of all cycles before this one.
    fn follow(&mut self, cycle: u64) {
        let writers = self.writers;
        let Source::Table { walkers, table } = &mut self.source else { return };
        // Of the words of a cycle, that of the last port counts.
        let next = |walkers: &[Walker]| {
            walkers.iter().map(|walker| walker.next).enumerate().min_by_key(|&(number, next)| (next, number))
        };
        while let Some((number, written)) = next(walkers).filter(|&(_, next)| next < cycle) {
            table.set(walkers[number].value(0), written * writers + number as u64);
            walkers[number].fire();
        }
    }

    /// Remembers where the writers are before cycle `now`, and begins to record anew.
    pub fn mark(&mut self, now: u64) -> Vec<Mark> {
        self.follow(now);
        match &mut self.source {
            Source::Inverse { largest, used, .. } => {
                for largest in largest.iter_mut().flatten() {
                    largest.fill(0);
                }
                for used in used {
                    used.fill(false);
                }
                Vec::new()
            }
            Source::Table { walkers, table } => {
                if let Table::Array(memory) = table {
                    memory.mark();
                }
                walkers.iter().map(Walker::mark).collect()
            }
        }
    }

    /// The number of further periods, at most `limit`, in which the expected words are the same again, `age` later by tokens, from
    /// cycle `now` on: readers are given with where they were at the mark, if they moved.
    pub fn repetitions(
        &mut self,
        marks: &[Mark],
        readers: &[Option<(&Walker, &Mark)>],
        now: u64,
        (period, age): (u64, u64),
        limit: u64,
    ) -> u64 {
        self.follow(now);
        match &self.source {
            Source::Inverse { .. } => {
                let moving = readers.iter().enumerate().filter_map(|(number, reader)| Some((number, (*reader)?)));
                moving.fold(limit, |limit, (number, (walker, mark))| {
                    limit.min(self.repetitions_of_reader(number, walker, mark, (period, age)))
                })
            }
            Source::Table { walkers, table: Table::Array(memory) } => {
                let words = memory.words() as i64;
                let mut moved =
                    readers.iter().flatten().map(|(walker, mark)| walker.moved(mark, 0)).collect::<Vec<_>>();
                let mut periods = limit;
                for (walker, mark) in walkers.iter().zip(marks) {
                    let Some(advance) = walker.advance_since(mark, period) else { return 0 };
                    if age == 0 && advance != Advance::Rests {
                        return 0;
                    }
                    periods = periods.min(walker.repetitions(&advance, now, period));
                    if advance != Advance::Rests {
                        moved.push(walker.moved(mark, 0));
                    }
                }
                let by = moved.first().copied().unwrap_or(0);
                if moved.iter().any(|&moved| moved != by) {
                    return 0;
                }
                memory.repetitions(by.rem_euclid(words) as usize, age, periods)
            }
            Source::Table { .. } => 0,
        }
    }

    /// Moves on by whole periods, of which there are as many.
    pub fn skip(&mut self, marks: &[Mark], (period, age): (u64, u64), periods: u64) {
        let Source::Table { walkers, table: Table::Array(memory) } = &mut self.source else { return };
        let mut by = 0;
        for (walker, mark) in walkers.iter_mut().zip(marks) {
            let advance = walker.advance_since(mark, period).expect("it repeats");
            if advance != Advance::Rests {
                by = walker.moved(mark, 0);
            }
            walker.skip(mark, &advance, period, periods);
        }
        memory.skip(by.rem_euclid(memory.words() as i64) as usize, age, periods);
    }

    /// For how many more periods the tokens that a reader expects move on with time, given how its elements moved.
    fn repetitions_of_reader(&self, reader: usize, walker: &Walker, mark: &Mark, (period, age): (u64, u64)) -> u64 {
        let Source::Inverse { writers, largest, used } = &self.source else { return 0 };
        let moved = walker.moved(mark, 0);
        if age == 0 {
            // The same elements again, whose words are the same.
            return if moved == 0 { u64::MAX } else { 0 };
        }
        let period = period as i64;
        let of_writer = |number: usize| -> u64 {
            // The write that moves by the same elements in the same time: a number of steps of one loop, within it.
            let steps = writers[number].digits.iter().zip(&largest[reader][number]).filter_map(|(digit, largest)| {
                let steps = if digit.cycles != 0 && period % digit.cycles == 0 { period / digit.cycles } else { 0 };
                let fits = steps > 0 && steps * digit.weight == moved;
                fits.then(|| ((digit.count - 1 - largest) / steps) as u64)
            });
            steps.max().unwrap_or(0)
        };
        (0..writers.len()).filter(|&number| used[reader][number]).map(of_writer).min().unwrap_or(0)
    }
}

/// Whether two ports provably touch no common element: in some dimension, ranges or residues are apart.
fn never_share(one: &Port, other: &Port) -> bool {
    one.access.iter().zip(&other.access).any(|(a, b)| {
        let (range_a, range_b) = (one.range(a), other.range(b));
        let step = a.stride.iter().chain(&b.stride).fold(0, |d, &stride| gcd(d, stride));
        range_a.end() < range_b.start()
            || range_b.end() < range_a.start()
            || (step != 0 && (a.start - b.start) % step != 0)
    })
}
