//! Values of scalars: integers, numbers with a fraction, truth values and texts.

use std::fmt::Display;

use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{VariantDeserializer, describe_scalar, expected_keys};
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

pub(super) fn mismatch(expected: impl Display, found: impl Display) -> Finding {
    Finding::new(format!("expected {expected}, found {found}"))
}

/// Deserializes single values. Errors are without a place: the callers know it.
#[derive(Clone, Copy)]
pub(super) struct ScalarDeserializer<'a> {
    pub scalar: &'a Scalar,
}

impl ScalarDeserializer<'_> {
    fn mismatch(&self, expected: impl Display) -> Finding {
        mismatch(expected, describe_scalar(self.scalar))
    }

    /// An integer of a type with the values from `least` to `greatest`.
    pub fn integer<T: TryFrom<i128> + Display>(self, least: T, greatest: T) -> Result<T, Finding> {
        let text = &self.scalar.text;
        let number = if self.scalar.plain { parse_integer(text) } else { None };
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

    fn float(self) -> Result<f64, Finding> {
        let number = if self.scalar.plain { parse_float(&self.scalar.text) } else { None };
        number.ok_or_else(|| self.mismatch("a number"))
    }
}

macro_rules! deserialize_integers {
    ($($type:ident $deserialize:ident $visit:ident),*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
            visitor.$visit(self.integer($type::MIN, $type::MAX)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for ScalarDeserializer<'_> {
    type Error = Finding;

    deserialize_integers! {
        u8 deserialize_u8 visit_u8, u16 deserialize_u16 visit_u16,
        u32 deserialize_u32 visit_u32, u64 deserialize_u64 visit_u64,
        i8 deserialize_i8 visit_i8, i16 deserialize_i16 visit_i16,
        i32 deserialize_i32 visit_i32, i64 deserialize_i64 visit_i64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_f64(self.float()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_f64(self.float()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        let value = if self.scalar.plain { parse_bool(&self.scalar.text) } else { None };
        visitor.visit_bool(value.ok_or_else(|| self.mismatch("`true` or `false`"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_str(&self.scalar.text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_str(&self.scalar.text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Finding> {
        Err(self.mismatch("a list").with_help("a list is written `[a, b]`"))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, _visitor: V) -> Result<V::Value, Finding> {
        let help = "a list is written `[a, b]`";
        Err(self.mismatch(format!("a list of {length} elements")).with_help(help))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Finding> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Finding> {
        Err(self.mismatch("a mapping").with_help("a mapping consists of lines `key: value`"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        keys: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Finding> {
        Err(expected_keys(describe_scalar(self.scalar), keys))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Finding> {
        visitor.visit_enum(VariantDeserializer { scalar: self.scalar, contents: None })
    }

    /// The type does not say what it wants: a plain scalar means what it looks like.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        let text = &self.scalar.text;
        if !self.scalar.plain {
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

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct ignored_any }
}
