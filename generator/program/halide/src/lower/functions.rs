//! Functions of Halide that become operators or bounds.

use pushmem_nest::{Binary, Span, Type};

use super::{Lowering, OF_ALL_TYPES, Scope, type_of};
use crate::floats::{Floats, constant};
use crate::functions::{Named, named};
use crate::interval::Intervals;
use crate::plan::Term;
use crate::syntax::{Call, Expression, Kind};
use crate::value::Value;
use crate::{Problem, Result};

impl<'a> Lowering<'a> {
    /// A function of Halide's integers.
    pub(super) fn function(&mut self, call: &Call, span: Span, scope: &Scope, within: usize) -> Result<Term> {
        if call.name == "return_second" && call.arguments.len() == 2 {
            return self.term(&call.arguments[1], scope, within);
        }
        let value = type_of(call.element, span)?;
        // Halide computes the integer that a constant weight with a fraction is: a part of the greatest value.
        let is_weight =
            |last: &&Expression| call.name == "lerp" && value.is_integer() && !matches!(last.kind, Kind::Integer(..));
        let weight = call.arguments.last().filter(is_weight).and_then(constant);
        let before = call.arguments.len() - usize::from(weight.is_some());
        let mut arguments = self.terms(&call.arguments[..before], scope, within)?;
        if let Some(weight) = weight {
            let of = value.unsigned();
            let part = of.max() as f32 * weight as f32;
            arguments.push(self.plan.terms.number((part as i64).clamp(0, of.max()), of));
        }
        if let ("unsafe_promise_clamped", [of, least, greatest], true) =
            (call.name.as_str(), &arguments[..], value.is_integer())
        {
            return Ok(self.promised(of, least, greatest));
        }
        let types: Vec<Type> = arguments.iter().map(|each| self.plan.terms.type_of(each)).collect();
        if [value].iter().chain(&types).any(|each| each.format().is_some()) {
            if self.sizes.floats == Floats::Exact && arguments.iter().any(|each| !matches!(**each, Value::Number(..))) {
                self.tell_of_neighbours(&call.name, span);
            }
            if let (Some(Named::Operator(operator)), [_, right], [_, term]) =
                (named(&call.name), &call.arguments[..], &arguments[..])
            {
                self.check_divisor(operator, right, term, span)?;
            }
            if let Some(made) = self.plan.terms.of_function(&call.name, &arguments, value, span)? {
                return Ok(made);
            }
            if !OF_ALL_TYPES.contains(&call.name.as_str()) {
                return Err(Problem::new(span, format!("a call of `{}`", call.name)).with_help(
                    "numbers with a fraction have `sqrt`, `exp`, `log`, `pow`, `sin`, `cos`, `tan`, `tanh`, `abs`, `lerp`, `floor`, `ceil`, `round` and `trunc`: write \
                     it with these, or look it up in a table: a Func of its variable only, computed by `compute_root`",
                ));
            }
        }
        self.plan.terms.intrinsic(&call.name, value, &arguments, span)
    }

    /// A value of which the program promises the range: beyond, Halide computes anything. So data are limited to it, where it is not known
    /// of them, as it says how many elements they choose from. Loop variables are what they are.
    fn promised(&self, of: &Term, least: &Term, greatest: &Term) -> Term {
        let (low, high) = self.interval(of);
        let is_within = matches!((&**least, &**greatest), (Value::Number(least, _), Value::Number(greatest, _)) if *least <= low && high <= *greatest);
        if of.is_known() || is_within {
            return of.clone();
        }
        let terms = &self.plan.terms;
        terms.binary(Binary::Maximum, terms.binary(Binary::Minimum, of.clone(), greatest.clone()), least.clone())
    }

    /// The least and the greatest value of a term, by the types of arrays.
    pub(super) fn interval(&self, of: &Term) -> (i64, i64) {
        let variables = &self.plan.variables;
        let of_variable = |variable: usize| match variables.get(variable) {
            Some((_, Some(range))) => *range,
            _ => (Type::I32.min(), Type::I32.max()),
        };
        let arrays = &self.plan.arrays;
        let of_array = |array: usize| {
            let of = arrays[array].loaded();
            ((of.min(), of.max()), of)
        };
        Intervals::new(&of_variable, &of_array).of(of)
    }
}
