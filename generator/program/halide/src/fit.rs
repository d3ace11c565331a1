//! Integer expressions of loop variables as indices.
//!
//! Halide writes the same function in many forms: `max(min(x, 64), 1) + -1`, `select(x < 1, 0, min(x, 64) + -1)`. Where an
//! expression depends on one variable, it is computed for every value of it, and the simplest index that has these values
//! is taken. That is exact, and does not depend on the form.

use std::collections::{HashMap, HashSet};

use pushmem_nest::{AffineIndex, Binary, INDEX_LIMIT, Index, Piece, Type};

use crate::value::{Evaluator, Load, Value, Variable};

/// The most values of a variable that are tried.
pub(crate) const MOST_VALUES: i64 = 1 << 16;

/// The largest divisor that is looked for.
const LARGEST_DIVISOR: i64 = 32;

/// The value, if it depends on nothing within the ranges of the variables.
pub(crate) fn constant_of<L: Load>(value: &Value<L>, ranges: &[(i64, i64)]) -> Option<i64> {
    let single = |variable: Variable| ranges.get(variable).filter(|range| range.0 == range.1).map(|range| range.0);
    value.evaluate(&single).or_else(|| index_of(value, ranges)?.as_constant())
}

/// An expression that depends on one sum of variables only.
pub(crate) struct Sampled {
    /// The sum.
    pub sum: Index,
    /// The least value of the sum.
    pub first: i64,
    /// The values of the expression, for each value of the sum from the least one on.
    pub values: Vec<i64>,
}

impl Sampled {
    /// The values of an expression, if it depends on one sum of variables only.
    pub fn new<L: Load>(value: &Value<L>, ranges: &[(i64, i64)]) -> Option<Self> {
        Indices { ranges, known: HashMap::new(), sums: HashMap::new() }.sampled(value)
    }
}

/// The variable of an expression that has one only, and no loads.
fn only_variable<L: Load>(value: &Value<L>) -> Option<Variable> {
    let variables = value.own_variables();
    match (variables.len(), value.is_known()) {
        (1, true) => variables.first().copied(),
        _ => None,
    }
}

/// An expression as an index, if it is one.
pub(crate) fn index_of<L: Load>(value: &Value<L>, ranges: &[(i64, i64)]) -> Option<Index> {
    Indices { ranges, known: HashMap::new(), sums: HashMap::new() }.index(value)
}

/// The indices of the parts of an expression. Parts that are used several times are looked at once.
struct Indices<'a, L> {
    ranges: &'a [(i64, i64)],
    known: HashMap<*const Value<L>, Option<Index>>,
    /// The parts that are sums of variables times constants.
    sums: HashMap<*const Value<L>, Option<Index>>,
}

