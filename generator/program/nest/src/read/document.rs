//! The document of a program, before names and types are known.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::program::{Level, Policy};
use crate::types::Type;

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

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl Visitor<'_> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Entry, E> {
                Ok(Entry::Integer(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Entry, E> {
                Ok(i64::try_from(number).map_or(Entry::Number(number as f64), Entry::Integer))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Entry, E> {
                Ok(Entry::Number(number))
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

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

impl<'de> Deserialize<'de> for NodeFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = NodeFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a statement or a loop")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<NodeFile, E> {
                Ok(NodeFile::Statement(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NodeFile, A::Error> {
                Ordered::deserialize(MapAccessDeserializer::new(map)).map(|Ordered(loops)| NodeFile::Loops(loops))
            }
        }
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// The name of a list of loops and statements in messages.
pub(super) const NODES: &str = "a list of loops and statements, each after a dash";

/// Loops and statements.
pub(super) struct Nodes(pub Vec<NodeFile>);

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodesVisitor;
        impl<'de> Visitor<'de> for NodesVisitor {
            type Value = Nodes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(NODES)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Nodes, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(Nodes)
            }
        }
        deserializer.deserialize_any(NodesVisitor)
    }
}

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

impl<'de> Deserialize<'de> for ExpressionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExpressionVisitor;
        impl Visitor<'_> for ExpressionVisitor {
            type Value = ExpressionFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an expression")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<ExpressionFile, E> {
                // The language has a point, and no exponents.
                let text = number.to_string();
                Ok(ExpressionFile(if text.contains('.') { text } else { format!("{text}.0") }))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(truth.to_string()))
            }
        }
        deserializer.deserialize_any(ExpressionVisitor)
    }
}

/// The value below a loop header.
pub(super) enum Body {
    Nodes(Vec<NodeFile>),
    /// The attributes of a statement.
    Attributes(Attributes),
    /// Text, which is not allowed. But mostly then the header is none: a colon and a space in a statement make it a mapping.
    Text(String),
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BodyVisitor;
        impl<'de> Visitor<'de> for BodyVisitor {
            type Value = Body;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(NODES)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Body, A::Error> {
                Nodes::deserialize(SeqAccessDeserializer::new(sequence)).map(|Nodes(nodes)| Body::Nodes(nodes))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Body, A::Error> {
                Attributes::deserialize(MapAccessDeserializer::new(map)).map(Body::Attributes)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Body, E> {
                Ok(Body::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(BodyVisitor)
    }
}
