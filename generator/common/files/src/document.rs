//! YAML documents kept with their text.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::deserialize::NodeDeserializer;
use crate::input::read_text;
use crate::node::{self, Content, Finding, Key, Node};
use crate::path::Step;
use crate::{Code, Diagnostic, FieldPath};

/// A YAML document kept with its text, so that any later finding can point at its place.
///
/// The top level is a mapping. Keys are single words or numbers and stand at most once in a
/// mapping. Every key has a value: nothing, `null` and `~` are refused. Anchors, aliases, tags and
/// several documents in a file are not supported; nesting is limited to [`DEPTH_LIMIT`](crate::DEPTH_LIMIT).
///
/// ```
/// use pushmem_files::{Document, FieldPath};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Memory {
///     rows: u32,
/// }
///
/// let document = Document::parse("tile.yaml", "rows: 0x200\n").unwrap();
/// let memory: Memory = document.deserialize().unwrap();
/// assert_eq!(memory.rows, 512);
///
/// // An error that only the caller can find points at its place as well.
/// let problem = document.error(&FieldPath::root().key("rows"), "too many rows");
/// assert_eq!(problem.location(), Some(("tile.yaml".to_owned(), 1, 7)));
///
/// let document = Document::parse("tile.yaml", "rwos: 512\n").unwrap();
/// let problem = document.deserialize::<Memory>().err().unwrap();
/// assert_eq!(problem.message(), "unknown key `rwos`");
/// assert_eq!(problem.help(), Some("did you mean `rows`? expected `rows`"));
/// ```
#[derive(Debug)]
pub struct Document {
    name: String,
    text: Arc<str>,
    root: Node,
}

impl Document {
    /// Reads and parses a file.
    ///
    /// # Errors
    ///
    /// If the file is missing, a folder, larger than [`SIZE_LIMIT`](crate::SIZE_LIMIT) or not
    /// UTF-8 text, and as [`Document::parse`].
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        Self::parse(path.display().to_string(), read_text(path)?)
    }

    /// Parses `text`, the contents of the file `name`.
    ///
    /// # Errors
    ///
    /// If the text is not YAML, empty, not a mapping at the top level, nested too deeply, or uses
    /// what a [`Document`] does not support: located at the offending text.
    pub fn parse(name: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        let name = name.into();
        let text: Arc<str> = text.into().into();
        match node::parse(&text) {
            Ok(root) => Ok(Self { name, text, root }),
            Err(finding) => Err(locate(finding, &name, &text).or_code(Code::Yaml)),
        }
    }

    /// The name of the file, as it appears in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The document as a value of type `T`.
    ///
    /// Integers are decimal, or hexadecimal after `0x`; underscores are not allowed. Truth values
    /// are `true` and `false`. Text is taken as written, so that `width` and `16` need no quotes;
    /// quoted text is never a number. An `Option` is there if its key is. An enum is the name of a
    /// variant, or a mapping of it to the variant's contents.
    ///
    /// Use plain structs with `#[serde(deny_unknown_fields)]` for good messages. Avoid
    /// `#[serde(flatten)]` and internally tagged, adjacently tagged and untagged enums: serde
    /// reads these into a buffer that forgets the places, so that the message can only point at
    /// the mapping around; and numbers written as text are told apart less well.
    ///
    /// # Errors
    ///
    /// If the document does not fit `T`: an unknown or missing key, a value of the wrong type or
    /// out of range, an unknown variant, or whatever the type itself refuses. Located at the
    /// value, at an unknown key, or at the mapping that lacks a key.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        T::deserialize(NodeDeserializer::of(&self.root))
            .map_err(|finding| locate(finding.at(&self.root.span), &self.name, &self.text).or_code(Code::WrongType))
    }

    /// A diagnostic that points at the value at `path`, or, if it does not exist, at the value at
    /// the longest part of the path that does.
    pub fn error(&self, path: &FieldPath, message: impl Into<String>) -> Diagnostic {
        self.error_at(self.find(path).value.span.clone(), message)
    }

    /// A diagnostic that points at the key of the value at `path`. If the path does not exist, or
    /// ends in an index, it points where [`Document::error`] does.
    pub fn error_at_key(&self, path: &FieldPath, message: impl Into<String>) -> Diagnostic {
        let Found { value, key } = self.find(path);
        let span = key.map_or(&value.span, |key| &key.span);
        self.error_at(span.clone(), message)
    }

    /// Refuses the value at `path`.
    ///
    /// # Errors
    ///
    /// Always: as [`Document::error`], with what helps.
    pub fn refuse<T>(
        &self,
        path: &FieldPath,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, Diagnostic> {
        Err(self.error(path, message).with_help(help))
    }

    /// Refuses the key of the value at `path`.
    ///
    /// # Errors
    ///
    /// Always: as [`Document::error_at_key`], with what helps.
    pub fn refuse_at_key<T>(
        &self,
        path: &FieldPath,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, Diagnostic> {
        Err(self.error_at_key(path, message).with_help(help))
    }

    fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(&self.name, self.text.clone(), span)
    }

    fn find(&self, path: &FieldPath) -> Found<'_> {
        let mut value = &self.root;
        let mut key = None;
        for step in path.steps() {
            (key, value) = match (step, &value.content) {
                (Step::Key(name), Content::Mapping(entries)) => {
                    match entries.iter().find(|(key, _)| key.scalar.text == *name) {
                        Some((key, value)) => (Some(key), value),
                        None => return Found { value, key: None },
                    }
                }
                (Step::Index(index), Content::Sequence(nodes)) => match nodes.get(*index) {
                    Some(value) => (None, value),
                    None => return Found { value, key: None },
                },
                _ => return Found { value, key: None },
            };
        }
        Found { value, key }
    }
}

/// The value at a path, or at the longest part of it that exists.
struct Found<'a> {
    value: &'a Node,
    /// The key of the value, if the whole path exists and ends in a key.
    key: Option<&'a Key>,
}

fn locate(finding: Finding, name: &str, text: &Arc<str>) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(finding.message);
    if let Some(code) = finding.code {
        diagnostic = diagnostic.or_code(code);
    }
    if let Some(label) = finding.label {
        diagnostic = diagnostic.with_label(label);
    }
    if let Some(help) = finding.help {
        diagnostic = diagnostic.with_help(help);
    }
    match finding.span {
        Some(span) => diagnostic.at(name, text.clone(), span),
        None => diagnostic,
    }
}
