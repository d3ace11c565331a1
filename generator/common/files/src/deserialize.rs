//! From the tree of a document to values, by serde.

mod scalars;

use std::fmt::Display;
use std::ops::Range;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::diagnostic::quoted;
use crate::node::{Content, Finding, Key, Node, Scalar};
use crate::{Code, nearest};

impl std::error::Error for Finding {}

impl Display for Finding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Errors of serde's derived code and of the visitors; the caller adds the place.
impl Error for Finding {
    fn custom<T: Display>(message: T) -> Self {
        Finding::new(message.to_string())
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        Finding::new(format!("expected {expected}, found {}", describe_unexpected(found)))
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Finding::new(format!("expected {expected}, found {length} elements"))
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        Finding::new(format!("unknown key {}", quoted(key)))
            .with_code(Code::UnknownKey)
            .with_help(suggest(key, expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Finding::new(format!("unknown value {}", quoted(variant)))
            .with_code(Code::UnknownName)
            .with_help(suggest(variant, expected))
    }

    fn missing_field(key: &'static str) -> Self {
        Finding::new(format!("the key `{key}` is missing"))
            .with_code(Code::MissingKey)
            .with_label("in this mapping")
            .with_help(format!("add `{key}: …`"))
    }

    fn duplicate_field(key: &'static str) -> Self {
        Finding::new(format!("the key `{key}` stands here twice, under different names"))
    }
}

fn suggest(word: &str, expected: &[&str]) -> String {
    let list = match expected {
        [] => return "nothing is allowed here".to_owned(),
        [only] => format!("expected `{only}`"),
        _ => format!("expected one of `{}`", expected.join("`, `")),
    };
    match nearest(word, expected.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`? {list}"),
        None => list,
    }
}

fn describe_unexpected(found: Unexpected) -> String {
    match found {
        Unexpected::Str(text) => quoted(text),
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value}`"),
        Unexpected::Map => "a mapping".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        other => other.to_string(),
    }
}

fn describe(value: Value) -> String {
    match value {
        Value::Mapping(_) => "a mapping".to_owned(),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Scalar(scalar) => describe_scalar(scalar),
    }
}

fn describe_scalar(scalar: &Scalar) -> String {
    if scalar.plain { quoted(&scalar.text) } else { format!("the text {}", quoted(&scalar.text)) }
}

fn mismatch(expected: impl Display, found: impl Display) -> Finding {
    Finding::new(format!("expected {expected}, found {found}"))
}

/// The contents of a node or of a key.
#[derive(Clone, Copy)]
enum Value<'a> {
    Scalar(&'a Scalar),
    Sequence(&'a [Node]),
    Mapping(&'a [(Key, Node)]),
}

/// Deserializes any node, or a key; its errors have a place.
#[derive(Clone, Copy)]
pub(crate) struct NodeDeserializer<'a> {
    span: &'a Range<usize>,
    value: Value<'a>,
}

/// Methods that only integers support.
macro_rules! deserialize_integers {
    ($($type:ident $deserialize:ident $visit:ident),*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
            self.scalar("an integer", |scalar| visitor.$visit(scalar.integer($type::MIN, $type::MAX)?))
        }
    )*};
}

/// Methods that any single value supports, as written.
macro_rules! deserialize_texts {
    ($($deserialize:ident),*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
            self.scalar("text", |scalar| visitor.visit_str(&scalar.text))
        }
    )*};
}

impl<'a> NodeDeserializer<'a> {
    /// That of a node.
    pub fn of(node: &'a Node) -> Self {
        let value = match &node.content {
            Content::Scalar(scalar) => Value::Scalar(scalar),
            Content::Sequence(nodes) => Value::Sequence(nodes),
            Content::Mapping(entries) => Value::Mapping(entries),
        };
        NodeDeserializer { span: &node.span, value }
    }

    fn of_key(key: &'a Key) -> Self {
        NodeDeserializer { span: &key.span, value: Value::Scalar(&key.scalar) }
    }

