//! Types of expressions: operators, casts and functions of operands, and literals that take the type of what they are used with.

use std::sync::Arc;

use pushmem_float::{Format, Function};

use super::Resolver;
use crate::expression::{Expression, ExpressionKind};
use crate::operators::{Binary, Unary};
use crate::source::{Problem, Span};
use crate::syntax::Syntax;
use crate::types::Type;

/// An expression whose type may still depend on what it is used with.
#[derive(Clone)]
pub(super) enum Draft {
    Typed(Arc<Expression>),
    Literal(i64, Span),
    /// A number with a fraction: of bf16, unless another format is around.
    Decimal(f64, Span),
    /// `sel` of two without a type.
    Choice(Arc<Expression>, Box<Draft>, Box<Draft>, Span),
}

impl Draft {
    pub fn value(&self) -> Option<Type> {
        match self {
            Draft::Typed(expression) => Some(expression.value),
            Draft::Literal(..) | Draft::Decimal(..) | Draft::Choice(..) => None,
        }
    }

    /// Whether it has no type, but a fraction.
    fn has_fraction(&self) -> bool {
        match self {
            Draft::Decimal(..) => true,
            Draft::Choice(_, then, otherwise, _) => then.has_fraction() || otherwise.has_fraction(),
            Draft::Typed(_) | Draft::Literal(..) => false,
        }
    }

    /// The name of its type, or that it is a number of any.
    fn type_name(&self) -> &'static str {
        match self.value() {
            Some(value) => value.name(),
            None if self.has_fraction() => Type::Bf16.name(),
            None => "a number",
        }
    }

    pub fn span(&self) -> Span {
        match self {
            Draft::Typed(expression) => expression.span,
            Draft::Literal(_, span) | Draft::Decimal(_, span) | Draft::Choice(.., span) => *span,
        }
    }
}

/// The number by which a multiplication divides by this one of a format, if the reciprocal is a number.
fn reciprocal(format: Format, divisor: &Expression) -> Result<Arc<Expression>, Problem> {
    let ExpressionKind::Constant(number) = divisor.kind else {
        return Err(Problem::new(divisor.span, format!("{} is divided by constants only", format.name()))
            .with_help("multiply by the reciprocal: `a * reciprocal(b)`"));
    };
    let number = format.to_f64(number as u16);
    let near = format.from_f64(1.0 / number);
    // A power of two: no other number has a reciprocal of as few bits.
    if format.is_finite(near) && format.to_f64(near) * number == 1.0 {
        return Ok(constant(near.into(), Type::of_format(format), divisor.span));
    }
    let problem = Problem::new(divisor.span, format!("{} is divided by powers of two only", format.name()));
    Err(match format.to_decimal(near) {
        Some(near) => problem.with_help(format!("multiply by the number nearest to the reciprocal: `* {near}`")),
        None => problem.with_help("multiply by a number"),
    })
}

/// A constant, if it is finite.
pub(super) fn finite(number: i64, value: Type, span: Span) -> Result<Arc<Expression>, Problem> {
    match value.format() {
        Some(format) if !format.is_finite(number as u16) => {
            let largest = format.to_decimal(format.largest()).unwrap_or_default();
            let problem = Problem::new(span, format!("this constant is beyond the numbers of {}", format.name()));
            Err(problem.with_help(format!("the largest number of {} is {largest}", format.name())))
        }
        _ => Ok(constant(number, value, span)),
    }
}

pub(super) fn constant(number: i64, value: Type, span: Span) -> Arc<Expression> {
    made(ExpressionKind::Constant(number), value, span)
}

pub(super) fn made(kind: ExpressionKind, value: Type, span: Span) -> Arc<Expression> {
    Arc::new(Expression { kind, value, span })
}

/// An operator of an operand that has a type, folded if that is a constant.
fn applied(operator: Unary, operand: Arc<Expression>, span: Span) -> Arc<Expression> {
    let value = operator.result(operand.value);
    match operand.kind {
        ExpressionKind::Constant(number) => constant(operator.apply(operand.value, number), value, span),
        _ => made(ExpressionKind::Unary { operator, operand }, value, span),
    }
}

/// How integers are multiplied by a number: the exact quotient of few bits, or the nearest of eight.
fn in_integers(number: f64) -> String {
    let quotients = (0..=8).map(|bits| (number * f64::from(1 << bits), 1 << bits));
    let exact = quotients.clone().find(|(dividend, _)| dividend.fract() == 0.0);
    let (dividend, divisor) = exact.unwrap_or((number * 256.0, 256));
    let near = if exact.is_some() { "" } else { "about " };
    let times = if dividend == 1.0 { String::new() } else { format!(" * {}", dividend.round()) };
    let number = (number * 10_000.0).round() / 10_000.0;
    let by = if divisor == 1 { String::new() } else { format!(" / {divisor}") };
    format!(
        "with integers, write `a[x]{times}{by}`, {near}{number} of it; or compute with numbers, as in `a[x] as bf16`"
    )
}

