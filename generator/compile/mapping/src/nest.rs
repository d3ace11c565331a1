//! Loop nests with a schedule and some more affine functions.

use pushmem_affine::{Affine, Domain, strides};
use pushmem_buffers::Port;

use crate::meeting::meet;

/// Loops in the order of time, innermost first, with the cycle of each iteration and further functions of the indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Nest {
    pub extent: Domain,
    pub cycle: Affine,
    /// Elements, digits or addresses: the owner knows.
    pub functions: Vec<Affine>,
}

impl Nest {
    /// The loops of a port of a checked buffer, with its elements as functions.
    pub fn of(port: &Port) -> Nest {
        let port = port.in_time_order().expect("checked buffers have an order");
        Nest { extent: port.extents(), cycle: port.schedule, functions: port.access }
    }

    /// The loops of a port of a checked buffer, with no functions.
    pub fn of_schedule(port: &Port) -> Nest {
        Nest { functions: Vec::new(), ..Nest::of(port) }.merged(&[])
    }

    pub fn depth(&self) -> usize {
        self.extent.len()
    }

    pub fn firings(&self) -> u128 {
        self.extent.iterations()
    }

    /// The same nest, so many cycles later.
    pub fn shifted(&self, cycles: i64) -> Nest {
        Nest { cycle: self.cycle.shifted(cycles), ..self.clone() }
    }

    fn all_functions_mut(&mut self) -> impl Iterator<Item = &mut Affine> {
        self.functions.iter_mut().chain([&mut self.cycle])
    }

    /// Whether a level continues the progression of the level inside it, in `function`.
    fn continues(&self, function: &Affine, level: usize, modulus: Option<i64>) -> bool {
        let inner = i128::from(function.stride[level - 1]) * i128::from(self.extent[level - 1]);
        let difference = i128::from(function.stride[level]) - inner;
        modulus.map_or(difference == 0, |modulus| difference.rem_euclid(i128::from(modulus)) == 0)
    }

    /// Whether a level continues the schedule of the level inside it.
    pub fn continues_in_time(&self, level: usize) -> bool {
        self.continues(&self.cycle, level, None)
    }

    fn remove(&mut self, level: usize) {
        self.extent.remove(level);
        for function in self.all_functions_mut() {
            function.stride.remove(level);
        }
    }

    /// Drops loops of one iteration and merges loops that continue the loop inside them in all functions, where the
    /// `i`-th function counts modulo `moduli[i]`.
    pub fn merged(mut self, moduli: &[Option<i64>]) -> Nest {
        for level in (0..self.depth()).rev() {
            if self.extent[level] == 1 {
                self.remove(level);
            }
        }
        let mut level = 1;
        while level < self.depth() {
            let merges =
                self.continues_in_time(level)
                    && self.functions.iter().enumerate().all(|(number, function)| {
                        self.continues(function, level, moduli.get(number).copied().flatten())
                    });
            if merges {
                self.extent[level - 1] *= self.extent[level];
                self.remove(level);
            } else {
                level += 1;
            }
        }
        self
    }

    /// Splits a level into one of `inner` iterations, which must divide its extent, and one around it.
    pub fn split(mut self, level: usize, inner: u64) -> Nest {
        assert_eq!(self.extent[level] % inner, 0);
        let outer = self.extent[level] / inner;
        self.extent[level] = inner;
        self.extent.insert(level + 1, outer);
        for function in self.all_functions_mut() {
            let stride = function.stride[level] * inner as i64;
            function.stride.insert(level + 1, stride);
        }
        self
    }

    /// Splits levels of more than `limit` iterations, as evenly as their divisors allow. A level that no divisor splits
    /// stays as it is, for the check of the configuration to name.
    pub fn within(self, limit: u64) -> Nest {
        let mut nest = self;
        let mut level = 0;
        while level < nest.depth() {
            let extent = nest.extent[level];
            if extent > limit
                && let Some(inner) = (2..=limit).rev().find(|inner| extent.is_multiple_of(*inner))
            {
                nest = nest.split(level, inner);
            }
            level += 1;
        }
        nest
    }

    /// The same nest with fewer iterations: the steps from one iteration to the next, at any level, stay as they are.
    /// Properties of neighbouring iterations are the same as for the whole nest.
    pub fn shortened(&self, extent: Domain) -> Nest {
        let shorten = |function: &Affine| {
            let deltas = self.extent.deltas(&function.stride);
            let stride = strides(&deltas, &extent, |stride| stride).into_iter().map(|stride| stride as i64);
            Affine { start: function.start, stride: stride.collect() }
        };
        Nest { cycle: shorten(&self.cycle), functions: self.functions.iter().map(shorten).collect(), extent }
    }

