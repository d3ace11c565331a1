//! Functions that Halide's integer pipelines call, in the operators of nests.

use std::rc::Rc;

use pushmem_nest::{Binary, Span, Type, Unary};

use crate::fault::{Fault, Result};
use crate::value::Value;

/// The value of `name(arguments)`, which Halide says is of type `value`. `load` gives the types of loads.
pub(crate) fn intrinsic<L: Clone>(
    name: &str,
    value: Option<Type>,
    arguments: &[Rc<Value<L>>],
    span: Span,
    load: &impl Fn(&L) -> Option<Type>,
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
        "shift_left" => call.shift(Binary::ShiftLeft, load),
        "shift_right" => call.shift(Binary::ShiftRight, load),
        "bitwise_not" => Ok(Rc::new(Value::Unary(Unary::Not, call.operand()?))),
        "abs" => Ok(Rc::new(Value::Unary(Unary::Absolute, call.operand()?))),
        "likely" | "likely_if_innermost" | "strict" => call.operand(),
        "promise_clamped" | "unsafe_promise_clamped" => {
            arguments.first().cloned().ok_or_else(|| call.wrong_count("1 to 3"))
        }
        "select" | "if_then_else" => match arguments {
            [condition, then, otherwise] => {
                Ok(Rc::new(Value::Select(condition.clone(), then.clone(), otherwise.clone())))
            }
            _ => Err(call.wrong_count("3")),
        },
        "widening_add" => call.widened(Binary::Add),
        "widening_sub" => call.widened(Binary::Subtract),
        "widening_mul" => call.widened(Binary::Multiply),
        "widen_right_add" => call.right_widened(Binary::Add),
        "widen_right_sub" => call.right_widened(Binary::Subtract),
        "widen_right_mul" => call.right_widened(Binary::Multiply),
        "widening_shift_left" => {
            let [left, right] = call.operands()?;
            let to = call.result();
            Ok(Value::binary(Binary::ShiftLeft, cast(to, left), cast(to, right)))
        }
        "halving_add" => {
            let [left, right] = call.operands()?;
            let differ = Value::binary(Binary::Xor, left.clone(), right.clone());
            let half = Value::binary(Binary::ShiftRight, differ, call.number(1));
            Ok(Value::binary(Binary::Add, Value::binary(Binary::And, left, right), half))
        }
        "rounding_halving_add" => {
            let [left, right] = call.operands()?;
            let differ = Value::binary(Binary::Xor, left.clone(), right.clone());
            let half = Value::binary(Binary::ShiftRight, differ, call.number(1));
            Ok(Value::binary(Binary::Subtract, Value::binary(Binary::Or, left, right), half))
        }
        "halving_sub" => {
            let [left, right] = call.wide_operands()?;
            let half =
                Value::binary(Binary::ShiftRight, Value::binary(Binary::Subtract, left, right), Value::number(1));
            Ok(cast(call.result(), half))
        }
        "saturating_add" => call.saturated(Binary::Add),
        "saturating_sub" => call.saturated(Binary::Subtract),
        "saturating_cast" => {
            let operand = call.operand()?;
            let from = operand.value_type(load).ok_or_else(|| call.unknown_type())?;
            Ok(saturating_cast(operand, from, call.result()))
        }
        "rounding_shift_right" => {
            let [value, by] = call.operands()?;
            let by = call.amount(&by)?;
            let wide = cast(call.wide()?, value);
            let rounded = match by {
                0 => wide,
                _ => Value::binary(Binary::Add, wide, call.wide_number(1 << (by - 1))?),
            };
            let shifted = Value::binary(Binary::ShiftRight, rounded, call.wide_number(by)?);
            Ok(cast(call.result(), shifted))
        }
        "mul_shift_right" | "rounding_mul_shift_right" => {
            let [left, right, by] = arguments else { return Err(call.wrong_count("3")) };
            let (wide, by) = (call.wide()?, call.amount(by)?);
            let product = Value::binary(Binary::Multiply, cast(wide, left.clone()), cast(wide, right.clone()));
            let rounded = match by {
                _ if name == "mul_shift_right" => product,
                0 => product,
                _ => Value::binary(Binary::Add, product, call.wide_number(1 << (by - 1))?),
            };
            let shifted = Value::binary(Binary::ShiftRight, rounded, call.wide_number(by)?);
            Ok(saturating_cast(shifted, wide, call.result()))
        }
        _ => Err(Fault::new(span, format!("a call of `{name}`"))
            .with_help("this function has no hardware: write it with arithmetic, comparisons, `select` and shifts")),
    }
}

