//! Accumulators in registers: a reduction whose innermost loop updates one element again and again.

use std::collections::HashMap;
use std::sync::Arc;

use itertools::Itertools;
use pushmem_nest::{
    Access, AffineIndex, Array, Binary, Expression, ExpressionKind, Index, LARGEST_ARRAY, Load, Loop, MOST_DIMENSIONS,
    Node, Operation, Program, StatementOrigin, Witness,
};

/// The most copies of a statement that become one expression.
const MOST_COPIES: i64 = 256;

/// Lets reductions keep their sums, products and extremes in registers. The innermost loop of such a statement writes the running
/// sum to an array of its own, a recurrence: each iteration takes the result of the one before, out of the kernel that
/// computes it, and begins with the constant outside of the array. After the loop a statement takes the last one, so that the
/// element in memory is touched once for the whole loop. A reduction over several loops goes through them from the innermost to the outermost.
///
/// `chosen` tells which statements these are. One whose array another statement of its loop uses, or that shares a unit, stays
/// as it is; likewise a sum in which the order matters, unless it begins with a constant just before its loop.
#[must_use]
pub fn with_accumulators(mut program: Program, chosen: impl Fn(&Operation) -> bool) -> (Program, Witness) {
    let Witness { statements, arrays, edges } = Witness::same(&program);
    let names = program.operations().into_iter().map(|(_, operation)| operation.name.clone());
    let origins = names.zip(statements).collect();
    let nest = std::mem::take(&mut program.nest);
    let declared = program.arrays.len();
    let mut pass = Accumulators { program, declared, around: Vec::new(), chosen: &chosen, origins };
    let nest = pass.body(nest);
    let program = Program { nest, ..pass.program };
    let statements = program.operations().into_iter().map(|(_, operation)| pass.origins[&operation.name].clone());
    let witness = Witness { statements: statements.collect(), arrays, edges };
    (program, witness)
}

/// The pass, within some loops.
struct Accumulators<'a> {
    program: Program,
    /// How many arrays the program declares; those after them are running sums.
    declared: usize,
    /// The loops around, outermost first, without their bodies.
    around: Vec<Loop>,
    chosen: &'a dyn Fn(&Operation) -> bool,
    /// The origin of each statement, by its name. A statement that takes a sum has that of the one that wrote the first value, and the
    /// statement of the innermost running sum that of the reduction.
    origins: HashMap<String, Option<StatementOrigin>>,
}

/// The iterations of a reduction that are together in one of a loop, in their order.
struct Copies {
    operations: Vec<Operation>,
    /// The variables of the loops of the reduction, over those of the new loops and of the lanes.
    variables: Vec<AffineIndex>,
    lanes: Vec<i64>,
}

