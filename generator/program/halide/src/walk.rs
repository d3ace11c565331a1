//! Walks over terms: what they load, and for which values of the variables.

use std::collections::HashSet;
use std::rc::Rc;

use pushmem_nest::{AffineIndex, Binary, Unary};

use crate::fit::{constant_of, index_of};
use crate::plan::{Box, Point, Term, hull_of_boxes};
use crate::value::Value;

/// The most terms that are looked at with what conditions say of them; others are looked at without.
const MOST_GUARDED: usize = 1 << 18;

/// The action for a load, and the ranges that the variables have there.
type OnLoad<'a> = dyn FnMut(&Point, &[(i64, i64)]) + 'a;

/// A walk over the loads of terms.
pub(crate) struct Walk<'a> {
    load: &'a mut OnLoad<'a>,
    left: usize,
}

impl<'a> Walk<'a> {
    pub fn new(load: &'a mut OnLoad<'a>) -> Self {
        Self { load, left: MOST_GUARDED }
    }

    /// Shows all loads of a term. Those of a value that a condition on the variables chooses are shown with the values of the variables
    /// for which it is chosen.
    pub fn term(&mut self, term: &Term, ranges: &Box, seen: &mut HashSet<usize>) {
        if !seen.insert(Rc::as_ptr(term) as usize) {
            return;
        }
        self.left = self.left.saturating_sub(1);
        match &**term {
            Value::Load(point) => {
                (self.load)(point, ranges);
                point.indices.iter().for_each(|index| self.term(index, ranges, seen));
            }
            Value::Select(condition, then, otherwise) => {
                self.term(condition, ranges, seen);
                for (truth, chosen) in [(true, then), (false, otherwise)] {
                    match refined(condition, truth, ranges).filter(|_| self.left > 0) {
                        Some(inner) if inner != *ranges => self.term(chosen, &inner, &mut HashSet::new()),
                        None if self.left > 0 => {}
                        _ => self.term(chosen, ranges, seen),
                    }
                }
            }
            other => other.operands().into_iter().for_each(|operand| self.term(operand, ranges, seen)),
        }
    }
}

/// The ranges of the variables within which a condition may have this value; nothing, if it never has.
pub(crate) fn refined(condition: &Term, truth: bool, ranges: &Box) -> Option<Box> {
    match &**condition {
        Value::Number(number, _) => ((*number != 0) == truth).then(|| ranges.clone()),
        Value::Unary(Unary::Not, of) => refined(of, !truth, ranges),
        Value::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
            match (*operator == Binary::And) == truth {
                true => refined(right, truth, &refined(left, truth, ranges)?),
                false => match (refined(left, truth, ranges), refined(right, truth, ranges)) {
                    (Some(one), Some(other)) => Some(hull_of_boxes(&one, &other)),
                    (one, other) => one.or(other),
                },
            }
        }
        Value::Binary(operator, left, right) if operator.is_comparison() && !operator.is_of_numbers() => {
            let compared = compared(*operator, left, right, truth, ranges);
            compared.unwrap_or_else(|| Some(ranges.clone()))
        }
        other => match constant_of(other, ranges) {
            Some(value) if (value != 0) != truth => None,
            _ => Some(ranges.clone()),
        },
    }
}

