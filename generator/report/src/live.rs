//! How many words a memory keeps over time.

use pushmem_accelerator::Delayed;
use pushmem_buffers::{Port, UnifiedBuffer};
use pushmem_configuration::deltas;
use serde::Serialize;

use crate::sequence::Sequence;

/// Cycles of a run that are looked at, at most: a picture has no more points.
const SAMPLES: u64 = 300;

/// Most accesses and most elements of a memory that are enumerated.
const ENUMERATION_LIMIT: u128 = 1 << 21;

/// Words that are live, each from the cycle in which it is written until it is read for the last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Live {
    /// Cycles from one sample to the next; the first is in cycle 0.
    pub step: u64,
    /// The words of each sample.
    pub words: Vec<u64>,
}

impl Live {
    fn sampled(length: u64, words: impl Fn(i64) -> u64) -> Self {
        let step = length.div_ceil(SAMPLES).max(1);
        Live { step, words: (0..length).step_by(step as usize).map(|cycle| words(cycle as i64)).collect() }
    }
}

/// The words of a memory that delays streams, in a run of so many cycles: those written, but for those of the longest delay
/// ago.
pub(crate) fn delayed(buffer: &UnifiedBuffer, streams: &[Delayed], length: u64) -> Live {
    let writes: Vec<Sequence> = buffer.writes().map(|(_, port)| Sequence::of_port(port)).collect();
    Live::sampled(length, |cycle| {
        let of_stream = |(write, stream): (&Sequence, &Delayed)| {
            let longest = stream.delays.iter().max().copied().unwrap_or(0) as i64;
            write.until(cycle) - write.until(cycle - longest)
        };
        writes.iter().zip(streams).map(of_stream).sum()
    })
}

/// The words of a memory that keeps an array, in a run of so many cycles: a read takes the word that was last written
/// before. Nothing if there are too many accesses.
pub(crate) fn stored(buffer: &UnifiedBuffer, length: u64) -> Option<Live> {
    let numbers = Numbers::of(buffer);
    let accesses: u128 = buffer.ports.iter().map(Port::iterations).sum();
    if accesses > ENUMERATION_LIMIT || numbers.count() > ENUMERATION_LIMIT {
        return None;
    }
    // All writes of an element follow one another, in the order of time.
    let mut writes: Vec<(u64, i64)> = Vec::new();
    for (_, port) in buffer.writes() {
        numbers.for_each(port, |element, cycle| writes.push((element, cycle)));
    }
    writes.sort_unstable();
    let mut begin = vec![0; numbers.count() as usize + 1];
    for (element, _) in &writes {
        begin[*element as usize + 1] += 1;
    }
    for element in 1..begin.len() {
        begin[element] += begin[element - 1];
    }
    let mut last = vec![None; writes.len()];
    for (_, port) in buffer.reads() {
        numbers.for_each(port, |element, cycle| {
            let (first, end): (usize, usize) = (begin[element as usize], begin[element as usize + 1]);
            let before = writes[first..end].partition_point(|(_, written)| *written < cycle);
            if let Some(word) = before.checked_sub(1) {
                let last = &mut last[first + word];
                *last = (*last).max(Some(cycle));
            }
        });
    }
    let mut written: Vec<i64> = Vec::new();
    let mut ended: Vec<i64> = Vec::new();
    for ((_, cycle), last) in writes.iter().zip(last) {
        if let Some(last) = last {
            written.push(*cycle);
            ended.push(last);
        }
    }
    written.sort_unstable();
    ended.sort_unstable();
    let until = |cycles: &[i64], cycle: i64| cycles.partition_point(|other| *other <= cycle) as u64;
    Some(Live::sampled(length, |cycle| until(&written, cycle) - until(&ended, cycle)))
}

/// Elements of a buffer as numbers.
struct Numbers {
    low: Vec<i64>,
    size: Vec<i64>,
}

impl Numbers {
    fn of(buffer: &UnifiedBuffer) -> Self {
        let dimensions = buffer.ports.first().map_or(0, |port| port.access.len());
        let range = |dimension: usize| {
            let ranges = buffer.ports.iter().map(|port| port.range(&port.access[dimension]));
            ranges.fold((i64::MAX, i64::MIN), |(low, high), range| {
                (low.min(*range.start() as i64), high.max(*range.end() as i64))
            })
        };
        let ranges: Vec<(i64, i64)> = (0..dimensions).map(range).collect();
        Numbers {
            low: ranges.iter().map(|(low, _)| *low).collect(),
            size: ranges.iter().map(|(low, high)| high - low + 1).collect(),
        }
    }

    fn count(&self) -> u128 {
        self.size.iter().fold(1, |count, size| count.saturating_mul(*size as u128))
    }

    /// The number of the element and the cycle of each iteration of a port.
    fn for_each(&self, port: &Port, mut visit: impl FnMut(u64, i64)) {
        let extents = port.extents();
        let (mut element, mut weight) = (0, 1);
        let mut stride = vec![0; extents.len()];
        for ((function, low), size) in port.access.iter().zip(&self.low).zip(&self.size) {
            element += weight * (function.start - low);
            for (sum, step) in stride.iter_mut().zip(&function.stride) {
                *sum += weight * step;
            }
            weight *= size;
        }
        let steps: Vec<(i64, i64)> = deltas(&stride, &extents)
            .into_iter()
            .zip(deltas(&port.schedule.stride, &extents))
            .map(|(element, cycle)| (element as i64, cycle as i64))
            .collect();
        let mut cycle = port.schedule.start;
        let mut index = vec![0; extents.len()];
        loop {
            visit(element as u64, cycle);
            let Some(level) = (0..index.len()).find(|&level| index[level] + 1 < extents[level]) else { return };
            index[level] += 1;
            index[..level].fill(0);
            element += steps[level].0;
            cycle += steps[level].1;
        }
    }
}
