//! Bank merging: streams of their own share a tile (dissertation §5.2.3).

use itertools::Itertools;
use pushmem_configuration::Configuration;

use crate::attempt::Share;
use crate::group::{Feed, Group};

/// Groups that are asked in vain before a group stays as it is.
const PATIENCE: usize = 4;

/// Merges groups of one tile each, in their order, as long as inputs and outputs are left and `attempt` finds a
/// configuration for all their streams.
pub(crate) fn merge(
    groups: &mut Vec<Group>,
    inputs: usize,
    outputs: usize,
    mut attempt: impl FnMut(&[Share]) -> Option<Configuration>,
) {
    let mut number = 0;
    while number < groups.len() {
        let mut failures = 0;
        let mut other = number + 1;
        while other < groups.len() && failures < PATIENCE {
            let pair = [&groups[number], &groups[other]];
            let fits = [number, other].into_iter().all(|group| stands_alone(groups, group))
                && pair.iter().map(|group| group.streams.len()).sum::<usize>() <= inputs
                && pair.iter().map(|group| group.outputs()).sum::<usize>() <= outputs;
            let configuration = fits.then(|| {
                let streams = || pair.iter().flat_map(|group| &group.streams);
                let reads =
                    streams().map(|stream| stream.reads.iter().map(|(_, read)| read).collect_vec()).collect_vec();
                let shares = streams().zip(&reads).map(|(stream, reads)| Share { write: &stream.write, reads });
                attempt(&shares.collect_vec())
            });
            match configuration {
                Some(Some(configuration)) => {
                    let merged = groups.remove(other);
                    for stream in groups.iter_mut().flat_map(|group| &mut group.streams) {
                        if let Feed::Group { group, .. } = &mut stream.feed {
                            *group -= usize::from(*group > other);
                        }
                    }
                    groups[number].streams.extend(merged.streams);
                    groups[number].configurations = vec![configuration];
                }
                Some(None) => {
                    failures += 1;
                    other += 1;
                }
                None => other += 1,
            }
        }
        number += 1;
    }
}

/// Whether a group is one tile that neither feeds others nor is fed by them: those keep their outputs and their place.
fn stands_alone(groups: &[Group], number: usize) -> bool {
    let feeds = |group: &Group| group.streams.iter().map(|stream| stream.feed).collect_vec();
    let fed = feeds(&groups[number]).iter().any(|feed| matches!(feed, Feed::Group { .. }));
    let feeding =
        groups.iter().flat_map(feeds).any(|feed| matches!(feed, Feed::Group { group, .. } if group == number));
    groups[number].configurations.len() == 1 && !fed && !feeding
}
