//! Delays too long for a tile: cascades of tiles.

use itertools::Itertools;
use pushmem_configuration::Configuration;

use crate::group::{Feed, Group, Stream, Write};
use crate::live::delay;

/// Serves reads that are delays of the write by tiles one after the other: each takes the write or an output of a tile
/// before. `attempt` maps a stream to a tile. Nothing when a read is no delay, or when a delay between two reads does not fit.
pub(crate) fn cascade(
    stream: &Stream,
    outputs: usize,
    mut attempt: impl FnMut(&Stream) -> Option<Vec<Configuration>>,
) -> Option<Vec<Group>> {
    let [Write { nest: write, feed }] = &stream.writes[..] else { return None };
    let reads = &stream.reads;
    let delays: Vec<i64> = reads.iter().map(|read| delay(write, &read.nest)).collect::<Option<_>>()?;
    let mut rest: Vec<usize> = (0..reads.len()).sorted_by_key(|&read| delays[read]).collect();
    let mut groups: Vec<Group> = Vec::new();
    // Delays that are there already, the last one first.
    let mut feeds = vec![(0, *feed)];
    while let Some(&first) = rest.first() {
        let found = feeds.iter().find_map(|&(base, feed)| {
            let write = write.shifted(base);
            (1..=outputs.min(rest.len())).rev().find_map(|count| {
                let taken = rest[..count].iter().map(|&read| (Some(read), reads[read].nest.clone()));
                let stream = Stream::of_iterations(feed, &write, taken);
                let configurations = attempt(&stream)?;
                Some((count, stream, configurations))
            })
        });
        let group = groups.len();
        if let Some((count, mut stream, configurations)) = found {
            let taken = rest.drain(..count).collect_vec();
            let served = taken.iter().enumerate().map(|(output, &read)| (delays[read], Feed::Group { group, output }));
            feeds.splice(0..0, served.rev().collect_vec());
            for (made, read) in stream.reads.iter_mut().zip(taken) {
                made.port = reads[read].port;
            }
            groups.push(Group { streams: vec![stream], configurations });
            continue;
        }
        // As few tiles as can be on the way to the next read, with equal delays.
        let (base, feed) = feeds[0];
        let from = write.shifted(base);
        let distance = delays[first] - base;
        let step = |by: i64| Stream::of_iterations(feed, &from, [(None, write.shifted(base + by))]);
        let mut fit = |by: i64| attempt(&step(by));
        let (mut longest, mut limit) = (0, distance);
        while limit - longest > 1 {
            let middle = longest + (limit - longest) / 2;
            if fit(middle).is_some() {
                longest = middle;
            } else {
                limit = middle;
            }
        }
        if longest == 0 {
            return None;
        }
        let tiles = (distance as u64).div_ceil(longest as u64) as i64;
        let by = (distance as u64).div_ceil(tiles as u64) as i64;
        let configurations = fit(by)?;
        feeds.insert(0, (base + by, Feed::Group { group, output: 0 }));
        groups.push(Group { streams: vec![step(by)], configurations });
    }
    Some(groups)
}