fn cast<L: Clone>(to: Type, operand: Rc<Value<L>>) -> Rc<Value<L>> {
    Rc::new(Value::Cast(to, operand))
}

/// The nearest value that the type holds.
fn saturating_cast<L: Clone>(operand: Rc<Value<L>>, from: Type, to: Type) -> Rc<Value<L>> {
    let number = |value| Rc::new(Value::Number(value, from));
    let mut limited = operand;
    if from.max() > to.max() {
        limited = Value::binary(Binary::Minimum, limited, number(to.max()));
    }
    if from.min() < to.min() {
        limited = Value::binary(Binary::Maximum, limited, number(to.min()));
    }
    cast(to, limited)
}

struct Call<'a, L> {
    name: &'a str,
    value: Option<Type>,
    arguments: &'a [Rc<Value<L>>],
    span: Span,
}

impl<L: Clone> Call<'_, L> {
    fn wrong_count(&self, needed: &str) -> Fault {
        Fault::new(self.span, format!("`{}` takes {needed} arguments, not {}", self.name, self.arguments.len()))
    }

    fn unknown_type(&self) -> Fault {
        Fault::new(self.span, format!("the type that `{}` works on is not printed", self.name))
            .with_help("declare the types of the arguments at the top, as in `// input: u16[64, 64]`")
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

    /// The type of the result. Halide does not print that it is i32.
    fn result(&self) -> Type {
        self.value.unwrap_or(Type::I32)
    }

    fn number(&self, value: i64) -> Rc<Value<L>> {
        Rc::new(Value::Number(value, self.result()))
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

    fn wide_number(&self, value: i64) -> Result<Rc<Value<L>>> {
        Ok(Rc::new(Value::Number(value, self.wide()?)))
    }

    /// The operands as i32, in which sums and differences of 16 bits are exact.
    fn wide_operands(&self) -> Result<[Rc<Value<L>>; 2]> {
        self.wide()?;
        Ok(self.operands()?.map(|operand| cast(Type::I32, operand)))
    }

    fn widened(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let ([left, right], to) = (self.operands()?, self.result());
        Ok(Value::binary(operator, cast(to, left), cast(to, right)))
    }

    fn right_widened(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let ([left, right], to) = (self.operands()?, self.result());
        Ok(Value::binary(operator, left, cast(to, right)))
    }

    fn saturated(&self, operator: Binary) -> Result<Rc<Value<L>>> {
        let [left, right] = self.wide_operands()?;
        Ok(saturating_cast(Value::binary(operator, left, right), Type::I32, self.result()))
    }

    /// A shift. The amount may have the other sign's type.
    fn shift(&self, operator: Binary, load: &impl Fn(&L) -> Option<Type>) -> Result<Rc<Value<L>>> {
        let ([value, by], result) = (self.operands()?, self.result());
        if let Value::Number(amount, _) = *by {
            return Ok(Value::binary(operator, value, self.number(result.wrap(amount))));
        }
        match by.value_type(load) {
            Some(found) if found == result => Ok(Value::binary(operator, value, by)),
            // An amount that does not fit is one that Halide leaves undefined.
            Some(found) if !found.is_signed() => Ok(Value::binary(operator, value, cast(result, by))),
            Some(found) => {
                let zero = Rc::new(Value::Number(0, found));
                let negative = Value::binary(Binary::Less, by.clone(), zero);
                let opposite = if operator == Binary::ShiftLeft { Binary::ShiftRight } else { Binary::ShiftLeft };
                let back = cast(result, Rc::new(Value::Unary(Unary::Negate, by.clone())));
                let forth = Value::binary(operator, value.clone(), cast(result, by));
                Ok(Rc::new(Value::Select(negative, Value::binary(opposite, value, back), forth)))
            }
            None => Err(self.unknown_type()),
        }
    }

    /// A constant amount of a shift.
    fn amount(&self, by: &Value<L>) -> Result<i64> {
        match by {
            Value::Number(amount, _) if (0..=31).contains(amount) => Ok(*amount),
            _ => Err(Fault::new(self.span, format!("`{}` by an amount that is no constant", self.name))
                .with_help("shift by a constant from 0 to 31")),
        }
    }
}
