//! Names of copies.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_nest::Program;

/// The names of the stages of a program. Those that the program gives to arrays and operations belong to them alone.
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    pub(crate) fn of(program: &Program) -> Self {
        let arrays = program.arrays.iter().map(|array| array.name.clone());
        let operations = program.operations().into_iter().map(|(_, operation)| operation.name.clone());
        Names { taken: arrays.chain(operations).collect() }
    }

    /// The names of the copies of something: its own name and the numbers of each. Where one of these is taken, as
    /// `a_0` of `a` is by an array `a_0`, the kind stands between.
    pub(crate) fn copies(&mut self, of: &str, kind: &str, numbers: &[Vec<i64>]) -> Vec<String> {
        if let [only] = numbers
            && only.is_empty()
        {
            return vec![of.to_owned()];
        }
        let stems = std::iter::successors(Some(of.to_owned()), |stem| Some(format!("{stem}_{kind}")));
        let mut names = stems
            .map(|stem| numbers.iter().map(|numbers| format!("{stem}_{}", numbers.iter().join("_"))).collect_vec());
        let free = names.find(|names| names.iter().all(|name| !self.taken.contains(name)));
        let names = free.expect("stems do not end");
        self.taken.extend(names.iter().cloned());
        names
    }
}
