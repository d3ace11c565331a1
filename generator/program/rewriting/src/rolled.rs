//! Copies that a program spells out: statements, and terms of sums, that differ in their elements alone.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_nest::{
    AffineIndex, Expression, ExpressionKind, Index, Load, Loop, Node, Operation, Part, Program, StatementOrigin,
    Witness,
};

use crate::digits::shows;

/// Rolls copies into loops that are unrolled altogether: statements that follow one another, and the terms of a reduction, that are alike but for
/// constants of their indices, which grow by the same steps from one to the next. `o[2*k] = f(a[2*k])` and `o[2*k + 1] = f(a[2*k + 1])` become
/// `o[2*k + lane] = f(a[2*k + lane])`. The witness says how the old program follows from the new one.
///
/// Statements stay as they are that share hardware, whose elements data choose, or that read the array that they write; and terms stay whose sum
/// depends on their order.
#[must_use]
pub fn with_rolled_copies(mut program: Program) -> (Program, Witness) {
    let witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let nest = std::mem::take(&mut program.nest);
    let mut pass = Rolling { program: &program, around: Vec::new(), count: 0, witness };
    let nest = pass.body(nest);
    let witness = pass.witness;
    (Program { nest, ..program }, witness)
}

/// The pass, within some loops.
struct Rolling<'a> {
    /// The program, without the nest.
    program: &'a Program,
    /// The variables of the loops around, outermost first.
    around: Vec<String>,
    /// The statements of the new program so far.
    count: usize,
    witness: Witness,
}

/// Copies as one: with the numbers of iterations of the loops around it, innermost first, whose variables are numbered from this one on.
struct Rolled {
    operation: Operation,
    extents: Vec<i64>,
}

impl Rolled {
    /// Whether the lanes write elements of their own, or add to them. The variables of the lanes are numbered from this one on.
    fn writes_once(&self, variable: usize) -> bool {
        let Rolled { operation, extents } = self;
        operation.reduction.is_some() || shows(&operation.target, variable, extents)
    }
}

impl Rolling<'_> {
    /// The nodes of a loop, or of the program.
    fn body(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done = Vec::new();
        let mut rest = nodes.into_iter().peekable();
        while let Some(node) = rest.next() {
            match node {
                Node::Loop(mut inner) => {
                    self.around.push(inner.variable.clone());
                    inner.body = self.body(inner.body);
                    self.around.pop();
                    done.push(Node::Loop(inner));
                }
                Node::Operation(first) => {
                    let mut copies = vec![*first];
                    let is_alike = |node: &Node, first: &Operation| match node {
                        Node::Operation(next) => steps(first, next).is_some(),
                        Node::Loop(_) => false,
                    };
                    while let Some(Node::Operation(next)) = rest.next_if(|node| is_alike(node, &copies[0])) {
                        copies.push(*next);
                    }
                    done.extend(self.rolled(copies));
                }
            }
        }
        done
    }

    /// Statements that are alike, in loops that roll them if they are copies, and each in those that roll its terms.
    fn rolled(&mut self, copies: Vec<Operation>) -> Vec<Node> {
        let depth = self.around.len();
        let is_right = |rolled: &Rolled| copies.iter().all(may_roll) && rolled.writes_once(depth);
        match rolled(&copies, depth).filter(is_right) {
            Some(Rolled { operation, extents }) => vec![self.add(&operation, &extents)],
            None => copies.iter().map(|operation| self.add(operation, &[])).collect(),
        }
    }

    /// A statement that copies have become, in the loops of these, and of its own terms. Adds the origins of the copies.
    fn add(&mut self, operation: &Operation, of_copies: &[i64]) -> Node {
        let depth = self.around.len();
        let terms = rolled_terms(operation, depth + of_copies.len());
        let (operation, of_terms) = match &terms {
            Some(Rolled { operation, extents }) => (operation, &extents[..]),
            None => (operation, &[][..]),
        };
        // Until here the variable of an inner loop has a lower number.
        let [copies, terms] = [of_copies, of_terms].map(|extents| extents.iter().rev().copied().collect_vec());
        let inner = (0..copies.len()).rev().chain((copies.len()..copies.len() + terms.len()).rev());
        let values = (0..depth).chain(inner.map(|place| depth + place)).map(AffineIndex::variable).collect_vec();
        let operation = operation.in_loops(&values).expect("the same indices, with other numbers");
        for copy in copies.iter().map(|extent| 0..*extent).multi_cartesian_product() {
            let fixed = copy.into_iter().map(AffineIndex::constant);
            let lanes = (depth..depth + terms.len()).map(AffineIndex::variable);
            let variables = (0..depth).map(AffineIndex::variable).chain(fixed).chain(lanes).collect();
            let origin = StatementOrigin { lanes: terms.clone(), ..StatementOrigin::of(self.count, variables) };
            self.witness.statements.push(Some(origin));
        }
        self.count += 1;
        let mut names = self.around.clone();
        let mut loops = Vec::new();
        for extent in copies.into_iter().chain(terms) {
            let around = names.iter().map(String::as_str).collect_vec();
            let variable = self.program.unused_name("lane", &around);
            names.push(variable.clone());
            loops.push(Loop { variable, min: 0, extent, unroll: extent, body: Vec::new(), span: operation.span });
        }
        let statement = Node::Operation(Box::new(operation));
        loops.into_iter().rev().fold(statement, |node, around| Node::Loop(Loop { body: vec![node], ..around }))
    }
}

