//! From an expression to a graph.

use std::collections::HashMap;

use pushmem_nest::{Access, Binary, Expression, ExpressionKind, Operation, Part, Program, Type, Unary, Word};

use crate::graph::Graph;
use pushmem_datapaths::NodeKind;
use pushmem_datapaths::{Copies, Place};
use pushmem_datapaths::{TableMemories, address_bits};

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
    let results = (0..copies.count())
        .map(|number| Copy::new(&mut graph, copies, number, loads, program).add(&operation.expression));
    let results: Vec<usize> = results.collect();
    let first = operation.sums_in_order().then(|| old_value(&mut graph, loads));
    let operator = operation.reduction.unwrap_or(Binary::Add);
    let joined = first.into_iter().chain(results).reduce(|one, other| graph.binary(operator, one, other));
    let joined = joined.expect("there is a copy");
    if !program.arrays[operation.target.array].random_access {
        return (graph, joined);
    }
    let address = Copy::new(&mut graph, copies, 0, loads, program).address(&operation.target);
    let written = with_address(&mut graph, joined, address);
    (graph, written)
}

/// An element and its address together, the element in the low word: what goes to a random-access memory.
fn with_address(graph: &mut Graph, element: usize, address: usize) -> usize {
    let [element, address] = [element, address].map(|of| {
        let word = graph.node(NodeKind::Cast(of), Type::U16);
        graph.node(NodeKind::Cast(word), Type::U32)
    });
    let bits = graph.constant(Word::BITS.into(), Type::U32);
    let address = graph.binary(Binary::ShiftLeft, address, bits);
    graph.binary(Binary::Or, address, element)
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
    program: &'a Program,
    /// The nodes of parts, which several others may compute with.
    known: HashMap<Part<'b>, usize>,
}

impl<'a, 'b, 'c> Copy<'a, 'b, 'c> {
    fn new(
        graph: &'a mut Graph<'c>,
        copies: &'a Copies<'b>,
        number: usize,
        loads: &'a [Type],
        program: &'a Program,
    ) -> Self {
        Self { graph, copies, number, loads, program, known: HashMap::new() }
    }

    /// The node of an expression.
    fn add(&mut self, expression: &'b Expression) -> usize {
        if let Some(known) = self.known.get(&Part(expression)) {
            return *known;
        }
        let node = self.added(expression);
        self.known.insert(Part(expression), node);
        node
    }

    fn added(&mut self, expression: &'b Expression) -> usize {
        let kind = match &expression.kind {
            ExpressionKind::Constant(number) => NodeKind::Constant(*number),
            ExpressionKind::Variable(variable) => return self.variable(*variable, expression.value),
            ExpressionKind::Load(number) => {
                let load = self.copies.first_load(self.number) + number;
                assert_eq!(self.loads[load], expression.value, "a load has the type of its array");
                let access = &self.copies.operation.loads[*number].access;
                match self.program.arrays[access.array].random_access {
                    true => self.memory_read(load, access),
                    false => NodeKind::Load(load),
                }
            }
            ExpressionKind::Lookup { table, index } => NodeKind::Lookup { table: *table, index: self.add(index) },
            ExpressionKind::Unary { operator: Unary::FloatNegate(_), operand } => {
                let operand = self.add(operand);
                return self.graph.float_negative(operand);
            }
            ExpressionKind::Unary { operator: Unary::FloatAbsolute(_), operand } => {
                let operand = self.add(operand);
                return self.graph.float_magnitude(operand);
            }
            ExpressionKind::Unary { operator: Unary::FloatFunction(format, function), operand } => {
                let operand = self.add(operand);
                return self.graph.float_function(*format, *function, operand);
            }
            ExpressionKind::Unary { operator, operand } => {
                NodeKind::Unary { operator: *operator, operand: self.add(operand) }
            }
            ExpressionKind::Binary { operator: Binary::FloatMinimum(format), left, right } => {
                let (left, right) = (self.add(left), self.add(right));
                return self.graph.float_extreme(*format, false, left, right);
            }
            ExpressionKind::Binary { operator: Binary::FloatMaximum(format), left, right } => {
                let (left, right) = (self.add(left), self.add(right));
                return self.graph.float_extreme(*format, true, left, right);
            }
            ExpressionKind::Binary { operator, left, right } => {
                NodeKind::Binary { operator: *operator, left: self.add(left), right: self.add(right) }
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                let (condition, then) = (self.add(condition), self.add(then));
                NodeKind::Select { condition, then, otherwise: self.add(otherwise) }
            }
            ExpressionKind::Cast(inner) => {
                let (from, to) = (inner.value.format(), expression.value.format());
                let inner = self.add(inner);
                match (from, to) {
                    (None, None) => NodeKind::Cast(inner),
                    (None, Some(format)) => return self.graph.float_from(format, inner),
                    (Some(format), None) => return self.graph.float_to(format, inner, expression.value),
                    (Some(_), Some(_)) => unreachable!("programs cast no format to another"),
                }
            }
        };
        self.graph.node(kind, expression.value.as_words())
    }

    /// The address of an element in a random-access memory: its place in the array, in the order of memory.
    fn address(&mut self, access: &'b Access) -> usize {
        let array = &self.program.arrays[access.array];
        let indices = access.computed.as_ref().expect("accesses of random-access memories compute their indices");
        let mut distance = 1;
        let mut sum = None;
        for (index, (&least, &extent)) in indices.iter().zip(array.min.iter().zip(&array.shape)) {
            let [index, least, factor] =
                [self.add(index), self.graph.constant(least, Type::I32), self.graph.constant(distance, Type::I32)];
            let place = self.graph.binary(Binary::Subtract, index, least);
            let place = self.graph.binary(Binary::Multiply, place, factor);
            sum = Some(sum.map_or(place, |sum| self.graph.binary(Binary::Add, sum, place)));
            distance *= extent;
        }
        sum.expect("arrays have dimensions")
    }

    /// The node that reads a load out of a random-access memory.
    fn memory_read(&mut self, load: usize, access: &'b Access) -> NodeKind {
        let address_bits = address_bits(self.program.arrays[access.array].size());
        let address = self.address(access);
        // The bits that leave the kernel are few: no operator needs to compute others.
        let narrow = if address_bits <= Type::U8.bits() { Type::U8 } else { Type::U16 };
        NodeKind::Read { load, address: self.graph.node(NodeKind::Cast(address), narrow), address_bits }
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
