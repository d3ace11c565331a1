//! From tokens to trees.

use crate::lexer::{Token, tokens};
use crate::operators::Binary;
use crate::program::Share;
use crate::source::{PlacedText, Problem, Span};
use crate::syntax::{Header, Kind, Name, Statement, Syntax};
use crate::types::Type;

/// The deepest nesting of parentheses, brackets and unary operators.
const DEEPEST_NESTING: usize = 50;

/// Words that are no names of arrays, tables and loop variables.
pub(crate) const RESERVED: &[&str] = &[
    "for", "in", "unroll", "as", "true", "false", "min", "max", "abs", "absd", "clamp", "sel", "mirror", "outside",
    "u8", "i8", "u16", "i16", "u32", "i32", "bf16", "f16", "bool",
];

/// Whether a word is one of the language, and cannot be the name of an array, a table or a loop variable.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Reads `target[indices] = value` or `target[indices] += value`, which computes with these named values and shares this unit.
pub(crate) fn statement(
    placed: &PlacedText,
    known: Known,
    values: Vec<(Name, Syntax)>,
    share: Option<Share>,
) -> Result<Statement, Problem> {
    let mut parser = Parser::new(placed, known, &values)?;
    let start = parser.span();
    if parser.peek() == &Token::Name("for".to_owned()) {
        return Err(Problem::new(start, "a loop without a body")
            .with_help("write `for x in 0..64:` with a colon, and the statements as a list below"));
    }
    let help = "a statement is `array[indices] = expression` or `array[indices] += expression`";
    let name = parser.name("the name of an array").map_err(|problem| problem.or_help(help))?;
    let is_scalar = parser.peek() == &Token::Symbol("=");
    parser.expect("[").map_err(|problem| problem.or_help(if is_scalar { LOCAL_VALUE } else { help }))?;
    let indices = parser.list("]", 0)?;
    parser.refuse_second_brackets()?;
    let target = Syntax::new(Kind::Element(name, indices), start.to(parser.last()));
    let reduce = match parser.peek() {
        Token::Symbol("=") => false,
        Token::Symbol("+=") => true,
        _ => return Err(parser.unexpected("`=` or `+=`").or_help(help)),
    };
    parser.advance();
    let value = parser.expression(0)?;
    let span = start.to(value.span);
    parser.end()?;
    Ok(Statement { target, reduce, value, values, share, span })
}

/// Reads the expression of a named value, which computes with those before it.
pub(crate) fn value(placed: &PlacedText, known: Known, before: &[(Name, Syntax)]) -> Result<Syntax, Problem> {
    let mut parser = Parser::new(placed, known, before)?;
    let value = parser.expression(0)?;
    parser.end()?;
    Ok(value)
}

/// Reads `for variable in start..end`, perhaps with `step distance` and `unroll factor`.
pub(crate) fn header(placed: &PlacedText, known: Known) -> Result<Header, Problem> {
    read_header(placed, known)
        .map_err(|problem| problem.or_help("a loop is written `for x in 0..64:` or `for x in 0..64 step 2 unroll 4:`"))
}

fn read_header(placed: &PlacedText, known: Known) -> Result<Header, Problem> {
    let mut parser = Parser::new(placed, known, &[])?;
    let start = parser.span();
    let is_element = matches!(parser.tokens[..], [(Token::Name(_), _), (Token::Symbol("["), _), ..]);
    parser.word("for").map_err(|problem| match is_element {
        true => problem.with_help(
            "a colon and a space make a loop of a line; statements have none: a choice is `sel(condition, a, b)`",
        ),
        false => problem,
    })?;
    let variable = parser.name("the loop variable")?;
    parser.word("in")?;
    let first = parser.expression(0)?;
    parser.expect("..")?;
    if parser.peek() == &Token::Symbol("=") {
        return Err(parser
            .unexpected("an operand")
            .with_help("the end is not part of the loop: `0..64` runs 64 times"));
    }
    let end = parser.expression(0)?;
    let mut after = |wanted: &str| match parser.peek() {
        Token::Name(word) if word == wanted => {
            parser.advance();
            parser.expression(0).map(Some)
        }
        _ => Ok(None),
    };
    let (step, unroll) = (after("step")?, after("unroll")?);
    parser.end()?;
    let span = start.to(parser.last());
    Ok(Header { variable, start: first, end, step, unroll, span })
}

/// Names that expressions stand for, wherever they are used: constants of the program, and variables of loops with a step.
pub(crate) type Known<'a> = &'a [(Name, Syntax)];

/// Refuses a name that stands for a tree already.
pub(crate) fn refuse_known(name: &Name, known: Known) -> Result<(), Problem> {
    if !known.iter().any(|(known, _)| known.text == name.text) {
        return Ok(());
    }
    Err(Problem::new(name.span, format!("`{}` has a meaning already", name.text)).with_help("rename one of the two"))
}