impl<L: Load> Indices<'_, L> {
    fn index(&mut self, value: &Value<L>) -> Option<Index> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(value)) {
            return known.clone();
        }
        // Words of numbers are no indices.
        if value.is_number() {
            return None;
        }
        let index = self.simplest(value);
        if !value.operands().is_empty() {
            self.known.insert(value, index.clone());
        }
        index
    }

    fn simplest(&mut self, value: &Value<L>) -> Option<Index> {
        let is_sum = matches!(value, Value::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, ..));
        if is_sum && value.operands().into_iter().any(|operand| self.index(operand).is_none()) {
            return None;
        }
        let (simple, ranges) = (self.by_form(value), self.ranges);
        match simple {
            // The terms of a sum are simple already, and each may belong to a dimension of its own.
            Some(index) if is_sum || index.pieces.is_empty() => Some(index),
            // A quotient of a few values could be a sum that is limited, too.
            Some(index) if matches!(value, Value::Binary(Binary::Divide, ..)) && is_quotient(&index) => Some(index),
            // Through two values there is always a line, which says less than the form of the expression.
            Some(index) if only_variable(value).is_some_and(|variable| ranges[variable].1 - ranges[variable].0 < 2) => {
                Some(index)
            }
            simple => self.tabulated(value).or(simple),
        }
    }

    /// The index that an expression says by its operators.
    fn by_form(&mut self, value: &Value<L>) -> Option<Index> {
        let ranges = self.ranges;
        match value {
            Value::Number(number, of) if *of != Type::Bool => {
                (number.abs() <= INDEX_LIMIT).then(|| Index::constant(*number))
            }
            Value::Variable(variable) => {
                let (first, last) = ranges[*variable];
                Some(if first == last { Index::constant(first) } else { Index::variable(*variable) })
            }
            Value::Cast(Type::I32, operand) => self.index(operand),
            Value::Binary(Binary::Add, left, right) => self.index(left)?.plus(&self.index(right)?, 1),
            Value::Binary(Binary::Subtract, left, right) => self.index(left)?.plus(&self.index(right)?, -1),
            Value::Binary(Binary::Multiply, left, right) => product(&self.index(left)?, &self.index(right)?),
            Value::Binary(operator @ (Binary::Divide | Binary::Modulo), left, right) => {
                let left = self.index(left)?;
                let by = self.index(right)?.as_constant().filter(|by| *by > 0)?;
                match operator {
                    Binary::Divide => left.divided(by, ranges),
                    _ => left.remainder(by, ranges),
                }
            }
            Value::Binary(operator @ (Binary::Minimum | Binary::Maximum), left, right) => {
                limited(*operator, &self.index(left)?, &self.index(right)?, ranges)
            }
            Value::Select(condition, then, otherwise) => match constant_of(&**condition, ranges) {
                Some(0) => self.index(otherwise),
                Some(_) => self.index(then),
                None => None,
            },
            _ => None,
        }
    }
}

/// The product of two indices of which one is constant.
fn product(left: &Index, right: &Index) -> Option<Index> {
    match (left.as_constant(), right.as_constant()) {
        (Some(factor), _) => right.times(factor),
        (_, Some(factor)) => left.times(factor),
        _ => None,
    }
}

/// Whether an index is a sum of variables divided by a constant.
fn is_quotient(index: &Index) -> bool {
    let divided = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Quotient { of, .. } if of.pieces.is_empty());
    index.pieces.len() == 1 && index.pieces.iter().all(divided)
}

