//! The values of Funcs that depend on their variables only, as Halide computes them: in the types that they were written in.
//!
//! Entries of tables are computed before there is hardware. So no number of fewer bits is on the way to them, and they are the nearest of
//! what single precision gives.

use std::cell::Cell;
use std::collections::HashMap;

use pushmem_nest::{Binary, Type};

use crate::functions::{Named, Whole, named, without_type};
use crate::syntax::{Call, Called, Element, Expression, Kind, Pipeline};

/// The deepest nesting of operators and calls, so that no walk exhausts the stack.
const DEEPEST: usize = 1000;

/// The most operations that a table takes: Funcs that call others several times may have more without end.
const MOST_OPERATIONS: usize = 1 << 25;

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Known {
    Integer(i64, Type),
    Real(f64, Element),
}

impl Known {
    /// A number, rounded to its type: only entries are narrowed. Of 32 bits, `f64` has twice the bits and two more, so that sums, products,
    /// quotients and roots are rounded as if once.
    fn real(value: f64, element: Element) -> Option<Self> {
        Some(Known::Real(element.nearest(value)?, element))
    }

    /// The entry of a table of this type.
    pub fn entry(self, of: Type) -> i64 {
        match self {
            Known::Integer(value, _) => of.wrap(value),
            Known::Real(value, element) => element.format.from_f64(value).into(),
        }
    }

    fn cast(self, to: Element) -> Option<Self> {
        let value = match self {
            Known::Integer(value, _) if to.is_number() => return Self::real(value as f64, to),
            Known::Real(value, _) if to.is_number() => return Self::real(value, to),
            Known::Integer(value, _) => to.value()?.wrap(value),
            // Towards zero, to the nearest that the type has.
            Known::Real(value, _) if to.value()? == Type::Bool => i64::from(value != 0.0),
            Known::Real(value, _) => (value as i64).clamp(to.value()?.min(), to.value()?.max()),
        };
        Some(Known::Integer(value, to.value()?))
    }

    fn truth(truth: bool) -> Self {
        Known::Integer(truth.into(), Type::Bool)
    }

    fn operated(operator: Binary, left: Self, right: Self) -> Option<Self> {
        let (one, other, element) = match (left, right) {
            (Known::Integer(one, of), Known::Integer(other, _)) => {
                return Some(Known::Integer(operator.apply(of, one, other), operator.result(of)));
            }
            (Known::Real(one, element), Known::Real(other, _)) => (one, other, element),
            _ => return None,
        };
        Self::real(
            match operator {
                Binary::Add => one + other,
                Binary::Subtract => one - other,
                Binary::Multiply => one * other,
                Binary::Divide => one / other,
                Binary::Modulo => {
                    let single = |value: f64| if element.bits == 64 { value } else { f64::from(value as f32) };
                    one - single(other * single(one / other).floor())
                }
                Binary::Minimum if one < other => one,
                Binary::Maximum if one > other => one,
                Binary::Minimum | Binary::Maximum => other,
                Binary::Less => return Some(Self::truth(one < other)),
                Binary::LessEqual => return Some(Self::truth(one <= other)),
                Binary::Greater => return Some(Self::truth(one > other)),
                Binary::GreaterEqual => return Some(Self::truth(one >= other)),
                Binary::Equal => return Some(Self::truth(one == other)),
                Binary::NotEqual => return Some(Self::truth(one != other)),
                _ => return None,
            },
            element,
        )
    }
}

/// The evaluation of expressions of a pipeline.
pub(crate) struct Evaluation<'a> {
    pub pipeline: &'a Pipeline,
    pub funcs: &'a HashMap<&'a str, usize>,
    operations: Cell<usize>,
}

type Scope<'a> = HashMap<&'a str, Known>;

impl<'a> Evaluation<'a> {
    pub fn new(pipeline: &'a Pipeline, funcs: &'a HashMap<&'a str, usize>) -> Self {
        Self { pipeline, funcs, operations: Cell::new(0) }
    }

    /// A value of a Func at these indices; nothing, if it has updates, depends on images, takes too many operations, or has functions that
    /// are not known here.
    pub fn of(&self, func: usize, value: usize, indices: &[i64], depth: usize) -> Option<Known> {
        let func = self.pipeline.funcs.get(func).filter(|func| func.updates.is_empty())?;
        let expression = func.definition.as_ref()?.values.get(value)?;
        let known = |index: &i64| Known::Integer(*index, Type::I32);
        let scope: Scope = func.arguments.iter().map(String::as_str).zip(indices.iter().map(known)).collect();
        self.value(expression, &scope, depth)
    }

