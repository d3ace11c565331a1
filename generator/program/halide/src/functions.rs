//! Functions and operators of numbers with a fraction, in those that nests have.

use pushmem_float::{Format, Function};

use pushmem_nest::{Binary, Span, Type, Unary};

use crate::floats::{greatest, has_reciprocal};
use crate::intern::Interner;
use crate::plan::Term;
use crate::value::Value;
use crate::{Problem, Result};

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

/// Numbers with a fraction as terms.
impl Interner {
    /// The number nearest to this one.
    pub fn real(&self, format: Format, number: f64) -> Term {
        self.number(format.from_f64(number).into(), Type::of_format(format))
    }

    /// The format of a number.
    fn format_of(&self, of: &Term) -> Format {
        self.type_of(of).format().expect("it is a number with a fraction")
    }

    /// An operator of the format of its operand.
    fn of_one(&self, operator: fn(Format) -> Unary, of: Term) -> Term {
        self.unary(operator(self.format_of(&of)), of)
    }

    /// An operator of the format of its operands.
    fn of_two(&self, operator: fn(Format) -> Binary, left: Term, right: Term) -> Term {
        self.binary(operator(self.format_of(&left)), left, right)
    }

    fn function_of(&self, function: Function, of: Term) -> Term {
        self.unary(Unary::FloatFunction(self.format_of(&of), function), of)
    }

    /// Refuses a function that numbers of a format do not have.
    fn check(&self, function: Function, name: &str, of: &Term, span: Span) -> Result<()> {
        let format = self.format_of(of);
        match function.is_of(format) {
            true => Ok(()),
            false => Err(Problem::new(span, format!("`{name}` of {format} has no hardware")).with_help(
                "use `hl.BFloat(16)`, or look it up in a table: a Func of its variable only, computed by `compute_root`",
            )),
        }
    }

    /// An operator of two numbers; nothing, if nests have none.
    pub fn of_numbers(&self, operator: Binary, left: Term, right: Term) -> Option<Term> {
        let format = self.format_of(&left);
        Some(match operator {
            Binary::Greater => self.of_two(Binary::FloatLess, right, left),
            Binary::GreaterEqual => self.of_two(Binary::FloatLessEqual, right, left),
            Binary::NotEqual => self.unary(Unary::Not, self.of_two(Binary::FloatEqual, left, right)),
            Binary::Modulo => self.remainder(left, right)?,
            Binary::Divide => {
                let reciprocal = match *right {
                    Value::Number(word, _) => self.real(format, 1.0 / format.to_f64(word as u16)),
                    _ => self.function_of(Function::Reciprocal, right),
                };
                self.of_two(Binary::FloatMultiply, left, reciprocal)
            }
            other => self.binary(other.for_float(format)?, left, right),
        })
    }

    /// `a - b * floor(a / b)`, without its overflows. Where the quotient is between 0 and 1, or -1 and 0, it is not computed: it may be too small to be a number.
    fn remainder(&self, of: Term, by: Term) -> Option<Term> {
        let format = self.format_of(&of);
        let zero = || self.real(format, 0.0);
        let less = |one: &Term, other: Term| self.of_two(Binary::FloatLess, one.clone(), other);
        let quotient = self.of_numbers(Binary::Divide, of.clone(), by.clone())?;
        let divisor = match *by {
            Value::Number(word, _) => format.to_f64(word as u16),
            _ => f64::NAN,
        };
        let greatest = greatest(format);
        // The multiple below a number may be beyond all numbers; towards zero there is one.
        let is_beyond = divisor > 0.0 && has_reciprocal(format, divisor) && greatest % divisor != 0.0;
        let whole = self.whole(if is_beyond { Whole::TowardsZero } else { Whole::Below }, quotient);
        let multiple = self.of_two(Binary::FloatMultiply, by.clone(), whole);
        let mut rest = self.of_two(Binary::FloatSubtract, of.clone(), multiple);
        if divisor.is_nan() || divisor <= 0.0 {
            return Some(rest);
        }
        if is_beyond {
            let positive = self.of_two(Binary::FloatAdd, rest.clone(), by.clone());
            rest = self.select(less(&rest, zero()), positive, rest);
        }
        let absolute = self.of_one(Unary::FloatAbsolute, of.clone());
        if divisor < 1.0 {
            // Beyond, a quotient is infinite, and numbers are multiples of the divisor.
            let limit = self.real(format, divisor * greatest);
            rest = self.select(less(&limit, absolute.clone()), zero(), rest);
        }
        let moved = self.select(less(&of, zero()), by.clone(), zero());
        let near = self.of_two(Binary::FloatAdd, of, moved);
        Some(self.select(less(&absolute, by), near, rest))
    }

    /// `a` to the power of `b`: of small integers a product, of others `exp(b * log(a))`.
    fn power(&self, base: Term, exponent: Term) -> Term {
        let known = match *exponent {
            Value::Number(word, of) => of.format().map(|format| format.to_f64(word as u16)),
            _ => None,
        };
        let product = |one: &Term, other: Term| self.of_two(Binary::FloatMultiply, one.clone(), other);
        let square = || product(&base, base.clone());
        match known {
            Some(0.5) => self.function_of(Function::SquareRoot, base),
            Some(1.0) => base,
            Some(2.0) => square(),
            Some(3.0) => product(&square(), base),
            Some(4.0) => product(&square(), square()),
            Some(-1.0) => self.function_of(Function::Reciprocal, base),
            _ => {
                let logarithm = self.function_of(Function::Logarithm, base);
                self.function_of(Function::Exponential, product(&logarithm, exponent))
            }
        }
    }

