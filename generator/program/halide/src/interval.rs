//! The least and the greatest value of terms, as far as operators, types and ranges of variables show.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_float::{Format, Function};

use pushmem_nest::{Binary, Type, Unary};

use crate::plan::{self, Point, Term};
use crate::value::Value;

/// The values that things have: of each variable, and of the elements of each array, with their type.
pub(crate) struct Intervals<'a> {
    pub variables: &'a dyn Fn(usize) -> (i64, i64),
    pub arrays: &'a dyn Fn(usize) -> ((i64, i64), Type),
    known: HashMap<usize, ((i64, i64), Type)>,
    numbers: HashMap<usize, (f64, f64)>,
}

/// Beyond all integers that are of a type.
const LIMIT: f64 = 1e15;

/// The range of a number of which nothing is known: it may be infinite, or no number. A range with finite ends has numbers only.
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl<'a> Intervals<'a> {
    pub fn new(variables: &'a dyn Fn(usize) -> (i64, i64), arrays: &'a dyn Fn(usize) -> ((i64, i64), Type)) -> Self {
        Self { variables, arrays, known: HashMap::new(), numbers: HashMap::new() }
    }

    /// The least and the greatest value.
    pub fn of(&mut self, term: &Term) -> (i64, i64) {
        self.typed(term).0
    }

    fn typed(&mut self, term: &Term) -> ((i64, i64), Type) {
        let place = Rc::as_ptr(term) as usize;
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let found = self.fresh(term);
        self.known.insert(place, found);
        found
    }

    /// The least and the greatest value of a number with a fraction.
    pub fn number(&mut self, term: &Term) -> (f64, f64) {
        let place = Rc::as_ptr(term) as usize;
        if let Some(known) = self.numbers.get(&place) {
            return *known;
        }
        let (low, high) = self.fresh_number(term);
        let found = if low <= high { (low, high) } else { ANY };
        self.numbers.insert(place, found);
        found
    }

    fn fresh_number(&mut self, term: &Value<Point>) -> (f64, f64) {
        match term {
            Value::Number(word, of) => match of.format() {
                Some(format) => (format.to_f64(*word as u16), format.to_f64(*word as u16)),
                None => ANY,
            },
            Value::Cast(to, of) => {
                let Some(format) = to.format() else { return ANY };
                let (low, high) = self.of(of);
                (rounded(format, low as f64), rounded(format, high as f64))
            }
            Value::Unary(Unary::FloatNegate(_), of) => {
                let (low, high) = self.number(of);
                (-high, -low)
            }
            Value::Unary(Unary::FloatAbsolute(_), of) => {
                let (low, high) = self.number(of);
                (if low > 0.0 { low } else { (-high).max(0.0) }, high.max(-low))
            }
            Value::Unary(Unary::FloatFunction(format, function), of) => {
                let (low, high) = self.number(of);
                let rounded = |number: f64| rounded(*format, number);
                match function {
                    Function::SquareRoot if low >= 0.0 => (rounded(low.sqrt()), rounded(high.sqrt())),
                    Function::Reciprocal if low > 0.0 => (rounded(1.0 / high), rounded(1.0 / low)),
                    // With room for neighbours of the nearest numbers.
                    Function::HyperbolicTangent | Function::Sine | Function::Cosine if is_bounded((low, high)) => {
                        (-1.0, 1.0)
                    }
                    Function::Exponential => (low.exp() * 0.98, high.exp() * 1.02),
                    _ => ANY,
                }
            }
            Value::Binary(operator, left, right) => {
                let (left, right) = (self.number(left), self.number(right));
                numbers_combined(*operator, left, right)
            }
            Value::Select(_, then, otherwise) => hull(self.number(then), self.number(otherwise)),
            _ => ANY,
        }
    }

    fn fresh(&mut self, term: &Value<Point>) -> ((i64, i64), Type) {
        match term {
            Value::Number(number, of) => ((*number, *number), *of),
            Value::Variable(variable) => ((self.variables)(*variable), Type::I32),
            Value::Load(point) => (self.arrays)(point.array),
            Value::Unary(operator, of) => {
                let (range, of) = self.typed(of);
                let result = operator.result(of);
                (result.fitting(operator.range(range)), result)
            }
            Value::Binary(operator, left, right) => {
                let ((left, of), (right, _)) = (self.typed(left), self.typed(right));
                let result = operator.result(of);
                (result.fitting(operator.range(left, right)), result)
            }
            Value::Select(_, then, otherwise) => {
                let ((one, of), (other, _)) = (self.typed(then), self.typed(otherwise));
                (plan::hull(one, other), of)
            }
            Value::Cast(to, _) if to.format().is_some() => ((to.min(), to.max()), *to),
            Value::Cast(to, of) => match self.typed(of) {
                (_, from) if from.format().is_some() => {
                    let (low, high) = self.number(of);
                    // A word that is no number becomes 0. The cast takes the nearest integer that the type has.
                    let cast = |number: f64| (number.clamp(-LIMIT, LIMIT) as i64).clamp(to.min(), to.max());
                    ((cast(low.min(0.0)), cast(high.max(0.0))), *to)
                }
                (range, _) => (to.fitting(Some(range)), *to),
            },
        }
    }
}

fn rounded(format: Format, number: f64) -> f64 {
    format.to_f64(format.from_f64(number))
}

fn hull(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

fn is_bounded((low, high): (f64, f64)) -> bool {
    low.is_finite() && high.is_finite()
}

/// The range of an operator of numbers. Rounding keeps the order of numbers.
fn numbers_combined(operator: Binary, left: (f64, f64), right: (f64, f64)) -> (f64, f64) {
    match operator {
        Binary::FloatAdd(format) => (rounded(format, left.0 + right.0), rounded(format, left.1 + right.1)),
        Binary::FloatSubtract(format) => (rounded(format, left.0 - right.1), rounded(format, left.1 - right.0)),
        Binary::FloatMultiply(format) if is_bounded(left) && is_bounded(right) => {
            let all = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
            let all = all.map(|number| rounded(format, number));
            (all.into_iter().fold(f64::INFINITY, f64::min), all.into_iter().fold(f64::NEG_INFINITY, f64::max))
        }
        // Of a left operand that is no number, these are the right one.
        Binary::FloatMinimum(_) if is_bounded(right) => {
            (left.0.min(right.0), if is_bounded(left) { left.1.min(right.1) } else { right.1 })
        }
        Binary::FloatMaximum(_) if is_bounded(right) => {
            (if is_bounded(left) { left.0.max(right.0) } else { right.0 }, left.1.max(right.1))
        }
        Binary::FloatMinimum(_) | Binary::FloatMaximum(_) => hull(left, right),
        _ => ANY,
    }
}
