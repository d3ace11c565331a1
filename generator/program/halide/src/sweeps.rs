//! Sweeps: iterations of the outermost loop of an update that write elements again, as the steps of a relaxation do, in one array or to and
//! fro between two levels of a dimension. Each becomes an update of its own, so that sweeps stream into each other.

use std::collections::{BTreeSet, HashMap};

use pushmem_nest::Type;

use crate::array_expansion::is_recursive;
use crate::intern::Interner;
use crate::plan::{Loop, Plan, Point, Stage, Term};
use crate::substitution::Substitution;
use crate::target::Target;

/// The most sweeps of an update.
const MOST_SWEEPS: i64 = 256;

/// Divides updates into their sweeps.
pub(crate) fn divided(plan: &mut Plan) {
    for stage in std::mem::take(&mut plan.stages) {
        let sweeps = sweeps(plan, stage, MOST_SWEEPS);
        plan.stages.extend(sweeps);
    }
}

/// The sweeps of an update, or the stage as it is if it has none, or more than so many.
fn sweeps(plan: &mut Plan, stage: Stage, most: i64) -> Vec<Stage> {
    let Some((outer, inner)) = stage.loops.split_first() else { return vec![stage] };
    let range = plan.variables[outer.variable].1.filter(|(low, high)| high - low < most);
    let is_divided = |(low, high): &(i64, i64)| outer.dimension.is_none() && (low == high || is_swept(&stage, outer));
    let Some((low, high)) = range.filter(is_divided) else { return vec![stage] };
    let sweep = |value: i64| {
        let at = HashMap::from([(outer.variable, plan.terms.number(value, Type::I32))]);
        let mut sweep = Stage { loops: inner.to_vec(), ..stage.clone() };
        let load = |terms: &mut Interner, _: &Point, point: Point, loaded| Some(terms.load(point, loaded));
        Substitution::new(&mut plan.terms, at, load).within(&mut sweep);
        sweep
    };
    let all: Vec<Stage> = (low..=high).map(sweep).collect();
    let most = most / (high - low + 1);
    all.into_iter().flat_map(|each| sweeps(plan, each, most)).collect()
}

/// Whether iterations of the outermost loop of an update write the same elements, which others of its elements follow from: no index
/// goes along the loop, or one, which depends on nothing else, comes back to a value.
fn is_swept(stage: &Stage, outer: &Loop) -> bool {
    let variables = |index: &Term| {
        let mut found = BTreeSet::new();
        index.own_variables(&mut found);
        found
    };
    let (following, others): (Vec<&Term>, Vec<&Term>) =
        stage.targets.iter().partition(|target| variables(target).contains(&outer.variable));
    let comes_back = match following[..] {
        [] => true,
        [index] => variables(index).len() == 1 && Target::of(index).is_none(),
        _ => false,
    };
    comes_back && others.into_iter().all(|index| Target::of(index).is_some()) && is_recursive(stage)
}
