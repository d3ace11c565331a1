//! Loops that are one loop, cut into steps and the lanes that execute each at once.

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Index, Loop, Node, Operation, Program, StatementOrigin, Witness};

use crate::digits::shows;
use crate::orders::nest_of;

/// Joins steps and lanes where all indices follow their number alone: `for k in 0..16`, with `for lane in 0..4 unroll 4` innermost in it, and
/// `4*k + lane` in indices become `for k in 0..64 unroll 4`. The witness says how the old program follows from the new one.
///
/// Loops stay as they are unless each nest in the loop of the steps has one statement, whose iterations may come in any order, and all nests access
/// elements of a step alone in the arrays that one of them writes.
#[must_use]
pub fn with_joined_lanes(mut program: Program) -> (Program, Witness) {
    let operations = program.operations();
    let same = |(number, (loops, _)): (usize, &(Vec<&Loop>, &Operation))| StatementOrigin::same(number, loops.len());
    let mut statements: Vec<StatementOrigin> = operations.iter().enumerate().map(same).collect();
    let mut number = 0;
    for node in &mut program.nest {
        join_in(node, 0, &mut number, &mut statements);
    }
    let statements = statements.into_iter().map(Some).collect();
    let witness = Witness { statements, ..Witness::same(&program) };
    (program, witness)
}

/// Joins what can be in a node with `depth` loops around it, from the statement with this number on.
fn join_in(node: &mut Node, depth: usize, number: &mut usize, statements: &mut [StatementOrigin]) {
    let Node::Loop(steps) = node else {
        *number += 1;
        return;
    };
    while let Some(lanes) = lanes_of(steps, depth) {
        join(steps, depth, &lanes);
        for (lane, origin) in lanes.iter().zip(&mut statements[*number..]) {
            let of_lane = origin.variables.remove(lane.variable);
            let number = of_lane.plus(&origin.variables[depth], lane.extent);
            origin.variables[depth] = number.expect("it has as many values as the loops");
        }
    }
    for node in &mut steps.body {
        join_in(node, depth + 1, number, statements);
    }
}

/// The loop around one of the statements in a loop of steps that is the loop of its lanes.
struct Lanes {
    /// The number of its variable.
    variable: usize,
    extent: i64,
}

/// The lanes of each nest in a loop of steps, with `depth` loops around it, if all may be joined with the steps.
fn lanes_of(steps: &Loop, depth: usize) -> Option<Vec<Lanes>> {
    let nests = steps.body.iter().map(|node| match node {
        Node::Loop(outer) => nest_of(outer),
        Node::Operation(_) => None,
    });
    let nests = nests.collect::<Option<Vec<_>>>()?;
    let found = nests.iter().map(|(loops, operation)| lanes_in(steps, depth, loops, operation));
    let found = found.collect::<Option<Vec<_>>>()?;
    let are_alike = found.iter().all(|lanes| lanes.extent == found[0].extent);
    // By access, for each dimension, where it shows the number of the iteration alone.
    let numbers = |array: usize| {
        let of_nest = nests.iter().zip(&found).flat_map(move |((_, operation), lanes)| {
            operation.accesses().filter(move |access| access.array == array).map(|access| (access, lanes.variable))
        });
        of_nest.map(|(access, lane)| access.indices.iter().map(|index| number_in(index, depth, lane)).collect_vec())
    };
    let is_apart = |array: usize| {
        let numbers = numbers(array).collect_vec();
        (0..numbers[0].len())
            .any(|dimension| numbers[0][dimension].is_some() && numbers.iter().map(|of| of[dimension]).all_equal())
    };
    let may_join = nests.len() == 1 || nests.iter().all(|(_, operation)| is_apart(operation.target.array));
    (are_alike && may_join).then_some(found)
}

/// The constant and the step of an index that is a function of the number of an iteration alone, by the variables of the step and the lane.
fn number_in(index: &Index, step: usize, lane: usize) -> Option<(i64, i64)> {
    let affine = index.as_affine()?;
    match affine.terms[..] {
        [(one, _), (other, factor)] if (one, other) == (step, lane) => Some((affine.constant, factor)),
        _ => None,
    }
}

/// The lanes of a statement in these loops within a loop of steps.
fn lanes_in(steps: &Loop, depth: usize, loops: &[&Loop], operation: &Operation) -> Option<Lanes> {
    let uses = |index: &Index, variable: usize| index.variables().contains(&variable);
    let is_lane = |place: &usize| {
        let (variable, extent) = (depth + 1 + place, loops[*place].extent);
        let follows_number = |index: &Index| {
            let is_affine = index.as_affine().is_some() || !uses(index, depth) && !uses(index, variable);
            is_affine && Some(index.affine.coefficient(depth)) == extent.checked_mul(index.affine.coefficient(variable))
        };
        let mut indices = operation.accesses().flat_map(|access| &access.indices);
        let is_used = operation.accesses().any(|access| access.follows(depth));
        is_used && loops[*place].min == 0 && extent > 1 && indices.all(follows_number)
    };
    let is_whole = |place: &usize| loops[*place].unroll == loops[*place].extent;
    let place = (0..loops.len()).rev().take_while(is_whole).find(is_lane)?;
    let reads_itself = operation.loads.iter().any(|load| load.access.array == operation.target.array);
    let is_computed = operation.accesses().any(|access| access.computed.is_some());
    let extents: Vec<i64> = std::iter::once(steps.extent).chain(loops.iter().map(|level| level.extent)).collect();
    let is_free = match operation.reduction {
        Some(_) => !operation.sums_in_order(),
        None => shows(&operation.target, depth, &extents),
    };
    let may_join = is_free && !reads_itself && !is_computed && !operation.expression.uses_variables();
    may_join.then_some(Lanes { variable: depth + 1 + place, extent: loops[place].extent })
}

/// Joins a loop of steps, with `depth` loops around it, with the lanes of each of its nests.
fn join(steps: &mut Loop, depth: usize, lanes: &[Lanes]) {
    let extent = lanes[0].extent;
    steps.min *= extent;
    steps.extent *= extent;
    steps.unroll *= extent;
    for (node, lanes) in steps.body.iter_mut().zip(lanes) {
        let mut inner = node;
        for _ in depth + 1..lanes.variable {
            let Node::Loop(level) = inner else { unreachable!("the lanes are in it") };
            inner = &mut level.body[0];
        }
        let Node::Loop(lane) = inner else { unreachable!("it is the loop of the lanes") };
        *inner = lane.body.remove(0);
        // The number of an iteration takes the place of that of its step, and of its lane none is left.
        let value = |variable: usize| match variable {
            _ if variable == depth => AffineIndex::default(),
            _ if variable == lanes.variable => AffineIndex::variable(depth),
            _ => AffineIndex::variable(variable - usize::from(variable > lanes.variable)),
        };
        let mut place = inner;
        let mut count = lanes.variable;
        while let Node::Loop(level) = place {
            count += 1;
            place = &mut level.body[0];
        }
        let Node::Operation(operation) = place else { unreachable!("a nest ends at its statement") };
        let values: Vec<AffineIndex> = (0..=count).map(value).collect();
        **operation = operation.in_loops(&values).expect("the indices become no larger");
    }
}
