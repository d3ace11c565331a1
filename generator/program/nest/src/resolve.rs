//! From trees to operations: names are looked up, types are checked, constants are folded.

use std::collections::HashSet;
use std::sync::Arc;

use pushmem_files::nearest;
use pushmem_float::{Format, Function};

use crate::bound::find_names;
use crate::expression::{Expression, ExpressionKind};
use crate::index::{INDEX_LIMIT, Index};
use crate::operators::{Binary, Unary};
use crate::program::{Access, Array, ArrayKind, Load, Operation, Table};
use crate::source::{Problem, Span};
use crate::syntax::{Kind, Name, Statement, Syntax, is_reserved};
use crate::types::Type;
use crate::value_range::value_range;

/// The names that a statement or a loop header can use.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub arrays: &'a [Array],
    pub tables: &'a [Table],
    /// The variables of the loops around, outermost first.
    pub variables: &'a [String],
    /// Their least and greatest values.
    pub ranges: &'a [(i64, i64)],
}

/// The functions with their numbers of arguments, and how they are called.
const FUNCTIONS: [(&str, usize, &str); 15] = [
    ("min", 2, "min(a, b)"),
    ("max", 2, "max(a, b)"),
    ("abs", 1, "abs(a)"),
    ("absd", 2, "absd(a, b)"),
    ("clamp", 3, "clamp(a, low, high)"),
    ("sel", 3, "sel(condition, a, b)"),
    ("outside", 2, "outside(array[…], value)"),
    ("mirror", 3, "mirror(index, low, high)"),
    ("sqrt", 1, "sqrt(a)"),
    ("reciprocal", 1, "reciprocal(a)"),
    ("exp", 1, "exp(a)"),
    ("log", 1, "log(a)"),
    ("tanh", 1, "tanh(a)"),
    ("sin", 1, "sin(a)"),
    ("cos", 1, "cos(a)"),
];

