//! Pipelines of stages, as the scheduler sees them.

use std::fmt;

use itertools::Itertools;
use pushmem_affine::Affine;

/// A loop of a stage: indices from `min`, `extent` of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLoop {
    /// Name of its variable.
    pub name: String,
    /// First index.
    pub min: i64,
    /// Number of iterations, at least 1.
    pub extent: u64,
}

impl StageLoop {
    /// Last index.
    pub fn max(&self) -> i64 {
        self.min + self.extent as i64 - 1
    }
}

/// Treatment of an index beyond the elements of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// It never lies beyond.
    #[default]
    None,
    /// Limited to `low..=high`: the edge is repeated.
    Clamp {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// Reflected into `low..=high`, the edge repeated: `low - 1` becomes `low`, and `high + 1` becomes `high`.
    Mirror {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
    },
    /// Beyond `low..=high` there is no element; the access gives a constant.
    Outside {
        /// The least index of an element.
        low: i64,
        /// The greatest index of an element.
        high: i64,
    },
}

impl Boundary {
    /// The index after this treatment; nothing where there is no element.
    pub fn apply(self, value: i64) -> Option<i64> {
        match self {
            Boundary::None => Some(value),
            Boundary::Clamp { low, high } => Some(value.clamp(low, high)),
            Boundary::Mirror { low, high } => {
                let extent = high - low + 1;
                let place = (value - low).rem_euclid(2 * extent);
                Some(low + place.min(2 * extent - 1 - place))
            }
            Boundary::Outside { low, high } => (low..=high).contains(&value).then_some(value),
        }
    }
}

/// One dimension of an access: `boundary(⌊(Σ coefficient·index + constant) / divisor⌋) + offset`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscript {
    /// Coefficient of each loop of the stage, innermost first; 0 for a loop of one iteration, whose index is no variable.
    pub coefficients: Vec<i64>,
    /// Constant term of the dividend.
    pub constant: i64,
    /// Divisor, at least 1.
    pub divisor: i64,
    /// Treatment of indices beyond the elements.
    pub boundary: Boundary,
    /// Constant term after the boundary.
    pub offset: i64,
}

impl Subscript {
    /// A subscript without division and boundary.
    pub fn affine(coefficients: Vec<i64>, constant: i64) -> Self {
        Subscript { coefficients, constant, divisor: 1, boundary: Boundary::None, offset: 0 }
    }

    /// Whether it is an affine function of the loops: without division and boundary.
    pub fn is_affine(&self) -> bool {
        self.divisor == 1 && self.boundary == Boundary::None
    }

    /// The loop it depends on, or none if it is constant.
    ///
    /// # Errors
    /// The number of loops, if there are several.
    pub fn single_loop(&self) -> Result<Option<usize>, usize> {
        let loops: Vec<usize> = (0..self.coefficients.len()).filter(|&level| self.coefficients[level] != 0).collect();
        match loops.as_slice() {
            [] => Ok(None),
            [level] => Ok(Some(*level)),
            several => Err(several.len()),
        }
    }

    /// Its value for these indices of all loops of the stage, innermost first; nothing where there is no element.
    pub fn at(&self, indices: &[i64]) -> Option<i64> {
        self.beyond(self.coefficients.iter().zip(indices).map(|(coefficient, index)| coefficient * index).sum())
    }

    /// Its value when the only loop it depends on has this index.
    pub fn along(&self, level: Option<usize>, index: i64) -> Option<i64> {
        self.beyond(level.map_or(0, |level| self.coefficients[level] * index))
    }

    /// The quotient, before the boundary, when the only loop it depends on has this index.
    pub fn quotient(&self, level: Option<usize>, index: i64) -> i64 {
        self.divided(level.map_or(0, |level| self.coefficients[level] * index))
    }

    /// The subscript in the notation of the papers, for loops of these names: `x + 1`, `clamp(2x, 0, 63)`.
    pub fn display<'a>(&'a self, loops: &'a [StageLoop]) -> impl fmt::Display + 'a {
        fmt::from_fn(move |formatter| formatter.write_str(&self.text(loops)))
    }

    fn text(&self, loops: &[StageLoop]) -> String {
        let names = loops.iter().map(|level| &level.name).collect_vec();
        let linear = Affine { start: self.constant, stride: self.coefficients.clone() };
        let mut text = linear.text(&names);
        if self.divisor != 1 {
            text = format!("⌊({text})/{}⌋", self.divisor);
        }
        text = match self.boundary {
            Boundary::None | Boundary::Outside { .. } => text,
            Boundary::Clamp { low, high } => format!("clamp({text}, {low}, {high})"),
            Boundary::Mirror { low, high } => format!("mirror({text}, {low}, {high})"),
        };
        match self.offset {
            0 => text,
            offset => format!("{text} + {offset}").replace("+ -", "- "),
        }
    }

    fn divided(&self, linear: i64) -> i64 {
        (linear + self.constant).div_euclid(self.divisor)
    }

    fn beyond(&self, linear: i64) -> Option<i64> {
        Some(self.boundary.apply(self.divided(linear))? + self.offset)
    }
}