impl Resolver<'_, '_> {
    /// Gives literals this type, or bf16, if they have a fraction and the type has not; what has a type keeps it.
    pub(super) fn settle(&mut self, draft: Draft, value: Type) -> Result<Arc<Expression>, Problem> {
        let value = if draft.has_fraction() && value.format().is_none() { Type::Bf16 } else { value };
        match draft {
            Draft::Typed(expression) => Ok(expression),
            Draft::Literal(number, span) => finite(self.fit(number, value, span), value, span),
            Draft::Decimal(number, span) => {
                let format = value.format().unwrap_or(Format::Bfloat16);
                finite(format.from_f64(number).into(), value, span)
            }
            Draft::Choice(condition, then, otherwise, span) => {
                let then = self.settle(*then, value)?;
                let otherwise = self.settle(*otherwise, value)?;
                let kind = ExpressionKind::Select { condition, then, otherwise };
                Ok(made(kind, value, span))
            }
        }
    }

    /// The constant in this type.
    pub(super) fn fit(&mut self, number: i64, value: Type, span: Span) -> i64 {
        if let Some(format) = value.format() {
            let (word, name) = (format.from_integer(number), format.name());
            if let Some(becomes) = format.to_decimal(word)
                && format.to_f64(word) != number as f64
            {
                let (bits, exact) = (format.fraction_bits() + 1, 2 * format.fractions());
                let problem = Problem::new(span, format!("{number} is no number of {name} and becomes {becomes}"));
                let help = format!("{name} has {bits} significant bits: all integers from -{exact} to {exact}");
                self.warnings.push(problem.with_help(help));
            }
            return word.into();
        }
        let wrapped = value.wrap(number);
        if wrapped != number {
            let message = format!("{number} does not fit {} and becomes {wrapped}", value.name());
            let help = format!("{} holds {} to {}", value.name(), value.min(), value.max());
            self.warnings.push(Problem::new(span, message).with_help(help));
        }
        wrapped
    }

    /// A function of a number with a fraction.
    pub(super) fn function(&mut self, function: Function, argument: &Syntax, span: Span) -> Result<Draft, Problem> {
        let draft = self.draft(argument)?;
        let operand = self.settle(draft, Type::Bf16)?;
        let (name, value) = (function.name(), operand.value);
        let Some(format) = value.format() else {
            let problem =
                Problem::new(operand.span, format!("`{name}` takes a number of bf16 or f16, not {}", value.name()));
            return Err(problem.with_help(format!("cast it: `{name}((…) as bf16)`")));
        };
        if !function.is_of(format) {
            return Err(Problem::new(span, format!("`{name}` of {} is not supported", format.name())).with_help(
                format!(
                    "compute it with numbers of bf16, or write a table of its values, of type {}, by an integer",
                    format.name()
                ),
            ));
        }
        let operator = Unary::FloatFunction(format, function);
        if let ExpressionKind::Constant(number) = operand.kind {
            return finite(operator.apply(value, number), value, span).map(Draft::Typed);
        }
        let kind = ExpressionKind::Unary { operator, operand };
        Ok(Draft::Typed(made(kind, value, span)))
    }

    pub(super) fn select(&mut self, arguments: &[Syntax], span: Span) -> Result<Draft, Problem> {
        let condition = self.truth(&arguments[0])?;
        let (then, otherwise) = (self.draft(&arguments[1])?, self.draft(&arguments[2])?);
        if then.value().is_none() && otherwise.value().is_none() {
            return Ok(Draft::Choice(condition, Box::new(then), Box::new(otherwise), span));
        }
        let (then, otherwise) = self.unify("sel", then, otherwise, span)?;
        let value = then.value;
        let kind = ExpressionKind::Select { condition, then, otherwise };
        Ok(Draft::Typed(made(kind, value, span)))
    }

    /// An operand that must be a truth value.
    pub(super) fn truth(&mut self, syntax: &Syntax) -> Result<Arc<Expression>, Problem> {
        let draft = self.draft(syntax)?;
        match draft {
            Draft::Typed(expression) if expression.value == Type::Bool => Ok(expression),
            other => {
                let found = other.type_name();
                Err(Problem::new(syntax.span, format!("expected a truth value, found {found}"))
                    .with_help("compare it: `… != 0`"))
            }
        }
    }

