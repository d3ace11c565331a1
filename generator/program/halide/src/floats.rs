//! Which numbers of a pipeline hardware computes as Halide does: those of bfloat16, or of float16. Others are refused, or narrowed to one of
//! the two.
//!
//! Halide computes an operation of bfloat16 or float16 in single precision, and rounds its result. Single precision has at least twice the
//! bits and two, so that the result is rounded as if once. Values of single precision within an expression are therefore no others than those
//! of the format where they are numbers of it themselves, or where one operation on such numbers is rounded to it at once, as in
//! `bfloat16(sqrt(float32(a)))`.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use pushmem_float::Format;
use pushmem_nest::{Binary, Span};

use crate::functions::{Named, named};
use crate::syntax::{Call, Definition, Element, Expression, Kind, Pipeline, TypeCode};
use crate::{Problem, Result};

/// The numbers with a fraction that a pipeline may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Floats {
    /// Those of bfloat16, or of float16, with the operations whose results are those of Halide. Single precision and others are refused.
    #[default]
    Exact,
    /// All: those of other types become the nearest of this format, and a quotient is a product with a reciprocal.
    Narrowed(Format),
}

impl Floats {
    /// Those that are narrowed to the type of this name in nests, if they can be.
    pub fn named(name: &str) -> Option<Self> {
        Format::of_name(name).map(Self::Narrowed)
    }
}

/// Checks that a pipeline has no other numbers than these.
///
/// # Errors
/// At the Func, the image or the expression that has others, with the way to have them narrowed.
pub(crate) fn check(pipeline: &Pipeline, floats: Floats) -> Result<()> {
    if floats != Floats::Exact {
        return Ok(());
    }
    let funcs = pipeline.funcs.iter().flat_map(|func| {
        let span = func.definition.as_ref().map_or(func.span, |definition| definition.span);
        func.types.iter().map(move |element| (*element, func.name.as_str(), span))
    });
    let parameters = pipeline.parameters.iter().map(|each| (each.element, each.name.as_str(), each.span));
    let buffers = pipeline.buffers.iter().map(|each| (each.element, each.name.as_str(), each.span));
    for (element, name, span) in funcs.chain(parameters).chain(buffers) {
        if is_foreign(element) {
            return Err(refused(element, &format!("`{}`", crate::print::stem(name)), span));
        }
    }
    let parameters = pipeline.parameters.iter().map(|each| (each.name.clone(), each.element)).collect();
    let checker = Checker { format: pipeline.format, types: parameters, numbers: HashSet::new(), known: Rc::default() };
    let mut definitions = pipeline.funcs.iter().flat_map(|func| func.definition.iter().chain(&func.updates));
    definitions.try_for_each(|definition| checker.definition(definition))
}

/// Whether a type is of numbers that hardware has not.
fn is_foreign(element: Element) -> bool {
    element.is_number() && !element.is_exactly(element.format)
}

fn refused(element: Element, what: &str, span: Span) -> Problem {
    Problem::new(span, format!("{what} is of type {element}")).with_help(
        "hardware has bfloat16 or float16 in a pipeline: write `hl.BFloat(16)` or `hl.Float(16)` everywhere, or let `--narrow-floats bf16` round all \
         numbers to 8 significant bits, or `--narrow-floats f16` to 11",
    )
}

/// A walk over expressions with the meaning of names.
#[derive(Clone)]
struct Checker {
    format: Format,
    types: HashMap<String, Element>,
    /// Names of values of other types that are numbers of the format.
    numbers: HashSet<String>,
    /// The types of the values of names, and whether they are such numbers: each is looked at once, however deep lets are.
    known: Rc<RefCell<HashMap<*const Expression, (Element, bool)>>>,
}

impl Checker {
    fn definition(&self, definition: &Definition) -> Result<()> {
        let mut all = definition.values.iter().chain(&definition.arguments).chain(&definition.predicate);
        all.try_for_each(|expression| self.expression(expression))
    }

    /// The type of an expression. Names that no `let` has are integers, or parameters.
    fn element(&self, expression: &Expression) -> Element {
        expression.element(&|name| self.types.get(name).copied())
    }

    /// The same with a name of this value.
    fn with(&self, name: &str, value: &Expression) -> Self {
        let mut inner = self.clone();
        let found = self.known.borrow().get(&std::ptr::from_ref(value)).copied();
        let (element, is_number) = found.unwrap_or_else(|| {
            let element = self.element(value);
            (element, is_foreign(element) && self.is_number(value))
        });
        self.known.borrow_mut().insert(value, (element, is_number));
        inner.types.insert(name.to_owned(), element);
        match is_number {
            true => inner.numbers.insert(name.to_owned()),
            false => inner.numbers.remove(name),
        };
        inner
    }

