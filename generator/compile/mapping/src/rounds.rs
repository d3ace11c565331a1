//! Runs cut to the rounds that matter.
//!
//! The ports of an array mostly go through the same outer loops: tiles of an image, channels, frames. Each round does
//! the same, later and perhaps with words of its own. Accesses depend on each other within some rounds only, so that a
//! run of few rounds shows all dependences: the cost of following the run does not grow with the iterations of these
//! loops.

use itertools::Itertools;
use pushmem_affine::Domain;

use crate::nest::Nest;

/// Nests cut to so few rounds of the outer loops that all of them share, that every stretch of the whole run is in the rest,
/// at some other time, with the words in other places: the distances of accesses, in time and between places that they
/// share, are the same. The functions of all nests are places in the same space. Nests keep their loops.
///
/// A loop is shared if all nests have it, with the same schedule and the same steps in all functions. Rounds that are active
/// at the same time are kept together, as are those that have places in common; of loops around these, two iterations.
pub(crate) fn cut(nests: &[&Nest]) -> Vec<Nest> {
    let mut short = nests.iter().map(|&nest| nest.clone()).collect_vec();
    let shared = shared(nests);
    let Some(innermost) = shared.last() else { return short };
    let reaches = shared.iter().map(|levels| reach(nests, levels)).collect_vec();
    // A round with those that begin while it lasts, and one more, whose words it may take.
    let together = 2 + duration(nests, innermost) / least_gap(nests[0], &shared);
    let mut kept = 1;
    // Iterations of a loop and those that continue it: how many matter, and how many there are.
    let (mut wanted, mut turns) = (1, 1);
    for (number, levels) in shared.iter().enumerate().rev() {
        let extent = nests[0].extent[levels[0]];
        if !shared.get(number + 1).is_some_and(|inside| continues(nests[0], levels[0], inside[0])) {
            (wanted, turns) = (together.div_ceil(kept) + 1, 1);
        }
        let next = wanted.div_ceil(turns);
        // Of rounds outside, none may come back to the same places.
        let separate = reaches[..number].iter().all(|reach| *reach == Reach::Rounds(0));
        let rounds = match reaches[number] {
            Reach::All => extent.min(next),
            Reach::Rounds(reach) if separate => extent.min(next.max(reach + 1)),
            Reach::Rounds(_) => extent,
        };
        for (nest, &level) in short.iter_mut().zip(levels) {
            nest.shorten_loop(level, rounds);
        }
        kept *= rounds;
        turns *= rounds;
    }
    short
}

/// The loops that all nests share, the outermost first: the number of its level in each nest.
fn shared(nests: &[&Nest]) -> Vec<Vec<usize>> {
    let turning = |nest: &Nest| (0..nest.depth()).rev().filter(|&level| nest.extent[level] > 1).collect_vec();
    let levels = nests.iter().map(|nest| turning(nest)).collect_vec();
    let depth = levels.iter().map(Vec::len).min().unwrap_or(0);
    let candidates = (0..depth).map(|number| levels.iter().map(|levels| levels[number]).collect_vec());
    let same = |levels: &Vec<usize>| {
        let of_nest = |(nest, &level): (&&Nest, &usize)| {
            let steps = nest.functions.iter().map(|function| function.stride[level]).collect_vec();
            (nest.extent[level], nest.cycle.stride[level], steps)
        };
        nests.iter().zip(levels).map(of_nest).all_equal()
    };
    candidates.take_while(same).collect()
}

/// Whether a loop continues one inside it, in time and in all functions.
fn continues(nest: &Nest, level: usize, inside: usize) -> bool {
    let turns = nest.extent[inside] as i64;
    nest.functions.iter().chain([&nest.cycle]).all(|function| function.stride[level] == function.stride[inside] * turns)
}

/// The rounds of a loop that have places in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// All of them: each goes to the same places.
    All,
    /// Those up to so many rounds apart.
    Rounds(u64),
}

