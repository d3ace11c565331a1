//! The proof of an import: the statement and the nest are executed on the same images, and give the same pixels. Where all
//! pixels take too many operations it is a test on samples.
//!
//! Much of an import is inferred: the dimensions of flat arrays, the coordinates of what a tile or a sliding window keeps, what
//! the parts of a partitioned loop have in common. Here the statement is executed as it stands, on flat memories.

mod machine;
mod nest;
mod samples;
mod slice;
mod statement;

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_nest::{ArrayKind, Program};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::Inferred;
use crate::boundaries::{Boundaries, Edges, add_ends};
use crate::fault::{Fault, Result};
use crate::proof::machine::{Machine, Script, Stop, UNKNOWN};
use crate::syntax::Module;

/// The most operations of a proof. Indices are computed by operations, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// To execute all of a statement, or all of a nest.
    pub whole: u64,
    /// To execute what the samples of an output need, in a statement or in a nest.
    pub samples: u64,
}

/// About half a second for all, or two for samples.
pub(crate) const LIMITS: Limits = Limits { whole: 1 << 26, samples: 1 << 28 };

/// By how much the batches grow in which samples are compared.
const BATCH_GROWTH: usize = 4;

/// What was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// Every pixel.
    Everything,
    /// Samples of each output, with all that they are computed from, but none of the outputs that were `missed`: even
    /// one pixel of these takes more operations than are allowed.
    Samples { missed: Vec<String> },
}

impl Compared {
    /// The names of the outputs of which no pixel was compared.
    pub fn missed(&self) -> &[String] {
        match self {
            Compared::Everything => &[],
            Compared::Samples { missed } => missed,
        }
    }
}

/// A statement, with what was found out about its arguments.
pub(crate) struct Statement<'a> {
    pub module: &'a Module<'a>,
    pub inferred: &'a Inferred<'a>,
    /// The names of the arrays in the nest.
    pub names: &'a [String],
    /// Where definitions begin and end, of each array.
    pub boundaries: &'a Boundaries,
    /// Where the random samples come from: each text has others.
    pub seed: u64,
}

/// A program with its memories at the beginning.
struct Execution {
    script: Script,
    memories: Vec<Vec<i64>>,
}

impl Execution {
    /// The memories after everything was executed.
    fn whole(&self, allowed: u64) -> Result<Vec<Vec<i64>>, Stop> {
        let mut machine = Machine::new(&self.script, self.memories.clone(), allowed);
        machine.run(&self.script.steps, 0)?;
        Ok(machine.memories)
    }

    /// The memories after the execution of what some elements depend on. What it takes is subtracted from `allowed`.
    fn part(&self, wanted: &[(usize, i64)], allowed: &mut u64) -> Result<Vec<Vec<i64>>, Stop> {
        let mut machine = Machine::new(&self.script, self.memories.clone(), *allowed);
        slice::run_for(&self.script, &mut machine, wanted)?;
        *allowed = machine.allowed;
        Ok(machine.memories)
    }
}

/// Compares a statement with its nest: all of both if the limits allow it, and otherwise samples.
///
/// # Errors
/// If a pixel differs.
pub(crate) fn prove(statement: &Statement, nest: &Program, limits: Limits) -> Result<Compared> {
    let outputs = statement.outputs(nest);
    let (one, other) = statement.executions(nest);
    match one.whole(limits.whole).and_then(|one| Ok((one, other.whole(limits.whole)?))) {
        Ok((one, other)) => {
            for (in_statement, in_nest) in outputs {
                for at in 0..nest.arrays[in_nest].size() {
                    statement.compare(&one[in_statement], &other[in_nest], nest, (in_statement, in_nest, at))?;
                }
            }
            return Ok(Compared::Everything);
        }
        Err(Stop::Undetermined) => return Err(statement.undetermined()),
        Err(Stop::Exhausted) => {}
    }
    let mut missed = Vec::new();
    for pair in outputs {
        if !statement.sampled(nest, (&one, &other), pair, limits)? {
            missed.push(nest.arrays[pair.1].name.clone());
        }
    }
    Ok(Compared::Samples { missed })
}

