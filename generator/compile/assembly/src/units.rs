//! Selection of the kernels that share an instance of a datapath.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_graph::{ApplicationGraph, KernelId};
use pushmem_nest::{Loop, Operation};

/// The kernels that operations with one unit share, with a name for the instance: the first of each operation, the second of
/// each, and so on. Where only one operation has as many, its kernel is alone, and not among them.
pub(crate) fn kernels_of_units(
    operations: &[(Vec<&Loop>, &Operation)],
    graph: &ApplicationGraph,
) -> Vec<(String, Vec<KernelId>)> {
    let mut of_operation: BTreeMap<usize, Vec<KernelId>> = BTreeMap::new();
    for (number, kernel) in graph.kernels.iter_enumerated() {
        of_operation.entry(kernel.operation).or_default().push(number);
    }
    let mut units: BTreeMap<&str, Vec<Vec<KernelId>>> = BTreeMap::new();
    for (operation, kernels) in of_operation {
        if let Some(unit) = operations[operation].1.unit() {
            units.entry(unit).or_default().push(kernels);
        }
    }
    let mut found = Vec::new();
    for (unit, operations) in units {
        let copies = operations.iter().map(Vec::len).max().unwrap_or(0);
        for copy in 0..copies {
            let kernels = operations.iter().filter_map(|kernels| kernels.get(copy).copied()).collect_vec();
            if kernels.len() > 1 {
                found.push((if copies == 1 { unit.to_owned() } else { format!("{unit}_{copy}") }, kernels));
            }
        }
    }
    found
}
