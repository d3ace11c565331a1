//! Arrays whose edge is written first: reads beyond the elements within, in its place.

use itertools::Itertools;
use pushmem_nest::{
    AffineIndex, ArrayKind, ArrayOrigin, ExpressionKind, Index, Loop, Node, Operation, Program, StatementOrigin,
    Witness, ranges,
};

use crate::orders::nest_of;

/// Takes the edge from the first array to all elements of which a nest writes a constant before another one writes those within: the array has
/// only these, and what reads it takes the constant beyond them. The witness says how the old program follows from the new one.
///
/// An array stays as it is if it is an input or output or in a level, if data choose its elements, if other statements write it or read it before, or
/// if what is within is no box of it.
#[must_use]
pub fn with_outside_loads(mut program: Program) -> (Program, Witness) {
    let witness = Witness::same(&program);
    let Some(edge) = (0..program.arrays.len()).find_map(|array| edge_of(&program, array, &program.nest, 0)) else {
        return (program, witness);
    };
    let Edge { array, outside, bounds, statement, path } = edge;
    let depth = path.len() - 1;
    remove(&mut program.nest, &path);
    let held = &mut program.arrays[array];
    (held.min, held.shape) = bounds.iter().map(|(low, high)| (*low, high - low + 1)).unzip();
    let rank = held.shape.len();
    for operation in program.operations_mut() {
        for load in operation.loads.iter_mut().filter(|load| load.access.array == array) {
            load.outside = Some(outside);
        }
    }
    let Witness { statements, mut arrays, edges } = witness;
    let elements = (depth..depth + rank).map(AffineIndex::variable).collect();
    arrays[array] = ArrayOrigin { outside: Some(outside), ..ArrayOrigin::held(array, depth, elements) };
    let moved = |(number, origin): (usize, Option<StatementOrigin>)| {
        let origin = origin.filter(|_| number != statement)?;
        Some(StatementOrigin { statement: origin.statement - usize::from(number > statement), ..origin })
    };
    let statements = statements.into_iter().enumerate().map(moved).collect();
    (program, Witness { statements, arrays, edges })
}

/// An edge that a nest writes.
struct Edge {
    array: usize,
    /// The value of the edge.
    outside: i64,
    /// By dimension, the first and the last index of the elements within.
    bounds: Vec<(i64, i64)>,
    /// The number of the statement that writes it.
    statement: usize,
    /// Where its nest is: from the outside, the place of each node in the body of the one around it.
    path: Vec<usize>,
}

/// The edge of an array that all nodes with accesses of it, in a body with `depth` loops around it, have.
fn edge_of(program: &Program, array: usize, body: &[Node], depth: usize) -> Option<Edge> {
    let declared = &program.arrays[array];
    if declared.kind != ArrayKind::Buffer || declared.level.is_some() || declared.random_access {
        return None;
    }
    let uses = |node: &Node| {
        let mut found = Vec::new();
        node.accesses(array, &mut found);
        !found.is_empty()
    };
    let users = body.iter().positions(uses).collect_vec();
    let loop_at = |place: usize| match &body[place] {
        Node::Loop(outer) => Some(outer),
        Node::Operation(_) => None,
    };
    let [first, others @ ..] = &users[..] else { return None };
    let outer = loop_at(*first)?;
    let Some(second) = others.first() else {
        let edge = edge_of(program, array, &outer.body, depth + 1)?;
        return Some(Edge { path: [&[*first], &edge.path[..]].concat(), ..edge });
    };
    let ((all, edge), (loops, within)) = nest_of(outer).zip(nest_of(loop_at(*second)?))?;
    let ExpressionKind::Constant(outside) = edge.expression.kind else { return None };
    let operations = program.operations().into_iter().map(|(_, operation)| operation).collect_vec();
    let loads = operations.iter().flat_map(|operation| &operation.loads).filter(|load| load.access.array == array);
    let is_plain = |of: &Operation| of.target.array == array && of.reduction.is_none() && of.share.is_none();
    let is_alone = operations.iter().filter(|operation| operation.target.array == array).count() == 2
        && loads.clone().all(|load| load.outside.is_none())
        && within.loads.iter().all(|load| load.access.array != array);
    let whole = (0..declared.shape.len()).map(|dimension| (declared.min[dimension], declared.max(dimension)));
    let is_all = box_of(edge, &all, depth)?.into_iter().eq(whole)
        && edge.target.indices.iter().all(|index| index.affine.constant == 0);
    let bounds = box_of(within, &loops, depth)?;
    let statement = operations.iter().position(|operation| std::ptr::eq(*operation, edge))?;
    (is_all && is_alone && is_plain(edge) && is_plain(within)).then_some(Edge {
        array,
        outside,
        bounds,
        statement,
        path: vec![*first],
    })
}

/// By dimension, the first and the last index of the elements that a statement writes in these loops, each once, with so many loops around.
fn box_of(operation: &Operation, loops: &[&Loop], depth: usize) -> Option<Vec<(i64, i64)>> {
    let bounds = ranges(loops.iter().copied());
    let mut used = Vec::new();
    let bound = |index: &Index| {
        let affine = index.as_affine()?;
        let [(variable, 1)] = affine.terms[..] else { return None };
        let place = variable.checked_sub(depth)?;
        used.push(place);
        let (low, high) = bounds[place];
        Some((low + affine.constant, high + affine.constant))
    };
    let found = operation.target.indices.iter().map(bound).collect::<Option<Vec<_>>>()?;
    (used.iter().all_unique() && used.len() == loops.len()).then_some(found)
}

/// Removes a node.
fn remove(body: &mut Vec<Node>, path: &[usize]) {
    match path {
        [place] => drop(body.remove(*place)),
        [place, rest @ ..] => match &mut body[*place] {
            Node::Loop(inner) => remove(&mut inner.body, rest),
            Node::Operation(_) => unreachable!("a path goes through loops"),
        },
        [] => unreachable!("a path has a place"),
    }
}
