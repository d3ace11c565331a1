//! Loops and statements, in the scope of the loops around them.

use pushmem_affine::{LARGEST_BOUND, MOST_ITERATIONS};

use super::program::{MOST_OPERATIONS, MOST_PROBLEMS, ProgramResolver, is_name, not_a_name};
use super::{Scope, operation};
use crate::bound::constant;
use crate::program::{Array, Loop, Node, Table, ranges};
use crate::source::Problem;
use crate::syntax::{Header, NodeSyntax, Statement};

impl ProgramResolver {
    pub(super) fn nodes(&mut self, syntax: &[NodeSyntax], scope: &mut NestScope) -> Vec<Node> {
        let mut nodes = Vec::new();
        for node in syntax {
            if self.problems.len() >= MOST_PROBLEMS {
                break;
            }
            let resolved = match node {
                NodeSyntax::Statement(statement) => self.statement(statement, scope),
                NodeSyntax::Loop(header, body) => self.loop_node(header, body, scope),
                NodeSyntax::Wrong(problem) => Err(problem.clone()),
            };
            match resolved {
                Ok(node) => nodes.extend(node),
                Err(problem) => self.problems.push(problem),
            }
        }
        nodes
    }

    fn statement(&mut self, statement: &Statement, scope: &NestScope) -> Result<Option<Node>, Problem> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            let problem = Problem::new(statement.span, format!("a program has at most {MOST_OPERATIONS} operations"));
            return if self.operations == MOST_OPERATIONS + 1 { Err(problem) } else { Ok(None) };
        }
        if let Some(unit) = statement.share.as_ref().filter(|unit| !is_name(&unit.name)) {
            self.problems.push(not_a_name(&unit.name, "the name of a compute unit", unit.span));
        }
        let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
        let ranges = ranges(&scope.loops);
        let scope = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
        operation(scope, statement, &mut self.warnings).map(|operation| Some(Node::Operation(Box::new(operation))))
    }

    fn loop_node(
        &mut self,
        header: &Header,
        body: &[NodeSyntax],
        scope: &mut NestScope,
    ) -> Result<Option<Node>, Problem> {
        let each = loop_of(header, scope)?;
        if body.is_empty() {
            let help = "put statements or loops below, each after a dash that is indented further";
            self.problems.push(Problem::new(each.span, "this loop does nothing").with_help(help));
        }
        scope.loops.push(each);
        let body = self.nodes(body, scope);
        Ok(scope.loops.pop().map(|each| Node::Loop(Loop { body, ..each })))
    }
}

/// A loop without its body.
fn loop_of(header: &Header, scope: &NestScope) -> Result<Loop, Problem> {
    let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
    let ranges = ranges(&scope.loops);
    let names = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
    let variable = header.variable.text.clone();
    if variables.contains(&variable) {
        return Err(Problem::new(header.variable.span, format!("a loop around has the variable `{variable}` already"))
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
    let step = match &header.step {
        None => 1,
        Some(syntax) => {
            let step = constant(names, syntax, "the step of the loop")?;
            if !(1..=LARGEST_BOUND).contains(&step) {
                let help = format!("a step is from 1 to {LARGEST_BOUND}; backwards, read `array[63 - x]`");
                return Err(Problem::new(syntax.span, format!("a step of {step}")).with_help(help));
            }
            step
        }
    };
    let extent = (end - min + step - 1) / step;
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
    // With a step, the loop counts iterations: the value of the variable stands in the statements.
    let min = if header.step.is_some() { 0 } else { min };
    Ok(Loop { variable, min, extent, unroll, body: Vec::new(), span: header.span })
}

/// The names that statements at a place of the nest can use.
pub(super) struct NestScope<'a> {
    pub arrays: &'a [Array],
    pub tables: &'a [Table],
    /// The loops around, outermost first, without their bodies.
    pub loops: Vec<Loop>,
}
