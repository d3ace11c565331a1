//! Boxes of loop variables.

use std::collections::BTreeMap;

/// Values of a loop variable: from `first` to `last`, each `step`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Steps {
    /// The first.
    pub first: i64,
    /// The last.
    pub last: i64,
    /// The distance from one to the next, 1 or more.
    pub step: i64,
}

impl Steps {
    /// Whether this is one of the values.
    pub fn contains(self, value: i64) -> bool {
        (self.first..=self.last).contains(&value) && (value - self.first) % self.step == 0
    }

    /// The steps that these values are, ascending and one at least; nothing if their distances differ.
    pub fn of(values: &[i64]) -> Option<Self> {
        let (&first, &last) = (values.first()?, values.last()?);
        let step = values.get(1).map_or(1, |second| second - first);
        let regular = values.windows(2).all(|pair| pair[1] - pair[0] == step);
        regular.then_some(Steps { first, last, step })
    }
}

/// A box of loop variables. Those that it does not name may have any value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate {
    /// The values of each variable; loops are numbered from the outermost.
    pub variables: BTreeMap<usize, Steps>,
}

impl Predicate {
    /// Whether these values of all loop variables are in the box.
    pub fn holds(&self, variables: &[i64]) -> bool {
        self.variables.iter().all(|(&variable, steps)| steps.contains(variables[variable]))
    }

    /// The box of all that are in both; nothing if both limit the same variable.
    pub fn and(&self, other: &Predicate) -> Option<Predicate> {
        let mut variables = self.variables.clone();
        other.variables.iter().all(|(&variable, &steps)| variables.insert(variable, steps).is_none()).then_some(())?;
        Some(Predicate { variables })
    }
}
