//! The blockings of a reduction that are worth a compile.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_nest::AffineIndex;
use serde::Serialize;

use crate::block::{Cut, follows};
use crate::blocking::Blocking;
use crate::reduction::Reduction;

/// Loops of fewer iterations stay whole, as those of a window.
const LEAST_CUT: i64 = 8;

/// Loops that are cut at once at most: their orders are all tried.
const MOST_CUT: usize = 4;

/// Cycles that differ by less than this part of those of the products are alike: then the words that are moved decide.
pub const CYCLE_STEPS: i64 = 32;

/// Memory tiles that blocks are to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Tiles.
    pub tiles: u64,
    /// Words of each.
    pub words: u64,
}

/// The cost of a blocking as the loops tell it, before a compile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Cycles of an image: of the products or of the busiest copy, and until the first block is there and the last sums are away.
    pub cycles: i64,
    /// Words that go between global buffer and memory tiles.
    pub moved: i64,
    /// Words in memory tiles: of each block those of the next one, too.
    pub words: i64,
    /// Memory tiles.
    pub tiles: i64,
    /// The arrays in blocks.
    pub arrays: Vec<ArrayBlock>,
}

/// The blocks of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayBlock {
    /// The array.
    pub array: String,
    /// Elements of a block in each dimension, innermost first.
    pub shape: Vec<i64>,
    /// Words that go from the global buffer to its blocks, and back from there.
    pub moved: i64,
    /// Words of the whole array.
    pub words: i64,
}

/// A blocking that is worth a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The blocking.
    pub blocking: Blocking,
    /// Its cost.
    pub estimate: Estimate,
}

