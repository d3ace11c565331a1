//! Values of scalars: integers, numbers with a fraction, truth values and texts.

use std::fmt::Display;

use serde::de::Visitor;

use super::{describe_scalar, mismatch};
use crate::node::{Finding, Scalar};

/// A plain scalar, read as an integer.
enum Integer {
    Value(i128),
    /// Digits, but more than any type holds.
    TooLarge,
}

fn parse_integer(text: &str) -> Option<Integer> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match unsigned.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, unsigned),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix);
    Some(value.map_or(Integer::TooLarge, |value| Integer::Value(sign * value)))
}

/// Finite decimal fractions; Rust would also read `inf`, `nan` and the like.
fn parse_float(text: &str) -> Option<f64> {
    let looks_like_number =
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let value = looks_like_number.then(|| text.parse::<f64>().ok())??;
    value.is_finite().then_some(value)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Errors are without a place: the callers know it.
impl Scalar {
    pub(super) fn mismatch(&self, expected: impl Display) -> Finding {
        mismatch(expected, describe_scalar(self))
    }

    /// An integer of a type with the values from `least` to `greatest`.
    pub(super) fn integer<T: TryFrom<i128> + Display>(&self, least: T, greatest: T) -> Result<T, Finding> {
        let text = &self.text;
        let number = if self.plain { parse_integer(text) } else { None };
        let value = match number {
            Some(Integer::Value(value)) => T::try_from(value).ok(),
            _ => None,
        };
        value.ok_or_else(|| {
            let expected = format!("an integer from {least} to {greatest}");
            let finding = self.mismatch(expected);
            if number.is_some() {
                return finding;
            }
            let without_underscores = text.replace('_', "");
            if parse_integer(text).is_some() {
                finding.with_help("remove the quotes")
            } else if parse_integer(&without_underscores).is_some() {
                finding.with_help(format!("write `{without_underscores}`"))
            } else {
                finding.with_help("integers are decimal, or hexadecimal after `0x`")
            }
        })
    }

    pub(super) fn float(&self) -> Result<f64, Finding> {
        let number = if self.plain { parse_float(&self.text) } else { None };
        number.ok_or_else(|| self.mismatch("a number"))
    }

    pub(super) fn truth(&self) -> Result<bool, Finding> {
        let value = if self.plain { parse_bool(&self.text) } else { None };
        value.ok_or_else(|| self.mismatch("`true` or `false`"))
    }

    /// The type does not say what it wants: a plain scalar means what it looks like.
    pub(super) fn visit_any<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Finding> {
        let text = &self.text;
        if !self.plain {
            return visitor.visit_str(text);
        }
        if let Some(value) = parse_bool(text) {
            return visitor.visit_bool(value);
        }
        if let Some(Integer::Value(value)) = parse_integer(text) {
            if let Ok(value) = u64::try_from(value) {
                return visitor.visit_u64(value);
            }
            if let Ok(value) = i64::try_from(value) {
                return visitor.visit_i64(value);
            }
        }
        match parse_float(text) {
            Some(value) => visitor.visit_f64(value),
            None => visitor.visit_str(text),
        }
    }
}
