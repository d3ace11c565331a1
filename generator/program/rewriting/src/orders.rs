//! The order of the loops of a nest: those over which a statement adds, and those of the elements that it writes.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_nest::{Access, AffineIndex, ArrayKind, Index, Loop, Node, Operation, Program, StatementOrigin, Witness};

/// Puts the loops over which a reduction adds inside of the others of its nest, each kind in the order of the program: all terms of an element come
/// one after the other, so that no memory keeps its sum meanwhile.
///
/// A nest stays as it is if it has several statements, if its order of additions matters, if its statement reads the array that it
/// writes or chooses elements by data, if no loop that runs would change its place, or if it adds nothing, and several iterations may write one
/// element, or images go through it from outside or to there.
#[must_use]
pub fn with_inner_reductions(program: Program) -> (Program, Witness) {
    with_order(program, &|target, variable, _| usize::from(!target.follows(variable)))
}

/// Puts the loops of the outermost dimension of the elements outside of the others of the nest of a reduction: a row is complete before the next
/// one begins, so that what reads it waits for no other. An array of one dimension is one row.
///
/// A nest stays as it is as in [`with_inner_reductions`].
#[must_use]
pub fn with_outer_rows(program: Program) -> (Program, Witness) {
    with_order(program, &|target, variable, _| match &target.indices[..] {
        [_, .., row] => usize::from(!row.variables().contains(&variable)),
        _ => 0,
    })
}

/// Puts the loops over which a reduction adds outside of the others of its nest: a term is added to all elements before the next one, so that
/// what all of them take, as the weight of a layer, is taken once.
///
/// A nest stays as it is as in [`with_inner_reductions`]; lanes stay inside, also those of loops that are unrolled in part, and so have steps.
#[must_use]
pub fn with_outer_reductions(program: Program) -> (Program, Witness) {
    let rank = |target: &Access, variable: usize, level: &Loop| match level.extent > level.unroll {
        true => usize::from(target.follows(variable)),
        false => 2,
    };
    with_order_of(program, &rank, true)
}

/// Puts the loops over which a reduction adds outside of the others of its nest, as [`with_outer_reductions`] does, and the others into the order of
/// the nest that writes the first values of its elements: a memory that stores words as they come, several in a row, then stores both alike.
#[must_use]
pub fn with_loops_of_first_values(program: Program) -> (Program, Witness) {
    with_outer_reductions_as(program, |operation| operation.reduction.is_none())
}

/// Puts the loops over which a reduction adds outside of the others of its nest, as [`with_outer_reductions`] does, and those of the nest that
/// writes the first values of its elements into the order of the others: what all elements of a loop take, as a weight, is taken once.
#[must_use]
pub fn with_first_values_as_sums(program: Program) -> (Program, Witness) {
    with_outer_reductions_as(program, |operation| operation.reduction.is_some())
}

/// Puts the loops over which reductions add outside, and the others, and those of first values, into the order of a statement that writes the same
/// array, if `leads` holds of it.
fn with_outer_reductions_as(program: Program, leads: impl Fn(&Operation) -> bool) -> (Program, Witness) {
    let operations = program.operations().into_iter().filter(|(_, operation)| leads(operation));
    let places = operations.map(|(loops, operation)| (operation.target.array, places_of_dimensions(&loops, operation)));
    let places: HashMap<usize, Vec<usize>> = places.collect();
    let rank = |target: &Access, variable: usize, level: &Loop| match dimension_of(target, variable) {
        _ if level.extent <= level.unroll => usize::MAX,
        None => 0,
        Some(dimension) => 1 + places.get(&target.array).map_or(0, |places| places[dimension]),
    };
    with_order_of(program.clone(), &rank, true)
}

