//! Iterations in the order of time.

use pushmem_affine::{Affine, Domain};
use pushmem_buffers::Port;
use pushmem_configuration::ControllerConfiguration;
use pushmem_graph::Counter;
use pushmem_schedule::Stage;
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
    pub extent: Domain,
    /// The cycle of each iteration, of indices counted from 0.
    pub cycle: Affine,
}

impl Sequence {
    /// The iterations of a stage, each in the cycle in which it reads.
    pub(crate) fn of_stage(stage: &Stage, schedule: &Affine) -> Self {
        let loops = stage.loops.iter().zip(&schedule.stride);
        Self::of(
            loops.map(|(level, &stride)| (&level.name, level.min, level.extent, stride)),
            stage.first_cycle(schedule),
        )
    }

    /// The iterations of a port.
    pub(crate) fn of_port(port: &Port) -> Self {
        let loops = port.domain.iter().zip(&port.schedule.stride);
        Self::of(loops.map(|(level, &stride)| (&level.name, 0, level.extent, stride)), port.schedule.start)
    }

    /// The steps of a loop counter.
    pub(crate) fn of_counter(counter: &Counter) -> Self {
        let extents = counter.extent.iter().zip(&counter.cycle.stride);
        let loops = counter.loops.iter().zip(extents).map(|(name, (&extent, &stride))| (name, 0, extent, stride));
        Self::of(loops, counter.cycle.start)
    }

    /// The firings of a controller whose time begins in this cycle.
    pub(crate) fn of_controller(controller: &ControllerConfiguration, begin: i64) -> Self {
        let names: Vec<String> = (0..controller.extent.len()).map(|level| format!("i{level}")).collect();
        let extents = controller.extent.iter().zip(&controller.cycle.stride);
        let loops = names.iter().zip(extents).map(|(name, (&extent, &stride))| (name, 0, extent, stride));
        Self::of(loops, begin + controller.cycle.start)
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

    /// Begins later.
    pub(crate) fn delay(&mut self, cycles: i64) {
        self.cycle = self.cycle.shifted(cycles);
    }

    /// How many iterations come in this cycle or before.
    pub(crate) fn until(&self, cycle: i64) -> u64 {
        self.extent.points_until(&self.cycle, cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_come_in_the_order_of_time() {
        let names = ["x".to_owned(), "one".to_owned(), "y".to_owned()];
        // Rows of 3 at every second cycle, 10 cycles apart, given in another order.
        let loops = [(&names[2], 0, 4, 10), (&names[1], 5, 1, 99), (&names[0], -1, 3, 2)];
        let sequence = Sequence::of(loops.into_iter(), 7);
        assert_eq!(
            (sequence.names.as_slice(), &sequence.first),
            (&[names[0].clone(), names[2].clone()][..], &vec![-1, 0])
        );
        assert_eq!([6, 7, 16, 17, 60].map(|cycle| sequence.until(cycle)), [0, 1, 3, 4, 12]);
    }
}
