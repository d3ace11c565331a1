//! Remainders in addresses, by which the rows of an array are folded.
//!
//! A remainder folds an array if it repeats after all elements up to a dimension: `(y % 4) * 16` in an array of 64 elements.

use std::rc::Rc;

use pushmem_nest::Binary;

use crate::value::{Flat, Value};

/// The address without the remainders that repeat after `period` elements.
pub(crate) fn without_remainder(address: &Value<Flat>, period: i64) -> Value<Flat> {
    without(address, 1, period, &mut |_| ())
}

/// The strides of the remainders that repeat after `period` elements.
pub(crate) fn folded_strides(address: &Value<Flat>, period: i64) -> Vec<i64> {
    let mut strides = Vec::new();
    without(address, 1, period, &mut |stride| strides.push(stride));
    strides
}

/// The address, `scale` times, without these remainders, each of which is `found` with its stride.
fn without(address: &Value<Flat>, scale: i64, period: i64, found: &mut impl FnMut(i64)) -> Value<Flat> {
    let mut inner = |operand: &Rc<Value<Flat>>, scale| Rc::new(without(operand, scale, period, found));
    match address {
        Value::Binary(operator @ (Binary::Add | Binary::Subtract), left, right) => {
            let left = inner(left, scale);
            Value::Binary(*operator, left, inner(right, scale))
        }
        Value::Binary(Binary::Multiply, left, right) => match (&**left, &**right) {
            (_, Value::Number(factor, _)) => match scale.checked_mul(*factor) {
                Some(scale) => Value::Binary(Binary::Multiply, inner(left, scale), right.clone()),
                None => address.clone(),
            },
            _ => address.clone(),
        },
        Value::Binary(Binary::Modulo, row, by) => match **by {
            // A negative factor turns the order of the rows around.
            Value::Number(by, _) if by > 0 && scale > 0 && by.checked_mul(scale) == Some(period) => {
                found(scale);
                without(row, scale, period, found)
            }
            _ => address.clone(),
        },
        _ => address.clone(),
    }
}
