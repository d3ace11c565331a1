//! Blocks: the parts of arrays that some iterations of the outer loops use.

use std::cmp::Reverse;

use pushmem_nest::{AffineIndex, Loop};

use crate::blocking::Blocking;

/// The block of an array in an iteration of the loops between blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The outer loops around its copy: those to the last one with which it changes. None if the block is all that the nest uses.
    pub depth: usize,
    /// Its elements in each dimension, innermost first.
    pub shape: Vec<i64>,
    /// Whether it lies beside those of other iterations, without a gap: the elements of one belong to no other.
    pub is_apart: bool,
}

/// The loops of a nest in blocks.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'a> {
    pub loops: &'a [Loop],
    pub blocking: &'a Blocking,
}

impl Cut<'_> {
    /// Whether a loop has several blocks.
    pub fn is_cut(&self, place: usize) -> bool {
        self.blocking.tiles[place] < self.loops[place].extent
    }

    /// The iterations of the first so many outer loops.
    pub fn iterations(&self, depth: usize) -> i64 {
        let blocks = |place: &usize| self.loops[*place].extent / self.blocking.tiles[*place];
        self.blocking.outer[..depth].iter().map(blocks).product()
    }

    /// The least and the greatest value of an index in the first block.
    pub fn range(&self, index: &AffineIndex) -> (i64, i64) {
        let within = |(level, tile): (&Loop, &i64)| (level.min, level.min + tile - 1);
        let ranges: Vec<_> = self.loops.iter().zip(&self.blocking.tiles).map(within).collect();
        index.range(&ranges)
    }

    /// The block of an array that is accessed at these indices. Nothing if accesses of one dimension are apart by a number of blocks that
    /// changes.
    pub fn block(&self, accesses: &[Vec<AffineIndex>]) -> Option<Block> {
        let [first, others @ ..] = accesses else { return None };
        let mut block = Block { depth: 0, shape: Vec::new(), is_apart: others.is_empty() };
        for (dimension, index) in first.iter().enumerate() {
            let steps = |index: &AffineIndex| -> Vec<i64> {
                let cut = self.blocking.outer.iter();
                cut.map(|place| index.coefficient(*place)).collect()
            };
            let own = steps(index);
            if others.iter().any(|other| steps(&other[dimension]) != own) {
                return None;
            }
            let last = own.iter().rposition(|step| *step != 0).map_or(0, |place| place + 1);
            block.depth = block.depth.max(last);
            let (low, high) = self.hull(accesses, dimension);
            block.shape.push(high - low + 1);
            block.is_apart &= self.is_dense(index);
        }
        // A loop that goes through two dimensions leaves elements of the block out.
        let mut dimensions =
            (0..self.loops.len()).map(|place| first.iter().filter(|index| index.coefficient(place) != 0).count());
        block.is_apart &= dimensions.all(|count| count <= 1);
        Some(block)
    }

    /// Whether the blocks of an array are all of its words, in the order in which they lie, each once: parts of the outermost dimension.
    pub fn is_in_order(&self, block: &Block, accesses: &[Vec<AffineIndex>], shape: &[i64]) -> bool {
        let Some((outermost, others)) = block.shape.split_last() else { return false };
        let is_once = block.depth == 1 && follows(accesses, self.blocking.outer[0]);
        is_once
            && others == &shape[..others.len()]
            && block.is_apart
            && outermost * self.iterations(1) == shape[others.len()]
    }

    /// The dimensions of an array in the order in which those of a block lie, the innermost first: that of the innermost loop in the block. Lanes
    /// have banks of their own.
    pub fn layout(&self, indices: &[AffineIndex]) -> Vec<usize> {
        let Blocking { tiles, inner, .. } = self.blocking;
        let has_steps = |place: &usize| tiles[*place] > self.loops[*place].unroll;
        let innermost =
            |index: &AffineIndex| inner.iter().rposition(|place| has_steps(place) && index.coefficient(*place) != 0);
        let mut dimensions: Vec<usize> = (0..indices.len()).collect();
        dimensions.sort_by_key(|dimension| Reverse(innermost(&indices[*dimension])));
        dimensions
    }

    /// The least and the greatest index of a dimension in the first block.
    pub fn hull(&self, accesses: &[Vec<AffineIndex>], dimension: usize) -> (i64, i64) {
        let ranges = accesses.iter().map(|indices| self.range(&indices[dimension]));
        ranges.reduce(|(low, high), (first, last)| (low.min(first), high.max(last))).expect("there is an access")
    }

    /// Whether the values of an index in a block are all between the least and the greatest, each once, and those of the next block come after
    /// them: its steps are those of digits.
    fn is_dense(&self, index: &AffineIndex) -> bool {
        let tiles = &self.blocking.tiles;
        let inner = index.terms.iter().map(|&(place, step)| (step, tiles[place]));
        let outer =
            index.terms.iter().map(|&(place, step)| (step * tiles[place], self.loops[place].extent / tiles[place]));
        let digits = |terms: Vec<(i64, i64)>, first: i64| {
            let mut terms: Vec<_> = terms.into_iter().filter(|(_, count)| *count > 1).collect();
            terms.sort_unstable();
            terms.iter().try_fold(first, |weight, (step, count)| (*step == weight).then_some(weight * count))
        };
        digits(inner.collect(), 1).and_then(|weight| digits(outer.collect(), weight)).is_some()
    }
}

/// Whether the element of some of these accesses changes with a loop.
pub(crate) fn follows(accesses: &[Vec<AffineIndex>], place: usize) -> bool {
    accesses.iter().flatten().any(|index| index.coefficient(place) != 0)
}
