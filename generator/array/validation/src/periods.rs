//! Periods of a program on an array: cycles after which all its loops, and those of its netlist, do the same again.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use num_integer::lcm;
use pushmem_graph::{ApplicationGraph, ArrayAccesses, ArrayId, InputNode};
use pushmem_netlist::{Lane, Netlist};
use pushmem_tile::TileSpec;

use crate::walks::{Memory, Walk, walks_of_graph, walks_of_netlist};

/// Periods that are executed to see that they repeat, at least.
const EXECUTED: i64 = 3;

/// Periods in which all loops do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Periods {
    /// The first cycle of the first period.
    pub begin: u64,
    /// The cycles of a period.
    pub cycles: u64,
    /// How many periods follow each other.
    pub count: u64,
    /// How far the words of memories move on from one period to the next.
    pub moved: Moved,
    /// The words of each stream that enter in a period.
    pub entering: Vec<usize>,
}

/// How far the words of memories move on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Of each array of the graph, in elements.
    pub elements: Vec<u64>,
    /// Of each cell of the netlist, in rows of its main memory.
    pub rows: Vec<u64>,
    /// Rows of a main memory, where they wrap.
    wraps: u64,
}

impl Moved {
    /// The same in so many periods.
    pub fn times(&self, periods: u64) -> Self {
        let elements = self.elements.iter().map(|moved| moved * periods).collect();
        let rows = self.rows.iter().map(|moved| moved * (periods % self.wraps) % self.wraps).collect();
        Moved { elements, rows, wraps: self.wraps }
    }

    /// That of a period, if all accesses of a memory move alike, and none moves back in an array or waits there; `none` is that of no cycles.
    fn of(walks: &[&Walk], begin: i64, cycles: i64, none: &Moved) -> Option<Self> {
        let mut found: BTreeMap<Memory, i64> = BTreeMap::new();
        for (memory, moved) in walks.iter().flat_map(|walk| walk.moved(begin, cycles)) {
            if moved < 0 || *found.entry(memory).or_insert(moved) != moved {
                return None;
            }
        }
        let moves = |memory: Memory| matches!(memory, Memory::Array(_)) && found.get(&memory).is_some_and(|by| *by > 0);
        if walks.iter().flat_map(|walk| walk.waits(begin, cycles)).any(moves) {
            return None;
        }
        let mut of_memories = none.clone();
        for (memory, moved) in found {
            match memory {
                Memory::Array(array) => of_memories.elements[array] = moved as u64,
                Memory::Cell(cell) => of_memories.rows[cell] = moved as u64,
            }
        }
        Some(of_memories)
    }
}

impl Periods {
    /// The periods that save most cycles of a run of a graph and its netlist, whose words enter and leave on these lanes; nothing if none save
    /// any.
    pub fn of(
        graph: &ApplicationGraph,
        accesses: &IndexVec<ArrayId, ArrayAccesses>,
        netlist: &Netlist,
        memory: Option<&TileSpec>,
        [entering, leaving]: [&[Lane]; 2],
    ) -> Option<Self> {
        let mut walks = walks_of_graph(graph, accesses);
        walks.extend(walks_of_netlist(netlist, memory, entering.iter().chain(leaving)));
        if !walks.iter().all(Walk::is_within_limits) {
            return None;
        }
        let wraps = memory.map_or(1, |memory| memory.rows.into());
        let none = Moved { elements: vec![0; graph.arrays.len()], rows: vec![0; netlist.cells.len()], wraps };
        let (begin, cycles, count, moved) = longest(&walks, graph.length as i64, &none)?;
        let of_stream = |stream: &InputNode| walks[stream.counter.index()].iterations(begin, cycles) as usize;
        // Streams of the netlist take as many words.
        let beats = graph.inputs.iter().flat_map(|stream| stream.lanes.iter().map(|_| of_stream(stream)));
        let of_lane = |lane: &Lane| Walk::of(&lane.extent, &lane.cycle).iterations(begin, cycles) as usize;
        let entering = beats.eq(entering.iter().map(of_lane)).then(|| {
            let words = |stream: &InputNode| of_stream(stream) * stream.lanes.len();
            graph.inputs.iter().map(words).collect()
        })?;
        Some(Periods { begin: begin as u64, cycles: cycles as u64, count, moved, entering })
    }
}

/// The periods that save most of so many cycles: the begin, the cycles, how many there are, and how memories move.
fn longest(walks: &[Walk], length: i64, none: &Moved) -> Option<(i64, i64, u64, Moved)> {
    let strides: BTreeSet<i64> = walks.iter().flat_map(Walk::strides).filter(|stride| *stride > 0).collect();
    // A period takes so many iterations of a loop that values that wrap are the same again.
    let turned = |cycles: i64| {
        let mut turns = walks.iter().map(|walk| walk.turns(cycles));
        turns.try_fold(1, |all, turns| Some(lcm(all, turns)).filter(|all| *all <= length / cycles))
    };
    let lengths: BTreeSet<i64> = strides.into_iter().filter_map(|cycles| Some(cycles * turned(cycles)?)).collect();
    let begins: BTreeSet<i64> = walks.iter().flat_map(Walk::ends).collect();
    let mut walks: Vec<&Walk> = walks.iter().collect();
    let (mut found, mut most) = (None, 0);
    for cycles in lengths {
        for &begin in &begins {
            let mut count = ((length - begin) / cycles).max(0) as u64;
            let saved = |count: u64| (count as i64 - EXECUTED) * cycles - begin;
            let is_too_short = saved(count) <= most
                || match walks.iter().position(|walk| {
                    count = count.min(walk.periods(begin, cycles));
                    saved(count) <= most
                }) {
                    // The walk that ends periods from one cycle on often does from another.
                    Some(ending) => {
                        walks[..=ending].rotate_right(1);
                        true
                    }
                    None => false,
                };
            if !is_too_short && let Some(moved) = Moved::of(&walks, begin, cycles, none) {
                (found, most) = (Some((begin, cycles, count, moved)), saved(count));
            }
        }
    }
    found
}