/// The reach of a shared loop, given by its level in each nest.
fn reach(nests: &[&Nest], levels: &[usize]) -> Reach {
    let of_function = |number: usize| {
        let step = nests[0].functions[number].stride[levels[0]];
        let ranges = nests.iter().zip(levels).map(|(nest, &level)| {
            let function = &nest.functions[number];
            nest.range_inside(function, level)
        });
        let (low, high) = ranges.reduce(|(low, high), range| (low.min(range.0), high.max(range.1)))?;
        (step != 0).then(|| ((high - low) / step.abs()) as u64)
    };
    // Places are the same if all functions are.
    let least = (0..nests[0].functions.len()).filter_map(of_function).min();
    least.map_or(Reach::All, Reach::Rounds)
}

/// Cycles from the first to the last access of a round of the innermost shared loop.
fn duration(nests: &[&Nest], levels: &[usize]) -> u64 {
    let ranges = nests.iter().zip(levels).map(|(nest, &level)| nest.range_inside(&nest.cycle, level));
    let (first, last) =
        ranges.fold((i64::MAX, i64::MIN), |(first, last), range| (first.min(range.0), last.max(range.1)));
    (last - first) as u64
}

/// The least time from one round to the next.
fn least_gap(nest: &Nest, shared: &[Vec<usize>]) -> u64 {
    let levels = || shared.iter().rev().map(|levels| levels[0]);
    let strides = levels().map(|level| nest.cycle.stride[level]).collect_vec();
    let gaps = levels().map(|level| nest.extent[level]).collect::<Domain>().deltas(&strides);
    gaps.into_iter().min().map_or(u64::MAX, |least| least.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use pushmem_affine::Affine;

    use super::*;
    use crate::nest::tests::nest;
    use crate::past::{Past, live};
    use crate::storage_folding::rows_needed;

    /// A loop that all nests share: how often it turns, the cycles between its rounds beyond the longest, and whether its
    /// rounds have elements of their own.
    type Shared = (u64, i64, bool);

    /// The loops of a nest: (extent, pause, step), and its start.
    type Inner = (Vec<(u64, i64, i64)>, i64);

    /// Nests within shared loops, each with the element as functions: that of its own loops, and a dimension for each
    /// shared loop.
    fn nests(shared: &[Shared], inner: &[Inner], overlap: i64) -> Vec<Nest> {
        let mut nests = inner.iter().map(|(levels, start)| nest(*start, levels)).collect_vec();
        for nest in &mut nests {
            let dimension = Affine { start: 0, stride: vec![0; nest.depth()] };
            nest.functions.extend(vec![dimension; shared.len()]);
        }
        // Rounds of a nest do not overlap; those of one may with those of another.
        let mut period =
            nests.iter().map(|nest| nest.cycle.value(&nest.extent.last()) - nest.cycle.start + 1).max().unwrap_or(1);
        for (number, &(extent, pause, own)) in shared.iter().enumerate() {
            period += if number == 0 { (pause - overlap).max(0) } else { pause };
            for nest in &mut nests {
                nest.extent.push(extent);
                nest.cycle.stride.push(period);
                for (function, place) in nest.functions.iter_mut().zip(0..) {
                    function.stride.push(i64::from(own && place == number + 1));
                }
            }
            period *= extent as i64;
        }
        nests
    }

    fn shared() -> impl Strategy<Value = Vec<Shared>> {
        prop::collection::vec((1_u64..7, 0_i64..4, any::<bool>()), 1..4)
    }

    fn inner(start: std::ops::Range<i64>) -> impl Strategy<Value = Inner> {
        (prop::collection::vec((1_u64..4, 0_i64..3, 0_i64..3), 0..3), start)
    }

    /// Writes whose words the reads take: by read, how long ago which write wrote its word.
    fn taken(past: &Past) -> Vec<BTreeSet<(usize, i64)>> {
        let of_read = |read: usize| {
            let followed = &past.reads[read];
            followed.nest.cycles().zip(&followed.words).map(|(cycle, word)| (word.write, cycle - word.cycle)).collect()
        };
        (0..past.reads.len()).map(of_read).collect()
    }

    proptest! {
        /// The sources of reads, the distances of writes and the number of live words are the same in the whole run.
        #[test]
        fn a_cut_run_shows_what_the_whole_run_does(
            shared in shared(),
            writes in prop::collection::vec(inner(0..20), 1..3),
            reads in prop::collection::vec(inner(10..60), 1..3),
        ) {
            let all = nests(&shared, &[reads.clone(), writes].concat(), 3);
            let whole = Past::of_nests(&all, reads.len(), false);
            let short = Past::of_nests(&all, reads.len(), true);
            prop_assert_eq!(whole.is_ok(), short.is_ok());
            if let (Ok(whole), Ok(short)) = (whole, short) {
                prop_assert_eq!(taken(&whole), taken(&short));
                prop_assert_eq!(&whole.gaps, &short.gaps);
                let live = |past: &Past| live(past.reads.iter().map(AsRef::as_ref));
                prop_assert_eq!(live(&whole), live(&short));
            }
        }

        /// Nests that meet do so in the first rounds.
        #[test]
        fn cut_nests_meet_as_whole_ones_do(shared in shared(), one in inner(0..40), other in inner(0..40)) {
            let nests = nests(&shared, &[one, other], 0);
            let short = cut(&nests.iter().collect_vec());
            let meet = |nests: &[Nest]| {
                let cycles = nests[0].cycles().collect::<BTreeSet<_>>();
                nests[1].cycles().any(|cycle| cycles.contains(&cycle))
            };
            prop_assert_eq!(meet(&short), meet(&nests));
        }

        /// Rows in the order of writing, and fetches of one of each round, some rounds later.
        #[test]
        fn as_many_rows_are_needed_as_in_the_whole_run(
            shared in shared(),
            rows in 1_u64..5,
            fetches in inner(1..60),
            place in 0_i64..5,
        ) {
            let all = nests(&shared, &[(vec![(rows, 0, 1)], 0), fetches], 0);
            let number = |nest: &Nest, numbering: &[i64], first: i64| {
                let mut function = Affine { start: first, stride: vec![0; nest.depth()] };
                let outer = nest.depth() - shared.len();
                function.stride[outer..].copy_from_slice(numbering);
                function
            };
            let (mut write, mut fetch) = (all[0].clone(), all[1].clone());
            let numbering = write.extent.numbering();
            write.functions = vec![Affine { start: 0, stride: numbering.clone() }];
            fetch.functions = vec![number(&fetch, &numbering[1..], place % rows as i64)];
            let expected = needed(&fetch, &write);
            let [short_fetch, short_write] = &cut(&[&fetch, &write])[..] else { unreachable!("each nest is cut") };
            prop_assert_eq!(needed(short_fetch, short_write), expected);
            // In closed form, writes have no end.
            prop_assert!(rows_needed(&fetch, 0, &write, 0) >= expected);
        }
    }

    /// The rows written until a fetch, from its own on, by enumeration.
    fn needed(fetches: &Nest, rows: &Nest) -> i64 {
        let written = rows.cycles().collect_vec();
        let mut needed = 1;
        fetches.extent.for_each(|index| {
            let (row, cycle) = (fetches.functions[0].value(index), fetches.cycle.value(index));
            needed = needed.max(written.partition_point(|&written| written <= cycle) as i64 - row);
        });
        needed
    }

    /// A layer of 64 tiles, each of 4 rounds: as many as overlap, and one more, and the step from tile to tile.
    #[test]
    fn few_rounds_are_kept() {
        let all = nests(&[(4, 0, true), (64, 5, true)], &[(vec![(9, 0, 1)], 0), (vec![(8, 0, 1)], 9)], 0);
        let short = cut(&all.iter().collect_vec());
        assert_eq!(short[0].extent, [9, 4, 2]);
        // A loop that continues the one inside has nothing to add.
        let all = nests(&[(64, 0, false), (64, 0, false)], &[(vec![(9, 0, 1)], 0), (vec![(8, 0, 1)], 9)], 0);
        assert_eq!(cut(&all.iter().collect_vec())[1].extent, [8, 4, 1]);
    }
}
