//! Memories that share a tile: bank merging over the whole accelerator (dissertation §5.2.3).
//!
//! A memory of one tile may leave inputs, outputs and cycles of the SRAM free. Two such memories become one wherever a tile
//! has room for both.

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_mapping::{Source, map};
use pushmem_nest::Level;

use pushmem_graph::{Accelerator, DelayMemory, Driver, Tile, TileId};

/// Memories that are asked in vain before a memory stays as it is: each attempt costs as much as mapping both.
const PATIENCE: usize = 4;

/// Merges memories of one tile each, in their order, where that saves a tile.
pub(crate) fn merge_memories(accelerator: &mut Accelerator) {
    let mut merged = vec![false; accelerator.memories.len()];
    // Those of arrays stay where they are.
    let of_arrays = accelerator.arrays.iter().map(|array| array.mapped.tiles.len()).sum();
    let mut tiles: IndexVec<TileId, Tile> = accelerator.tiles.iter().take(of_arrays).cloned().collect();
    let mut memories = Vec::new();
    for number in 0..accelerator.memories.len() {
        if std::mem::replace(&mut merged[number], true) {
            continue;
        }
        let first_tile = tiles.next_idx();
        let memory = &accelerator.memories[number];
        let old = &accelerator.tiles[memory.first_tile..memory.first_tile + memory.mapped.tiles.len()];
        match shared(accelerator, number, &mut merged) {
            Some(shared) => {
                tiles.push(tile(old[TileId::new(0)].name.clone(), &shared));
                memories.push(DelayMemory { first_tile, ..shared });
            }
            None => {
                let moved = |from: TileId| first_tile + (from - memory.first_tile).index();
                tiles.extend(old.iter().map(|tile| Tile { chain_from: tile.chain_from.map(moved), ..tile.clone() }));
                memories.push(DelayMemory { first_tile, ..memory.clone() });
            }
        }
    }
    (accelerator.tiles, accelerator.memories) = (tiles, memories);
    for (tile, content) in accelerator.tiles.iter_enumerated() {
        for (output, wire) in content.outputs.iter().enumerate() {
            if let Some(wire) = wire {
                accelerator.wires[*wire].driver = Driver::Tile { tile, output };
            }
        }
    }
}

/// A memory with those after it that find room on its tile, which are noted.
fn shared(accelerator: &Accelerator, number: usize, merged: &mut [bool]) -> Option<DelayMemory> {
    let mut shared: Option<DelayMemory> = None;
    let mut failures = 0;
    for (other, next) in accelerator.memories.iter().enumerate().skip(number + 1) {
        let pair = [shared.as_ref().unwrap_or(&accelerator.memories[number]), next];
        let fits = |direction: Direction, limit: u32| {
            let ports = pair.iter().map(|memory| memory.buffer.directed(direction).count());
            ports.sum::<usize>() <= limit as usize
        };
        let candidate = !merged[other]
            && pair.iter().all(|memory| memory.mapped.tiles.len() == 1)
            && fits(Direction::Write, accelerator.target.memory().inputs)
            && fits(Direction::Read, accelerator.target.memory().outputs);
        if !candidate {
            continue;
        }
        let buffer = UnifiedBuffer::together(&pair.map(|memory| &memory.buffer));
        match map(&buffer, accelerator.target.memory()) {
            Ok(mapped) if mapped.tiles.len() == 1 => {
                let streams = pair.iter().flat_map(|memory| memory.streams.iter().cloned()).collect();
                shared = Some(DelayMemory { streams, buffer, mapped, first_tile: TileId::new(0) });
                merged[other] = true;
            }
            _ => failures += 1,
        }
        if failures == PATIENCE {
            break;
        }
    }
    shared
}

/// The only tile of memories that share it.
fn tile(name: String, memory: &DelayMemory) -> Tile {
    let content = memory.mapped.tiles.iter().exactly_one().unwrap_or_else(|_| unreachable!("all are on one tile"));
    let input = |source: &Option<Source>| match source {
        Some(Source::Port(port)) => Some(memory.wire(*port)),
        Some(Source::Output { .. }) => unreachable!("there is no other tile"),
        None => None,
    };
    Tile {
        name,
        level: Level::Memory,
        begin: 0,
        configuration: content.configuration.clone(),
        inputs: content.inputs.iter().map(input).collect(),
        outputs: content.outputs.iter().map(|port| port.map(|port| memory.wire(port))).collect(),
        chain_from: None,
    }
}
