//! The values of a function of one number as a few parts, each of which two loops count.

/// A part of a function: `value + value_stride · turn + slope · i` at `first + stride · turn + i`, for all `turn` below `turns` and `i`
/// below `length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub first: i64,
    pub value: i64,
    pub length: i64,
    pub slope: i64,
    pub turns: i64,
    pub stride: i64,
    pub value_stride: i64,
}

/// The most nests that write a copy: the inputs of a memory tile.
pub(crate) const MOST_WRITERS: usize = 2;

/// The longest period that is looked for.
const LONGEST_PERIOD: usize = 64;

impl Run {
    fn line(first: i64, values: &[i64]) -> Self {
        let slope = values.get(1).map_or(0, |second| second - values[0]);
        Run { first, value: values[0], length: values.len() as i64, slope, turns: 1, stride: 0, value_stride: 0 }
    }

    /// The first and the last place.
    pub fn range(&self) -> (i64, i64) {
        (self.first, self.first + self.stride * (self.turns - 1) + self.length - 1)
    }
}

/// The parts of a function within a range. They may reach beyond it, where the function goes on alike.
pub(crate) fn runs(function: &dyn Fn(i64) -> i64, (low, high): (i64, i64)) -> Vec<Run> {
    let values: Vec<i64> = (low..=high).map(function).collect();
    if let Some(by) = period(&values) {
        let period = by as usize;
        // One copy has all lines of the periods: they begin where these are no more than the nests that write it.
        let count = |start: &usize| lines(0, &values[*start..start + period]).len().max(MOST_WRITERS);
        let before = (0..period).min_by_key(count).unwrap_or(0);
        let turns = (values.len() - before) as i64 / by;
        let (first, start) = (low + before as i64, before + period * turns as usize);
        let mut parts = lines(first, &values[before..before + period]);
        for part in &mut parts {
            (part.turns, part.stride, part.value_stride) = (turns, by, values[period] - values[0]);
        }
        parts.extend(lines(low, &values[..before]));
        parts.extend(lines(low + start as i64, &values[start..]));
        return parts;
    }
    // Rates whose index is limited at the ends.
    let level = |found: usize| if found > 1 { found } else { 0 };
    let before = level(values.iter().take_while(|value| **value == values[0]).count());
    let after = level(values.iter().rev().take_while(|value| Some(*value) == values.last()).count());
    let inner = values.get(before..values.len().saturating_sub(after)).unwrap_or_default();
    if before + after > 0 && period(inner).is_some() {
        let first = low + before as i64;
        let mut parts = runs(function, (first, first + inner.len() as i64 - 1));
        parts.extend(lines(low, &values[..before]));
        parts.extend(lines(first + inner.len() as i64, &values[before + inner.len()..]));
        return parts;
    }
    let parts = lines(low, &values);
    let [left, middle, right] = &parts[..] else { return parts };
    match edges(function, left, right) {
        Some(edges) => vec![*middle, edges],
        None => parts,
    }
}

/// The values as lines, in their order: the longest first, and so on before and behind it.
pub(crate) fn lines(first: i64, values: &[i64]) -> Vec<Run> {
    if values.is_empty() {
        return Vec::new();
    }
    let (mut start, mut length, mut at) = (0, 1, 0);
    while at + 1 < values.len() {
        let step = values[at + 1] - values[at];
        let same = values[at..].windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        if same + 1 > length {
            (start, length) = (at, same + 1);
        }
        at += same;
    }
    let mut parts = lines(first, &values[..start]);
    parts.push(Run::line(first + start as i64, &values[start..start + length]));
    parts.extend(lines(first + (start + length) as i64, &values[start + length..]));
    parts
}

/// The parts at both edges as one: the shorter one becomes as long as the other one.
fn edges(function: &dyn Fn(i64) -> i64, left: &Run, right: &Run) -> Option<Run> {
    let length = left.length.max(right.length);
    let slope = if left.length >= right.length { left.slope } else { right.slope };
    let first = left.first + left.length - length;
    let run = Run {
        first,
        value: function(first),
        length,
        slope,
        turns: 2,
        stride: right.first - first,
        value_stride: function(right.first) - function(first),
    };
    let at = |turn: i64, place: i64| {
        function(run.first + run.stride * turn + place) == run.value + run.value_stride * turn + run.slope * place
    };
    (0..2).all(|turn| (0..length).all(|place| at(turn, place))).then_some(run)
}

/// The least period after which values move on by a constant; nothing where it is as long as the values, or they are a line.
pub(crate) fn period(values: &[i64]) -> Option<i64> {
    let longest = (values.len() / 2).min(LONGEST_PERIOD);
    let repeats = |by: &usize| {
        let moves = values[*by] - values[0];
        values.iter().zip(&values[*by..]).all(|(one, other)| other - one == moves)
    };
    (1..=longest).find(repeats).filter(|by| *by > 1).map(|by| by as i64)
}

#[cfg(test)]
mod tests {
    use super::{Run, period, runs};

    fn check(function: &dyn Fn(i64) -> i64, range: (i64, i64), most: usize) {
        let parts = runs(function, range);
        assert!(parts.len() <= most, "{parts:?}");
        let mut found = std::collections::BTreeSet::new();
        for part in parts {
            for turn in 0..part.turns {
                for place in 0..part.length {
                    let at = part.first + part.stride * turn + place;
                    let Run { value, value_stride, slope, .. } = part;
                    assert_eq!(function(at), value + value_stride * turn + slope * place, "{part:?}");
                    assert!(found.insert(at), "{at} twice");
                }
            }
        }
        assert!((range.0..=range.1).all(|at| found.contains(&at)));
    }

    #[test]
    fn boundaries_have_two_parts() {
        check(&|at| at.clamp(0, 15), (-2, 16), 2);
        check(&|at| at.rem_euclid(16), (-1, 18), 2);
        check(
            &|at| {
                if at < 0 {
                    -at
                } else if at > 15 {
                    30 - at
                } else {
                    at
                }
            },
            (-3, 17),
            2,
        );
        check(
            &|at| {
                if at < 0 {
                    -1 - at
                } else if at > 15 {
                    31 - at
                } else {
                    at
                }
            },
            (-1, 16),
            2,
        );
        check(&|at| at.max(0), (-4, 9), 2);
        check(&|at| 2 * at + 1, (-4, 9), 1);
    }

    #[test]
    fn images_that_repeat_have_parts_at_both_ends_and_two_between() {
        let mirrored = |at: i64| at.rem_euclid(32).min(31 - at.rem_euclid(32));
        check(&mirrored, (-40, 55), 5);
        check(&|at| at.rem_euclid(16), (-40, 55), 3);
    }

    #[test]
    fn other_rates_have_a_part_for_each_line_of_a_period() {
        check(&|at| at / 2 + 8 * (at % 2), (0, 15), 1);
        check(&|at| at.div_euclid(2), (-3, 9), 2);
        check(&|at| 2 * at / 3, (0, 14), 2);
        check(&|at| (3 * at / 2).clamp(0, 11), (0, 15), 3);
        check(&|at| at.div_euclid(2).clamp(0, 5), (-3, 15), 4);
        assert_eq!(period(&[0, 0, 1, 2, 2, 3, 4, 4]), Some(3));
        assert_eq!(period(&[0, 1, 2, 3]), None);
    }
}
