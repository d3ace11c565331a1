//! The document of a program, before names and types are known.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::program::{Level, Policy};
use crate::types::Type;

/// Reads a type from the scalars, the lists and the mappings that are given, and refuses others: something else is expected.
macro_rules! read_from {
    (
        $type:ident, $expected:expr,
        { $($scalar:ident($value:ident: $of:ty) => $made:expr,)* }
        { $($compound:ident($access:ident: $kind:ident) => $read:expr,)* }
    ) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reading;
                impl<'de> Visitor<'de> for Reading {
                    type Value = $type;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    $(fn $scalar<E: Error>(self, $value: $of) -> Result<$type, E> {
                        Ok($made)
                    })*

                    $(fn $compound<A: $kind<'de>>(self, $access: A) -> Result<$type, A::Error> {
                        $read
                    })*
                }
                deserializer.deserialize_any(Reading)
            }
        }
    };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramFile {
    pub name: String,
    pub schedule: Option<Policy>,
    #[serde(default)]
    pub constants: Ordered<ExpressionFile>,
    #[serde(default)]
    pub inputs: Ordered<ArrayFile>,
    pub outputs: Ordered<ArrayFile>,
    #[serde(default)]
    pub buffers: Ordered<ArrayFile>,
    #[serde(default)]
    pub tables: Ordered<TableFile>,
    pub nest: Nodes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayFile {
    #[serde(rename = "type")]
    pub type_name: String,
    pub shape: Vec<ExpressionFile>,
    pub min: Option<Vec<ExpressionFile>>,
    pub level: Option<Level>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    #[serde(rename = "type")]
    pub type_name: String,
    pub values: Vec<Entry>,
}

/// An entry of a table.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    Integer(i64),
    /// A number with a fraction, or beyond integers.
    Number(f64),
}

impl Entry {
    /// The value of this type, if the type has it.
    pub fn value(self, element: Type) -> Option<i64> {
        let number = match self {
            Entry::Integer(number) if element.format().is_none() => return element.holds(number).then_some(number),
            Entry::Integer(number) => number as f64,
            Entry::Number(number) => number,
        };
        let format = element.format()?;
        let word = format.from_f64(number);
        format.is_finite(word).then_some(word.into())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Integer(number) => number.fmt(formatter),
            Entry::Number(number) => number.fmt(formatter),
        }
    }
}

read_from!(Entry, "a number", {
    visit_i64(number: i64) => Entry::Integer(number),
    visit_u64(number: u64) => i64::try_from(number).map_or(Entry::Number(number as f64), Entry::Integer),
    visit_f64(number: f64) => Entry::Number(number),
} {});

/// A mapping in the order of the file.
pub(super) struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a mapping from names to their contents")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

/// A statement, or loop headers with what is below them. A statement with something to say about it looks like a header.
pub(super) enum NodeFile {
    Statement(String),
    Loops(Vec<(String, Body)>),
}

read_from!(NodeFile, "a statement or a loop", {
    visit_str(text: &str) => NodeFile::Statement(text.to_owned()),
} {
    visit_map(map: MapAccess) => {
        Ordered::deserialize(MapAccessDeserializer::new(map)).map(|Ordered(loops)| NodeFile::Loops(loops))
    },
});

/// The name of a list of loops and statements in messages.
pub(super) const NODES: &str = "a list of loops and statements, each after a dash";

/// Loops and statements.
pub(super) struct Nodes(pub Vec<NodeFile>);

read_from!(Nodes, NODES, {} {
    visit_seq(sequence: SeqAccess) => Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(Nodes),
});

/// The attributes of a statement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attributes {
    /// The compute unit that it shares.
    pub share: Option<String>,
    /// The values that it names, each computed with those before it.
    #[serde(default, rename = "where")]
    pub values: Ordered<ExpressionFile>,
}

/// An expression: text, or a scalar of YAML that is one in the language, too.
pub(super) struct ExpressionFile(pub String);

read_from!(ExpressionFile, "an expression", {
    visit_str(text: &str) => ExpressionFile(text.to_owned()),
    visit_i64(number: i64) => ExpressionFile(number.to_string()),
    visit_u64(number: u64) => ExpressionFile(number.to_string()),
    visit_f64(number: f64) => {
        // The language has a point, and no exponents.
        let text = number.to_string();
        ExpressionFile(if text.contains('.') { text } else { format!("{text}.0") })
    },
    visit_bool(truth: bool) => ExpressionFile(truth.to_string()),
} {});

/// The value below a loop header.
pub(super) enum Body {
    Nodes(Vec<NodeFile>),
    /// The attributes of a statement.
    Attributes(Attributes),
    /// Text, which is not allowed. But mostly then the header is none: a colon and a space in a statement make it a mapping.
    Text(String),
}

read_from!(Body, NODES, {
    visit_str(text: &str) => Body::Text(text.to_owned()),
} {
    visit_seq(sequence: SeqAccess) => {
        Nodes::deserialize(SeqAccessDeserializer::new(sequence)).map(|Nodes(nodes)| Body::Nodes(nodes))
    },
    visit_map(map: MapAccess) => Attributes::deserialize(MapAccessDeserializer::new(map)).map(Body::Attributes),
});
