//! Loops and statements, in the scope of the loops around them.

use pushmem_affine::{LARGEST_BOUND, MOST_ITERATIONS};
use pushmem_files::FieldPath;

use super::document::{Attributes, Body, ExpressionFile, NODES, NodeFile};
use super::{MOST_OPERATIONS, MOST_PROBLEMS, NAMES, Reader, is_name};
use crate::bound::constant;
use crate::program::{Array, Loop, Node, Operation, Share, Table, ranges};
use crate::resolve::{Scope, operation};
use crate::source::{PlacedText, Problem, Span};
use crate::syntax::{self, Name, Syntax};

impl Reader<'_> {
    pub(super) fn nodes(&mut self, files: &[NodeFile], path: &FieldPath, scope: &mut NestScope) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (place, file) in files.iter().enumerate() {
            let path = path.index(place);
            if self.problems.len() >= MOST_PROBLEMS {
                break;
            }
            match file {
                NodeFile::Statement(text) => {
                    nodes.extend(self.statement(text, Vec::new(), None, self.value_span(&path), scope));
                }
                NodeFile::Loops(loops) => {
                    if let Some((second, _)) = loops.get(1) {
                        let span = self.key_span(&path.key(second));
                        let problem = Problem::new(span, "a second loop in one element of the list");
                        self.problems.push(problem.with_help("put a dash before each loop: `- for …:`"));
                    }
                    for (header, body) in loops.iter().take(1) {
                        let path = path.key(header);
                        nodes.extend(match body {
                            Body::Attributes(attributes) => self.attributed_statement(header, attributes, &path, scope),
                            _ => self.loop_node(header, body, &path, scope),
                        });
                    }
                }
            }
        }
        nodes
    }

    /// A statement with attributes.
    fn attributed_statement(
        &mut self,
        text: &str,
        attributes: &Attributes,
        path: &FieldPath,
        scope: &NestScope,
    ) -> Option<Node> {
        let share = attributes.share.as_ref().map(|unit| {
            let span = self.value_span(&path.key("share"));
            if !is_name(unit) {
                let message = format!("`{}` cannot be the name of a compute unit", unit.escape_debug());
                self.problems.push(Problem::new(span, message).with_help(NAMES));
            }
            Share { name: unit.to_owned(), span }
        });
        let mut values = Vec::new();
        for (name, ExpressionFile(text)) in &attributes.values.0 {
            let path = path.key("where").key(name);
            let span = self.key_span(&path);
            if !is_name(name) {
                let message = format!("`{}` cannot be the name of a value", name.escape_debug());
                self.problems.push(Problem::new(span, message).with_help(NAMES));
                return None;
            }
            let placed = PlacedText::new(text, self.document.text(), self.value_span(&path));
            match syntax::value(&placed, &values) {
                Ok(value) => values.push((Name { text: name.clone(), span }, value)),
                Err(problem) => {
                    self.problems.push(problem);
                    return None;
                }
            }
        }
        self.statement(text, values, share, self.key_span(path), scope)
    }

    fn statement(
        &mut self,
        text: &str,
        values: Vec<(Name, Syntax)>,
        share: Option<Share>,
        span: Span,
        scope: &NestScope,
    ) -> Option<Node> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            if self.operations == MOST_OPERATIONS + 1 {
                self.problems.push(Problem::new(span, format!("a program has at most {MOST_OPERATIONS} operations")));
            }
            return None;
        }
        let placed = PlacedText::new(text, self.document.text(), span);
        let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
        let ranges = ranges(&scope.loops);
        let scope = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
        let warnings = &mut self.warnings;
        match syntax::statement(&placed, values).and_then(|statement| operation(scope, &statement, warnings)) {
            Ok(operation) => Some(Node::Operation(Box::new(Operation { share, ..operation }))),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn loop_node(&mut self, header: &str, body: &Body, path: &FieldPath, scope: &mut NestScope) -> Option<Node> {
        let placed = PlacedText::new(header, self.document.text(), self.key_span(path));
        let each = match self.loop_header(&placed, scope) {
            Ok(each) => each,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let body = match body {
            Body::Nodes(nodes) => nodes.as_slice(),
            Body::Attributes(_) => unreachable!("a loop has no attributes"),
            Body::Text(text) => {
                let message = format!("expected {NODES}, found `{text}`");
                let problem = Problem::new(self.value_span(path), message);
                self.problems.push(problem.with_help("put a dash before it: `- …`"));
                return None;
            }
        };
        if body.is_empty() {
            let span = each.span;
            let help = "put statements or loops below, each after a dash that is indented further";
            self.problems.push(Problem::new(span, "this loop does nothing").with_help(help));
        }
        scope.loops.push(each);
        let nodes = self.nodes(body, path, scope);
        let mut each = scope.loops.pop()?;
        each.body = nodes;
        Some(Node::Loop(each))
    }

    fn loop_header(&mut self, placed: &PlacedText, scope: &NestScope) -> Result<Loop, Problem> {
        let header = syntax::header(placed)?;
        let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
        let ranges = ranges(&scope.loops);
        let names = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
        let variable = header.variable.text.clone();
        if variables.contains(&variable) {
            return Err(Problem::new(
                header.variable.span,
                format!("a loop around has the variable `{variable}` already"),
            )
            .with_help("rename one of the two"));
        }
        let declared = scope.arrays.iter().map(|array| &array.name).chain(scope.tables.iter().map(|table| &table.name));
        if declared.into_iter().any(|name| *name == variable) {
            return Err(Problem::new(header.variable.span, format!("`{variable}` is an array or table already"))
                .with_help("rename the loop variable"));
        }
        let min = constant(names, &header.start, "the start of the loop")?;
        let end = constant(names, &header.end, "the end of the loop")?;
        for (bound, syntax) in [(min, &header.start), (end, &header.end)] {
            if bound.abs() > LARGEST_BOUND {
                return Err(Problem::new(syntax.span, format!("{bound} is too large for a bound"))
                    .with_help(format!("bounds are from -{LARGEST_BOUND} to {LARGEST_BOUND}")));
            }
        }
        let extent = end - min;
        if extent <= 0 {
            let message = format!("the loop from {min} to {end} never runs");
            return Err(Problem::new(header.start.span.to(header.end.span), message)
                .with_help("the end is not part of the loop: `0..64` runs 64 times"));
        }
        let iterations = scope.loops.iter().try_fold(extent, |product, each| product.checked_mul(each.extent));
        if iterations.is_none_or(|iterations| iterations > MOST_ITERATIONS) {
            return Err(Problem::new(
                header.span,
                format!("with the loops around, more than {MOST_ITERATIONS} iterations"),
            ));
        }
        let unroll = match &header.unroll {
            None => 1,
            Some(syntax) => {
                let factor = constant(names, syntax, "the factor of `unroll`")?;
                if factor < 1 || extent % factor != 0 {
                    let message = format!("`unroll {factor}` does not divide the {extent} iterations");
                    return Err(Problem::new(syntax.span, message)
                        .with_help("the copies share the iterations equally: choose a divisor"));
                }
                factor
            }
        };
        Ok(Loop { variable, min, extent, unroll, body: Vec::new(), span: header.span })
    }
}

/// The names that statements at a place of the nest can use.
pub(super) struct NestScope<'a> {
    pub arrays: &'a [Array],
    pub tables: &'a [Table],
    /// The loops around, outermost first, without their bodies.
    pub loops: Vec<Loop>,
}
