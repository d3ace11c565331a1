//! Long delays: memories, each of which begins where the one before it, or registers, end.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_graph::{
    ApplicationGraph, DelayTiles, DelayedNet, StageResult, TileId, WORDS_OF_SEQUENCE, WordDriver, WordId,
};
use pushmem_tile::TileSpec;

use super::stream::stream_of;
use super::{carried, results, wanted_delays};
use crate::constraints::Constraints;
use crate::shortage::Shortage;

/// The longest delay, in cycles, that becomes registers where the memory tile cannot make it.
const LONGEST_RESCUE: u64 = 128;

/// The memories of the long delays of a graph, those of results that come back first.
///
/// # Errors
/// When the memory tiles cannot make a delay.
pub(super) fn delays(
    graph: &ApplicationGraph,
    spec: &TileSpec,
    constraints: &Constraints,
) -> Result<Vec<DelayTiles>, Shortage> {
    let wanted = wanted_delays(graph);
    let carried = carried(graph);
    let of_carried = carried.iter().flat_map(|&kernel| graph.kernels[kernel].nets.iter().copied());
    let is_carried = |net: WordId| match graph.words[net].driver {
        WordDriver::Kernel { kernel, .. } => carried.contains(&kernel),
        _ => false,
    };
    let others = results(graph).into_iter().map(|(_, net)| net).filter(|&net| !is_carried(net));
    let planner = Planner { graph, spec, threshold: constraints.shift_register_threshold };
    let mut found = Vec::new();
    for net in of_carried.chain(others) {
        if let Some(result) = &graph.words[net].result {
            planner.add_memories(net, result, &wanted[net], &mut found)?;
        }
    }
    Ok(found)
}

/// The memories of delays that keep the words alone, where memories are made for the program, and the words of the other delays. A delay
/// line keeps what comes in each cycle, but needs a counter only.
pub(super) fn of_words(graph: &ApplicationGraph, spec: &TileSpec, constraints: &Constraints) -> (Vec<DelayTiles>, u64) {
    let wanted = wanted_delays(graph);
    let planner = Planner { graph, spec, threshold: constraints.shift_register_threshold };
    let (mut found, mut line_words) = (Vec::new(), 0);
    for (_, net) in results(graph) {
        let Some(result) = &graph.words[net].result else { continue };
        let steps = std::iter::once(0).chain(wanted[net].iter().copied()).tuple_windows();
        let in_lines: u64 = steps.map(|(from, to)| to - from).filter(|step| *step >= planner.threshold).sum();
        let mut memories = Vec::new();
        let cost = |of: &DelayTiles| of.mapped.live_words + WORDS_OF_SEQUENCE * of.buffer.ports.len() as u64;
        let is_mapped = planner.add_memories(net, result, &wanted[net], &mut memories).is_ok();
        if is_mapped && memories.iter().map(cost).sum::<u64>() < in_lines {
            found.extend(memories);
        } else {
            line_words += in_lines;
        }
    }
    (found, line_words)
}

struct Planner<'a> {
    graph: &'a ApplicationGraph,
    /// The memory tiles.
    spec: &'a TileSpec,
    /// A step from one delay to the next of so many cycles is one for a memory.
    threshold: u64,
}

impl Planner<'_> {
    /// Adds the memories of the delays of a stage's result that are wanted.
    fn add_memories(
        &self,
        net: WordId,
        result: &StageResult,
        wanted: &BTreeSet<u64>,
        found: &mut Vec<DelayTiles>,
    ) -> Result<(), Shortage> {
        let delays = wanted.iter().copied().filter(|&delay| delay > 0).collect_vec();
        let mut last = 0;
        // Delays of memories that begin before the last one.
        let mut in_memories: BTreeSet<u64> = BTreeSet::new();
        for (number, &delay) in delays.iter().enumerate() {
            let is_long = |from: u64, to: u64| to - from >= self.threshold;
            if !in_memories.contains(&delay) && is_long(last, delay) {
                let steps = std::iter::once(last).chain(delays[number..].iter().copied()).tuple_windows();
                let long = steps.filter(|(from, to)| is_long(*from, *to)).map(|(_, to)| to - last).collect_vec();
                match self.best_memory(result, DelayedNet { net, from: last, delays: long }) {
                    Ok(memory) => {
                        in_memories.extend(memory.streams[0].delays.iter().map(|delay| last + delay));
                        found.push(memory);
                    }
                    // The tile collects and spreads whole rows: delays too short for that become registers after all.
                    Err(_) if delay - last <= LONGEST_RESCUE => {}
                    Err(error) => return Err(error),
                }
            }
            last = delay;
        }
        Ok(())
    }

    /// Maps the first of these delays of a net, as many as take the fewest tiles each: the rest goes to another memory
    /// behind it, which is smaller than one that begins at the same place.
    fn best_memory(&self, result: &StageResult, wanted: DelayedNet) -> Result<DelayTiles, Shortage> {
        let mut best: Option<DelayTiles> = None;
        let mut refused = None;
        for count in (1..=wanted.delays.len().min(self.spec.outputs as usize)).rev() {
            let delays = &wanted.delays[..count];
            let buffer = self.delay_buffer(result, wanted.from, delays);
            match pushmem_mapping::map(&buffer, self.spec) {
                Ok(mapped) => {
                    let each = |memory: &DelayTiles| (memory.mapped.tiles.len(), memory.streams[0].delays.len());
                    let (tiles, delayed) = (mapped.tiles.len(), delays.len());
                    let fewer = |other: &DelayTiles| tiles * each(other).1 < each(other).0 * delayed;
                    if best.as_ref().is_none_or(fewer) {
                        let stream = DelayedNet { delays: delays.to_vec(), ..wanted };
                        best = Some(DelayTiles { streams: vec![stream], buffer, mapped, first_tile: TileId::new(0) });
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        best.ok_or_else(|| Shortage::Delay {
            stage: result.stage,
            delays: wanted.delays,
            error: Box::new(refused.expect("there is a delay")),
        })
    }

    /// The buffer that delays a stage's result, itself some cycles late.
    fn delay_buffer(&self, result: &StageResult, late: u64, delays: &[u64]) -> UnifiedBuffer {
        let stream = stream_of(&result.words);
        let port = |name: String, direction: Direction, delay: u64| Port {
            name,
            direction,
            domain: stream.domain.clone(),
            access: vec![stream.number.clone()],
            schedule: Affine { start: stream.cycle.start + (late + delay) as i64, ..stream.cycle.clone() },
        };
        let reads = delays.iter().map(|&delay| port(format!("{delay}_ago"), Direction::Read, delay));
        let ports = std::iter::once(port("write".to_owned(), Direction::Write, 0)).chain(reads).collect();
        UnifiedBuffer { name: self.graph.names.stages[result.stage].clone(), ports }
    }
}
