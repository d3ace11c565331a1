//! Whether two loop nests ever fire in the same cycle.
//!
//! A loop of one nest is taken apart into its iterations, of which only those count that last while the other nest runs. What is inside of
//! them is the same again and again, some cycles later: such pairs are compared once for each distance between them. Two single loops meet
//! where a linear equation has a solution within bounds.

use foldhash::HashSet;

use itertools::Itertools;
use num_integer::Integer;

use crate::nest::Nest;

/// Pairs of loops that are compared for two nests. Nests with more count as meeting.
const MOST_PAIRS: usize = 1 << 18;

/// Whether two nests fire in the same cycle, or take too long to compare. The other one starts so many cycles `late`, where both start in
/// cycle 0 of their own.
pub(crate) fn meet(one: &Nest, other: &Nest, late: i64) -> bool {
    let mut pairs = Pairs { one: levels(one), other: levels(other), apart: HashSet::default(), left: MOST_PAIRS };
    pairs.meet(pairs.one.len(), pairs.other.len(), late)
}

/// A loop in time.
#[derive(Clone, Copy)]
struct Level {
    stride: i64,
    extent: i64,
    /// Cycles from the first to the last firing of the loops inside.
    inside: i64,
}

impl Level {
    /// Cycles from its first to its last firing.
    fn span(self) -> i64 {
        self.inside + self.stride * (self.extent - 1)
    }

    /// Its iterations that fire in these cycles or around them.
    fn within(self, first: i64, last: i64) -> std::ops::RangeInclusive<i64> {
        let (from, to) =
            (Integer::div_ceil(&(first - self.inside), &self.stride), Integer::div_floor(&last, &self.stride));
        from.max(0)..=to.min(self.extent - 1)
    }
}

/// The loops of a nest that turn, innermost first.
fn levels(nest: &Nest) -> Vec<Level> {
    let turning = nest.extent.iter().zip(&nest.cycle.stride).filter(|(extent, _)| **extent > 1);
    let with_inside = turning.scan(0, |inside, (&extent, &stride)| {
        let level = Level { stride, extent: extent as i64, inside: *inside };
        *inside = level.span();
        Some(level)
    });
    with_inside.collect_vec()
}

/// The comparisons of the loops of two nests.
struct Pairs {
    one: Vec<Level>,
    other: Vec<Level>,
    /// The numbers of inner loops, and how much later the second starts, that never meet.
    apart: HashSet<(usize, usize, i64)>,
    /// Comparisons that may follow.
    left: usize,
}

impl Pairs {
    /// Whether so many inner loops of both meet, where those of the second start so many cycles late.
    fn meet(&mut self, one: usize, other: usize, late: i64) -> bool {
        let outermost = |levels: &[Level], depth: usize| depth.checked_sub(1).map(|level| levels[level]);
        let (first, second) = (outermost(&self.one, one), outermost(&self.other, other));
        let (span, other_span) = (first.map_or(0, Level::span), second.map_or(0, Level::span));
        if late > span || late + other_span < 0 || self.apart.contains(&(one, other, late)) {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return true;
        }
        let meets = match (first, second) {
            (None, None) => true,
            (Some(first), Some(second)) if one == 1 && other == 1 => loops_meet(first, second, late),
            (Some(level), _) if span >= other_span => {
                let mut iterations = level.within(late, late + other_span);
                iterations.any(|iteration| self.meet(one - 1, other, late - iteration * level.stride))
            }
            (_, Some(level)) => {
                let mut iterations = level.within(-late, span - late);
                iterations.any(|iteration| self.meet(one, other - 1, late + iteration * level.stride))
            }
            (Some(_), None) => unreachable!("the span of no loop is 0"),
        };
        if !meets {
            self.apart.insert((one, other, late));
        }
        meets
    }
}

/// Whether two loops meet, the second of which starts so many cycles late: whether iterations `i` and `j` of them have `i s = late + j t`, with
/// their strides `s` and `t`.
fn loops_meet(one: Level, other: Level, late: i64) -> bool {
    let [s, t, late] = [one.stride, other.stride, late].map(i128::from);
    let of_one = one.within(late as i64, late as i64 + other.span());
    let common = s.extended_gcd(&t);
    if late % common.gcd != 0 {
        return false;
    }
    // All solutions are `i` modulo `t` without the common factor.
    let step = t / common.gcd;
    let solution = (late / common.gcd % step * (common.x % step)).rem_euclid(step);
    let from = i128::from(*of_one.start());
    from + (solution - from).rem_euclid(step) <= i128::from(*of_one.end())
}