    fn value(&self, expression: &'a Expression, scope: &Scope<'a>, depth: usize) -> Option<Known> {
        self.operations.set(self.operations.get() + 1);
        if depth > DEEPEST || self.operations.get() > MOST_OPERATIONS {
            return None;
        }
        let depth = depth + 1;
        let within = |each: &'a Expression| self.value(each, scope, depth);
        match &expression.kind {
            Kind::Integer(value, element) => Known::Integer(*value, Type::I32).cast(*element),
            Kind::Real(value, element) => Known::real(*value, *element),
            Kind::Cast(to, of) => within(of)?.cast(*to),
            Kind::Binary(operator, parts) => Known::operated(*operator, within(&parts[0])?, within(&parts[1])?),
            Kind::Not(of) => match within(of)? {
                Known::Integer(truth, Type::Bool) => Some(Known::truth(truth == 0)),
                _ => None,
            },
            Kind::Select(parts) => match within(&parts[0])? {
                Known::Integer(truth, Type::Bool) => within(&parts[if truth != 0 { 1 } else { 2 }]),
                _ => None,
            },
            Kind::Let(name, parts) => {
                let mut inner = scope.clone();
                inner.insert(name, within(&parts[0])?);
                self.value(&parts[1], &inner, depth)
            }
            Kind::Variable(name) => scope.get(name.as_str()).copied(),
            Kind::Call(call) => self.call(call, scope, depth),
            Kind::Reinterpret(..) | Kind::Text(_) | Kind::Other(_) => None,
        }
    }

    fn call(&self, call: &'a Call, scope: &Scope<'a>, depth: usize) -> Option<Known> {
        let arguments: Option<Vec<Known>> =
            call.arguments.iter().map(|argument| self.value(argument, scope, depth)).collect();
        let arguments = arguments?;
        if call.called == Called::Func {
            let index = |argument: &Known| match argument {
                Known::Integer(index, _) => Some(*index),
                Known::Real(..) => None,
            };
            let indices: Option<Vec<i64>> = arguments.iter().map(index).collect();
            return self.of(*self.funcs.get(call.name.as_str())?, call.value, &indices?, depth);
        }
        if call.called == Called::Image {
            return None;
        }
        let number = |place: usize| match arguments.get(place) {
            Some(Known::Real(number, _)) => Some(*number),
            _ => None,
        };
        let Some(function) = named(&call.name) else {
            return Known::real(of_constants(&call.name, number(0)?, number(1))?, call.element);
        };
        let found = match function {
            Named::Operator(operator) => {
                let &[left, right] = &arguments[..] else { return None };
                return Known::operated(operator, left, right);
            }
            Named::Cast => return arguments.first()?.cast(call.element),
            Named::Same => return arguments.first().copied(),
            Named::IsNoNumber => return Some(Known::truth(number(0)?.is_nan())),
            Named::Function(function) => function.exact(number(0)?),
            Named::Tangent => number(0)?.tan(),
            Named::ReciprocalRoot => 1.0 / number(0)?.sqrt(),
            Named::Power => number(0)?.powf(number(1)?),
            Named::Absolute => number(0)?.abs(),
            Named::Difference => (number(0)? - number(1)?).abs(),
            Named::Mixture => number(0)? * (1.0 - number(2)?) + number(1)? * number(2)?,
            Named::Whole(Whole::Nearest) => number(0)?.round_ties_even(),
            Named::Whole(Whole::Below) => number(0)?.floor(),
            Named::Whole(Whole::Above) => number(0)?.ceil(),
            Named::Whole(Whole::TowardsZero) => number(0)?.trunc(),
        };
        Known::real(found, call.element)
    }
}

/// A function of Halide that only tables have: no hardware computes it.
fn of_constants(name: &str, number: f64, second: Option<f64>) -> Option<f64> {
    Some(match without_type(name) {
        "acos" => number.acos(),
        "acosh" => number.acosh(),
        "asin" => number.asin(),
        "asinh" => number.asinh(),
        "atan" => number.atan(),
        "atan2" => number.atan2(second?),
        "atanh" => number.atanh(),
        "cosh" => number.cosh(),
        "sinh" => number.sinh(),
        _ => return None,
    })
}
