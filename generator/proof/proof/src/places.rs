//! The elements that an access touches, and whether two accesses touch the same.
//!
//! Two accesses meet where a linear equation for each dimension of their array has a solution within their loops. The test
//! is the classical one: for each way in which the iterations of both may relate (direction vectors), the greatest common
//! divisor of the coefficients must divide the constant, and the constant must lie between the bounds of the sum (Banerjee),
//! once for all variables, and again for those that remain below each choice of the one with the greatest coefficient. It may
//! say that accesses meet that do not, never the reverse.

use std::cmp::Ordering;

use itertools::Itertools;
use num_integer::gcd;
use pushmem_nest::{Access as NestAccess, Array, Loop, ranges};
use pushmem_stages::{Access, Boundary, Stage, Subscript};

use crate::digits::Digits;

/// How an iteration of one access relates to one of another: by the outermost loops, counted alike by both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direction {
    /// So many of the outermost loops have the same index.
    pub equal: usize,
    /// How the index of the one compares with that of the other in the loop within; nothing if that is not said.
    pub then: Option<Ordering>,
}

impl Direction {
    /// The iterations are unrestricted.
    pub const ANY: Direction = Direction { equal: 0, then: None };

    /// All ways in which iterations can relate in so many loops: exactly one of them holds for any two.
    pub fn all(depth: usize) -> impl Iterator<Item = Direction> {
        let apart =
            |equal: usize| [Ordering::Less, Ordering::Greater].map(|then| Direction { equal, then: Some(then) });
        (0..depth).flat_map(apart).chain([Direction { equal: depth, then: None }])
    }
}

/// The indices of one dimension that an access gives.
#[derive(Clone, Debug)]
enum Form {
    /// `constant + Σ coefficient · index`, outermost loop first.
    Affine { constant: i64, coefficients: Vec<i64> },
    /// Some between these.
    Within { low: i64, high: i64 },
}

/// The elements that an access touches.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The first and the last index of each loop, outermost first.
    domain: Vec<(i64, i64)>,
    forms: Vec<Form>,
}

impl Places {
    /// Those of an access of a stage.
    pub fn of_stage(stage: &Stage, access: &Access) -> Self {
        let form = |subscript: &Subscript| match subscript.is_affine() {
            true => Form::Affine {
                constant: subscript.constant + subscript.offset,
                coefficients: subscript.coefficients.iter().rev().copied().collect(),
            },
            false => {
                let (low, high) = bounds(stage, subscript);
                Form::Within { low, high }
            }
        };
        let domain = stage.loops.iter().rev().map(|level| (level.min, level.max())).collect();
        Places { domain, forms: access.subscripts.iter().map(form).collect() }
    }

    /// The places of an access of an operation, in all of its loops. Of a read that may lie outside of its array, only
    /// places inside count.
    pub fn of_operation(loops: &[&Loop], access: &NestAccess, clip: Option<&Array>) -> Self {
        let domain = ranges(loops.iter().copied());
        let form = |(dimension, index): (usize, &pushmem_nest::Index)| match (index.as_affine(), clip) {
            (Some(affine), _) => Form::Affine {
                constant: affine.evaluate(&vec![0; loops.len()]),
                coefficients: (0..loops.len()).map(|outer| affine.coefficient(outer)).collect(),
            },
            (None, clip) => {
                let (low, high) = index.range(&domain);
                let limits = clip.map_or((low, high), |array| (array.min[dimension], array.max(dimension)));
                Form::Within { low: low.max(limits.0), high: high.min(limits.1) }
            }
        };
        let forms = access.indices.iter().enumerate().map(form).collect();
        Places { domain, forms }
    }

    /// The same with a loop in its first iteration only.
    pub fn without_loop(mut self, outer: usize) -> Self {
        self.domain[outer].1 = self.domain[outer].0;
        self
    }

    /// How many loops are around it.
    pub fn depth(&self) -> usize {
        self.domain.len()
    }

