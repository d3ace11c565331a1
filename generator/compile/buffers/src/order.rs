//! Ports in the order of time.

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};

use crate::buffer::{Loop, Port};

/// A loop whose next iteration begins before the loops inside it have ended.
pub(crate) struct Overlap {
    /// Name of the loop.
    pub name: String,
    /// Cycles from one iteration to the next.
    pub stride: u64,
    /// Cycles that the loops inside take.
    pub inside: i128,
}

impl Port {
    /// The first loop, from the fastest to the slowest, because of which the schedule does not order the iterations.
    pub(crate) fn overlap(&self) -> Option<Overlap> {
        let turning = self.domain.iter().zip(&self.schedule.stride).filter(|(level, _)| level.extent > 1);
        let mut inside = 1;
        turning.sorted_by_key(|(_, stride)| stride.unsigned_abs()).find_map(|(level, stride)| {
            let stride = stride.unsigned_abs();
            let overlap = Overlap { name: level.name.clone(), stride, inside };
            let overlaps = i128::from(stride) < inside;
            inside += i128::from(stride) * (i128::from(level.extent) - 1);
            overlaps.then_some(overlap)
        })
    }

    /// The same port with its loops sorted so that time grows from iteration to iteration, the innermost loop the
    /// fastest, and without loops of one iteration. Loops that run backwards in time are counted from their other end.
    ///
    /// Nothing when two iterations share a cycle, or when no order of the loops is the order of time.
    pub fn in_time_order(&self) -> Option<Port> {
        let mut functions: Vec<Affine> = self.access.iter().chain([&self.schedule]).cloned().collect();
        let mut order: Vec<usize> = (0..self.domain.len()).filter(|&level| self.domain[level].extent > 1).collect();
        order.sort_by_key(|&level| self.schedule.stride[level].unsigned_abs());
        for &level in &order {
            if self.schedule.stride[level] < 0 {
                for function in &mut functions {
                    function.start += function.stride[level] * (self.domain[level].extent as i64 - 1);
                    function.stride[level] = -function.stride[level];
                }
            }
        }
        for function in &mut functions {
            function.stride = order.iter().map(|&level| function.stride[level]).collect();
        }
        let schedule = functions.pop().expect("the schedule was added last");
        let domain: Vec<Loop> = order.into_iter().map(|level| self.domain[level].clone()).collect();
        let extents: Domain = domain.iter().map(|level| level.extent).collect();
        extents.deltas(&schedule.stride).into_iter().all(|gap| gap >= 1).then(|| Port {
            name: self.name.clone(),
            direction: self.direction,
            domain,
            access: functions,
            schedule,
        })
    }
}
