//! Located problems.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use miette::{
    LabeledSpan, MietteError, MietteSpanContents, NamedSource, Severity, SourceCode, SourceSpan, SpanContents,
};
use serde::Serialize;

use crate::Code;

/// Bytes of a source line that are shown at most; of a longer line, this much around the place.
const WIDEST_SHOWN: usize = 200;

/// Bytes of a message that are shown at most: names and values in it come from the input.
const LONGEST_MESSAGE: usize = 2000;

/// A problem with an input or an output, pointing at the offending text where there is one.
///
/// It has a message (its [`Display`](fmt::Display)), optionally a place in a file with a label,
/// and optionally a help text that says what was expected and what to do. Printed as a
/// `miette::Report` it shows the offending lines.
///
/// ```
/// use pushmem_files::Diagnostic;
///
/// let text = "rows: 512\nwidth: 0\n";
/// let problem = Diagnostic::new("the width is 0")
///     .with_label("must be at least 1")
///     .with_help("give the width of a word in bits")
///     .at("tile.yaml", text, 17..18);
/// assert_eq!(problem.message(), "the width is 0");
/// assert_eq!(problem.location(), Some(("tile.yaml".to_owned(), 2, 8)));
/// ```
#[derive(Clone)]
pub struct Diagnostic {
    // Boxed so that a `Result` with this error stays small.
    content: Box<Content>,
}

#[derive(Clone)]
struct Content {
    severity: Severity,
    is_fault: bool,
    code: Option<Code>,
    message: String,
    label: Option<String>,
    help: Option<String>,
    place: Option<Place>,
    related: Vec<Diagnostic>,
}

/// Bytes `span`, on character boundaries, of a named text.
#[derive(Clone)]
struct Place {
    source: NamedSource<Arc<str>>,
    span: Range<usize>,
}

