//! Loops and statements of a document.

use pushmem_files::Document;

use super::document::{Attributes, Body, ExpressionFile, NODES, NodeFile};
use crate::parser;
use crate::program::Share;
use crate::source::{PlacedText, Problem};
use crate::syntax::{Name, NodeSyntax, Places};

pub(super) fn nodes(files: &[NodeFile], document: &Document, places: &Places) -> Vec<NodeSyntax> {
    let mut nodes = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let places = places.element(place);
        match file {
            NodeFile::Statement(text) => {
                let placed = PlacedText::new(text, document.text(), places.value());
                let statement = parser::statement(&placed, Vec::new(), None);
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
                            attributed_statement(&placed, attributes, document, &places, &mut nodes);
                        }
                        Body::Nodes(body) => nodes.push(loop_of(&placed, || self::nodes(body, document, &places))),
                        Body::Text(text) => nodes.push(loop_of(&placed, || {
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

fn loop_of(header: &PlacedText, body: impl FnOnce() -> Vec<NodeSyntax>) -> NodeSyntax {
    parser::header(header).map_or_else(NodeSyntax::Wrong, |header| NodeSyntax::Loop(header, body()))
}

/// Adds a statement with attributes, or with all that is wrong of them.
fn attributed_statement(
    text: &PlacedText,
    attributes: &Attributes,
    document: &Document,
    places: &Places,
    nodes: &mut Vec<NodeSyntax>,
) {
    let share = attributes.share.clone().map(|name| Share { name, span: places.field("share").value() });
    let mut values = Vec::new();
    for (name, ExpressionFile(text)) in &attributes.values.0 {
        let places = places.field("where").field(name);
        let placed = PlacedText::new(text, document.text(), places.value());
        let span = places.key();
        match parser::value(&placed, &values) {
            Ok(value) => values.push((Name { text: name.clone(), span }, value)),
            Err(problem) => return nodes.push(NodeSyntax::Wrong(problem)),
        }
    }
    nodes.push(parser::statement(text, values, share).map_or_else(NodeSyntax::Wrong, NodeSyntax::Statement));
}