    pub(super) fn unary_of(&mut self, operator: Unary, operand: &Syntax, span: Span) -> Result<Draft, Problem> {
        let operand = self.draft(operand)?;
        self.unary(operator, operand, span)
    }

    fn unary(&mut self, operator: Unary, operand: Draft, span: Span) -> Result<Draft, Problem> {
        let operand = match operand {
            Draft::Literal(number, _) => return Ok(Draft::Literal(operator.apply(Type::I32, number), span)),
            Draft::Decimal(number, _) if operator == Unary::Negate => return Ok(Draft::Decimal(-number, span)),
            Draft::Decimal(number, _) if operator == Unary::Absolute => return Ok(Draft::Decimal(number.abs(), span)),
            other => self.settle(other, Type::I32)?,
        };
        if operand.value == Type::Bool && operator != Unary::Not {
            return Err(Problem::new(operand.span, "expected a number, found a truth value"));
        }
        let operator = match operand.value.format() {
            Some(format) => operator.for_float(format).ok_or_else(|| {
                Problem::new(span, format!("`!` takes integers and truth values, not {}", format.name()))
                    .with_help("cast the number, as in `!(a[x] as u16)`")
            })?,
            None => operator,
        };
        Ok(Draft::Typed(applied(operator, operand, span)))
    }

    pub(super) fn cast(&mut self, operand: &Syntax, value: Type, span: Span) -> Result<Arc<Expression>, Problem> {
        if value == Type::Bool {
            return Err(
                Problem::new(span, "a number cannot be cast to a truth value").with_help("compare it: `… != 0`")
            );
        }
        let draft = self.draft(operand)?;
        // The cast says what happens to bits that do not fit, so that this is no reason for a warning.
        let operand = match draft {
            Draft::Literal(number, _) => return finite(Type::I32.cast(value, number), value, span),
            other => {
                let of_literals = if other.has_fraction() { value } else { Type::I32 };
                self.settle(other, of_literals)?
            }
        };
        if operand.value != value
            && let (Some(from), Some(to)) = (operand.value.format(), value.format())
        {
            let message = format!("{} cannot be cast to {}", from.name(), to.name());
            let help =
                format!("keep to one of them, or cast it to an integer in between: `a[x] as i16 as {}`", to.name());
            return Err(Problem::new(span, message).with_help(help));
        }
        if let ExpressionKind::Constant(number) = operand.kind {
            return finite(operand.value.cast(value, number), value, span);
        }
        if operand.value == value {
            return Ok(operand);
        }
        let wide = |of: Type| of.is_integer() && of.bits() > 16;
        if let Some(format) = value.format().filter(|_| wide(operand.value)) {
            let name = format.name();
            let help = match operand.kind {
                ExpressionKind::Variable(_) => {
                    format!("loop variables are i32: cast twice, as in `x as i16 as {name}`")
                }
                _ => format!("cast it to 16 bits before, as in `a[x] as i16 as {name}`"),
            };
            return Err(Problem::new(span, format!("an integer of 32 bits cannot be cast to {name}")).with_help(help));
        }
        if let Some(format) = operand.value.format().filter(|_| wide(value)) {
            let help = format!("cast it to 16 bits before, as in `a[x] as i16 as {}`", value.name());
            let message = format!("{} cannot be cast to {}", format.name(), value.name());
            return Err(Problem::new(span, message).with_help(help));
        }
        Ok(made(ExpressionKind::Cast(operand), value, span))
    }

    pub(super) fn binary(&mut self, operator: Binary, left: Draft, right: Draft, span: Span) -> Result<Draft, Problem> {
        if let (Draft::Literal(left, _), Draft::Literal(right, _)) = (&left, &right) {
            let (left, right) = (self.fit(*left, Type::I32, span), self.fit(*right, Type::I32, span));
            let number = operator.apply(Type::I32, left, right);
            return Ok(match operator.is_comparison() {
                true => Draft::Typed(constant(number, Type::Bool, span)),
                false => Draft::Literal(number, span),
            });
        }
        let (left, right) = self.unify(operator.symbol(), left, right, span)?;
        let operands = left.value;
        if operands == Type::Bool && !operator.takes_bool() {
            let message = format!("`{}` takes numbers, not truth values", operator.symbol());
            return Err(Problem::new(span, message).with_help("write `sel(…, 1, 0)` for a number"));
        }
        if let Some(format) = operands.format() {
            return self.of_float(format, operator, left, right, span).map(Draft::Typed);
        }
        let value = operator.result(operands);
        if let ExpressionKind::Constant(number) = right.kind {
            self.warn_of_constant(operator, operands, number, right.span);
            if let ExpressionKind::Constant(first) = left.kind {
                return Ok(Draft::Typed(constant(operator.apply(operands, first, number), value, span)));
            }
        }
        let kind = ExpressionKind::Binary { operator, left, right };
        Ok(Draft::Typed(made(kind, value, span)))
    }

