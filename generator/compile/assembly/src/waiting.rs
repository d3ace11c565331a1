//! Words that are read again and again, in loops that no index of the read follows: where they wait for their reads.
//!
//! Where these loops are inside all that the index follows, the word is read in iterations that follow one another, and then
//! never again: a hold register is loaded with it, and keeps it until the next one comes. This depends on no schedule, because
//! loops are in the order of the nest in time, too.

use std::collections::BTreeSet;

use pushmem_extraction::{Extraction, Origin};
use pushmem_graph::Target;
use pushmem_kernels::Datapath;
use pushmem_nest::{Policy, Program};
use pushmem_schedule::{Access, Stage, Writers, is_outside};

/// The reads of each stage whose words wait in a hold register, by the numbers of the stage and of the read.
pub type Held = BTreeSet<(usize, usize)>;

/// Cycles from the arrival of a word to the first read of it in a hold register: it shows the word from the next cycle on.
pub const LOAD: u64 = 1;

/// Finds the reads whose words wait in hold registers: in a raster scan on a target that has them.
pub fn held_reads(program: &Program, extraction: &Extraction, datapaths: &[Datapath], target: &Target) -> Held {
    if program.policy() != Policy::Stencil || !target.hold_words {
        return Held::new();
    }
    let pipeline = &extraction.pipeline;
    let writers = Writers::of(pipeline);
    let datapath = |stage: usize| match &extraction.origins[stage] {
        Origin::Input { .. } => None,
        Origin::Operation { operation, .. } => Some(&datapaths[*operation]),
    };
    let mut held = Held::new();
    for (stage, content) in pipeline.stages.iter().enumerate() {
        for (number, read) in content.reads.iter().enumerate() {
            let used = datapath(stage).is_some_and(|datapath| datapath.uses(number));
            if !used || *read == content.write || is_outside(content, read) || !is_repeated_inside(content, read) {
                continue;
            }
            let producers = writers.of_access(content, read);
            let is_constant = |&stage: &usize| datapath(stage).is_some_and(|datapath| datapath.constant().is_some());
            if !producers.iter().all(is_constant) {
                held.insert((stage, number));
            }
        }
    }
    held
}

/// Whether a read takes the same element in all iterations of some loops, and these are inside all loops that its index
/// follows.
fn is_repeated_inside(stage: &Stage, read: &Access) -> bool {
    let repeating = |level: &usize| stage.loops[*level].extent > 1;
    let (followed, others): (Vec<usize>, Vec<usize>) =
        (0..stage.loops.len()).filter(repeating).partition(|&level| follows(read, level));
    others.last().is_some_and(|outermost| followed.first().is_none_or(|innermost| outermost < innermost))
}

/// Whether an index of an access follows a loop.
fn follows(access: &Access, level: usize) -> bool {
    access.subscripts.iter().any(|subscript| subscript.coefficients[level] != 0)
}

/// The loads of a hold register as the iterations of a stage: those of the stage that reads it in the loops that the read
/// follows, and the first of all others.
pub(crate) fn loads(stage: &Stage, read: &Access) -> Stage {
    let mut loads = stage.clone();
    for (level, bounds) in loads.loops.iter_mut().enumerate() {
        if !follows(read, level) {
            bounds.extent = 1;
        }
    }
    loads
}
