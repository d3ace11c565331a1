//! The streams of a program as lanes of a netlist.

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Direction;
use pushmem_graph::{ApplicationGraph, Beats, Counter, CounterId, InputId, deinterleaved, interleaved};
use pushmem_netlist::{CellId, Lane};

use crate::lower::Lowered;

/// A lane of a stream of a program: a word of each beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLane {
    /// The stream, among the input streams or the output streams.
    pub stream: usize,
    /// Which word of a beat.
    pub lane: usize,
    /// When its beats are due.
    pub counter: CounterId,
    /// The cell where they enter or leave.
    pub cell: CellId,
}

impl StreamLane {
    /// The schedule of its beats, so many cycles later than that of the program, over loops of `limit` iterations at most.
    pub fn schedule(&self, graph: &ApplicationGraph, lag: i64, limit: u64) -> ControllerConfiguration {
        let counter = &graph.counters[self.counter];
        let (extent, cycle) = counter.cycle.shifted(lag).coalesced(&counter.extent, limit);
        ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() }
    }

    /// The elements of its array that it carries, by their numbers in an array without gaps: the loops of its beats, and a function of them.
    pub fn elements<'a>(&self, graph: &'a ApplicationGraph, direction: Direction) -> (&'a Domain, &'a Affine) {
        let element = match direction {
            Direction::In => &graph.inputs[InputId::new(self.stream)].lanes[self.lane].element,
            Direction::Out => &graph.outputs[self.stream].lanes[self.lane].element,
        };
        (&graph.counters[self.counter].extent, element)
    }

    /// The number of its array in the program.
    pub fn array(&self, graph: &ApplicationGraph, direction: Direction) -> usize {
        match direction {
            Direction::In => graph.inputs[InputId::new(self.stream)].array,
            Direction::Out => graph.outputs[self.stream].array,
        }
    }

    /// The lane in the time of the schedule.
    pub fn in_time(&self, graph: &ApplicationGraph) -> Lane {
        let Counter { extent, cycle, .. } = graph.counters[self.counter].clone();
        Lane { cell: self.cell, extent, cycle }
    }
}

impl Lowered {
    /// The lanes of the input streams, stream by stream.
    pub fn input_lanes(&self, graph: &ApplicationGraph) -> Vec<StreamLane> {
        lanes(graph.inputs.iter().map(|stream| stream.counter), &self.inputs)
    }

    /// The lanes of the output streams, stream by stream.
    pub fn output_lanes(&self, graph: &ApplicationGraph) -> Vec<StreamLane> {
        lanes(graph.outputs.iter().map(|stream| stream.counter), &self.outputs)
    }
}

fn lanes(counters: impl Iterator<Item = CounterId>, cells: &[Vec<CellId>]) -> Vec<StreamLane> {
    let of_stream = |(stream, (counter, cells)): (usize, (CounterId, &Vec<CellId>))| {
        let lane = move |(lane, cell): (usize, &CellId)| StreamLane { stream, lane, counter, cell: *cell };
        cells.iter().enumerate().map(lane).collect_vec()
    };
    counters.zip(cells).enumerate().flat_map(of_stream).collect()
}

/// The words of each lane, of streams with these numbers of lanes.
pub fn split(beats: &[Beats], widths: impl Iterator<Item = usize>) -> Vec<Vec<u16>> {
    beats.iter().zip(widths).flat_map(|(words, width)| deinterleaved(words, width)).collect()
}

/// The words of each stream, of the words of its lanes.
pub fn join(words: &[Vec<u16>], widths: impl Iterator<Item = usize>) -> Vec<Beats> {
    let mut lanes = words.iter();
    widths.map(|width| interleaved(&lanes.by_ref().take(width).collect_vec())).collect()
}
