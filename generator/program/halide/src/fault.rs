//! What is wrong with a text, before it is known of which file.

use pushmem_nest::Span;

/// Something wrong at a place of the text.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// The array whose parts do not fit together, if it is about that: as arrays of their own they may be understood.
    pub parts_of: Option<usize>,
}

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, parts_of: None }
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn about_parts_of(mut self, array: usize) -> Self {
        self.parts_of = Some(array);
        self
    }
}
