//! Loads and loop variables, and the values that they may have.

use std::collections::BTreeMap;

use pushmem_nest::{Loop, Operation};

use crate::code::{Code, Kind};
use crate::terms::Bounds;

/// A value that comes from outside of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Leaf {
    Load(usize),
    Variable(usize),
}

impl Leaf {
    pub fn of(kind: &Kind) -> Option<Leaf> {
        match kind {
            Kind::Load(load) => Some(Leaf::Load(*load)),
            Kind::Variable(variable) => Some(Leaf::Variable(*variable)),
            _ => None,
        }
    }
}

/// The bounds of each loop variable in the first of the iterations that are executed together, outermost first.
pub(crate) fn variables(loops: &[&Loop], operation: &Operation) -> Vec<Bounds> {
    let bounds = |(variable, level): (usize, &&Loop)| {
        let last = if operation.merges(variable) { level.max() - (level.unroll - 1) } else { level.max() };
        Bounds::new(level.min, last)
    };
    loops.iter().enumerate().map(bounds).collect()
}

/// The leaves of codes with their bounds: of loads those that are known, or those of their types.
pub(crate) fn leaves<const COUNT: usize>(
    codes: [&Code; COUNT],
    loads: &[Bounds],
    variables: &[Bounds],
) -> BTreeMap<Leaf, Bounds> {
    let mut found = BTreeMap::new();
    for code in codes {
        for (step, _) in code.steps.iter().zip(code.needed()).filter(|(_, needed)| *needed) {
            let bounds = match step.kind {
                Kind::Variable(variable) => variables[variable],
                Kind::Load(load) if load < loads.len() => loads[load],
                _ => Bounds::new(step.value.min(), step.value.max()),
            };
            if let Some(leaf) = Leaf::of(&step.kind) {
                found.insert(leaf, bounds);
            }
        }
    }
    found
}
