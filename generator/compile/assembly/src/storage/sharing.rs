//! Delays that share a tile: bank merging over the whole graph (dissertation §5.2.3).
//!
//! A memory of one tile may leave inputs, outputs and cycles of the SRAM free. Two such memories become one wherever a tile
//! has room for both.

use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_graph::DelayTiles;
use pushmem_mapping::map;
use pushmem_tile::TileSpec;

/// Memories that are asked in vain before a memory stays as it is: each attempt costs as much as mapping both.
const MOST_FAILURES: usize = 4;

/// The same delays, where memories of one tile each share tiles, in their order, where that saves a tile.
pub(super) fn shared(mut delays: Vec<DelayTiles>, spec: &TileSpec) -> Vec<DelayTiles> {
    let mut number = 0;
    while number < delays.len() {
        let mut failures = 0;
        let mut other = number + 1;
        while other < delays.len() && failures < MOST_FAILURES {
            let pair = [&delays[number], &delays[other]];
            match is_candidate(pair, spec).then(|| together(pair, spec)) {
                Some(Some(shared)) => {
                    delays[number] = shared;
                    delays.remove(other);
                    continue;
                }
                Some(None) => failures += 1,
                None => {}
            }
            other += 1;
        }
        number += 1;
    }
    delays
}

/// Whether two memories have one tile each, and one tile has as many ports as both.
fn is_candidate(pair: [&DelayTiles; 2], spec: &TileSpec) -> bool {
    let fits = |direction: Direction, limit: u32| {
        let ports = pair.iter().map(|memory| memory.buffer.directed(direction).count());
        ports.sum::<usize>() <= limit as usize
    };
    pair.iter().all(|memory| memory.mapped.tiles.len() == 1)
        && fits(Direction::Write, spec.inputs)
        && fits(Direction::Read, spec.outputs)
}

/// Two memories on one tile, if it has room for both.
fn together(pair: [&DelayTiles; 2], spec: &TileSpec) -> Option<DelayTiles> {
    let buffer = UnifiedBuffer::together(&pair.map(|memory| &memory.buffer));
    let mapped = map(&buffer, spec).ok().filter(|mapped| mapped.tiles.len() == 1)?;
    let streams = pair.iter().flat_map(|memory| memory.streams.iter().cloned()).collect();
    Some(DelayTiles { streams, buffer, mapped, first_tile: pair[0].first_tile })
}