const LOCAL_VALUE: &str =
    "a value with a name stands below its statement: `- a[x] = t * t:`, and there `where: {t: b[x] + 1}`";

/// Words and symbols of other languages, each with the form of this one.
const FOREIGN: [(&str, &str); 10] = [
    ("if", "a choice is a value, `sel(condition, a, b)`; a part of an array has loops of its own"),
    ("else", "a choice is a value, `sel(condition, a, b)`"),
    ("let", LOCAL_VALUE),
    ("var", LOCAL_VALUE),
    ("const", "constants stand at the top of the file: `constants: {W: 64}`"),
    ("and", "both conditions are `a && b`"),
    ("or", "one of two conditions is `a || b`"),
    ("not", "the opposite of a condition is `!a`"),
    ("**", "a power is a product: `a[x] * a[x]`"),
    ("//", "the quotient of integers is `a / b`, rounded down"),
];

/// The help for a word or a symbol of another language.
pub(crate) fn instead_of(foreign: &str) -> Option<&'static str> {
    FOREIGN.into_iter().find(|(word, _)| *word == foreign).map(|(_, help)| help)
}

struct Parser<'a> {
    tokens: Vec<(Token, Span)>,
    next: usize,
    /// Trees that take the place of names.
    known: Known<'a>,
    /// The values that names stand for, whose trees are parts of those that are read.
    values: &'a [(Name, Syntax)],
}

impl<'a> Parser<'a> {
    fn new(placed: &PlacedText, known: Known<'a>, values: &'a [(Name, Syntax)]) -> Result<Self, Problem> {
        Ok(Self { tokens: tokens(placed)?, next: 0, known, values })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1
    }

