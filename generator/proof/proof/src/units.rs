//! The proof that instances of datapaths on which several kernels take turns are those that the program asks for.

use std::collections::{BTreeMap, HashSet};

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_stages::Stage;

use crate::error::{PartError, require};
use crate::parts::Checker;
use pushmem_graph::{CounterId, Driver, KernelId, SharedUnit, Source, Turn};

/// Checks that kernels that take turns on an instance may, and that it takes the words of each in its turn.
///
/// # Errors
/// The first unit that is wrong.
pub(crate) fn check(checker: &Checker) -> Result<(), PartError> {
    are_asked_for(checker)?;
    for unit in &checker.accelerator().units {
        let name = || unit.name.clone();
        require(is_one_datapath(checker, unit), name, "its kernels are not the same hardware")?;
        require(counts_loops(checker, unit), name, "it looks at the loops of other kernels")?;
        let loads = checker.accelerator().kernels[unit.kernels[0]].operands.len();
        let right = unit.operands.len() == loads && (0..loads).all(|load| takes_turns(checker, unit, load));
        require(right, name, "it takes other words than its kernels")?;
        require(is_for_one_at_a_time(checker, unit), name, "two of its kernels begin an iteration in the same cycle")?;
    }
    Ok(())
}

/// Checks that units join kernels of operations that share one, no two of the same operation, no kernel twice, and that
/// there are no more instances than the operation with the most copies needs.
fn are_asked_for(checker: &Checker) -> Result<(), PartError> {
    let accelerator = checker.accelerator();
    let operation = |kernel: KernelId| {
        let stage = accelerator.kernels.get(kernel)?.stage;
        checker.operation(stage).and_then(|number| Some((checker.sequence.operations[number].1.unit()?, number)))
    };
    let mut joined = HashSet::new();
    let mut instances: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in &accelerator.units {
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
    for kernel in accelerator.kernels.indices() {
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
fn is_one_datapath(checker: &Checker, unit: &SharedUnit) -> bool {
    let accelerator = checker.accelerator();
    let number = accelerator.kernels[unit.kernels[0]].datapath;
    let same = unit.kernels.iter().all(|&kernel| accelerator.kernels[kernel].datapath == number);
    let of = &accelerator.datapaths[number];
    same && of.variables.is_empty() && of.datapath.fetches().is_empty() && of.datapath.latency() > 0
}

/// Whether the counters of a unit step when its kernels begin an iteration.
fn counts_loops(checker: &Checker, unit: &SharedUnit) -> bool {
    let accelerator = checker.accelerator();
    let counts = |(&counter, &kernel): (&CounterId, &KernelId)| {
        let counter = accelerator.counters.get(counter);
        counter.is_some_and(|of| checker.counted(of, accelerator.kernels[kernel].stage, 0).is_some())
    };
    unit.counters.len() == unit.kernels.len() && unit.counters.iter().zip(&unit.kernels).all(counts)
}

/// Whether a load of a unit takes what each of its kernels takes, when the kernel begins an iteration.
fn takes_turns(checker: &Checker, unit: &SharedUnit, load: usize) -> bool {
    let accelerator = checker.accelerator();
    let kernels = || unit.kernels.iter().map(|&kernel| &accelerator.kernels[kernel]);
    let wanted = unit.operands[load];
    if kernels().all(|kernel| kernel.operands.get(load) == Some(&wanted)) {
        return true;
    }
    let Source::Wire(wire) = wanted else { return false };
    let Some(Driver::Turns { turns }) = accelerator.wires.get(wire).map(|wire| &wire.driver) else { return false };
    let expected = kernels()
        .zip(&unit.counters)
        .map(|(kernel, &counter)| kernel.operands.get(load).map(|&source| Turn { counter, source }));
    turns.iter().copied().map(Some).eq(expected)
}

/// Whether no two kernels of a unit begin an iteration in the same cycle.
fn is_for_one_at_a_time(checker: &Checker, unit: &SharedUnit) -> bool {
    let mut taken = HashSet::new();
    unit.kernels.iter().all(|&kernel| {
        let (stage, schedule) = checker.timed(checker.accelerator().kernels[kernel].stage);
        let mut cycles = Vec::new();
        cycles_of(stage, schedule, &mut cycles);
        cycles.into_iter().all(|cycle| taken.insert(cycle))
    })
}

/// The cycle of each iteration of a stage.
fn cycles_of(stage: &Stage, schedule: &Affine, cycles: &mut Vec<i64>) {
    cycles.push(stage.first_cycle(schedule));
    for (level, stride) in stage.loops.iter().zip(&schedule.stride) {
        let inner = cycles.clone();
        let steps = 1..level.extent as i64;
        cycles.extend(steps.flat_map(|step| inner.iter().map(move |cycle| cycle + step * stride)));
    }
}
