//! How many stages write the words of one memory, whatever the schedule and the mapping.

use itertools::Itertools;
use pushmem_datapaths::Datapath;
use pushmem_extraction::Extraction;
use pushmem_graph::Target;
use pushmem_nest::{Level, Program};
use pushmem_schedule::Pipeline;

use crate::shortage::Shortage;

/// Checks that tiles have an input for each stage that writes the words of one read. No schedule and no mapping changes that,
/// so that the search for these need not begin.
///
/// An update in a loop that its element does not follow takes the word of another stage first, and then its own. Ports and
/// banks are divided by elements, and by loops around all accesses of the array: both words are those of one port, and so of
/// one memory, which has an input for each stage that writes.
///
/// # Errors
/// The first array of which two stages write such words, if its tile has one input.
pub fn check_inputs(
    program: &Program,
    extraction: &Extraction,
    datapaths: &[Datapath],
    target: &Target,
) -> Result<(), Shortage> {
    let pipeline = &extraction.pipeline;
    for (update, stage) in pipeline.stages.iter().enumerate() {
        let Some(operation) = extraction.origins[update].operation() else { continue };
        let array = stage.write.array;
        let level = program.arrays[array].level.unwrap_or(Level::Memory);
        let tile = target.at(level).unwrap_or_else(|| target.memory());
        let Some(read) = stage.reads.iter().position(|read| *read == stage.write) else { continue };
        if tile.inputs > 1 || !datapaths[operation].uses(read) || program.arrays[array].random_access {
            continue;
        }
        if let Some((first, variable)) = first_writer(pipeline, update) {
            let (tile, inputs) = (tile.name.clone(), tile.inputs);
            return Err(Shortage::Inputs { array, level, tile, inputs, first, update, variable });
        }
    }
    Ok(())
}

/// The stage of another nest whose word an update takes first, and the outermost loop in which it takes its own words then:
/// one that it shares with no other nest that writes the array.
fn first_writer(pipeline: &Pipeline, update: usize) -> Option<(usize, String)> {
    let stage = &pipeline.stages[update];
    let writes = |other: &usize| {
        let writer = &pipeline.stages[*other];
        writer.write.array == stage.write.array && writer.group != stage.group
    };
    let writers = (0..pipeline.stages.len()).filter(writes).collect_vec();
    let shared = writers.iter().map(|&other| pipeline.shared_loops(other, update)).max()?;
    let own = stage.loops.len() - shared.min(stage.loops.len());
    let level = stage.loops_not_written().filter(|&level| level < own && stage.loops[level].extent > 1).max()?;
    let first = writers.into_iter().rfind(|&other| other < update)?;
    Some((first, stage.loops[level].name.clone()))
}
