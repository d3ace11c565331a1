//! The least and the greatest value of terms, as far as operators, types and ranges of variables show.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use super::plan::{Point, Term};
use crate::value::Value;

/// The values that things have: of each variable, and of the elements of each array, with their type.
pub(crate) struct Intervals<'a> {
    pub variables: &'a dyn Fn(usize) -> (i64, i64),
    pub arrays: &'a dyn Fn(usize) -> ((i64, i64), Type),
    known: HashMap<usize, ((i64, i64), Type)>,
}

impl<'a> Intervals<'a> {
    pub fn new(variables: &'a dyn Fn(usize) -> (i64, i64), arrays: &'a dyn Fn(usize) -> ((i64, i64), Type)) -> Self {
        Self { variables, arrays, known: HashMap::new() }
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

    fn fresh(&mut self, term: &Value<Point>) -> ((i64, i64), Type) {
        match term {
            Value::Number(number, of) => ((*number, *number), *of),
            Value::Variable(variable) => ((self.variables)(*variable), Type::I32),
            Value::Load(point) => (self.arrays)(point.array),
            Value::Unary(operator, of) => {
                let (range, of) = self.typed(of);
                let result = operator.result(of);
                let (low, high) = match operator {
                    Unary::Negate => (-range.1, -range.0),
                    Unary::Not
                    | Unary::BfloatNegate
                    | Unary::BfloatAbsolute
                    | Unary::BfloatFromInteger
                    | Unary::BfloatToInteger
                    | Unary::BfloatFunction(_) => (result.min(), result.max()),
                    Unary::Absolute if range.0 >= 0 => range,
                    Unary::Absolute => (0, range.1.max(-range.0)),
                };
                (within((low, high), result), result)
            }
            Value::Binary(operator, left, right) => {
                let ((left, of), (right, _)) = (self.typed(left), self.typed(right));
                let result = operator.result(of);
                (within(combined(*operator, left, right).unwrap_or((1, 0)), result), result)
            }
            Value::Select(_, then, otherwise) => {
                let ((one, of), (other, _)) = (self.typed(then), self.typed(otherwise));
                ((one.0.min(other.0), one.1.max(other.1)), of)
            }
            Value::Cast(to, of) => (within(self.of(of), *to), *to),
        }
    }
}

/// The range where the type holds it; otherwise, or where it is empty, all of the type, as values wrap.
fn within((low, high): (i64, i64), of: Type) -> (i64, i64) {
    if low <= high && of.holds(low) && of.holds(high) { (low, high) } else { (of.min(), of.max()) }
}

/// The range of an operator's exact results, if it is known.
fn combined(operator: Binary, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
    let corners = |apply: &dyn Fn(i64, i64) -> i64| {
        let all = [apply(left.0, right.0), apply(left.0, right.1), apply(left.1, right.0), apply(left.1, right.1)];
        (all.into_iter().fold(i64::MAX, i64::min), all.into_iter().fold(i64::MIN, i64::max))
    };
    Some(match operator {
        Binary::Add => (left.0 + right.0, left.1 + right.1),
        Binary::Subtract => (left.0 - right.1, left.1 - right.0),
        Binary::Multiply => corners(&|one, other| one.saturating_mul(other)),
        Binary::Divide if right.0 > 0 => corners(&|one, other| one.div_euclid(other)),
        Binary::Modulo if right.0 > 0 && left.0 >= 0 && left.1 < right.0 => left,
        Binary::Modulo if right.0 > 0 => (0, right.1 - 1),
        Binary::ShiftRight if right.0 >= 0 && right.1 < 32 => corners(&|one, other| one >> other),
        Binary::ShiftLeft if right.0 >= 0 && right.1 < 32 => corners(&|one, other| one << other),
        Binary::And if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
        Binary::And if left.0 >= 0 => (0, left.1),
        Binary::And if right.0 >= 0 => (0, right.1),
        Binary::Or | Binary::Xor if left.0 >= 0 && right.0 >= 0 => {
            let bits = 64 - (left.1 | right.1).leading_zeros();
            (0, (1 << bits) - 1)
        }
        Binary::Minimum => (left.0.min(right.0), left.1.min(right.1)),
        Binary::Maximum => (left.0.max(right.0), left.1.max(right.1)),
        Binary::AbsoluteDifference => {
            let (low, high) = (left.0 - right.1, left.1 - right.0);
            (
                if low > 0 {
                    low
                } else if high < 0 {
                    -high
                } else {
                    0
                },
                high.max(-low),
            )
        }
        operator if operator.is_comparison() => (0, 1),
        _ => return None,
    })
}
