//! The tree of a YAML document, each node with its place in the text.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::Code;
use crate::diagnostic::quoted;

/// The deepest nesting of mappings and lists that is read: 64.
///
/// Deeper documents are refused, so that no walk over a document exhausts the stack.
pub const DEPTH_LIMIT: usize = 64;

/// Something wrong at a place of the document that is being read.
#[derive(Debug)]
pub(crate) struct Finding {
    pub message: String,
    /// Absent where the reader as a whole says it.
    pub code: Option<Code>,
    pub label: Option<String>,
    pub help: Option<String>,
    /// Absent until somebody who knows the place has added it.
    pub span: Option<Range<usize>>,
}

impl Finding {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, label: None, help: None, span: None }
    }

    pub fn with_code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the place, unless there is one already: the first to know the place is the nearest.
    pub fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

/// A value of the document.
#[derive(Debug)]
pub(crate) struct Node {
    /// Bytes of the text; of a value on several lines the part on the first line. A list whose
    /// dashes are not indented more than its key starts at its first element.
    pub span: Range<usize>,
    pub content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub(crate) struct Scalar {
    pub text: String,
    /// Neither quoted nor a block: the text may mean a number, a truth value or nothing.
    pub plain: bool,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub span: Range<usize>,
    pub scalar: Scalar,
}

impl Node {
    /// Whether nothing is written here, or `null` or `~`. No key has such a value, and no list such an element: what was cut or
    /// forgotten must not mean a default.
    fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(scalar) if scalar.is_null())
    }
}

impl Scalar {
    fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// Reads the one document in `text`, whose top level must be a mapping.
pub(crate) fn parse(text: &str) -> Result<Node, Finding> {
    refuse_control_characters(text)?;
    let positions = Positions::new(text);
    let mut open = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| explain(&error, &positions))?;
        let span = positions.first_line(span);
        if let Event::DocumentStart(_) = event
            && root.is_some()
        {
            return Err(Finding::new("a second document starts here")
                .with_help("a file holds one document: remove what follows, from `---` on")
                .at(&span));
        }
        if let Some(node) = take(event, span, &mut open, &positions)? {
            match open.last_mut() {
                Some(collection) => collection.add(node)?,
                None => root = Some(node),
            }
        }
    }
    match root {
        Some(root) if matches!(root.content, Content::Mapping(_)) => Ok(root),
        Some(root) if !root.is_null() => {
            let found = match root.content {
                Content::Sequence(_) => "a list",
                _ => "a single value",
            };
            Err(Finding::new(format!("expected a mapping at the top level, found {found}"))
                .with_help("a mapping consists of lines `key: value`")
                .at(&root.span))
        }
        _ => Err(Finding::new("the document is empty").with_help("expected lines `key: value`").at(&(0..0))),
    }
}

/// Takes one event: opens a collection, or returns the node that the event completes.
fn take(
    event: Event,
    span: Range<usize>,
    open: &mut Vec<Collection>,
    positions: &Positions,
) -> Result<Option<Node>, Finding> {
    let unsupported =
        |what: &str, instead: &str| Finding::new(format!("{what} are not supported")).with_help(instead).at(&span);
    let (Event::Scalar(_, _, anchor, ref tag)
    | Event::SequenceStart(anchor, ref tag)
    | Event::MappingStart(anchor, ref tag)) = event
    else {
        return match event {
            Event::Alias(_) => Err(unsupported("aliases (`*name`)", "write the value out")),
            Event::SequenceEnd | Event::MappingEnd => {
                Ok(open.pop().map(|collection| collection.close(&span, positions)))
            }
            _ => Ok(None),
        };
    };
    if anchor != 0 {
        return Err(unsupported("anchors (`&name`)", "write the value out where it is needed"));
    }
    if tag.is_some() {
        return Err(unsupported("tags (`!type`)", "remove the tag"));
    }
    let collection = match event {
        Event::Scalar(text, style, ..) => {
            let scalar = Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
            return Ok(Some(Node { span, content: Content::Scalar(scalar) }));
        }
        Event::SequenceStart(..) => Members::Sequence(Vec::new()),
        _ => Members::Mapping { entries: Vec::new(), keys: HashMap::new(), key: None },
    };
    if let Some(Collection { members: Members::Mapping { key: None, .. }, .. }) = open.last() {
        return Err(Finding::new("a key must be a single word or number").with_help("expected `key: value`").at(&span));
    }
    if open.len() == DEPTH_LIMIT {
        let message = format!("nested deeper than {DEPTH_LIMIT} mappings and lists");
        return Err(Finding::new(message).with_help("flatten the document").at(&span));
    }
    open.push(Collection { start: span.start, members: collection });
    Ok(None)
}

/// A list or mapping whose end is still to come.
struct Collection {
    start: usize,
    members: Members,
}

