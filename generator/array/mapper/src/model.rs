//! Runs of a program's netlist.

use pushmem_graph::{Accelerator, Beats, Counter};
use pushmem_netlist::{CellId, Machine};
use pushmem_pe::Semantics;

use crate::lower::Lowered;

/// The cell of a lane of a stream, and how many cycles later than in the schedule its words are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCell {
    /// The cell.
    pub cell: CellId,
    /// Cycles.
    pub lag: i64,
}

/// The streams of a program on a netlist: for each stream the cells of its lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// The input streams.
    pub inputs: Vec<Vec<LaneCell>>,
    /// The output streams.
    pub outputs: Vec<Vec<LaneCell>>,
}

impl Streams {
    /// The streams of a netlist in the time of the schedule.
    pub fn of(lowered: &Lowered) -> Self {
        let in_time = |cells: &Vec<CellId>| cells.iter().map(|&cell| LaneCell { cell, lag: 0 }).collect();
        Streams {
            inputs: lowered.inputs.iter().map(in_time).collect(),
            outputs: lowered.outputs.iter().map(in_time).collect(),
        }
    }

    fn latest(&self) -> i64 {
        self.inputs.iter().chain(&self.outputs).flatten().map(|lane| lane.lag).max().unwrap_or(0)
    }
}

/// The words of the output streams that a machine gives for these words of the input streams. Both are those of a program's
/// accelerator, beat after beat, the lanes of a beat one after the other.
pub fn run<S: Semantics>(
    machine: &mut Machine<S>,
    streams: &Streams,
    accelerator: &Accelerator,
    inputs: &[Beats],
) -> Vec<Beats> {
    let mut entering: Vec<Lane> = (accelerator.inputs.iter().zip(&streams.inputs))
        .flat_map(|(stream, cells)| lanes(&accelerator.counters[stream.counter], cells))
        .collect();
    let words = streams.inputs.iter().zip(inputs).flat_map(|(cells, words)| cells.iter().map(move |_| words));
    let words: Vec<&Beats> = words.collect();
    let mut leaving: Vec<Lane> = (accelerator.outputs.iter().zip(&streams.outputs))
        .flat_map(|(stream, cells)| lanes(&accelerator.counters[stream.counter], cells))
        .collect();
    let mut taken: Vec<Beats> = vec![Beats::new(); leaving.len()];
    let cycles = accelerator.length as i64 + streams.latest();
    for cycle in 0..cycles {
        for (lane, words) in entering.iter_mut().zip(&words) {
            let beat = lane.next;
            if lane.is_due(cycle) {
                machine.enter(lane.cell, words[beat * lane.lanes + lane.lane].into());
            }
        }
        machine.show();
        for (lane, taken) in leaving.iter_mut().zip(&mut taken) {
            if lane.is_due(cycle) {
                taken.push(machine.arriving(lane.cell) as u16);
            }
        }
        machine.clock();
    }
    let mut taken = taken.into_iter();
    let interleaved = streams.outputs.iter().map(|cells| {
        let lanes: Vec<Beats> = taken.by_ref().take(cells.len()).collect();
        let beats = lanes.first().map_or(0, Vec::len);
        (0..beats).flat_map(|beat| lanes.iter().map(move |lane| lane[beat])).collect()
    });
    interleaved.collect()
}

/// A lane of a stream under way.
struct Lane {
    cell: CellId,
    /// The cycles in which its words are due, ascending.
    cycles: Vec<i64>,
    /// The number of the next.
    next: usize,
    /// Its place in the beat, and the words of a beat.
    lane: usize,
    lanes: usize,
}

impl Lane {
    /// Whether a word is due; then the next is awaited.
    fn is_due(&mut self, cycle: i64) -> bool {
        let is_due = self.cycles.get(self.next) == Some(&cycle);
        self.next += usize::from(is_due);
        is_due
    }
}

fn lanes(counter: &Counter, cells: &[LaneCell]) -> Vec<Lane> {
    let firings: Vec<i64> = counter.extent.values(&counter.cycle).collect();
    let lane = |(lane, of): (usize, &LaneCell)| Lane {
        cell: of.cell,
        cycles: firings.iter().map(|cycle| cycle + of.lag).collect(),
        next: 0,
        lane,
        lanes: cells.len(),
    };
    cells.iter().enumerate().map(lane).collect()
}