impl<L: Load> Indices<'_, L> {
    /// The index of an expression that depends on one sum of loop variables only, from its values.
    fn tabulated(&mut self, value: &Value<L>) -> Option<Index> {
        let Sampled { sum, first, values } = self.sampled(value)?;
        let variable = self.ranges.len();
        fit(variable, first, &values)?.substituted(variable, &sum)
    }

    fn sampled(&mut self, value: &Value<L>) -> Option<Sampled> {
        let mut form = None;
        if !self.follows(value, &mut form, &mut HashSet::new()) {
            return None;
        }
        // Without a variable, it is constant.
        let (form, ranges) = (form.unwrap_or_default(), self.ranges);
        let (first, last) = form.range(ranges);
        if last - first >= MOST_VALUES {
            return None;
        }
        let mut terms = form.affine.terms.clone();
        terms.sort_by_key(|(_, factor)| std::cmp::Reverse(factor.abs()));
        let mut point: Vec<i64> = ranges.iter().map(|range| range.0).collect();
        let evaluator = Evaluator::new(value);
        // For each value of the sum some values of the variables, if there are.
        let mut values = Vec::new();
        for at in first..=last {
            let mut rest = at - first;
            for &(variable, factor) in &terms {
                let (low, high) = ranges[variable];
                let steps = (rest / factor.abs()).min(high - low);
                point[variable] = if factor > 0 { low + steps } else { high - steps };
                rest -= steps * factor.abs();
            }
            if rest != 0 {
                return None;
            }
            values.push(evaluator.evaluate(&|variable| point.get(variable).copied())?);
        }
        Some(Sampled { sum: form, first, values })
    }

    /// Whether an expression without loads depends on its variables by multiples of one sum of them only. Parts that were
    /// `seen` do.
    fn follows(&mut self, value: &Value<L>, form: &mut Option<Index>, seen: &mut HashSet<*const Value<L>>) -> bool {
        if let Value::Load(_) | Value::Number(..) = value {
            return matches!(value, Value::Number(..));
        }
        if seen.contains(&std::ptr::from_ref(value)) {
            return true;
        }
        let follows = match self.sum(value) {
            Some(sum) => {
                let Some(here) = primitive(&sum.affine) else { return true };
                *form.get_or_insert(here.clone()) == here
            }
            None => {
                let operands = value.operands();
                !operands.is_empty() && operands.into_iter().all(|operand| self.follows(operand, form, seen))
            }
        };
        if follows {
            seen.insert(value);
        }
        follows
    }

    /// An expression that is a sum of variables times constants.
    fn sum(&mut self, value: &Value<L>) -> Option<Index> {
        if let Some(known) = self.sums.get(&std::ptr::from_ref(value)) {
            return known.clone();
        }
        let sum = match value {
            Value::Number(number, of) => {
                return (*of != Type::Bool && number.abs() <= INDEX_LIMIT).then(|| Index::constant(*number));
            }
            Value::Variable(variable) => {
                let (first, last) = self.ranges[*variable];
                return Some(if first == last { Index::constant(first) } else { Index::variable(*variable) });
            }
            Value::Binary(operator @ (Binary::Add | Binary::Subtract | Binary::Multiply), left, right) => {
                self.sum(left).zip(self.sum(right)).and_then(|(left, right)| match operator {
                    Binary::Add => left.plus(&right, 1),
                    Binary::Subtract => left.plus(&right, -1),
                    _ => product(&left, &right),
                })
            }
            _ => None,
        };
        self.sums.insert(value, sum.clone());
        sum
    }
}

/// The least sum of variables that this one is a multiple of, but for its constant; nothing, if it is a constant.
pub(crate) fn primitive(sum: &AffineIndex) -> Option<Index> {
    let divisor = sum.terms.iter().map(|(_, factor)| factor.abs()).reduce(greatest_divisor)?;
    let sign = sum.terms[0].1.signum();
    let terms = sum.terms.iter().map(|(variable, factor)| (*variable, factor / divisor * sign)).collect();
    Some(Index { affine: AffineIndex { constant: 0, terms }, pieces: Vec::new() })
}

pub(crate) fn greatest_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

/// The smaller or the greater of two indices, if that is an index.
fn limited(operator: Binary, left: &Index, right: &Index, ranges: &[(i64, i64)]) -> Option<Index> {
    // One may always be the smaller.
    let (low, high) = left.plus(right, -1)?.range(ranges);
    let smaller = operator == Binary::Minimum;
    if high <= 0 {
        return Some(if smaller { left } else { right }.clone());
    }
    if low >= 0 {
        return Some(if smaller { right } else { left }.clone());
    }
    let (of, limit) = match (left.as_constant(), right.as_constant()) {
        (_, Some(limit)) => (left, limit),
        (Some(limit), _) => (right, limit),
        _ => return None,
    };
    let (low, high) = of.range(ranges);
    Some(if smaller { of.clamped(low.min(limit), limit, ranges) } else { of.clamped(limit, high.max(limit), ranges) })
}