/// Puts the loops of all nests into the order of the one that writes the last output, dimension by dimension of what they write: rows or columns
/// then go from nest to nest without a memory that turns them.
///
/// A nest stays as it is as in [`with_inner_reductions`], and if what it writes has fewer or more dimensions.
#[must_use]
pub fn with_loops_of_output(program: Program) -> (Program, Witness) {
    let is_output = program.arrays.iter().map(|array| array.kind == ArrayKind::Output).collect_vec();
    let mut writers = program.operations().into_iter().filter(|(_, operation)| is_output[operation.target.array]);
    let Some((loops, last)) = writers.next_back() else {
        let same = Witness::same(&program);
        return (program, same);
    };
    let places = places_of_dimensions(&loops, last);
    with_order(program, &|target, variable, _| {
        if target.indices.len() != places.len() {
            return 0;
        }
        dimension_of(target, variable).map_or(usize::MAX, |dimension| places[dimension])
    })
}

/// For each dimension of the elements that a statement writes, the outermost of its loops that goes through it.
fn places_of_dimensions(loops: &[&Loop], operation: &Operation) -> Vec<usize> {
    let runs = |variable: &usize| loops[*variable].extent > loops[*variable].unroll;
    let outermost = |index: &Index| index.variables().into_iter().find(runs).unwrap_or(loops.len());
    operation.target.indices.iter().map(outermost).collect()
}

/// The dimension of an element that follows a variable.
fn dimension_of(target: &Access, variable: usize) -> Option<usize> {
    target.indices.iter().position(|index| index.variables().contains(&variable))
}

/// The place of a loop among those of a nest, from the number of its variable: lower ones are outside.
type Rank<'a> = &'a dyn Fn(&Access, usize, &Loop) -> usize;

/// Puts the loops of nests into another order.
fn with_order(program: Program, rank: Rank) -> (Program, Witness) {
    with_order_of(program, rank, false)
}

/// Puts the loops of nests into another order, those that are unrolled in part as steps and lanes where loops are `cut`.
fn with_order_of(mut program: Program, rank: Rank, cuts: bool) -> (Program, Witness) {
    let mut witness = Witness { statements: Vec::new(), ..Witness::same(&program) };
    let operations = program.operations();
    let variables = operations.iter().flat_map(|(loops, _)| loops).map(|level| level.variable.clone());
    let names = variables.unique().collect();
    let nest = std::mem::take(&mut program.nest);
    let mut turning = Turning { program: &program, names, rank, cuts, statements: &mut witness.statements };
    let nest = nest.into_iter().map(|node| turning.ordered(node, 0)).collect();
    (Program { nest, ..program }, witness)
}

/// The pass.
struct Turning<'a> {
    /// The program, without the nest.
    program: &'a Program,
    /// The variables of all loops.
    names: Vec<String>,
    rank: Rank<'a>,
    /// Whether loops that are unrolled in part become two.
    cuts: bool,
    /// The origins of the statements so far.
    statements: &'a mut Vec<Option<StatementOrigin>>,
}

/// A loop that has become of one of a nest.
struct Part {
    /// The number of the old one in the nest, outermost 0.
    of: usize,
    /// By how much the variable of the old one grows in an iteration.
    step: i64,
    /// The loop, without its body.
    level: Loop,
}

