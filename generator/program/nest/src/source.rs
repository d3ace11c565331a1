//! Places in the text of a program.

use std::sync::Arc;

use pushmem_files::Diagnostic;

/// Bytes of the program's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// From the start of this span to the end of the other.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// The language of a text, which tells what to write in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Loop nests.
    Nest,
    /// Pipelines of Halide: what is to change is the Halide program that they come from.
    Halide,
}

/// The text that a program was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    name: String,
    text: Arc<str>,
    language: Language,
}

impl SourceText {
    /// A text, with the name of its file for messages.
    pub fn new(name: &str, text: &str, language: Language) -> Self {
        Self { name: name.to_owned(), text: Arc::from(text), language }
    }

    /// The language of the text.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A diagnostic that points at this place.
    pub fn diagnostic(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(self.name.as_str(), self.text.clone(), span.start..span.end)
    }

    /// The diagnostic of a problem.
    pub fn locate(&self, problem: Problem) -> Diagnostic {
        let diagnostic = self.diagnostic(problem.span, problem.message);
        let diagnostic = match (problem.is_fault, self.language) {
            (false, _) => diagnostic,
            (true, Language::Nest) => diagnostic.as_fault("program"),
            (true, Language::Halide) => diagnostic.as_fault("pipeline"),
        };
        match problem.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}

/// Something wrong at a place, before it is known of which file.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    is_fault: bool,
}

impl Problem {
    /// A problem at this place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, is_fault: false }
    }

    /// The same as a fault of pushmem, which understood the text wrongly.
    pub fn as_fault(self) -> Self {
        Self { is_fault: true, ..self }
    }

    /// Whether it is a fault of pushmem, and none of the text.
    pub fn is_fault(&self) -> bool {
        self.is_fault
    }

    /// The same with what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with this help, unless it has one.
    pub(crate) fn or_help(mut self, help: &str) -> Self {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }
}

/// Text out of a YAML scalar, which knows where in the file each of its bytes is.
#[derive(Clone, Debug)]
pub(crate) struct PlacedText {
    text: String,
    offsets: Offsets,
}

#[derive(Clone, Debug)]
enum Offsets {
    Each(Vec<usize>),
    /// The text was changed in a way that is not followed, for example by escapes in quotes.
    Whole(Span),
}

impl PlacedText {
    /// The value `text` of the scalar that `span` starts at. The span reaches to the end of the first line of it only.
    pub fn new(text: &str, source: &str, span: Span) -> Self {
        let written = &source[span.start..];
        let quote = written.chars().next().filter(|first| matches!(first, '"' | '\''));
        let start = span.start + quote.map_or(0, char::len_utf8);
        let offsets = match follow(text, source, start) {
            Some(offsets) => Offsets::Each(offsets),
            None => Offsets::Whole(span),
        };
        Self { text: text.to_owned(), offsets }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place of these bytes of the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        match &self.offsets {
            Offsets::Whole(span) => *span,
            Offsets::Each(offsets) => {
                let after = |byte: usize| match byte.checked_sub(1).and_then(|last| offsets.get(last)) {
                    Some(last) => last + 1,
                    None => offsets.first().copied().unwrap_or_default(),
                };
                let start = offsets.get(start).copied().unwrap_or_else(|| after(start));
                Span { start, end: after(end).max(start) }
            }
        }
    }
}

/// The place of each byte of `text` in the source from `start` on, where lines may have been joined by single spaces.
fn follow(text: &str, source: &str, start: usize) -> Option<Vec<usize>> {
    let written = source.as_bytes();
    let mut place = start;
    let mut offsets = Vec::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte == b' ' && matches!(written.get(place), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            offsets.push(place);
            let space = |byte: &u8| byte.is_ascii_whitespace();
            let run = written[place..].iter().take_while(|byte| space(byte)).count();
            // Spaces within a line stand for themselves; a line break with the spaces around it is one space.
            place += if written[place..place + run].contains(&b'\n') { run } else { 1 };
        } else if written.get(place) == Some(&byte) {
            offsets.push(place);
            place += 1;
        } else {
            return None;
        }
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use super::{PlacedText, Span};

    #[test]
    fn follows_lines_that_were_joined() {
        let source = "- a =   b +\n    c\n";
        let placed = PlacedText::new("a =   b + c", source, Span { start: 2, end: 11 });
        assert_eq!(placed.span(6, 7), Span { start: 8, end: 9 });
        assert_eq!(placed.span(10, 11), Span { start: 16, end: 17 });
        assert_eq!(placed.span(11, 11), Span { start: 17, end: 17 });
    }

    #[test]
    fn takes_quotes_off_and_gives_up_on_escapes() {
        let placed = PlacedText::new("ab", "- 'ab'", Span { start: 2, end: 6 });
        assert_eq!(placed.span(1, 2), Span { start: 4, end: 5 });
        let placed = PlacedText::new("aa", r#"- "a\x61""#, Span { start: 2, end: 9 });
        assert_eq!(placed.span(1, 2), Span { start: 2, end: 9 });
    }
}
