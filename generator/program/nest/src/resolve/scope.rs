//! Names and indices: the arrays, tables and loop variables that a statement can use.

use pushmem_files::nearest;

use crate::index::{INDEX_LIMIT, Index};
use crate::operators::Binary;
use crate::parser::instead_of;
use crate::program::{Access, Array, Table};
use crate::source::{Problem, Span};
use crate::syntax::{Kind, Name, Syntax};

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
pub(super) const FUNCTIONS: [(&str, usize, &str); 15] = [
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

    pub fn array(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|array| array.name == name)
    }

    pub fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    pub fn unknown(&self, what: &str, name: &str, span: Span) -> Problem {
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
    pub fn access(&self, array: usize, syntax: &[Syntax], span: Span) -> Result<Access, Problem> {
        self.check_dimensions(array, syntax, span)?;
        let indices = syntax.iter().map(|index| self.index(index)).collect::<Result<_, _>>()?;
        Ok(Access::new(array, indices, span))
    }

    /// Checks that there is an index for each dimension of an array.
    pub fn check_dimensions(&self, array: usize, syntax: &[Syntax], span: Span) -> Result<(), Problem> {
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
    match (instead_of(name), nearest(name, names)) {
        (Some(help), _) => problem.with_help(help),
        (None, Some(near)) => problem.with_help(format!("did you mean `{near}`?")),
        (None, None) => {
            problem.with_help("declare it in `inputs`, `outputs`, `buffers` or `tables`, or as a loop variable")
        }
    }
}
