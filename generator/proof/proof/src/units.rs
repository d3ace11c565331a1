//! The proof that instances of datapaths on which several kernels take turns are those that the program asks for.

use std::collections::{BTreeMap, HashSet};

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_graph::{ApplicationGraph, BitDriver, Choice, Edge, KernelId, UnitNode, WordDriver};

use crate::context::Context;
use crate::error::{PartError, require};

/// Checks that kernels that take turns on an instance may, and that it takes the words of each in its turn.
///
/// # Errors
/// The first unit that is wrong.
pub(crate) fn check(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    are_asked_for(context, graph)?;
    for unit in &graph.units {
        let name = || unit.name.clone();
        require(is_one_datapath(context, graph, unit), name, "its kernels are not the same hardware")?;
        let counts =
            unit.counters.iter().zip(&unit.kernels).all(|(&counter, &kernel)| {
                context.counted(&graph.counters[counter], graph.stage_of(kernel), 0).is_some()
            });
        let each = unit.counters.len() == unit.kernels.len();
        require(each && counts, name, "it looks at the loops of other kernels")?;
        let loads = graph.kernels[unit.kernels[0]].operands.len();
        let right = unit.operands.len() == loads && (0..loads).all(|load| takes_turns(graph, unit, load));
        require(right, name, "it takes other words than its kernels")?;
        let mut taken = HashSet::new();
        let mut begins = unit.kernels.iter().flat_map(|&kernel| cycles(context, graph.stage_of(kernel)));
        require(
            begins.all(|cycle| taken.insert(cycle)),
            name,
            "two of its kernels begin an iteration in the same cycle",
        )?;
    }
    Ok(())
}

/// Checks that units join kernels of operations that share one, no two of the same operation, no kernel twice, and that
/// there are no more instances than the operation with the most copies needs.
fn are_asked_for(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let operation = |kernel: KernelId| {
        let number = graph.kernels.get(kernel)?.operation;
        Some((context.sequence.operations.get(number)?.1.unit()?, number))
    };
    let mut joined = HashSet::new();
    let mut instances: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in &graph.units {
        let of = unit.kernels.iter().map(|&kernel| operation(kernel)).collect_vec();
        let right = of.len() > 1
            && of.iter().all(Option::is_some)
            && of.iter().flatten().map(|(name, _)| name).all_equal()
            && of.iter().flatten().map(|(_, operation)| operation).all_unique()
            && unit.kernels.iter().all(|&kernel| joined.insert(kernel));
        require(right, || unit.name.clone(), "its kernels do not share it")?;
        *instances.entry(of[0].map_or("", |(name, _)| name)).or_default() += 1;
    }
    let mut copies: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    for kernel in graph.kernels.indices() {
        if let Some((name, number)) = operation(kernel) {
            *copies.entry(name).or_default().entry(number).or_default() += 1;
            *instances.entry(name).or_default() += usize::from(!joined.contains(&kernel));
        }
    }
    for (name, of_operations) in copies {
        let most = of_operations.values().copied().max().unwrap_or(0);
        require(instances.get(name) == Some(&most), || name.to_owned(), "it has more instances than it needs")?;
    }
    Ok(())
}

/// Whether the kernels of a unit have one datapath, of which nothing but loads is different.
fn is_one_datapath(context: Context, graph: &ApplicationGraph, unit: &UnitNode) -> bool {
    let mut datapaths = unit.kernels.iter().map(|&kernel| &context.datapaths[graph.kernels[kernel].operation]);
    datapaths.all_equal_value().is_ok_and(|datapath| {
        datapath.variables().is_empty() && datapath.fetches().is_empty() && datapath.latency() > 0
    })
}

/// Whether a load of a unit takes the word that each of its kernels takes, when the kernel begins an iteration; in all other cycles it may
/// take any, and takes that of the last.
fn takes_turns(graph: &ApplicationGraph, unit: &UnitNode, load: usize) -> bool {
    let edges = unit.kernels.iter().map(|&kernel| graph.kernels[kernel].operands.get(load).copied());
    let wanted = unit.operands[load];
    if edges.clone().all(|edge| edge == Some(wanted)) {
        return true;
    }
    let Edge::Net { net, delay: 0 } = wanted else { return false };
    let WordDriver::Select(choices) = &graph.words[net].driver else { return false };
    let is_turn = |(choice, counter): (&Choice, _)| {
        choice.when.is_none_or(|bit| graph.bits[bit].driver == BitDriver::Begins(counter))
    };
    choices.iter().map(|choice| Some(choice.edge)).eq(edges)
        && choices.iter().zip(unit.counters.iter().copied()).all(is_turn)
}

/// The cycle of each iteration of a stage.
fn cycles(context: Context, stage: usize) -> Vec<i64> {
    let (stage, schedule) = (&context.staged.pipeline.stages[stage], &context.schedule.stages[stage]);
    let extents: Domain = stage.loops.iter().map(|level| level.extent).collect();
    let from_first = Affine { start: stage.first_cycle(schedule), stride: schedule.stride.clone() };
    extents.values(&from_first).collect()
}
