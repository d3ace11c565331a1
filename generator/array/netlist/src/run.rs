//! Runs of a netlist on words that enter and leave at known cycles.

use std::iter::Peekable;
use std::ops::Range;

use pushmem_affine::{Affine, Domain};
use pushmem_model::Violation;
use pushmem_pe::Semantics;

use crate::model::{BLOCK, Machine};
use crate::netlist::CellId;

/// A cell where words enter or leave, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The cell.
    pub cell: CellId,
    /// The loops of its words.
    pub extent: Domain,
    /// The cycles of its words, ascending.
    pub cycle: Affine,
}

impl Lane {
    /// The cycles of its words.
    pub fn cycles(&self) -> impl Iterator<Item = i64> + use<'_> {
        self.extent.values(&self.cycle)
    }
}

/// The lanes of a memory that is a bank of a global buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankLanes {
    /// The words that it stores.
    pub store: Lane,
    /// The words that it loads.
    pub load: Lane,
    /// The number among the stored words of each that is loaded; none where nothing was stored before.
    pub origins: Vec<Option<usize>>,
}

impl BankLanes {
    /// The least cycles from a word that is stored to where it is loaded, if one is.
    fn latency(&self) -> Option<usize> {
        let Lane { extent, cycle, .. } = &self.store;
        let latency = |(origin, load): (&Option<usize>, i64)| Some(load - extent.value_at(cycle, (*origin)? as u64));
        // A word of a later cycle is not loaded.
        let latencies = self.origins.iter().zip(self.load.cycles()).filter_map(latency).filter(|cycles| *cycles > 0);
        latencies.min().map(|cycles| cycles as usize)
    }
}

/// A run of a netlist under way.
pub struct Run<'a, S: Semantics> {
    machine: Machine<S>,
    sources: Vec<Next<'a>>,
    sinks: Vec<Next<'a>>,
    banks: Vec<Stored<'a, S::Value>>,
    /// The most cycles of a block: banks load before the cells of a block work.
    block: usize,
    /// The words that left so far, on each lane.
    pub left: Vec<Vec<S::Value>>,
    /// The cycles that it has executed.
    now: usize,
    /// The cycles that were skipped beside them.
    skipped: u64,
}

impl<'a, S: Semantics> Run<'a, S> {
    /// A run before its first cycle, on lanes where words enter and leave, while banks load what they stored.
    pub fn new(machine: Machine<S>, entering: &'a [Lane], leaving: &'a [Lane], banks: &'a [BankLanes]) -> Self {
        Run {
            machine,
            sources: entering.iter().map(Next::of).collect(),
            sinks: leaving.iter().map(Next::of).collect(),
            banks: banks.iter().map(Stored::of).collect(),
            block: banks.iter().filter_map(BankLanes::latency).fold(BLOCK, usize::min),
            left: vec![Vec::new(); leaving.len()],
            now: 0,
            skipped: 0,
        }
    }

    /// The cycles of the whole run. In the cycle after the last word, memories have done the work of its cycle.
    pub fn length(&self) -> u64 {
        self.sinks.iter().map(|sink| sink.last as u64 + 2).max().unwrap_or(0)
    }

    /// Executes so many cycles. `words` gives the words that enter, by the number of the lane and the number of the word among those that
    /// entered on it.
    pub fn execute(&mut self, cycles: u64, words: &dyn Fn(usize, usize) -> S::Value) {
        let end = self.now + cycles as usize;
        while self.now < end {
            let cycles = self.now..end.min(self.now + self.block);
            let later = self.skipped as usize;
            for (lane, source) in self.sources.iter_mut().enumerate() {
                let cell = source.cell;
                let nothing = self.machine.nothing(cell);
                for cycle in cycles.clone() {
                    let word = source.at(cycle + later).map_or(nothing, |number| words(lane, number));
                    self.machine.enter(cell, cycle, word);
                }
            }
            self.banks.iter_mut().for_each(|bank| bank.load(&mut self.machine, &cycles));
            self.machine.run(&cycles);
            self.banks.iter_mut().for_each(|bank| bank.store(&self.machine, &cycles));
            for (sink, left) in self.sinks.iter_mut().zip(&mut self.left) {
                for cycle in cycles.clone() {
                    if sink.at(cycle + later).is_some() {
                        left.push(self.machine.arriving(sink.cell, cycle));
                    }
                }
            }
            self.now = cycles.end;
        }
    }