/// A reference to an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Index of the array in [`Pipeline::arrays`].
    pub array: usize,
    /// One subscript for each dimension of the array, innermost first.
    pub subscripts: Vec<Subscript>,
}

impl Access {
    /// Whether the element is an affine function of the loops: all subscripts are.
    pub fn is_affine(&self) -> bool {
        self.subscripts.iter().all(Subscript::is_affine)
    }

    /// Whether the element depends on a loop: a subscript has a coefficient for it.
    pub fn follows(&self, level: usize) -> bool {
        self.subscripts.iter().any(|subscript| subscript.coefficients[level] != 0)
    }

    /// The element in the notation of the papers, for loops of these names: `(x + 1, y)`.
    pub fn display<'a>(&'a self, loops: &'a [StageLoop]) -> impl fmt::Display + 'a {
        fmt::from_fn(move |formatter| {
            let elements = self.subscripts.iter().map(|subscript| subscript.display(loops));
            write!(formatter, "({})", elements.format(", "))
        })
    }
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
    /// Stages of one group run in the same cycles: the copies of an unrolled operation, the lanes of an input. They follow
    /// one another in the pipeline and have loops of the same number and first indices.
    pub group: usize,
    /// How many of its outermost loops are those of the group before it: the two are in one loop nest, one after the other
    /// in each iteration of these loops. The same for all stages of a group.
    pub shared: usize,
    /// Loops, innermost first.
    pub loops: Vec<StageLoop>,
    /// Its read accesses.
    pub reads: Vec<Access>,
    /// Its write access.
    pub write: Access,
    /// Cycles from a read to the write of the value computed from it.
    pub latency: u64,
}

impl Stage {
    /// The cycle of its first iteration, when it runs at these cycles.
    pub fn first_cycle(&self, schedule: &Affine) -> i64 {
        schedule.value(&self.loops.iter().map(|level| level.min).collect_vec())
    }

    /// The cycle of its last iteration, when it runs at these cycles.
    pub fn last_cycle(&self, schedule: &Affine) -> i64 {
        schedule.value(&self.loops.iter().map(|level| level.max()).collect_vec())
    }

    /// A function of its loops in the notation of the papers: `(x, y) → 64y + x + 65`.
    pub fn display(&self, function: &Affine) -> String {
        let names = self.loops.iter().map(|level| &level.name).collect_vec();
        format!("({}) → {}", names.iter().join(", "), function.text(&names))
    }

    /// Whether it updates elements: it reads each before it writes it.
    pub fn updates(&self) -> bool {
        self.reads.contains(&self.write)
    }

    /// The loops that no dimension of its write follows.
    pub fn loops_not_written(&self) -> impl Iterator<Item = usize> {
        (0..self.loops.len()).filter(|&level| !self.write.follows(level))
    }
}

/// Stages and the arrays between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Arrays.
    pub arrays: Vec<Array>,
    /// Stages in program order: writers of an array come before its readers.
    pub stages: Vec<Stage>,
}

impl Pipeline {
    /// How many of their outermost loops two stages have in common: those that every group from the one to the other
    /// shares.
    pub fn shared_loops(&self, one: usize, other: usize) -> usize {
        let (first, last) = (one.min(other), one.max(other));
        let mut rest = &self.stages[first..=last];
        let mut least = None;
        // Stages of a group follow one another, thousands of them where a loop is unrolled, and share the same loops.
        while let Some(stage) = rest.first() {
            rest = &rest[rest.partition_point(|other| other.group == stage.group)..];
            least = rest.first().map(|next| least.map_or(next.shared, |least| next.shared.min(least))).or(least);
        }
        least.unwrap_or(self.stages[first].loops.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_are_shown_as_the_papers_write_them() {
        let loops = ["x", "y"].map(|name| StageLoop { name: name.to_owned(), min: 0, extent: 64 });
        let plain = |coefficients: &[i64], constant| Subscript {
            coefficients: coefficients.to_vec(),
            constant,
            divisor: 1,
            boundary: Boundary::None,
            offset: 0,
        };
        let clamp = Boundary::Clamp { low: 0, high: 63 };
        for (subscript, shown) in [
            (plain(&[1, 0], 0), "x"),
            (plain(&[0, 0], 0), "0"),
            (plain(&[-1, 0], 63), "-x + 63"),
            (plain(&[-1, 2], -1), "2y - x - 1"),
            (plain(&[-3, -1], 0), "-y - 3x"),
            (Subscript { divisor: 2, ..plain(&[1, 0], 1) }, "⌊(x + 1)/2⌋"),
            (Subscript { boundary: clamp, ..plain(&[2, 0], -1) }, "clamp(2x - 1, 0, 63)"),
            (Subscript { boundary: Boundary::Mirror { low: 0, high: 63 }, ..plain(&[1, 0], 0) }, "mirror(x, 0, 63)"),
            (Subscript { offset: -2, ..plain(&[1, 0], 0) }, "x - 2"),
            (
                Subscript { divisor: 4, boundary: clamp, offset: 5, ..plain(&[-1, 0], 7) },
                "clamp(⌊(-x + 7)/4⌋, 0, 63) + 5",
            ),
        ] {
            assert_eq!(subscript.display(&loops).to_string(), shown);
        }
    }
}