/// The ranges within which a comparison of two sums may have this value.
fn compared(operator: Binary, left: &Term, right: &Term, truth: bool, ranges: &Box) -> Option<Option<Box>> {
    let difference = index_of(&**left, ranges)?.plus(&index_of(&**right, ranges)?, -1)?;
    let AffineIndex { constant, terms } = difference.as_affine()?;
    // Of the difference, the least and the greatest value that is looked for; with a hole at 0.
    let (from, to, is_unequal) = match (operator, truth) {
        (Binary::Less, true) | (Binary::GreaterEqual, false) => (i64::MIN, -1, false),
        (Binary::LessEqual, true) | (Binary::Greater, false) => (i64::MIN, 0, false),
        (Binary::Greater, true) | (Binary::LessEqual, false) => (1, i64::MAX, false),
        (Binary::GreaterEqual, true) | (Binary::Less, false) => (0, i64::MAX, false),
        (Binary::Equal, true) | (Binary::NotEqual, false) => (0, 0, false),
        (Binary::Equal, false) | (Binary::NotEqual, true) => (i64::MIN, i64::MAX, true),
        _ => return None,
    };
    if terms.is_empty() {
        let holds = (from..=to).contains(constant) && !(is_unequal && *constant == 0);
        return Some(holds.then(|| ranges.clone()));
    }
    let mut inner = ranges.clone();
    for &(variable, factor) in terms {
        let (low, high) = &mut inner[variable];
        let ends = |&(other, factor): &(usize, i64)| {
            let (one, two) = (factor * ranges[other].0, factor * ranges[other].1);
            (one.min(two), one.max(two))
        };
        let others = terms.iter().filter(|(other, _)| *other != variable).map(ends);
        let rest = others.fold((*constant, *constant), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        let (mut first, mut last) = (from.saturating_sub(rest.1), to.saturating_sub(rest.0));
        if factor < 0 {
            (first, last) = (last.saturating_neg(), first.saturating_neg());
        }
        let by = factor.abs();
        (*low, *high) = ((*low).max(-(first.saturating_neg().div_euclid(by))), (*high).min(last.div_euclid(by)));
        if is_unequal && rest.0 == rest.1 {
            let is_root = |value: i64| rest.0 + factor * value == 0;
            *low += i64::from(is_root(*low));
            *high -= i64::from(is_root(*high));
        }
        if low > high {
            return Some(None);
        }
    }
    Some(Some(inner))
}

#[cfg(test)]
mod tests {
    use pushmem_nest::Type;

    use super::*;

    /// A sum of two variables: as if each pair of values were tried.
    #[test]
    fn comparisons_of_two_variables_refine_both() {
        let terms = crate::intern::Interner::default();
        let (one, other) = (terms.variable(0), terms.variable(1));
        for (ranges, operator) in [(0, 7), (-2, 3), (4, 4)].into_iter().flat_map(|range| {
            [Binary::Less, Binary::LessEqual, Binary::Greater, Binary::Equal].map(|operator| (range, operator))
        }) {
            let all = vec![(0, 7), ranges];
            let condition = terms.binary(operator, one.clone(), other.clone());
            for truth in [true, false] {
                let pairs = (0..=7).flat_map(|x| (ranges.0..=ranges.1).map(move |y| (x, y)));
                let holds = |&(x, y): &(i64, i64)| (operator.apply(Type::I32, x, y) != 0) == truth;
                let pairs: Vec<(i64, i64)> = pairs.filter(holds).collect();
                let (xs, ys): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
                let ends = |values: &[i64]| Some((*values.iter().min()?, *values.iter().max()?));
                let expected = ends(&xs).zip(ends(&ys)).map(|(x, y)| vec![x, y]);
                assert_eq!(refined(&condition, truth, &all), expected, "{operator:?} {truth} {ranges:?}");
            }
        }
    }

    /// All operators, with sums that rise and fall: as if each value were tried.
    #[test]
    fn comparisons_refine_ranges() {
        let terms = crate::intern::Interner::default();
        let operators =
            [Binary::Less, Binary::LessEqual, Binary::Greater, Binary::GreaterEqual, Binary::Equal, Binary::NotEqual];
        for (low, high) in [(-3, 4), (0, 0), (2, 3)] {
            for (factor, constant) in (-2..=2).filter(|factor| *factor != 0).flat_map(|f| (-9..9).map(move |c| (f, c)))
            {
                let (variable, by, against) =
                    (terms.variable(0), terms.number(factor, Type::I32), terms.number(constant, Type::I32));
                let multiple = terms.binary(Binary::Multiply, variable, by);
                for (operator, truth) in operators.into_iter().flat_map(|each| [(each, true), (each, false)]) {
                    let condition = terms.binary(operator, multiple.clone(), against.clone());
                    let holds = |value: &i64| (operator.apply(Type::I32, factor * value, constant) != 0) == truth;
                    let (first, last) = ((low..=high).find(holds), (low..=high).rev().find(holds));
                    let expected = first.zip(last).map(|range| vec![range]);
                    assert_eq!(
                        refined(&condition, truth, &vec![(low, high)]),
                        expected,
                        "{operator:?} {factor} {constant}"
                    );
                }
            }
        }
    }
}
