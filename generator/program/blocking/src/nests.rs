//! Perfect nests: loops of which each has only the next one in it, the innermost one statement.

use itertools::Itertools;
use pushmem_nest::{Index, Loop, Node, Operation};

#[derive(Clone, Debug)]
pub(crate) struct PerfectNest {
    /// The loops, outermost first, without their bodies.
    pub loops: Vec<Loop>,
    /// The statement.
    pub operation: Operation,
}

impl PerfectNest {
    /// The nest at a node, if it is a perfect one.
    pub fn of(node: &Node) -> Option<Self> {
        let mut loops = Vec::new();
        let mut node = node;
        loop {
            match node {
                Node::Operation(operation) => return Some(PerfectNest { loops, operation: *operation.clone() }),
                Node::Loop(level) => {
                    loops.push(Loop { body: Vec::new(), ..level.clone() });
                    node = level.body.iter().exactly_one().ok()?;
                }
            }
        }
    }

    /// Whether the statement accesses an array.
    pub fn uses(&self, array: usize) -> bool {
        self.operation.accesses().any(|access| access.array == array)
    }

    /// Whether each iteration writes an element of its own, so that their order changes nothing: each loop has a dimension to itself.
    pub fn writes_apart(&self) -> bool {
        let target = &self.operation.target;
        let is_along = |place: usize| {
            let mut indices = target.indices.iter().filter_map(Index::as_affine);
            indices.any(|index| matches!(index.terms[..], [(variable, _)] if variable == place))
        };
        target.computed.is_none() && (0..self.loops.len()).all(|place| self.loops[place].extent == 1 || is_along(place))
    }
}

/// These loops, outermost first, around nodes.
pub(crate) fn around(loops: Vec<Loop>, body: Vec<Node>) -> Vec<Node> {
    loops.into_iter().rev().fold(body, |body, level| vec![Node::Loop(Loop { body, ..level })])
}

/// The arrays that the statements in a node write.
fn written(node: &Node) -> Vec<usize> {
    match node {
        Node::Operation(operation) => vec![operation.target.array],
        Node::Loop(level) => level.body.iter().flat_map(written).collect(),
    }
}

/// A node as several, with loops that go around one of them each where that changes no value (loop distribution). `depth` loops are around it.
pub(crate) fn distributed(node: Node, depth: usize) -> Vec<Node> {
    let level = match node {
        Node::Operation(_) => return vec![node],
        Node::Loop(level) => level,
    };
    let body = level.body.iter().cloned().flat_map(|node| distributed(node, depth + 1)).collect_vec();
    if !may_distribute(&body, depth) {
        return vec![Node::Loop(Loop { body, ..level })];
    }
    body.into_iter().map(|node| Node::Loop(Loop { body: vec![node], ..level.clone() })).collect()
}

/// Whether each iteration of the loop with this variable can be cut between the nodes of its body: it has elements of its own in all arrays
/// that some of them write and others access.
fn may_distribute(body: &[Node], variable: usize) -> bool {
    let is_shared = |array: &usize| body.iter().filter(|node| node.uses(*array)).count() > 1;
    let shared = body.iter().flat_map(written).unique().filter(is_shared);
    { shared }.all(|array| {
        let mut accesses = Vec::new();
        body.iter().for_each(|node| node.accesses(array, &mut accesses));
        let first = accesses[0];
        let dimensions = 0..first.indices.len();
        { dimensions }.any(|dimension| {
            let index = &first.indices[dimension];
            let is_own = index.as_affine().is_some_and(|affine| {
                affine.coefficient(variable) != 0 && affine.terms.iter().all(|(other, _)| *other <= variable)
            });
            is_own && accesses.iter().all(|access| access.computed.is_none() && access.indices[dimension] == *index)
        })
    })
}
