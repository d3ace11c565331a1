//! From tokens to the tree.

use pushmem_nest::{Binary, Span, Type};

use crate::fault::{Fault, Result};
use crate::lexer::{NO_NUMBERS, Token, tokens};
use crate::syntax::{Expression, ExpressionKind, Module, Statement, StatementKind};

/// The deepest nesting of braces and parentheses, so that no walk over a tree exhausts the stack.
const DEEPEST_NESTING: usize = 200;

const NO_VECTORS: &str = "vectors are for CPUs: use `unroll` in the place of `vectorize`";

/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, nesting: 0 };
    parser.module()
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Span)>,
    next: usize,
    nesting: usize,
}

/// The meaning of a name as a type.
enum TypeName {
    Known(Type),
    /// A type of Halide that nests do not have, with the reason.
    Foreign(&'static str),
    None,
}

fn type_name(name: &str) -> TypeName {
    let known = |element| TypeName::Known(element);
    match name {
        "uint1" | "bool" => known(Type::Bool),
        "uint8" => known(Type::U8),
        "int8" => known(Type::I8),
        "uint16" => known(Type::U16),
        "int16" => known(Type::I16),
        "uint32" => known(Type::U32),
        "int32" => known(Type::I32),
        "int64" | "uint64" => TypeName::Foreign("values have at most 32 bits"),
        "float16" | "float32" | "float64" | "bfloat16" => TypeName::Foreign(NO_NUMBERS),
        "void" | "handle" => TypeName::Foreign("there are no pointers"),
        _ if is_vector(name) => TypeName::Foreign(NO_VECTORS),
        _ => TypeName::None,
    }
}

/// Whether this is the name of a type with lanes, such as `uint16x8`, or of a broadcast, such as `x8`.
fn is_vector(name: &str) -> bool {
    let Some((element, lanes)) = name.rsplit_once('x') else { return false };
    let digits = |text: &str| !text.is_empty() && text.chars().all(|character| character.is_ascii_digit());
    let stem = element.trim_end_matches(|character: char| character.is_ascii_digit());
    digits(lanes) && (element.is_empty() || ["int", "uint", "float", "bfloat"].contains(&stem))
}

/// Refuses functions that only a CPU has, with the call of a schedule that makes them.
fn check_call(name: &str, span: Span) -> Result<()> {
    let help = match name {
        "ramp" | "concat_vectors" | "interleave_vectors" | "shuffle_vectors" | "slice_vectors" | "extract_element" => {
            return Err(Fault::new(span, "a vectorized loop").with_help(NO_VECTORS));
        }
        _ if name.starts_with("vector_reduce") => {
            return Err(Fault::new(span, "a vectorized loop").with_help(NO_VECTORS));
        }
        "halide_do_par_for" | "halide_do_parallel_tasks" => return Err(parallel(span)),
        "halide_print" | "return_second" | "stringify" => "hardware prints nothing: remove `print`",
        "halide_trace_helper" | "halide_trace" => {
            "hardware traces nothing: remove `trace_loads`, `trace_stores` and `trace_realizations`"
        }
        "prefetch" | "_halide_prefetch" => "what is needed next is streamed: remove `prefetch`",
        "halide_memoization_cache_lookup" | "halide_memoization_cache_store" => "remove `memoize`",
        _ if name.starts_with("_halide_buffer_get_") => "fix the bounds and strides of all buffers",
        "assert" => "compile with the target features no_asserts, no_bounds_query and no_runtime",
        _ => return Ok(()),
    };
    Err(Fault::new(span, format!("a call of `{name}`")).with_help(help))
}

fn parallel(span: Span) -> Fault {
    Fault::new(span, "a parallel loop").with_help(
        "threads are for CPUs: remove `parallel` and `async`; what hardware does at once is for the compiler to find",
    )
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.next].0
    }

    fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens.get(self.next + ahead).map_or(Token::End, |token| token.0)
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1
    }

    /// Takes the next token. [`Token::End`] is never taken.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        span
    }

    /// Where the last token that was taken ends.
    fn last(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].1
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Integer(value) => format!("`{value}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::Text => "a text".to_owned(),
            Token::End => "the end".to_owned(),
        };
        Fault::new(self.span(), format!("expected {expected}, found {found}"))
    }

    fn symbol(&mut self, symbol: &'static str) -> Result<Span> {
        match self.peek() == Token::Symbol(symbol) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{symbol}`"))),
        }
    }

    /// Takes the symbol if it is the next.
    fn takes(&mut self, symbol: &'static str) -> bool {
        let is_next = self.peek() == Token::Symbol(symbol);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn name(&mut self, what: &str) -> Result<(&'a str, Span)> {
        match self.peek() {
            Token::Name(name) => Ok((name, self.advance())),
            _ => Err(self.unexpected(what)),
        }
    }

    fn word(&mut self, word: &str) -> Result<Span> {
        match self.peek() == Token::Name(word) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == DEEPEST_NESTING {
            return Err(Fault::new(
                self.span(),
                format!("nested deeper than {DEEPEST_NESTING} parentheses and braces"),
            )
            .with_help("store a part of the expression in a Func of its own: `compute_root` or `compute_at`"));
        }
        self.nesting += 1;
        let outcome = inner(self);
        self.nesting -= 1;
        outcome
    }

    fn module(&mut self) -> Result<Module<'a>> {
        let help = "this is what `Func.compile_to_lowered_stmt(file, arguments, StmtOutputFormat.Text, target)` writes";
        self.word("module").map_err(|fault| fault.with_help(help))?;
        self.word("name")?;
        self.symbol("=")?;
        self.name("the name of the module")?;
        let mut constants = Vec::new();
        // The rest of the line is the target, which says nothing about the program.
        while !matches!(self.peek(), Token::Name("func" | "buffer" | "internal") | Token::End) {
            self.advance();
        }
        while self.peek() == Token::Name("buffer") {
            self.advance();
            constants.push(self.name("the name of a buffer")?);
            while !matches!(self.peek(), Token::Name("func" | "buffer" | "internal") | Token::End) {
                self.advance();
            }
        }
        // The body of a loop becomes a function where threads call it.
        if self.peek() == Token::Name("internal") {
            return Err(parallel(self.span().to(self.tokens[(self.next + 2).min(self.tokens.len() - 1)].1)));
        }
        self.word("func").map_err(|fault| fault.with_help(help))?;
        self.name("the name of the function")?;
        self.symbol("(")?;
        let mut arguments = Vec::new();
        while self.peek() != Token::Symbol(")") {
            arguments.push(self.name("the name of an argument")?);
            if !self.takes(",") {
                break;
            }
        }
        self.symbol(")")?;
        let body = self.block()?;
        if self.peek() == Token::Name("external_plus_metadata") || self.peek() == Token::Name("func") {
            return Err(Fault::new(self.span(), "a second function")
                .with_help("compile without the target feature `user_context`, and one pipeline for each file"));
        }
        match self.peek() {
            Token::End => Ok(Module { arguments, constants, body }),
            _ => Err(self.unexpected("the end")),
        }
    }

    fn block(&mut self) -> Result<Vec<Statement<'a>>> {
        self.nested(|parser| {
            parser.symbol("{")?;
            let mut statements = Vec::new();
            while !parser.takes("}") {
                if parser.peek() == Token::End {
                    return Err(parser.unexpected("`}`"));
                }
                statements.extend(parser.statement()?);
            }
            Ok(statements)
        })
    }

    /// A statement; nothing for what has no meaning here.
    fn statement(&mut self) -> Result<Option<Statement<'a>>> {
        let start = self.span();
        let kind = match (self.peek(), self.peek_at(1)) {
            (Token::Name("produce"), Token::Name(name)) => {
                self.advance();
                self.advance();
                StatementKind::Produce { name, body: self.block()? }
            }
            (Token::Name("consume"), Token::Name(_)) => {
                self.advance();
                self.advance();
                StatementKind::Consume { body: self.block()? }
            }
            (Token::Name("free"), Token::Name(_)) => {
                self.advance();
                self.advance();
                return Ok(None);
            }
            (Token::Name("allocate"), Token::Name(name)) => {
                self.advance();
                self.advance();
                self.allocation(name)?
            }
            (Token::Name("let"), Token::Name(name)) => {
                self.advance();
                self.advance();
                self.symbol("=")?;
                if self.takes_pointer()? {
                    return Ok(None);
                }
                StatementKind::Let { name, value: self.expression()? }
            }
            (Token::Name("for" | "parallel" | "unrolled"), Token::Symbol("(")) => self.for_loop()?,
            (Token::Name("vectorized"), Token::Symbol("(")) => {
                return Err(Fault::new(start, "a vectorized loop").with_help(NO_VECTORS));
            }
            (Token::Name("fork"), Token::Symbol("{")) => return Err(parallel(start)),
            (Token::Name("if"), Token::Symbol("(")) => self.choice()?,
            (Token::Name(array), Token::Symbol("[")) => {
                self.advance();
                let index = self.index()?;
                if self.peek() == Token::Name("if") {
                    return Err(self.unexpected("`=`").with_help("a predicated store is for CPUs"));
                }
                self.symbol("=")?;
                StatementKind::Store { array, index, value: self.expression()? }
            }
            (Token::Name(name), Token::Symbol("(")) => {
                check_call(name, start)?;
                return Err(Fault::new(start, format!("a call of `{name}`"))
                    .with_help("calls of other functions cannot become hardware; compile without asserts"));
            }
            _ => return Err(self.unexpected("a statement")),
        };
        // Blocks are long; their first line says which they are.
        let end = match kind {
            StatementKind::Store { .. } | StatementKind::Let { .. } | StatementKind::Allocate { .. } => self.last(),
            _ => start,
        };
        Ok(Some(Statement { kind, span: start.to(end) }))
    }

    /// Takes what gives the address of an argument's elements.
    fn takes_pointer(&mut self) -> Result<bool> {
        let is_pointer = self.peek() == Token::Symbol("(")
            && self.peek_at(1) == Token::Name("void")
            && self.peek_at(4) == Token::Name("_halide_buffer_get_host");
        if is_pointer {
            let last = |parser: &Self| parser.peek() == Token::End || parser.peek() == Token::Symbol("{");
            for _ in 0..6 {
                self.advance();
            }
            let mut open = 1;
            while open > 0 && !last(self) {
                match self.peek() {
                    Token::Symbol("(") => open += 1,
                    Token::Symbol(")") => open -= 1,
                    _ => {}
                }
                self.advance();
            }
        }
        Ok(is_pointer)
    }

    fn allocation(&mut self, name: &'a str) -> Result<StatementKind<'a>> {
        self.symbol("[")?;
        let element = self.element_type()?;
        let mut extents = Vec::new();
        while self.takes("*") {
            extents.push(self.primary()?);
        }
        self.symbol("]")?;
        // Where it is, such as `in Stack`, is of no interest.
        while matches!(self.peek(), Token::Name("in" | "custom_new")) {
            self.advance();
            self.advance();
        }
        // Nor is a condition: where it is false, nothing is stored or read. The next may also be a statement.
        let next = self.next;
        if self.peek() == Token::Name("if") {
            self.advance();
            self.expression()?;
            if self.peek() == Token::Symbol("{") {
                self.next = next;
            }
        }
        Ok(StatementKind::Allocate { name, element, extents })
    }

    fn element_type(&mut self) -> Result<Type> {
        let (name, span) = self.name("a type")?;
        match type_name(name) {
            TypeName::Known(element) => Ok(element),
            TypeName::Foreign(reason) => Err(Fault::new(span, format!("the type `{name}`")).with_help(reason)),
            TypeName::None => Err(Fault::new(span, format!("expected a type, found `{name}`"))),
        }
    }

    fn for_loop(&mut self) -> Result<StatementKind<'a>> {
        let unrolled = self.peek() == Token::Name("unrolled");
        self.advance();
        self.symbol("(")?;
        let (variable, _) = self.name("a loop variable")?;
        self.symbol(",")?;
        let first = self.expression()?;
        self.symbol(",")?;
        let extent = self.expression()?;
        self.symbol(")")?;
        Ok(StatementKind::For { variable, first, extent, unrolled, body: self.block()? })
    }

    fn choice(&mut self) -> Result<StatementKind<'a>> {
        self.advance();
        self.symbol("(")?;
        let condition = self.expression()?;
        self.symbol(")")?;
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.peek() == Token::Name("else") {
            self.advance();
            otherwise = match self.peek() {
                Token::Name("if") => self.nested(Self::statement)?.into_iter().collect(),
                _ => self.block()?,
            };
        }
        Ok(StatementKind::If { condition, then, otherwise })
    }

    fn index(&mut self) -> Result<Expression<'a>> {
        self.symbol("[")?;
        let index = self.expression()?;
        self.symbol("]")?;
        Ok(index)
    }

    fn expression(&mut self) -> Result<Expression<'a>> {
        self.nested(|parser| parser.operators(0))
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn operators(&mut self, least: u8) -> Result<Expression<'a>> {
        let mut left = self.primary()?;
        while let Token::Symbol(symbol) = self.peek()
            && let Some((operator, precedence)) = binary(symbol)
            && precedence >= least
        {
            self.advance();
            let right = self.operators(precedence + 1)?;
            let span = left.span.to(right.span);
            left = Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn primary(&mut self) -> Result<Expression<'a>> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Integer(value) => {
                self.advance();
                number(value, Type::I32, start)?
            }
            Token::Symbol("-") => {
                self.advance();
                match self.peek() {
                    Token::Integer(value) => {
                        self.advance();
                        number(-value, Type::I32, start)?
                    }
                    _ => ExpressionKind::Negate(Box::new(self.nested(Self::primary)?)),
                }
            }
            Token::Symbol("!") => {
                self.advance();
                ExpressionKind::Not(Box::new(self.nested(Self::primary)?))
            }
            Token::Symbol("(") => return self.parenthesis(),
            Token::Name("let") if matches!(self.peek_at(1), Token::Name(_)) => {
                self.advance();
                let (name, _) = self.name("a name")?;
                self.symbol("=")?;
                let value = Box::new(self.expression()?);
                self.word("in")?;
                ExpressionKind::Let { name, value, body: Box::new(self.expression()?) }
            }
            Token::Name(name) => self.named(name)?,
            _ => return Err(self.unexpected("an operand")),
        };
        Ok(Expression { kind, span: start.to(self.last()) })
    }

    /// A term that begins with a parenthesis: a type and its literal or call, or an expression.
    fn parenthesis(&mut self) -> Result<Expression<'a>> {
        let start = self.span();
        let typed = match (self.peek_at(1), self.peek_at(2)) {
            (Token::Name(name), Token::Symbol(")")) if !matches!(type_name(name), TypeName::None) => true,
            // A pointer.
            (Token::Name(name), Token::Symbol("*")) => name == "void",
            _ => false,
        };
        self.advance();
        if !typed {
            let inner = self.expression()?;
            self.symbol(")")?;
            return Ok(Expression { span: start.to(self.last()), ..inner });
        }
        let value = self.element_type()?;
        self.symbol(")")?;
        let negative = self.takes("-");
        let place = self.span();
        let kind = match self.peek() {
            Token::Integer(number_here) => {
                self.advance();
                number(if negative { -number_here } else { number_here }, value, place)?
            }
            Token::Name(name) if !negative && self.peek_at(1) == Token::Symbol("(") => {
                check_call(name, self.advance())?;
                ExpressionKind::Call { name, value: Some(value), arguments: self.arguments()? }
            }
            _ => return Err(self.unexpected("a number or a call")),
        };
        Ok(Expression { kind, span: start.to(self.last()) })
    }

    fn named(&mut self, name: &'a str) -> Result<ExpressionKind<'a>> {
        let span = self.advance();
        match (self.peek(), type_name(name)) {
            (Token::Symbol("("), TypeName::Known(value)) => {
                self.advance();
                let operand = Box::new(self.expression()?);
                self.symbol(")")?;
                Ok(ExpressionKind::Cast(value, operand))
            }
            (Token::Symbol("("), TypeName::Foreign(reason)) => {
                Err(Fault::new(span, format!("the type `{name}`")).with_help(reason))
            }
            (Token::Symbol("("), TypeName::None) => {
                check_call(name, span)?;
                Ok(ExpressionKind::Call { name, value: None, arguments: self.arguments()? })
            }
            (Token::Symbol("["), _) => {
                let index = self.index()?;
                match self.peek() {
                    Token::Name("if") => Err(self.unexpected("an operator").with_help("a predicated load is for CPUs")),
                    _ => Ok(ExpressionKind::Element(name, Box::new(index))),
                }
            }
            _ => Ok(ExpressionKind::Name(name)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expression<'a>>> {
        self.symbol("(")?;
        let mut arguments = Vec::new();
        while self.peek() != Token::Symbol(")") {
            arguments.push(self.expression()?);
            if !self.takes(",") {
                break;
            }
        }
        self.symbol(")")?;
        Ok(arguments)
    }
}

fn number<'a>(value: i64, element: Type, span: Span) -> Result<ExpressionKind<'a>> {
    match element.holds(value) {
        true => Ok(ExpressionKind::Number(value, element)),
        false => Err(Fault::new(span, format!("{value} does not fit {}", element.name()))),
    }
}

fn binary(symbol: &str) -> Option<(Binary, u8)> {
    Some(match symbol {
        "||" => (Binary::Or, 1),
        "&&" => (Binary::And, 2),
        "==" => (Binary::Equal, 3),
        "!=" => (Binary::NotEqual, 3),
        "<" => (Binary::Less, 3),
        "<=" => (Binary::LessEqual, 3),
        ">" => (Binary::Greater, 3),
        ">=" => (Binary::GreaterEqual, 3),
        "+" => (Binary::Add, 8),
        "-" => (Binary::Subtract, 8),
        "*" => (Binary::Multiply, 9),
        "/" => (Binary::Divide, 9),
        "%" => (Binary::Modulo, 9),
        _ => return None,
    })
}
