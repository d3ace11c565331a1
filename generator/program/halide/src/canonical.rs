//! Whether two expressions compute the same.
//!
//! Halide simplifies an expression anew in every part of a partitioned loop: what is `a + 2*b` inside may be `3*a` at the
//! edge, where `b` is `a`. Both get one canonical form: sums are sums of products with constants, as they wrap; operators
//! that do not depend on the order have their operands sorted; indices are the simplest with their values in the box.

use std::collections::{BTreeMap, HashMap};

use pushmem_nest::{Binary, Index, Piece, Type, Unary};

use crate::fit::{MOST_VALUES, fit, index_of};
use crate::rebuild::with_inner;
use crate::value::{Element, Value, Variable};

/// Numbers for expressions, the same for those that compute the same.
#[derive(Debug)]
pub(crate) struct Canonical<'a> {
    /// The types of the elements of all arrays.
    pub types: &'a [Type],
    /// The least and the greatest index of each dimension of each array.
    pub bounds: &'a [Vec<(i64, i64)>],
    numbers: HashMap<Key, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Sum(Type, Vec<(usize, i64)>, i64),
    Index(Index),
    Load(usize, Vec<Index>, Option<i64>),
    Lookup(usize, usize),
    Chosen(usize, Vec<usize>),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    /// Of a commutative and associative operator.
    Chain(Binary, Vec<usize>),
    Select(usize, usize, usize),
    Cast(Type, usize),
}

/// A sum modulo the values of its type.
struct Sum {
    value: Type,
    terms: BTreeMap<usize, i64>,
    constant: i64,
}

impl<'a> Canonical<'a> {
    pub fn new(types: &'a [Type], bounds: &'a [Vec<(i64, i64)>]) -> Self {
        Self { types, bounds, numbers: HashMap::new() }
    }

    /// The type of a value.
    pub fn value_type(&self, value: &Value<Element>) -> Type {
        let load = |load: &Element| match load {
            Element::Array { array, .. } => Some(self.types[*array]),
            Element::Table { table, .. } => Some(self.types[*table]),
            Element::Chosen { array, .. } => Some(self.types[*array]),
        };
        value.value_type(&load).unwrap_or(Type::I32)
    }

    /// The number of a value where the variables are in these ranges.
    pub fn number(&mut self, value: &Value<Element>, ranges: &[(i64, i64)]) -> usize {
        let sum = self.sum(value, ranges);
        match (&sum.terms.iter().next(), sum.terms.len(), sum.constant) {
            (Some((number, 1)), 1, 0) => **number,
            _ => self.intern(Key::Sum(sum.value, sum.terms.into_iter().collect(), sum.constant)),
        }
    }

