//! Bank merging: streams of their own share a tile (dissertation §5.2.3).

use itertools::Itertools;
use pushmem_configuration::Configuration;

use crate::group::{Feed, Group, Stream};

/// Groups that are asked in vain before a group stays as it is.
const MOST_REFUSED: usize = 4;

/// Merges groups of one tile each, in their order, as long as inputs and outputs are left and `attempt` finds a
/// configuration for all their streams.
pub(crate) fn merge(
    groups: &mut Vec<Group>,
    inputs: usize,
    outputs: usize,
    mut attempt: impl FnMut(&[&Stream]) -> Option<Configuration>,
) {
    let mut number = 0;
    while number < groups.len() {
        let mut failures = 0;
        let mut other = number + 1;
        while other < groups.len() && failures < MOST_REFUSED {
            let pair = [&groups[number], &groups[other]];
            let fits = [number, other].into_iter().all(|group| stands_alone(groups, group))
                && pair.iter().map(|group| group.inputs()).sum::<usize>() <= inputs
                && pair.iter().map(|group| group.outputs()).sum::<usize>() <= outputs;
            let configuration = fits.then(|| attempt(&pair.iter().flat_map(|group| &group.streams).collect_vec()));
            match configuration {
                Some(Some(configuration)) => {
                    let merged = groups.remove(other);
                    let streams = groups.iter_mut().flat_map(|group| &mut group.streams);
                    for write in streams.flat_map(|stream| &mut stream.writes) {
                        if let Feed::Group { group, .. } = &mut write.feed {
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
    let fed = groups[number].writes().any(|write| matches!(write.feed, Feed::Group { .. }));
    let feeding = groups
        .iter()
        .flat_map(Group::writes)
        .any(|write| matches!(write.feed, Feed::Group { group, .. } if group == number));
    groups[number].configurations.len() == 1 && !fed && !feeding
}
