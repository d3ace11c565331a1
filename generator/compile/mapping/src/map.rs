//! From a buffer to tiles.

use foldhash::HashMap;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_buffers::{MappedBuffer, MappedTile, Source, UnifiedBuffer};
use pushmem_tile::{Kind, TileSpec};

use crate::attempt::Attempt;
use crate::bank_merging::merge;
use crate::cascade::cascade;
use crate::cyclic_banking::{Bank, Banking, PortLimit, banking, finer};
use crate::error::MappingError;
use crate::exhaustive_banking::cheapest;
use crate::group::{Feed, Group, Space, Stream};
use crate::known::{Alike, Found, Known};
use crate::live::live_words;
use crate::streams::{Component, components};
use crate::waits::check_waits;
use crate::wide::KnownLayouts;
use crate::{direct, wide};

/// Most read ports of a stream for which all ways to share tiles are compared; of more, those that follow each other are.
const READ_LIMIT: usize = 16;

/// Maps a buffer to tiles of one kind: the fewest that do.
///
/// Where more ports are active in a cycle than a tile has, the buffer is tried in cyclic banks and with copies of its words,
/// one for each set of reads that fits a tile. Of as many tiles, banks keep each word once. Where all fails, banks are
/// as small as reads allow.
///
/// # Errors
/// The attempts and why they failed, with the values and the limits that stood in the way.
pub fn map(buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<MappedBuffer, MappingError> {
    let fail = |tried: Vec<String>| MappingError { buffer: buffer.name.clone(), tile: spec.name.clone(), tried };
    buffer.check().map_err(|fault| fail(vec![fault.message]))?;
    if spec.kind == Kind::Rom {
        return Err(fail(vec!["a rom holds constants and takes no stream".to_owned()]));
    }
    check_waits(buffer, spec)?;
    let limit = PortLimit { writes: spec.inputs as usize, reads: spec.outputs as usize };
    let mut known = Known::default();
    let whole = map_banks(&[Bank::whole(buffer)], spec, &mut known);
    let mapped = match banking(buffer, limit) {
        Ok(None) => whole,
        Ok(Some(banking)) => better(whole, banked(banking, spec, &mut known)),
        Err(reason) => whole.map(|mut whole| {
            if whole.copied {
                whole.tried.push(format!("cyclic banks: {reason}"));
            }
            whole
        }),
    };
    let mapped = mapped.or_else(|mut reasons| {
        for banking in finer(buffer, limit) {
            match banked(banking, spec, &mut known) {
                Ok(mapped) => return Ok(mapped),
                Err(more) => reasons.extend(more),
            }
        }
        Err(reasons.into_iter().unique().collect())
    });
    let mut mapped = mapped.map_err(fail)?;
    let digest = spec.digest();
    for tile in &mut mapped.tiles {
        tile.configuration.spec_digest = Some(digest.clone());
    }
    Ok(mapped)
}

/// The buffer in banks.
fn banked(banking: Banking, spec: &TileSpec, known: &mut Known) -> Result<MappedBuffer, Vec<String>> {
    match map_banks(&banking.banks, spec, known) {
        Ok(mapped) => Ok(MappedBuffer { factors: Some(banking.factors), ..mapped }),
        Err(reasons) => {
            let factors = banking.factors;
            Err(reasons.into_iter().map(|reason| format!("cyclic banks with factors {factors:?}: {reason}")).collect())
        }
    }
}

/// The mapping with fewer tiles: the whole buffer, perhaps with copies, or its banks, which are preferred.
fn better(
    whole: Result<MappedBuffer, Vec<String>>,
    banked: Result<MappedBuffer, Vec<String>>,
) -> Result<MappedBuffer, Vec<String>> {
    match (whole, banked) {
        (Ok(mut whole), Ok(banked)) if whole.tiles.len() < banked.tiles.len() => {
            let (factors, tiles) = (banked.factors.unwrap_or_default(), banked.tiles.len());
            whole.tried.push(format!("cyclic banks with factors {factors:?}: {tiles} tiles"));
            Ok(whole)
        }
        (_, Ok(banked)) => Ok(banked),
        (Ok(mut whole), Err(reasons)) => {
            whole.tried.extend(reasons);
            Ok(whole)
        }
        (Err(whole), Err(banked)) => Err([whole, banked].concat()),
    }
}

/// Maps banks to tiles, which several may share.
fn map_banks(banks: &[Bank], spec: &TileSpec, known: &mut Known) -> Result<MappedBuffer, Vec<String>> {
    let mut tried = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut copied = false;
    let mut live_words = 0;
    for bank in banks {
        for component in components(&bank.buffer, known)? {
            let (writes, reads) = (component.writes.clone(), component.reads.clone());
            let Ok(found) = found(spec, &bank.buffer, component, known, &mut tried) else {
                return Err(tried);
            };
            live_words += found.live_words;
            let mut own = found.groups.clone();
            // Numbers of ports and groups among all.
            let before = groups.len();
            for stream in own.iter_mut().flat_map(|group| &mut group.streams) {
                for write in &mut stream.writes {
                    match &mut write.feed {
                        Feed::Port(port) => *port = bank.ports[writes[*port]],
                        Feed::Group { group, .. } => *group += before,
                    }
                }
                for read in &mut stream.reads {
                    read.port = read.port.map(|port| bank.ports[reads[port]]);
                }
            }
            let fed_by_port = |group: &&Group| matches!(group.streams[0].writes[0].feed, Feed::Port(_));
            copied |= own.iter().filter(fed_by_port).count() > 1;
            groups.extend(own);
        }
    }
    merge(&mut groups, spec.inputs as usize, spec.outputs as usize, |streams| {
        let classes = streams.iter().map(|stream| stream.class).collect_vec();
        let Known { shared, layouts, .. } = &mut *known;
        let attempt = || attempt(spec, streams, layouts).ok()?.configurations.into_iter().exactly_one().ok();
        shared.entry(classes).or_insert_with(attempt).clone()
    });
    let mut mapped = MappedBuffer { tiles: Vec::new(), live_words, factors: None, copied, tried };
    // The tile that shows the words of each group.
    let mut last_tiles: Vec<usize> = Vec::new();
    for group in groups {
        let last = group.configurations.len() - 1;
        let mut inputs = vec![None; spec.inputs as usize];
        for (input, write) in inputs.iter_mut().zip(group.writes()) {
            *input = Some(match write.feed {
                Feed::Port(port) => Source::Port(port),
                Feed::Group { group, output } => Source::Output { tile: last_tiles[group], output },
            });
        }
        last_tiles.push(mapped.tiles.len() + last);
        for (number, configuration) in group.configurations.into_iter().enumerate() {
            let mut outputs = vec![None; spec.outputs as usize];
            if number == last {
                let reads = group.streams.iter().flat_map(|stream| &stream.reads);
                for (output, read) in outputs.iter_mut().zip(reads) {
                    *output = read.port;
                }
            }
            let chain_from = (number > 0).then(|| mapped.tiles.len() - 1);
            mapped.tiles.push(MappedTile { configuration, inputs: inputs.clone(), outputs, chain_from });
        }
    }
    Ok(mapped)
}

/// The groups of a component: those of one that is like it, if there was one. Its failed attempts are not listed again.
fn found(
    spec: &TileSpec,
    buffer: &UnifiedBuffer,
    component: Component,
    known: &mut Known,
    tried: &mut Vec<String>,
) -> Result<Rc<Found>, ()> {
    let alike = Alike::of(buffer, &component.writes, &component.reads);
    if let Some(found) = known.components.get(&alike) {
        return Ok(Rc::clone(found));
    }
    let (writes, reads) = (component.writes.clone(), component.reads.clone());
    let mut groups = groups_of_component(spec, buffer, component, tried)?;
    let place =
        |ports: &[usize], port: usize| ports.iter().position(|&other| other == port).expect("a port of the component");
    for stream in groups.iter_mut().flat_map(|group| &mut group.streams) {
        stream.class = known.class();
        for write in &mut stream.writes {
            if let Feed::Port(port) = &mut write.feed {
                *port = place(&writes, *port);
            }
        }
        for read in &mut stream.reads {
            read.port = read.port.map(|port| place(&reads, port));
        }
    }
    let live_words = groups.iter().flat_map(|group| &group.streams).map(live_words).sum();
    let found = Rc::new(Found { groups, live_words });
    known.components.insert(alike, Rc::clone(&found));
    Ok(found)
}

/// A stream on one tile or chain.
fn attempt_alone(spec: &TileSpec, stream: &Stream) -> Result<Attempt, Vec<String>> {
    attempt(spec, &[stream], &mut KnownLayouts::default())
}

/// Streams on one tile or chain.
fn attempt(spec: &TileSpec, streams: &[&Stream], layouts: &mut KnownLayouts) -> Result<Attempt, Vec<String>> {
    match spec.kind {
        Kind::WideFetch { .. } => wide::map(spec, streams, layouts),
        _ => direct::map(spec, streams),
    }
}

/// The groups of ports that take words from each other: with the words in the order in which they are written, if one port
/// writes them, else in place.
fn groups_of_component(
    spec: &TileSpec,
    buffer: &UnifiedBuffer,
    component: Component,
    tried: &mut Vec<String>,
) -> Result<Vec<Group>, ()> {
    match component.in_order(buffer) {
        Ok(stream) => {
            let groups = groups_of_stream(spec, buffer, &stream, tried);
            if groups.is_ok() || component.writes_once(buffer) {
                return groups;
            }
        }
        Err(reasons) => tried.extend(reasons),
    }
    match component.in_place(buffer) {
        Ok(stream) => groups_of_stream(spec, buffer, &stream, tried),
        Err(reason) => {
            tried.push(reason);
            Err(())
        }
    }
}

/// The groups of reads of a stream that share tiles.
fn groups_of_stream(
    spec: &TileSpec,
    buffer: &UnifiedBuffer,
    stream: &Stream,
    tried: &mut Vec<String>,
) -> Result<Vec<Group>, ()> {
    let name = |port: usize| buffer.ports[port].name.as_str();
    let (inputs, outputs) = (spec.inputs as usize, spec.outputs as usize);
    if stream.writes.len() > inputs {
        let writes = stream.writes.iter().filter_map(|write| match write.feed {
            Feed::Port(port) => Some(name(port)),
            Feed::Group { .. } => None,
        });
        let (writes, count) = (writes.collect_vec().join(", "), stream.writes.len());
        let inputs = if inputs == 1 { "1 input".to_owned() } else { format!("{inputs} inputs") };
        let article = if spec.name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        tried.push(format!(
            "{count} ports write the same words ({writes}), and {article} {} tile has {inputs}",
            spec.name
        ));
        return Err(());
    }
    let ports = |part: &[usize]| part.iter().filter_map(|&read| stream.reads[read].port).map(name).join(", ");
    let mut made: HashMap<Vec<usize>, Attempt> = HashMap::default();
    let mut cost = |part: &[usize]| match attempt_alone(spec, &stream.with_reads(part)) {
        Ok(attempt) => {
            let tiles = attempt.configurations.len();
            made.insert(part.to_vec(), attempt);
            Some(tiles)
        }
        Err(reasons) => {
            tried.extend(reasons.into_iter().map(|reason| format!("{}: {reason}", ports(part))));
            None
        }
    };
    let of_run = |first: usize| {
        let numbered = |part: &[usize]| part.iter().map(|read| first + read).collect_vec();
        let count = READ_LIMIT.min(stream.reads.len() - first);
        let parts = cheapest(count, outputs, |part| cost(&numbered(part)))?;
        Some(parts.iter().map(|part| numbered(part)).collect_vec())
    };
    let runs: Option<Vec<_>> = (0..stream.reads.len()).step_by(READ_LIMIT).map(of_run).collect();
    let parts = runs.map(|runs| runs.concat());
    let apart = parts.map(|parts| {
        let mut group = |part: Vec<usize>| {
            let attempt = made.remove(&part).expect("chosen parts are possible");
            tried.extend(attempt.tried.into_iter().map(|reason| format!("{}: {reason}", ports(&part))));
            Group { streams: vec![stream.with_reads(&part)], configurations: attempt.configurations }
        };
        parts.into_iter().map(&mut group).collect_vec()
    });
    let tiles = |groups: &[Group]| groups.iter().map(|group| group.configurations.len()).sum::<usize>();
    let least = stream.reads.len().div_ceil(outputs);
    if let Some(groups) = apart.as_ref()
        && tiles(groups) <= least
    {
        return apart.ok_or(());
    }
    let cascade = match stream.space {
        Space::Iterations => {
            cascade(stream, outputs, |stream| attempt_alone(spec, stream).ok().map(|attempt| attempt.configurations))
        }
        Space::Elements { .. } => None,
    };
    match (apart, cascade) {
        (Some(apart), Some(cascade)) if tiles(&cascade) < tiles(&apart) => Ok(cascade),
        (Some(apart), _) => Ok(apart),
        (None, Some(cascade)) => Ok(cascade),
        (None, None) if matches!(stream.space, Space::Elements { .. }) => Err(()),
        (None, None) => {
            tried.push("tiles one after the other: the reads are no delays of the write, or too far apart".to_owned());
            Err(())
        }
    }
}
