//! Hold registers: which word one shows in a cycle, from the cycles of its loads alone.

use itertools::Itertools;
use pushmem_graph::{Condition, Counter};

use crate::nets::{NetDriver, NetGraph, NetHold, NetSource};
use crate::provenance::Past;

/// The content of a hold register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The cycle in which it was loaded.
    pub loaded: i64,
    /// The word.
    pub word: Word,
}

/// A word, by where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// What a stage gives in a cycle.
    Result { stage: usize, cycle: i64 },
    /// Always the same.
    Constant(u16),
}

/// The content of a hold register in a cycle: the word that its source had in the last cycle before in which it was loaded.
/// Nothing if there is none, or the source is no stage's result. `nets` says of each net which stage's result it is.
pub(crate) fn shown(
    graph: &dyn NetGraph,
    drivers: &[NetDriver],
    nets: &[Option<Past>],
    net: usize,
    cycle: i64,
) -> Option<Shown> {
    let NetDriver::Hold(NetHold { source, counter, conditions }) = &drivers[net] else { return None };
    let (index, loaded) = last_before(graph.counter(*counter), conditions, cycle)?;
    let mut source = *source;
    // A selection chooses in the cycle of the load by the indices of the load.
    while let Some(NetDriver::Select { counter: by, cases }) = source.direct().map(|net| &drivers[net]) {
        let of_stage = source.direct().and_then(|net| nets[net]);
        if of_stage.is_some() {
            break;
        }
        if by.is_some_and(|by| by != *counter) {
            return None;
        }
        let holds = |(level, condition): &(usize, Condition)| condition.holds(index[*level]);
        source = cases.iter().find(|case| case.conditions.iter().all(holds))?.source;
    }
    let word = match source {
        NetSource::Constant(word) => Word::Constant(word),
        NetSource::Net { net, delay } => match nets[net] {
            Some(past) => Word::Result { stage: past.stage, cycle: loaded - delay - past.cycles },
            None => shown(graph, drivers, nets, net, loaded - delay)?.word,
        },
    };
    Some(Shown { loaded, word })
}

/// The last iteration before a cycle in which all conditions hold, and its cycle. The iterations that they single out in each
/// loop are evenly spaced, so that they are a nest of their own; it is gone through from the outermost loop inwards. Iterations
/// come one after the other in time, in the order of the nest.
fn last_before(counter: &Counter, conditions: &[(usize, Condition)], cycle: i64) -> Option<(Vec<i64>, i64)> {
    let indices = (0..counter.extent.len()).map(|level| {
        let met = |index: &i64| conditions.iter().filter(|(of, _)| *of == level).all(|(_, one)| one.holds(*index));
        (0..counter.extent[level] as i64).filter(met).collect_vec()
    });
    let indices = indices.collect_vec();
    let least = indices.iter().map(|of_level| of_level.first().copied()).collect::<Option<Vec<i64>>>()?;
    let at = |index: &[i64]| {
        counter.cycle.start + index.iter().zip(&counter.cycle.stride).map(|(index, stride)| index * stride).sum::<i64>()
    };
    let mut index = least;
    if at(&index) >= cycle {
        return None;
    }
    for level in (0..indices.len()).rev() {
        // The greatest index with which the least of all loops inside come before the cycle.
        let before = indices[level].partition_point(|&candidate| {
            index[level] = candidate;
            at(&index) < cycle
        });
        index[level] = indices[level][before - 1];
    }
    let loaded = at(&index);
    Some((index, loaded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pushmem_affine::{Affine, Domain};

    /// The last load before each cycle, against a walk through all iterations.
    #[test]
    fn the_last_load_is_found() {
        let nests: [(&[u64], i64, &[i64]); 4] =
            [(&[], 5, &[]), (&[5], 2, &[3]), (&[4, 3], 7, &[2, 9]), (&[2, 3, 2], 0, &[1, 4, 20])];
        let all = |extent: u64| Condition { first: 0, last: extent as i64 - 1, step: 1 };
        for (extents, start, stride) in nests {
            let loops = extents.iter().map(|extent| format!("i{extent}")).collect();
            let cycle = Affine { start, stride: stride.to_vec() };
            let counter = Counter { loops, extent: extents.iter().copied().collect::<Domain>(), cycle };
            let choices = extents.iter().map(|&extent| {
                let some = Condition { first: 1, last: extent as i64 - 1, step: 2 };
                let one = Condition { first: extent as i64 - 1, last: extent as i64 - 1, step: 1 };
                [all(extent), some, one]
            });
            let chosen = choices.multi_cartesian_product().chain(extents.is_empty().then(Vec::new)).collect_vec();
            for conditions in chosen {
                let conditions = conditions.into_iter().enumerate().collect_vec();
                let mut loads = Vec::new();
                counter.extent.for_each(|index| {
                    if conditions.iter().all(|(level, one)| one.holds(index[*level] as i64)) {
                        loads.push((
                            index.iter().map(|&index| index as i64).collect_vec(),
                            counter.cycle.at(index) as i64,
                        ));
                    }
                });
                for now in 0..60 {
                    let expected = loads.iter().rfind(|(_, load)| *load < now).cloned();
                    assert_eq!(last_before(&counter, &conditions, now), expected, "{extents:?} {conditions:?} {now}");
                }
            }
        }
    }
}
