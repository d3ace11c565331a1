//! The order of the loops of sums: those over which a statement adds, and those of the elements that it adds to.

use itertools::Itertools;
use pushmem_nest::{Access, AffineIndex, Loop, Node, Operation, Program, StatementOrigin, Witness};

/// Puts the loops over which a reduction adds inside of the others of its nest, each kind in the order of the program: all terms of an element come
/// one after the other, so that no memory keeps its sum meanwhile.
///
/// A nest stays as it is if it has several statements, if its order of additions matters, if its statement reads the array that it
/// writes or chooses elements by data, or if no loop that runs would change its place.
#[must_use]
pub fn with_inner_reductions(program: Program) -> (Program, Witness) {
    with_order(program, |target, variable, _| usize::from(!target.follows(variable)))
}

/// Puts the loops of the outermost dimension of the elements outside of the others of the nest of a reduction: a row is complete before the next
/// one begins, so that what reads it waits for no other. An array of one dimension is one row.
///
/// A nest stays as it is as in [`with_inner_reductions`].
#[must_use]
pub fn with_outer_rows(program: Program) -> (Program, Witness) {
    with_order(program, |target, variable, _| match &target.indices[..] {
        [_, .., row] => usize::from(!row.variables().contains(&variable)),
        _ => 0,
    })
}

/// Puts the loops over which a reduction adds outside of the others of its nest: a term is added to all elements before the next one, so that
/// what all of them take, as the weight of a layer, is taken once.
///
/// A nest stays as it is as in [`with_inner_reductions`]; loops that are unrolled altogether stay inside.
#[must_use]
pub fn with_outer_reductions(program: Program) -> (Program, Witness) {
    with_order(program, |target, variable, level| match level.extent > level.unroll {
        true => usize::from(target.follows(variable)),
        false => 2,
    })
}

/// The place of a loop among those of a nest, from the number of its variable: lower ones are outside.
type Rank = fn(&Access, usize, &Loop) -> usize;

/// Puts the loops of reductions into another order.
fn with_order(mut program: Program, rank: Rank) -> (Program, Witness) {
    let mut witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let nest = std::mem::take(&mut program.nest);
    program.nest = nest.into_iter().map(|node| ordered(node, 0, rank, &mut witness.statements)).collect();
    (program, witness)
}

/// A node with `depth` loops around it. Its statements are added to those that come before.
fn ordered(node: Node, depth: usize, rank: Rank, statements: &mut Vec<Option<StatementOrigin>>) -> Node {
    let outer = match node {
        Node::Loop(outer) => outer,
        Node::Operation(_) => {
            statements.push(Some(StatementOrigin::same(statements.len(), depth)));
            return node;
        }
    };
    if let Some((nest, variables)) = turned(&outer, depth, rank) {
        statements.push(Some(StatementOrigin::of(statements.len(), variables)));
        return nest;
    }
    let Loop { body, .. } = outer;
    let body = body.into_iter().map(|node| ordered(node, depth + 1, rank, statements)).collect();
    Node::Loop(Loop { body, ..outer })
}

/// A nest with its loops in another order, and the variables of its old loops. Nothing if it stays as it is.
fn turned(outer: &Loop, depth: usize, rank: Rank) -> Option<(Node, Vec<AffineIndex>)> {
    let (loops, operation) = nest_of(outer)?;
    let rank = |place: &usize| rank(&operation.target, depth + place, loops[*place]);
    let order = (0..loops.len()).sorted_by_key(rank).collect_vec();
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
pub(crate) fn nest_of(outer: &Loop) -> Option<(Vec<&Loop>, &Operation)> {
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