    fn intern(&mut self, key: Key) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(key).or_insert(next)
    }

    fn sum(&mut self, value: &Value<Element>, ranges: &[(i64, i64)]) -> Sum {
        let of = self.value_type(value);
        let constant = |number: i64| Sum { value: of, terms: BTreeMap::new(), constant: of.wrap(number) };
        if of == Type::I32
            && !matches!(value, Value::Number(..))
            && let Some(index) = index_of(value, ranges)
        {
            let index = tidy(&index, ranges);
            if let Some(number) = index.as_constant() {
                return constant(number);
            }
            let number = self.intern(Key::Index(index));
            return Sum { value: of, terms: BTreeMap::from([(number, 1)]), constant: 0 };
        }
        match value {
            Value::Number(number, _) => constant(*number),
            Value::Binary(Binary::Add, left, right) => {
                let (left, right) = (self.sum(left, ranges), self.sum(right, ranges));
                left.plus(&right, 1)
            }
            Value::Binary(Binary::Subtract, left, right) => {
                let (left, right) = (self.sum(left, ranges), self.sum(right, ranges));
                left.plus(&right, -1)
            }
            Value::Unary(Unary::Negate, operand) => {
                let operand = self.sum(operand, ranges);
                constant(0).plus(&operand, -1)
            }
            Value::Binary(Binary::Multiply, left, right) => {
                let (first, second) = (self.sum(left, ranges), self.sum(right, ranges));
                if second.terms.is_empty() {
                    return constant(0).plus(&first, second.constant);
                }
                if first.terms.is_empty() {
                    return constant(0).plus(&second, first.constant);
                }
                let mut operands = [self.number(left, ranges), self.number(right, ranges)];
                operands.sort_unstable();
                self.single(of, Key::Binary(Binary::Multiply, operands[0], operands[1]))
            }
            Value::Select(condition, then, otherwise) if self.truth(condition, ranges).is_some() => {
                let chosen = if self.truth(condition, ranges) == Some(true) { then } else { otherwise };
                self.sum(chosen, ranges)
            }
            Value::Binary(Binary::And | Binary::Or, left, right) if of == Type::Bool => {
                let ends = matches!(value, Value::Binary(Binary::Or, ..));
                match (self.truth(left, ranges), self.truth(right, ranges)) {
                    (Some(one), _) | (_, Some(one)) if one == ends => constant(i64::from(ends)),
                    (Some(_), _) => self.sum(right, ranges),
                    (_, Some(_)) => self.sum(left, ranges),
                    _ => self.keyed(value, ranges),
                }
            }
            _ => match self.truth_of(value, ranges) {
                Some(truth) => constant(i64::from(truth)),
                None => self.keyed(value, ranges),
            },
        }
    }

    /// Whether a condition is always true or always false.
    fn truth(&mut self, condition: &Value<Element>, ranges: &[(i64, i64)]) -> Option<bool> {
        let sum = self.sum(condition, ranges);
        sum.terms.is_empty().then_some(sum.constant != 0)
    }

    /// The outcome of a comparison that the ranges decide, or its opposite.
    fn truth_of(&mut self, value: &Value<Element>, ranges: &[(i64, i64)]) -> Option<bool> {
        match value {
            Value::Unary(Unary::Not, operand) if self.value_type(operand) == Type::Bool => {
                self.truth(operand, ranges).map(|truth| !truth)
            }
            Value::Binary(operator, left, right) if operator.is_comparison() => {
                let difference = index_of(left, ranges)?.plus(&index_of(right, ranges)?, -1)?;
                let (low, high) = tidy(&difference, ranges).range(ranges);
                let outcomes = [low, high].map(|difference| operator.apply(Type::I32, difference, 0) != 0);
                let is_equality = matches!(operator, Binary::Equal | Binary::NotEqual);
                // Between the two, an order does not change; an equality does, where the range contains 0.
                (outcomes[0] == outcomes[1] && (low == high || !is_equality || low > 0 || high < 0))
                    .then_some(outcomes[0])
            }
            _ => None,
        }
    }

    fn keyed(&mut self, value: &Value<Element>, ranges: &[(i64, i64)]) -> Sum {
        let of = self.value_type(value);
        match self.other(value, ranges) {
            Ok(key) => self.single(of, key),
            Err(number) => Sum { value: of, terms: BTreeMap::new(), constant: of.wrap(number) },
        }
    }

    fn single(&mut self, of: Type, key: Key) -> Sum {
        Sum { value: of, terms: BTreeMap::from([(self.intern(key), 1)]), constant: 0 }
    }

    /// The key of a value that is no sum, or its number.
    fn other(&mut self, value: &Value<Element>, ranges: &[(i64, i64)]) -> Result<Key, i64> {
        let single = |variable: Variable| ranges.get(variable).filter(|range| range.0 == range.1).map(|range| range.0);
        if let Some(number) = value.evaluate(&single) {
            return Err(number);
        }
        Ok(match value {
            Value::Load(Element::Array { array, indices, outside, .. }) => {
                let indices: Vec<Index> = indices.iter().map(|index| tidy(index, ranges)).collect();
                let mut outside = *outside;
                if let Some(number) = outside {
                    let bounds = &self.bounds[*array];
                    let reached: Vec<_> = indices.iter().map(|index| index.range(ranges)).zip(bounds).collect();
                    if reached.iter().any(|(reached, bound)| reached.1 < bound.0 || reached.0 > bound.1) {
                        return Err(number);
                    }
                    if reached.iter().all(|(reached, bound)| reached.0 >= bound.0 && reached.1 <= bound.1) {
                        outside = None;
                    }
                }
                Key::Load(*array, indices, outside)
            }
            Value::Load(Element::Table { table, index }) => Key::Lookup(*table, self.number(index, ranges)),
            Value::Load(Element::Chosen { array, indices, .. }) => {
                Key::Chosen(*array, indices.iter().map(|index| self.number(index, ranges)).collect())
            }
            Value::Unary(operator, operand) => Key::Unary(*operator, self.number(operand, ranges)),
            Value::Cast(to, operand) => Key::Cast(*to, self.number(operand, ranges)),
            Value::Select(condition, then, otherwise) => {
                Key::Select(self.number(condition, ranges), self.number(then, ranges), self.number(otherwise, ranges))
            }
            Value::Binary(operator, left, right) => match operator {
                Binary::Minimum | Binary::Maximum | Binary::And | Binary::Or => {
                    let mut operands = Vec::new();
                    self.chain(*operator, value, ranges, &mut operands);
                    operands.sort_unstable();
                    operands.dedup();
                    Key::Chain(*operator, operands)
                }
                Binary::Equal | Binary::NotEqual | Binary::Xor | Binary::AbsoluteDifference => {
                    let mut operands = [self.number(left, ranges), self.number(right, ranges)];
                    operands.sort_unstable();
                    Key::Binary(*operator, operands[0], operands[1])
                }
                Binary::Greater => Key::Binary(Binary::Less, self.number(right, ranges), self.number(left, ranges)),
                Binary::GreaterEqual => {
                    Key::Binary(Binary::LessEqual, self.number(right, ranges), self.number(left, ranges))
                }
                _ => Key::Binary(*operator, self.number(left, ranges), self.number(right, ranges)),
            },
            Value::Number(number, _) => return Err(*number),
            Value::Variable(variable) => Key::Index(Index::variable(*variable)),
        })
    }

    fn chain(&mut self, wanted: Binary, value: &Value<Element>, ranges: &[(i64, i64)], found: &mut Vec<usize>) {
        match value {
            Value::Binary(operator, left, right) if *operator == wanted => {
                self.chain(wanted, left, ranges, found);
                self.chain(wanted, right, ranges, found);
            }
            other => found.push(self.number(other, ranges)),
        }
    }
}