impl Accumulators<'_> {
    /// The nodes of a loop, or of the program.
    fn body(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done: Vec<Node> = Vec::new();
        for node in nodes {
            let Node::Loop(mut inner) = node else {
                done.push(node);
                continue;
            };
            let body = std::mem::take(&mut inner.body);
            self.around.push(inner.clone());
            inner.body = self.body(body);
            self.around.pop();
            let after = self.accumulate(&mut inner, &mut done);
            if !inner.body.is_empty() {
                done.push(Node::Loop(inner));
            }
            done.extend(after);
        }
        done
    }

    /// Lets the statements of a loop that can keep their sums in registers do so, each in a loop of its own. Gives what comes after
    /// the loop: other such loops, and the statements that take the sums. Those before it are `before`, from which the first
    /// values of elements are taken.
    fn accumulate(&mut self, inner: &mut Loop, before: &mut Vec<Node>) -> Vec<Node> {
        let (mut kept, mut after) = (Vec::new(), Vec::new());
        // The loop as it stands in the program says which elements a statement sees and changes.
        for (place, node) in inner.body.iter().enumerate() {
            let divided = self.update(inner, place).and_then(|copies| {
                let first = first_value(before, inner, copies.operations.first()?);
                Some((self.divided(inner, copies, first.as_ref())?, first.is_some()))
            });
            let Some(((statement, taken), begins)) = divided else {
                kept.push(node.clone());
                continue;
            };
            if begins {
                let place = before.iter().rposition(|node| node.uses(taken.target.array)).expect("it was found there");
                before.remove(place);
            }
            let statement = Node::Operation(Box::new(statement));
            let (min, extent) =
                if inner.unroll > 1 { (0, inner.extent / inner.unroll) } else { (inner.min, inner.extent) };
            let own = Loop { min, extent, unroll: 1, body: vec![statement], ..inner.clone() };
            after.extend([Node::Loop(own), Node::Operation(Box::new(taken))]);
        }
        inner.body = kept;
        after
    }

    /// The copies of the reduction at a place of a loop, if its sum may be kept in a register.
    fn update(&self, inner: &Loop, place: usize) -> Option<Copies> {
        let variable = self.around.len();
        let mut unrolled = Vec::new();
        let mut node = &inner.body[place];
        // Loops that are unrolled as a whole are copies.
        while let Node::Loop(copies) = node {
            if copies.unroll != copies.extent || copies.body.len() != 1 {
                return None;
            }
            unrolled.push(copies);
            node = &copies.body[0];
        }
        let Node::Operation(operation) = node else { return None };
        let target = &operation.target;
        let alone = inner.body.iter().enumerate().all(|(other, node)| other == place || !node.uses(target.array));
        // The statement comes after the others of its loop, when all of their iterations are done.
        let movable = operation.loads.iter().all(|load| self.is_kept(inner, place, &load.access));
        let merged_around = (0..variable).any(|level| operation.merges(level) && self.around[level].unroll > 1);
        let all_merge = (0..unrolled.len()).all(|level| operation.merges(variable + 1 + level));
        let runs = inner.extent > inner.unroll && operation.merges(variable);
        let reads_itself = operation.loads.iter().any(|load| load.access.array == target.array);
        let is_computed = operation.accesses().any(|access| access.computed.is_some());
        let is_chosen = (self.chosen)(operation);
        let fits = runs && alone && movable && all_merge && !merged_around && !reads_itself;
        if !is_chosen || !fits || is_computed || operation.share.is_some() {
            return None;
        }
        let copies = inner.unroll.checked_mul(unrolled.iter().map(|copies| copies.unroll).product())?;
        if copies > MOST_COPIES { None } else { copied(operation, variable, inner, &unrolled) }
    }

    /// Whether an element that the statement at a place of a loop reads is the same after all iterations of the loop.
    fn is_kept(&self, inner: &Loop, place: usize, read: &Access) -> bool {
        let variable = self.around.len();
        let follows = |index: &Index| index.as_affine().is_some_and(|affine| affine.coefficient(variable) != 0);
        let kept = |(other, node): (usize, &Node)| match node {
            _ if other == place || !node.writes(read.array) => true,
            // Each element of a running sum is written once.
            _ if read.array >= self.declared => other < place,
            Node::Operation(writer) => {
                other < place && writer.target.indices == read.indices && read.indices.iter().any(follows)
            }
            Node::Loop(_) => false,
        };
        inner.body.iter().enumerate().all(kept)
    }

    /// The statement of the loop, which writes the running sum, and the one after it, which takes the last; nothing if there is no
    /// room for the array of running sums.
    fn divided(
        &mut self,
        inner: &Loop,
        Copies { operations: copies, variables, lanes }: Copies,
        first: Option<&Operation>,
    ) -> Option<(Operation, Operation)> {
        let update = copies.first()?.clone();
        let (variable, span, value) = (self.around.len(), update.span, update.expression.value);
        let turns = inner.extent / inner.unroll;
        let least = if inner.unroll > 1 { 0 } else { inner.min };
        let levels = self.around.iter().rev();
        let shape = std::iter::once(turns).chain(levels.clone().map(|level| level.extent)).collect_vec();
        let min = std::iter::once(least).chain(levels.map(|level| level.min)).collect_vec();
        let elements = shape.iter().try_fold(1_i64, |size, extent| size.checked_mul(*extent))?;
        if shape.len() > MOST_DIMENSIONS || elements > LARGEST_ARRAY {
            return None;
        }
        let operator = update.reduction?;
        let constant = first.and_then(|first| as_constant(&first.expression));
        // A sum in which the order matters has no other beginning than a constant.
        let begin = constant.or_else(|| operator.identity(value))?;
        let name = self.program.unused_name(&format!("{}_sum", self.program.arrays[update.target.array].name), &[]);
        let array = self.program.arrays.len();
        self.program.arrays.push(Array::buffer(name.clone(), value, min, shape, span));
        let around = (0..variable).rev().map(Index::variable);
        let at = |index: Index| Access::new(array, std::iter::once(index).chain(around.clone()).collect(), span);
        let before = Index::variable(variable).plus(&Index::constant(-1), 1)?;
        let before = Load { access: at(before), outside: Some(begin) };
        let together = |sum: Operation, copy: Operation| together(operator, sum, &copy);
        let sum = match update.sums_in_order() {
            // It goes on from the one before, copy by copy.
            true => copies.into_iter().fold(loaded(update.clone(), before), together),
            false => joined(operator, copies.into_iter().reduce(together)?, before),
        };
        // Of running sums within each other, the innermost has the origin.
        let begun = first.and_then(|first| self.origins[&first.name].clone());
        let of_update = self.origins.insert(update.name.clone(), begun)?;
        let of_sum = of_update.map(|of| StatementOrigin { variables, lanes, ..of });
        self.origins.insert(name.clone(), of_sum);
        let sum = Operation { name, target: at(Index::variable(variable)), reduction: None, ..sum };
        let last = Load { access: at(Index::constant(least + turns - 1)), outside: None };
        let taken = match first {
            Some(first) if constant.is_none() => {
                joined(operator, Operation { name: update.name.clone(), ..first.clone() }, last)
            }
            _ => Operation { reduction: update.reduction.filter(|_| first.is_none()), ..loaded(update, last) },
        };
        Some((sum, taken))
    }
}

