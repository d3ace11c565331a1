//! Programs as trees, before names are looked up and types are checked. [`ProgramSyntax::resolve`] makes a [`Program`](crate::Program) of
//! one, whichever front end wrote it. Each part has its place in the text that the program comes from.

use std::collections::HashSet;
use std::ops::Range;

use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_float::Format;

use crate::operators::{Binary, Unary};
use crate::program::{Array, Policy, Share, Table};
use crate::source::{Problem, Span};
use crate::types::Type;

/// The highest tree that is accepted, so that no walk over one exhausts the stack.
pub const HIGHEST_TREE: usize = 300;

/// A program.
#[derive(Debug)]
pub struct ProgramSyntax<'a> {
    /// The name.
    pub name: String,
    /// How to schedule it, if the text says so.
    pub schedule: Option<Policy>,
    /// The arrays.
    pub arrays: Vec<Declared<'a, Array>>,
    /// The tables of constants.
    pub tables: Vec<Declared<'a, Table>>,
    /// The loops and statements.
    pub nest: Vec<NodeSyntax>,
    /// Where it is written.
    pub places: Places<'a>,
}

/// An array or a table as it is declared.
#[derive(Clone, Debug)]
pub struct Declared<'a, T> {
    pub(crate) what: T,
    /// The problem with its type or its values, because of which nothing can be said of what is done with it.
    pub(crate) wrong: Option<Problem>,
    pub(crate) places: Places<'a>,
}

impl<T> Declared<'_, T> {
    /// An array or a table whose declaration has this place.
    pub fn new(what: T, place: Span) -> Self {
        Self { what, wrong: None, places: Places::one(place) }
    }
}

/// Where the parts of a declaration are written: at a field of a document, or all at one place.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    document: Option<&'a Document>,
    path: FieldPath,
    place: Span,
}

impl<'a> Places<'a> {
    /// One place.
    pub fn one(place: Span) -> Self {
        Self { document: None, path: FieldPath::root(), place }
    }

    /// The parts of a whole document.
    pub(crate) fn of(document: &'a Document) -> Self {
        Self { document: Some(document), ..Self::one(Span::default()) }
    }

    /// The parts of the field of this name.
    pub(crate) fn field(&self, name: &str) -> Self {
        Self { path: self.path.key(name), ..*self }
    }

    /// The parts of an element of the list.
    pub(crate) fn element(&self, index: usize) -> Self {
        Self { path: self.path.index(index), ..*self }
    }

    /// The place of the value.
    pub(crate) fn value(&self) -> Span {
        self.found(|document| document.error(&self.path, ""))
    }

    /// The place of the name.
    pub(crate) fn key(&self) -> Span {
        self.found(|document| document.error_at_key(&self.path, ""))
    }

    /// Where the text of a diagnostic is: it is a part of the document's own text.
    fn found(&self, diagnostic: impl Fn(&Document) -> Diagnostic) -> Span {
        let Some(document) = self.document else { return self.place };
        let diagnostic = diagnostic(document);
        let text = diagnostic.offending_text().unwrap_or_default();
        let start = text.as_ptr().addr().wrapping_sub(document.text().as_ptr().addr());
        Span { start, end: start + text.len() }
    }
}

/// A loop or a statement.
#[derive(Debug)]
pub enum NodeSyntax {
    /// A loop around others.
    Loop(Header, Vec<NodeSyntax>),
    /// A statement.
    Statement(Statement),
    /// Text that is wrong, in the place of what it should be.
    Wrong(Problem),
}

/// The header of a loop: `for variable in start..end step distance`.
#[derive(Debug)]
pub struct Header {
    pub(crate) variable: Name,
    pub(crate) start: Syntax,
    pub(crate) end: Syntax,
    /// How far apart the values are: 1 without. With one, the loop counts its iterations, and the reader puts the value in the place of
    /// the variable.
    pub(crate) step: Option<Syntax>,
    /// How many iterations are executed at once: 1 without.
    pub(crate) unroll: Option<Syntax>,
    pub(crate) span: Span,
}

