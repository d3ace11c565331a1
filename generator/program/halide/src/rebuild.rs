//! Parts of expressions and indices, put together anew.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Index, Piece};

use crate::value::{Element, Load, Value};

/// The value with other parts, each of which is looked at once, however often it is used.
pub(crate) fn rewritten(
    value: &Rc<Value<Element>>,
    known: &mut HashMap<*const Value<Element>, Rc<Value<Element>>>,
    part: &mut impl FnMut(&Value<Element>) -> Option<Rc<Value<Element>>>,
) -> Rc<Value<Element>> {
    if let Some(known) = known.get(&Rc::as_ptr(value)) {
        return known.clone();
    }
    let new = part(value).unwrap_or_else(|| match &**value {
        Value::Load(Element::Table { table, index }) => {
            let index = rewritten(index, known, part);
            Rc::new(Value::Load(Element::Table { table: *table, index }))
        }
        Value::Load(Element::Chosen { array, indices, span }) => {
            let indices = indices.iter().map(|index| rewritten(index, known, part)).collect();
            Rc::new(Value::Load(Element::Chosen { array: *array, indices, span: *span }))
        }
        other if other.operands().is_empty() => value.clone(),
        other => Rc::new(other.with(|operand| rewritten(operand, known, part))),
    });
    known.insert(Rc::as_ptr(value), new.clone());
    new
}

/// An index as a value.
pub(crate) fn value_of<L: Load>(index: &Index) -> Rc<Value<L>> {
    let mut sum: Option<Rc<Value<L>>> = None;
    let mut add = |factor: i64, term: Rc<Value<L>>| {
        let product = |factor: i64, term| match factor {
            1 => term,
            factor => Value::binary(Binary::Multiply, term, Value::number(factor)),
        };
        sum = Some(match sum.take() {
            None => product(factor, term),
            Some(sum) if factor < 0 => Value::binary(Binary::Subtract, sum, product(-factor, term)),
            Some(sum) => Value::binary(Binary::Add, sum, product(factor, term)),
        });
    };
    for &(variable, factor) in &index.affine.terms {
        add(factor, Rc::new(Value::Variable(variable)));
    }
    for (factor, piece) in &index.pieces {
        let of = value_of(piece.of());
        add(
            *factor,
            match *piece {
                Piece::Quotient { by, .. } => Value::binary(Binary::Divide, of, Value::number(by)),
                Piece::Remainder { by, .. } => Value::binary(Binary::Modulo, of, Value::number(by)),
                Piece::Clamp { low, high, .. } => {
                    let limited = Value::binary(Binary::Minimum, of, Value::number(high));
                    Value::binary(Binary::Maximum, limited, Value::number(low))
                }
                Piece::Mirror { low, high, .. } => {
                    // The distance to the low edge, in a period of twice the extent, of which the second half goes back.
                    let extent = high - low + 1;
                    let there = Value::binary(Binary::Subtract, of, Value::number(low));
                    let there = Value::binary(Binary::Modulo, there, Value::number(2 * extent));
                    let back = Value::binary(Binary::Subtract, Value::number(2 * extent - 1), there.clone());
                    Value::binary(Binary::Add, Value::binary(Binary::Minimum, there, back), Value::number(low))
                }
            },
        );
    }
    match (sum, index.affine.constant) {
        (None, constant) => Value::number(constant),
        (Some(sum), 0) => sum,
        (Some(sum), constant) if constant < 0 => Value::binary(Binary::Subtract, sum, Value::number(-constant)),
        (Some(sum), constant) => Value::binary(Binary::Add, sum, Value::number(constant)),
    }
}
