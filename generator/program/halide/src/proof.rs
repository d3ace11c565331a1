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
mod worlds;

use std::collections::BTreeSet;
use std::iter::repeat_n;

use itertools::Itertools;
use pushmem_nest::{ArrayKind, Program, Type};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::Inferred;
use crate::boundaries::{Boundaries, Edges, add_ends};
use crate::fault::{Fault, Result};
use crate::program::Array;
use crate::proof::machine::{Machine, Script, Stop, UNKNOWN, width};
use crate::proof::worlds::World;
use crate::shapes::Shape;
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

/// The pixels that were compared.
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

/// An array of a statement that has elements before it begins.
struct Known<'a> {
    array: &'a Array<'a>,
    element: Type,
    shapes: &'a [Shape],
    name: &'a str,
}

/// A program with its memories at the beginning, in some worlds.
struct Execution<'a> {
    script: Script,
    worlds: &'a [World],
    /// Of each memory, the elements, each as [`width`] says.
    memories: Vec<Vec<i64>>,
}

impl Execution<'_> {
    /// The memories after everything was executed.
    fn whole(&self, allowed: u64) -> Result<Vec<Vec<i64>>, Stop> {
        let mut machine = Machine::new(&self.script, self.worlds, self.memories.clone(), allowed);
        machine.run(&self.script.steps, 0)?;
        Ok(machine.memories)
    }

    /// The memories after the execution of all steps that some elements depend on. Their operations are subtracted from `allowed`.
    fn part(&self, wanted: &[(usize, i64)], allowed: &mut u64) -> Result<Vec<Vec<i64>>, Stop> {
        let mut machine = Machine::new(&self.script, self.worlds, self.memories.clone(), *allowed);
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
    let scripts = statement.scripts(nest);
    let constants = scripts.0.numbers().union(&scripts.1.numbers()).copied().collect();
    let worlds = worlds::worlds(&constants);
    let (one, other) = statement.executions(nest, &worlds, scripts);
    match one.whole(limits.whole).and_then(|one| Ok((one, other.whole(limits.whole)?))) {
        Ok((one, other)) => {
            for (in_statement, in_nest) in outputs {
                for at in 0..nest.arrays[in_nest].size() {
                    let values = (&one[in_statement][..], &other[in_nest][..]);
                    statement.compare(&worlds, values, nest, (in_statement, in_nest, at))?;
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

    /// The arrays that are there before both begin.
    fn known(&self) -> Vec<Known<'_>> {
        let Inferred { program, types, shapes } = self.inferred;
        let known = program.arrays.iter().zip(types).zip(shapes).zip(self.names);
        let known = known.map(|(((array, element), shapes), name)| Known { array, element: *element, shapes, name });
        known.filter(|known| known.array.is_argument || known.array.entries.is_some()).collect()
    }

    /// Both as steps.
    fn scripts(&self, nest: &Program) -> (Script, Script) {
        let arguments: Vec<_> = self.known().iter().map(|known| (known.array.name, known.element)).collect();
        (statement::script(&self.module.body, &arguments), nest::script(nest))
    }

    /// Both, with the same images.
    fn executions<'a>(
        &self,
        nest: &Program,
        worlds: &'a [World],
        (of_statement, of_nest): (Script, Script),
    ) -> (Execution<'a>, Execution<'a>) {
        let images = worlds::images(nest, worlds, &of_statement.numbers());
        let in_all = |values: &[i64]| {
            let element = |value: &i64| repeat_n(*value, worlds.len()).chain([0]);
            values.iter().flat_map(element).collect::<Vec<i64>>()
        };
        let memory = |Known { array, shapes, name, .. }: &Known| {
            let size = shapes.first().map_or(0, |shape| shape.iter().product::<i64>());
            let entries = array.entries.as_deref().map(in_all).or_else(|| images.get(name).cloned());
            entries.unwrap_or_else(|| vec![UNKNOWN; size as usize * width(worlds)])
        };
        let memories = self.known().iter().map(memory).collect();
        let of_statement = Execution { script: of_statement, worlds, memories };
        let arrays = nest.arrays.iter().map(|array| images.get(array.name.as_str()).cloned().unwrap_or_default());
        let memories = arrays.chain(nest.tables.iter().map(|table| in_all(&table.values))).collect();
        (of_statement, Execution { script: of_nest, worlds, memories })
    }

    /// Compares samples of an output, in batches, as long as there are operations: whether there are for the first.
    fn sampled(
        &self,
        nest: &Program,
        (one, other): (&Execution, &Execution),
        (in_statement, in_nest): (usize, usize),
        limits: Limits,
    ) -> Result<bool> {
        let worlds = one.worlds;
        let edges = self.edges_of(in_statement, &nest.arrays[in_nest].shape);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let samples = samples::samples(&nest.arrays[in_nest].shape, &edges, &mut random);
        let mut allowed = [limits.samples; 2];
        let (mut compared, mut size) = (0, 1);
        while compared < samples.len() {
            let batch = &samples[compared..samples.len().min(compared + size)];
            let wanted = |memory: usize| batch.iter().map(|at| (memory, *at)).collect::<Vec<_>>();
            let found = one.part(&wanted(in_statement), &mut allowed[0]);
            match found.and_then(|one| Ok((one, other.part(&wanted(in_nest), &mut allowed[1])?))) {
                Ok((one, other)) => {
                    for &at in batch {
                        let values = (&one[in_statement][..], &other[in_nest][..]);
                        self.compare(worlds, values, nest, (in_statement, in_nest, at as usize))?;
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

    /// Compares a pixel in all worlds.
    fn compare(
        &self,
        worlds: &[World],
        (one, other): (&[i64], &[i64]),
        nest: &Program,
        (in_statement, in_nest, at): (usize, usize, usize),
    ) -> Result<()> {
        let value = |memory: &[i64], world: usize| {
            memory.get(at * width(worlds) + world).copied().filter(|value| *value != UNKNOWN)
        };
        let values = worlds.iter().enumerate().map(|(at, world)| (world, value(one, at), value(other, at)));
        let Some((world, one, other)) = { values }.find(|(_, one, other)| one != other) else { return Ok(()) };
        let array = &nest.arrays[in_nest];
        let mut rest = at as i64;
        let indices = array.shape.iter().zip(&array.min).map(|(extent, min)| {
            let index = rest % extent + min;
            rest /= extent;
            index
        });
        let text = |value: Option<i64>| value.map_or("unknown".to_owned(), |value| value.to_string());
        let message = format!(
            "{} `{}[{}]` is {} in the statement, but {} in the nest",
            match world.order {
                None => "on random images",
                Some(_) => "on random images, with data in a random order,",
            },
            array.name,
            { indices }.join(", "),
            text(one),
            text(other)
        );
        Err(Fault::new(self.inferred.program.arrays[in_statement].span, message).of_ours().with_help(
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

#[cfg(test)]
mod tests;
