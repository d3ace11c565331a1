//! Runs of a netlist on words that enter and leave at known cycles.

use std::iter::Peekable;
use std::ops::Range;

use pushmem_affine::{Affine, Domain};
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

/// The words that leave on each lane, as many as it has cycles, while banks load what they stored. `words` gives the words that enter, by
/// the number of the lane and the number of the word.
pub fn run<S: Semantics>(
    machine: &mut Machine<S>,
    entering: &[Lane],
    words: &dyn Fn(usize, usize) -> S::Value,
    leaving: &[Lane],
    banks: &[BankLanes],
) -> Vec<Vec<S::Value>> {
    // Banks load before the cells of a block work.
    let block = banks.iter().filter_map(BankLanes::latency).fold(BLOCK, usize::min);
    let mut sources: Vec<Next> = entering.iter().map(Next::of).collect();
    let mut sinks: Vec<Next> = leaving.iter().map(Next::of).collect();
    let mut left = vec![Vec::new(); leaving.len()];
    let mut banks: Vec<Stored<S::Value>> = banks.iter().map(Stored::of).collect();
    let last = leaving.iter().map(|lane| *lane.extent.range(&lane.cycle).end()).max();
    // In the cycle after the last word, memories have done the work of its cycle.
    let end = last.map_or(0, |last| last as usize + 2);
    for begin in (0..end).step_by(block) {
        let cycles = begin..end.min(begin + block);
        for (lane, source) in sources.iter_mut().enumerate() {
            let cell = source.cell;
            let nothing = machine.nothing(cell);
            for cycle in cycles.clone() {
                machine.enter(cell, cycle, source.at(cycle).map_or(nothing, |number| words(lane, number)));
            }
        }
        banks.iter_mut().for_each(|bank| bank.load(machine, &cycles));
        machine.run(&cycles);
        banks.iter_mut().for_each(|bank| bank.store(machine, &cycles));
        for (sink, left) in sinks.iter_mut().zip(&mut left) {
            for cycle in cycles.clone() {
                if sink.at(cycle).is_some() {
                    left.push(machine.arriving(sink.cell, cycle));
                }
            }
        }
    }
    left
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

/// A lane under way.
struct Next<'a> {
    cell: CellId,
    number: usize,
    cycles: Peekable<Box<dyn Iterator<Item = i64> + 'a>>,
}

impl<'a> Next<'a> {
    fn of(lane: &'a Lane) -> Self {
        let cycles: Box<dyn Iterator<Item = i64>> = Box::new(lane.cycles());
        Next { cell: lane.cell, number: 0, cycles: cycles.peekable() }
    }

    /// The number of the word of a cycle.
    fn at(&mut self, cycle: usize) -> Option<usize> {
        self.cycles.next_if_eq(&(cycle as i64))?;
        self.number += 1;
        Some(self.number - 1)
    }
}