impl Sum {
    fn plus(mut self, other: &Sum, factor: i64) -> Sum {
        for (term, coefficient) in &other.terms {
            let sum = self.terms.entry(*term).or_insert(0);
            *sum = self.value.wrap(sum.wrapping_add(coefficient.wrapping_mul(factor)));
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        self.constant = self.value.wrap(self.constant.wrapping_add(other.constant.wrapping_mul(factor)));
        self
    }
}

/// The simplest index with the same values in these ranges.
pub(crate) fn tidy(index: &Index, ranges: &[(i64, i64)]) -> Index {
    let mut index = index.clone();
    for variable in index.variables() {
        let (first, last) = ranges[variable];
        if first == last {
            index = index.substituted(variable, &Index::constant(first)).unwrap_or(index);
        }
    }
    if index.pieces.is_empty() {
        return index;
    }
    let variables = index.variables();
    if let (1, Some(&variable)) = (variables.len(), variables.first())
        && ranges[variable].1 - ranges[variable].0 < MOST_VALUES
    {
        let (first, last) = ranges[variable];
        let mut point = vec![0; variable + 1];
        let values = (first..=last).map(|at| {
            point[variable] = at;
            index.evaluate(&point)
        });
        let values: Vec<i64> = values.collect();
        return fit(variable, first, &values).unwrap_or(index);
    }
    let mut sum = Index { affine: index.affine.clone(), pieces: Vec::new() };
    for (factor, piece) in &index.pieces {
        let of = tidy(piece.of(), ranges);
        let simple = match *piece {
            Piece::Quotient { by, .. } => of.divided(by, ranges),
            Piece::Remainder { by, .. } => of.remainder(by, ranges),
            Piece::Clamp { low, high, .. } => Some(of.clamped(low, high, ranges)),
            Piece::Mirror { low, high, .. } => Some(of.mirrored(low, high, ranges)),
        };
        let simple = simple.unwrap_or_else(|| with_inner(piece, tidy(piece.of(), ranges)));
        let simple = if simple.variables().len() < variables.len() { tidy(&simple, ranges) } else { simple };
        sum = sum.plus(&simple, *factor).unwrap_or(sum);
    }
    sum
}