impl Header {
    /// The header of a loop whose parts all have one place.
    pub fn new(variable: &str, values: Range<i64>, unroll: Option<i64>, span: Span) -> Self {
        let number = |number: i64| Syntax::new(Kind::Integer(number, None), span);
        let variable = Name { text: variable.to_owned(), span };
        let (start, end) = (number(values.start), number(values.end));
        Self { variable, start, end, step: None, unroll: unroll.map(number), span }
    }

    /// The value in an iteration, computed from the number of the iteration, which has the name of the variable.
    pub(crate) fn stepped(&self) -> Option<(Name, Syntax)> {
        let (step, span) = (self.step.clone()?, self.variable.span);
        let steps = Syntax::binary(Binary::Multiply, step, Syntax::variable(&self.variable.text, span), span);
        Some((self.variable.clone(), Syntax::binary(Binary::Add, self.start.clone(), steps, span)))
    }
}

/// A statement: `target[indices] = value`.
#[derive(Debug)]
pub struct Statement {
    /// The element that it writes.
    pub target: Syntax,
    /// Whether the value is added to the element.
    pub reduce: bool,
    /// The value.
    pub value: Syntax,
    /// The values that it names, each computed with those before it.
    pub values: Vec<(Name, Syntax)>,
    /// The compute unit that it shares.
    pub share: Option<Share>,
    /// Where it is written.
    pub span: Span,
}

impl Statement {
    /// The same without named values that nothing is computed with.
    pub fn without_unused_values(mut self) -> Self {
        let used = self.used_names();
        self.values.retain(|(name, _)| used.contains(&name.text));
        self
    }

    /// The names that it uses, directly or for values that it uses.
    pub(crate) fn used_names(&self) -> HashSet<String> {
        let mut used = HashSet::new();
        let add = |syntax: &Syntax, used: &mut HashSet<String>| {
            let mut names = Vec::new();
            syntax.find_names(&mut names);
            used.extend(names.into_iter().map(|name| name.text));
        };
        [&self.target, &self.value].into_iter().for_each(|syntax| add(syntax, &mut used));
        for (name, value) in self.values.iter().rev() {
            if used.contains(&name.text) {
                add(value, &mut used);
            }
        }
        used
    }
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it is written.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Syntax {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Levels of the tree from here down.
    height: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Integer(i64, Option<Type>),
    /// A number with a fraction, which each format rounds as the decimal, and its format, if that is written.
    Decimal(f64, Option<Format>),
    Boolean(bool),
    Name(String),
    /// `name[indices]`
    Element(Name, Vec<Syntax>),
    /// `name(arguments)`
    Call(Name, Vec<Syntax>),
    Negate(Box<Syntax>),
    Not(Box<Syntax>),
    Cast(Box<Syntax>, Type),
    Binary(Binary, Box<Syntax>, Box<Syntax>),
    /// `&&` and `||`: only for truth values.
    Logical(Binary, Box<Syntax>, Box<Syntax>),
}

impl Syntax {
    pub(crate) fn new(kind: Kind, span: Span) -> Self {
        let mut syntax = Self { kind, span, height: 1 };
        syntax.height += syntax.children().into_iter().map(|child| child.height).max().unwrap_or(0);
        syntax
    }

    /// The same, written at another place.
    pub(crate) fn at(&self, span: Span) -> Self {
        Self { span, ..self.clone() }
    }

    /// A constant of a type.
    pub fn constant(value: i64, of: Type, span: Span) -> Self {
        let kind = match of.format() {
            Some(format) => Kind::Decimal(format.to_f64(value as u16), Some(format)),
            None if of == Type::Bool => Kind::Boolean(value != 0),
            None => Kind::Integer(value, Some(of)),
        };
        Self::new(kind, span)
    }

