//! From text to tokens.

use crate::source::{PlacedText, Problem, Span};
use crate::types::Type;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Integer {
        value: i64,
        suffix: Option<Type>,
    },
    /// A number with a fraction: the word of the bfloat16 number nearest to it.
    Decimal {
        text: String,
        word: u16,
    },
    Symbol(&'static str),
    /// After the last token.
    End,
}

/// Longer symbols first, so that `<<` is not read as two `<`.
const SYMBOLS: [&str; 30] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "..", "+", "-", "*", "/", "%", "&", "|", "^",
    "!", "<", ">", "=", "(", ")", "[", "]", ",", ".",
];

/// The largest integer that some type holds.
const LARGEST: i64 = u32::MAX as i64;

/// The tokens with their places; the last is [`Token::End`].
pub(crate) fn tokens(placed: &PlacedText) -> Result<Vec<(Token, Span)>, Problem> {
    let text = placed.text();
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let rest = &text[start..];
        let length_while = |wanted: fn(char) -> bool| rest.find(|character| !wanted(character)).unwrap_or(rest.len());
        let (token, length) = if first.is_ascii_digit() {
            let length = length_while(|character| character.is_alphanumeric() || character == '_');
            match fraction(&rest[length..]) {
                Some(fraction) => {
                    let length = length + fraction;
                    (decimal(&rest[..length], placed.span(start, start + length))?, length)
                }
                None => (integer(&rest[..length], placed.span(start, start + length))?, length),
            }
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_while(|character| character.is_ascii_alphanumeric() || character == '_');
            (Token::Name(rest[..length].to_owned()), length)
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            let span = placed.span(start, start + first.len_utf8());
            let problem = Problem::new(span, format!("unexpected character `{}`", first.escape_debug()));
            return Err(match first {
                '?' => problem.with_help("a choice is written `sel(condition, a, b)`"),
                _ => problem,
            });
        };
        tokens.push((token, placed.span(start, start + length)));
        start += length;
    }
    tokens.push((Token::End, placed.span(text.len(), text.len())));
    Ok(tokens)
}

/// The length of what makes a number one with a fraction: a point and digits. Two points are those of a range.
fn fraction(rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix('.')?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let length = digits.find(|character: char| !is_part(character)).unwrap_or(digits.len());
    digits.starts_with(|first: char| first.is_ascii_digit()).then_some(1 + length)
}

fn decimal(text: &str, span: Span) -> Result<Token, Problem> {
    // The type may stand behind it, as behind integers, though there is but one.
    let number = text.strip_suffix(Type::Bf16.name()).unwrap_or(text).replace('_', "");
    if !number.chars().all(|digit| digit.is_ascii_digit() || digit == '.') {
        let problem = Problem::new(span, format!("`{text}` is not a number"));
        return Err(problem
            .with_help("a number with a fraction is digits, a point and digits, as in `0.25`: it is of type bf16"));
    }
    let word = pushmem_bfloat::from_decimal(&number);
    if word >= pushmem_bfloat::INFINITY {
        let largest = pushmem_bfloat::to_decimal(pushmem_bfloat::INFINITY - 1).unwrap_or_default();
        return Err(Problem::new(span, format!("`{text}` is too large"))
            .with_help(format!("the largest number of bf16 is {largest}")));
    }
    Ok(Token::Decimal { text: text.to_owned(), word })
}

fn integer(text: &str, span: Span) -> Result<Token, Problem> {
    let malformed = || {
        Problem::new(span, format!("`{text}` is not an integer"))
            .with_help("integers are decimal, or hexadecimal after `0x`, and may end in a type, as in `3u16`")
    };
    if let Some(number) = text.strip_suffix(Type::Bf16.name())
        && !number.starts_with("0x")
    {
        let problem = Problem::new(span, format!("`{text}` is not an integer"));
        return Err(problem.with_help(format!("write `{number}.0`: numbers with a fraction are of type bf16")));
    }
    // `u` is no digit, and `i` neither, so that the suffix starts at the first of them; of hexadecimal numbers, too.
    let (number, suffix) = match text.find(['u', 'i']) {
        Some(place) => (&text[..place], Some(&text[place..])),
        None => (text, None),
    };
    let suffix = match suffix {
        None => None,
        Some(name) => Some(Type::from_name(name).ok_or_else(malformed)?),
    };
    let digits = number.replace('_', "");
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits.as_str(), 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(malformed());
    }
    match i64::from_str_radix(digits, radix) {
        Ok(value) if value <= LARGEST => Ok(Token::Integer { value, suffix }),
        _ => {
            Err(Problem::new(span, format!("`{text}` is too large"))
                .with_help(format!("the largest integer is {LARGEST}")))
        }
    }
}
