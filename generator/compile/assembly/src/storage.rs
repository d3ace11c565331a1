//! The arrays and the long delays of an application graph on memory tiles.
//!
//! A back end connects the tiles and makes the other delays: this pass knows no wires.

mod delays;
mod fixed;
mod sharing;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_buffers::MappedBuffer;
use pushmem_files::free_name;
use pushmem_graph::{
    ApplicationGraph, ArrayId, ArrayMemory, ArrayNode, DelayTiles, Edge, KernelId, Memories, MemoryTile, Storage,
    TileId, TileInput, WordDriver, WordId, earlier,
};
use pushmem_mapping::Source;
use pushmem_nest::Level;
use pushmem_tile::TileSpec;

use crate::application::Tiles;
use crate::array_mapping::map_in_time;
use crate::constraints::Constraints;
use crate::shortage::Shortage;

/// Whether delays share memory tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSharing {
    /// Those of one tile each do, where that saves a tile (bank merging, dissertation §5.2.3).
    Shared,
    /// Each has tiles of its own.
    Apart,
}

/// Maps the arrays and the long delays of an application graph to memory tiles.
///
/// # Errors
/// When the tiles of its level cannot keep an array, or the memory tiles cannot make a delay.
pub fn storage(
    graph: &ApplicationGraph,
    tiles: Tiles,
    constraints: &Constraints,
    sharing: TileSharing,
) -> Result<Storage, Shortage> {
    let mut storage = Storage::default();
    for (number, node) in graph.arrays.iter_enumerated() {
        add_array(&mut storage, number, node, tiles)?;
    }
    let memory = tiles.target.memory();
    let delays = match tiles.target.memories {
        Memories::Fixed => {
            let (delays, line_words) = delays::of_words(graph, memory, constraints);
            storage.line_words = line_words;
            delays
        }
        Memories::Tiles => {
            let delays = delays::delays(graph, memory, constraints)?;
            if sharing == TileSharing::Shared { sharing::shared(delays, memory) } else { delays }
        }
    };
    let spec = Arc::new(memory.clone());
    delays.into_iter().for_each(|delays| add_delays(&mut storage, graph, delays, &spec));
    Ok(storage)
}

/// The same memories, each as large as its words need, where they are made for the program.
pub fn least_storage(graph: &ApplicationGraph, storage: &Storage) -> Storage {
    let mut least = Storage { line_words: storage.line_words, ..Storage::default() };
    for (node, memory) in graph.arrays.iter().zip(&storage.arrays) {
        let ArrayNode { level, buffer, writes, .. } = node;
        let largest = &storage.tiles[memory.first_tile].spec;
        let (mapped, spec) = fixed::least(&earlier(buffer, memory.begin), &memory.mapped, largest);
        let place = Place { name: &buffer.name, level: *level, spec: &spec, begin: memory.begin };
        let first_tile = add_tiles(&mut least, &mapped, place, |port| writes[port]);
        least.arrays.push(ArrayMemory { begin: memory.begin, mapped, first_tile });
    }
    for delays in &storage.delays {
        let (mapped, spec) = fixed::least(&delays.buffer, &delays.mapped, &storage.tiles[delays.first_tile].spec);
        add_delays(&mut least, graph, DelayTiles { mapped, ..delays.clone() }, &spec);
    }
    least
}

fn add_array(storage: &mut Storage, number: ArrayId, node: &ArrayNode, tiles: Tiles) -> Result<(), Shortage> {
    let ArrayNode { array, level, buffer, writes, .. } = node;
    let spec = tiles.target.at(*level).unwrap_or_else(|| tiles.target.memory());
    let (begin, mapped) = map_in_time(buffer, spec, tiles.mappings).map_err(|error| Shortage::Array {
        array: *array,
        level: *level,
        error: Box::new(error),
        others: Vec::new(),
    })?;
    let place = Place { name: &buffer.name, level: *level, spec: &Arc::new(spec.clone()), begin };
    let first_tile = add_tiles(storage, &mapped, place, |port| writes[port]);
    let added = storage.arrays.push(ArrayMemory { begin, mapped, first_tile });
    debug_assert_eq!(added, number, "arrays are added in their order");
    Ok(())
}

fn add_delays(storage: &mut Storage, graph: &ApplicationGraph, delays: DelayTiles, spec: &Arc<TileSpec>) {
    let Edge::Net { net, delay } = delays.written(0) else { unreachable!("nets are delayed") };
    let name = match delay {
        0 => graph.words[net].name.clone(),
        _ => format!("{}_{delay}_ago", graph.words[net].name),
    };
    let place = Place { name: &name, level: Level::Memory, spec, begin: 0 };
    let first_tile = add_tiles(storage, &delays.mapped, place, |port| delays.written(port));
    storage.delays.push(DelayTiles { first_tile, ..delays });
}

