//! From an expression to a graph.

use pushmem_nest::{Binary, Expression, ExpressionKind, Operation, Program, Type, Unary};

use crate::copies::{Copies, Place};
use crate::graph::Graph;
use crate::node::NodeKind;
use crate::tables::TableMemories;

/// The graph of the copies of an operation that are executed together, and its result: their sum, product or extreme, which where the
/// order matters begins with the old value of the target. The types and the ranges are those of all their loads.
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
    let first = operation.sums_in_order().then(|| old_value(&mut graph, loads));
    let operator = operation.reduction.unwrap_or(Binary::Add);
    let joined = first.into_iter().chain(results).reduce(|one, other| graph.binary(operator, one, other));
    (graph, joined.expect("there is a copy"))
}

/// The old value of the target of a reduction, its last load.
fn old_value(graph: &mut Graph, loads: &[Type]) -> usize {
    let old = loads.len() - 1;
    graph.intern(NodeKind::Load(old), loads[old].as_words())
}

/// The value that an operation writes, from the result of its graph.
pub(crate) fn written(graph: &mut Graph, operation: &Operation, loads: &[Type], result: usize) -> usize {
    match operation.reduction {
        Some(operator) if !operation.sums_in_order() => {
            let old = old_value(graph, loads);
            graph.binary(operator, old, result)
        }
        _ => result,
    }
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
            ExpressionKind::Unary { operator: Unary::BfloatNegate, operand } => {
                let operand = self.add(operand);
                return self.graph.bfloat_negative(operand);
            }
            ExpressionKind::Unary { operator: Unary::BfloatAbsolute, operand } => {
                let operand = self.add(operand);
                return self.graph.bfloat_magnitude(operand);
            }
            ExpressionKind::Unary { operator: Unary::BfloatFunction(function), operand } => {
                let operand = self.add(operand);
                return self.graph.bfloat_function(*function, operand);
            }
            ExpressionKind::Unary { operator, operand } => {
                NodeKind::Unary { operator: *operator, operand: self.add(operand) }
            }
            ExpressionKind::Binary { operator: Binary::BfloatMinimum, left, right } => {
                let (left, right) = (self.add(left), self.add(right));
                return self.graph.bfloat_extreme(false, left, right);
            }
            ExpressionKind::Binary { operator: Binary::BfloatMaximum, left, right } => {
                let (left, right) = (self.add(left), self.add(right));
                return self.graph.bfloat_extreme(true, left, right);
            }
            ExpressionKind::Binary { operator, left, right } => {
                NodeKind::Binary { operator: *operator, left: self.add(left), right: self.add(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                let (condition, then) = (self.add(condition), self.add(then));
                NodeKind::Select { condition, then, otherwise: self.add(otherwise) }
            }
            ExpressionKind::Cast(inner) if expression.value == Type::Bf16 => {
                let inner = self.add(inner);
                return self.graph.bfloat_from(inner);
            }
            ExpressionKind::Cast(inner) if inner.value == Type::Bf16 => {
                let inner = self.add(inner);
                return self.graph.bfloat_to(inner, expression.value);
            }
            ExpressionKind::Cast(inner) => NodeKind::Cast(self.add(inner)),
        };
        self.graph.node(kind, expression.value.as_words())
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
