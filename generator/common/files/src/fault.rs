//! Faults in values that may have been read from documents.

use std::fmt;

use crate::{Code, Diagnostic, Document, FieldPath};

/// A fault in a value, and its place in the document that the value was read from, or could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place in the document.
    pub path: FieldPath,
    /// Whether the key itself is wrong, not its value.
    pub at_key: bool,
    /// The fault, with the value and the limit.
    pub message: String,
    /// Advice on the change that helps.
    pub help: Option<String>,
}

impl Fault {
    /// A fault of a value.
    pub fn new(path: FieldPath, message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { help: Some(help.into()), ..Fault::bare(path, message) }
    }

    /// A fault of a key.
    pub fn at_key(path: FieldPath, message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { at_key: true, ..Fault::new(path, message, help) }
    }

    /// A fault of a value, of which the message says all.
    pub fn bare(path: FieldPath, message: impl Into<String>) -> Self {
        Fault { path, at_key: false, message: message.into(), help: None }
    }

    /// The same in a document in which the value is at `path`.
    #[must_use]
    pub fn under(self, path: &FieldPath) -> Self {
        Fault { path: path.join(&self.path), ..self }
    }

    /// The fault at its place in the document, of a class.
    pub fn located(self, document: &Document, code: Code) -> Diagnostic {
        let at = if self.at_key { Document::error_at_key } else { Document::error };
        let problem = at(document, &self.path, self.message).or_code(code);
        self.help.into_iter().fold(problem, Diagnostic::with_help)
    }
}

/// With the place by its path.
impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl From<Fault> for Diagnostic {
    /// For a value that was not read from a file: the message names the place.
    fn from(fault: Fault) -> Self {
        fault.help.iter().fold(Diagnostic::new(fault.to_string()), Diagnostic::with_help)
    }
}
