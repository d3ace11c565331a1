//! Which reductions keep their sums in registers.

use std::collections::BTreeSet;

use pushmem_nest::{ArrayKind, Level, Operation, Policy, Program};
use pushmem_schedule::{Bound, CoarseOptions};

use crate::compile::Compiled;
use crate::stages::Stages;

/// The reductions of a form whose iterations wait for the memory of their sums in its densest pipeline; all if it has none.
///
/// Where other loops run inside of those that add to one element, it is touched again only after a while, and nothing waits.
pub(crate) fn slow(form: &Program, stages: Option<&Stages>) -> BTreeSet<Place> {
    let all = || {
        form.operations().into_iter().filter(|(_, operation)| operation.reduction.is_some()).map(|(_, of)| place(of))
    };
    let Some(stages) = stages else { return all().collect() };
    let pipeline = stages.pipeline(&CoarseOptions { overlap: true, ..stages.coarse_options() });
    let Ok(coarse) = &*pipeline else { return all().collect() };
    let Stages { program, extraction, .. } = stages;
    // Within a stage, and in a loop around several, whose iterations wait for the sums of one.
    let operations = program.operations();
    let stages = coarse.stages.iter().filter(|stage| stage.interval > 1);
    let waits = stages.filter_map(|stage| extraction.origins[stage.stages.start].operation());
    let waits = waits.map(|operation| operations[operation].1);
    let arrays: BTreeSet<&String> = coarse.loops.iter().flat_map(|level| arrays_of(&level.bound)).collect();
    let in_loops = operations
        .iter()
        .map(|(_, operation)| *operation)
        .filter(|operation| arrays.contains(&program.arrays[operation.target.array].name));
    waits.chain(in_loops).filter(|operation| operation.reduction.is_some()).map(place).collect()
}

/// The arrays of a compiled program for whose memory iterations wait, as they take what earlier ones have written.
pub(crate) fn waiting(compiled: &Compiled) -> BTreeSet<&str> {
    let Some(coarse) = compiled.coarse.as_ref().and_then(|plan| plan.coarse.as_ref()) else { return BTreeSet::new() };
    let groups = coarse.stages.iter().filter(|group| group.interval > 1);
    let written = groups.map(|group| compiled.extraction.pipeline.stages[group.stages.start].write.array);
    let written = written.map(|array| compiled.program.arrays[array].name.as_str());
    written.chain(coarse.loops.iter().flat_map(|level| arrays_of(&level.bound)).map(String::as_str)).collect()
}

/// The arrays that bound an interval.
fn arrays_of(bound: &Bound) -> &[String] {
    match bound {
        Bound::Arrays(names) => names,
        _ => &[],
    }
}

/// Where a statement stands in the text of the program.
pub(crate) type Place = (usize, usize);

/// The place of a statement.
pub(crate) fn place(operation: &Operation) -> Place {
    (operation.span.start, operation.span.end)
}

/// A program in which outputs that statements update are kept in memory tiles until they are complete. In a raster scan they are
/// complete in any case.
pub(crate) fn with_complete_outputs(mut program: Program) -> Program {
    if program.policy() == Policy::Stencil {
        return program;
    }
    let updated: BTreeSet<usize> =
        program.operations().iter().filter(|(_, of)| of.updates()).map(|(_, of)| of.target.array).collect();
    for array in updated {
        let declared = &mut program.arrays[array];
        if declared.kind == ArrayKind::Output && declared.level.is_none() {
            declared.level = Some(Level::Memory);
        }
    }
    program
}
