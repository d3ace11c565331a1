//! Functions that Halide's integer pipelines call, in the operators of nests.

use std::cmp::Ordering;
use std::rc::Rc;

use pushmem_nest::{Binary, Span, Type, Unary};

use crate::fault::{Fault, Result};
use crate::value::Value;

/// The value of `name(arguments)`, which Halide says is of type `value`. `load` gives the types of loads.
pub(crate) fn intrinsic<L: Clone>(
    name: &str,
    value: Type,
    arguments: &[Rc<Value<L>>],
    span: Span,
    load: &impl Fn(&L) -> Type,
) -> Result<Rc<Value<L>>> {
    let call = Call { name, value, arguments, span };
    let binary = |operator| {
        let [left, right] = call.operands()?;
        Ok(Value::binary(operator, left, right))
    };
    match name {
        "min" => binary(Binary::Minimum),
        "max" => binary(Binary::Maximum),
        "absd" => binary(Binary::AbsoluteDifference),
        "bitwise_and" => binary(Binary::And),
        "bitwise_or" => binary(Binary::Or),
        "bitwise_xor" => binary(Binary::Xor),
        "shift_left" => call.shift(Binary::ShiftLeft, call.result(), load),
        "shift_right" => call.shift(Binary::ShiftRight, call.result(), load),
        "bitwise_not" => Ok(Rc::new(Value::Unary(Unary::Not, call.operand()?))),
        "abs" => Ok(Rc::new(Value::Unary(Unary::Absolute, call.operand()?))),
        "likely" | "likely_if_innermost" | "strict" => call.operand(),
        "promise_clamped" | "unsafe_promise_clamped" => {
            arguments.first().cloned().ok_or_else(|| call.wrong_count("1 to 3"))
        }
        "select" | "if_then_else" => match arguments {
            [condition, then, otherwise] => Ok(select(condition.clone(), then.clone(), otherwise.clone())),
            // A load that is left away where the condition is false.
            [condition, then] if name == "if_then_else" => Ok(select(condition.clone(), then.clone(), call.number(0))),
            _ => Err(call.wrong_count("3")),
        },
        "mux" => call.chosen(load),
        "widening_add" => call.widened(Binary::Add),
        "widening_sub" => call.widened(Binary::Subtract),
        "widening_mul" => call.widened(Binary::Multiply),
        "widen_right_add" => call.right_widened(Binary::Add),
        "widen_right_sub" => call.right_widened(Binary::Subtract),
        "widen_right_mul" => call.right_widened(Binary::Multiply),
        "widening_shift_left" | "widening_shift_right" => {
            let [value, by] = call.operands()?;
            let operator = if name == "widening_shift_left" { Binary::ShiftLeft } else { Binary::ShiftRight };
            call.shifted(operator, cast(call.result(), value), call.result(), &by, load)
        }
        "halving_add" | "rounding_halving_add" | "halving_sub" => call.halved(),
        "saturating_add" => call.saturated(Binary::Add),
        "saturating_sub" => call.saturated(Binary::Subtract),
        "saturating_cast" => {
            let operand = call.operand()?;
            let from = operand.value_type(load);
            Ok(saturating_cast(operand, from, call.result()))
        }
        "rounding_shift_left" | "rounding_shift_right" => {
            let [value, by] = call.operands()?;
            let operator = if name == "rounding_shift_left" { Binary::ShiftLeft } else { Binary::ShiftRight };
            call.rounded_shift(operator, value, call.result(), &by, load)
        }
        "mul_shift_right" | "rounding_mul_shift_right" => call.shifted_product(load),
        "lerp" => call.interpolated(load),
        "div_round_to_zero" => call.divided_to_zero(),
        "mod_round_to_zero" => {
            let [left, right] = call.operands()?;
            let multiple = Value::binary(Binary::Multiply, call.divided_to_zero()?, right);
            Ok(Value::binary(Binary::Subtract, left, multiple))
        }
        "popcount" => call.counted(|value, bit, of| {
            let moved = Value::binary(Binary::ShiftRight, value, number(bit, of));
            Value::binary(Binary::And, moved, number(1, of))
        }),
        // Those below a power of two, and those that it divides.
        "count_leading_zeros" => {
            call.counted(|value, bit, of| cast(of, Value::binary(Binary::Less, value, number(1 << bit, of))))
        }
        "count_trailing_zeros" => call.counted(|value, bit, of| {
            let rest = Value::binary(Binary::And, value, number((2 << bit) - 1, of));
            cast(of, Value::binary(Binary::Equal, rest, number(0, of)))
        }),
        _ => Err(Fault::new(span, format!("a call of `{name}`"))
            .with_help("this function has no hardware: write it with arithmetic, comparisons, `select` and shifts")),
    }
}

