//! Pipelines of stages, as the scheduler sees them.

/// A loop of a stage: indices from `min`, `extent` of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Name of its variable.
    pub name: String,
    /// First index.
    pub min: i64,
    /// Number of iterations, at least 1.
    pub extent: u64,
}

impl Loop {
    /// Last index.
    pub fn max(&self) -> i64 {
        self.min + self.extent as i64 - 1
    }
}

/// One dimension of an access: `⌊(Σ coefficient·index + constant) / divisor⌋`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// Coefficient of each loop of the stage, innermost first.
    pub coefficients: Vec<i64>,
    /// Constant term.
    pub constant: i64,
    /// Divisor, at least 1.
    pub divisor: i64,
}

impl Subscript {
    /// The loop it depends on, if there is exactly one, or `Err` with the number of loops.
    pub(crate) fn single_loop(&self) -> Result<Option<usize>, usize> {
        let loops: Vec<usize> = (0..self.coefficients.len()).filter(|&level| self.coefficients[level] != 0).collect();
        match loops.as_slice() {
            [] => Ok(None),
            [level] => Ok(Some(*level)),
            several => Err(several.len()),
        }
    }

    /// Its value when the loop it depends on has this index.
    pub(crate) fn at(&self, level: Option<usize>, index: i64) -> i64 {
        let linear = level.map_or(0, |level| self.coefficients[level] * index);
        (linear + self.constant).div_euclid(self.divisor)
    }
}

/// A reference to an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index of the array in [`Pipeline::arrays`].
    pub array: usize,
    /// One subscript for each dimension of the array, innermost first.
    pub subscripts: Vec<Subscript>,
}

/// An array that stages exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Name, for messages.
    pub name: String,
    /// Cost of storing one element, for example its bytes.
    pub weight: u64,
}

/// An operation in its loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Name, for messages.
    pub name: String,
    /// Loops, innermost first.
    pub loops: Vec<Loop>,
    /// What it reads.
    pub reads: Vec<Access>,
    /// What it writes.
    pub write: Access,
    /// Cycles from a read to the write of the value computed from it.
    pub latency: u64,
}

/// Stages and the arrays between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Arrays.
    pub arrays: Vec<Array>,
    /// Stages in program order: who writes an array comes before who reads it.
    pub stages: Vec<Stage>,
}
