//! How many words a mapped stream keeps.

use itertools::Itertools;

use crate::group::{Space, Stream};
use crate::nest::Nest;
use crate::past::{self, most_at_once};
use crate::rounds::cut;

/// Most iterations that are enumerated.
const ENUMERATION_LIMIT: u128 = 1 << 18;

/// The most words of a stream that are live at once: written, and still to be read.
pub(crate) fn live_words(stream: &Stream) -> u64 {
    match stream.space {
        Space::Iterations => {
            let reads: Vec<&Nest> = stream.reads.iter().map(|read| &read.nest).collect();
            live_iterations(&stream.writes[0].nest, &reads)
        }
        Space::Elements { .. } => past::live(stream.reads.iter().filter_map(|read| read.past.as_deref())),
    }
}

/// The same where reads are given as iterations of the write. The word that a read frees in a cycle makes place for the one
/// written in that cycle.
///
/// Runs too long to enumerate are judged by their first rounds.
fn live_iterations(write: &Nest, reads: &[&Nest]) -> u64 {
    if let Some(words) = delayed(write, reads) {
        return words;
    }
    let weights = write.extent.numbering();
    let prefix = |nest: &Nest| Nest { extent: nest.extent.clipped(ENUMERATION_LIMIT as u64), ..nest.clone() };
    let nests = [write].into_iter().chain(reads.iter().copied()).map(|nest| nest.weighted(&weights)).collect_vec();
    let nests = cut(&nests.iter().collect_vec());
    let [write, reads @ ..] = &nests[..] else { unreachable!("the write comes first") };
    let written: Vec<i64> = prefix(write).cycles().collect();
    let mut last: Vec<Option<i64>> = vec![None; written.len()];
    for read in reads {
        let read = prefix(read);
        for (cycle, word) in read.cycles().zip(read.extent.values(&read.functions[0])) {
            if let Some(last) = last.get_mut(word as usize) {
                *last = (*last).max(Some(cycle));
            }
        }
    }
    most_at_once(written.into_iter().zip(last).filter_map(|(written, last)| Some((written, last?))))
}

/// Closed form where the last read of each word is the write, delayed: the words of the first cycles up to the delay,
/// as no stretch of that length has more words than the first.
fn delayed(write: &Nest, reads: &[&Nest]) -> Option<u64> {
    let delays: Option<Vec<i64>> = reads.iter().map(|read| delay(write, read)).collect();
    let longest = delays?.into_iter().max()?;
    Some(write.extent.points_until(&write.cycle, write.cycle.start + longest - 1))
}

/// How much later than the write a read is, if it is the write again, delayed.
pub(crate) fn delay(write: &Nest, read: &Nest) -> Option<i64> {
    let mut wait = read.cycle.shifted(-write.cycle.start);
    let mut words = 1;
    for ((digit, stride), &extent) in read.functions.iter().zip(&write.cycle.stride).zip(&write.extent) {
        wait = wait.plus(digit, -stride);
        let (low, high) = read.range(digit);
        words *= u128::from((low, high) == (0, extent as i64 - 1)) * u128::from(extent);
    }
    let same_words = words == read.firings();
    (same_words && wait.stride.iter().all(|&stride| stride == 0)).then_some(wait.start)
}
