//! The proof of counters.

use pushmem_affine::Affine;
use pushmem_nest::Loop;
use pushmem_stages::Stage;

use pushmem_graph::{Counter, Variable};

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

/// Whether a variable has the values that the loop of this number, the outermost is 0, has in a stage: one of these `lanes`, innermost first.
/// `counted` are the loops that the levels of its counter count; nothing where it has none, and only the value at index 0 is used.
pub(crate) fn follows(
    variable: &Variable,
    number: usize,
    (loops, stage, lanes): (&[&Loop], &Stage, &[i64]),
    counted: Option<&[usize]>,
) -> bool {
    let level = loops.len() - 1 - number;
    let of = loops[number];
    let iterated = stage.loops[level].extent > 1;
    let follows = match (counted, variable.level) {
        (Some(counted), Some(place)) => iterated && counted.get(place) == Some(&level) && variable.scale == of.unroll,
        _ => !iterated,
    };
    follows && stage.loops[level].min == 0 && variable.offset == of.min + lanes[level]
}

/// Whether hardware can follow a counter: it begins in the run, and each iteration comes after the one before.
pub(crate) fn is_possible(counter: &Counter) -> bool {
    counter.extent.len() == counter.cycle.stride.len()
        && counter.extent.len() == counter.loops.len()
        && counter.extent.iter().all(|&extent| extent > 0)
        && counter.cycle.start >= 0
        && counter.gaps().iter().all(|&gap| gap > 0)
}
