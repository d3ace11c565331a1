//! Functions and operators of numbers with a fraction, in those that nests have of bfloat16.

use pushmem_float::Function;

use pushmem_nest::{Binary, Span, Type, Unary};

use crate::fault::{Fault, Result};
use crate::intern::Interner;
use crate::numbers::{FORMAT, from_f64, to_f64};
use crate::plan::Term;
use crate::value::Value;

/// A function of Halide that numbers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// One that nests have, too.
    Function(Function),
    /// An operator of which Halide keeps the order.
    Operator(Binary),
    Absolute,
    /// The distance of two numbers.
    Difference,
    /// The root of the reciprocal.
    ReciprocalRoot,
    Power,
    /// The sine divided by the cosine.
    Tangent,
    /// `a + (b - a) * c`
    Mixture,
    /// An integer near a number.
    Whole(Whole),
    /// The cast to another type, which holds the nearest value.
    Cast,
    /// Whether a word is no number.
    IsNoNumber,
    /// The first argument.
    Same,
}

/// Which integer is taken that is near a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// The nearest, of two the even one.
    Nearest,
    /// The greatest that is no greater.
    Below,
    /// The least that is no less.
    Above,
    /// The nearest of those towards zero.
    TowardsZero,
}

/// Functions by their names in Halide, without the type that follows some: `sqrt_f32`.
const NAMES: [(&str, Named); 34] = [
    ("abs", Named::Absolute),
    ("absd", Named::Difference),
    ("ceil", Named::Whole(Whole::Above)),
    ("cos", Named::Function(Function::Cosine)),
    ("exp", Named::Function(Function::Exponential)),
    ("fast_inverse", Named::Function(Function::Reciprocal)),
    ("fast_inverse_sqrt", Named::ReciprocalRoot),
    ("floor", Named::Whole(Whole::Below)),
    ("is_nan", Named::IsNoNumber),
    ("lerp", Named::Mixture),
    ("likely", Named::Same),
    ("likely_if_innermost", Named::Same),
    ("log", Named::Function(Function::Logarithm)),
    ("pow", Named::Power),
    ("promise_clamped", Named::Same),
    ("round", Named::Whole(Whole::Nearest)),
    ("saturating_cast", Named::Cast),
    ("sin", Named::Function(Function::Sine)),
    ("sqrt", Named::Function(Function::SquareRoot)),
    ("strict_add", Named::Operator(Binary::Add)),
    ("strict_cast", Named::Cast),
    ("strict_div", Named::Operator(Binary::Divide)),
    ("strict_eq", Named::Operator(Binary::Equal)),
    ("strict_le", Named::Operator(Binary::LessEqual)),
    ("strict_lt", Named::Operator(Binary::Less)),
    ("strict_max", Named::Operator(Binary::Maximum)),
    ("strict_min", Named::Operator(Binary::Minimum)),
    ("strict_mul", Named::Operator(Binary::Multiply)),
    ("strict_mod", Named::Operator(Binary::Modulo)),
    ("strict_sub", Named::Operator(Binary::Subtract)),
    ("tan", Named::Tangent),
    ("tanh", Named::Function(Function::HyperbolicTangent)),
    ("trunc", Named::Whole(Whole::TowardsZero)),
    ("unsafe_promise_clamped", Named::Same),
];

