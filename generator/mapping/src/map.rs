//! From a buffer to tiles.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_buffers::UnifiedBuffer;
use pushmem_tile::{Kind, TileSpec};

use crate::attempt::{Attempt, Share};
use crate::banking::{Bank, Banking, PortLimit, banking};
use crate::cascade::cascade;
use crate::dependence::dependence;
use crate::group::{Feed, Group, Stream};
use crate::live::live_words;
use crate::mapped::{MappedBuffer, MappedTile, MappingError, Source};
use crate::merge::merge;
use crate::nest::Nest;
use crate::partition::cheapest;
use crate::{direct, wide};

/// Most read ports of a buffer.
const READ_LIMIT: usize = 16;

/// Maps a buffer to tiles of one kind: the fewest that do.
///
/// Where more ports are active in a cycle than a tile has, the buffer is tried in cyclic banks and with copies of its words,
/// one for each set of reads that fits a tile. Of as many tiles, banks keep each word once.
///
/// # Errors
/// What was tried and why it did not do, with the values and the limits that stood in the way.
pub fn map(buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<MappedBuffer, MappingError> {
    let fail = |tried: Vec<String>| MappingError { buffer: buffer.name.clone(), tile: spec.name.clone(), tried };
    buffer.check().map_err(|error| fail(vec![error.to_string()]))?;
    if spec.kind == Kind::Rom {
        return Err(fail(vec!["a rom holds constants and takes no stream".to_owned()]));
    }
    let limit = PortLimit { writes: spec.inputs as usize, reads: spec.outputs as usize };
    let whole = map_banks(&[Bank::whole(buffer)], spec);
    let mapped = match banking(buffer, limit) {
        Ok(None) => whole,
        Ok(Some(banking)) => better(whole, banked(banking, spec)),
        Err(reason) => whole.map(|mut whole| {
            if whole.copied {
                whole.tried.push(format!("cyclic banks: {reason}"));
            }
            whole
        }),
    };
    let mut mapped = mapped.map_err(fail)?;
    let digest = spec.digest();
    for tile in &mut mapped.tiles {
        tile.configuration.spec_digest = Some(digest.clone());
    }
    Ok(mapped)
}

/// The buffer in banks.
fn banked(banking: Banking, spec: &TileSpec) -> Result<MappedBuffer, Vec<String>> {
    match map_banks(&banking.banks, spec) {
        Ok(mapped) => Ok(MappedBuffer { factors: Some(banking.factors), ..mapped }),
        Err(reasons) => {
            let factors = banking.factors;
            Err(reasons.into_iter().map(|reason| format!("cyclic banks with factors {factors:?}: {reason}")).collect())
        }
    }
}

/// What takes fewer tiles: the whole buffer, perhaps with copies, or its banks, which are preferred.
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
fn map_banks(banks: &[Bank], spec: &TileSpec) -> Result<MappedBuffer, Vec<String>> {
    let mut tried = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut copied = false;
    for bank in banks {
        for (writer, streams) in streams_by_write(&bank.buffer)? {
            if streams.reads.len() > READ_LIMIT {
                tried.push(format!("{} reads of one stream; at most {READ_LIMIT} are analysed", streams.reads.len()));
                return Err(tried);
            }
            let Ok(mut own) = groups_of_stream(spec, &streams, &mut tried) else { return Err(tried) };
            // Numbers of ports and groups among all.
            let before = groups.len();
            for stream in own.iter_mut().flat_map(|group| &mut group.streams) {
                match &mut stream.feed {
                    Feed::Port(port) => *port = bank.ports[writer],
                    Feed::Group { group, .. } => *group += before,
                }
                for (read, _) in &mut stream.reads {
                    *read = read.map(|read| bank.ports[streams.reads[read].0]);
                }
            }
            let fed_by_port = |group: &&Group| matches!(group.streams[0].feed, Feed::Port(_));
            copied |= own.iter().filter(fed_by_port).count() > 1;
            groups.extend(own);
        }
    }
    merge(&mut groups, spec.inputs as usize, spec.outputs as usize, |shares| {
        attempt(spec, shares).ok().and_then(|attempt| attempt.configurations.into_iter().exactly_one().ok())
    });
    let mut mapped = MappedBuffer { tiles: Vec::new(), live_words: 0, factors: None, copied, tried };
    // The tile that shows the words of each group.
    let mut last_tiles: Vec<usize> = Vec::new();
    for group in groups {
        let last = group.configurations.len() - 1;
        let mut inputs = vec![None; spec.inputs as usize];
        for (input, stream) in inputs.iter_mut().zip(&group.streams) {
            *input = Some(match stream.feed {
                Feed::Port(port) => Source::Port(port),
                Feed::Group { group, output } => Source::Output { tile: last_tiles[group], output },
            });
            mapped.live_words += live_words(&stream.write, &stream.reads.iter().map(|(_, read)| read).collect_vec());
        }
        last_tiles.push(mapped.tiles.len() + last);
        for (number, configuration) in group.configurations.into_iter().enumerate() {
            let mut outputs = vec![None; spec.outputs as usize];
            if number == last {
                let reads = group.streams.iter().flat_map(|stream| &stream.reads);
                for (output, (read, _)) in outputs.iter_mut().zip(reads) {
                    *output = *read;
                }
            }
            let chain_from = (number > 0).then(|| mapped.tiles.len() - 1);
            mapped.tiles.push(MappedTile { configuration, inputs: inputs.clone(), outputs, chain_from });
        }
    }
    Ok(mapped)
}

/// Streams on one tile or chain.
fn attempt(spec: &TileSpec, shares: &[Share]) -> Result<Attempt, Vec<String>> {
    match spec.kind {
        Kind::WideFetch { .. } => wide::map(spec, shares),
        _ => direct::map(spec, shares),
    }
}

/// A write stream and the reads of its words.
struct Streams {
    write: Nest,
    /// Number of the port and, for each iteration, the iteration of the write.
    reads: Vec<(usize, Nest)>,
    /// Names of the read ports.
    names: Vec<String>,
}

/// Each write port with the reads that take all their words from it.
fn streams_by_write(buffer: &UnifiedBuffer) -> Result<Vec<(usize, Streams)>, Vec<String>> {
    let mut streams: Vec<(usize, Streams)> = buffer
        .writes()
        .map(|(number, port)| {
            (number, Streams { write: Nest::of(port).merged(&[]), reads: Vec::new(), names: Vec::new() })
        })
        .collect();
    for (number, port) in buffer.reads() {
        let read = Nest::of(port);
        let mut reasons = Vec::new();
        let found = streams.iter_mut().find_map(|(writer, streams)| match dependence(&read, &streams.write) {
            Ok(dependence) => Some((streams, dependence)),
            Err(reason) => {
                reasons.push(format!("{} from {}: {reason}", port.name, buffer.ports[*writer].name));
                None
            }
        });
        match found {
            Some((streams, dependence)) => {
                streams.reads.push((number, dependence));
                streams.names.push(port.name.clone());
            }
            None if reasons.is_empty() => return Err(vec!["the buffer has no write port".to_owned()]),
            None => return Err(reasons),
        }
    }
    streams.retain(|(_, streams)| !streams.reads.is_empty());
    Ok(streams)
}

/// The groups of reads of a stream that share tiles. Ports are numbered among those of the stream.
fn groups_of_stream(spec: &TileSpec, streams: &Streams, tried: &mut Vec<String>) -> Result<Vec<Group>, ()> {
    let attempt = |write: &Nest, reads: &[&Nest]| attempt(spec, &[Share { write, reads }]);
    let ports = |part: &[usize]| part.iter().map(|&read| &streams.names[read]).join(", ");
    let mut made: HashMap<Vec<usize>, Attempt> = HashMap::new();
    let parts = cheapest(streams.reads.len(), spec.outputs as usize, |part| {
        let reads = part.iter().map(|&read| &streams.reads[read].1).collect_vec();
        match attempt(&streams.write, &reads) {
            Ok(attempt) => {
                let tiles = attempt.configurations.len();
                made.insert(part.to_vec(), attempt);
                Some(tiles)
            }
            Err(reasons) => {
                tried.extend(reasons.into_iter().map(|reason| format!("{}: {reason}", ports(part))));
                None
            }
        }
    });
    let apart = parts.map(|parts| {
        let mut group = |part: Vec<usize>| {
            let attempt = made.remove(&part).expect("chosen parts are possible");
            tried.extend(attempt.tried.into_iter().map(|reason| format!("{}: {reason}", ports(&part))));
            let reads = part.into_iter().map(|read| (Some(read), streams.reads[read].1.clone())).collect();
            let stream = Stream { feed: Feed::Port(0), write: streams.write.clone(), reads };
            Group { streams: vec![stream], configurations: attempt.configurations }
        };
        parts.into_iter().map(&mut group).collect_vec()
    });
    let tiles = |groups: &[Group]| groups.iter().map(|group| group.configurations.len()).sum::<usize>();
    let outputs = spec.outputs as usize;
    let least = streams.reads.len().div_ceil(outputs);
    if let Some(groups) = apart.as_ref()
        && tiles(groups) <= least
    {
        return apart.ok_or(());
    }
    let reads = streams.reads.iter().map(|(_, read)| read).collect_vec();
    let cascade = cascade(&streams.write, &reads, outputs, |write, reads| {
        attempt(write, reads).ok().map(|attempt| attempt.configurations)
    });
    match (apart, cascade) {
        (Some(apart), Some(cascade)) if tiles(&cascade) < tiles(&apart) => Ok(cascade),
        (Some(apart), _) => Ok(apart),
        (None, Some(cascade)) => Ok(cascade),
        (None, None) => {
            tried.push("tiles one after the other: the reads are no delays of the write, or too far apart".to_owned());
            Err(())
        }
    }
}
