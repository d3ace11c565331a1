//! Delays too long for a tile: tiles that delay what other tiles delayed.

use itertools::Itertools;
use pushmem_configuration::{Affine, Configuration};

use crate::group::{Feed, Group, Stream};
use crate::live::delay;
use crate::nest::Nest;

/// The write again, so much later, with itself as the iterations it reads.
fn delayed(write: &Nest, by: i64) -> Nest {
    let digit =
        |level: usize| Affine { start: 0, stride: (0..write.depth()).map(|other| i64::from(other == level)).collect() };
    let mut nest = Nest { functions: (0..write.depth()).map(digit).collect(), ..write.clone() };
    nest.cycle.start += by;
    nest
}

/// Serves reads that are delays of the write by tiles one after the other: each takes the write or an output of a tile
/// before. `attempt` maps a write and its reads to a tile. Nothing when a read is no delay, or when a delay between two
/// reads does not fit.
pub(crate) fn cascade(
    write: &Nest,
    reads: &[&Nest],
    outputs: usize,
    mut attempt: impl FnMut(&Nest, &[&Nest]) -> Option<Vec<Configuration>>,
) -> Option<Vec<Group>> {
    let delays: Vec<i64> = reads.iter().map(|read| delay(write, read)).collect::<Option<_>>()?;
    let mut rest: Vec<usize> = (0..reads.len()).sorted_by_key(|&read| delays[read]).collect();
    let mut groups: Vec<Group> = Vec::new();
    // Delays that are there already, the last one first.
    let mut feeds = vec![(0, Feed::Port(0))];
    while let Some(&first) = rest.first() {
        let found = feeds.iter().find_map(|&(base, feed)| {
            let write = delayed(write, base);
            (1..=outputs.min(rest.len())).rev().find_map(|count| {
                let taken: Vec<&Nest> = rest[..count].iter().map(|&read| reads[read]).collect();
                Some((feed, write.clone(), count, attempt(&write, &taken)?))
            })
        });
        let group = groups.len();
        if let Some((feed, write, count, configurations)) = found {
            let reads = rest.drain(..count).map(|read| (Some(read), reads[read].clone())).collect_vec();
            let served = reads
                .iter()
                .enumerate()
                .map(|(output, (read, _))| (delays[read.expect("all were reads")], Feed::Group { group, output }));
            feeds.splice(0..0, served.rev().collect_vec());
            groups.push(Group { streams: vec![Stream { feed, write, reads }], configurations });
            continue;
        }
        // As few tiles as can be on the way to the next read, with equal delays.
        let (base, feed) = feeds[0];
        let from = delayed(write, base);
        let distance = delays[first] - base;
        let mut fit = |by: i64| attempt(&from, &[&delayed(write, base + by)]);
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
        let output = delayed(write, base + by);
        feeds.insert(0, (base + by, Feed::Group { group, output: 0 }));
        let stream = Stream { feed, write: from, reads: vec![(None, output)] };
        groups.push(Group { streams: vec![stream], configurations });
    }
    Some(groups)
}