/// The name of a function without the type that follows some.
pub(crate) fn without_type(name: &str) -> &str {
    ["_f16", "_f32", "_f64"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The function of numbers that Halide calls so, if nests can compute it.
pub(crate) fn named(name: &str) -> Option<Named> {
    let stem = without_type(name);
    NAMES.iter().find(|(known, _)| *known == stem).map(|(_, function)| *function)
}

/// From this magnitude on, all numbers of bfloat16 are integers.
const INTEGERS_FROM: f64 = 128.0;

/// Numbers of bfloat16 as terms.
impl Interner {
    /// The number nearest to this one.
    pub fn real(&mut self, number: f64) -> Term {
        self.number(from_f64(number).into(), Type::Bf16)
    }

    fn function_of(&mut self, function: Function, of: Term) -> Term {
        self.unary(Unary::FloatFunction(FORMAT, function), of)
    }

    /// An operator of two numbers; nothing, if nests have none.
    pub fn of_numbers(&mut self, operator: Binary, left: Term, right: Term) -> Option<Term> {
        Some(match operator {
            Binary::Greater => self.binary(Binary::FloatLess(FORMAT), right, left),
            Binary::GreaterEqual => self.binary(Binary::FloatLessEqual(FORMAT), right, left),
            Binary::NotEqual => {
                let equal = self.binary(Binary::FloatEqual(FORMAT), left, right);
                self.unary(Unary::Not, equal)
            }
            Binary::Modulo => self.remainder(left, right)?,
            Binary::Divide => match *right {
                Value::Number(word, _) => {
                    let reciprocal = self.real(1.0 / to_f64(word as u16));
                    self.binary(Binary::FloatMultiply(FORMAT), left, reciprocal)
                }
                _ => {
                    let reciprocal = self.function_of(Function::Reciprocal, right);
                    self.binary(Binary::FloatMultiply(FORMAT), left, reciprocal)
                }
            },
            other => self.binary(other.for_float(FORMAT)?, left, right),
        })
    }

    /// `a - b * floor(a / b)`. Where the quotient is between 0 and 1, or -1 and 0, it is not computed: it may be too small to be a number.
    fn remainder(&mut self, of: Term, by: Term) -> Option<Term> {
        let zero = self.real(0.0);
        let quotient = self.of_numbers(Binary::Divide, of.clone(), by.clone())?;
        let whole = self.whole(Whole::Below, quotient);
        let multiple = self.product(by.clone(), whole);
        let rest = self.difference(of.clone(), multiple);
        match *by {
            Value::Number(word, _) if to_f64(word as u16) > 0.0 => {}
            _ => return Some(rest),
        }
        let is_negative = self.binary(Binary::FloatLess(FORMAT), of.clone(), zero.clone());
        let moved = self.select(is_negative, by.clone(), zero);
        let near = self.sum(of.clone(), moved);
        let absolute = self.unary(Unary::FloatAbsolute(FORMAT), of);
        let is_near = self.binary(Binary::FloatLess(FORMAT), absolute, by);
        Some(self.select(is_near, near, rest))
    }

    fn sum(&mut self, left: Term, right: Term) -> Term {
        self.binary(Binary::FloatAdd(FORMAT), left, right)
    }

    fn difference(&mut self, left: Term, right: Term) -> Term {
        self.binary(Binary::FloatSubtract(FORMAT), left, right)
    }

    fn product(&mut self, left: Term, right: Term) -> Term {
        self.binary(Binary::FloatMultiply(FORMAT), left, right)
    }

    /// `a` to the power of `b`: of small integers a product, of others `exp(b * log(a))`.
    fn power(&mut self, base: Term, exponent: Term) -> Term {
        let known = match *exponent {
            Value::Number(word, _) => Some(to_f64(word as u16)),
            _ => None,
        };
        let square = |terms: &mut Self| terms.product(base.clone(), base.clone());
        match known {
            Some(0.5) => self.function_of(Function::SquareRoot, base),
            Some(1.0) => base,
            Some(2.0) => square(self),
            Some(3.0) => {
                let square = square(self);
                self.product(square, base)
            }
            Some(4.0) => {
                let square = square(self);
                self.product(square.clone(), square)
            }
            Some(-1.0) => self.function_of(Function::Reciprocal, base),
            _ => {
                let logarithm = self.function_of(Function::Logarithm, base);
                let power = self.product(logarithm, exponent);
                self.function_of(Function::Exponential, power)
            }
        }
    }

    /// An integer near a number, as a number. Adding and subtracting a number whose neighbours are the next integers rounds to the nearest.
    fn whole(&mut self, which: Whole, of: Term) -> Term {
        let absolute = self.unary(Unary::FloatAbsolute(FORMAT), of.clone());
        let (limit, zero, one) = (self.real(INTEGERS_FROM), self.real(0.0), self.real(1.0));
        let is_small = self.binary(Binary::FloatLess(FORMAT), absolute.clone(), limit.clone());
        let magnitude = match which {
            Whole::Nearest => {
                let moved = self.sum(absolute, limit.clone());
                self.difference(moved, limit)
            }
            _ => {
                let cut = self.cast(Type::I16, absolute);
                self.cast(Type::Bf16, cut)
            }
        };
        let is_negative = self.binary(Binary::FloatLess(FORMAT), of.clone(), zero);
        let opposite = self.unary(Unary::FloatNegate(FORMAT), magnitude.clone());
        let signed = self.select(is_negative, opposite, magnitude);
        let near = match which {
            Whole::Nearest | Whole::TowardsZero => signed.clone(),
            Whole::Below => {
                let is_above = self.binary(Binary::FloatLess(FORMAT), of.clone(), signed.clone());
                let next = self.difference(signed.clone(), one);
                self.select(is_above, next, signed.clone())
            }
            Whole::Above => {
                let is_below = self.binary(Binary::FloatLess(FORMAT), signed.clone(), of.clone());
                let next = self.sum(signed.clone(), one);
                self.select(is_below, next, signed.clone())
            }
        };
        // A zero keeps its sign.
        let is_whole = self.binary(Binary::FloatEqual(FORMAT), of.clone(), signed);
        let is_fraction = self.unary(Unary::Not, is_whole);
        let is_other = self.binary(Binary::And, is_small, is_fraction);
        self.select(is_other, near, of)
    }

    /// A function of Halide, of these arguments, with a result of this type. Nothing of one that is none of numbers.
    pub fn of_function(&mut self, name: &str, arguments: &[Term], result: Type, span: Span) -> Result<Option<Term>> {
        let Some(function) = named(name) else { return Ok(None) };
        let wrong = || Fault::new(span, format!("`{name}` with {} arguments", arguments.len()));
        let one = || arguments.first().cloned().ok_or_else(wrong);
        let two = || match arguments {
            [left, right] => Ok((left.clone(), right.clone())),
            _ => Err(wrong()),
        };
        Ok(Some(match function {
            Named::Function(function) => self.function_of(function, one()?),
            Named::Operator(operator) => {
                let (left, right) = two()?;
                match self.of_numbers(operator, left, right) {
                    Some(term) => term,
                    None => return Ok(None),
                }
            }
            Named::Absolute => self.unary(Unary::FloatAbsolute(FORMAT), one()?),
            Named::Difference => {
                let (left, right) = two()?;
                let difference = self.difference(left, right);
                self.unary(Unary::FloatAbsolute(FORMAT), difference)
            }
            Named::ReciprocalRoot => {
                let root = self.function_of(Function::SquareRoot, one()?);
                self.function_of(Function::Reciprocal, root)
            }
            Named::Tangent => {
                let of = one()?;
                let (sine, cosine) =
                    (self.function_of(Function::Sine, of.clone()), self.function_of(Function::Cosine, of));
                let reciprocal = self.function_of(Function::Reciprocal, cosine);
                self.product(sine, reciprocal)
            }
            Named::Power => {
                let (base, exponent) = two()?;
                self.power(base, exponent)
            }
            Named::Mixture => {
                let [zero, whole, weight] = arguments else { return Err(wrong()) };
                if [zero, whole, weight].iter().any(|each| self.type_of(each) != Type::Bf16) {
                    return Ok(None);
                }
                // As Halide computes it.
                let unit = self.real(1.0);
                let rest = self.difference(unit, weight.clone());
                let (one, other) = (self.product(zero.clone(), rest), self.product(whole.clone(), weight.clone()));
                self.sum(one, other)
            }
            Named::Whole(which) => {
                let of = one()?;
                self.whole(which, of)
            }
            Named::Cast => {
                let of = one()?;
                self.number_cast(result, of)
            }
            Named::IsNoNumber => {
                let of = one()?;
                let equal = self.binary(Binary::FloatEqual(FORMAT), of.clone(), of);
                self.unary(Unary::Not, equal)
            }
            Named::Same => one()?,
        }))
    }

    /// A cast, where one of the two types is that of numbers.
    pub fn number_cast(&mut self, to: Type, of: Term) -> Term {
        match (self.type_of(&of), to) {
            (Type::Bf16, Type::Bool) => {
                let zero = self.real(0.0);
                let equal = self.binary(Binary::FloatEqual(FORMAT), of, zero);
                self.unary(Unary::Not, equal)
            }
            (Type::Bool, Type::Bf16) => {
                let (one, zero) = (self.real(1.0), self.real(0.0));
                self.select(of, one, zero)
            }
            _ => self.cast(to, of),
        }
    }
}
