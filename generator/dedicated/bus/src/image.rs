//! Images in memory: how a stream walks through the dimensions of its array.

use itertools::Itertools;

use crate::registers::MOST_ARGUMENTS;

/// The elements of an array that a stream carries, by their numbers in an array without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Elements in each dimension of the array, the innermost first.
    pub shape: Vec<i64>,
    /// The first element of each word of a beat.
    pub lanes: Vec<i64>,
    /// The loops of beats, the innermost first: iterations, and elements from one to the next in each lane.
    pub loops: Vec<(u64, Vec<i64>)>,
}

/// Why a stream is no walk through an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// The words of a beat have loops of their own.
    #[error("the words of its beats follow no loops")]
    Lanes,
    /// A loop leaves a dimension: its stride has no meaning where lines have gaps.
    #[error("it walks over the end of a dimension into the next one")]
    Dimensions,
}

/// A loop over lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub extent: u64,
    /// Steps in each dimension from one iteration to the next.
    pub steps: Vec<i64>,
}

/// A stream as a walk through its array: lines without gaps, and the loops outside of them, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// Words of a line.
    pub words: u64,
    /// Index of the first word in each dimension.
    pub start: Vec<i64>,
    pub levels: Vec<Level>,
}

impl Elements {
    pub(crate) fn walk(&self) -> Result<Walk, WalkError> {
        if self.loops.iter().any(|(_, strides)| !strides.iter().all_equal()) {
            return Err(WalkError::Lanes);
        }
        let mut loops = lane_loops(&self.lanes).ok_or(WalkError::Lanes)?;
        let of_beats = self.loops.iter().map(|(extent, strides)| (*extent, strides.first().copied().unwrap_or(0)));
        loops.extend(of_beats);
        loops.retain(|(extent, _)| *extent > 1);
        let start = self.indices(self.lanes.first().copied().unwrap_or(0));
        let levels = loops.iter().map(|&(extent, stride)| Level { extent, steps: self.indices(stride) }).collect_vec();
        self.stays_inside(&start, &levels)?;
        let mut words = 1;
        let mut outside = levels.as_slice();
        while let [level, rest @ ..] = outside {
            let along = level.steps.first() == Some(&(words as i64));
            if !along || level.steps[1..].iter().any(|step| *step != 0) {
                break;
            }
            (words, outside) = (words * level.extent, rest);
        }
        Ok(Walk { words, start, levels: outside.to_vec() })
    }

    /// A number of elements as steps in each dimension.
    fn indices(&self, number: i64) -> Vec<i64> {
        let inner = self.shape.iter().take(self.shape.len().saturating_sub(1));
        let mut left = number.abs();
        let mut steps = inner
            .map(|size| {
                let step = left % size;
                left /= size;
                step * number.signum()
            })
            .collect_vec();
        steps.push(left * number.signum());
        steps
    }

    /// Whether each index stays in its dimension: then the indices are the only ones of their elements.
    fn stays_inside(&self, start: &[i64], levels: &[Level]) -> Result<(), WalkError> {
        let inside = self.shape.iter().enumerate().all(|(dimension, &size)| {
            let moves = levels.iter().map(|level| level.steps[dimension] * (level.extent as i64 - 1));
            let (least, most) = moves.fold((start[dimension], start[dimension]), |(least, most), way| {
                (least + way.min(0), most + way.max(0))
            });
            least >= 0 && most < size
        });
        if inside || self.shape.is_empty() { Ok(()) } else { Err(WalkError::Dimensions) }
    }
}

/// Words of a beat as loops, the innermost first: iterations, and elements from one to the next. Nothing where they follow no loops.
fn lane_loops(lanes: &[i64]) -> Option<Vec<(u64, i64)>> {
    let [first, second, ..] = lanes else { return Some(Vec::new()) };
    let stride = second - first;
    let even = |block: &[i64]| block.windows(2).all(|pair| pair[1] - pair[0] == stride);
    let divides = |run: &usize| lanes.len().is_multiple_of(*run) && lanes.chunks(*run).all(even);
    let run = (2..=lanes.len()).rev().find(divides)?;
    let starts = lanes.iter().copied().step_by(run).collect_vec();
    let mut loops = vec![(run as u64, stride)];
    loops.extend(lane_loops(&starts)?);
    Some(loops)
}