fn cast<L: Clone>(to: Type, operand: Rc<Value<L>>) -> Rc<Value<L>> {
    Rc::new(Value::Cast(to, operand))
}

fn number<L: Clone>(value: i64, of: Type) -> Rc<Value<L>> {
    Rc::new(Value::Number(value, of))
}

fn select<L: Clone>(condition: Rc<Value<L>>, then: Rc<Value<L>>, otherwise: Rc<Value<L>>) -> Rc<Value<L>> {
    Rc::new(Value::Select(condition, then, otherwise))
}

/// The nearest value that the type holds.
fn saturating_cast<L: Clone>(operand: Rc<Value<L>>, from: Type, to: Type) -> Rc<Value<L>> {
    let mut limited = operand;
    if from.max() > to.max() {
        limited = Value::binary(Binary::Minimum, limited, number(to.max(), from));
    }
    if from.min() < to.min() {
        limited = Value::binary(Binary::Maximum, limited, number(to.min(), from));
    }
    cast(to, limited)
}

struct Call<'a, L> {
    name: &'a str,
    value: Type,
    arguments: &'a [Rc<Value<L>>],
    span: Span,
}

impl<L: Clone> Call<'_, L> {
    fn wrong_count(&self, needed: &str) -> Fault {
        Fault::new(self.span, format!("`{}` takes {needed} arguments, not {}", self.name, self.arguments.len()))
    }

    fn operand(&self) -> Result<Rc<Value<L>>> {
        match self.arguments {
            [operand] => Ok(operand.clone()),
            _ => Err(self.wrong_count("1")),
        }
    }

    fn operands(&self) -> Result<[Rc<Value<L>>; 2]> {
        match self.arguments {
            [left, right] => Ok([left.clone(), right.clone()]),
            _ => Err(self.wrong_count("2")),
        }
    }

    /// The type of the result.
    fn result(&self) -> Type {
        self.value
    }

    fn number(&self, value: i64) -> Rc<Value<L>> {
        number(value, self.result())
    }

    /// The type of 32 bits in which sums and products of two values of the result's type are exact.
    fn wide(&self) -> Result<Type> {
        match self.result() {
            Type::U32 | Type::I32 => Err(Fault::new(self.span, format!("`{}` of 32 bits needs 64", self.name))
                .with_help("values have at most 32 bits: compute in 16")),
            narrow if narrow.is_signed() => Ok(Type::I32),
            _ => Ok(Type::U32),
        }
    }

    fn widened(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let ([left, right], to) = (self.operands()?, self.result());
        Ok(Value::binary(operator, cast(to, left), cast(to, right)))
    }

    fn right_widened(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let ([left, right], to) = (self.operands()?, self.result());
        Ok(Value::binary(operator, left, cast(to, right)))
    }

    /// A sum or a difference, or the nearest value that the type holds.
    fn saturated(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let ([left, right], result) = (self.operands()?, self.result());
        if result.bits() < 32 {
            let wide = [&left, &right].map(|operand| cast(Type::I32, operand.clone()));
            let [left, right] = wide;
            return Ok(saturating_cast(Value::binary(operator, left, right), Type::I32, result));
        }
        let wrapped = Value::binary(operator, left.clone(), right.clone());
        let less = |one: Rc<Value<L>>, other: Rc<Value<L>>| Value::binary(Binary::Less, one, other);
        if !result.is_signed() {
            let (too_far, limit) = match operator {
                Binary::Add => (less(wrapped.clone(), left), result.max()),
                _ => (less(left, right), result.min()),
            };
            return Ok(select(too_far, self.number(limit), wrapped));
        }
        // Too far is what has another sign than the left operand, while the right one goes away from zero with it.
        let differ = |one: &Rc<Value<L>>| Value::binary(Binary::Xor, one.clone(), left.clone());
        let away = match operator {
            Binary::Add => Rc::new(Value::Unary(Unary::Not, differ(&right))),
            _ => differ(&right),
        };
        let too_far = less(Value::binary(Binary::And, differ(&wrapped), away), self.number(0));
        let limit = select(less(left.clone(), self.number(0)), self.number(result.min()), self.number(result.max()));
        Ok(select(too_far, limit, wrapped))
    }

    /// The value of the number that the first argument is; the last, if it is that of none before.
    fn chosen(&self, load: &impl Fn(&L) -> Type) -> Result<Rc<Value<L>>> {
        let [which, values @ .., last] = self.arguments else { return Err(self.wrong_count("2 or more")) };
        let of = which.value_type(load);
        let chosen = values.iter().enumerate().rev().fold(last.clone(), |others, (place, value)| {
            let here = Value::binary(Binary::Equal, which.clone(), number(place as i64, of));
            select(here, value.clone(), others)
        });
        Ok(chosen)
    }

    /// Half of a sum or a difference: what is carried to the left of each bit is left out, and then added or subtracted.
    fn halved(&self) -> Result<Rc<Value<L>>> {
        let [left, right] = self.operands()?;
        let differ = Value::binary(Binary::Xor, left.clone(), right.clone());
        let half = Value::binary(Binary::ShiftRight, differ, self.number(1));
        Ok(match self.name {
            "halving_add" => Value::binary(Binary::Add, Value::binary(Binary::And, left, right), half),
            "rounding_halving_add" => Value::binary(Binary::Subtract, Value::binary(Binary::Or, left, right), half),
            _ => {
                let borrowed = Value::binary(Binary::And, Rc::new(Value::Unary(Unary::Not, left)), right);
                Value::binary(Binary::Subtract, half, borrowed)
            }
        })
    }

    /// The product of two arguments, shifted by the third: the nearest value that the type holds.
    fn shifted_product(&self, load: &impl Fn(&L) -> Type) -> Result<Rc<Value<L>>> {
        let [left, right, by] = self.arguments else { return Err(self.wrong_count("3")) };
        let wide = self.wide()?;
        let product = Value::binary(Binary::Multiply, cast(wide, left.clone()), cast(wide, right.clone()));
        let shifted = match self.name {
            "mul_shift_right" => self.shifted(Binary::ShiftRight, product, wide, by, load)?,
            _ => self.rounded_shift(Binary::ShiftRight, product, wide, by, load)?,
        };
        Ok(saturating_cast(shifted, wide, self.result()))
    }

    /// A shift of the first argument by the second.
    fn shift(&self, operator: Binary, of: Type, load: &impl Fn(&L) -> Type) -> Result<Rc<Value<L>>> {
        let [value, by] = self.operands()?;
        self.shifted(operator, value, of, &by, load)
    }

    /// A shift of a value of a type by an amount that may have another one. By a negative amount, it goes the other way.
    fn shifted(
        &self,
        operator: Binary,
        value: Rc<Value<L>>,
        of: Type,
        by: &Rc<Value<L>>,
        load: &impl Fn(&L) -> Type,
    ) -> Result<Rc<Value<L>>> {
        let opposite = if operator == Binary::ShiftLeft { Binary::ShiftRight } else { Binary::ShiftLeft };
        match **by {
            Value::Number(amount, _) if amount < 0 => return Ok(Value::binary(opposite, value, number(-amount, of))),
            Value::Number(amount, _) => return Ok(Value::binary(operator, value, number(amount, of))),
            _ => {}
        }
        match by.value_type(load) {
            found if found == of => Ok(Value::binary(operator, value, by.clone())),
            // An amount that does not fit is one that Halide leaves undefined.
            found if !found.is_signed() => Ok(Value::binary(operator, value, cast(of, by.clone()))),
            found => {
                let negative = Value::binary(Binary::Less, by.clone(), number(0, found));
                let back = cast(of, Rc::new(Value::Unary(Unary::Negate, by.clone())));
                let forth = Value::binary(operator, value.clone(), cast(of, by.clone()));
                Ok(select(negative, Value::binary(opposite, value, back), forth))
            }
        }
    }

    /// A shift to which the last bit that it drops is added: to the nearest, without more bits than the type has.
    fn rounded_shift(
        &self,
        operator: Binary,
        value: Rc<Value<L>>,
        of: Type,
        by: &Rc<Value<L>>,
        load: &impl Fn(&L) -> Type,
    ) -> Result<Rc<Value<L>>> {
        let whole = self.shifted(operator, value.clone(), of, by, load)?;
        let found = by.value_type(load);
        // The shift by one less in the direction in which bits are dropped, and whether it goes there.
        let one = number(1, found);
        let (before, drops) = match operator {
            Binary::ShiftRight => (Binary::Subtract, Binary::Greater),
            _ => (Binary::Add, Binary::Less),
        };
        let zero = number(0, found);
        let (before, drops) = match **by {
            Value::Number(amount, _) if drops.apply(Type::I32, amount, 0) == 0 => return Ok(whole),
            Value::Number(amount, _) => (number(before.apply(Type::I32, amount, 1), Type::I32), None),
            _ => (Value::binary(before, by.clone(), one), Some(Value::binary(drops, by.clone(), zero))),
        };
        let last = self.shifted(operator, value, of, &before, load)?;
        let last = Value::binary(Binary::And, last, number(1, of));
        let rounding = match drops {
            Some(drops) => select(drops, last, number(0, of)),
            None => last,
        };
        Ok(Value::binary(Binary::Add, whole, rounding))
    }

    /// `zero + (one - zero) · weight`, where the weight is a part of the greatest value of its type. Of signed values, the
    /// distances to the least one are unsigned.
    fn interpolated(&self, load: &impl Fn(&L) -> Type) -> Result<Rc<Value<L>>> {
        let [zero, one, weight] = self.arguments else { return Err(self.wrong_count("3")) };
        let (result, of_weight) = (self.result(), weight.value_type(load));
        let (narrow, bits) = (result.unsigned(), i64::from(result.bits()));
        self.wide()?;
        let wide = if bits == 8 { Type::U16 } else { Type::U32 };
        let bias = || number(narrow.wrap(result.min()), narrow);
        let unbiased = |value: &Rc<Value<L>>| match result.is_signed() {
            true => Value::binary(Binary::Subtract, cast(narrow, value.clone()), bias()),
            false => value.clone(),
        };
        // `2^n - 1` is a multiple of `2^m - 1` where `n` is one of `m`.
        let weight = match (of_weight.bits().cmp(&result.bits()), narrow.max(), of_weight.max()) {
            (Ordering::Equal, ..) => weight.clone(),
            (Ordering::Less, most, of_weight) => {
                Value::binary(Binary::Multiply, cast(narrow, weight.clone()), number(most / of_weight, narrow))
            }
            (Ordering::Greater, most, of) => {
                cast(narrow, Value::binary(Binary::Divide, weight.clone(), number(of / most, of_weight)))
            }
        };
        let rest = Value::binary(Binary::Subtract, number(narrow.max(), narrow), weight.clone());
        let part = |value, of| Value::binary(Binary::Multiply, cast(wide, value), cast(wide, of));
        let sum = Value::binary(Binary::Add, part(unbiased(zero), rest), part(unbiased(one), weight));
        // `sum / (2^n - 1)`, rounded, is `sum / 2^n · (1 + 1 / 2^n)`.
        let by = number(bits, wide);
        let above = self.rounded_shift(Binary::ShiftRight, sum.clone(), wide, &by, load)?;
        let divided =
            self.rounded_shift(Binary::ShiftRight, Value::binary(Binary::Add, above, sum), wide, &by, load)?;
        let found = cast(narrow, divided);
        Ok(match result.is_signed() {
            true => cast(result, Value::binary(Binary::Add, found, bias())),
            false => found,
        })
    }

    /// The quotient without its fraction. That of nests is rounded down where the divisor is positive.
    fn divided_to_zero(&self) -> Result<Rc<Value<L>>> {
        let ([left, right], result) = (self.operands()?, self.result());
        if !result.is_signed() {
            return Ok(Value::binary(Binary::Divide, left, right));
        }
        let absolute = |value: &Rc<Value<L>>| Rc::new(Value::Unary(Unary::Absolute, value.clone()));
        let quotient = cast(result, Value::binary(Binary::Divide, absolute(&left), absolute(&right)));
        let negative = Value::binary(Binary::Less, Value::binary(Binary::Xor, left, right), self.number(0));
        Ok(select(negative, Rc::new(Value::Unary(Unary::Negate, quotient.clone())), quotient))
    }

    /// A count over the bits of a value: the sum of terms, one for each bit.
    fn counted(&self, term: impl Fn(Rc<Value<L>>, i64, Type) -> Rc<Value<L>>) -> Result<Rc<Value<L>>> {
        let of = self.result().unsigned();
        let value = cast(of, self.operand()?);
        let terms = (0..i64::from(of.bits())).map(|bit| term(value.clone(), bit, of));
        let sum = terms.reduce(|sum, term| Value::binary(Binary::Add, sum, term));
        Ok(cast(self.result(), sum.unwrap_or_else(|| number(0, of))))
    }
}