/// Whether the hardware of a statement may become one of several copies.
fn may_roll(operation: &Operation) -> bool {
    let reads_itself = operation.loads.iter().any(|load| load.access.array == operation.target.array);
    operation.share.is_none() && !operation.sums_in_order() && !reads_itself
}

/// The terms of a reduction as one, if they are copies.
fn rolled_terms(operation: &Operation, variable: usize) -> Option<Rolled> {
    let operator = operation.reduction.filter(|_| may_roll(operation))?;
    let mut terms = Vec::new();
    let mut open = vec![&operation.expression];
    let mut seen = HashSet::new();
    while let Some(of) = open.pop() {
        // A value that is a term twice is no copy of itself. Of sums of values that stand for each other, there are exponentially many terms.
        if !seen.insert(Part(of)) {
            return None;
        }
        match &of.kind {
            ExpressionKind::Binary { operator: by, left, right }
                if *by == operator && of.value == operation.expression.value =>
            {
                open.extend([&**right, &**left]);
            }
            _ => terms.push(alone(operation, of)),
        }
    }
    rolled(&terms, variable)
}

/// A statement with this value, and the loads of it.
fn alone(operation: &Operation, expression: &Expression) -> Operation {
    let mut loads: Vec<Load> = Vec::new();
    let numbered = expression.rebuilt_by(&mut |_, part| match part.kind {
        ExpressionKind::Load(load) => {
            let load = &operation.loads[load];
            let known = loads.iter().position(|known| known == load);
            let number = known.unwrap_or_else(|| {
                loads.push(load.clone());
                loads.len() - 1
            });
            Some(Expression { kind: ExpressionKind::Load(number), ..part })
        }
        _ => Some(part),
    });
    let expression = numbered.expect("each part has a new one");
    Operation { expression, loads, ..operation.clone() }
}

/// Copies as one statement, in loops whose variables are numbered from this one on, the innermost first.
fn rolled(copies: &[Operation], variable: usize) -> Option<Rolled> {
    let mut copies = copies.to_vec();
    let mut extents = Vec::new();
    while copies.len() > 1 {
        let step = steps(&copies[0], &copies[1]).filter(|steps| steps.iter().any(|step| *step != 0))?;
        let follows = |chunk: &[Operation], place: usize| {
            let found = steps(&chunk[0], &chunk[place])?;
            found.iter().zip(&step).all(|(found, step)| Some(*found) == step.checked_mul(place as i64)).then_some(())
        };
        let alike = 1 + (1..copies.len()).take_while(|place| follows(&copies, *place).is_some()).count();
        let extent = (2..=alike).rev().find(|extent| copies.len().is_multiple_of(*extent))?;
        let lane = AffineIndex::variable(variable + extents.len());
        let joined = copies.chunks(extent).map(|chunk| {
            (1..extent).try_for_each(|place| follows(chunk, place))?;
            let mut one = chunk[0].clone();
            let accesses = one.loads.iter_mut().map(|load| &mut load.access).chain([&mut one.target]);
            let indices = accesses.flat_map(|access| &mut access.indices);
            for (index, step) in indices.zip(&step) {
                index.affine = index.affine.plus(&lane, *step)?;
            }
            Some(one)
        });
        copies = joined.collect::<Option<_>>()?;
        extents.push(extent as i64);
    }
    let operation = copies.pop().filter(|_| !extents.is_empty())?;
    Some(Rolled { operation, extents })
}

/// By how much the constant of each index of a statement differs in another one, if that is all in which they differ.
fn steps(one: &Operation, other: &Operation) -> Option<Vec<i64>> {
    let outside = |operation: &Operation| operation.loads.iter().map(|load| load.outside).collect_vec();
    let are_alike = one.reduction == other.reduction
        && one.target.array == other.target.array
        && one.loads.len() == other.loads.len()
        && outside(one) == outside(other)
        && one.expression.difference(&other.expression).is_none();
    if !are_alike {
        return None;
    }
    let step = |(one, other): (&Index, &Index)| {
        let (own, others) = (&one.affine, &other.affine);
        let is_shift = own.terms == others.terms && one.pieces == other.pieces;
        is_shift.then(|| others.constant.checked_sub(own.constant)).flatten()
    };
    let mut found = Vec::new();
    for (one, other) in one.accesses().zip(other.accesses()) {
        if one.array != other.array || one.computed.is_some() || other.computed.is_some() {
            return None;
        }
        for pair in one.indices.iter().zip(&other.indices) {
            found.push(step(pair)?);
        }
    }
    Some(found)
}
