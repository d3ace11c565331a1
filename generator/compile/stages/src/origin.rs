//! The origins of stages in the program.

use crate::pipeline::Pipeline;

/// The origin of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The stream of an input.
    Input {
        /// The array, an index of `Program::arrays`.
        array: usize,
        /// Which of the elements that come together: in raster order one number for each dimension, in the order of its
        /// reader one number.
        lanes: Vec<i64>,
    },
    /// A copy of an operation.
    Operation {
        /// The operation, an index of `Program::operations`.
        operation: usize,
        /// Which copy: for each loop, innermost first, which of the iterations executed together.
        ///
        /// The copies of a reduction along loops that its target does not follow are one stage, whose lane there is 0: it
        /// reads what they load, copy by copy as in `Extraction::copies`, and the target last.
        lanes: Vec<i64>,
    },
}

impl Origin {
    /// The operation of which the stage is a copy; nothing for an input.
    pub fn operation(&self) -> Option<usize> {
        match self {
            Origin::Input { .. } => None,
            Origin::Operation { operation, .. } => Some(*operation),
        }
    }
}

/// The stages of a program, and the origin of each.
#[derive(Clone, Copy, Debug)]
pub struct Staged<'a> {
    /// The arrays, numbered as in the program, and the stages.
    pub pipeline: &'a Pipeline,
    /// By stage: its origin.
    pub origins: &'a [Origin],
}

impl Staged<'_> {
    /// Whether an array is an input: stages of the stream are all that write it. However often one of its elements comes, it
    /// is the same word.
    pub fn is_input(&self, array: usize) -> bool {
        let writers = self.pipeline.stages.iter().zip(self.origins).filter(|(stage, _)| stage.write.array == array);
        writers.into_iter().all(|(_, origin)| matches!(origin, Origin::Input { .. }))
    }
}