    /// An operator of numbers of a format, in those that the hardware has.
    fn of_float(
        &mut self,
        format: Format,
        operator: Binary,
        left: Arc<Expression>,
        right: Arc<Expression>,
        span: Span,
    ) -> Result<Arc<Expression>, Problem> {
        let (operator, left, right) = match operator {
            Binary::Greater => (Binary::Less, right, left),
            Binary::GreaterEqual => (Binary::LessEqual, right, left),
            Binary::NotEqual => {
                let equal = self.of_float(format, Binary::Equal, left, right, span)?;
                return Ok(applied(Unary::Not, equal, span));
            }
            Binary::AbsoluteDifference => {
                let difference = self.of_float(format, Binary::Subtract, left, right, span)?;
                return Ok(applied(Unary::FloatAbsolute(format), difference, span));
            }
            Binary::Divide => (Binary::Multiply, left, reciprocal(format, &right)?),
            operator => (operator, left, right),
        };
        let Some(own) = operator.for_float(format) else {
            let message = format!("`{}` takes integers, not {}", operator.symbol(), format.name());
            return Err(Problem::new(span, message).with_help(match operator {
                Binary::ShiftLeft | Binary::ShiftRight => "multiply by a power of two, as in `a[x] * 0.5`",
                _ => "cast the numbers, as in `a[x] as i16`",
            }));
        };
        let operands = Type::of_format(format);
        let value = own.result(operands);
        if let (ExpressionKind::Constant(one), ExpressionKind::Constant(other)) = (&left.kind, &right.kind) {
            return finite(own.apply(operands, *one, *other), value, span);
        }
        let kind = ExpressionKind::Binary { operator: own, left, right };
        Ok(made(kind, value, span))
    }

    fn warn_of_constant(&mut self, operator: Binary, operands: Type, number: i64, span: Span) {
        let bits = i64::from(operands.bits());
        let warning = match operator {
            Binary::Divide | Binary::Modulo if number == 0 => {
                Problem::new(span, "division by 0 gives 0").with_help("as in Halide; write 0 instead if that is meant")
            }
            Binary::ShiftLeft | Binary::ShiftRight if !(0..bits).contains(&number) => {
                let message = format!("a shift by {number} of a value of {bits} bits");
                Problem::new(span, message).with_help(format!("shift by 0 to {}", bits - 1))
            }
            _ => return,
        };
        self.warnings.push(warning);
    }

    /// Two operands of one type: a literal takes the type of the other.
    fn unify(
        &mut self,
        what: &str,
        left: Draft,
        right: Draft,
        span: Span,
    ) -> Result<(Arc<Expression>, Arc<Expression>), Problem> {
        let of_literals = if left.has_fraction() || right.has_fraction() { Type::Bf16 } else { Type::I32 };
        let value = left.value().or(right.value()).unwrap_or(of_literals);
        let literal_meets_bool = value == Type::Bool && (left.value().is_none() || right.value().is_none());
        let names = [left.type_name(), right.type_name()];
        let fraction = [&left, &right].into_iter().find_map(|draft| match draft {
            Draft::Decimal(number, _) => Some(*number),
            _ => None,
        });
        let (left, right) = (self.settle(left, value)?, self.settle(right, value)?);
        if left.value == right.value && !literal_meets_bool {
            return Ok((left, right));
        }
        let message = format!("`{what}` takes two values of one type, found {} and {}", names[0], names[1]);
        let variable = [(&left, &right), (&right, &left)]
            .into_iter()
            .find(|(operand, _)| matches!(operand.kind, ExpressionKind::Variable(_)) && !literal_meets_bool);
        Err(match variable {
            Some((operand, other)) => {
                let ExpressionKind::Variable(variable) = operand.kind else { unreachable!("found as a variable") };
                let name = &self.scope.variables[variable];
                let help = format!("loop variables are i32: write `{name} as {}`", other.value.name());
                Problem::new(operand.span, message).with_help(help)
            }
            None if left.value.format().is_some() && right.value.format().is_some() => Problem::new(span, message)
                .with_help("write the format behind constants, as in `0.1f16`; an array of the other format is a program of its own"),
            None => Problem::new(span, message).with_help(match fraction {
                Some(number) if what == "*" => in_integers(number),
                Some(_) => "compute with numbers, as in `a[x] as bf16`, or with integers".to_owned(),
                None => "cast one of them, as in `a[x] as i32`".to_owned(),
            }),
        })
    }
}
