//! Operations that take results of their own earlier iterations, perhaps through other operations.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{Operation, Policy, Program};

/// By operation, the loads that take such results, as far as words come out of registers: all delays of a raster scan, but not
/// memories of arrays. The update of an element is none.
///
/// Operations of one unit have none: their kernel takes all operands of an iteration when it begins.
pub(crate) fn loads(program: &Program) -> Vec<BTreeSet<usize>> {
    let nests = program.operations();
    let operations = nests.iter().map(|(_, operation)| *operation).collect_vec();
    let is_scan = program.policy() == Policy::Stencil;
    let reached = reached(&operations);
    // Where arrays are kept, only what one statement writes once comes back to it out of its kernel.
    let follows_all = |number: usize| {
        let (loops, operation) = &nests[number];
        let target = &operation.target;
        (0..loops.len()).all(|variable| loops[variable].extent == 1 || target.follows(variable)) && !operation.updates()
    };
    let is_recurrent = |number: usize, load: usize| {
        let access = &operations[number].loads[load].access;
        let mut writers = (0..operations.len()).filter(|&writer| operations[writer].target.array == access.array);
        let is_alone = || writers.clone().eq([number]) && follows_all(number);
        (is_scan || is_alone())
            && writers.any(|writer| match writer == number {
                true => access.indices != operations[number].target.indices,
                false => reached[number].contains(&writer),
            })
    };
    let of_operation = |(number, operation): (usize, &&Operation)| match operation.unit() {
        Some(_) => BTreeSet::new(),
        None => (0..operation.loads.len()).filter(|&load| is_recurrent(number, load)).collect(),
    };
    operations.iter().enumerate().map(of_operation).collect()
}

/// By operation, whether its results come back to it, be it through the memories of arrays where these are kept, or to an operation
/// with which it shares a unit. The operations of a unit are all alike. `recurrent` has the [`loads`] of each.
pub(crate) fn come_back(program: &Program, recurrent: &[BTreeSet<usize>]) -> Vec<bool> {
    let operations = program.operations().into_iter().map(|(_, operation)| operation).collect_vec();
    let reached = reached(&operations);
    let comes_back = |number: usize| match program.policy() {
        Policy::Dnn => reached[number].contains(&number),
        Policy::Stencil => !recurrent[number].is_empty(),
    };
    let comes_to_its_unit = |number: usize| {
        let unit = |other: &usize| operations[*other].shares_unit(operations[number]);
        (0..operations.len()).filter(unit).any(|from| reached[from].iter().any(unit))
    };
    (0..operations.len()).map(|number| comes_back(number) || comes_to_its_unit(number)).collect()
}

/// By operation, those that its results reach through the elements that they read.
fn reached(operations: &[&Operation]) -> Vec<BTreeSet<usize>> {
    let takes = |from: usize, to: usize| operations[to].reads().any(|read| read.array == operations[from].target.array);
    let followers = |from: usize| (0..operations.len()).filter(move |&to| takes(from, to)).collect_vec();
    let next = (0..operations.len()).map(followers).collect_vec();
    let all_after = |number: usize| {
        let mut reached = BTreeSet::new();
        let mut open = vec![number];
        while let Some(from) = open.pop() {
            open.extend(next[from].iter().copied().filter(|&to| reached.insert(to)));
        }
        reached
    };
    (0..operations.len()).map(all_after).collect()
}