impl Statement<'_> {
    /// The outputs, each with its memories in the statement and in the nest.
    fn outputs(&self, nest: &Program) -> Vec<(usize, usize)> {
        let arrays = nest.arrays.iter().enumerate().filter(|(_, array)| array.kind == ArrayKind::Output);
        arrays.filter_map(|(number, array)| Some((self.argument(&array.name)?, number))).collect()
    }

    fn argument(&self, name: &str) -> Option<usize> {
        (0..self.names.len())
            .find(|&number| self.inferred.program.arrays[number].is_argument && self.names[number] == name)
    }

    /// Where definitions begin and end, and the first and the last iterations of loops around stores of an output, which
    /// may be tiles.
    fn edges_of(&self, output: usize, shape: &[i64]) -> Edges {
        let mut edges = self.boundaries[output].clone();
        let stores = self.inferred.program.stores.iter().filter(|store| store.array == output);
        let loops: BTreeSet<(i64, i64)> =
            stores.flat_map(|store| store.loops.iter().map(|each| store.ranges[*each])).collect();
        for (low, high) in loops {
            let extent = high - low + 1;
            for (dimension, size) in shape.iter().enumerate().filter(|(_, size)| extent < **size) {
                add_ends(&mut edges, dimension, (extent, size - extent - 1));
            }
        }
        edges
    }

    /// Both, with the same images.
    fn executions(&self, nest: &Program) -> (Execution, Execution) {
        let images = images(nest);
        let Inferred { program, types, shapes } = self.inferred;
        let known = program.arrays.iter().zip(types).zip(shapes).zip(self.names);
        let known = known.filter(|(((array, _), _), _)| array.is_argument || array.entries.is_some());
        let (mut arguments, mut memories) = (Vec::new(), Vec::new());
        for (((array, element), shapes), name) in known {
            arguments.push((array.name, *element));
            let size = shapes.first().map_or(0, |shape| shape.iter().product::<i64>());
            let image = array.entries.clone().or_else(|| images.get(name.as_str()).cloned());
            memories.push(image.unwrap_or_else(|| vec![UNKNOWN; size as usize]));
        }
        let of_statement = Execution { script: statement::script(&self.module.body, &arguments), memories };
        let arrays = nest.arrays.iter().map(|array| images.get(array.name.as_str()).cloned().unwrap_or_default());
        let memories = arrays.chain(nest.tables.iter().map(|table| table.values.clone())).collect();
        (of_statement, Execution { script: nest::script(nest), memories })
    }

    /// Compares samples of an output, in batches, as long as there are operations: whether there are for the first.
    fn sampled(
        &self,
        nest: &Program,
        (one, other): (&Execution, &Execution),
        (in_statement, in_nest): (usize, usize),
        limits: Limits,
    ) -> Result<bool> {
        let edges = self.edges_of(in_statement, &nest.arrays[in_nest].shape);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let samples = samples::samples(&nest.arrays[in_nest].shape, &edges, &mut random);
        let mut allowed = [limits.samples; 2];
        let (mut compared, mut size) = (0, 1);
        while compared < samples.len() {
            let batch = &samples[compared..samples.len().min(compared + size)];
            let wanted = |memory: usize| batch.iter().map(|at| (memory, *at)).collect::<Vec<_>>();
            let one = one.part(&wanted(in_statement), &mut allowed[0]);
            match one.and_then(|one| Ok((one, other.part(&wanted(in_nest), &mut allowed[1])?))) {
                Ok((one, other)) => {
                    for &at in batch {
                        self.compare(&one[in_statement], &other[in_nest], nest, (in_statement, in_nest, at as usize))?;
                    }
                }
                Err(Stop::Undetermined) => return Err(self.undetermined()),
                Err(Stop::Exhausted) => break,
            }
            compared += batch.len();
            size *= BATCH_GROWTH;
        }
        Ok(compared > 0)
    }

    fn compare(
        &self,
        one: &[i64],
        other: &[i64],
        nest: &Program,
        (in_statement, in_nest, at): (usize, usize, usize),
    ) -> Result<()> {
        let value = |memory: &[i64]| memory.get(at).copied().filter(|value| *value != UNKNOWN);
        let (one, other) = (value(one), value(other));
        if one == other {
            return Ok(());
        }
        let array = &nest.arrays[in_nest];
        let mut rest = at as i64;
        let indices = array.shape.iter().zip(&array.min).map(|(extent, min)| {
            let index = rest % extent + min;
            rest /= extent;
            index
        });
        let text = |value: Option<i64>| value.map_or("unknown".to_owned(), |value| value.to_string());
        let message = format!(
            "on random images `{}[{}]` is {} in the statement, but {} in the nest",
            array.name,
            { indices }.join(", "),
            text(one),
            text(other)
        );
        Err(Fault::new(self.inferred.program.arrays[in_statement].span, message).with_help(
            "the import is wrong: please report it, with this file. Another schedule may be understood, such as `compute_root`",
        ))
    }

    fn undetermined(&self) -> Fault {
        let span = self.inferred.program.arrays.first().map(|array| array.span).unwrap_or_default();
        Fault::new(span, "which elements the statement accesses depends on data").with_help(
            "addresses are computed by counters, not from data; only tables of constants are looked up by data",
        )
    }
}

/// An image for each input: half of the pixels of the whole type, and half of them small, so that comparisons go both ways.
fn images(nest: &Program) -> BTreeMap<&str, Vec<i64>> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let inputs = nest.arrays_of(ArrayKind::Input).map(|array| {
        let mut pixel = |_| {
            let value = random.random_range(array.element.min()..=array.element.max());
            if random.random() { value } else { value % 16 }
        };
        (array.name.as_str(), (0..array.size()).map(&mut pixel).collect())
    });
    inputs.collect()
}

#[cfg(test)]
mod tests;