/// The name, the level, the specification and the first cycle of some tiles.
struct Place<'a> {
    name: &'a str,
    level: Level,
    spec: &'a Arc<TileSpec>,
    begin: u64,
}

/// Adds the tiles of a mapped buffer with these edges at its write ports. Returns the first of them.
fn add_tiles(
    storage: &mut Storage,
    mapped: &MappedBuffer,
    Place { name, level, spec, begin }: Place,
    written: impl Fn(usize) -> Edge,
) -> TileId {
    let first_tile = storage.tiles.next_idx();
    let several = mapped.tiles.len() > 1;
    // An array and the results that are stored in it may both need a memory.
    let is_free = |stem: &String| {
        let names = [format!("{stem}_memory"), format!("{stem}_memory_0")];
        storage.tiles.iter().all(|tile| !names.contains(&tile.name))
    };
    let name = free_name(name, 2, is_free);
    for (number, tile) in mapped.tiles.iter().enumerate() {
        let input = |source: &Source| match *source {
            Source::Port(port) => TileInput::Edge(written(port)),
            Source::Output { tile, output } => TileInput::Output { tile: first_tile + tile, output },
        };
        storage.tiles.push(MemoryTile {
            name: if several { format!("{name}_memory_{number}") } else { format!("{name}_memory") },
            level,
            spec: spec.clone(),
            begin,
            configuration: tile.configuration.clone(),
            inputs: tile.inputs.iter().map(|source| source.as_ref().map(input)).collect(),
            outputs: tile.outputs.len(),
            chain_from: tile.chain_from.map(|other| first_tile + other),
        });
    }
    first_tile
}

/// The nets of results whose delays may be wanted, in the order of their stages.
pub fn results(graph: &ApplicationGraph) -> Vec<(usize, WordId)> {
    let inputs = graph.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| lane.net);
    let kernels = graph.kernels.iter().flat_map(|kernel| kernel.nets.iter().copied());
    let copies = graph.copies.iter().flat_map(|copy| copy.nets.iter().copied());
    let nets = inputs.chain(kernels).chain(copies);
    let stage = |net: WordId| graph.words[net].result.as_ref().map(|result| (result.stage, net));
    nets.filter_map(stage).sorted().dedup().collect()
}

/// The kernels with registers whose results come back: their own operands, or those of stages above, are some of them, or they go
/// to random-access memories.
pub fn carried(graph: &ApplicationGraph) -> BTreeSet<KernelId> {
    let places: BTreeMap<WordId, usize> = results(graph).into_iter().map(|(stage, net)| (net, stage)).collect();
    let mut carried = BTreeSet::new();
    for (&net, &stage) in &places {
        let mut open = taken(graph, net);
        let mut known = BTreeSet::new();
        while let Some(source) = open.pop() {
            match places.get(&source) {
                Some(&producer) if producer < stage => {}
                Some(_) => _ = carried.insert(source),
                None if known.insert(source) => open.extend(taken(graph, source)),
                None => {}
            }
        }
    }
    // Random-access memories show what is written in the same cycle.
    let written = graph.rams.iter().flat_map(|ram| &ram.writes).flat_map(|write| [write.element, write.address]);
    carried.extend(written.filter_map(net_of));
    let kernel = |net: WordId| match graph.words[net].driver {
        WordDriver::Kernel { kernel, .. } => Some(kernel).filter(|&kernel| graph.kernels[kernel].latency > 0),
        _ => None,
    };
    carried.into_iter().filter_map(kernel).collect()
}

/// The nets that a net takes words of.
fn taken(graph: &ApplicationGraph, net: WordId) -> Vec<WordId> {
    let edges = match &graph.words[net].driver {
        WordDriver::Kernel { kernel, .. } => graph.kernels[*kernel].operands.clone(),
        WordDriver::Select(choices) => choices.iter().map(|choice| choice.edge).collect(),
        WordDriver::Hold(hold) => vec![hold.edge],
        WordDriver::Input { .. } | WordDriver::Port { .. } | WordDriver::Ram { .. } => Vec::new(),
    };
    edges.into_iter().filter_map(net_of).collect()
}

fn net_of(edge: Edge) -> Option<WordId> {
    match edge {
        Edge::Net { net, .. } => Some(net),
        Edge::Constant(_) => None,
    }
}

/// The delays at which each net is wanted.
pub fn wanted_delays(graph: &ApplicationGraph) -> IndexVec<WordId, BTreeSet<u64>> {
    let mut delays: IndexVec<WordId, BTreeSet<u64>> = index_vec::index_vec![BTreeSet::new(); graph.words.len()];
    for edge in graph.edges() {
        if let Edge::Net { net, delay } = edge {
            delays[net].insert(delay);
        }
    }
    delays
}
