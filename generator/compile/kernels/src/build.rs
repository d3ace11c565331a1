//! From an expression to a graph.

use pushmem_nest::{Binary, Expression, ExpressionKind, Program, Type};

use crate::copies::{Copies, Place};
use crate::graph::Graph;
use crate::node::NodeKind;
use crate::tables::TableMemories;

/// The graph of the copies of an operation that are executed together, and its result: their sum, product or extreme. The types
/// and the ranges are those of all their loads.
pub(crate) fn build<'a>(
    program: &'a Program,
    copies: &Copies,
    loads: &[Type],
    ranges: Vec<(i64, i64)>,
) -> (Graph<'a>, usize) {
    let mut graph = Graph::new(&program.tables, TableMemories::NONE, copies.ranges(), ranges);
    let operation = copies.operation;
    let results = (0..copies.len()).map(|number| {
        let mut copy = Copy { graph: &mut graph, copies, number, loads };
        copy.add(&operation.expression)
    });
    let results: Vec<usize> = results.collect();
    let operator = operation.reduction.unwrap_or(Binary::Add);
    let joined = results.into_iter().reduce(|one, other| graph.binary(operator, one, other));
    (graph, joined.expect("there is a copy"))
}

/// One of the copies of an operation, on its way into the graph.
struct Copy<'a, 'b, 'c> {
    graph: &'a mut Graph<'c>,
    copies: &'a Copies<'b>,
    number: usize,
    loads: &'a [Type],
}

impl Copy<'_, '_, '_> {
    fn add(&mut self, expression: &Expression) -> usize {
        let kind = match &expression.kind {
            ExpressionKind::Constant(number) => NodeKind::Constant(*number),
            ExpressionKind::Variable(variable) => return self.variable(*variable, expression.value),
            ExpressionKind::Load(load) => {
                let load = self.copies.first_load(self.number) + load;
                assert_eq!(self.loads[load], expression.value, "a load has the type of its array");
                NodeKind::Load(load)
            }
            ExpressionKind::Lookup { table, index } => NodeKind::Lookup { table: *table, index: self.add(index) },
            ExpressionKind::Unary { operator, operand } => {
                NodeKind::Unary { operator: *operator, operand: self.add(operand) }
            }
            ExpressionKind::Binary { operator, left, right } => {
                NodeKind::Binary { operator: *operator, left: self.add(left), right: self.add(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                let (condition, then) = (self.add(condition), self.add(then));
                NodeKind::Select { condition, then, otherwise: self.add(otherwise) }
            }
            ExpressionKind::Cast(inner) => NodeKind::Cast(self.add(inner)),
        };
        self.graph.node(kind, expression.value)
    }

    /// A loop variable in this copy.
    fn variable(&mut self, variable: usize, value: Type) -> usize {
        match self.copies.place(self.number, variable) {
            Place::Fixed(number) => self.graph.constant(number, value),
            Place::Moved(lane) => {
                let first = self.graph.intern(NodeKind::Variable(variable), value);
                let lane = self.graph.constant(lane, value);
                self.graph.binary(Binary::Add, first, lane)
            }
        }
    }
}
