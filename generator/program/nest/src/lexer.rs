//! From text to tokens.

use pushmem_float::{Format, parse_decimal};

use crate::source::{PlacedText, Problem, Span};
use crate::types::Type;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Integer {
        value: i64,
        suffix: Option<Type>,
    },
    /// A number with a fraction, which each format rounds as the decimal.
    Decimal {
        text: String,
        number: f64,
        suffix: Option<Format>,
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
                ':' => problem.with_help("a loop over each second value is `for x in 0..64 step 2:`"),
                '{' | '}' => {
                    problem.with_help("a choice is written `sel(condition, a, b)`, and a body is a list below its loop")
                }
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

/// The text before the name of a format, and the format.
fn without_format(text: &str) -> Option<(&str, Format)> {
    Format::ALL.into_iter().find_map(|format| Some((text.strip_suffix(format.name())?, format)))
}

fn decimal(text: &str, span: Span) -> Result<Token, Problem> {
    // The type may stand behind it, as behind integers.
    let (number, suffix) = without_format(text).map_or((text, None), |(number, format)| (number, Some(format)));
    let number = number.replace('_', "");
    if !number.chars().all(|digit| digit.is_ascii_digit() || digit == '.') {
        let problem = Problem::new(span, format!("`{text}` is not a number"));
        let help = "a number with a fraction is digits, a point and digits, as in `0.25`, and may end in bf16 or f16";
        return Err(problem.with_help(help));
    }
    let number = parse_decimal(&number);
    // Of bfloat16 are the largest numbers there are.
    let format = suffix.unwrap_or(Format::Bfloat16);
    if !format.is_finite(format.from_f64(number)) {
        let largest = format.to_decimal(format.largest()).unwrap_or_default();
        return Err(Problem::new(span, format!("`{text}` is too large"))
            .with_help(format!("the largest number of {} is {largest}", format.name())));
    }
    Ok(Token::Decimal { text: text.to_owned(), number, suffix })
}

fn integer(text: &str, span: Span) -> Result<Token, Problem> {
    let malformed = || {
        Problem::new(span, format!("`{text}` is not an integer"))
            .with_help("integers are decimal, or hexadecimal after `0x`, and may end in a type, as in `3u16`")
    };
    if let Some((number, format)) = without_format(text)
        && !number.starts_with("0x")
    {
        let problem = Problem::new(span, format!("`{text}` is not an integer"));
        let suffix = if format == Format::Bfloat16 { "" } else { format.name() };
        return Err(
            problem.with_help(format!("write `{number}.0{suffix}`: numbers of {} have a fraction", format.name()))
        );
    }
    // `u` is no digit, and `i` neither, so that the suffix starts at the first of them; of hexadecimal numbers, too.
    let (number, suffix) = match text.find(['u', 'i']) {
        Some(place) => (&text[..place], Some(&text[place..])),
        None => (text, None),
    };
    let suffix = match suffix {
        None => None,
        Some(name) => Some(Type::of_name(name).ok_or_else(malformed)?),
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