enum Members {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<(Key, Node)>,
        /// The place of each key so far, to find keys that stand twice.
        keys: HashMap<String, Range<usize>>,
        /// The key whose value is still to come.
        key: Option<Key>,
    },
}

impl Collection {
    fn add(&mut self, node: Node) -> Result<(), Finding> {
        let (entries, keys, key) = match &mut self.members {
            Members::Sequence(nodes) => {
                if node.is_null() {
                    return Err(Finding::new("this element of the list has no value")
                        .with_code(Code::NoValue)
                        .with_help("write a value, or remove the element")
                        .at(&node.span));
                }
                nodes.push(node);
                return Ok(());
            }
            Members::Mapping { entries, keys, key } => (entries, keys, key),
        };
        if let Some(key) = key.take() {
            if node.is_null() {
                // A value that is left out has no text to point at: point at its key.
                let left_out = matches!(&node.content, Content::Scalar(scalar) if scalar.text.is_empty());
                let span = if left_out { &key.span } else { &node.span };
                return Err(Finding::new(format!("the key {} has no value", quoted(&key.scalar.text)))
                    .with_code(Code::NoValue)
                    .with_help("write a value, or remove the key; text that reads so is quoted")
                    .at(span));
            }
            entries.push((key, node));
            return Ok(());
        }
        match node.content {
            Content::Scalar(scalar) if !scalar.is_null() => {
                if keys.insert(scalar.text.clone(), node.span.clone()).is_some() {
                    let message = format!("the key {} stands here twice", quoted(&scalar.text));
                    return Err(Finding::new(message)
                        .with_label("second time")
                        .with_help("remove or rename one of the two")
                        .at(&node.span));
                }
                *key = Some(Key { span: node.span, scalar });
                Ok(())
            }
            _ => Err(Finding::new("a key is missing").with_help("expected `key: value`").at(&node.span)),
        }
    }

    fn close(self, end: &Range<usize>, positions: &Positions) -> Node {
        Node {
            span: positions.until_line_end(self.start..end.end),
            content: match self.members {
                Members::Sequence(nodes) => Content::Sequence(nodes),
                Members::Mapping { entries, .. } => Content::Mapping(entries),
            },
        }
    }
}

fn refuse_control_characters(text: &str) -> Result<(), Finding> {
    // The YAML parser takes NUL for the end of the text, and would silently drop the rest.
    let wrong = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some((start, character)) = text.char_indices().find(|(_, c)| wrong(*c)) else {
        return Ok(());
    };
    let message = format!("the control character U+{:04X} is not text", u32::from(character));
    Err(Finding::new(message)
        .with_help("check that this is the intended file, or remove the character")
        .at(&(start..start + character.len_utf8())))
}

fn explain(error: &ScanError, positions: &Positions) -> Finding {
    let text = positions.text;
    let start = positions.byte(error.marker().index());
    let finding = Finding::new(format!("not valid YAML: {}", error.info()));
    if error.info().contains("unknown anchor") {
        let help = "quote the text if it starts with `*`; aliases are not supported";
        return finding.with_help(help).at(&(start..start));
    }
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    // The parser points at the start of the value in which, or after which, it met the tab.
    let tab = match error.info().contains("tab") {
        true => text[line_start..].find('\t').map(|offset| line_start + offset),
        false => None,
    };
    match tab {
        Some(tab) => finding.with_help("indent with spaces, not with tabs").at(&(tab..tab + 1)),
        None => {
            finding.with_help("check the indentation, the colons, brackets and quotes around here").at(&(start..start))
        }
    }
}

/// Translates the parser's positions, counted in characters, into bytes.
struct Positions<'a> {
    text: &'a str,
    /// The byte of each character, where not all are of one byte.
    bytes: Option<Vec<usize>>,
}

impl<'a> Positions<'a> {
    fn new(text: &'a str) -> Self {
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(byte, _)| byte).collect());
        Self { text, bytes }
    }

    /// The byte at which the character with this index starts, or the end of the text.
    fn byte(&self, index: usize) -> usize {
        let byte = match &self.bytes {
            Some(bytes) => bytes.get(index).copied(),
            None => Some(index),
        };
        byte.unwrap_or(self.text.len()).min(self.text.len())
    }

    fn first_line(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        let end = self.byte(span.end.index()).max(start);
        self.until_line_end(start..end)
    }

    /// The part of the span on its first line, without white space at the end.
    fn until_line_end(&self, span: Range<usize>) -> Range<usize> {
        let text = &self.text[span.clone()];
        let line = text.split(['\n', '\r']).next().unwrap_or_default();
        // White space in YAML is blanks and tabs; other spaces of Unicode are text, and may be a whole key.
        span.start..span.start + line.trim_end_matches([' ', '\t']).len()
    }
}
