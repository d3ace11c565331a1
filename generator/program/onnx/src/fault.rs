//! Why a network is refused.

use std::fmt::Write;

use itertools::Itertools;
use pushmem_files::Diagnostic;

use crate::model::{Graph, Node};

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
    pub fn diagnostic(self, file: &str, graph: Option<&Graph>) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.message);
        let diagnostic = match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        };
        let (Some(graph), Some(node)) = (graph, self.node) else { return diagnostic };
        let (mut text, mut span) = (String::new(), 0..0);
        for (number, each) in graph.nodes.iter().enumerate() {
            let start = text.len();
            let written = writeln!(text, "{}", line(each));
            assert!(written.is_ok(), "writing to a string does not fail");
            if number == node {
                span = start..text.len() - 1;
            }
        }
        diagnostic.at(format!("{file} (nodes)"), text, span)
    }
}

/// A node in a line, without line breaks that names may have.
fn line(node: &Node) -> String {
    let name = if node.name.is_empty() { String::new() } else { format!("{}: ", node.name) };
    let text =
        format!("{name}{} = {}({})", node.outputs.iter().join(", "), node.operator, node.inputs.iter().join(", "));
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
