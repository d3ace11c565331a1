//! Parts of a mapped buffer that have nothing to do with each other, as the banks of lanes.
//!
//! A read shows words of its own tiles, and expects those of the writes that may touch its elements. So a buffer is right if each
//! part is: tiles that are joined, their reads, and these writes. Banks of lanes differ in nothing but the elements, which are those
//! of another bank moved by a constant: of parts that are alike, one tells about all.

use std::collections::{BTreeMap, HashMap};

use num_integer::gcd;
use pushmem_buffers::{Loop, MappedBuffer, MappedTile, Port, Source, UnifiedBuffer};

/// Tiles with the ports that decide whether they are right.
pub(crate) struct Part {
    pub buffer: UnifiedBuffer,
    pub mapped: MappedBuffer,
}

/// One part of each kind; nothing if the buffer is one part, or a read has no tile.
pub(crate) fn distinct(buffer: &UnifiedBuffer, mapped: &MappedBuffer) -> Option<Vec<Part>> {
    let mut of_root: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (tile, root) in joined(mapped).into_iter().enumerate() {
        of_root.entry(root).or_default().push(tile);
    }
    let served =
        |port: usize| mapped.tiles.iter().flat_map(|tile| &tile.outputs).filter(|of| **of == Some(port)).count();
    if of_root.len() < 2 || buffer.reads().any(|(port, _)| served(port) != 1) {
        return None;
    }
    let mut known: HashMap<Vec<Port>, Vec<Vec<MappedTile>>> = HashMap::new();
    let mut parts = Vec::new();
    for tiles in of_root.into_values() {
        let part = part(buffer, mapped, &tiles);
        let alike = known.entry(without_place(&part.buffer)).or_default();
        if !alike.contains(&part.mapped.tiles) {
            alike.push(part.mapped.tiles.clone());
            parts.push(part);
        }
    }
    Some(parts)
}

/// For each tile, the first of those that it is joined with: by a chain, or because one takes words of the other.
fn joined(mapped: &MappedBuffer) -> Vec<usize> {
    let mut root: Vec<usize> = (0..mapped.tiles.len()).collect();
    for (number, tile) in mapped.tiles.iter().enumerate() {
        let outputs = tile.inputs.iter().flatten().filter_map(|source| match source {
            Source::Output { tile, .. } => Some(*tile),
            Source::Port(_) => None,
        });
        for other in outputs.chain(tile.chain_from) {
            let (one, other) = (root[number], root[other]);
            root.iter_mut().filter(|root| **root == one.max(other)).for_each(|root| *root = one.min(other));
        }
    }
    root
}

/// The part of these tiles.
fn part(buffer: &UnifiedBuffer, mapped: &MappedBuffer, tiles: &[usize]) -> Part {
    let of_tiles = || tiles.iter().map(|&tile| &mapped.tiles[tile]);
    let is_read = |port: usize| of_tiles().any(|tile| tile.outputs.contains(&Some(port)));
    let is_taken = |port: usize| of_tiles().any(|tile| tile.inputs.contains(&Some(Source::Port(port))));
    let reads: Vec<&Port> = buffer.reads().filter(|(port, _)| is_read(*port)).map(|(_, port)| port).collect();
    let matters = |port: usize| is_taken(port) || reads.iter().any(|read| may_meet(&buffer.ports[port], read));
    let writes = buffer.writes().map(|(port, _)| port).filter(|port| matters(*port));
    let read_ports = buffer.reads().map(|(port, _)| port).filter(|port| is_read(*port));
    let mut ports: Vec<usize> = writes.chain(read_ports).collect();
    ports.sort_unstable();
    let place = |port: usize| ports.iter().position(|other| *other == port).expect("a port of the part");
    let tile_place = |tile: usize| tiles.iter().position(|other| *other == tile).expect("joined tiles are in one part");
    let moved = |tile: &MappedTile| MappedTile {
        configuration: tile.configuration.clone(),
        inputs: tile
            .inputs
            .iter()
            .map(|source| {
                source.map(|source| match source {
                    Source::Port(port) => Source::Port(place(port)),
                    Source::Output { tile, output } => Source::Output { tile: tile_place(tile), output },
                })
            })
            .collect(),
        outputs: tile.outputs.iter().map(|port| port.map(place)).collect(),
        chain_from: tile.chain_from.map(tile_place),
    };
    let tiles = of_tiles().map(moved).collect();
    let ports = ports.iter().map(|&port| buffer.ports[port].clone()).collect();
    Part {
        buffer: UnifiedBuffer { name: buffer.name.clone(), ports },
        mapped: MappedBuffer { tiles, ..mapped.clone() },
    }
}

/// Whether two ports may touch a common element: no dimension has their elements in different ranges or at different remainders.
fn may_meet(one: &Port, other: &Port) -> bool {
    one.access.iter().zip(&other.access).all(|(first, second)| {
        let (own, its) = (one.range(first), other.range(second));
        let steps = |port: &Port, function: &pushmem_affine::Affine| {
            let moving = function.stride.iter().zip(&port.domain).filter(|(_, level)| level.extent > 1);
            moving.fold(0, |divisor, (step, _)| gcd(divisor, *step))
        };
        let step = i128::from(gcd(steps(one, first), steps(other, second)));
        let apart = own.start() - its.start();
        own.start() <= its.end() && its.start() <= own.end() && (step == 0 || apart % step == 0)
    })
}

/// The ports without names, and with elements counted from the least that they touch.
fn without_place(buffer: &UnifiedBuffer) -> Vec<Port> {
    let dimensions = buffer.ports.first().map_or(0, |port| port.access.len());
    let least = |dimension: usize| {
        let ranges = buffer.ports.iter().map(|port| *port.range(&port.access[dimension]).start());
        ranges.min().unwrap_or(0)
    };
    let least: Vec<i128> = (0..dimensions).map(least).collect();
    let placed = |port: &Port| {
        let mut port = port.clone();
        port.name.clear();
        port.domain = port.domain.into_iter().map(|level| Loop { name: String::new(), ..level }).collect();
        for (function, least) in port.access.iter_mut().zip(&least) {
            function.start = (i128::from(function.start) - least) as i64;
        }
        port
    };
    buffer.ports.iter().map(placed).collect()
}
