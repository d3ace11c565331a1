//! Functions that Halide's integer pipelines call, in the operators of nests.

use std::cmp::Ordering;

use pushmem_nest::{Binary, Span, Type, Unary};

use crate::intern::Interner;
use crate::plan::Term;
use crate::value::Value;
use crate::{Problem, Result};

impl Interner {
    /// The value of `name(arguments)`, which Halide says is of type `result`.
    pub fn intrinsic(&self, name: &str, result: Type, arguments: &[Term], span: Span) -> Result<Term> {
        Call { terms: self, name, result, arguments, span }.value()
    }

    /// The nearest value that the type holds.
    fn saturating_cast(&self, operand: Term, to: Type) -> Term {
        let (from, mut limited) = (self.type_of(&operand), operand);
        if from.max() > to.max() {
            limited = self.binary(Binary::Minimum, limited, self.number(to.max(), from));
        }
        if from.min() < to.min() {
            limited = self.binary(Binary::Maximum, limited, self.number(to.min(), from));
        }
        self.cast(to, limited)
    }

    /// A shift by an amount that may have another type. By a negative amount, it goes the other way.
    fn shifted(&self, operator: Binary, value: Term, by: &Term) -> Term {
        let opposite = if operator == Binary::ShiftLeft { Binary::ShiftRight } else { Binary::ShiftLeft };
        let (of, found) = (self.type_of(&value), self.type_of(by));
        match **by {
            Value::Number(amount, _) if amount < 0 => self.binary(opposite, value, self.number(-amount, of)),
            Value::Number(amount, _) => self.binary(operator, value, self.number(amount, of)),
            // An amount that does not fit is one that Halide leaves undefined.
            _ if found == of || !found.is_signed() => self.binary(operator, value, self.cast(of, by.clone())),
            _ => {
                let negative = self.binary(Binary::Less, by.clone(), self.number(0, found));
                let back = self.cast(of, self.unary(Unary::Negate, by.clone()));
                let forth = self.binary(operator, value.clone(), self.cast(of, by.clone()));
                self.select(negative, self.binary(opposite, value, back), forth)
            }
        }
    }

    /// A shift to which the last bit that it drops is added: to the nearest, without more bits than the type has.
    fn rounded_shift(&self, operator: Binary, value: Term, by: &Term) -> Term {
        let (of, of_amount) = (self.type_of(&value), self.type_of(by));
        let whole = self.shifted(operator, value.clone(), by);
        // The shift by one less in the direction in which bits are dropped, and whether it goes there.
        let (before, drops) = match operator {
            Binary::ShiftRight => (Binary::Subtract, Binary::Greater),
            _ => (Binary::Add, Binary::Less),
        };
        let before = self.binary(before, by.clone(), self.number(1, of_amount));
        let drops = self.binary(drops, by.clone(), self.number(0, of_amount));
        let last = self.binary(Binary::And, self.shifted(operator, value, &before), self.number(1, of));
        self.binary(Binary::Add, whole, self.select(drops, last, self.number(0, of)))
    }
}

/// A call of a function.
struct Call<'a> {
    terms: &'a Interner,
    name: &'a str,
    result: Type,
    arguments: &'a [Term],
    span: Span,
}

