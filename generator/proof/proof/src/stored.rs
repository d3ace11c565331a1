//! The proof that the write ports of a kept array take the results of the stages that write it.

use itertools::Itertools;
use pushmem_buffers::{Direction, Port};
use pushmem_graph::ArrayNode;
use pushmem_stages::{Pipeline, Schedule};

use crate::error::{PartError, require};
use crate::stages::ends_of_loops;

/// Checks that the write ports of an array are those of all stages that write it, each at the cycles of its stage.
///
/// # Errors
/// When a port differs.
pub(crate) fn check_writes(pipeline: &Pipeline, schedule: &Schedule, array: &ArrayNode) -> Result<(), PartError> {
    let name = || format!("the memory of {}", array.buffer.name);
    let writers = (0..pipeline.stages.len()).filter(|&stage| pipeline.stages[stage].write.array == array.array);
    require(writers.eq(array.writers.iter().copied()), name, "not all stages write it that write the array")?;
    let directions = array.buffer.ports.iter().map(|port| port.direction);
    let expected = (0..array.buffer.ports.len()).map(|port| match port < array.writers.len() {
        true => Direction::Write,
        false => Direction::Read,
    });
    require(directions.eq(expected), name, "its write ports do not come first")?;
    let versions = versions(pipeline, array);
    let right = array
        .writers
        .iter()
        .zip(&array.buffer.ports)
        .all(|(&stage, port)| writes_as(pipeline, schedule, stage, versions, port));
    require(right, name, "a write port differs from its stage")
}

/// How many dimensions of a buffer are no dimensions of its array: the outermost loops, each iteration of which has elements
/// of its own.
pub(crate) fn versions(pipeline: &Pipeline, array: &ArrayNode) -> usize {
    let accesses = pipeline.stages.iter().flat_map(|stage| stage.reads.iter().chain([&stage.write]));
    let mut dimensions = accesses.filter(|access| access.array == array.array).map(|access| access.subscripts.len());
    let port = array.buffer.ports.first().map_or(0, |port| port.access.len());
    port.saturating_sub(dimensions.next().unwrap_or(0))
}

/// Whether a port takes the words of a stage, in the cycles in which they are there: the two functions are affine, so
/// that the first iteration and the end of each loop tell about all.
fn writes_as(pipeline: &Pipeline, schedule: &Schedule, stage: usize, versions: usize, port: &Port) -> bool {
    let (content, scheduled) = (&pipeline.stages[stage], &schedule.stages[stage]);
    let depth = content.loops.len();
    let extents = content.loops.iter().map(|level| level.extent);
    if !extents.eq(port.extents()) || versions > depth {
        return false;
    }
    ends_of_loops(content).all(|index| {
        let counts = index.iter().zip(&content.loops).map(|(index, level)| (index - level.min) as u64).collect_vec();
        let element = content.write.subscripts.iter().map(|subscript| subscript.at(&index).map(i128::from));
        let version = (0..versions).rev().map(|outer| Some(i128::from(counts[depth - 1 - outer])));
        let cycle = scheduled.value(&index) + content.latency as i64;
        port.cycle(&counts) == i128::from(cycle)
            && port.element(&counts).into_iter().map(Some).eq(element.chain(version))
    })
}
