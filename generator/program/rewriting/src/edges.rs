//! Copies with an edge: the edge is written first, and then the elements within.

use pushmem_nest::{
    AffineIndex, Array, Expression, ExpressionKind, Index, Load, Loop, Node, Operation, Program, StatementOrigin,
    Witness, ranges,
};

use crate::orders::nest_of;

/// Writes the value beyond an array to all elements of a copy with an edge, `padded[x] = outside(a[x - 1], 0)`, and then copies those within.
/// The copy follows the array row by row then: of the edge, it waits for nothing.
///
/// A copy stays as it is if its nest has other statements, if it leaves the array along an index that is none of its loops alone, or if copies of
/// the hardware share the iterations of such a loop.
#[must_use]
pub fn with_edges(program: Program) -> (Program, Witness) {
    rewritten(program, cut)
}

/// Copies with the value beyond an array where a program writes that to all elements, and then copies those within: the opposite of
/// [`with_edges`]. The witness says how the old program follows from the new one.
#[must_use]
pub fn without_edges(program: Program) -> (Program, Witness) {
    rewritten(program, join)
}

fn rewritten(program: Program, change: Change) -> (Program, Witness) {
    let witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let mut pass = Edges { program, change, count: 0, witness };
    let nest = std::mem::take(&mut pass.program.nest);
    let nest = pass.nodes(nest, &[]);
    (Program { nest, ..pass.program }, pass.witness)
}

/// From a copy with an edge to the edge and what is within, or back: from a node and the next one, in loops whose variables have these ranges.
type Change = fn(&Program, &Node, Option<&Node>, &[(i64, i64)]) -> Option<Changed>;

/// What comes in the place of nodes.
struct Changed {
    nodes: Vec<Node>,
    /// The loops of the copy.
    depth: usize,
    takes_next: bool,
}

/// The pass.
struct Edges {
    /// The program, without the nest.
    program: Program,
    change: Change,
    /// The statements so far of the program that has copies with an edge.
    count: usize,
    witness: Witness,
}

impl Edges {
    /// Nodes in loops whose variables have these ranges.
    fn nodes(&mut self, nodes: Vec<Node>, around: &[(i64, i64)]) -> Vec<Node> {
        let mut done = Vec::new();
        let mut rest = nodes.into_iter().peekable();
        while let Some(node) = rest.next() {
            if let Some(changed) = (self.change)(&self.program, &node, rest.peek(), around) {
                self.witness.edges.push(self.witness.statements.len());
                self.witness.statements.push(None);
                self.add(around.len() + changed.depth);
                done.extend(changed.nodes);
                rest.next_if(|_| changed.takes_next);
                continue;
            }
            done.push(match node {
                Node::Loop(mut outer) => {
                    let ranges = [around, &[(outer.min, outer.max())]].concat();
                    outer.body = self.nodes(outer.body, &ranges);
                    Node::Loop(outer)
                }
                Node::Operation(_) => {
                    self.add(around.len());
                    node
                }
            });
        }
        done
    }

    /// Adds the origin of a statement, in so many loops.
    fn add(&mut self, depth: usize) {
        self.witness.statements.push(Some(StatementOrigin::same(self.count, depth)));
        self.count += 1;
    }
}

/// The nests of the edge and of what is within, for one that copies with an edge.
fn cut(program: &Program, node: &Node, _: Option<&Node>, around: &[(i64, i64)]) -> Option<Changed> {
    let Node::Loop(outer) = node else { return None };
    let (loops, operation) = nest_of(outer)?;
    let Load { access, outside: Some(outside) } = copied(operation)? else { return None };
    let bounds = within(&program.arrays[access.array], &access.indices, &loops, around)?;
    let all = ranges(loops.iter().copied());
    if bounds == all {
        return None;
    }
    let expression = Expression { kind: ExpressionKind::Constant(*outside), ..operation.expression.clone() };
    let name = program.unused_name(&format!("{}_edge", operation.name), &[]);
    let edge = Operation { name, expression, loads: Vec::new(), ..operation.clone() };
    let inner = Operation { loads: vec![Load { access: access.clone(), outside: None }], ..operation.clone() };
    let nodes = vec![nest(edge, &loops, &all), nest(inner, &loops, &bounds)];
    Some(Changed { nodes, depth: loops.len(), takes_next: false })
}