impl Scope<'_> {
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable == name)
    }

    fn array(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|array| array.name == name)
    }

    fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    fn unknown(&self, what: &str, name: &str, span: Span) -> Problem {
        let names = self.arrays.iter().map(|array| &array.name);
        let names = names.chain(self.tables.iter().map(|table| &table.name)).chain(self.variables);
        suggest(Problem::new(span, format!("unknown {what} `{name}`")), name, names.map(String::as_str))
    }

    /// A name in an index, where only loop variables can stand.
    fn unknown_variable(&self, name: &str, span: Span) -> Problem {
        let problem = Problem::new(span, format!("unknown loop variable `{name}`"));
        let variables: Vec<String> = self.variables.iter().map(|variable| format!("`{variable}`")).collect();
        match nearest(name, self.variables.iter().map(String::as_str)) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None if variables.is_empty() => problem.with_help("there is no loop around"),
            None => problem.with_help(format!("the variables of the loops around are {}", variables.join(", "))),
        }
    }

    /// An index of an array.
    pub fn index(&self, syntax: &Syntax) -> Result<Index, Problem> {
        let index = self.unlimited_index(syntax)?;
        let (low, high) = index.range(self.ranges);
        if low < -INDEX_LIMIT || high > INDEX_LIMIT {
            return Err(too_large(syntax.span));
        }
        Ok(index)
    }

    fn unlimited_index(&self, syntax: &Syntax) -> Result<Index, Problem> {
        let span = syntax.span;
        let refuse = |reason: &str| {
            Problem::new(span, format!("this cannot be an index of an array: {reason}")).with_help(
                "indices are sums of loop variables times constants, with `/` and `%` by positive constants, `clamp(x, 0, 63)` \
                 and `mirror(x, 0, 63)`",
            )
        };
        let limited = |index: Option<Index>| index.ok_or_else(|| too_large(span));
        match &syntax.kind {
            Kind::Integer(value, _) if value.abs() > INDEX_LIMIT => Err(too_large(span)),
            Kind::Integer(value, _) => Ok(Index::constant(*value)),
            Kind::Name(name) => match self.variable(name) {
                Some(variable) => Ok(Index::variable(variable)),
                None if self.array(name).is_some() || self.table(name).is_some() => {
                    Err(refuse(&format!("`{name}` is an array or table, not a loop variable")))
                }
                None => Err(self.unknown_variable(name, span)),
            },
            Kind::Element(name, _) => Err(refuse(&format!("it depends on data, on `{}`", name.text))
                .with_help("an element with a value outside of its array has indices of loop variables alone")),
            Kind::Negate(operand) => limited(self.index(operand)?.times(-1)),
            Kind::Binary(Binary::Add, left, right) => limited(self.index(left)?.plus(&self.index(right)?, 1)),
            Kind::Binary(Binary::Subtract, left, right) => limited(self.index(left)?.plus(&self.index(right)?, -1)),
            Kind::Binary(Binary::Multiply, left, right) => {
                let (left, right) = (self.index(left)?, self.index(right)?);
                match (left.as_constant(), right.as_constant()) {
                    (Some(factor), _) => limited(right.times(factor)),
                    (_, Some(factor)) => limited(left.times(factor)),
                    _ => Err(refuse("two loop variables are multiplied")),
                }
            }
            Kind::Binary(operator @ (Binary::Divide | Binary::Modulo), left, right) => {
                let left = self.index(left)?;
                let Some(by) = self.index(right)?.as_constant().filter(|by| *by > 0) else {
                    return Err(refuse("the divisor is not a positive constant"));
                };
                limited(match operator {
                    Binary::Divide => left.divided(by, self.ranges),
                    _ => left.remainder(by, self.ranges),
                })
            }
            Kind::Call(name, arguments) => self.index_function(name, arguments, span),
            Kind::Decimal(..) => Err(refuse("it has a fraction")),
            Kind::Cast(..) => Err(refuse("indices have no width, so that there is nothing to cast")),
            Kind::Boolean(_) | Kind::Not(_) | Kind::Logical(..) => Err(refuse("it is no number")),
            Kind::Binary(operator, ..) => Err(refuse(&format!("`{}` is not affine", operator.symbol()))),
        }
    }

    fn index_function(&self, name: &Name, arguments: &[Syntax], span: Span) -> Result<Index, Problem> {
        let bound = |place: usize| {
            let constant = self.index(&arguments[place])?.as_constant();
            constant.ok_or_else(|| {
                Problem::new(arguments[place].span, "this bound of an index is not constant")
                    .with_help("write numbers, as in `clamp(x, 0, 63)`")
            })
        };
        match (name.text.as_str(), arguments.len()) {
            ("clamp" | "mirror", 3) => {
                let (of, low, high) = (self.index(&arguments[0])?, bound(1)?, bound(2)?);
                if low > high {
                    return Err(Problem::new(span, format!("nothing is from {low} to {high}"))
                        .with_help("give the least index first, then the greatest"));
                }
                Ok(match name.text.as_str() {
                    "clamp" => of.clamped(low, high, self.ranges),
                    _ => of.mirrored(low, high, self.ranges),
                })
            }
            ("min" | "max", 2) => {
                let (left, right) = (self.index(&arguments[0])?, self.index(&arguments[1])?);
                let (of, limit) = match (left.as_constant(), right.as_constant()) {
                    (_, Some(limit)) => (left, limit),
                    (Some(limit), _) => (right, limit),
                    _ => {
                        return Err(Problem::new(span, "one of the two must be constant in an index")
                            .with_help("limit a loop variable by a number, as in `min(x, 63)`"));
                    }
                };
                let (low, high) = of.range(self.ranges);
                Ok(match name.text.as_str() {
                    "min" => of.clamped(low.min(limit), limit, self.ranges),
                    _ => of.clamped(limit, high.max(limit), self.ranges),
                })
            }
            ("clamp" | "mirror" | "min" | "max", found) => Err(wrong_count(name, span, found)),
            _ => Err(Problem::new(name.span, format!("`{}` cannot be used in an index of an array", name.text))
                .with_help("the functions of indices are `clamp`, `mirror`, `min` and `max`")),
        }
    }

    /// An element whose indices are functions of the loop variables.
    fn access(&self, array: usize, syntax: &[Syntax], span: Span) -> Result<Access, Problem> {
        self.check_dimensions(array, syntax, span)?;
        let indices = syntax.iter().map(|index| self.index(index)).collect::<Result<_, _>>()?;
        Ok(Access::new(array, indices, span))
    }

    /// Checks that there is an index for each dimension of an array.
    fn check_dimensions(&self, array: usize, syntax: &[Syntax], span: Span) -> Result<(), Problem> {
        let declared = &self.arrays[array];
        if syntax.len() != declared.shape.len() {
            let message = format!(
                "`{}` has {}, but {} given",
                declared.name,
                count(declared.shape.len(), "dimension"),
                match syntax.len() {
                    1 => "1 index is".to_owned(),
                    several => format!("{several} indices are"),
                }
            );
            return Err(Problem::new(span, message).with_help("give one index for each dimension, innermost first"));
        }
        Ok(())
    }
}