    /// The same nest with the weighted sum of its functions as its only function.
    pub fn weighted(&self, weights: &[i64]) -> Nest {
        let zero = Affine::constant(0, self.depth());
        let weighted = self.functions.iter().zip(weights);
        let sum = weighted.fold(zero, |sum, (function, weight)| sum.plus(function, *weight));
        Nest { functions: vec![sum], ..self.clone() }
    }

    /// All firings, in order.
    pub fn cycles(&self) -> impl Iterator<Item = i64> + '_ {
        self.extent.values(&self.cycle)
    }

    /// Lets a loop make fewer iterations. From its last to the next iteration of a loop outside it is as far as before.
    pub fn shorten_loop(&mut self, level: usize, extent: u64) {
        let fewer = self.extent[level] - extent;
        self.extent[level] = extent;
        let outside = self.extent[level + 1..].to_vec();
        for function in self.all_functions_mut() {
            let mut back = function.stride[level] * fewer as i64;
            for (stride, &turns) in function.stride[level + 1..].iter_mut().zip(&outside) {
                *stride -= back;
                back *= turns as i64;
            }
        }
    }

    /// The smallest and largest value of a function.
    pub fn range(&self, function: &Affine) -> (i64, i64) {
        self.range_inside(function, self.depth())
    }

    /// The smallest and largest value of a function in the first iteration of a loop and those outside it.
    pub fn range_inside(&self, function: &Affine, level: usize) -> (i64, i64) {
        let range = self.extent.range_inside(function, level);
        (*range.start() as i64, *range.end() as i64)
    }

    /// Whether two nests, moved by offsets, never fire in the same cycle. Those that take too long to compare count as meeting.
    pub fn never_meets(&self, offset: i64, other: &Nest, other_offset: i64) -> bool {
        !meet(self, other, other.cycle.start + other_offset - self.cycle.start - offset)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use itertools::Itertools;
    use proptest::prelude::*;

    /// A nest in the order of time, from levels of (extent, cycles beyond the loops inside, step of its function).
    pub(crate) fn nest(start: i64, levels: &[(u64, i64, i64)]) -> Nest {
        let mut span = 0;
        let mut cycle = Affine { start, stride: Vec::new() };
        for &(extent, pause, _) in levels {
            let stride = span + 1 + pause;
            span += stride * (extent as i64 - 1);
            cycle.stride.push(stride);
        }
        let function = Affine { start: 5, stride: levels.iter().map(|level| level.2).collect() };
        Nest { extent: levels.iter().map(|level| level.0).collect(), cycle, functions: vec![function] }
    }

    fn levels() -> impl Strategy<Value = Vec<(u64, i64, i64)>> {
        prop::collection::vec((1_u64..6, 0_i64..8, -3_i64..20), 0..4)
    }

    /// Cycles and function values, one by one.
    fn firings(nest: &Nest, modulus: i64) -> Vec<(i64, i64)> {
        let mut firings = Vec::new();
        nest.extent.for_each(|index| {
            firings.push((nest.cycle.value(index), nest.functions[0].value(index).rem_euclid(modulus)));
        });
        firings
    }

    proptest! {
        #[test]
        fn merging_and_splitting_keep_the_firings(levels in levels(), modulus in 1_i64..30, limit in 1_u64..8) {
            let nest = nest(3, &levels);
            prop_assert_eq!(nest.cycles().collect_vec(), firings(&nest, 1).into_iter().map(|(cycle, _)| cycle).collect_vec());
            let merged = nest.clone().merged(&[Some(modulus)]);
            prop_assert_eq!(firings(&merged, modulus), firings(&nest, modulus));
            let split = merged.within(limit);
            prop_assert_eq!(firings(&split, modulus), firings(&nest, modulus));
        }

        #[test]
        fn nests_apart_never_meet(one in levels(), other in levels(), starts in (0_i64..20, 0_i64..20)) {
            let (one, other) = (nest(starts.0, &one), nest(starts.1, &other));
            let meets = one.cycles().any(|cycle| other.cycles().any(|another| another == cycle + 7));
            prop_assert_eq!(one.never_meets(7, &other, 0), !meets);
        }

        /// Neighbours stay neighbours: gaps and steps of a shortened nest are those of the whole.
        #[test]
        fn shortening_keeps_what_is_between_neighbours(levels in levels()) {
            let nest = nest(0, &levels);
            let short = nest.shortened(nest.extent.iter().map(|&extent| extent.min(2)).collect());
            let steps = |nest: &Nest| {
                let mut firings = Vec::new();
                nest.extent.for_each(|index| firings.push((nest.cycle.value(index), nest.functions[0].value(index))));
                firings.iter().tuple_windows().map(|(a, b)| (b.0 - a.0, b.1 - a.1)).unique().sorted().collect_vec()
            };
            prop_assert_eq!(steps(&short), steps(&nest));
        }
    }
}