    /// Adds the place of this node to errors of `read`.
    fn located<T>(self, read: impl FnOnce(Value<'a>) -> Result<T, Finding>) -> Result<T, Finding> {
        read(self.value).map_err(|finding| finding.at(self.span))
    }

    /// Reads a single value; other nodes are a mismatch.
    fn scalar<T>(self, expected: &str, read: impl FnOnce(&'a Scalar) -> Result<T, Finding>) -> Result<T, Finding> {
        self.located(|value| match value {
            Value::Scalar(scalar) => read(scalar),
            _ => Err(mismatch(expected, describe(value))),
        })
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Finding;

    deserialize_integers! {
        u8 deserialize_u8 visit_u8, u16 deserialize_u16 visit_u16,
        u32 deserialize_u32 visit_u32, u64 deserialize_u64 visit_u64,
        i8 deserialize_i8 visit_i8, i16 deserialize_i16 visit_i16,
        i32 deserialize_i32 visit_i32, i64 deserialize_i64 visit_i64
    }
    deserialize_texts! { deserialize_str, deserialize_string, deserialize_char, deserialize_identifier }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.scalar("a number", |scalar| visitor.visit_f64(scalar.float()?))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.scalar("`true` or `false`", |scalar| visitor.visit_bool(scalar.truth()?))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Finding> {
        self.located(|_| visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.located(|value| match value {
            Value::Sequence(nodes) => visit_sequence(nodes, visitor),
            Value::Scalar(scalar) => Err(scalar.mismatch("a list").with_help(LIST)),
            Value::Mapping(_) => Err(mismatch("a list", "a mapping")),
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Finding> {
        self.located(|value| match value {
            Value::Sequence(nodes) if nodes.len() == length => visit_sequence(nodes, visitor),
            Value::Sequence(nodes) => {
                Err(mismatch(format_args!("a list of {length} elements"), format_args!("{} elements", nodes.len())))
            }
            Value::Scalar(scalar) => Err(scalar.mismatch(format_args!("a list of {length} elements")).with_help(LIST)),
            Value::Mapping(_) => Err(mismatch("a list", "a mapping")),
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Finding> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.located(|value| match value {
            Value::Mapping(entries) => visit_mapping(entries, visitor),
            Value::Scalar(scalar) => {
                Err(scalar.mismatch("a mapping").with_help("a mapping consists of lines `key: value`"))
            }
            Value::Sequence(_) => Err(mismatch("a mapping", "a list")),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Finding> {
        self.located(|value| match (value, keys) {
            (Value::Mapping(entries), _) => visit_mapping(entries, visitor),
            (_, []) => Err(mismatch("a mapping", describe(value)).with_help("write `{}`")),
            _ => {
                let help = format!("its keys are `{}`", keys.join("`, `"));
                Err(mismatch("a mapping", describe(value)).with_help(help))
            }
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Finding> {
        self.located(|value| match value {
            Value::Scalar(scalar) => visitor.visit_enum(VariantDeserializer { scalar, contents: None }),
            Value::Mapping([(key, node)]) => {
                let variant = VariantDeserializer { scalar: &key.scalar, contents: Some(node) };
                visitor.visit_enum(variant).map_err(|finding| finding.at(&key.span))
            }
            Value::Mapping(entries) => Err(mismatch("a mapping with one key", format_args!("{} keys", entries.len()))
                .with_help(suggest("", variants))),
            Value::Sequence(_) => Err(mismatch("a single value", "a list").with_help(suggest("", variants))),
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        self.located(|value| match value {
            Value::Scalar(scalar) => scalar.visit_any(visitor),
            Value::Sequence(nodes) => visit_sequence(nodes, visitor),
            Value::Mapping(entries) => visit_mapping(entries, visitor),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Finding> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// How a list is written, for messages.
const LIST: &str = "a list is written `[a, b]`";

fn visit_sequence<'de, V: Visitor<'de>>(nodes: &[Node], visitor: V) -> Result<V::Value, Finding> {
    visitor.visit_seq(Elements { nodes: nodes.iter() })
}

struct Elements<'a> {
    nodes: std::slice::Iter<'a, Node>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Finding;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Finding> {
        let node = self.nodes.next();
        node.map(|node| seed.deserialize(NodeDeserializer::of(node))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.nodes.len())
    }
}

fn visit_mapping<'de, V: Visitor<'de>>(entries: &[(Key, Node)], visitor: V) -> Result<V::Value, Finding> {
    visitor.visit_map(Entries { entries: entries.iter(), value: None })
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    /// The value of the key that was read last.
    value: Option<&'a Node>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Finding;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Finding> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        let key = NodeDeserializer::of_key(key);
        // Also what a type finds wrong after the key was read.
        key.located(|_| seed.deserialize(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Finding> {
        let node = self.value.take().ok_or_else(|| Finding::new("a value was read before its key"))?;
        let value = NodeDeserializer::of(node);
        // Also what a type finds wrong after the value was read.
        value.located(|_| seed.deserialize(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A variant of an enum: its name, and its contents if it is written `name: contents`.
struct VariantDeserializer<'a> {
    scalar: &'a Scalar,
    contents: Option<&'a Node>,
}

impl<'a> VariantDeserializer<'a> {
    fn contents(self) -> Result<NodeDeserializer<'a>, Finding> {
        let name = &self.scalar.text;
        self.contents.map(NodeDeserializer::of).ok_or_else(|| {
            Finding::new(format!("{} needs a value", quoted(name))).with_help(format!("write `{name}: …`"))
        })
    }
}

impl<'de, 'a> EnumAccess<'de> for VariantDeserializer<'a> {
    type Error = Finding;
    type Variant = VariantDeserializer<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Finding> {
        let name: StrDeserializer<Finding> = self.scalar.text.as_str().into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for VariantDeserializer<'_> {
    type Error = Finding;

    fn unit_variant(self) -> Result<(), Finding> {
        match self.contents {
            Some(node) => {
                let name = quoted(&self.scalar.text);
                Err(Finding::new(format!("{name} takes no value")).at(&node.span))
            }
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Finding> {
        seed.deserialize(self.contents()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Finding> {
        self.contents()?.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, keys: &'static [&'static str], visitor: V) -> Result<V::Value, Finding> {
        self.contents()?.deserialize_struct("", keys, visitor)
    }
}
