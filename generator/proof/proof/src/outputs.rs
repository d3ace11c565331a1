//! The proof that outputs go outside as a whole, each element once, with its last value.

use std::cmp::Ordering;
use std::collections::HashSet;

use itertools::Itertools;
use pushmem_nest::{ArrayKind, Program};
use pushmem_stages::Staged;

use crate::dependence::Dependences;
use crate::error::{PartError, require};
use crate::nets::View;
use crate::places::Direction;
use crate::sequence::Instance;

/// Checks the stages of all output streams.
///
/// # Errors
/// The first array of which an element is missing, comes twice, or comes before its last write.
pub(crate) fn check(
    program: &Program,
    staged: Staged,
    dependences: &Dependences,
    view: &View,
) -> Result<(), PartError> {
    let stages = &staged.pipeline.stages;
    for (number, array) in program.arrays.iter().enumerate().filter(|(_, array)| array.kind == ArrayKind::Output) {
        let sent = view.sent(number);
        let name = || array.name.clone();
        let of_array = sent.iter().all(|&stage| stages.get(stage).is_some_and(|stage| stage.write.array == number));
        require(of_array && sent.iter().all_unique(), name, "its streams are not of all its stages once")?;
        let (finals, others) = writes(dependences, number, &sent.iter().copied().collect());
        let iterations =
            |&stage: &usize| stages[stage].loops.iter().map(|level| level.extent as usize).product::<usize>();
        let elements: usize = sent.iter().map(iterations).sum();
        let apart = |[one, other]: [&Instance; 2]| !one.places.meet(&other.places, Direction::ANY);
        let once =
            finals.iter().all(|write| dependences.writes_once(write)) && finals.iter().array_combinations().all(apart);
        require(once && elements == array.size(), name, "its streams are not of each element once")?;
        let last =
            finals.iter().all(|write| others.iter().all(|other| dependences.is_ordered(other, write, Ordering::Less)));
        require(last, name, "elements that go outside are written again later")?;
    }
    Ok(())
}

/// The writes of an array that go outside, and the others: by operations where all copies of each go the same way.
fn writes(dependences: &Dependences, array: usize, sent: &HashSet<usize>) -> (Vec<Instance>, Vec<Instance>) {
    let sequence = &dependences.sequence;
    let stages = dependences.writers.all(array);
    let going = |inside: bool| -> HashSet<Option<usize>> {
        stages.iter().filter(|stage| sent.contains(stage) == inside).map(|&stage| sequence.number(stage)).collect()
    };
    let (finals, others) = (going(true), going(false));
    if finals.is_disjoint(&others) {
        let of = |numbers: HashSet<Option<usize>>| {
            let numbers = numbers.into_iter().flatten().sorted();
            numbers.map(|number| sequence.write_of_operation(number)).collect()
        };
        return (of(finals), of(others));
    }
    let (finals, others): (Vec<usize>, Vec<usize>) = stages.iter().partition(|stage| sent.contains(stage));
    let of = |stages: Vec<usize>| stages.into_iter().map(|stage| sequence.write(stage)).collect();
    (of(finals), of(others))
}
