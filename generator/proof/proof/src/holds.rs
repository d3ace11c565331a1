//! Hold registers: which word one shows in a cycle, from the cycles of its loads alone.

use std::collections::HashMap;

use index_vec::IndexVec;
use itertools::Itertools;
use num_integer::Integer;
use pushmem_graph::{ApplicationGraph, Condition, Counter, Edge, WordId};

use crate::nets::{NetDriver, NetHold, direct};

/// The content of a hold register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The cycle in which it was loaded.
    pub loaded: i64,
    /// The word.
    pub word: Content,
}

/// A word, by where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The result of a stage in a cycle.
    Result { stage: usize, cycle: i64 },
    /// Always this word: a load outside of its array, or the result of a stage that is always the same.
    Constant(u16),
}

/// The content of a hold register in a cycle: the word that its source had in the last cycle before in which it was loaded.
/// Nothing if there is none, or the source is no stage's result. `loads` has those of each register, and `nets` says of each
/// net which stage's result it is.
pub(crate) fn shown(
    drivers: &IndexVec<WordId, NetDriver>,
    loads: &HashMap<WordId, Loads>,
    nets: &IndexVec<WordId, Option<usize>>,
    net: WordId,
    cycle: i64,
) -> Option<Shown> {
    let NetDriver::Hold(NetHold { source, counter, .. }) = &drivers[net] else { return None };
    let (index, loaded) = loads.get(&net)?.last_before(cycle)?;
    let mut source = *source;
    // A selection chooses in the cycle of the load by the indices of the load.
    while let Some(NetDriver::Select { counter: by, cases }) = direct(source).map(|net| &drivers[net]) {
        let of_stage = direct(source).and_then(|net| nets[net]);
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
        Edge::Constant(word) => Content::Constant(word),
        Edge::Net { net, delay } => match nets[net] {
            Some(stage) => Content::Result { stage, cycle: loaded - delay as i64 },
            None => shown(drivers, loads, nets, net, loaded - delay as i64)?.word,
        },
    };
    Some(Shown { loaded, word })
}

/// The indices of a loop in which conditions hold: evenly spaced.
#[derive(Clone, Copy, Debug)]
struct Series {
    first: i64,
    step: i64,
    count: i64,
}

impl Series {
    /// Those of all conditions on a loop of so many iterations; nothing if there are none.
    fn of(extent: u64, level: usize, conditions: &[(usize, Condition)]) -> Option<Self> {
        let all = Series { first: 0, step: 1, count: extent as i64 };
        let on_level = conditions.iter().filter(|(of, _)| *of == level);
        on_level.map(|(_, condition)| condition).try_fold(all, Series::within).filter(|series| series.count > 0)
    }

    /// Those of them in which a condition holds.
    fn within(self, condition: &Condition) -> Option<Self> {
        // The first index of both from which on they repeat together: within as many steps as the condition has.
        let from = (condition.first - self.first).max(0);
        let start = from / self.step + i64::from(from % self.step > 0);
        let first =
            (start..start + condition.step).find(|&number| number < self.count && condition.holds(self.at(number)))?;
        let step = self.step.lcm(&condition.step);
        let last = condition.last.min(self.at(self.count - 1));
        let first = self.at(first);
        Some(Series { first, step, count: (last - first) / step + 1 })
    }

    fn at(self, number: i64) -> i64 {
        self.first + number * self.step
    }

    /// The greatest index that is less than so many cycles after the first one, where indices are so far apart; the first one is.
    fn last_within(self, cycles: i64, stride: i64) -> i64 {
        let number = match self.step * stride {
            ..=0 => self.count - 1,
            apart => ((cycles - 1) / apart).min(self.count - 1),
        };
        self.at(number)
    }
}

/// The loads of a hold register. The iterations that conditions single out in each loop are evenly spaced, so that they are a nest of
/// their own. Iterations come one after the other in time, in the order of the nest.
#[derive(Clone, Debug)]
pub(crate) struct Loads {
    /// The indices of each loop.
    series: Vec<Series>,
    /// The cycle of the first load, and how far apart the iterations of each loop are.
    first: i64,
    stride: Vec<i64>,
}

impl Loads {
    /// The loads of each register of a graph, by its net; those that are never loaded have none.
    pub fn all(graph: &ApplicationGraph, drivers: &IndexVec<WordId, NetDriver>) -> HashMap<WordId, Loads> {
        let of_register = |(net, driver): (WordId, &NetDriver)| match driver {
            NetDriver::Hold(NetHold { counter, conditions, .. }) => {
                Some((net, Loads::of(&graph.counters[*counter], conditions)?))
            }
            _ => None,
        };
        drivers.iter_enumerated().filter_map(of_register).collect()
    }

