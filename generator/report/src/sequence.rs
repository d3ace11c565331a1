//! Iterations in the order of time.

use pushmem_buffers::Port;
use pushmem_configuration::Affine;
use pushmem_schedule::{Stage, StageSchedule};
use serde::Serialize;

/// A box of iterations with the cycle of each, the innermost loop first, which is the fastest in time. An iteration ends
/// before the next of any loop begins. Loops of one iteration are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// The name of each loop.
    pub names: Vec<String>,
    /// The first index of each loop.
    pub first: Vec<i64>,
    /// The iterations of each loop.
    pub extent: Vec<u64>,
    /// The cycle of each iteration, of indices counted from 0.
    pub cycle: Affine,
}

impl Sequence {
    /// The iterations of a stage, each in the cycle in which it reads.
    pub(crate) fn of_stage(stage: &Stage, schedule: &StageSchedule) -> Self {
        let loops = stage.loops.iter().zip(&schedule.stride);
        Self::of(loops.map(|(level, &stride)| (&level.name, level.min, level.extent, stride)), schedule.first(stage))
    }

    /// The iterations of a port.
    pub(crate) fn of_port(port: &Port) -> Self {
        let loops = port.domain.iter().zip(&port.schedule.stride);
        Self::of(loops.map(|(level, &stride)| (&level.name, 0, level.extent, stride)), port.schedule.start)
    }

    /// Loops by name, first index, extent and cycles from one iteration to the next.
    fn of<'a>(loops: impl Iterator<Item = (&'a String, i64, u64, i64)>, start: i64) -> Self {
        let mut loops: Vec<_> = loops.filter(|(_, _, extent, _)| *extent > 1).collect();
        loops.sort_by_key(|(.., stride)| *stride);
        Sequence {
            names: loops.iter().map(|(name, ..)| (*name).clone()).collect(),
            first: loops.iter().map(|(_, first, ..)| *first).collect(),
            extent: loops.iter().map(|(_, _, extent, _)| *extent).collect(),
            cycle: Affine { start, stride: loops.iter().map(|(.., stride)| *stride).collect() },
        }
    }

    /// How many iterations come in this cycle or before.
    pub(crate) fn until(&self, cycle: i64) -> u64 {
        let mut rest = cycle - self.cycle.start;
        if rest < 0 {
            return 0;
        }
        let mut inside: u64 = self.extent.iter().product();
        let mut count = 1;
        for (&extent, &stride) in self.extent.iter().zip(&self.cycle.stride).rev() {
            inside /= extent;
            let index = (rest / stride).min(extent as i64 - 1);
            count += index as u64 * inside;
            rest -= index * stride;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_as_they_come() {
        let names = ["x".to_owned(), "one".to_owned(), "y".to_owned()];
        // Rows of 3 at every second cycle, 10 cycles apart, given in another order.
        let loops = [(&names[2], 0, 4, 10), (&names[1], 5, 1, 99), (&names[0], -1, 3, 2)];
        let sequence = Sequence::of(loops.into_iter(), 7);
        assert_eq!(
            (sequence.names.as_slice(), &sequence.first),
            (&[names[0].clone(), names[2].clone()][..], &vec![-1, 0])
        );
        let cycles: Vec<i64> = (0..4).flat_map(|y| (0..3).map(move |x| 7 + 10 * y + 2 * x)).collect();
        for cycle in -3..60 {
            assert_eq!(sequence.until(cycle), cycles.iter().filter(|one| **one <= cycle).count() as u64, "{cycle}");
        }
    }
}