    /// The place of the token before.
    fn last(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].1
    }

    /// Takes the next token. [`Token::End`] is never taken.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        span
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Integer { value, .. } => format!("`{value}`"),
            Token::Decimal { text, .. } => format!("`{text}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".to_owned(),
        };
        let problem = Problem::new(self.span(), format!("expected {expected}, found {found}"));
        let (found, before) = (self.peek(), self.next.checked_sub(1).map(|before| &self.tokens[before].0));
        let word = |token: &Token| if let Token::Name(word) = token { instead_of(word) } else { None };
        let twice = || match found {
            Token::Symbol(symbol) if before == Some(found) => instead_of(&symbol.repeat(2)),
            _ => None,
        };
        match word(found).or_else(|| before.and_then(word)).or_else(twice) {
            Some(help) => problem.with_help(help),
            None => problem,
        }
    }

    /// Refuses the brackets of a further dimension.
    fn refuse_second_brackets(&self) -> Result<(), Problem> {
        if self.peek() != &Token::Symbol("[") {
            return Ok(());
        }
        let help = "all indices stand in one pair of brackets, innermost first: `image[x, y]`";
        Err(self.unexpected("an operator").with_help(help))
    }

    fn expect(&mut self, symbol: &'static str) -> Result<Span, Problem> {
        if self.peek() == &Token::Symbol(symbol) {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{symbol}`")))
        }
    }

    fn word(&mut self, wanted: &str) -> Result<(), Problem> {
        match self.peek() {
            Token::Name(word) if word == wanted => {
                self.advance();
                Ok(())
            }
            _ => Err(self.unexpected(&format!("`{wanted}`"))),
        }
    }

    fn name(&mut self, what: &str) -> Result<Name, Problem> {
        match self.peek() {
            Token::Name(text) if !RESERVED.contains(&text.as_str()) => {
                let text = text.clone();
                Ok(Name { text, span: self.advance() })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn end(&self) -> Result<(), Problem> {
        if self.peek() == &Token::End { Ok(()) } else { Err(self.unexpected("an operator or the end")) }
    }

    /// Expressions between commas, and the closing symbol.
    fn list(&mut self, close: &'static str, nesting: usize) -> Result<Vec<Syntax>, Problem> {
        let mut elements = Vec::new();
        if self.peek() == &Token::Symbol(close) {
            self.advance();
            return Ok(elements);
        }
        loop {
            elements.push(self.nested(0, nesting)?);
            match self.peek() {
                Token::Symbol(",") => self.advance(),
                Token::Symbol(symbol) if *symbol == close => {
                    self.advance();
                    return Ok(elements);
                }
                _ => return Err(self.unexpected(&format!("an operator, `,` or `{close}`"))),
            };
        }
    }

    fn expression(&mut self, nesting: usize) -> Result<Syntax, Problem> {
        self.nested(0, nesting)
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn nested(&mut self, least: u8, nesting: usize) -> Result<Syntax, Problem> {
        let mut left = self.unary(nesting)?;
        let mut left_compares = false;
        loop {
            let Token::Symbol(symbol) = self.peek() else { return Ok(left) };
            let (kind, operator, precedence): (OfTwo, _, _) = match (*symbol, binary(symbol)) {
                ("&&", _) => (Kind::Logical, Binary::And, 2),
                ("||", _) => (Kind::Logical, Binary::Or, 1),
                (_, Some((operator, precedence))) => (Kind::Binary, operator, precedence),
                (_, None) => return Ok(left),
            };
            if precedence < least {
                return Ok(left);
            }
            let place = self.advance();
            let right = self.nested(precedence + 1, nesting)?;
            let compares = operator.is_comparison();
            if compares && left_compares {
                return Err(Problem::new(place, "comparisons cannot be chained")
                    .with_help("use parentheses, or `&&` between two comparisons"));
            }
            left_compares = compares;
            let span = left.span.to(right.span);
            left = Syntax::new(kind(operator, Box::new(left), Box::new(right)), span).limited()?;
        }
    }

    /// An operand with the unary operators before it and the casts after it.
    fn unary(&mut self, nesting: usize) -> Result<Syntax, Problem> {
        let mut operand = self.prefixed(nesting)?;
        while let Token::Name(word) = self.peek()
            && word == "as"
        {
            self.advance();
            let target = match self.peek() {
                Token::Name(name) => Type::of_name(name),
                _ => None,
            };
            let Some(target) = target else {
                let name = if let Token::Name(name) = self.peek() { name.as_str() } else { "" };
                return Err(self.unexpected("a type").with_help(Type::instead_of(name, Type::ELEMENTS)));
            };
            let span = operand.span.to(self.advance());
            operand = operand.cast(target, span).limited()?;
        }
        Ok(operand)
    }

    fn prefixed(&mut self, nesting: usize) -> Result<Syntax, Problem> {
        let negate = match self.peek() {
            Token::Symbol("-") => true,
            Token::Symbol("!") => false,
            _ => return self.primary(nesting),
        };
        let start = self.advance();
        let operand = self.prefixed(self.deeper(nesting)?)?;
        let span = start.to(operand.span);
        match negate {
            true => operand.negated(span),
            false => Syntax::new(Kind::Not(Box::new(operand)), span),
        }
        .limited()
    }

    fn deeper(&self, nesting: usize) -> Result<usize, Problem> {
        if nesting < DEEPEST_NESTING {
            return Ok(nesting + 1);
        }
        Err(Problem::new(self.span(), format!("nested deeper than {DEEPEST_NESTING} parentheses"))
            .with_help("give a part of the expression a name by `where`, or store it in a buffer"))
    }

    fn primary(&mut self, nesting: usize) -> Result<Syntax, Problem> {
        let start = self.span();
        match self.peek().clone() {
            Token::Integer { value, suffix } => {
                self.advance();
                Ok(Syntax::new(Kind::Integer(value, suffix), start))
            }
            Token::Decimal { number, suffix, .. } => {
                self.advance();
                Ok(Syntax::new(Kind::Decimal(number, suffix), start))
            }
            Token::Symbol("(") => {
                self.advance();
                let mut inner = self.nested(0, self.deeper(nesting)?)?;
                if self.peek() != &Token::Symbol(")") {
                    return Err(self.unexpected("an operator or `)`"));
                }
                inner.span = start.to(self.advance());
                Ok(inner)
            }
            Token::Name(word) if word == "true" || word == "false" => {
                self.advance();
                Ok(Syntax::new(Kind::Boolean(word == "true"), start))
            }
            Token::Name(text) => {
                let name = Name { text, span: self.advance() };
                let (close, element) = match self.peek() {
                    Token::Symbol("[") => ("]", true),
                    Token::Symbol("(") => (")", false),
                    _ if RESERVED.contains(&name.text.as_str()) => {
                        let message = format!("expected an operand, found `{}`", name.text);
                        return Err(Problem::new(name.span, message));
                    }
                    _ if let Some((_, tree)) = self.known.iter().rfind(|(known, _)| known.text == name.text) => {
                        return Ok(tree.at(start));
                    }
                    _ => {
                        let value = self.values.iter().find(|(value, _)| value.text == name.text);
                        return Ok(match value {
                            Some((_, value)) => Syntax::named(&name.text, value, start),
                            None => Syntax::variable(&name.text, start),
                        });
                    }
                };
                self.advance();
                let parts = self.list(close, self.deeper(nesting)?)?;
                if element {
                    self.refuse_second_brackets()?;
                }
                let span = start.to(self.last());
                let kind = if element { Kind::Element(name, parts) } else { Kind::Call(name, parts) };
                Syntax::new(kind, span).limited()
            }
            _ => Err(self.unexpected("an operand")),
        }
    }
}

/// The tree of an operator of two operands.
type OfTwo = fn(Binary, Box<Syntax>, Box<Syntax>) -> Kind;

fn binary(symbol: &str) -> Option<(Binary, u8)> {
    let operator = Binary::OF_INTEGERS.into_iter().find(|operator| operator.symbol() == symbol)?;
    Some((operator, operator.precedence()?))
}