/// The nest that copies with an edge, for one of the edge and one of what is within.
fn join(program: &Program, node: &Node, next: Option<&Node>, around: &[(i64, i64)]) -> Option<Changed> {
    let (Node::Loop(outer), Some(Node::Loop(next))) = (node, next) else { return None };
    let ((loops, edge), (inner, operation)) = nest_of(outer).zip(nest_of(next))?;
    let ExpressionKind::Constant(outside) = edge.expression.kind else { return None };
    let Load { access, outside: None } = copied(operation)? else { return None };
    let are_alike = edge.target.array == operation.target.array
        && loops.len() == inner.len()
        && loops.iter().zip(&inner).all(|(edge, within)| edge.unroll == within.unroll);
    if !are_alike || !edge.loads.is_empty() || !is_plain(edge) {
        return None;
    }
    let depth = around.len();
    let mut shifts = vec![0; depth + loops.len()];
    for (edge, within) in edge.target.indices.iter().zip(&operation.target.indices) {
        let (edge, within) = (edge.as_affine()?, within.as_affine()?);
        if let [(level, step)] = edge.terms[..]
            && level >= depth
        {
            shifts[level] = (edge.constant - within.constant) / step;
        }
    }
    let moved = |(level, shift): (usize, &i64)| AffineIndex::variable(level).plus(&AffineIndex::constant(*shift), 1);
    let values = shifts.iter().enumerate().map(moved).collect::<Option<Vec<_>>>()?;
    let mut whole = operation.in_loops(&values).filter(|whole| whole.target.is_same_element(&edge.target))?;
    let there = within(&program.arrays[access.array], &whole.loads[0].access.indices, &loops, around)?;
    let own = ranges(inner.iter().copied()).into_iter().zip(&shifts[depth..]);
    if !own.map(|((first, last), shift)| (first - shift, last - shift)).eq(there) {
        return None;
    }
    whole.loads[0].outside = Some(outside);
    let nodes = vec![nest(whole, &loops, &ranges(loops.iter().copied()))];
    Some(Changed { nodes, depth: loops.len(), takes_next: true })
}

/// The load of a statement that does no more than to copy from another array.
fn copied(operation: &Operation) -> Option<&Load> {
    let [load] = &operation.loads[..] else { return None };
    let copies = operation.expression.kind == ExpressionKind::Load(0) && load.access.array != operation.target.array;
    (copies && is_plain(operation)).then_some(load)
}

/// Whether a statement assigns, with hardware of its own, and no data choose its elements.
fn is_plain(operation: &Operation) -> bool {
    let chooses = operation.accesses().any(|access| access.computed.is_some());
    operation.reduction.is_none() && operation.share.is_none() && !chooses
}

/// A statement in such loops, with these bounds.
fn nest(operation: Operation, loops: &[&Loop], bounds: &[(i64, i64)]) -> Node {
    let around = |body: Node, (level, (low, high)): (&&Loop, &(i64, i64))| {
        Node::Loop(Loop { min: *low, extent: high - low + 1, body: vec![body], ..(*level).clone() })
    };
    loops.iter().zip(bounds).rev().fold(Node::Operation(Box::new(operation)), around)
}

/// The least and the greatest value of each loop for which an element is in its array, if these are all iterations in which it is.
fn within(array: &Array, indices: &[Index], loops: &[&Loop], around: &[(i64, i64)]) -> Option<Vec<(i64, i64)>> {
    let mut bounds = ranges(loops.iter().copied());
    let all = [around, &bounds].concat();
    for (dimension, index) in indices.iter().enumerate() {
        let (least, greatest) = (array.min[dimension], array.max(dimension));
        let (low, high) = index.range(&all);
        if least <= low && high <= greatest {
            continue;
        }
        let affine = index.as_affine()?;
        let [(variable, step @ 1..)] = affine.terms[..] else { return None };
        let place = variable.checked_sub(around.len()).filter(|place| loops[*place].unroll == 1)?;
        let (first, last) = &mut bounds[place];
        // The least value whose element is not below the array, and the greatest whose element is not above.
        *first = (*first).max(-(affine.constant - least).div_euclid(step));
        *last = (*last).min((greatest - affine.constant).div_euclid(step));
    }
    bounds.iter().all(|(first, last)| first <= last).then_some(bounds)
}