fn too_large(span: Span) -> Problem {
    Problem::new(span, "this index becomes too large or too complicated")
        .with_help(format!("indices and their coefficients are at most {INDEX_LIMIT}"))
}

pub(crate) fn wrong_count(name: &Name, span: Span, found: usize) -> Problem {
    let called = FUNCTIONS.iter().find(|(function, ..)| *function == name.text);
    let (needed, form) = called.map_or((0, ""), |(_, needed, form)| (*needed, form));
    Problem::new(span, format!("`{}` takes {}, not {found}", name.text, count(needed, "argument")))
        .with_help(format!("write `{form}`"))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Adds the nearest of the names as a suggestion.
fn suggest<'a>(problem: Problem, name: &str, names: impl Iterator<Item = &'a str>) -> Problem {
    match nearest(name, names) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("declare it in `inputs`, `outputs`, `buffers` or `tables`, or as a loop variable"),
    }
}

pub(crate) fn children(syntax: &Syntax) -> Vec<&Syntax> {
    match &syntax.kind {
        Kind::Integer(..) | Kind::Decimal(..) | Kind::Boolean(_) | Kind::Name(_) => Vec::new(),
        Kind::Element(_, parts) | Kind::Call(_, parts) => parts.iter().collect(),
        Kind::Negate(operand) | Kind::Not(operand) | Kind::Cast(operand, _) => vec![operand],
        Kind::Binary(_, left, right) | Kind::Logical(_, left, right) => vec![left, right],
    }
}

/// Resolves a statement. Warnings are added to the list. The name of the operation is that of its target.
pub(crate) fn operation(
    scope: Scope,
    statement: &Statement,
    warnings: &mut Vec<Problem>,
) -> Result<Operation, Problem> {
    let name = &statement.target;
    let Some(array) = scope.array(&name.text) else {
        return Err(if scope.table(&name.text).is_some() {
            Problem::new(name.span, format!("`{}` is a table of constants and cannot be written", name.text))
                .with_help("declare it in `buffers`")
        } else {
            scope.unknown("array", &name.text, name.span)
        });
    };
    let declared = &scope.arrays[array];
    if declared.kind == ArrayKind::Input {
        return Err(Problem::new(name.span, format!("the input `{}` cannot be written", name.text))
            .with_help("write a buffer or an output"));
    }
    // The place of the target: from its name to the closing bracket, which follows the last index.
    let last = statement.indices.last().map_or(name.span, |index| index.span);
    let place = name.span.to(Span { start: last.start, end: last.end + 1 });
    let mut resolver = Resolver { scope, values: Vec::new(), loads: Vec::new(), warnings };
    let used = used_names(statement);
    for (name, value) in &statement.values {
        let loads = resolver.loads.len();
        resolver.add_value(name, value)?;
        if !used.contains(&name.text) {
            let problem = Problem::new(name.span, format!("the value `{}` is never used", name.text));
            resolver.warnings.push(problem.with_help("remove it, or use it in the statement"));
            // Elements are read for what is used alone.
            resolver.loads.truncate(loads);
        }
    }
    let draft = resolver.draft(&statement.value)?;
    let target = resolver.access(array, &statement.indices, place)?;
    let span = draft.span();
    let expression = resolver.settle(draft, declared.element)?;
    if expression.value != declared.element {
        let (found, wanted) = (expression.value.name(), declared.element.name());
        let problem = Problem::new(span, format!("`{}` is {wanted}, but the value is {found}", name.text));
        return Err(match expression.value {
            Type::Bool => problem.with_help(format!("write `sel(…, 1, 0)`, or cast it: `(…) as {wanted}`")),
            _ => problem.with_help(format!("cast it: `(…) as {wanted}`")),
        });
    }
    let loads = resolver.loads;
    let expression = Arc::unwrap_or_clone(expression);
    Ok(Operation {
        name: name.text.clone(),
        function: None,
        target,
        reduction: statement.reduce.then(|| Binary::sum_of(declared.element)),
        loads,
        expression,
        share: None,
        span: statement.span,
    })
}

