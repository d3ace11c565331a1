//! From text to tokens.

use pushmem_nest::Span;

use crate::fault::{Fault, Result};

/// The remedy for numbers with a fraction.
pub(crate) const NO_NUMBERS: &str = "a statement has integers only: write the pipeline before lowering, to a file `.hlpipe`, whose numbers may be of bfloat16";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Names have points and dollar signs in them: `blur$1.s0.x`.
    Name(&'a str),
    Integer(i64),
    Symbol(&'static str),
    /// A text in quotation marks, which only calls have that are refused.
    Text,
    /// After the last token.
    End,
}

/// Longer symbols first.
const SYMBOLS: [&str; 27] = [
    "<=", ">=", "==", "!=", "&&", "||", "...", "+", "-", "*", "/", "%", "!", "<", ">", "=", "(", ")", "[", "]", "{",
    "}", ",", ":", "&", "|", "^",
];

/// The tokens with their places; the last is [`Token::End`]. Lines that begin with `//` are left out.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            start += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let length_while = |wanted: fn(char) -> bool| rest.find(|other| !wanted(other)).unwrap_or(rest.len());
        let is_part = |other: char| other.is_ascii_alphanumeric() || matches!(other, '_' | '$' | '.');
        let (token, length) = if first.is_ascii_digit() {
            let length = length_while(is_part);
            (integer(&rest[..length], Span { start, end: start + length })?, length)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_while(is_part);
            (Token::Name(&rest[..length]), length)
        } else if let Some(length) = quoted(rest) {
            (Token::Text, length)
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            let span = Span { start, end: start + first.len_utf8() };
            return Err(Fault::new(span, format!("unexpected character `{}`", first.escape_debug())));
        };
        tokens.push((token, Span { start, end: start + length }));
        start += length;
    }
    tokens.push((Token::End, Span { start: text.len(), end: text.len() }));
    Ok(tokens)
}

/// The length of the text in quotation marks that is first, if there is one.
fn quoted(rest: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = rest.strip_prefix('"')?.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}

fn integer(text: &str, span: Span) -> Result<Token<'_>> {
    if let Ok(value) = text.parse() {
        return Ok(Token::Integer(value));
    }
    let fault = Fault::new(span, format!("`{text}` is not an integer"));
    let is_floating = text.contains('.') || text.ends_with('f');
    Err(if is_floating { fault.with_help(NO_NUMBERS) } else { fault })
}
