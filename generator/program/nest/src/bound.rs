//! Constants in the headers of loops: where a loop starts and ends, and how far it is unrolled.

use crate::operators::Binary;
use crate::resolve::{Scope, wrong_count};
use crate::source::{Problem, Span};
use crate::syntax::{Kind, Name, Syntax};

const CONSTANTS: &str = "write a number, a constant expression such as `8*8`, or a name that the program has in `constants`, as in `constants: {W: 64}`";
const OPERATIONS: &str = "constant expressions have `+`, `-`, `*`, `/`, `%`, `min`, `max` and `clamp`";

/// The value of an expression that must be constant. `what` says in messages what it is for.
pub(crate) fn constant(scope: Scope, syntax: &Syntax, what: &str) -> Result<i64, Problem> {
    let bound = Bound { scope, what };
    // A name that makes it no constant at all is a better message than an operator that is not allowed.
    match bound.first_name(syntax) {
        Some(problem) => Err(problem),
        None => bound.value(syntax),
    }
}

struct Bound<'a> {
    scope: Scope<'a>,
    what: &'a str,
}

impl Bound<'_> {
    /// The error about the names, if there are any: those of loop variables first.
    fn first_name(&self, syntax: &Syntax) -> Option<Problem> {
        let mut names = Vec::new();
        syntax.find_names(&mut names);
        let variable = names.iter().find(|name| self.scope.variable(&name.text).is_some());
        variable.or(names.first()).map(|name| self.named(name))
    }

    fn named(&self, name: &Name) -> Problem {
        let Bound { scope, what } = self;
        let text = &name.text;
        if scope.variable(text).is_some() {
            return Problem::new(name.span, format!("{what} depends on the loop variable `{text}`"))
                .with_help("bounds must be constant: every loop runs over a box, not over a triangle");
        }
        let is_declared = scope.arrays.iter().any(|array| array.name == *text)
            || scope.tables.iter().any(|table| table.name == *text);
        let message = match is_declared {
            true => format!("{what} depends on data, on `{text}`"),
            false => format!("{what} is not constant: there is no `{text}`"),
        };
        Problem::new(name.span, message).with_help(CONSTANTS)
    }

    fn value(&self, syntax: &Syntax) -> Result<i64, Problem> {
        let span = syntax.span;
        let refuse = |found: &str| {
            Err(Problem::new(span, format!("{} cannot be computed with {found}", self.what)).with_help(OPERATIONS))
        };
        match &syntax.kind {
            Kind::Integer(value, _) => Ok(*value),
            Kind::Negate(operand) => self.limited(self.value(operand)?.checked_neg(), span),
            Kind::Binary(operator, left, right) => {
                let apply: fn(i64, i64) -> Option<i64> = match operator {
                    Binary::Add => i64::checked_add,
                    Binary::Subtract => i64::checked_sub,
                    Binary::Multiply => i64::checked_mul,
                    Binary::Divide => i64::checked_div_euclid,
                    Binary::Modulo => i64::checked_rem_euclid,
                    _ => return refuse(&format!("`{}`", operator.symbol())),
                };
                let (value, by) = (self.value(left)?, self.value(right)?);
                if matches!(operator, Binary::Divide | Binary::Modulo) && by <= 0 {
                    return Err(Problem::new(right.span, format!("{} is divided by {by}", self.what))
                        .with_help("divide by a positive constant"));
                }
                self.limited(apply(value, by), span)
            }
            Kind::Call(name, arguments) => self.function(name, arguments, span),
            Kind::Cast(..) => refuse("a cast"),
            Kind::Decimal(..) => refuse("a fraction"),
            Kind::Boolean(_) => refuse("a truth value"),
            Kind::Not(_) => refuse("`!`"),
            Kind::Logical(operator, ..) => refuse(&format!("`{}`", operator.symbol())),
            Kind::Name(_) | Kind::Element(..) => unreachable!("names have been refused"),
        }
    }

    fn function(&self, name: &Name, arguments: &[Syntax], span: Span) -> Result<i64, Problem> {
        let values = || arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>();
        match (name.text.as_str(), arguments.len()) {
            ("min", 2) => Ok(values()?.into_iter().min().unwrap_or(0)),
            ("max", 2) => Ok(values()?.into_iter().max().unwrap_or(0)),
            ("clamp", 3) => {
                let values = values()?;
                Ok(values[0].min(values[2]).max(values[1]))
            }
            ("min" | "max" | "clamp", found) => Err(wrong_count(name, span, found)),
            (other, _) => Err(Problem::new(name.span, format!("{} cannot be computed with `{other}`", self.what))
                .with_help(OPERATIONS)),
        }
    }

    fn limited(&self, value: Option<i64>, span: Span) -> Result<i64, Problem> {
        value.ok_or_else(|| Problem::new(span, format!("{} becomes too large", self.what)))
    }
}