impl Call<'_> {
    fn value(&self) -> Result<Term> {
        let terms = self.terms;
        let binary = |operator| {
            let [left, right] = self.operands()?;
            Ok(terms.binary(operator, left, right))
        };
        let shift = |operator, is_rounded: bool| {
            let [value, by] = self.operands()?;
            let value = if self.name.starts_with("widening") { terms.cast(self.result, value) } else { value };
            Ok(match is_rounded {
                true => terms.rounded_shift(operator, value, &by),
                false => terms.shifted(operator, value, &by),
            })
        };
        match self.name {
            "min" => binary(Binary::Minimum),
            "max" => binary(Binary::Maximum),
            "absd" => binary(Binary::AbsoluteDifference),
            "bitwise_and" => binary(Binary::And),
            "bitwise_or" => binary(Binary::Or),
            "bitwise_xor" => binary(Binary::Xor),
            "shift_left" | "widening_shift_left" => shift(Binary::ShiftLeft, false),
            "shift_right" | "widening_shift_right" => shift(Binary::ShiftRight, false),
            "rounding_shift_left" => shift(Binary::ShiftLeft, true),
            "rounding_shift_right" => shift(Binary::ShiftRight, true),
            "bitwise_not" => Ok(terms.unary(Unary::Not, self.operand()?)),
            "abs" => Ok(terms.unary(Unary::Absolute, self.operand()?)),
            "likely" | "likely_if_innermost" | "strict" => self.operand(),
            "promise_clamped" | "unsafe_promise_clamped" => {
                self.arguments.first().cloned().ok_or_else(|| self.wrong_count("1 to 3"))
            }
            "select" | "if_then_else" => match self.arguments {
                [condition, then, otherwise] => Ok(terms.select(condition.clone(), then.clone(), otherwise.clone())),
                // Halide skips a load where the condition is false.
                [condition, then] if self.name == "if_then_else" => {
                    Ok(terms.select(condition.clone(), then.clone(), self.number(0)))
                }
                _ => Err(self.wrong_count("3")),
            },
            "mux" => self.chosen(),
            "widening_add" => self.widened(Binary::Add),
            "widening_sub" => self.widened(Binary::Subtract),
            "widening_mul" => self.widened(Binary::Multiply),
            "widen_right_add" => self.right_widened(Binary::Add),
            "widen_right_sub" => self.right_widened(Binary::Subtract),
            "widen_right_mul" => self.right_widened(Binary::Multiply),
            "halving_add" | "rounding_halving_add" | "halving_sub" => self.halved(),
            "saturating_add" => self.saturated(Binary::Add),
            "saturating_sub" => self.saturated(Binary::Subtract),
            "saturating_cast" => Ok(terms.saturating_cast(self.operand()?, self.result)),
            "mul_shift_right" | "rounding_mul_shift_right" => self.shifted_product(),
            "lerp" => self.interpolated(),
            "div_round_to_zero" => self.divided_to_zero(),
            "mod_round_to_zero" => {
                let [left, right] = self.operands()?;
                Ok(terms.binary(Binary::Subtract, left, terms.binary(Binary::Multiply, self.divided_to_zero()?, right)))
            }
            "popcount" | "count_leading_zeros" | "count_trailing_zeros" => self.counted(),
            name => Err(Problem::new(self.span, format!("a call of `{name}`")).with_help(
                "this function has no hardware: write it with arithmetic, comparisons, `select` and shifts",
            )),
        }
    }

    fn wrong_count(&self, needed: &str) -> Problem {
        Problem::new(self.span, format!("`{}` takes {needed} arguments, not {}", self.name, self.arguments.len()))
    }

    fn operand(&self) -> Result<Term> {
        match self.arguments {
            [operand] => Ok(operand.clone()),
            _ => Err(self.wrong_count("1")),
        }
    }

    fn operands(&self) -> Result<[Term; 2]> {
        match self.arguments {
            [left, right] => Ok([left.clone(), right.clone()]),
            _ => Err(self.wrong_count("2")),
        }
    }

    /// A number of the type of the result.
    fn number(&self, value: i64) -> Term {
        self.terms.number(value, self.result)
    }

    /// The type of 32 bits in which sums and products of two values of the result's type are exact.
    fn wide(&self) -> Result<Type> {
        match self.result {
            Type::U32 | Type::I32 => Err(Problem::new(self.span, format!("`{}` of 32 bits needs 64", self.name))
                .with_help("values have at most 32 bits: compute in 16")),
            narrow if narrow.is_signed() => Ok(Type::I32),
            _ => Ok(Type::U32),
        }
    }

    fn widened(&self, operator: Binary) -> Result<Term> {
        let [left, right] = self.operands()?.map(|operand| self.terms.cast(self.result, operand));
        Ok(self.terms.binary(operator, left, right))
    }

    fn right_widened(&self, operator: Binary) -> Result<Term> {
        let [left, right] = self.operands()?;
        Ok(self.terms.binary(operator, left, self.terms.cast(self.result, right)))
    }

    /// A sum or a difference, or the nearest value that the type holds.
    fn saturated(&self, operator: Binary) -> Result<Term> {
        let ([left, right], Self { terms, result, .. }) = (self.operands()?, self);
        if result.bits() < 32 {
            let [left, right] = [left, right].map(|operand| terms.cast(Type::I32, operand));
            return Ok(terms.saturating_cast(terms.binary(operator, left, right), *result));
        }
        let wrapped = terms.binary(operator, left.clone(), right.clone());
        let less = |one: Term, other: Term| terms.binary(Binary::Less, one, other);
        if !result.is_signed() {
            let (too_far, limit) = match operator {
                Binary::Add => (less(wrapped.clone(), left), result.max()),
                _ => (less(left, right), result.min()),
            };
            return Ok(terms.select(too_far, self.number(limit), wrapped));
        }
        // Too far is what has another sign than the left operand, while the right one goes away from zero with it.
        let differ = |one: &Term| terms.binary(Binary::Xor, one.clone(), left.clone());
        let away = match operator {
            Binary::Add => terms.unary(Unary::Not, differ(&right)),
            _ => differ(&right),
        };
        let too_far = less(terms.binary(Binary::And, differ(&wrapped), away), self.number(0));
        let is_negative = less(left.clone(), self.number(0));
        let limit = terms.select(is_negative, self.number(result.min()), self.number(result.max()));
        Ok(terms.select(too_far, limit, wrapped))
    }

    /// The value of the number that the first argument is; the last, if it is that of none before.
    fn chosen(&self) -> Result<Term> {
        let ([which, values @ .., last], terms) = (self.arguments, self.terms) else {
            return Err(self.wrong_count("2 or more"));
        };
        let of = terms.type_of(which);
        Ok(values.iter().enumerate().rev().fold(last.clone(), |others, (place, value)| {
            let here = terms.binary(Binary::Equal, which.clone(), terms.number(place as i64, of));
            terms.select(here, value.clone(), others)
        }))
    }

    /// Half of a sum or a difference: what is carried to the left of each bit is left out, and then added or subtracted.
    fn halved(&self) -> Result<Term> {
        let ([left, right], terms) = (self.operands()?, self.terms);
        let differ = terms.binary(Binary::Xor, left.clone(), right.clone());
        let half = terms.binary(Binary::ShiftRight, differ, self.number(1));
        Ok(match self.name {
            "halving_add" => terms.binary(Binary::Add, terms.binary(Binary::And, left, right), half),
            "rounding_halving_add" => terms.binary(Binary::Subtract, terms.binary(Binary::Or, left, right), half),
            _ => {
                let borrowed = terms.binary(Binary::And, terms.unary(Unary::Not, left), right);
                terms.binary(Binary::Subtract, half, borrowed)
            }
        })
    }

    /// The product of two arguments, shifted by the third: the nearest value that the type holds.
    fn shifted_product(&self) -> Result<Term> {
        let ([left, right, by], terms) = (self.arguments, self.terms) else { return Err(self.wrong_count("3")) };
        let wide = self.wide()?;
        let [left, right] = [left, right].map(|operand| terms.cast(wide, operand.clone()));
        let product = terms.binary(Binary::Multiply, left, right);
        let shifted = match self.name {
            "mul_shift_right" => terms.shifted(Binary::ShiftRight, product, by),
            _ => terms.rounded_shift(Binary::ShiftRight, product, by),
        };
        Ok(terms.saturating_cast(shifted, self.result))
    }

    /// `zero + (one - zero) · weight`, where the weight is a part of the greatest value of its type. Of signed values, the
    /// distances to the least one are unsigned.
    fn interpolated(&self) -> Result<Term> {
        let ([zero, one, weight], terms) = (self.arguments, self.terms) else { return Err(self.wrong_count("3")) };
        let (result, of_weight) = (self.result, terms.type_of(weight));
        let (narrow, bits) = (result.unsigned(), i64::from(result.bits()));
        self.wide()?;
        let wide = if bits == 8 { Type::U16 } else { Type::U32 };
        let bias = || terms.number(result.min(), narrow);
        let unbiased = |value: &Term| match result.is_signed() {
            true => terms.binary(Binary::Subtract, terms.cast(narrow, value.clone()), bias()),
            false => value.clone(),
        };
        // `2^n - 1` is a multiple of `2^m - 1` where `n` is one of `m`.
        let (most, weight) = (narrow.max(), weight.clone());
        let weight = match of_weight.bits().cmp(&result.bits()) {
            Ordering::Equal => weight,
            Ordering::Less => {
                let factor = terms.number(most / of_weight.max(), narrow);
                terms.binary(Binary::Multiply, terms.cast(narrow, weight), factor)
            }
            Ordering::Greater => {
                let divisor = terms.number(of_weight.max() / most, of_weight);
                terms.cast(narrow, terms.binary(Binary::Divide, weight, divisor))
            }
        };
        let rest = terms.binary(Binary::Subtract, terms.number(most, narrow), weight.clone());
        let part = |value, of| terms.binary(Binary::Multiply, terms.cast(wide, value), terms.cast(wide, of));
        let sum = terms.binary(Binary::Add, part(unbiased(zero), rest), part(unbiased(one), weight));
        // `sum / (2^n - 1)`, rounded, is `sum / 2^n · (1 + 1 / 2^n)`.
        let by = terms.number(bits, wide);
        let above = terms.rounded_shift(Binary::ShiftRight, sum.clone(), &by);
        let divided = terms.rounded_shift(Binary::ShiftRight, terms.binary(Binary::Add, above, sum), &by);
        let found = terms.cast(narrow, divided);
        Ok(match result.is_signed() {
            true => terms.cast(result, terms.binary(Binary::Add, found, bias())),
            false => found,
        })
    }

    /// The quotient without its fraction. That of nests is rounded down where the divisor is positive.
    fn divided_to_zero(&self) -> Result<Term> {
        let ([left, right], Self { terms, result, .. }) = (self.operands()?, self);
        if !result.is_signed() {
            return Ok(terms.binary(Binary::Divide, left, right));
        }
        let absolute = |value: &Term| terms.unary(Unary::Absolute, value.clone());
        let quotient = terms.cast(*result, terms.binary(Binary::Divide, absolute(&left), absolute(&right)));
        let negative = terms.binary(Binary::Less, terms.binary(Binary::Xor, left, right), self.number(0));
        Ok(terms.select(negative, terms.unary(Unary::Negate, quotient.clone()), quotient))
    }

    /// A count over the bits of a value: the sum of terms, one for each bit.
    fn counted(&self) -> Result<Term> {
        let (terms, of) = (self.terms, self.result.unsigned());
        let value = terms.cast(of, self.operand()?);
        let number = |value: i64| terms.number(value, of);
        let and = |value: Term, mask: i64| terms.binary(Binary::And, value, number(mask));
        let term = |bit: i64| match self.name {
            "popcount" => and(terms.binary(Binary::ShiftRight, value.clone(), number(bit)), 1),
            // Those below a power of two, and those that it divides.
            "count_leading_zeros" => terms.cast(of, terms.binary(Binary::Less, value.clone(), number(1 << bit))),
            _ => terms.cast(of, terms.binary(Binary::Equal, and(value.clone(), (2 << bit) - 1), number(0))),
        };
        let sum = (0..i64::from(of.bits())).map(term).reduce(|sum, term| terms.binary(Binary::Add, sum, term));
        Ok(terms.cast(self.result, sum.unwrap_or_else(|| number(0))))
    }
}
