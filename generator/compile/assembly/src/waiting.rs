//! Words that are read again and again, in loops that no index of the read follows: where they wait for their reads.
//!
//! Where these loops are inside all that the index follows, the word is read in iterations that follow one another, and then
//! never again: a hold register is loaded with it, and keeps it until the next one comes. Where one of them is around a loop
//! that the index follows, all words are read, and then all of them again: a memory keeps them, or a hold register for each if
//! they are few. This depends on no schedule, because loops are in the order of the nest in time, too.
//!
//! Where arrays are kept in memories anyway, a hold register has the place of one for words that are written once, each so many
//! cycles before it is loaded.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_datapaths::Datapath;
use pushmem_extraction::Extraction;
use pushmem_nest::{Policy, Program};
use pushmem_schedule::{Access, Stage, Subscript, Writers, is_outside};

use crate::application::Delivery;

/// Cycles from the arrival of a word to the first read of it in a hold register: it shows the word from the next cycle on.
pub const LOAD: u64 = 1;

/// The most words that each have a hold register of their own, rather than all of them a memory.
const MOST_REGISTERS: u64 = 16;

/// The reads whose words wait, by the numbers of the stage and of the read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// In a hold register, one word after the other.
    pub registers: BTreeSet<(usize, usize)>,
    /// In a hold register for each word.
    pub each: BTreeSet<(usize, usize)>,
    /// In memories that keep all words of an array.
    pub memories: BTreeSet<(usize, usize)>,
    /// Those in memories that come in the opposite order of their writes along a loop: no delay serves them.
    pub turned: BTreeSet<(usize, usize)>,
}

/// Where the words of a read wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Register,
    RegisterEach,
    Memory,
}

impl Waits {
    /// Finds the reads whose words wait, where they can.
    pub fn of(program: &Program, extraction: &Extraction, datapaths: &[Datapath], delivery: Delivery) -> Self {
        let mut waits = Waits::default();
        if !delivery.holds {
            return waits;
        }
        let is_scan = program.policy() == Policy::Stencil;
        let pipeline = &extraction.pipeline;
        let writers = Writers::of(pipeline);
        let datapath = |stage: usize| extraction.origins[stage].operation().map(|operation| &datapaths[operation]);
        let are_lanes = |writers: &[usize]| writers.iter().map(|&stage| pipeline.stages[stage].group).all_equal();
        let is_constant = |&stage: &usize| datapath(stage).is_some_and(|datapath| datapath.constant().is_some());
        for (stage, content) in pipeline.stages.iter().enumerate() {
            for (number, read) in content.reads.iter().enumerate() {
                // A word of a recurrence is taken out of a delay.
                let used =
                    datapath(stage).is_some_and(|datapath| datapath.uses(number) && datapath.arrival(number) == 0);
                let against = |writer: usize| turns(&pipeline.stages[writer], content, read);
                let is_turned = is_scan && writers.of_access(content, read).into_iter().any(against);
                let place = match is_scan {
                    true if is_turned => Some(Place::Memory),
                    true => place(content, read),
                    // Other words are kept in memories.
                    false => is_kept_word(content, read).then_some(Place::Register),
                };
                let Some(place) = place else { continue };
                if !used || *read == content.write || is_outside(content, read) {
                    continue;
                }
                let producers = writers.of_access(content, read);
                let is_kept = |&stage: &usize| !writes_once(&pipeline.stages[stage]);
                match place {
                    _ if producers.iter().all(is_constant) => continue,
                    // Without an order of rows, a word must be there for all readers once it is written.
                    _ if !is_scan && (producers.len() != 1 || producers.iter().any(is_kept)) => continue,
                    Place::Register => waits.registers.insert((stage, number)),
                    Place::RegisterEach => waits.each.insert((stage, number)),
                    Place::Memory if (is_turned || are_lanes(writers.all(read.array))) && read.is_affine() => {
                        if is_turned {
                            waits.turned.insert((stage, number));
                        }
                        waits.memories.insert((stage, number))
                    }
                    Place::Memory => continue,
                };
            }
        }
        waits
    }

    /// The same without memories.
    pub fn in_registers(&self) -> Self {
        Waits { memories: BTreeSet::new(), turned: BTreeSet::new(), ..self.clone() }
    }
}

