//! Indices that follow one loop, as those of elements that updates write.

use pushmem_nest::{Binary, Type};

use crate::intern::Interner;
use crate::plan::Term;
use crate::value::{Value, Variable};

/// A multiple of a variable plus a constant; or the constant alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// With its factor.
    pub variable: Option<(Variable, i64)>,
    pub constant: i64,
}

/// A variable at an index.
pub(crate) struct At {
    pub variable: Variable,
    /// Of this factor.
    pub multiple: (i64, Term),
    pub value: Term,
    /// Whether it has a value.
    pub is_one: Term,
}

impl Target {
    /// The index, if it is one.
    pub fn of(index: &Term) -> Option<Self> {
        let (variable, constant) = match &**index {
            Value::Number(constant, _) => (None, *constant),
            Value::Variable(variable) => (Some((*variable, 1)), 0),
            Value::Binary(operator @ (Binary::Add | Binary::Subtract), left, right) => {
                let by = if *operator == Binary::Add { 1 } else { -1 };
                match (&**left, &**right) {
                    (Value::Number(constant, _), _) => {
                        let Self { variable, constant: other } = Self::of(right)?;
                        (variable.map(|(of, factor)| (of, factor * by)), constant.checked_add(other.checked_mul(by)?)?)
                    }
                    (_, Value::Number(constant, _)) => {
                        let Self { variable, constant: other } = Self::of(left)?;
                        (variable, other.checked_add(constant.checked_mul(by)?)?)
                    }
                    _ => return None,
                }
            }
            Value::Binary(Binary::Multiply, left, right) => match (&**left, &**right) {
                (Value::Variable(variable), Value::Number(factor, _))
                | (Value::Number(factor, _), Value::Variable(variable))
                    if *factor != 0 =>
                {
                    (Some((*variable, *factor)), 0)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { variable, constant })
    }

    /// The multiple of the variable at an index, its value, and the condition that it has one, as far as its range does not say.
    pub fn at(self, index: &Term, terms: &Interner) -> Option<At> {
        let (variable, factor) = self.variable?;
        let number = |value: i64| terms.number(value, Type::I32);
        let (constant, by) = (number(self.constant), number(factor.abs()));
        let multiple = match factor {
            1.. => terms.binary(Binary::Subtract, index.clone(), constant),
            _ => terms.binary(Binary::Subtract, constant, index.clone()),
        };
        let is_one = match factor.abs() {
            1 => terms.number(1, Type::Bool),
            _ => terms.binary(Binary::Equal, terms.binary(Binary::Modulo, multiple.clone(), by.clone()), number(0)),
        };
        let value = terms.binary(Binary::Divide, multiple.clone(), by);
        Some(At { variable, multiple: (factor.abs(), multiple), value, is_one })
    }
}

/// How far the index of an element that is read is from that of the one that is written.
pub(crate) fn distance(read: &Term, written: &Term) -> Option<i64> {
    let (read, written) = (Target::of(read)?, Target::of(written)?);
    if read.variable != written.variable {
        return None;
    }
    read.constant.checked_sub(written.constant)
}

/// How many iterations of the loop of a variable later an element is written that is read; nothing if that is not constant, if
/// no iteration writes it, or if no index follows the loop.
pub(crate) fn iterations(reads: &[Term], written: &[Term], variable: Variable) -> Option<i64> {
    let factor = |index: &Term| Target::of(index)?.variable.filter(|(of, _)| *of == variable).map(|(_, factor)| factor);
    let (read, written, factor) =
        reads.iter().zip(written).find_map(|(read, written)| Some((read, written, factor(written)?)))?;
    let distance = distance(read, written)?;
    (distance % factor == 0).then_some(distance / factor)
}