/// The names that a statement uses, directly or for values that it uses.
fn used_names(statement: &Statement) -> HashSet<String> {
    let mut used = HashSet::new();
    let add = |syntax: &Syntax, used: &mut HashSet<String>| {
        let mut names = Vec::new();
        find_names(syntax, &mut names);
        used.extend(names.into_iter().map(|name| name.text));
    };
    statement.indices.iter().chain([&statement.value]).for_each(|syntax| add(syntax, &mut used));
    for (name, value) in statement.values.iter().rev() {
        if used.contains(&name.text) {
            add(value, &mut used);
        }
    }
    used
}

/// An expression whose type may still depend on what it is used with.
#[derive(Clone)]
enum Draft {
    Typed(Arc<Expression>),
    Literal(i64, Span),
    /// A number with a fraction: of bf16, unless another format is around.
    Decimal(f64, Span),
    /// `sel` of two without a type.
    Choice(Arc<Expression>, Box<Draft>, Box<Draft>, Span),
}

impl Draft {
    fn value(&self) -> Option<Type> {
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

    /// An expression with a type.
    fn typed(self) -> Arc<Expression> {
        match self {
            Draft::Typed(expression) => expression,
            Draft::Literal(..) | Draft::Decimal(..) | Draft::Choice(..) => unreachable!("it has a type"),
        }
    }

    fn span(&self) -> Span {
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
fn finite(number: i64, value: Type, span: Span) -> Result<Arc<Expression>, Problem> {
    match value.format() {
        Some(format) if !format.is_finite(number as u16) => {
            let largest = format.to_decimal(format.largest()).unwrap_or_default();
            let problem = Problem::new(span, format!("this constant is beyond the numbers of {}", format.name()));
            Err(problem.with_help(format!("the largest number of {} is {largest}", format.name())))
        }
        _ => Ok(constant(number, value, span)),
    }
}

fn constant(number: i64, value: Type, span: Span) -> Arc<Expression> {
    made(ExpressionKind::Constant(number), value, span)
}

fn made(kind: ExpressionKind, value: Type, span: Span) -> Arc<Expression> {
    Arc::new(Expression { kind, value, span })
}

/// A value that a statement names.
struct NamedValue {
    name: Name,
    draft: Draft,
    depends_on_data: bool,
}

struct Resolver<'a, 'b> {
    scope: Scope<'a>,
    values: Vec<NamedValue>,
    loads: Vec<Load>,
    warnings: &'b mut Vec<Problem>,
}

impl Resolver<'_, '_> {
    fn add_value(&mut self, name: &Name, value: &Syntax) -> Result<(), Problem> {
        let refuse = |message: String| Err(Problem::new(name.span, message).with_help("give the value another name"));
        let text = name.text.as_str();
        if is_reserved(text) {
            return refuse(format!("`{text}` is a word of the language and cannot be the name of a value"));
        }
        if self.scope.array(text).is_some() || self.scope.table(text).is_some() || self.scope.variable(text).is_some() {
            return refuse(format!("`{text}` is an array, a table or a loop variable already"));
        }
        let draft = match self.draft(value)? {
            // Numbers take the types of what they are used with.
            number @ (Draft::Literal(..) | Draft::Decimal(..)) => number,
            other => Draft::Typed(self.settle(other, Type::I32)?),
        };
        let depends_on_data = match &draft {
            Draft::Typed(expression) => expression.depends_on_data(),
            _ => false,
        };
        self.values.push(NamedValue { name: name.clone(), draft, depends_on_data });
        Ok(())
    }

    /// The value of this name.
    fn value(&self, name: &str) -> Option<&NamedValue> {
        self.values.iter().find(|value| value.name.text == name)
    }

    /// Whether an index depends on data: on an element of an array or of a table.
    fn depends_on_data(&self, index: &Syntax) -> bool {
        match &index.kind {
            Kind::Element(..) => true,
            Kind::Name(name) => self.value(name).is_some_and(|value| value.depends_on_data),
            _ => children(index).into_iter().any(|child| self.depends_on_data(child)),
        }
    }

    /// An element whose indices are functions of the loop variables.
    fn element_of_variables(&self, array: usize, syntax: &[Syntax], span: Span) -> Result<Access, Problem> {
        match syntax.iter().find_map(|index| self.named_in(index)) {
            Some(problem) => Err(problem),
            None => self.scope.access(array, syntax, span),
        }
    }

    /// The problem with an index in which the name of a value stands, though it does not depend on data.
    fn named_in(&self, index: &Syntax) -> Option<Problem> {
        match &index.kind {
            Kind::Name(name) if self.value(name).is_some() => {
                let problem = Problem::new(index.span, format!("the value `{name}` cannot stand in an index"));
                Some(problem.with_help("write its expression here: without data, an index is a sum of loop variables"))
            }
            _ => children(index).into_iter().find_map(|child| self.named_in(child)),
        }
    }

    /// Gives literals this type, or bf16, if they have a fraction and the type has not; what has a type keeps it.
    fn settle(&mut self, draft: Draft, value: Type) -> Result<Arc<Expression>, Problem> {
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
    fn fit(&mut self, number: i64, value: Type, span: Span) -> i64 {
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

    fn draft(&mut self, syntax: &Syntax) -> Result<Draft, Problem> {
        let span = syntax.span;
        Ok(match &syntax.kind {
            Kind::Integer(number, None) => Draft::Literal(*number, span),
            Kind::Integer(number, Some(value)) => Draft::Typed(constant(self.fit(*number, *value, span), *value, span)),
            Kind::Decimal(number, None) => Draft::Decimal(*number, span),
            Kind::Decimal(number, Some(format)) => {
                Draft::Typed(constant(format.from_f64(*number).into(), Type::of_format(*format), span))
            }
            Kind::Boolean(truth) => Draft::Typed(constant(i64::from(*truth), Type::Bool, span)),
            Kind::Name(name) => match self.value(name) {
                Some(value) => match value.draft {
                    Draft::Literal(number, _) => Draft::Literal(number, span),
                    Draft::Decimal(number, _) => Draft::Decimal(number, span),
                    ref typed => typed.clone(),
                },
                None => Draft::Typed(self.name(name, span)?),
            },
            Kind::Element(name, indices) => Draft::Typed(self.element(name, indices, span)?),
            Kind::Call(name, arguments) => self.call(name, arguments, span)?,
            Kind::Negate(operand) => {
                let operand = self.draft(operand)?;
                self.unary(Unary::Negate, operand, span)?
            }
            Kind::Not(operand) => {
                let operand = self.draft(operand)?;
                self.unary(Unary::Not, operand, span)?
            }
            Kind::Cast(operand, value) => Draft::Typed(self.cast(operand, *value, span)?),
            Kind::Binary(operator, left, right) => {
                let (left, right) = (self.draft(left)?, self.draft(right)?);
                self.binary(*operator, left, right, span)?
            }
            Kind::Logical(operator, left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                self.binary(*operator, Draft::Typed(left), Draft::Typed(right), span)?
            }
        })
    }

    fn name(&self, name: &str, span: Span) -> Result<Arc<Expression>, Problem> {
        if let Some(variable) = self.scope.variable(name) {
            return Ok(made(ExpressionKind::Variable(variable), Type::I32, span));
        }
        if self.scope.array(name).is_some() || self.scope.table(name).is_some() {
            return Err(Problem::new(span, format!("`{name}` needs indices")).with_help(format!("write `{name}[…]`")));
        }
        match nearest(name, self.values.iter().map(|value| value.name.text.as_str())) {
            Some(near) => {
                Err(Problem::new(span, format!("unknown name `{name}`")).with_help(format!("did you mean `{near}`?")))
            }
            None => Err(self.scope.unknown("name", name, span)),
        }
    }

    /// An element of an array, whose indices may depend on data.
    fn access(&mut self, array: usize, syntax: &[Syntax], span: Span) -> Result<Access, Problem> {
        if !syntax.iter().any(|index| self.depends_on_data(index)) {
            return self.element_of_variables(array, syntax, span);
        }
        self.scope.check_dimensions(array, syntax, span)?;
        let computed = syntax.iter().map(|index| self.computed_index(index).map(Arc::unwrap_or_clone));
        let computed = computed.collect::<Result<Vec<_>, _>>()?;
        let declared = &self.scope.arrays[array];
        for (dimension, index) in computed.iter().enumerate() {
            let (low, high) = value_range(index, self.scope.tables, self.scope.ranges);
            let (least, greatest) = (declared.min[dimension], declared.max(dimension));
            let name = &declared.name;
            if high < least || low > greatest {
                let message = format!(
                    "index {dimension} of `{name}` is from {low} to {high}; it goes from {least} to {greatest}"
                );
                return Err(Problem::new(index.span, message));
            }
            if low < least || high > greatest {
                let message = format!(
                    "index {dimension} of `{name}` may be from {low} to {high}; it goes from {least} to {greatest}"
                );
                let help = format!("limit the index: `clamp(…, {least}, {greatest})`");
                self.warnings.push(Problem::new(index.span, message).with_help(help));
            }
        }
        let indices = declared.min.iter().map(|least| Index::constant(*least)).collect();
        Ok(Access { array, indices, computed: Some(computed), span })
    }

    /// An index that may depend on data, as an i32 value.
    fn computed_index(&mut self, syntax: &Syntax) -> Result<Arc<Expression>, Problem> {
        let draft = self.draft(syntax)?;
        let index = self.settle(draft, Type::I32)?;
        match index.value {
            Type::I32 => Ok(index),
            Type::Bool => {
                Err(Problem::new(index.span, "an index is a number, not a truth value")
                    .with_help("write `sel(…, 1, 0)`"))
            }
            of if of.format().is_some() => {
                Err(Problem::new(index.span, format!("an index is an integer, not {}", of.name()))
                    .with_help("cast it, which rounds towards zero: `(…) as u16`"))
            }
            _ => {
                let span = index.span;
                Ok(made(ExpressionKind::Cast(index), Type::I32, span))
            }
        }
    }

    fn element(&mut self, name: &Name, indices: &[Syntax], span: Span) -> Result<Arc<Expression>, Problem> {
        if let Some(array) = self.scope.array(&name.text) {
            let access = self.access(array, indices, span)?;
            return Ok(self.load(Load { access, outside: None }, span));
        }
        let Some(table) = self.scope.table(&name.text) else {
            return Err(self.scope.unknown("array or table", &name.text, name.span));
        };
        let [index] = indices else {
            return Err(Problem::new(span, format!("a table has one index, not {}", indices.len())));
        };
        let index = self.draft(index)?;
        let index = self.settle(index, Type::I32)?;
        if index.value == Type::Bool {
            return Err(Problem::new(index.span, "the index of a table is a number, not a truth value")
                .with_help("write `sel(…, 1, 0)`"));
        }
        if index.value.format().is_some() {
            let message = format!("the index of a table is an integer, not {}", index.value.name());
            return Err(Problem::new(index.span, message).with_help("cast it, which rounds towards zero: `(…) as u16`"));
        }
        let declared = &self.scope.tables[table];
        if declared.values.is_empty() {
            // That is refused where it is declared.
            return Ok(constant(0, declared.element, span));
        }
        let last = declared.values.len() as i64 - 1;
        let (low, high) = value_range(&index, self.scope.tables, self.scope.ranges);
        if high < 0 || low > last {
            let message = format!("the index of the table `{}` is {low}; it has entries 0 to {last}", name.text);
            return Err(Problem::new(index.span, message));
        }
        if let ExpressionKind::Constant(number) = index.kind {
            return Ok(constant(declared.values[number as usize], declared.element, span));
        }
        if low < 0 || high > last {
            let message = format!(
                "the index of the table `{}` may be from {low} to {high}; it has entries 0 to {last}",
                name.text
            );
            let help = format!("limit the index: `clamp(…, 0, {last})`");
            self.warnings.push(Problem::new(index.span, message).with_help(help));
        }
        let kind = ExpressionKind::Lookup { table, index };
        Ok(made(kind, declared.element, span))
    }

    /// The value of an element; elements that are read several times are loaded once.
    fn load(&mut self, load: Load, span: Span) -> Arc<Expression> {
        let same = |known: &Load| known.access.is_same_element(&load.access) && known.outside == load.outside;
        let value = self.scope.arrays[load.access.array].element;
        let place = self.loads.iter().position(same).unwrap_or_else(|| {
            self.loads.push(load);
            self.loads.len() - 1
        });
        made(ExpressionKind::Load(place), value, span)
    }

    fn call(&mut self, name: &Name, arguments: &[Syntax], span: Span) -> Result<Draft, Problem> {
        let Some((_, needed, _)) = FUNCTIONS.iter().find(|(function, ..)| *function == name.text) else {
            if self.scope.array(&name.text).is_some() || self.scope.table(&name.text).is_some() {
                return Err(Problem::new(span, format!("`{}` is not a function", name.text))
                    .with_help(format!("indices stand in brackets: `{}[…]`", name.text)));
            }
            let problem = Problem::new(name.span, format!("unknown function `{}`", name.text));
            let names = FUNCTIONS.iter().map(|(function, ..)| *function);
            return Err(match nearest(&name.text, names.clone()) {
                Some(near) => problem.with_help(format!("did you mean `{near}`?")),
                None => problem.with_help(format!("the functions are {}", names.collect::<Vec<_>>().join(", "))),
            });
        };
        if arguments.len() != *needed {
            return Err(wrong_count(name, span, arguments.len()));
        }
        let binary = match name.text.as_str() {
            "min" => Some(Binary::Minimum),
            "max" => Some(Binary::Maximum),
            "absd" => Some(Binary::AbsoluteDifference),
            _ => None,
        };
        if let Some(operator) = binary {
            let (left, right) = (self.draft(&arguments[0])?, self.draft(&arguments[1])?);
            return self.binary(operator, left, right, span);
        }
        if let Some(function) = Function::of_name(&name.text) {
            return self.function(function, &arguments[0], span);
        }
        match name.text.as_str() {
            "abs" => {
                let operand = self.draft(&arguments[0])?;
                self.unary(Unary::Absolute, operand, span)
            }
            "clamp" => {
                let (value, low) = (self.draft(&arguments[0])?, self.draft(&arguments[1])?);
                let high = self.draft(&arguments[2])?;
                let limited = self.binary(Binary::Minimum, value, high, span)?;
                self.binary(Binary::Maximum, limited, low, span)
            }
            "sel" => self.select(arguments, span),
            "outside" => Ok(Draft::Typed(self.outside(arguments, span)?)),
            _ => Err(Problem::new(name.span, "`mirror` reflects the index of an array, not a value")
                .with_help("write it in the brackets: `array[mirror(x, 0, 63)]`")),
        }
    }

    /// A function of a number with a fraction.
    fn function(&mut self, function: Function, argument: &Syntax, span: Span) -> Result<Draft, Problem> {
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

    fn select(&mut self, arguments: &[Syntax], span: Span) -> Result<Draft, Problem> {
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

    /// `outside(array[…], value)`.
    fn outside(&mut self, arguments: &[Syntax], span: Span) -> Result<Arc<Expression>, Problem> {
        let help = "write `outside(array[…], value)`: the element, or the value where the indices lie outside";
        let array = match &arguments[0].kind {
            Kind::Element(name, indices) => self.scope.array(&name.text).map(|array| (array, indices)),
            _ => None,
        };
        let Some((array, indices)) = array else {
            return Err(Problem::new(arguments[0].span, "expected an element of an array").with_help(help));
        };
        let access = self.element_of_variables(array, indices, arguments[0].span)?;
        let value = self.scope.arrays[array].element;
        let draft = self.draft(&arguments[1])?;
        let outside = self.settle(draft, value)?;
        match outside.kind {
            ExpressionKind::Constant(number) if outside.value == value => {
                Ok(self.load(Load { access, outside: Some(number) }, span))
            }
            _ => {
                Err(Problem::new(outside.span, format!("expected a constant of type {}", value.name())).with_help(help))
            }
        }
    }

    /// An operand that must be a truth value.
    fn truth(&mut self, syntax: &Syntax) -> Result<Arc<Expression>, Problem> {
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
        let value = operator.result(operand.value);
        if let ExpressionKind::Constant(number) = operand.kind {
            return Ok(Draft::Typed(constant(operator.apply(operand.value, number), value, span)));
        }
        let kind = ExpressionKind::Unary { operator, operand };
        Ok(Draft::Typed(made(kind, value, span)))
    }

    fn cast(&mut self, operand: &Syntax, value: Type, span: Span) -> Result<Arc<Expression>, Problem> {
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

    fn binary(&mut self, operator: Binary, left: Draft, right: Draft, span: Span) -> Result<Draft, Problem> {
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
                let equal = Draft::Typed(self.of_float(format, Binary::Equal, left, right, span)?);
                return Ok(self.unary(Unary::Not, equal, span)?.typed());
            }
            Binary::AbsoluteDifference => {
                let difference = Draft::Typed(self.of_float(format, Binary::Subtract, left, right, span)?);
                return Ok(self.unary(Unary::Absolute, difference, span)?.typed());
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
            None => Problem::new(span, message).with_help("cast one of them, as in `a[x] as i32`"),
        })
    }
}
