//! Runs of a netlist on words that enter and leave at known cycles.

use pushmem_pe::Semantics;

use crate::model::Machine;
use crate::netlist::CellId;

/// A cell where words enter or leave, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The cell.
    pub cell: CellId,
    /// The cycles of its words, ascending.
    pub cycles: Vec<i64>,
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

/// The words that leave on each lane, while these enter, and banks load what they stored: for each lane as many as it has cycles.
pub fn run<S: Semantics>(
    machine: &mut Machine<S>,
    entering: &[Lane],
    words: &[Vec<u32>],
    leaving: &[Lane],
    banks: &[BankLanes],
) -> Vec<Vec<u32>> {
    let mut sources: Vec<Next> = entering.iter().map(Next::of).collect();
    let mut sinks: Vec<Next> = leaving.iter().map(Next::of).collect();
    let mut left = vec![Vec::new(); leaving.len()];
    let mut banks: Vec<Stored> = banks.iter().map(Stored::of).collect();
    let last = leaving.iter().filter_map(|lane| lane.cycles.last()).max().copied();
    for cycle in 0..last.map_or(0, |last| last + 1) {
        for (source, words) in sources.iter_mut().zip(words) {
            let cell = source.lane.cell;
            match source.at(cycle) {
                Some(number) => machine.enter(cell, words[number]),
                None => machine.enter_none(cell),
            }
        }
        for bank in &mut banks {
            bank.load(machine, cycle);
        }
        machine.show();
        for bank in &mut banks {
            bank.store(machine, cycle);
        }
        for (sink, left) in sinks.iter_mut().zip(&mut left) {
            if sink.at(cycle).is_some() {
                left.push(machine.arriving(sink.lane.cell));
            }
        }
        machine.clock();
    }
    left
}

/// A bank under way.
struct Stored<'a> {
    store: Next<'a>,
    load: Next<'a>,
    origins: &'a [Option<usize>],
    words: Vec<u32>,
}

impl<'a> Stored<'a> {
    fn of(bank: &'a BankLanes) -> Self {
        Stored { store: Next::of(&bank.store), load: Next::of(&bank.load), origins: &bank.origins, words: Vec::new() }
    }

    /// Lets the word of a cycle enter, if there is one that was stored.
    fn load<S: Semantics>(&mut self, machine: &mut Machine<S>, cycle: i64) {
        let origin = self.load.at(cycle).and_then(|number| self.origins[number]);
        match origin.and_then(|number| self.words.get(number)) {
            Some(word) => machine.enter(self.load.lane.cell, *word),
            None => machine.enter_none(self.load.lane.cell),
        }
    }

    /// Stores the word of a cycle.
    fn store<S: Semantics>(&mut self, machine: &Machine<S>, cycle: i64) {
        if self.store.at(cycle).is_some() {
            self.words.push(machine.arriving(self.store.lane.cell));
        }
    }
}

/// A lane under way.
struct Next<'a> {
    lane: &'a Lane,
    next: usize,
}

impl<'a> Next<'a> {
    fn of(lane: &'a Lane) -> Self {
        Next { lane, next: 0 }
    }

    /// The number of the word of a cycle.
    fn at(&mut self, cycle: i64) -> Option<usize> {
        let is_due = self.lane.cycles.get(self.next) == Some(&cycle);
        self.next += usize::from(is_due);
        is_due.then(|| self.next - 1)
    }
}