    /// Lets so many cycles pass, in which no words enter or leave, and the main memory of each cell moves on by so many rows: controllers, lanes
    /// and these words move on, and all others are as they are now.
    ///
    /// # Panics
    /// If there are banks, whose words have numbers.
    pub fn skip(&mut self, cycles: u64, rows: &[u64]) {
        assert!(self.banks.is_empty(), "words of banks have numbers");
        self.machine.skip(cycles, rows);
        self.skipped += cycles;
        let now = self.now as u64 + self.skipped;
        self.sources.iter_mut().chain(&mut self.sinks).for_each(|lane| lane.go_to(now as i64));
    }

    /// Whether its nets, registers and memories have the words of another run of the netlist, wherever the controllers of both are: in the main
    /// memory of each cell so many rows later.
    pub fn has_words_of(&self, other: &Self, rows: &[u64]) -> bool {
        self.machine.has_words_of(self.now, (&other.machine, other.now), rows)
    }

    /// The promises that the configurations of memories broke so far, with the cell of each.
    pub fn take_violations(&mut self) -> Vec<(CellId, Violation)> {
        self.machine.take_violations()
    }
}

/// A bank under way.
struct Stored<'a, Value> {
    store: Next<'a>,
    load: Next<'a>,
    origins: &'a [Option<usize>],
    words: Vec<Value>,
}

impl<'a, Value: Copy> Stored<'a, Value> {
    fn of(bank: &'a BankLanes) -> Self {
        Stored { store: Next::of(&bank.store), load: Next::of(&bank.load), origins: &bank.origins, words: Vec::new() }
    }

    /// Lets the words of cycles enter, as far as there are some that were stored.
    fn load<S: Semantics<Value = Value>>(&mut self, machine: &mut Machine<S>, cycles: &Range<usize>) {
        let (cell, nothing) = (self.load.cell, machine.nothing(self.load.cell));
        for cycle in cycles.clone() {
            let origin = self.load.at(cycle).and_then(|number| self.origins[number]);
            let word = origin.and_then(|number| self.words.get(number)).copied();
            machine.enter(cell, cycle, word.unwrap_or(nothing));
        }
    }

    /// Stores the words of cycles.
    fn store<S: Semantics<Value = Value>>(&mut self, machine: &Machine<S>, cycles: &Range<usize>) {
        for cycle in cycles.clone() {
            if self.store.at(cycle).is_some() {
                self.words.push(machine.arriving(self.store.cell, cycle));
            }
        }
    }
}

/// The cycles of the words of a lane that are to come.
type Cycles<'a> = Box<dyn Iterator<Item = i64> + Send + 'a>;

/// A lane under way.
struct Next<'a> {
    lane: &'a Lane,
    cell: CellId,
    /// The cycle of the last word.
    last: i64,
    /// How many words passed.
    number: usize,
    cycles: Peekable<Cycles<'a>>,
}

impl<'a> Next<'a> {
    fn of(lane: &'a Lane) -> Self {
        let cycles: Cycles = Box::new(lane.cycles());
        let last = *lane.extent.range(&lane.cycle).end() as i64;
        Next { lane, cell: lane.cell, last, number: 0, cycles: cycles.peekable() }
    }

    /// The number of the word of a cycle.
    fn at(&mut self, cycle: usize) -> Option<usize> {
        self.cycles.next_if_eq(&(cycle as i64))?;
        self.number += 1;
        Some(self.number - 1)
    }

    /// Goes to the first word that is not before a cycle. No words pass.
    fn go_to(&mut self, cycle: i64) {
        let Lane { extent, cycle: schedule, .. } = self.lane;
        let number = extent.points_until(schedule, cycle - 1);
        let cycles: Cycles = Box::new(extent.values_from(schedule, number));
        self.cycles = cycles.peekable();
    }
}