impl Reduction {
    /// Blockings that may be the fastest within these tiles, at most so many, the most promising first: the best of each order of the
    /// loops within a block and each width of the copies, then the next best of each.
    pub fn candidates(&self, capacity: Capacity, most: usize) -> Vec<Candidate> {
        let mut by_order: BTreeMap<(bool, Vec<usize>), Vec<Candidate>> = BTreeMap::new();
        let inner_orders = self.inner_orders();
        for tiles in self.tile_sizes() {
            let cut = (0..tiles.len()).filter(|place| tiles[*place] < self.update.loops[*place].extent).collect_vec();
            if cut.is_empty() || cut.len() > MOST_CUT {
                continue;
            }
            for outer in cut.iter().copied().permutations(cut.len()) {
                for (inner, is_wide) in inner_orders.iter().cartesian_product([false, true]) {
                    let blocking =
                        Blocking { tiles: tiles.clone(), outer: outer.clone(), inner: inner.clone(), is_wide };
                    if let Some(estimate) = self.estimate(&blocking, capacity) {
                        by_order.entry((is_wide, inner.clone())).or_default().push(Candidate { blocking, estimate });
                    }
                }
            }
        }
        let rank = |Candidate { blocking, estimate }: &Candidate| {
            let is_beyond = estimate.tiles > capacity.tiles as i64;
            // Of blockings alike, that with the larger blocks, which change less often.
            let iterations: i64 = blocking.tiles.iter().product();
            let steps = estimate.cycles * CYCLE_STEPS / self.cycles();
            (is_beyond, steps, estimate.moved, Reverse(iterations), estimate.cycles, estimate.tiles)
        };
        let mut ranked = by_order.into_values().collect_vec();
        for of_order in &mut ranked {
            of_order.sort_by_cached_key(rank);
            // Other orders of loops between the same blocks that cost as much.
            of_order.dedup_by_key(|candidate| rank(candidate));
        }
        ranked.sort_by_cached_key(|of_order| rank(&of_order[0]));
        let longest = ranked.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| ranked.iter().filter_map(move |of_order| of_order.get(turn)));
        turns.take(most).cloned().collect()
    }

    /// The sizes of blocks that are tried, for each loop.
    fn tile_sizes(&self) -> impl Iterator<Item = Vec<i64>> {
        let sizes = self.update.loops.iter().map(|level| {
            let steps = level.extent / level.unroll;
            let mut sizes = vec![level.extent];
            if level.extent >= LEAST_CUT {
                // Each is at least twice the next one.
                for tile in (1..steps).rev().filter(|tile| steps % tile == 0).map(|tile| tile * level.unroll) {
                    if 2 * tile <= *sizes.last().expect("the whole loop is one") {
                        sizes.push(tile);
                    }
                }
            }
            sizes
        });
        sizes.multi_cartesian_product()
    }

    /// The orders of the loops within a block: that of the program, and for each array the one in which its words stay the longest in the lanes.
    fn inner_orders(&self) -> Vec<Vec<usize>> {
        let own = (0..self.update.loops.len()).collect_vec();
        let kept = self
            .arrays()
            .map(|(_, accesses)| own.iter().copied().sorted_by_key(|place| !follows(&accesses, *place)).collect_vec());
        std::iter::once(own.clone()).chain(kept).unique().collect()
    }

    /// The operands and the sums, with the indices of their accesses.
    fn arrays(&self) -> impl Iterator<Item = (usize, Vec<Vec<AffineIndex>>)> {
        let operands = self.operands.iter().map(|operand| (operand.array, operand.loads.clone()));
        operands.chain([(self.sums(), vec![self.sum_indices()])])
    }

    /// The cost of a blocking; nothing if the blocks cannot be in so many tiles.
    fn estimate(&self, blocking: &Blocking, capacity: Capacity) -> Option<Estimate> {
        let cut = self.cut(blocking);
        let mut estimate = Estimate { cycles: self.cycles(), moved: 0, words: 0, tiles: 0, arrays: Vec::new() };
        let (mut first, mut last) = (0, 0);
        for (array, accesses) in self.arrays() {
            let block = cut.block(&accesses)?;
            let declared = &self.program.arrays[array];
            let size: i64 = block.shape.iter().product();
            // The next block comes while this one is used.
            let kept = if block.depth == 0 { size } else { 2 * size };
            estimate.words += kept;
            if estimate.words > (capacity.tiles * capacity.words) as i64 {
                return None;
            }
            estimate.tiles += self.tiles(cut, &accesses, kept, capacity);
            if block.depth == 0 {
                continue;
            }
            let side_by_side = if blocking.is_wide { self.lanes(array, block.shape[0]) } else { 1 };
            let blocks = cut.iterations(block.depth);
            let is_sums = array == self.sums();
            let moved = match is_sums && self.sums_stay(cut, &block) {
                true if self.result.is_some() => 0,
                true => size * blocks,
                false if is_sums => 2 * size * blocks,
                false => size * blocks,
            };
            // All words come from outside, those of the first block before anything else.
            let whole = declared.size() as i64;
            estimate.cycles = estimate.cycles.max(moved.max(if is_sums { 0 } else { whole }) / side_by_side);
            match is_sums {
                true => last = size,
                false => first = first.max((self.until(cut, array, &accesses) + size) / side_by_side),
            }
            estimate.moved += moved;
            estimate.arrays.push(ArrayBlock { array: declared.name.clone(), shape: block.shape, moved, words: whole });
        }
        estimate.cycles += first + last;
        Some(estimate)
    }

    /// The cycles of its products, one for all lanes.
    pub fn cycles(&self) -> i64 {
        let steps = self.update.loops.iter().map(|level| level.extent / level.unroll);
        steps.product()
    }

    /// The words of an array up to the last one of the first block, in the order in which they come from outside.
    fn until(&self, cut: Cut, array: usize, accesses: &[Vec<AffineIndex>]) -> i64 {
        let declared = &self.program.arrays[array];
        let last = |dimension: usize| cut.hull(accesses, dimension).1 - declared.min[dimension];
        let rank = declared.shape.len();
        1 + (0..rank).rev().fold(0, |words, dimension| words * declared.shape[dimension] + last(dimension))
    }

    /// The memory tiles of an array: banks for the lanes that access words of their own in a cycle. Lanes that keep their words while as many
    /// cycles go by as there are lanes load them one after the other.
    fn tiles(&self, cut: Cut, accesses: &[Vec<AffineIndex>], words: i64, capacity: Capacity) -> i64 {
        let loops = &self.update.loops;
        let lanes: i64 =
            (0..loops.len()).filter(|place| follows(accesses, *place)).map(|place| loops[place].unroll).product();
        let within = cut.blocking.inner.iter().rev().take_while(|place| !follows(accesses, **place));
        let kept: i64 = within.map(|place| cut.blocking.tiles[*place] / loops[*place].unroll).product();
        let banks = if kept >= lanes { 1 } else { lanes };
        banks * ((words / banks) as u64).div_ceil(capacity.words).max(1) as i64
    }
}