impl Diagnostic {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > LONGEST_MESSAGE {
            message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
            message.push('…');
        }
        let content = Content {
            severity: Severity::Error,
            is_fault: false,
            code: None,
            message,
            label: None,
            help: None,
            place: None,
            related: Vec::new(),
        };
        Self { content: Box::new(content) }
    }

    /// The same as a fault of pushmem itself, found before it could do harm; `input` (for example "program") is to be reported
    /// with it.
    pub fn as_fault(mut self, input: &str) -> Self {
        self.content.is_fault = true;
        self.content.code.get_or_insert(Code::Fault);
        self.with_help(format!("this is a fault of pushmem, caught before it could do harm; please report the {input}"))
    }

    /// The same as a warning: what is probably not meant, but possible.
    pub fn as_warning(mut self) -> Self {
        self.content.severity = Severity::Warning;
        self
    }

    /// The same as a note that belongs to another problem.
    pub fn as_note(mut self) -> Self {
        self.content.severity = Severity::Advice;
        self
    }

    /// Says of which class it is, and the problems found together with it, unless that has been said.
    pub fn or_code(mut self, code: Code) -> Self {
        self.content.code.get_or_insert(code);
        let related = std::mem::take(&mut self.content.related);
        self.content.related = related.into_iter().map(|problem| problem.or_code(code)).collect();
        self
    }

    /// Adds what was expected or what to do; replaces an earlier help text.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.content.help = Some(help.into());
        self
    }

    /// Adds a label shown at the offending text; shown only together with a place.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.content.label = Some(label.into());
        self
    }

    /// Adds the place: the bytes `span` of `source_text`, the contents of the file `source_name`.
    ///
    /// A span that reaches beyond the text or does not lie on character boundaries is shortened
    /// or moved to the nearest boundaries before it.
    pub fn at(mut self, source_name: impl Into<String>, source_text: impl Into<Arc<str>>, span: Range<usize>) -> Self {
        let text = source_text.into();
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end).max(start);
        let source = NamedSource::new(source_name.into(), text);
        self.content.place = Some(Place { source, span: start..end });
        self
    }

    /// Adds further problems found together with this one.
    pub fn with_related(mut self, related: Vec<Diagnostic>) -> Self {
        self.content.related.extend(related);
        self
    }

    /// The error, in one sentence.
    pub fn message(&self) -> &str {
        &self.content.message
    }

    /// The class it is of, where that is known.
    pub fn code(&self) -> Option<Code> {
        self.content.code
    }

    /// `error`, `warning` or `note`.
    pub fn severity(&self) -> &'static str {
        match self.content.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "note",
        }
    }

    /// The label of the offending text.
    pub fn label(&self) -> Option<&str> {
        self.content.label.as_deref()
    }

    /// Where it is, for programs.
    pub fn span(&self) -> Option<Span<'_>> {
        let place = self.content.place.as_ref()?;
        let text = place.source.inner();
        let (line, column) = line_and_column(text, place.span.start);
        let (end_line, end_column) = line_and_column(text, place.span.end);
        Some(Span {
            file: place.source.name(),
            line,
            column,
            end_line,
            end_column,
            start_byte: place.span.start,
            end_byte: place.span.end,
            text: &text[place.span.clone()],
        })
    }

    /// The expected input, or a remedy.
    pub fn help(&self) -> Option<&str> {
        self.content.help.as_deref()
    }

    /// The further problems found together with this one.
    pub fn related(&self) -> &[Diagnostic] {
        &self.content.related
    }

    /// Whether it is an error, not a warning or a note.
    pub fn is_error(&self) -> bool {
        self.content.severity == Severity::Error
    }

    /// Whether it is a fault of pushmem itself, and not of an input.
    pub fn is_fault(&self) -> bool {
        self.content.is_fault
    }

    /// This problem and those that were found together with it, each by itself, in order.
    pub fn into_problems(mut self) -> Vec<Diagnostic> {
        let related = std::mem::take(&mut self.content.related);
        std::iter::once(self).chain(related.into_iter().flat_map(Diagnostic::into_problems)).collect()
    }

    /// File, line and column (in characters) of the offending text, line and column counted
    /// from 1.
    pub fn location(&self) -> Option<(String, usize, usize)> {
        let Span { file, line, column, .. } = self.span()?;
        Some((file.to_owned(), line, column))
    }

    /// The offending text.
    pub fn offending_text(&self) -> Option<&str> {
        let place = self.content.place.as_ref()?;
        Some(&place.source.inner()[place.span.clone()])
    }

    /// The operating system refused to `action` (for example "write") the file or folder `path`.
    pub(crate) fn refused(action: &str, path: &Path, reason: &std::io::Error) -> Self {
        // An error that is not the system's own text may name temporary files; its kind does not.
        let reason = if reason.raw_os_error().is_some() { reason.to_string() } else { reason.kind().to_string() };
        Self::new(format!("cannot {action} `{}`: {reason}", path.display()))
    }
}

/// A place in a file, which programs read with these keys. Lines and columns, in characters, are counted from 1, bytes from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Span<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// Line of its first character.
    pub line: usize,
    /// Column of its first character.
    pub column: usize,
    /// Line of the character behind its last.
    pub end_line: usize,
    /// Column of the character behind its last.
    pub end_column: usize,
    /// Its first byte in the file without a byte order mark.
    pub start_byte: usize,
    /// The byte behind its last.
    pub end_byte: usize,
    /// The offending text.
    pub text: &'a str,
}

fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.content.message)
    }
}

/// One line per problem, without the source text: what a failing `unwrap` in a test should show.
impl fmt::Debug for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line, column)) = self.location() {
            write!(formatter, "{file}:{line}:{column}: ")?;
        }
        formatter.write_str(&self.content.message)?;
        if let Some(help) = &self.content.help {
            write!(formatter, " (help: {help})")?;
        }
        for related in &self.content.related {
            write!(formatter, "\n{related:?}")?;
        }
        Ok(())
    }
}

impl Error for Diagnostic {}