    /// An integer near a number, as a number. Adding and subtracting a number whose neighbours are the next integers rounds to the nearest.
    fn whole(&self, which: Whole, of: Term) -> Term {
        let format = self.format_of(&of);
        let less = |one: &Term, other: &Term| self.of_two(Binary::FloatLess, one.clone(), other.clone());
        let absolute = self.of_one(Unary::FloatAbsolute, of.clone());
        // From this magnitude on, all numbers are integers.
        let limit = self.real(format, format.fractions().into());
        let (zero, one) = (self.real(format, 0.0), self.real(format, 1.0));
        let is_small = less(&absolute, &limit);
        let magnitude = match which {
            Whole::Nearest => {
                let moved = self.of_two(Binary::FloatAdd, absolute, limit.clone());
                self.of_two(Binary::FloatSubtract, moved, limit)
            }
            _ => self.cast(Type::of_format(format), self.cast(Type::I16, absolute)),
        };
        let opposite = self.of_one(Unary::FloatNegate, magnitude.clone());
        let signed = self.select(less(&of, &zero), opposite, magnitude);
        let next = |operator: fn(Format) -> Binary| self.of_two(operator, signed.clone(), one);
        let near = match which {
            Whole::Nearest | Whole::TowardsZero => signed.clone(),
            Whole::Below => self.select(less(&of, &signed), next(Binary::FloatSubtract), signed.clone()),
            Whole::Above => self.select(less(&signed, &of), next(Binary::FloatAdd), signed.clone()),
        };
        // A zero keeps its sign.
        let is_fraction = self.unary(Unary::Not, self.of_two(Binary::FloatEqual, of.clone(), signed));
        self.select(self.binary(Binary::And, is_small, is_fraction), near, of)
    }

    /// A function of Halide, of these arguments, with a result of this type. Nothing of one that is none of numbers.
    pub fn of_function(&self, name: &str, arguments: &[Term], result: Type, span: Span) -> Result<Option<Term>> {
        let Some(function) = named(name) else { return Ok(None) };
        let wrong = || Problem::new(span, format!("`{name}` with {} arguments", arguments.len()));
        let one = || arguments.first().cloned().ok_or_else(wrong);
        let two = || match arguments {
            [left, right] => Ok((left.clone(), right.clone())),
            _ => Err(wrong()),
        };
        Ok(Some(match function {
            Named::Function(function) => {
                let of = one()?;
                self.check(function, name, &of, span)?;
                self.function_of(function, of)
            }
            Named::Operator(operator) => {
                let (left, right) = two()?;
                return Ok(self.of_numbers(operator, left, right));
            }
            Named::Absolute => self.of_one(Unary::FloatAbsolute, one()?),
            Named::Difference => {
                let (left, right) = two()?;
                self.of_one(Unary::FloatAbsolute, self.of_two(Binary::FloatSubtract, left, right))
            }
            Named::ReciprocalRoot => {
                self.function_of(Function::Reciprocal, self.function_of(Function::SquareRoot, one()?))
            }
            Named::Tangent => {
                let of = one()?;
                self.check(Function::Sine, name, &of, span)?;
                let (sine, cosine) =
                    (self.function_of(Function::Sine, of.clone()), self.function_of(Function::Cosine, of));
                self.of_two(Binary::FloatMultiply, sine, self.function_of(Function::Reciprocal, cosine))
            }
            Named::Power => {
                let (base, exponent) = two()?;
                self.power(base, exponent)
            }
            Named::Mixture => {
                let [zero, whole, weight] = arguments else { return Err(wrong()) };
                let Some(format) = self.type_of(zero).format() else { return Ok(None) };
                if [whole, weight].iter().any(|each| self.type_of(each).format() != Some(format)) {
                    return Ok(None);
                }
                // As Halide computes it.
                let part = |of: &Term, weight: Term| self.of_two(Binary::FloatMultiply, of.clone(), weight);
                let rest = self.of_two(Binary::FloatSubtract, self.real(format, 1.0), weight.clone());
                self.of_two(Binary::FloatAdd, part(zero, rest), part(whole, weight.clone()))
            }
            Named::Whole(which) => self.whole(which, one()?),
            Named::Cast => self.number_cast(result, one()?),
            Named::IsNoNumber => {
                let of = one()?;
                self.unary(Unary::Not, self.of_two(Binary::FloatEqual, of.clone(), of))
            }
            Named::Same => one()?,
        }))
    }

    /// A cast, where one of the two types is that of numbers.
    pub fn number_cast(&self, to: Type, of: Term) -> Term {
        match (self.type_of(&of).format(), to.format()) {
            (Some(format), None) if to == Type::Bool => {
                self.unary(Unary::Not, self.of_two(Binary::FloatEqual, of, self.real(format, 0.0)))
            }
            (None, Some(format)) if self.type_of(&of) == Type::Bool => {
                self.select(of, self.real(format, 1.0), self.real(format, 0.0))
            }
            _ => self.cast(to, of),
        }
    }
}
