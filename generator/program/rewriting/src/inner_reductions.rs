//! Loops over which a statement adds, inside of those of the elements that it adds to.

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Loop, Node, Operation, Program, StatementOrigin, Witness};

/// Puts the loops over which a reduction adds inside of the others of its nest, each kind in the order of the program: all terms of an element come
/// one after the other, so that no memory keeps its sum meanwhile.
///
/// A nest stays as it is if it has several statements, if its order of additions matters, if its statement reads the array that it
/// writes or chooses elements by data, or if no loop that runs would change its place.
#[must_use]
pub fn with_inner_reductions(mut program: Program) -> (Program, Witness) {
    let mut witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let nest = std::mem::take(&mut program.nest);
    program.nest = nest.into_iter().map(|node| with_order(node, 0, &mut witness.statements)).collect();
    (program, witness)
}

/// A node with `depth` loops around it. Its statements are added to those that come before.
fn with_order(node: Node, depth: usize, statements: &mut Vec<Option<StatementOrigin>>) -> Node {
    let outer = match node {
        Node::Loop(outer) => outer,
        Node::Operation(_) => {
            statements.push(Some(StatementOrigin::same(statements.len(), depth)));
            return node;
        }
    };
    if let Some((nest, variables)) = turned(&outer, depth) {
        statements.push(Some(StatementOrigin::of(statements.len(), variables)));
        return nest;
    }
    let Loop { body, .. } = outer;
    let body = body.into_iter().map(|node| with_order(node, depth + 1, statements)).collect();
    Node::Loop(Loop { body, ..outer })
}

/// A nest with the loops inside that its target does not follow, and the variables of its old loops. Nothing if it stays as it is.
fn turned(outer: &Loop, depth: usize) -> Option<(Node, Vec<AffineIndex>)> {
    let (loops, operation) = nest_of(outer)?;
    let (elements, sums): (Vec<usize>, Vec<usize>) =
        (0..loops.len()).partition(|place| operation.target.follows(depth + place));
    let order = elements.into_iter().chain(sums).collect_vec();
    let runs = |place: &&usize| loops[**place].extent > loops[**place].unroll;
    if !may_turn(operation) || order.iter().filter(runs).is_sorted() {
        return None;
    }
    let new = |place: usize| depth + order.iter().position(|other| *other == place).expect("each loop has a place");
    let variables = (0..depth).chain((0..loops.len()).map(new)).map(AffineIndex::variable).collect_vec();
    let statement = Node::Operation(Box::new(operation.in_loops(&variables)?));
    let around = |body: Node, place: &usize| Node::Loop(Loop { body: vec![body], ..loops[*place].clone() });
    Some((order.iter().rev().fold(statement, around), variables))
}

/// The loops of a nest with one statement, outermost first, and that.
fn nest_of(outer: &Loop) -> Option<(Vec<&Loop>, &Operation)> {
    let mut loops = vec![outer];
    loop {
        match loops[loops.len() - 1].body.as_slice() {
            [Node::Loop(inner)] => loops.push(inner),
            [Node::Operation(operation)] => return Some((loops, operation)),
            _ => return None,
        }
    }
}

/// Whether the iterations of a statement may come in any order.
fn may_turn(operation: &Operation) -> bool {
    let reads_itself = operation.loads.iter().any(|load| load.access.array == operation.target.array);
    let is_computed = operation.accesses().any(|access| access.computed.is_some());
    operation.reduction.is_some() && !operation.sums_in_order() && !reads_itself && !is_computed
}
