//! The proof of counters.

use pushmem_affine::Affine;
use pushmem_stages::Stage;

use pushmem_graph::Counter;

/// The loop of a stage that each level of a counter counts, if it counts the loops of the stage, its steps some cycles late.
/// Loops of one iteration are left out.
pub(crate) fn counted(counter: &Counter, stage: &Stage, schedule: &Affine, late: u64) -> Option<Vec<usize>> {
    let repeating = || (0..stage.loops.len()).filter(|&level| stage.loops[level].extent > 1);
    let levels: Option<Vec<usize>> = counter
        .extent
        .iter()
        .zip(&counter.cycle.stride)
        .map(|(extent, stride)| {
            repeating().find(|&level| (stage.loops[level].extent, schedule.stride[level]) == (*extent, *stride))
        })
        .collect();
    let begins = counter.cycle.start == stage.first_cycle(schedule) + late as i64;
    // Two levels of a counter that hardware can follow never step alike.
    levels.filter(|levels| begins && levels.len() == repeating().count())
}

/// Whether hardware can follow a counter: it begins in the run, and each iteration comes after the one before.
pub(crate) fn is_possible(counter: &Counter) -> bool {
    counter.extent.len() == counter.cycle.stride.len()
        && counter.extent.len() == counter.loops.len()
        && counter.extent.iter().all(|&extent| extent > 0)
        && counter.cycle.start >= 0
        && counter.gaps().iter().all(|&gap| gap > 0)
}