/// The simplest index of the variable that has these values from `first` on.
pub(crate) fn fit(variable: Variable, first: i64, values: &[i64]) -> Option<Index> {
    let (low, high) = (*values.iter().min()?, *values.iter().max()?);
    if low == high {
        return (low.abs() <= INDEX_LIMIT).then(|| Index::constant(low));
    }
    let line =
        |factor: i64, constant: i64| Index::variable(variable).times(factor)?.plus(&Index::constant(constant), 1);
    let has_values = |index: &Index| {
        let mut variables = vec![0; variable + 1];
        values.iter().zip(first..).all(|(value, at)| {
            variables[variable] = at;
            index.evaluate(&variables) == *value
        })
    };
    let found = |index: Option<Index>| index.filter(has_values);
    // The lines through neighbours that differ, at both ends and in the middle.
    let steps: Vec<usize> = (0..values.len() - 1).filter(|&at| values[at] != values[at + 1]).collect();
    let middle = steps.len() / 2;
    let mut lines = Vec::new();
    for at in [middle, 0, steps.len() - 1, 1.min(steps.len() - 1)] {
        let step = steps[at];
        let factor = values[step + 1] - values[step];
        let line = line(factor, values[step] - factor * (first + step as i64));
        if line.as_ref().is_some_and(|line| !lines.contains(line)) {
            lines.extend(line);
        }
    }
    let pieces = lines.iter().flat_map(|line| {
        let of = line.clone();
        [
            Some(of.clone()),
            Some(Piece::Clamp { of: of.clone(), low, high }.into()),
            Some(Piece::Mirror { of, low, high }.into()),
        ]
    });
    pieces.into_iter().find_map(found).or_else(|| staircase(variable, first, values)).filter(has_values)
}

/// `(factor · variable + constant) / by`, or `(variable + constant) % by + offset`.
fn staircase(variable: Variable, first: i64, values: &[i64]) -> Option<Index> {
    let rises = values.windows(2).all(|pair| pair[0] <= pair[1]);
    let at_first = |factor: i64, by: i64| {
        // All constants that give the first value, and then those that give the others.
        let least = by * values[0] - factor * first;
        (least..least + by).find(|constant| {
            values.iter().zip(first..).all(|(value, at)| (factor * at + constant).div_euclid(by) == *value)
        })
    };
    if rises {
        for by in 2..=LARGEST_DIVISOR {
            for factor in 1..by {
                if let Some(constant) = at_first(factor, by) {
                    let of = Index::variable(variable).times(factor)?.plus(&Index::constant(constant), 1)?;
                    return Some(Piece::Quotient { of, by }.into());
                }
            }
        }
        return None;
    }
    let (low, high) = (*values.iter().min()?, *values.iter().max()?);
    let by = high - low + 1;
    let of = Index::variable(variable).plus(&Index::constant(values[0] - low - first), 1)?;
    Index::from(Piece::Remainder { of, by }).plus(&Index::constant(low), 1)
}

#[cfg(test)]
mod tests {
    use pushmem_nest::{Index, Piece};

    use super::fit;

    #[test]
    fn values_of_every_piece_are_recognized() {
        let line = |factor: i64, constant: i64| {
            Index::variable(0).times(factor).unwrap().plus(&Index::constant(constant), 1).unwrap()
        };
        let of = |constant| line(1, constant);
        for expected in [
            Index::constant(5),
            line(3, -7),
            line(-1, 63),
            Piece::Clamp { of: of(-1), low: 0, high: 63 }.into(),
            Piece::Clamp { of: line(2, -3), low: 4, high: 90 }.into(),
            Piece::Mirror { of: of(-4), low: 0, high: 63 }.into(),
            Piece::Quotient { of: line(1, 1), by: 2 }.into(),
            Piece::Quotient { of: line(3, 2), by: 4 }.into(),
            Piece::Remainder { of: of(3), by: 4 }.into(),
        ] {
            let values: Vec<i64> = (0..70).map(|at| expected.evaluate(&[at])).collect();
            let found = fit(0, 0, &values).unwrap();
            let again: Vec<i64> = (0..70).map(|at| found.evaluate(&[at])).collect();
            assert_eq!(again, values, "{expected:?}");
        }
        assert_eq!(fit(0, 0, &[0, 1, 4, 9, 16, 25]), None);
    }
}
