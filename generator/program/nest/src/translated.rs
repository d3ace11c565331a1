//! Programs that another front end wrote: their places are those of its text.

use pushmem_files::{Diagnostic, Document};

use crate::expression::Expression;
use crate::program::{Node, Program};
use crate::read::{Checked, checked, read_unchecked};
use crate::source::{SourceText, Span};

impl Program {
    /// Reads a program that was translated from another text, which messages then point into. `place` gives, for a place
    /// of the document, the place in that text.
    ///
    /// # Errors
    /// As [`Program::read`].
    pub fn translated(
        document: &Document,
        source: SourceText,
        place: impl Fn(Span) -> Span,
    ) -> Result<Checked, Diagnostic> {
        let (mut program, mut problems, mut warnings) = read_unchecked(document)?;
        for problem in problems.iter_mut().chain(&mut warnings) {
            problem.span = place(problem.span);
        }
        program.source = source;
        program.arrays.iter_mut().for_each(|array| array.span = place(array.span));
        program.tables.iter_mut().for_each(|table| table.span = place(table.span));
        program.nest.iter_mut().for_each(|node| relocate(node, &place));
        checked(program, problems, warnings)
    }
}

fn relocate(node: &mut Node, place: &impl Fn(Span) -> Span) {
    match node {
        Node::Loop(each) => {
            each.span = place(each.span);
            each.body.iter_mut().for_each(|node| relocate(node, place));
        }
        Node::Operation(operation) => {
            operation.span = place(operation.span);
            if let Some(share) = &mut operation.share {
                share.span = place(share.span);
            }
            let loads = operation.loads.iter_mut().map(|load| &mut load.access);
            for access in loads.chain([&mut operation.target]) {
                access.span = place(access.span);
                access.computed.iter_mut().flatten().for_each(|index| relocate_expression(index, place));
            }
            relocate_expression(&mut operation.expression, place);
        }
    }
}

fn relocate_expression(expression: &mut Expression, place: &impl Fn(Span) -> Span) {
    let relocated = expression.rebuilt_by(&mut |_, part| Some(Expression { span: place(part.span), ..part }));
    *expression = relocated.expect("each part has a place");
}
