//! An error in a text, before its file is known.

use pushmem_nest::Span;

/// Something wrong at a place of the text.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// Whether the text was understood wrongly, which is a fault of ours, not of the text.
    pub is_ours: bool,
}

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, is_ours: false }
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same as a fault of ours.
    pub fn of_ours(mut self) -> Self {
        self.is_ours = true;
        self
    }
}
