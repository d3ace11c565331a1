//! Copies with an edge: the edge is written first, and then the elements within.

use itertools::Itertools;
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
    let witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let mut pass = Edges { program, count: 0, witness };
    let nest = std::mem::take(&mut pass.program.nest);
    let nest = pass.nodes(nest, &[]);
    (Program { nest, ..pass.program }, pass.witness)
}

/// Copies with the value beyond an array where a program writes that to all elements, and then copies those within: the opposite of
/// [`with_edges`]. The witness says how the old program follows from the new one.
#[must_use]
pub fn without_edges(program: Program) -> (Program, Witness) {
    let witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let mut pass = Edges { program, count: 0, witness };
    let nest = std::mem::take(&mut pass.program.nest);
    let nest = pass.joined(nest, &[]);
    (Program { nest, ..pass.program }, pass.witness)
}

/// The pass.
struct Edges {
    /// The program, without the nest.
    program: Program,
    /// The statements of the old program so far.
    count: usize,
    witness: Witness,
}

impl Edges {
    /// Nodes in loops whose variables have these ranges.
    fn nodes(&mut self, nodes: Vec<Node>, around: &[(i64, i64)]) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node, around)).collect()
    }

    fn node(&mut self, node: Node, around: &[(i64, i64)]) -> Vec<Node> {
        let outer = match node {
            Node::Loop(outer) => outer,
            Node::Operation(_) => {
                self.add(around.len());
                return vec![node];
            }
        };
        if let Some((loops, operation)) = nest_of(&outer)
            && let Some((edge, within)) = self.cut(&loops, operation, around)
        {
            self.witness.edges.push(self.witness.statements.len());
            self.witness.statements.push(None);
            self.add(around.len() + loops.len());
            return vec![edge, within];
        }
        let ranges = [around, &[(outer.min, outer.max())]].concat();
        let Loop { body, .. } = outer;
        let body = self.nodes(body, &ranges);
        vec![Node::Loop(Loop { body, ..outer })]
    }

    /// As [`Edges::nodes`], the other way round.
    fn joined(&mut self, nodes: Vec<Node>, around: &[(i64, i64)]) -> Vec<Node> {
        let mut done = Vec::new();
        let mut rest = nodes.into_iter().peekable();
        while let Some(node) = rest.next() {
            if let (Node::Loop(edge), Some(Node::Loop(inner))) = (&node, rest.peek())
                && let Some((edge, inner)) = nest_of(edge).zip(nest_of(inner))
                && let Some(whole) = self.join(edge.clone(), inner, around)
            {
                self.witness.edges.push(self.witness.statements.len());
                self.witness.statements.push(None);
                self.add(around.len() + edge.0.len());
                done.push(whole);
                rest.next();
                continue;
            }
            done.push(match node {
                Node::Loop(outer) => {
                    let ranges = [around, &[(outer.min, outer.max())]].concat();
                    let Loop { body, .. } = outer;
                    Node::Loop(Loop { body: self.joined(body, &ranges), ..outer })
                }
                Node::Operation(_) => {
                    self.add(around.len());
                    node
                }
            });
        }
        done
    }

    /// The nest that copies with an edge, for one of the edge and one of what is within.
    fn join(
        &self,
        (loops, edge): (Vec<&Loop>, &Operation),
        (inner, within): (Vec<&Loop>, &Operation),
        around: &[(i64, i64)],
    ) -> Option<Node> {
        let ExpressionKind::Constant(outside) = edge.expression.kind else { return None };
        let [Load { access, outside: None }] = &within.loads[..] else { return None };
        let is_plain = |of: &Operation| {
            of.reduction.is_none() && of.share.is_none() && of.accesses().all(|access| access.computed.is_none())
        };
        let copies = within.expression.kind == ExpressionKind::Load(0) && access.array != within.target.array;
        let are_alike = edge.target.array == within.target.array
            && loops.len() == inner.len()
            && loops.iter().zip(&inner).all(|(edge, within)| edge.unroll == within.unroll);
        if !copies || !are_alike || !edge.loads.is_empty() || !is_plain(edge) || !is_plain(within) {
            return None;
        }
        let depth = around.len();
        let mut shifts = vec![0; depth + loops.len()];
        for (edge, within) in edge.target.indices.iter().zip(&within.target.indices) {
            let (edge, within) = (edge.as_affine()?, within.as_affine()?);
            if let [(level, step)] = edge.terms[..]
                && level >= depth
            {
                shifts[level] = (edge.constant - within.constant) / step;
            }
        }
        let moved =
            |(level, shift): (usize, &i64)| AffineIndex::variable(level).plus(&AffineIndex::constant(*shift), 1);
        let values = shifts.iter().enumerate().map(moved).collect::<Option<Vec<_>>>()?;
        let mut whole = within.in_loops(&values).filter(|whole| whole.target.is_same_element(&edge.target))?;
        let array = &self.program.arrays[access.array];
        let there = self::within(array, &whole.loads[0].access.indices, &loops, around)?;
        let own = ranges(inner.iter().copied()).into_iter().zip(&shifts[depth..]);
        if !own.map(|((first, last), shift)| (first - shift, last - shift)).eq(there) {
            return None;
        }
        whole.loads[0].outside = Some(outside);
        let around = |body: Node, level: &&Loop| Node::Loop(Loop { body: vec![body], ..(*level).clone() });
        Some(loops.iter().rev().fold(Node::Operation(Box::new(whole)), around))
    }

    /// Adds the origin of a statement of the old program, in so many loops.
    fn add(&mut self, depth: usize) {
        self.witness.statements.push(Some(StatementOrigin::same(self.count, depth)));
        self.count += 1;
    }

    /// The nests of the edge and of what is within, for one with a statement that copies with an edge.
    fn cut(&self, loops: &[&Loop], operation: &Operation, around: &[(i64, i64)]) -> Option<(Node, Node)> {
        let [Load { access, outside: Some(outside) }] = &operation.loads[..] else { return None };
        let copies = operation.expression.kind == ExpressionKind::Load(0) && operation.reduction.is_none();
        let is_plain = operation.accesses().all(|access| access.computed.is_none()) && operation.share.is_none();
        if !copies || !is_plain || access.array == operation.target.array {
            return None;
        }
        let bounds = within(&self.program.arrays[access.array], &access.indices, loops, around)?;
        let expression = Expression { kind: ExpressionKind::Constant(*outside), ..operation.expression.clone() };
        let name = self.program.unused_name(&format!("{}_edge", operation.name), &[]);
        let edge = Operation { name, expression, loads: Vec::new(), ..operation.clone() };
        let loads = vec![Load { access: access.clone(), outside: None }];
        let inner = Operation { loads, ..operation.clone() };
        let nest = |operation: Operation, bounds: &[(i64, i64)]| {
            let around = |body: Node, (level, (low, high)): (&&Loop, &(i64, i64))| {
                Node::Loop(Loop { min: *low, extent: high - low + 1, body: vec![body], ..(*level).clone() })
            };
            let levels = loops.iter().zip(bounds).rev();
            levels.fold(Node::Operation(Box::new(operation)), around)
        };
        let all = loops.iter().map(|level| (level.min, level.max())).collect_vec();
        (bounds != all).then(|| (nest(edge, &all), nest(inner, &bounds)))
    }
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
