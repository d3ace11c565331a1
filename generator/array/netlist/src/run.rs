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

/// The words that leave on each lane, while these enter: for each lane as many as it has cycles.
pub fn run<S: Semantics>(
    machine: &mut Machine<S>,
    entering: &[Lane],
    words: &[Vec<u32>],
    leaving: &[Lane],
) -> Vec<Vec<u32>> {
    let mut sources: Vec<Next> = entering.iter().map(Next::of).collect();
    let mut sinks: Vec<Next> = leaving.iter().map(Next::of).collect();
    let mut left = vec![Vec::new(); leaving.len()];
    let last = leaving.iter().filter_map(|lane| lane.cycles.last()).max().copied();
    for cycle in 0..last.map_or(0, |last| last + 1) {
        for (source, words) in sources.iter_mut().zip(words) {
            let cell = source.lane.cell;
            match source.at(cycle) {
                Some(number) => machine.enter(cell, words[number]),
                None => machine.enter_none(cell),
            }
        }
        machine.show();
        for (sink, left) in sinks.iter_mut().zip(&mut left) {
            if sink.at(cycle).is_some() {
                left.push(machine.arriving(sink.lane.cell));
            }
        }
        machine.clock();
    }
    left
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
