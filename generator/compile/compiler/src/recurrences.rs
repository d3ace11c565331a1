//! Operations that take results of their own earlier iterations, perhaps through other operations.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use itertools::Itertools;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use pushmem_nest::{ExpressionKind, Load, Loop, Operation, Policy, Program};

/// The results of a program that come back.
pub(crate) struct Recurrences {
    /// By operation, the loads that take results of its own earlier iterations, as far as words come out of registers: all delays of a
    /// raster scan, but not memories of arrays. The update of an element is none.
    ///
    /// Operations of one unit have none: their kernel takes all operands of an iteration when it begins.
    pub loads: Vec<BTreeSet<usize>>,
    /// By operation, whether it, or one above it, takes its results in that way: also a copy gives them out of a register.
    pub registered: Vec<bool>,
    /// By operation, whether its results come back to it, be it through the memories of arrays where these are kept, or to an operation
    /// with which it shares a unit. The operations of a unit are all alike.
    pub come_back: Vec<bool>,
}

impl Recurrences {
    pub fn of(program: &Program) -> Self {
        let nests = program.operations();
        let flow = Flow::of(&nests.iter().map(|(_, operation)| *operation).collect_vec());
        let is_scan = program.policy() == Policy::Stencil;
        let loads = loads(&nests, &flow, is_scan);
        let units = nests.iter().filter_map(|(_, operation)| operation.unit()).unique();
        let come_to_their_unit: BTreeSet<&str> = units
            .filter(|unit| {
                let is_own = |number: &usize| nests[*number].1.unit() == Some(*unit);
                flow.reached((0..nests.len()).filter(is_own)).iter().any(is_own)
            })
            .collect();
        let comes_back = |number: usize| if is_scan { !loads[number].is_empty() } else { flow.is_cyclic[number] };
        let comes_to_its_unit =
            |number: usize| nests[number].1.unit().is_some_and(|unit| come_to_their_unit.contains(unit));
        let come_back = (0..nests.len()).map(|number| comes_back(number) || comes_to_its_unit(number)).collect();
        let registered = registered(&nests, &loads);
        Recurrences { registered, loads, come_back }
    }
}

/// By operation, whether it, or one above it, takes its results by one of these loads, be it through operations that pass them on.
fn registered(nests: &[(Vec<&Loop>, &Operation)], loads: &[BTreeSet<usize>]) -> Vec<bool> {
    let writers = |array: usize| (0..nests.len()).filter(move |&writer| nests[writer].1.target.array == array);
    let mut registered = vec![false; nests.len()];
    for (reader, taken) in loads.iter().enumerate() {
        for load in taken {
            for writer in writers(nests[reader].1.loads[*load].access.array) {
                let giver = iter::successors(Some(writer), |&writer| passed_on(nests, writer)).last().unwrap_or(writer);
                registered[giver] |= reader <= giver;
            }
        }
    }
    registered
}

/// The only statement that writes an array, if it is above an operation that gives its results as they are.
fn passed_on(nests: &[(Vec<&Loop>, &Operation)], number: usize) -> Option<usize> {
    let operation = nests[number].1;
    let ExpressionKind::Load(load) = operation.expression.kind else { return None };
    let Load { access, outside } = &operation.loads[load];
    let writers = (0..nests.len()).filter(|&writer| nests[writer].1.target.array == access.array);
    let is_plain = outside.is_none() && access.indices.iter().all(|index| index.as_affine().is_some());
    writers.exactly_one().ok().filter(|&writer| is_plain && writer < number)
}

/// By operation, the loads that take results of its own earlier iterations.
fn loads(nests: &[(Vec<&Loop>, &Operation)], flow: &Flow, is_scan: bool) -> Vec<BTreeSet<usize>> {
    // Where arrays are kept, only what one statement writes once comes back to it out of its kernel.
    let follows_all = |number: usize| {
        let (loops, operation) = &nests[number];
        let target = &operation.target;
        (0..loops.len()).all(|variable| loops[variable].extent == 1 || target.follows(variable)) && !operation.updates()
    };
    let is_recurrent = |number: usize, load: usize| {
        let (_, operation) = nests[number];
        let access = &operation.loads[load].access;
        let mut writers = (0..nests.len()).filter(|&writer| nests[writer].1.target.array == access.array);
        let is_alone = || writers.clone().eq([number]) && follows_all(number);
        (is_scan || is_alone())
            && writers.any(|writer| match writer == number {
                true => access.indices != operation.target.indices,
                // The load takes a result of the writer, so that both reach each other if this one reaches the writer.
                false => flow.component[number] == flow.component[writer],
            })
    };
    let of_operation = |(number, (_, operation)): (usize, &(Vec<&Loop>, &Operation))| match operation.unit() {
        Some(_) => BTreeSet::new(),
        None => (0..operation.loads.len()).filter(|&load| is_recurrent(number, load)).collect(),
    };
    nests.iter().enumerate().map(of_operation).collect()
}

/// The way of results from operation to operation, through the elements that these read.
struct Flow {
    /// From each operation to those that read elements of the array that it writes.
    graph: DiGraphMap<usize, ()>,
    /// By operation, the number of the set of operations that reach each other to which it belongs.
    component: Vec<usize>,
    /// By operation, whether its results reach it.
    is_cyclic: Vec<bool>,
}

impl Flow {
    fn of(operations: &[&Operation]) -> Self {
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, operation) in operations.iter().enumerate() {
            operation.reads().for_each(|read| readers.entry(read.array).or_default().push(number));
        }
        let mut graph = DiGraphMap::new();
        for (number, operation) in operations.iter().enumerate() {
            graph.add_node(number);
            for reader in readers.get(&operation.target.array).into_iter().flatten() {
                graph.add_edge(number, *reader, ());
            }
        }
        let mut component = vec![0; operations.len()];
        let mut is_cyclic = vec![false; operations.len()];
        for (number, members) in tarjan_scc(&graph).into_iter().enumerate() {
            for member in &members {
                component[*member] = number;
                is_cyclic[*member] = members.len() > 1 || graph.contains_edge(*member, *member);
            }
        }
        Flow { graph, component, is_cyclic }
    }

    /// The operations that the results of some reach.
    fn reached(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = from.into_iter().collect_vec();
        while let Some(from) = open.pop() {
            open.extend(self.graph.neighbors(from).filter(|&to| reached.insert(to)));
        }
        reached
    }
}
