//! The types of what memories hold: 8 or 16 bits, also for values of 32 bits where these are always few. An array of 32 bits has two
//! words for each element, so that a narrow one is half as large.

use std::collections::BTreeSet;
use std::rc::Rc;

use pushmem_nest::{Binary, Type};

use crate::interval::Intervals;
use crate::plan::{Array, Box, Plan, Stage, Storage, Term, Unroll, hull};
use crate::regions::ranges;
use crate::value::{Value, all_loads};

/// The types that take one word of a memory, narrow ones first.
pub(crate) const NARROW: [Type; 4] = [Type::U8, Type::I8, Type::U16, Type::I16];

/// The types of the elements of all arrays; nothing for those of 32 bits that have too many values for 16, unless they are known to.
pub(crate) fn held(plan: &Plan, boxes: &[Option<Box>]) -> Vec<Option<Type>> {
    let mut values: Vec<(i64, i64)> = plan.arrays.iter().map(|array| (array.value.min(), array.value.max())).collect();
    for (array, value) in plan.arrays.iter().zip(&mut values) {
        if let Storage::Constants(entries) = &array.storage {
            *value = entries.iter().fold((0, 0), |(low, high), entry| (low.min(*entry), high.max(*entry)));
        }
    }
    let mut done = BTreeSet::new();
    for stage in &plan.stages {
        if done.insert(&stage.arrays) {
            let stages: Vec<&Stage> = plan.stages.iter().filter(|each| each.arrays == stage.arrays).collect();
            found(plan, &stages, boxes, &mut values);
        }
    }
    plan.arrays.iter().zip(values).map(|(array, range)| type_of(array, range)).collect()
}

/// Whether some of these constants do not fit 16 bits.
pub(crate) fn is_wide(of: Type, entries: &[i64]) -> bool {
    let fit = |of: &Type| entries.iter().all(|entry| of.holds(*entry));
    of.bits() > 16 && !NARROW.iter().any(fit)
}

fn type_of(array: &Array, (low, high): (i64, i64)) -> Option<Type> {
    match array.value {
        Type::Bool => Some(Type::U8),
        whole @ (Type::U32 | Type::I32) if array.is_wide => Some(whole),
        Type::U32 | Type::I32 => NARROW
            .into_iter()
            .filter(|of| of.bits() == 16 || matches!(array.storage, Storage::Constants(_)))
            .find(|of| of.holds(low) && of.holds(high)),
        narrow => Some(narrow),
    }
}

/// The values of the arrays of a Func of 32 bits, which are computed by these stages.
fn found(plan: &Plan, stages: &[&Stage], boxes: &[Option<Box>], values: &mut [(i64, i64)]) {
    let arrays = &stages[0].arrays;
    if arrays.iter().all(|array| plan.arrays[*array].value.bits() < 32) {
        return;
    }
    // The old value, if there is one: a program reads only elements that it wrote.
    let mut before: Vec<Option<(i64, i64)>> = vec![None; arrays.len()];
    for stage in stages {
        let all = ranges(plan, stage, boxes);
        let computed = |before: &[Option<(i64, i64)>]| -> Vec<Option<(i64, i64)>> {
            let of_array = |array: usize| {
                let own = arrays.iter().position(|each| *each == array).and_then(|place| before[place]);
                (own.unwrap_or(values[array]), plan.arrays[array].value)
            };
            let of_variable = |variable: usize| all[variable];
            let mut intervals = Intervals::new(&of_variable, &of_array);
            let one = |(place, value): (usize, &Option<Term>)| match value {
                Some(value) => {
                    let found = intervals.of(value);
                    Some(before[place].map_or(found, |before| hull(before, found)))
                }
                None => before[place],
            };
            stage.values.iter().enumerate().map(one).collect()
        };
        let once = computed(&before);
        let count = iterations(stage, &all);
        // Where another iteration gives no other values, none does; and sums grow by as much in each.
        before = match !stage.updates || computed(&once) == once {
            true => once,
            false => {
                let of_array = |array: usize| (values[array], plan.arrays[array].value);
                let of_variable = |variable: usize| all[variable];
                let mut growth =
                    Growth { arrays, targets: &stage.targets, intervals: Intervals::new(&of_variable, &of_array) };
                let grown = |(place, value): (usize, &Option<Term>)| {
                    let (low, high) = before[place]?;
                    let Some(value) = value else { return Some((low, high)) };
                    let (down, up) = growth.of(value, place)?;
                    Some((
                        low.saturating_add(down.min(0).saturating_mul(count)),
                        high.saturating_add(up.max(0).saturating_mul(count)),
                    ))
                };
                stage.values.iter().enumerate().map(grown).collect()
            }
        };
    }
    for (array, range) in arrays.iter().zip(before) {
        values[*array] = range.unwrap_or(values[*array]);
    }
}

/// How often an element may be updated: loops along dimensions go to other elements.
fn iterations(stage: &Stage, ranges: &Box) -> i64 {
    let extent = |variable: usize| ranges[variable].1 - ranges[variable].0 + 1;
    let again = stage.loops.iter().filter(|each| each.dimension.is_none());
    again.fold(1, |count: i64, each| count.saturating_mul(extent(each.variable)))
}

/// By how much an update changes a value that was there before.
struct Growth<'a> {
    /// The arrays that are updated.
    arrays: &'a [usize],
    /// The element that is written.
    targets: &'a [Term],
    intervals: Intervals<'a>,
}

impl Growth<'_> {
    /// The least and the greatest number that is added, of a value that is a sum of what was there before and other values.
    fn of(&mut self, term: &Term, place: usize) -> Option<(i64, i64)> {
        match &**term {
            Value::Cast(_, of) => match &**of {
                // Of the element that is written.
                Value::Load(point)
                    if point.array == self.arrays[place]
                        && point.indices.iter().zip(self.targets).all(|(one, other)| Rc::ptr_eq(one, other)) =>
                {
                    Some((0, 0))
                }
                _ => None,
            },
            Value::Binary(Binary::Add, left, right) => {
                let (sum, other) = if self.is_free(right) { (left, right) } else { (right, left) };
                let (sum, (low, high)) = (self.of(sum, place)?, self.other(other)?);
                Some((sum.0.saturating_add(low), sum.1.saturating_add(high)))
            }
            Value::Binary(Binary::Subtract, left, right) => {
                let (sum, (low, high)) = (self.of(left, place)?, self.other(right)?);
                Some((sum.0.saturating_sub(high), sum.1.saturating_sub(low)))
            }
            Value::Select(_, then, otherwise) => {
                let (one, other) = (self.of(then, place)?, self.of(otherwise, place)?);
                Some(hull(one, other))
            }
            _ => None,
        }
    }

    fn other(&mut self, term: &Term) -> Option<(i64, i64)> {
        self.is_free(term).then(|| self.intervals.of(term))
    }

    /// Whether a term reads nothing that is updated.
    fn is_free(&self, term: &Term) -> bool {
        !all_loads([term]).into_iter().any(|point| self.arrays.contains(&point.array))
    }
}

/// The number of iterations of a loop that are executed at once: a divisor of all.
pub(crate) fn unrolled(unroll: Unroll, extent: i64) -> i64 {
    match unroll {
        Unroll::Whole => extent,
        Unroll::By(factor) | Unroll::AtMost(factor) => crate::fit::greatest_divisor(extent, factor),
    }
}