    /// The iterations of a counter in which all conditions hold.
    fn of(counter: &Counter, conditions: &[(usize, Condition)]) -> Option<Self> {
        let of_level = |level: usize| Series::of(counter.extent[level], level, conditions);
        let series: Vec<Series> = (0..counter.extent.len()).map(of_level).collect::<Option<_>>()?;
        let stride = counter.cycle.stride.clone();
        let first =
            counter.cycle.start + series.iter().zip(&stride).map(|(series, stride)| series.first * stride).sum::<i64>();
        Some(Loads { series, first, stride })
    }

    /// The cycle of the last load before reads at `first` and `strides`, as a function of those loops of the reader that the loads count, so many
    /// iterations each: the first load, and how far apart loads are along each loop. Of the other loops it is the same load. Nothing if it is no
    /// such function, as far as the ends of the loops tell.
    pub fn followed_by(&self, first: i64, strides: &[i64], extents: &[i64]) -> Option<(i64, Vec<i64>)> {
        let mut apart = vec![0; strides.len()];
        // How far from the first read those are that differ in the loops which no loads count, as far as is known.
        let rest = |apart: &[i64]| {
            let levels = (0..strides.len()).filter(|&level| apart[level] == 0);
            let spans = levels.map(|level| strides[level] * (extents[level] - 1));
            spans.fold((0, 0), |(low, high), span| (low + span.min(0), high + span.max(0)))
        };
        for (series, stride) in self.series.iter().zip(&self.stride).rev().filter(|(series, _)| series.count > 1) {
            let step = series.step * stride;
            let counts =
                |level: &usize| apart[*level] == 0 && (strides[*level], extents[*level]) == (step, series.count);
            let level = (0..strides.len()).find(counts).filter(|_| step > 0)?;
            apart[level] = step;
            if first + rest(&apart).1 > self.first + step {
                return None;
            }
        }
        (first + rest(&apart).0 > self.first).then_some((self.first, apart))
    }

    /// The last load before a cycle: its iteration and its cycle. The nest is gone through from the outermost loop inwards.
    fn last_before(&self, cycle: i64) -> Option<(Vec<i64>, i64)> {
        let Loads { series, first, stride } = self;
        let mut loaded = *first;
        if loaded >= cycle {
            return None;
        }
        let mut index = series.iter().map(|series| series.first).collect_vec();
        for level in (0..index.len()).rev() {
            // The greatest index with which the least of all loops inside come before the cycle.
            let (first, stride) = (index[level], stride[level]);
            let found = series[level].last_within(cycle - loaded, stride);
            loaded += (found - first) * stride;
            index[level] = found;
        }
        Some((index, loaded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pushmem_affine::{Affine, Domain};

    /// The last load before each read of a nest, against the one that is found for its cycle.
    #[test]
    fn loads_that_follow_the_loops_of_reads_are_found() {
        let series = |count: i64| Series { first: 0, step: 1, count };
        let mut functions = 0;
        let counts = [1, 2, 3].into_iter().cartesian_product([1, 2]).cartesian_product([2, 5, 9]);
        for ((outer, inner), stride) in counts {
            let loads = Loads { series: vec![series(inner), series(outer)], first: 4, stride: vec![2, stride] };
            let reads = [-1, 0, 1, 2].into_iter().cartesian_product([2, stride, 7]).cartesian_product(2..12);
            for ((first_stride, last_stride), first) in reads {
                let (strides, extents) = ([first_stride, 2, last_stride], [2, inner, outer]);
                let Some((start, apart)) = loads.followed_by(first, &strides, &extents) else { continue };
                functions += 1;
                for index in extents.iter().map(|extent| 0..*extent).multi_cartesian_product() {
                    let along =
                        |strides: &[i64]| index.iter().zip(strides).map(|(index, stride)| index * stride).sum::<i64>();
                    let found = loads.last_before(first + along(&strides)).map(|(_, loaded)| loaded);
                    assert_eq!(
                        found,
                        Some(start + along(&apart)),
                        "{loads:?} {first} {strides:?} {extents:?} {index:?}"
                    );
                }
            }
        }
        assert!(functions > 100, "{functions}");
    }

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
                    let found = Loads::of(&counter, &conditions).and_then(|loads| loads.last_before(now));
                    assert_eq!(found, expected, "{extents:?} {conditions:?} {now}");
                }
            }
        }
    }
}