impl Walk {
    /// Dimensions whose stride is an argument: all but the innermost, in which elements have no gaps.
    pub fn strides(&self) -> std::ops::Range<usize> {
        1..self.start.len().max(1)
    }

    /// Whether addresses depend on the stride of a dimension.
    pub fn moves_in(&self, dimension: usize) -> bool {
        self.start[dimension] != 0 || self.levels.iter().any(|level| level.steps[dimension] != 0)
    }
}

/// Whether there are addresses for so many words of arguments.
pub(crate) fn have_addresses(words: usize) -> bool {
    words <= MOST_ARGUMENTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(shape: &[i64], lanes: &[i64], loops: &[(u64, i64)]) -> Result<Walk, WalkError> {
        let loops = loops.iter().map(|&(extent, stride)| (extent, vec![stride; lanes.len()])).collect();
        Elements { shape: shape.to_vec(), lanes: lanes.to_vec(), loops }.walk()
    }

    fn levels(walk: &Walk) -> Vec<(u64, &[i64])> {
        walk.levels.iter().map(|level| (level.extent, level.steps.as_slice())).collect()
    }

    #[test]
    fn lines_are_words_without_gaps() {
        let lines = walk(&[64, 64], &[0], &[(64, 1), (64, 64)]).unwrap();
        assert_eq!((lines.words, levels(&lines)), (64, vec![(64, [0, 1].as_slice())]));
        // Some words of a line in each beat.
        let lines = walk(&[64, 64], &[0, 1, 2, 3], &[(16, 4), (64, 64)]).unwrap();
        assert_eq!((lines.words, levels(&lines)), (64, vec![(64, [0, 1].as_slice())]));
        // All channels of a pixel: the strides of pixels and of lines are arguments.
        let pixels = walk(&[3, 64, 60], &[0, 1, 2], &[(64, 3), (60, 192)]).unwrap();
        assert_eq!((pixels.words, levels(&pixels)), (3, vec![(64, [0, 1, 0].as_slice()), (60, [0, 0, 1].as_slice())]));
        // The inner part of an image.
        let part = walk(&[64, 64], &[130], &[(60, 1), (60, 64)]).unwrap();
        assert_eq!((part.words, part.start.as_slice()), (60, [2, 2].as_slice()));
    }

    #[test]
    fn other_orders_are_walks_of_single_words() {
        let columns = walk(&[8, 6], &[0], &[(6, 8), (8, 1)]).unwrap();
        assert_eq!((columns.words, levels(&columns)), (1, vec![(6, [0, 1].as_slice()), (8, [1, 0].as_slice())]));
        let backwards = walk(&[8], &[7], &[(8, -1)]).unwrap();
        assert_eq!((backwards.words, levels(&backwards)), (1, vec![(8, [-1].as_slice())]));
        let again = walk(&[8], &[0], &[(8, 1), (3, 0)]).unwrap();
        assert_eq!((again.words, levels(&again)), (8, vec![(3, [0].as_slice())]));
        let blocks = walk(&[8, 6], &[0, 1, 8, 9], &[(4, 2), (3, 16)]).unwrap();
        assert_eq!(blocks.words, 2);
        assert_eq!(levels(&blocks), [(2, [0, 1].as_slice()), (4, [2, 0].as_slice()), (3, [0, 2].as_slice())]);
    }

    #[test]
    fn what_is_no_walk_is_refused() {
        assert_eq!(walk(&[8, 6], &[0, 5, 6], &[]), Err(WalkError::Lanes));
        assert_eq!(walk(&[8, 6], &[0, 1, 8, 10], &[]), Err(WalkError::Lanes));
        // A diagonal that runs through the end of lines.
        assert_eq!(walk(&[8, 6], &[0], &[(7, 7)]), Err(WalkError::Dimensions));
        let apart = Elements { shape: vec![8], lanes: vec![0, 1], loops: vec![(3, vec![2, 1])] };
        assert_eq!(apart.walk(), Err(WalkError::Lanes));
    }
}
