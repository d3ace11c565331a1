//! Loops and statements of a document.

use pushmem_files::Document;

use super::document::{Attributes, Body, ExpressionFile, NODES, NodeFile};
use crate::parser::{self, Known, refuse_known};
use crate::program::Share;
use crate::source::{PlacedText, Problem};
use crate::syntax::{Name, NodeSyntax, Places};

/// The loops and statements of a list, in which these names are known.
pub(super) fn nodes(files: &[NodeFile], document: &Document, places: &Places, known: Known) -> Vec<NodeSyntax> {
    let mut nodes = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let places = places.element(place);
        match file {
            NodeFile::Statement(text) => {
                let placed = PlacedText::new(text, document.text(), places.value());
                let statement = parser::statement(&placed, known, Vec::new(), None);
                nodes.push(statement.map_or_else(NodeSyntax::Wrong, NodeSyntax::Statement));
            }
            NodeFile::Loops(loops) => {
                if let Some((second, _)) = loops.get(1) {
                    let problem = Problem::new(places.field(second).key(), "a second loop in one element of the list");
                    nodes.push(NodeSyntax::Wrong(problem.with_help("put a dash before each loop: `- for …:`")));
                }
                for (header, body) in loops.iter().take(1) {
                    let places = places.field(header);
                    let placed = PlacedText::new(header, document.text(), places.key());
                    match body {
                        Body::Attributes(attributes) => {
                            attributed_statement(&placed, attributes, document, &places, known, &mut nodes);
                        }
                        Body::Nodes(body) => {
                            nodes.push(loop_of(&placed, known, |known| self::nodes(body, document, &places, known)))
                        }
                        Body::Text(text) => nodes.push(loop_of(&placed, known, |_| {
                            let message = format!("expected {NODES}, found `{text}`");
                            let problem = Problem::new(places.value(), message);
                            vec![NodeSyntax::Wrong(problem.with_help("put a dash before it: `- …`"))]
                        })),
                    }
                }
            }
        }
    }
    nodes
}

fn loop_of(header: &PlacedText, known: Known, body: impl FnOnce(Known) -> Vec<NodeSyntax>) -> NodeSyntax {
    let header =
        match parser::header(header, known).and_then(|header| refuse_known(&header.variable, known).map(|()| header)) {
            Ok(header) => header,
            Err(problem) => return NodeSyntax::Wrong(problem),
        };
    let body = match header.stepped() {
        Some(stepped) => body(&[known, &[stepped]].concat()),
        None => body(known),
    };
    NodeSyntax::Loop(header, body)
}

/// Adds a statement with attributes, or with all that is wrong of them.
fn attributed_statement(
    text: &PlacedText,
    attributes: &Attributes,
    document: &Document,
    places: &Places,
    known: Known,
    nodes: &mut Vec<NodeSyntax>,
) {
    let share = attributes.share.clone().map(|name| Share { name, span: places.field("share").value() });
    let mut values = Vec::new();
    for (name, ExpressionFile(text)) in &attributes.values.0 {
        let places = places.field("where").field(name);
        let placed = PlacedText::new(text, document.text(), places.value());
        let name = Name { text: name.clone(), span: places.key() };
        match refuse_known(&name, known).and_then(|()| parser::value(&placed, known, &values)) {
            Ok(value) => values.push((name, value)),
            Err(problem) => return nodes.push(NodeSyntax::Wrong(problem)),
        }
    }
    nodes.push(parser::statement(text, known, values, share).map_or_else(NodeSyntax::Wrong, NodeSyntax::Statement));
}