    /// Whether a value of another type than the format is wherever it is used a number of the format.
    fn is_number(&self, expression: &Expression) -> bool {
        match &expression.kind {
            Kind::Real(number, _) => is_number(self.format, *number),
            Kind::Cast(_, of) => {
                let from = self.element(of);
                match from.code {
                    _ if from.is_exactly(self.format) => true,
                    TypeCode::Float | TypeCode::BFloat => self.is_number(of),
                    // Both formats have the bits of a byte.
                    TypeCode::Int | TypeCode::Unsigned => from.bits <= 8,
                    TypeCode::Handle => false,
                }
            }
            Kind::Variable(name) => self.numbers.contains(name),
            Kind::Let(name, parts) => self.with(name, &parts[0]).is_number(&parts[1]),
            Kind::Select(parts) => self.is_number(&parts[1]) && self.is_number(&parts[2]),
            _ => match operation(expression) {
                Some((Binary::Minimum | Binary::Maximum, left, right)) => self.is_number(left) && self.is_number(right),
                // Halide writes `-a` in this way.
                Some((Binary::Subtract, left, right)) => is_zero(left) && self.is_number(right),
                Some(_) => false,
                None => match call(expression) {
                    Some((Named::Absolute | Named::Whole(_) | Named::Same, [of, ..])) => self.is_number(of),
                    _ => false,
                },
            },
        }
    }

    /// Whether a value of another type than the format becomes the same number of the format as if all of it was computed in that.
    fn is_rounded_once(&self, expression: &Expression) -> bool {
        if self.is_number(expression) {
            return true;
        }
        match &expression.kind {
            Kind::Cast(_, of) => matches!(self.element(of).code, TypeCode::Int | TypeCode::Unsigned),
            Kind::Real(..) => true,
            Kind::Let(name, parts) => self.with(name, &parts[0]).is_rounded_once(&parts[1]),
            _ => match (operation(expression), call(expression)) {
                (
                    Some((
                        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo,
                        left,
                        right,
                    )),
                    _,
                ) => self.is_number(left) && self.is_number(right),
                (None, Some((Named::Function(_), [of]))) => self.is_number(of),
                _ => false,
            },
        }
    }

    fn expression(&self, expression: &Expression) -> Result<()> {
        let foreign = |each: &Expression| is_foreign(self.element(each));
        match &expression.kind {
            Kind::Cast(to, of) if foreign(of) => {
                let is_same = match to.is_number() {
                    true => to.is_exactly(self.format) && self.is_rounded_once(of),
                    false => self.is_number(of),
                };
                return if is_same { self.within(of) } else { Err(self.refused(of)) };
            }
            _ => match operation(expression) {
                Some((operator, left, right)) if operator.is_comparison() && foreign(left) => {
                    for operand in [left, right] {
                        if !self.is_number(operand) {
                            return Err(self.refused(operand));
                        }
                        self.within(operand)?;
                    }
                    return Ok(());
                }
                _ => self.division(expression)?,
            },
        }
        if foreign(expression) {
            return Err(self.refused(expression));
        }
        if let (Some((Named::Mixture, _)), true) = (call(expression), self.element(expression).is_number()) {
            let message =
                format!("`lerp` of {} is rounded once in Halide, and after each operation in hardware", self.format);
            return Err(Problem::new(expression.span, message).with_help(format!(
                "write `a * (1 - c) + b * c`, or allow it by `--narrow-floats {}`",
                self.format.name()
            )));
        }
        self.parts(expression, &Self::expression)
    }

    /// Checks what a value of another type, which is understood, is computed of.
    fn within(&self, expression: &Expression) -> Result<()> {
        self.division(expression)?;
        self.parts(expression, &|checker: &Self, part: &Expression| match is_foreign(checker.element(part)) {
            true => checker.within(part),
            false => checker.expression(part),
        })
    }

    fn parts(&self, expression: &Expression, check: &impl Fn(&Self, &Expression) -> Result<()>) -> Result<()> {
        match &expression.kind {
            Kind::Let(name, parts) => {
                match is_foreign(self.element(&parts[0])) && self.is_number(&parts[0]) {
                    true => self.within(&parts[0])?,
                    false => self.expression(&parts[0])?,
                }
                check(&self.with(name, &parts[0]), &parts[1])
            }
            Kind::Call(call) => {
                let is_weight = |place: usize, argument: &Expression| {
                    call.name == "lerp" && place == 2 && !call.element.is_number() && constant(argument).is_some()
                };
                let mut checked =
                    call.arguments.iter().enumerate().filter(|(place, argument)| !is_weight(*place, argument));
                checked.try_for_each(|(_, argument)| check(self, argument))
            }
            _ => expression.operands().iter().try_for_each(|operand| check(self, operand)),
        }
    }

    fn refused(&self, expression: &Expression) -> Problem {
        refused(self.element(expression), "this value", expression.span)
    }