    /// The least and the greatest index of a dimension, and the common divisor of all distances, 0 for one index.
    pub fn extremes(&self, dimension: usize) -> (i64, i64, i64) {
        match &self.forms[dimension] {
            Form::Within { low, high } => (*low, *high, i64::from(low < high)),
            Form::Affine { constant, coefficients } => {
                let start = (*constant, *constant, 0);
                coefficients.iter().zip(&self.domain).fold(start, |(low, high, step), (coefficient, (first, last))| {
                    let ends = [coefficient * first, coefficient * last];
                    let step = if first < last { gcd(step, *coefficient) } else { step };
                    (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]), step)
                })
            }
        }
    }

    /// How many dimensions its array has.
    pub fn dimensions(&self) -> usize {
        self.forms.len()
    }

    /// Whether it may touch an element that another access touches, in iterations that relate so.
    pub fn meet(&self, other: &Places, direction: Direction) -> bool {
        (0..self.forms.len()).all(|dimension| match (&self.forms[dimension], &other.forms[dimension]) {
            (Form::Affine { .. }, Form::Affine { .. }) => {
                self.difference(other, dimension, direction).is_some_and(|sum| sum.may_be_zero())
            }
            _ => {
                let (one, other) = (self.extremes(dimension), other.extremes(dimension));
                one.0 <= other.1 && other.0 <= one.1
            }
        })
    }

    /// The difference of the indices of a dimension; nothing if no iterations relate so.
    fn difference(&self, other: &Places, dimension: usize, direction: Direction) -> Option<Linear> {
        let (Form::Affine { constant, coefficients }, Form::Affine { constant: from, coefficients: steps }) =
            (&self.forms[dimension], &other.forms[dimension])
        else {
            return None;
        };
        let mut sum = Linear { least: i128::from(constant - from), ..Linear::default() };
        let common = direction.equal + usize::from(direction.then.is_some());
        for (outer, pair) in
            coefficients.iter().zip(&self.domain).zip_longest(steps.iter().zip(&other.domain)).enumerate()
        {
            let (mine, its) = pair.left_and_right();
            let (Some((&coefficient, &mine)), Some((&step, &its)), true) = (mine, its, outer < common) else {
                mine.into_iter().for_each(|(&coefficient, &range)| sum.add(coefficient, range));
                its.into_iter().for_each(|(&step, &range)| sum.add(-step, range));
                continue;
            };
            // The index of the other, and how much greater that of the one is.
            let (index, ahead) = match direction.then.filter(|_| outer == direction.equal) {
                None => ((mine.0.max(its.0), mine.1.min(its.1)), (0, 0)),
                Some(Ordering::Greater) => (its, (1, mine.1 - its.0)),
                Some(_) => (its, (mine.0 - its.1, -1)),
            };
            if index.0 > index.1 || ahead.0 > ahead.1 {
                return None;
            }
            sum.add(coefficient - step, index);
            sum.add(coefficient, ahead);
        }
        Some(sum)
    }
}

/// A linear function `constant + Σ coefficient · variable`, each variable within an interval of its own.
#[derive(Clone, Debug, Default)]
struct Linear {
    /// The least value.
    least: i128,
    digits: Digits,
}

impl Linear {
    fn add(&mut self, coefficient: i64, (low, high): (i64, i64)) {
        let coefficient = i128::from(coefficient);
        let ends = [coefficient * i128::from(low), coefficient * i128::from(high)];
        self.least += ends[0].min(ends[1]);
        self.digits.add(coefficient.abs(), i128::from(high) - i128::from(low));
    }

    /// Whether it is 0 somewhere, as far as the test tells.
    fn may_be_zero(&self) -> bool {
        self.digits.may_make(-self.least)
    }
}

/// Whether the elements of an access are an affine function of the loops in those iterations in which it is within its array, and
/// these are a box.
pub(crate) fn is_affine_within(access: &Access) -> bool {
    let is_limited = |subscript: &Subscript| {
        let limits = matches!(subscript.boundary, Boundary::Outside { .. });
        limits && subscript.divisor == 1 && subscript.single_loop().is_ok()
    };
    access.subscripts.iter().all(|subscript| subscript.is_affine() || is_limited(subscript))
}

/// The least and the greatest value of a subscript, or a little less and more.
fn bounds(stage: &Stage, subscript: &Subscript) -> (i64, i64) {
    let (mut low, mut high) = (subscript.constant, subscript.constant);
    for (level, coefficient) in stage.loops.iter().zip(&subscript.coefficients) {
        let ends = [coefficient * level.min, coefficient * level.max()];
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    }
    let (low, high) = (low.div_euclid(subscript.divisor), high.div_euclid(subscript.divisor));
    let (low, high) = match subscript.boundary {
        Boundary::None => (low, high),
        Boundary::Clamp { low: least, high: greatest } => (low.clamp(least, greatest), high.clamp(least, greatest)),
        Boundary::Mirror { low, high } | Boundary::Outside { low, high } => (low, high),
    };
    (low + subscript.offset, high + subscript.offset)
}
