//! From trees to operations: names are looked up, types are checked, constants are folded.

mod nests;
pub(crate) mod program;
mod scope;
mod typing;

use std::sync::Arc;

use pushmem_files::nearest;
use pushmem_float::Function;

use crate::expression::{Expression, ExpressionKind};
use crate::index::Index;
use crate::operators::{Binary, Unary};
use crate::parser::{instead_of, is_reserved};
use crate::program::{Access, ArrayKind, Load, Operation};
use crate::source::{Problem, Span};
use crate::syntax::{Kind, Name, Statement, Syntax};
use crate::types::Type;
use crate::value_range::value_range;
pub use program::{
    Checked, LARGEST_ARRAY, LARGEST_PROGRAM, LARGEST_RUN, LARGEST_TABLE, MOST_DIMENSIONS, MOST_OPERATIONS,
};
pub(crate) use program::{check_name, too_many_elements};
use program::{is_name, not_a_name};
use scope::FUNCTIONS;
pub(crate) use scope::{Scope, wrong_count};
use typing::{Draft, constant, finite, made};

/// Resolves a statement. Warnings are added to the list. The name of the operation is that of its target.
fn operation(scope: Scope, statement: &Statement, warnings: &mut Vec<Problem>) -> Result<Operation, Problem> {
    let values = statement.values.iter().map(|(_, value)| value);
    values.chain([&statement.target, &statement.value]).try_for_each(Syntax::check_height)?;
    let Kind::Element(name, indices) = &statement.target.kind else {
        return Err(Problem::new(statement.target.span, "a statement writes an element of an array"));
    };
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
    let mut resolver = Resolver { scope, values: Vec::new(), loads: Vec::new(), warnings };
    let used = statement.used_names();
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
    let target = resolver.access(array, indices, statement.target.span)?;
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
        share: statement.share.clone(),
        span: statement.span,
    })
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
        if !is_name(text) {
            return Err(not_a_name(text, "the name of a value", name.span));
        }
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
            _ => index.children().into_iter().any(|child| self.depends_on_data(child)),
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
            _ => index.children().into_iter().find_map(|child| self.named_in(child)),
        }
    }

    fn draft(&mut self, syntax: &Syntax) -> Result<Draft, Problem> {
        let span = syntax.span;
        Ok(match &syntax.kind {
            Kind::Integer(number, None) => Draft::Literal(*number, span),
            Kind::Integer(number, Some(value)) => Draft::Typed(constant(self.fit(*number, *value, span), *value, span)),
            Kind::Decimal(number, None) => Draft::Decimal(*number, span),
            Kind::Decimal(number, Some(format)) => {
                Draft::Typed(finite(format.from_f64(*number).into(), Type::of_format(*format), span)?)
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
            Kind::Negate(operand) => self.unary_of(Unary::Negate, operand, span)?,
            Kind::Not(operand) => self.unary_of(Unary::Not, operand, span)?,
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
        let index = self.integer(syntax, "an index")?;
        let (of, span) = (index.value, index.span);
        Ok(if of == Type::I32 { index } else { made(ExpressionKind::Cast(index), Type::I32, span) })
    }

    /// The value of an index, which is an integer.
    fn integer(&mut self, syntax: &Syntax, what: &str) -> Result<Arc<Expression>, Problem> {
        let draft = self.draft(syntax)?;
        let index = self.settle(draft, Type::I32)?;
        let refuse = |message: String, help: &str| Err(Problem::new(index.span, message).with_help(help));
        match index.value {
            Type::Bool => refuse(format!("{what} is a number, not a truth value"), "write `sel(…, 1, 0)`"),
            of if of.format().is_some() => refuse(
                format!("{what} is an integer, not {}", of.name()),
                "cast it, which rounds towards zero: `(…) as u16`",
            ),
            _ => Ok(index),
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
        let index = self.integer(index, "the index of a table")?;
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
            return Err(match (instead_of(&name.text), nearest(&name.text, names.clone())) {
                (Some(help), _) => problem.with_help(help),
                (None, Some(near)) => problem.with_help(format!("did you mean `{near}`?")),
                (None, None) => {
                    problem.with_help(format!("the functions are {}", names.collect::<Vec<_>>().join(", ")))
                }
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
            "abs" => self.unary_of(Unary::Absolute, &arguments[0], span),
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
}
