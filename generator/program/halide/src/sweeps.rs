//! Sweeps: iterations of the outermost loop of a reduction that write elements again, as the steps of a relaxation do, in one array or to
//! and fro between two levels of a dimension. Each becomes an update of its own, so that sweeps stream into each other. Iterations of
//! loops along dimensions of the Func read no element of each other, so that those around the sweeps go into each of them.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::Type;

use crate::array_expansion::{Reads, is_recursive};
use crate::loops::Loops;
use crate::plan::{Plan, Stage, Term, with_definitions};
use crate::substitution::with_variables;

/// The most sweeps of an update, and of one that has no accelerator with fewer.
const FEW_SWEEPS: i64 = 32;
const MOST_SWEEPS: i64 = 256;

/// Divides updates into their sweeps.
pub(crate) fn divided(plan: &mut Plan, loops: Loops) {
    let most = if loops == Loops::Scheduled || loops.looks_up() { FEW_SWEEPS } else { MOST_SWEEPS };
    let stages = std::mem::take(&mut plan.stages);
    for (definition, stage) in with_definitions(&stages) {
        let sweeps = match definition {
            Some(definition) => sweeps(plan, definition, stage.clone(), most),
            None => vec![stage.clone()],
        };
        plan.stages.extend(sweeps);
    }
}

/// The sweeps of an update, or the stage as it is if it has none, or more than so many.
fn sweeps(plan: &mut Plan, definition: &Stage, stage: Stage, most: i64) -> Vec<Stage> {
    let Some(place) = stage.loops.iter().position(|each| each.dimension.is_none()) else { return vec![stage] };
    let mut loops = stage.loops.clone();
    let outer = loops.remove(place);
    let range = plan.variables[outer.variable].1.filter(|(low, high)| high - low < most);
    // Iterations that read no others do not meet.
    let range = range.filter(|(low, high)| low == high || is_recursive(&stage));
    let Some((low, high)) = range else { return vec![stage] };
    let sweep = |value: i64| {
        let at = HashMap::from([(outer.variable, plan.terms.number(value, Type::I32))]);
        Stage { loops: loops.clone(), ..with_variables(plan, &stage, at) }
    };
    let all: Vec<Stage> = (low..=high).map(sweep).collect();
    let reads = all.iter().map(|sweep| Reads::of(plan, sweep)).collect::<Option<Vec<_>>>();
    // Sweeps that no scan computes stream no better than their loop.
    let are_worth_it = |reads: &[Reads]| {
        low == high
            || meet(&all, reads)
                && all.iter().zip(reads).all(|(sweep, reads)| reads.is_worth_turning(definition, sweep))
    };
    if !reads.is_some_and(|reads| are_worth_it(&reads)) {
        return vec![stage];
    }
    let most = most / (high - low + 1);
    all.into_iter().flat_map(|each| sweeps(plan, definition, each, most)).collect()
}

/// Whether iterations of the outermost loop read elements that others of them write, apart from the one that each updates: in the
/// same places, or in places of which one index comes back to a value.
fn meet(sweeps: &[Stage], reads: &[Reads]) -> bool {
    let places = |sweep: &Stage| sweep.targets.iter().map(place).collect::<Vec<_>>();
    let written: BTreeSet<Vec<usize>> = sweeps.iter().map(places).collect();
    let comes_back = written.len() < sweeps.len();
    let reads_others = |sweep: &Stage| {
        sweep.loads_of(&sweep.arrays).any(|point| {
            let levels = point.indices.iter().zip(&sweep.targets);
            let moved =
                levels.map(|(read, target)| if target.as_number().is_some() { place(read) } else { place(target) });
            written.contains(&moved.collect::<Vec<_>>())
                && point.indices.iter().map(place).ne(sweep.targets.iter().map(place))
        })
    };
    comes_back && (reads.iter().any(Reads::is_recursive) || sweeps.iter().any(reads_others))
}

/// The identity of a term.
fn place(term: &Term) -> usize {
    Rc::as_ptr(term) as usize
}