impl SourceCode for Place {
    /// The lines around the span; of lines too wide to show, only what is near it.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.source.read_span(span, lines_before, lines_after)?;
        if contents.data().split(|&byte| byte == b'\n').all(|line| line.len() <= 2 * WIDEST_SHOWN) {
            return Ok(contents);
        }
        let text = self.source.inner();
        let (before, after) = text.split_at(text.floor_char_boundary(span.offset()));
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = before.len() + after.find('\n').unwrap_or(after.len());
        let start = text.ceil_char_boundary(before.len().saturating_sub(WIDEST_SHOWN / 2).max(line_start));
        let end = text.floor_char_boundary((before.len() + span.len() + WIDEST_SHOWN / 2).min(line_end)).max(start);
        let line = before.matches('\n').count();
        let column = text[line_start..start].chars().count();
        let window = SourceSpan::from((start, end - start));
        let name = self.source.name().to_owned();
        Ok(Box::new(MietteSpanContents::new_named(name, text[start..end].as_bytes(), window, line, column, 1)))
    }
}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<Severity> {
        Some(self.content.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.content.help.as_deref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let place = self.content.place.as_ref()?;
        Some(place)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.content.place.as_ref()?;
        let label = self.content.label.clone().unwrap_or_else(|| "here".to_owned());
        let shown = place.source.inner()[place.span.clone()].floor_char_boundary(WIDEST_SHOWN);
        let span = LabeledSpan::new(Some(label), place.span.start, shown);
        Some(Box::new(std::iter::once(span)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.content.related.is_empty() {
            return None;
        }
        let related = self.content.related.iter();
        Some(Box::new(related.map(|problem| problem as &dyn miette::Diagnostic)))
    }
}

/// `text` from an input as it appears in a message: in backticks, control characters escaped,
/// long text cut.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST_QUOTE: usize = 60;
    let mut quote = String::from("`");
    for (position, character) in text.chars().enumerate() {
        if position == LONGEST_QUOTE {
            quote.push('…');
            break;
        }
        if character.is_control() {
            quote.extend(character.escape_default());
        } else {
            quote.push(character);
        }
    }
    quote.push('`');
    quote
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, quoted};

    #[test]
    fn shows_the_offending_line() {
        let inner = Diagnostic::new("second").at("b.yaml", "x: 1", 0..1);
        let problem = Diagnostic::new("first")
            .with_label("this one")
            .with_help("do that")
            .at("a.yaml", "größe: 1\r\nbreite: 2\r\n", 12..18)
            .with_related(vec![inner]);
        assert_eq!(problem.location(), Some(("a.yaml".to_owned(), 2, 1)));
        assert_eq!(problem.offending_text(), Some("breite"));
        assert_eq!(format!("{problem:?}"), "a.yaml:2:1: first (help: do that)\nb.yaml:1:1: second");
        let shown = format!("{:?}", miette::Report::new(problem));
        for expected in ["first", "a.yaml:2:1", "this one", "do that", "second", "b.yaml:1:1"] {
            assert!(shown.contains(expected), "{expected} is not in\n{shown}");
        }
    }

    #[test]
    fn problems_come_one_by_one() {
        let second = Diagnostic::new("second").with_related(vec![Diagnostic::new("note").as_note()]);
        let problems = Diagnostic::new("first").with_related(vec![second, Diagnostic::new("third")]).into_problems();
        let told: Vec<_> = problems.iter().map(|problem| (format!("{problem:?}"), problem.is_error())).collect();
        let expected = [("first", true), ("second", true), ("note", false), ("third", true)];
        assert_eq!(told, expected.map(|(text, is_error)| (text.to_owned(), is_error)));
    }

    #[test]
    fn moves_spans_to_character_boundaries() {
        let inside = Diagnostic::new("").at("a", "äö", 1..3);
        assert_eq!(inside.offending_text(), Some("ä"));
        let beyond = Diagnostic::new("").at("a", "äö", 9..20);
        assert_eq!(beyond.location(), Some(("a".to_owned(), 1, 3)));
        #[expect(clippy::reversed_empty_ranges, reason = "a wrong span must not panic")]
        let reversed = Diagnostic::new("").at("a", "äö", 2..0);
        assert_eq!(reversed.offending_text(), Some(""));
    }

    #[test]
    fn quotes_are_short_and_printable() {
        assert_eq!(quoted("a\u{1b}b"), "`a\\u{1b}b`");
        assert_eq!(quoted(&"x".repeat(100)), format!("`{}…`", "x".repeat(60)));
    }
}