    /// Refuses a quotient of numbers that is not rounded as one, but as the product with a reciprocal, and a remainder whose quotient is.
    fn division(&self, expression: &Expression) -> Result<()> {
        let Some((operator @ (Binary::Divide | Binary::Modulo), left, right)) = operation(expression) else {
            return Ok(());
        };
        let (format, is_quotient) = (self.format, operator == Binary::Divide);
        let is_integer = !self.element(if is_quotient { right } else { left }).is_number();
        let is_exact = |number: f64| (is_quotient || number > 0.0) && has_reciprocal(format, number);
        if is_integer || is_quotient && constant(left) == Some(1.0) || constant(right).is_some_and(is_exact) {
            return Ok(());
        }
        let name = format.name();
        let (message, help) = match is_quotient {
            true => (
                format!("a quotient of {format} is rounded twice in hardware, as the product with a reciprocal"),
                format!(
                    "divide by a power of two, or multiply by a constant; `--narrow-floats {name}` allows products with reciprocals, which differ \
                     from Halide's quotients in their last bit"
                ),
            ),
            false => (
                format!("a remainder of {format} by another number than a power of two has a quotient that is rounded"),
                format!(
                    "take the remainder of integers, or by a power of two; `--narrow-floats {name}` allows others, which may be next to the divisor \
                     where Halide's are next to 0"
                ),
            ),
        };
        Err(Problem::new(expression.span, message).with_help(help))
    }
}

/// The greatest number of a format.
pub(crate) fn greatest(format: Format) -> f64 {
    format.to_f64(format.largest())
}

/// A number as short as single precision tells it from others, if it is one of that.
pub(crate) fn shown(number: f64) -> String {
    let single = number as f32;
    let text = if f64::from(single) == number { format!("{single:?}") } else { format!("{number:?}") };
    text.trim_end_matches(".0").to_owned()
}

/// How numbers that a format does not reach come within it.
pub(crate) fn of_another_scale(format: Format) -> String {
    match format {
        Format::Bfloat16 => "scale the values".to_owned(),
        Format::Float16 => format!(
            "scale the values, or use `--narrow-floats bf16`, whose numbers are from {} to {}",
            shown(Format::Bfloat16.to_f64(1)),
            shown(greatest(Format::Bfloat16))
        ),
    }
}

/// A constant that is narrowed to a format. In the place of an infinite one, which extremes begin with and programs do not have, it is the
/// greatest number.
///
/// # Errors
/// If the format has no finite number near it, or only 0.
pub(crate) fn narrowed(format: Format, constant: f64, span: Span) -> Result<f64> {
    if constant.is_infinite() {
        return Ok(greatest(format).copysign(constant));
    }
    let near = format.to_f64(format.from_f64(constant));
    let message = match near {
        _ if near.is_infinite() => format!("the constant {} is beyond the numbers of {format}", shown(constant)),
        _ if near == 0.0 && constant != 0.0 => format!("the constant {} becomes 0 in {format}", shown(constant)),
        _ => return Ok(near),
    };
    Err(Problem::new(span, message).with_help(format!(
        "numbers above 0 are from {} to {}: {}",
        shown(format.to_f64(1)),
        shown(greatest(format)),
        of_another_scale(format)
    )))
}

/// Whether a number is one of a format.
fn is_number(format: Format, number: f64) -> bool {
    format.to_f64(format.from_f64(number)) == number
}

/// Whether a quotient by this number of a format is the product with its reciprocal: that is a power of two.
pub(crate) fn has_reciprocal(format: Format, number: f64) -> bool {
    number != 0.0
        && number.is_finite()
        && is_number(format, number)
        && is_number(format, 1.0 / number)
        && number * (1.0 / number) == 1.0
}

/// The number that an expression is.
pub(crate) fn constant(expression: &Expression) -> Option<f64> {
    match &expression.kind {
        Kind::Real(number, _) => Some(*number),
        Kind::Integer(number, _) => Some(*number as f64),
        Kind::Cast(to, of) if to.is_number() => constant(of),
        _ => None,
    }
}

fn is_zero(expression: &Expression) -> bool {
    constant(expression) == Some(0.0)
}

/// An operator with its operands, whether Halide may change their order or not.
pub(crate) fn operation(expression: &Expression) -> Option<(Binary, &Expression, &Expression)> {
    match &expression.kind {
        Kind::Binary(operator, operands) => Some((*operator, &operands[0], &operands[1])),
        Kind::Call(Call { name, arguments, .. }) => match (named(name), &arguments[..]) {
            (Some(Named::Operator(operator)), [left, right]) => Some((operator, left, right)),
            _ => None,
        },
        _ => None,
    }
}

/// A call of a function of numbers.
fn call(expression: &Expression) -> Option<(Named, &[Expression])> {
    match &expression.kind {
        Kind::Call(Call { name, arguments, .. }) => Some((named(name)?, arguments)),
        _ => None,
    }
}