/// Where the words of a read wait, if it takes the same element in all iterations of some loops.
fn place(stage: &Stage, read: &Access) -> Option<Place> {
    let repeating = |level: &usize| stage.loops[*level].extent > 1;
    let (followed, others): (Vec<usize>, Vec<usize>) =
        (0..stage.loops.len()).filter(repeating).partition(|&level| read.follows(level));
    let outermost = others.last()?;
    let is_inside = followed.first().is_none_or(|innermost| outermost < innermost);
    let words = followed.iter().map(|&level| stage.loops[level].extent);
    let are_few = words.fold(1, u64::saturating_mul) <= MOST_REGISTERS;
    Some(match (is_inside, are_few) {
        (true, _) => Place::Register,
        (false, true) => Place::RegisterEach,
        (false, false) => Place::Memory,
    })
}

/// Whether a read goes along a dimension of its array in the opposite direction of a writer.
fn turns(writer: &Stage, reader: &Stage, read: &Access) -> bool {
    let direction = |stage: &Stage, subscript: &Subscript| {
        let level = subscript.single_loop().ok().flatten()?;
        (stage.loops[level].extent > 1).then(|| subscript.coefficients[level].signum())
    };
    let dimensions = writer.write.subscripts.iter().zip(&read.subscripts);
    let directions = dimensions.map(|(written, read)| direction(writer, written).zip(direction(reader, read)));
    directions.flatten().any(|(one, other)| one != other)
}

/// Whether a stage writes each of its elements in one iteration, and each dimension along one loop.
fn writes_once(stage: &Stage) -> bool {
    let mut again = stage.loops_not_written();
    let along_one = |subscript: &Subscript| subscript.single_loop().is_ok();
    again.all(|level| stage.loops[level].extent == 1)
        && !stage.updates()
        && stage.write.subscripts.iter().all(along_one)
}

/// Whether a read takes the same element in all iterations, or in all of the loops within those that it follows, each dimension
/// along one of them.
fn is_kept_word(stage: &Stage, read: &Access) -> bool {
    let is_one_word = || (0..stage.loops.len()).all(|level| stage.loops[level].extent == 1 || !read.follows(level));
    let along_loops = || read.subscripts.iter().all(|subscript| subscript.single_loop().is_ok());
    let is_register = || matches!(place(stage, read), Some(Place::Register));
    is_one_word() || (read.is_affine() && along_loops() && is_register())
}

/// The loads of a hold register as the iterations of a stage: those of the stage that reads it in the loops that the read
/// follows, and the first of all others.
pub(crate) fn loads(stage: &Stage, read: &Access) -> Stage {
    let mut loads = stage.clone();
    for (level, bounds) in loads.loops.iter_mut().enumerate() {
        if !read.follows(level) {
            bounds.extent = 1;
        }
    }
    loads
}

/// The first of some loads, and for each loop that at its end, each as iterations of a stage of one iteration.
pub(crate) fn ends(loads: &Stage) -> impl Iterator<Item = Stage> {
    let mut first = loads.clone();
    first.loops.iter_mut().for_each(|bounds| bounds.extent = 1);
    let end = |level: usize| {
        let mut end = first.clone();
        end.loops[level].min = loads.loops[level].max();
        end
    };
    let repeating = loads.loops.iter().positions(|bounds| bounds.extent > 1);
    repeating.map(end).collect_vec().into_iter().chain([first])
}

/// The loads of a hold register for each word, as iterations of a stage of one iteration, and for each the indices of the loops
/// that the read follows.
pub(crate) fn loads_of_each(stage: &Stage, read: &Access) -> Vec<(Vec<(usize, i64)>, Stage)> {
    let first = loads(stage, read);
    let followed = (0..stage.loops.len()).filter(|&level| first.loops[level].extent > 1 && read.follows(level));
    let indices =
        followed.map(|level| (stage.loops[level].min..=stage.loops[level].max()).map(move |index| (level, index)));
    let of_word = |indices: Vec<(usize, i64)>| {
        let mut loads = first.clone();
        for &(level, index) in &indices {
            (loads.loops[level].min, loads.loops[level].extent) = (index, 1);
        }
        (indices, loads)
    };
    indices.multi_cartesian_product().map(of_word).collect()
}
