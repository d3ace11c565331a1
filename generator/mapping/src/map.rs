//! From a buffer to tiles.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_buffers::{Port, UnifiedBuffer};
use pushmem_tile::{Kind, TileSpec};

use crate::attempt::Attempt;
use crate::cascade::{Feed, Group, cascade};
use crate::dependence::dependence;
use crate::live::live_words;
use crate::mapped::{MappedBuffer, MappedTile, MappingError, Source};
use crate::nest::Nest;
use crate::partition::cheapest;
use crate::{direct, wide};

/// Most read ports of a buffer.
const READ_LIMIT: usize = 16;

/// Maps a buffer to tiles of one kind: the fewest that do.
///
/// # Errors
/// What was tried and why it did not do, with the values and the limits that stood in the way.
pub fn map(buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<MappedBuffer, MappingError> {
    let fail = |tried: Vec<String>| MappingError { buffer: buffer.name.clone(), tile: spec.name.clone(), tried };
    buffer.check().map_err(|error| fail(vec![error.to_string()]))?;
    if spec.kind == Kind::Rom {
        return Err(fail(vec!["a rom holds constants and takes no stream".to_owned()]));
    }
    let mut tried = Vec::new();
    let mut mapped = MappedBuffer { tiles: Vec::new(), live_words: 0, tried: Vec::new() };
    for (number, streams) in streams_by_write(buffer).map_err(&fail)? {
        map_stream(spec, number, &streams, &mut mapped, &mut tried).map_err(|()| fail(tried.clone()))?;
    }
    let digest = spec.digest();
    for tile in &mut mapped.tiles {
        tile.configuration.spec_digest = Some(digest.clone());
    }
    mapped.tried = tried;
    Ok(mapped)
}

/// A write stream and the reads of its words.
struct Streams {
    write: Nest,
    /// Number of the port and, for each iteration, the iteration of the write.
    reads: Vec<(usize, Nest)>,
    /// Names of the read ports.
    names: Vec<String>,
}

fn nest(port: &Port) -> Nest {
    let port = port.in_time_order().expect("checked buffers have an order");
    Nest { extent: port.extents(), cycle: port.schedule, functions: port.access }
}

/// Each write port with the reads that take all their words from it.
fn streams_by_write(buffer: &UnifiedBuffer) -> Result<Vec<(usize, Streams)>, Vec<String>> {
    let mut streams: Vec<(usize, Streams)> = buffer
        .writes()
        .map(|(number, port)| (number, Streams { write: nest(port).merged(&[]), reads: Vec::new(), names: Vec::new() }))
        .collect();
    for (number, port) in buffer.reads() {
        let read = nest(port);
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

/// One write stream and its reads on as few tiles as possible.
fn map_stream(
    spec: &TileSpec,
    writer: usize,
    streams: &Streams,
    mapped: &mut MappedBuffer,
    tried: &mut Vec<String>,
) -> Result<(), ()> {
    if streams.reads.len() > READ_LIMIT {
        tried.push(format!("{} reads of one stream; at most {READ_LIMIT} are analysed", streams.reads.len()));
        return Err(());
    }
    // The tile that shows the words of each group.
    let mut last_tiles: Vec<usize> = Vec::new();
    for group in groups(spec, streams, tried)? {
        let source = match group.feed {
            Feed::Port => Source::Port(writer),
            Feed::Group { group, output } => Source::Output { tile: last_tiles[group], output },
        };
        last_tiles.push(mapped.tiles.len() + group.configurations.len() - 1);
        mapped.live_words += live_words(&group.write, &group.reads.iter().map(|(_, read)| read).collect_vec());
        let last = group.configurations.len() - 1;
        for (number, configuration) in group.configurations.into_iter().enumerate() {
            let mut inputs = vec![None; spec.inputs as usize];
            inputs[0] = Some(source);
            let mut outputs = vec![None; spec.outputs as usize];
            if number == last {
                for (output, (read, _)) in outputs.iter_mut().zip(&group.reads) {
                    *output = read.map(|read| streams.reads[read].0);
                }
            }
            let chain_from = (number > 0).then(|| mapped.tiles.len() - 1);
            mapped.tiles.push(MappedTile { configuration, inputs, outputs, chain_from });
        }
    }
    Ok(())
}

/// The groups of reads that share tiles.
fn groups(spec: &TileSpec, streams: &Streams, tried: &mut Vec<String>) -> Result<Vec<Group>, ()> {
    let attempt = |write: &Nest, reads: &[&Nest]| match spec.kind {
        Kind::WideFetch { .. } => wide::map(spec, write, reads),
        _ => direct::map(spec, write, reads),
    };
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
            Group {
                feed: Feed::Port,
                write: streams.write.clone(),
                configurations: attempt.configurations,
                reads: part.into_iter().map(|read| (Some(read), streams.reads[read].1.clone())).collect(),
            }
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