/// A statement that only takes a word.
fn loaded(operation: Operation, load: Load) -> Operation {
    let Expression { value, span, .. } = operation.expression;
    Operation { loads: vec![load], expression: Expression { kind: ExpressionKind::Load(0), value, span }, ..operation }
}

/// A statement with an operand more, which is joined with its value. The operand comes first in the text, and so among the loads.
fn joined(operator: Binary, operation: Operation, load: Load) -> Operation {
    let (value, span) = (operation.expression.value, operation.expression.span);
    let mut loads = vec![load];
    let numbers = numbers_among(&mut loads, &operation.loads);
    let operand = Expression { kind: ExpressionKind::Load(0), value, span };
    let right = renumbered(&operation.expression, &numbers);
    let kind = ExpressionKind::Binary { operator, left: Arc::new(operand), right: Arc::new(right) };
    Operation { loads, expression: Expression { kind, value, span }, ..operation }
}

/// The statement that gives the elements of a reduction their first values: the last one before it that uses the array, if that
/// writes just the element, and its operands are the same after the loop.
fn first_value(before: &[Node], inner: &Loop, update: &Operation) -> Option<Operation> {
    let place = before.iter().rposition(|node| node.uses(update.target.array))?;
    let Node::Operation(first) = &before[place] else { return None };
    let writes = first.target.is_same_element(&update.target);
    let between = || before[place + 1..].iter().chain(&inner.body);
    let kept = |load: &Load| !between().any(|node| node.writes(load.access.array));
    let own = |load: &Load| load.access.array == update.target.array;
    let plain = first.reduction.is_none() && first.share.is_none() && !first.loads.iter().any(own);
    (writes && plain && first.loads.iter().all(kept)).then(|| (**first).clone())
}

/// All copies of a reduction along a loop and loops in it, which are unrolled as a whole, in their order.
fn copied(operation: &Operation, variable: usize, inner: &Loop, unrolled: &[&Loop]) -> Option<Copies> {
    let lanes = std::iter::once(inner.unroll).chain(unrolled.iter().map(|copies| copies.unroll)).collect_vec();
    let lane = |level: usize| AffineIndex::variable(variable + 1 + level);
    let place = |level: usize| match level {
        0 if inner.unroll == 1 => Some(AffineIndex::variable(variable)),
        0 => AffineIndex::constant(inner.min).plus(&AffineIndex::variable(variable), inner.unroll)?.plus(&lane(0), 1),
        _ => AffineIndex::constant(unrolled[level - 1].min).plus(&lane(level), 1),
    };
    let around = (0..variable).map(|level| Some(AffineIndex::variable(level)));
    let variables = around.chain((0..lanes.len()).map(place)).collect::<Option<Vec<_>>>()?;
    let copy = |of_lanes: Vec<i64>| {
        let loops = (0..=variable).map(AffineIndex::variable);
        let values = loops.chain(of_lanes.into_iter().map(AffineIndex::constant)).collect_vec();
        operation.in_loops(&variables.iter().map(|of| of.composed(&values)).collect::<Option<Vec<_>>>()?)
    };
    let operations = lanes.iter().map(|lanes| 0..*lanes).multi_cartesian_product().map(copy);
    let operations = operations.collect::<Option<_>>()?;
    Some(Copies { operations, variables, lanes })
}

/// The numbers of loads among these, at the end of which those are put that are not there.
fn numbers_among(loads: &mut Vec<Load>, others: &[Load]) -> Vec<usize> {
    let number = |own: &Load| {
        loads.iter().position(|known| known == own).unwrap_or_else(|| {
            loads.push(own.clone());
            loads.len() - 1
        })
    };
    others.iter().map(number).collect()
}

/// Two statements as one, their values joined.
fn together(operator: Binary, mut sum: Operation, other: &Operation) -> Operation {
    let numbers = numbers_among(&mut sum.loads, &other.loads);
    let (value, span) = (sum.expression.value, sum.expression.span);
    let right = Arc::new(renumbered(&other.expression, &numbers));
    let left = Arc::new(sum.expression);
    let kind = ExpressionKind::Binary { operator, left, right };
    Operation { expression: Expression { kind, value, span }, ..sum }
}

/// The constant that it is, if it is one.
fn as_constant(expression: &Expression) -> Option<i64> {
    match expression.kind {
        ExpressionKind::Constant(number) => Some(number),
        _ => None,
    }
}

/// The same with other numbers of loads.
fn renumbered(expression: &Expression, numbers: &[usize]) -> Expression {
    let leaf = |kind: &ExpressionKind| match kind {
        ExpressionKind::Load(load) => Some(ExpressionKind::Load(numbers[*load])),
        kind => Some(kind.clone()),
    };
    expression.rebuilt(&leaf).expect("each load has a number")
}