    /// A loop variable.
    pub fn variable(name: &str, span: Span) -> Self {
        Self::new(Kind::Name(name.to_owned()), span)
    }

    /// The name of a value of the statement.
    pub fn named(name: &str, value: &Syntax, span: Span) -> Self {
        Self { height: value.height, ..Self::variable(name, span) }
    }

    /// An element of an array or a table.
    pub fn element(name: &str, indices: Vec<Syntax>, span: Span) -> Self {
        Self::new(Kind::Element(Name { text: name.to_owned(), span }, indices), span)
    }

    /// A function of these arguments.
    pub fn call(name: &str, arguments: Vec<Syntax>, span: Span) -> Self {
        Self::new(Kind::Call(Name { text: name.to_owned(), span }, arguments), span)
    }

    /// The value in another type.
    pub fn cast(self, to: Type, span: Span) -> Self {
        Self::new(Kind::Cast(Box::new(self), to), span)
    }

    /// An operator of one operand; nothing for those that are written as casts.
    pub fn unary(operator: Unary, operand: Syntax, span: Span) -> Option<Self> {
        Some(match operator {
            Unary::Negate | Unary::FloatNegate(_) => operand.negated(span),
            Unary::Not => Self::new(Kind::Not(Box::new(operand)), span),
            Unary::Absolute | Unary::FloatAbsolute(_) => Self::call("abs", vec![operand], span),
            Unary::FloatFunction(_, function) => Self::call(function.name(), vec![operand], span),
            Unary::FloatFromInteger(_) | Unary::FloatToInteger(_) => return None,
        })
    }

    /// The negation: of a literal a negative one, not the negation of a literal that may not fit its type.
    pub(crate) fn negated(self, span: Span) -> Self {
        Self::new(
            match self.kind {
                Kind::Integer(value, suffix) => Kind::Integer(-value, suffix),
                Kind::Decimal(number, suffix) => Kind::Decimal(-number, suffix),
                _ => Kind::Negate(Box::new(self)),
            },
            span,
        )
    }

    /// An operator of two operands.
    pub fn binary(operator: Binary, left: Syntax, right: Syntax, span: Span) -> Self {
        match operator.precedence() {
            Some(_) => Self::new(Kind::Binary(operator.of_integers(), Box::new(left), Box::new(right)), span),
            None => Self::call(operator.symbol(), vec![left, right], span),
        }
    }

    pub(crate) fn children(&self) -> Vec<&Syntax> {
        match &self.kind {
            Kind::Integer(..) | Kind::Decimal(..) | Kind::Boolean(_) | Kind::Name(_) => Vec::new(),
            Kind::Element(_, parts) | Kind::Call(_, parts) => parts.iter().collect(),
            Kind::Negate(operand) | Kind::Not(operand) | Kind::Cast(operand, _) => vec![operand],
            Kind::Binary(_, left, right) | Kind::Logical(_, left, right) => vec![left, right],
        }
    }

    /// The names of loop variables, values, arrays and tables in it, in the order of the text.
    pub(crate) fn find_names(&self, names: &mut Vec<Name>) {
        match &self.kind {
            Kind::Name(text) => names.push(Name { text: text.clone(), span: self.span }),
            Kind::Element(name, _) => names.push(name.clone()),
            _ => {}
        }
        self.children().into_iter().for_each(|child| child.find_names(names));
    }

    /// Refuses trees that are too high.
    pub(crate) fn check_height(&self) -> Result<(), Problem> {
        if self.height > HIGHEST_TREE {
            return Err(Problem::new(self.span, format!("more than {HIGHEST_TREE} operations depend on one another"))
                .with_help("store a part of the expression in a buffer"));
        }
        Ok(())
    }

    /// The same, unless it is too high a tree.
    pub(crate) fn limited(self) -> Result<Self, Problem> {
        self.check_height().map(|()| self)
    }
}
