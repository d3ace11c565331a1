//! The tree of a text that Halide printed.

use pushmem_nest::{Binary, Span, Type};

/// The text of `Func.compile_to_lowered_stmt` for one pipeline.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    /// Inputs and outputs, in this order.
    pub arguments: Vec<(&'a str, Span)>,
    /// Buffers of constants, whose contents are not printed.
    pub constants: Vec<(&'a str, Span)>,
    pub body: Vec<Statement<'a>>,
}

#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub kind: StatementKind<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum StatementKind<'a> {
    /// `produce name { … }`
    Produce { name: &'a str, body: Vec<Statement<'a>> },
    /// `consume name { … }`
    Consume { body: Vec<Statement<'a>> },
    /// `for (variable, first, extent) { … }`
    For { variable: &'a str, first: Expression<'a>, extent: Expression<'a>, unrolled: bool, body: Vec<Statement<'a>> },
    /// `let name = value`, for all that follows in the same braces.
    Let { name: &'a str, value: Expression<'a> },
    /// `allocate name[type * extent * …]`
    Allocate { name: &'a str, element: Type, extents: Vec<Expression<'a>> },
    /// `array[index] = value`
    Store { array: &'a str, index: Expression<'a>, value: Expression<'a> },
    /// `if (condition) { … } else { … }`
    If { condition: Expression<'a>, then: Vec<Statement<'a>>, otherwise: Vec<Statement<'a>> },
}

#[derive(Debug)]
pub(crate) struct Expression<'a> {
    pub kind: ExpressionKind<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum ExpressionKind<'a> {
    Number(i64, Type),
    Name(&'a str),
    /// `array[index]`
    Element(&'a str, Box<Expression<'a>>),
    Binary(Binary, Box<Expression<'a>>, Box<Expression<'a>>),
    Not(Box<Expression<'a>>),
    Negate(Box<Expression<'a>>),
    /// `type(value)`
    Cast(Type, Box<Expression<'a>>),
    /// `name(arguments)`, or `(type)name(arguments)`.
    Call {
        name: &'a str,
        value: Option<Type>,
        arguments: Vec<Expression<'a>>,
    },
    /// `let name = value in body`
    Let {
        name: &'a str,
        value: Box<Expression<'a>>,
        body: Box<Expression<'a>>,
    },
}
