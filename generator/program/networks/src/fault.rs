//! Why a network is refused.

use std::fmt::Write;

use pushmem_files::Diagnostic;

/// A network that is refused, at a node or as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// The number of the node.
    pub node: Option<usize>,
    pub message: String,
    pub help: Option<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A fault that no node has.
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { node: None, message: message.into(), help: None }
    }

    /// With what to do.
    pub fn with_help(self, help: impl Into<String>) -> Fault {
        Fault { help: Some(help.into()), ..self }
    }

    /// The message for users, which points at the node in a list of all nodes.
    pub fn diagnostic(self, file: &str, nodes: impl Iterator<Item = String>) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.message);
        let diagnostic = match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        };
        let Some(node) = self.node else { return diagnostic };
        let (mut text, mut span) = (String::new(), 0..0);
        for (number, each) in nodes.enumerate() {
            let start = text.len();
            // Names may have line breaks.
            let line: String = each.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            let written = writeln!(text, "{line}");
            assert!(written.is_ok(), "writing to a string does not fail");
            if number == node {
                span = start..text.len() - 1;
            }
        }
        diagnostic.at(format!("{file} (nodes)"), text, span)
    }
}
