//! Operations that take results of their own earlier iterations, perhaps through other operations.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use pushmem_nest::{Operation, Policy, Program};

/// By operation, the loads that take such results, as far as words come out of registers: all delays of a raster scan, but not
/// memories of arrays. The update of an element is none.
///
/// Operations of one unit have none: their kernel takes all operands of an iteration when it begins.
pub(crate) fn loads(program: &Program) -> Vec<BTreeSet<usize>> {
    let nests = program.operations();
    let operations = nests.iter().map(|(_, operation)| *operation).collect_vec();
    let is_scan = program.policy() == Policy::Stencil;
    let flow = Flow::of(&operations);
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
                // The load takes a result of the writer, so that both reach each other if this one reaches the writer.
                false => flow.component[number] == flow.component[writer],
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
    let flow = Flow::of(&operations);
    let is_kept = program.policy() == Policy::Dnn;
    let units = operations.iter().filter_map(|operation| operation.unit()).unique();
    let come_to_their_unit: BTreeSet<&str> = units
        .filter(|unit| {
            let is_own = |number: &usize| operations[*number].unit() == Some(*unit);
            flow.reached((0..operations.len()).filter(is_own)).iter().any(is_own)
        })
        .collect();
    let comes_back = |number: usize| match is_kept {
        true => flow.is_cyclic[number],
        false => !recurrent[number].is_empty(),
    };
    let comes_to_its_unit =
        |number: usize| operations[number].unit().is_some_and(|unit| come_to_their_unit.contains(unit));
    (0..operations.len()).map(|number| comes_back(number) || comes_to_its_unit(number)).collect()
}

/// The way of results from operation to operation, through the elements that these read.
struct Flow {
    /// By operation, those that read elements of the array that it writes.
    readers: Vec<Vec<usize>>,
    /// By operation, the number of the set of operations that reach each other to which it belongs.
    component: Vec<usize>,
    /// By operation, whether its results reach it.
    is_cyclic: Vec<bool>,
}

impl Flow {
    fn of(operations: &[&Operation]) -> Self {
        let mut of_array: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, operation) in operations.iter().enumerate() {
            for array in operation.reads().map(|read| read.array).unique() {
                of_array.entry(array).or_default().push(number);
            }
        }
        let readers_of = |operation: &&Operation| of_array.get(&operation.target.array).cloned().unwrap_or_default();
        let readers = operations.iter().map(readers_of).collect_vec();
        let mut graph = DiGraph::<(), ()>::with_capacity(operations.len(), operations.len());
        let nodes = operations.iter().map(|_| graph.add_node(())).collect_vec();
        for (from, readers) in readers.iter().enumerate() {
            readers.iter().for_each(|to| {
                graph.add_edge(nodes[from], nodes[*to], ());
            });
        }
        let mut component = vec![0; operations.len()];
        let mut is_cyclic = vec![false; operations.len()];
        for (number, members) in tarjan_scc(&graph).into_iter().enumerate() {
            for node in &members {
                component[node.index()] = number;
                is_cyclic[node.index()] = members.len() > 1 || readers[node.index()].contains(&node.index());
            }
        }
        Flow { readers, component, is_cyclic }
    }

    /// The operations that the results of some reach.
    fn reached(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = from.into_iter().collect_vec();
        while let Some(from) = open.pop() {
            open.extend(self.readers[from].iter().copied().filter(|&to| reached.insert(to)));
        }
        reached
    }
}