impl Turning<'_> {
    /// A node with `depth` loops around it.
    fn ordered(&mut self, node: Node, depth: usize) -> Node {
        let outer = match node {
            Node::Loop(outer) => outer,
            Node::Operation(_) => {
                self.statements.push(Some(StatementOrigin::same(self.statements.len(), depth)));
                return node;
            }
        };
        if let Some((nest, variables)) = self.turned(&outer, depth) {
            self.statements.push(Some(StatementOrigin::of(self.statements.len(), variables)));
            return nest;
        }
        let Loop { body, .. } = outer;
        let body = body.into_iter().map(|node| self.ordered(node, depth + 1)).collect();
        Node::Loop(Loop { body, ..outer })
    }

    /// A nest with its loops in another order, and the variables of its old loops. Nothing if it stays as it is.
    fn turned(&self, outer: &Loop, depth: usize) -> Option<(Node, Vec<AffineIndex>)> {
        let (loops, operation) = nest_of(outer)?;
        let parts = loops.iter().enumerate().flat_map(|(of, level)| self.parts(of, level)).collect_vec();
        let rank = |part: &usize| (self.rank)(&operation.target, depth + parts[*part].of, &parts[*part].level);
        let order = (0..parts.len()).sorted_by_key(rank).collect_vec();
        let runs = |part: &&usize| parts[**part].level.extent > parts[**part].level.unroll;
        if !self.may_turn(operation, &loops, depth) || order.iter().filter(runs).is_sorted() {
            return None;
        }
        // The parts of a loop that was cut begin at 0.
        let starts = parts.iter().map(|part| loops[part.of].min - part.level.min);
        let mut values = vec![AffineIndex::default(); loops.len()];
        for (part, start) in parts.iter().zip(starts) {
            values[part.of] = AffineIndex::constant(start);
        }
        for (place, part) in order.iter().enumerate() {
            let Part { of, step, .. } = parts[*part];
            values[of] = values[of].plus(&AffineIndex::variable(depth + place), step)?;
        }
        let variables = (0..depth).map(AffineIndex::variable).chain(values).collect_vec();
        let statement = Node::Operation(Box::new(operation.in_loops(&variables)?));
        let around = |body: Node, part: &usize| Node::Loop(Loop { body: vec![body], ..parts[*part].level.clone() });
        Some((order.iter().rev().fold(statement, around), variables))
    }

    /// What becomes of a loop of a nest: itself, or its steps and its lanes.
    fn parts(&self, of: usize, level: &Loop) -> Vec<Part> {
        let Loop { variable, extent, unroll, span, .. } = level;
        let part = |variable: &str, (min, extent, unroll): (i64, i64, i64), step| {
            let level = Loop { variable: variable.to_owned(), min, extent, unroll, body: Vec::new(), span: *span };
            Part { of, step, level }
        };
        if !self.cuts || *unroll == 1 || unroll == extent {
            return vec![part(variable, (level.min, *extent, *unroll), 1)];
        }
        let names = self.names.iter().map(String::as_str).collect_vec();
        let lane = self.program.unused_name(&format!("{variable}_lane"), &names);
        vec![part(variable, (0, extent / unroll, 1), *unroll), part(&lane, (0, *unroll, *unroll), 1)]
    }

    /// Whether the iterations of a statement in these loops, with others around, may come in any order. A statement that only writes keeps
    /// the order in which an input comes from outside and an output goes there: whoever has the images in memory would turn them. An input of
    /// which it reads an element in several iterations is in a memory of its own.
    fn may_turn(&self, operation: &Operation, loops: &[&Loop], depth: usize) -> bool {
        let reads_itself = operation.loads.iter().any(|load| load.access.array == operation.target.array);
        let is_computed = operation.accesses().any(|access| access.computed.is_some());
        let runs = |place: &usize| loops[*place].extent > loops[*place].unroll;
        let is_inside = |access: &Access| match self.program.arrays[access.array].kind {
            ArrayKind::Buffer => true,
            ArrayKind::Input => !(0..loops.len()).filter(runs).all(|place| access.follows(depth + place)),
            ArrayKind::Output => false,
        };
        let is_alone = |(place, level): (usize, &&Loop)| {
            let mut indices = operation.target.indices.iter().filter_map(Index::as_affine);
            level.extent == 1 || indices.any(|index| matches!(index.terms[..], [(only, _)] if only == depth + place))
        };
        let is_free = match operation.reduction {
            Some(_) => !operation.sums_in_order(),
            None => operation.accesses().all(is_inside) && loops.iter().enumerate().all(is_alone),
        };
        is_free && !reads_itself && !is_computed
    }
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
