//! Unified buffers that are mapped to memory tiles.

use itertools::Itertools;
use pushmem_buffers::UnifiedBuffer;
use pushmem_graph::{self as hardware, TileId, WireId};
use pushmem_mapping::MappedBuffer;
use pushmem_realization::Dedicated;
use serde::Serialize;

use crate::arrays::Sources;
use crate::live::{Live, delayed, stored};
use crate::sequence::Sequence;

/// A unified buffer on tiles: a delay of streams, or an array that is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryRow {
    /// Its name: of the array, or of the wires that it delays.
    pub name: String,
    /// The arrays whose words it keeps, indices of [`crate::Contents::arrays`].
    pub arrays: Vec<usize>,
    /// The arrays that it delays, and the cycles of each delay; empty if it keeps an array.
    pub delays: Vec<(String, Vec<u64>)>,
    /// Its ports, those with the same loops in the same cycles told once.
    pub ports: Vec<PortGroup>,
    /// Words that it keeps over time; nothing if that takes too long to be found out.
    pub live: Option<Live>,
    /// Words that it keeps at most, counting copies in several tiles.
    pub live_words: u64,
    /// The cyclic partition factor of each dimension, if it is in banks.
    pub factors: Option<Vec<u64>>,
    /// Whether some words are in several tiles.
    pub copied: bool,
    /// Its tiles, by number: the first, and how many.
    pub tiles: (usize, usize),
}

/// Ports that are active in the same cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortGroup {
    /// `write` or `read`.
    pub direction: &'static str,
    /// Iterations, each in the cycle in which the word is on the wire.
    pub sequence: Sequence,
    /// The name of each port, and its elements in terms of the loops: `(x + 1, y)`.
    pub ports: Vec<(String, String)>,
}

/// The memories of a compiled program, delays of streams, then arrays, with the array of each wire.
pub(crate) fn memories(compiled: &Dedicated, sources: &Sources) -> Vec<MemoryRow> {
    let accelerator = &compiled.accelerator;
    let delays = accelerator.memories.iter().map(|memory| of_streams(compiled, memory, sources));
    let arrays = accelerator.arrays.iter().map(|array| MemoryRow {
        name: array.buffer.name.clone(),
        arrays: vec![array.array],
        delays: Vec::new(),
        live: stored(&array.buffer, accelerator.length),
        ..of_buffer(&array.buffer, &array.mapped, array.first_tile)
    });
    delays.chain(arrays).collect()
}

fn of_streams(compiled: &Dedicated, memory: &hardware::DelayMemory, sources: &Sources) -> MemoryRow {
    let name = |wire: WireId| compiled.accelerator.wires[wire].name.clone();
    MemoryRow {
        name: memory.streams.iter().map(|stream| name(stream.of)).join(", "),
        arrays: memory.streams.iter().filter_map(|stream| sources[stream.of]).unique().collect(),
        delays: memory.streams.iter().map(|stream| (name(stream.of), stream.delays.clone())).collect(),
        live: Some(delayed(&memory.buffer, &memory.streams, compiled.accelerator.length)),
        ..of_buffer(&memory.buffer, &memory.mapped, memory.first_tile)
    }
}

fn of_buffer(buffer: &UnifiedBuffer, mapped: &MappedBuffer, first_tile: TileId) -> MemoryRow {
    let mut ports: Vec<PortGroup> = Vec::new();
    for port in &buffer.ports {
        let (direction, sequence) = (port.direction.name(), Sequence::of_port(port));
        let names = port.domain.iter().map(|level| level.name.as_str()).collect_vec();
        let told =
            (port.name.clone(), format!("({})", port.access.iter().map(|function| function.text(&names)).join(", ")));
        match ports.iter_mut().find(|group| group.direction == direction && group.sequence == sequence) {
            Some(group) => group.ports.push(told),
            None => ports.push(PortGroup { direction, sequence, ports: vec![told] }),
        }
    }
    MemoryRow {
        name: String::new(),
        arrays: Vec::new(),
        delays: Vec::new(),
        ports,
        live: None,
        live_words: mapped.live_words,
        factors: mapped.factors.clone(),
        copied: mapped.copied,
        tiles: (first_tile.index(), mapped.tiles.len()),
    }
}
