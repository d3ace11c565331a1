//! The proof of an import: the pipeline, as Halide defines it, and the nest are computed of the same images, and give the same pixels.
//! Where all pixels take too many operations it is a test on samples.
//!
//! | Module | Computes |
//! |---|---|
//! | [`meaning`], [`funcs`] | elements of Funcs, by the definitions in the file |
//! | [`scalar`], [`functions`] | values as Halide defines them |
//! | [`machine`], [`slice`] | elements of arrays, by the operations of the nest |
//! | [`worlds`], [`samples`] | images, and which pixels are compared |
//!
//! The passes decide nothing here: of them the proof knows the sizes, and the names of inputs and outputs alone.

mod funcs;
mod functions;
mod machine;
mod meaning;
mod samples;
mod scalar;
mod slice;
mod worlds;

use std::cell::Cell;
use std::collections::BTreeMap;

use itertools::Itertools;

use pushmem_nest::{Array, ArrayKind, Program, Type};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use self::funcs::Evaluation;
use self::machine::{Machine, Steps};
use self::meaning::{Defined, meanings};
use self::scalar::{Arithmetic, Scalar, Stop};
use self::worlds::World;
use crate::sizes::Sizes;
use crate::syntax::{Expression, Kind, Pipeline};
use crate::{Problem, Result};

/// The most operations of a proof, for all images together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// To compute all pixels by a pipeline, or by a nest.
    pub whole: u64,
    /// To do it again with other images.
    pub again: u64,
    /// To compute the samples of an output by a pipeline, or by a nest.
    pub samples: u64,
}

/// A quarter of a second for all, or one for samples.
pub(crate) const LIMITS: Limits = Limits { whole: 1 << 23, again: 1 << 20, samples: 1 << 25 };

/// How often all pixels are compared at most, each time of other images.
const ROUNDS: u64 = 8;

/// The most numbers with a fraction of which quotients are formed.
const MOST_CONSTANTS: usize = 32;

/// By how much the batches grow in which samples are compared.
const BATCH_GROWTH: usize = 4;

/// The stack of the evaluation, which is as deep as expressions and Funcs are nested.
const STACK: usize = 64 << 20;

/// An output of a pipeline.
struct Output {
    func: usize,
    value: usize,
    /// Its array in the nest.
    array: usize,
    /// Whether the pipeline has decided some pixel that was compared: Halide leaves those open that depend on broken promises.
    is_decided: Cell<bool>,
}

/// A pipeline and its nest.
struct Proof<'a> {
    pipeline: &'a Pipeline,
    program: &'a Program,
    steps: Steps<'a>,
    defined: Vec<Defined>,
    arithmetic: Arithmetic,
    outputs: Vec<Output>,
    /// Of each array of the nest, the parameter of the pipeline that it is.
    inputs: Vec<Option<usize>>,
}

/// Compares a pipeline with its nest: all pixels if the limits allow it, and otherwise samples. `called` are the names of inputs and
/// outputs in the nest, by those in the text of the pipeline. Gives the names of the outputs of which no pixel was compared: even one takes
/// more operations than are allowed, or Halide leaves all of them open.
///
/// # Errors
/// If a pixel differs.
pub(crate) fn prove(
    sizes: &Sizes,
    called: &BTreeMap<String, String>,
    program: &Program,
    limits: Limits,
) -> Result<Vec<String>> {
    let prove = || Proof::new(sizes, called, program)?.prove(limits);
    // Expressions may be nested deeper than the stack of a thread lets a walk be.
    let found = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, prove);
        thread.ok().and_then(|thread| thread.join().ok())
    });
    found.unwrap_or_else(|| Err(Problem::new(Default::default(), "the proof of the import was ended").as_fault()))
}

impl<'a> Proof<'a> {
    fn new(sizes: &'a Sizes<'a>, called: &BTreeMap<String, String>, program: &'a Program) -> Result<Self> {
        let pipeline = sizes.pipeline;
        let array = |shown: &str| {
            let name = called.get(shown).map_or(shown, String::as_str);
            program.arrays.iter().position(|array| array.name == name)
        };
        let mut outputs = Vec::new();
        for name in &pipeline.outputs {
            let Some(func) = pipeline.funcs.iter().position(|func| func.name == *name) else { continue };
            let (shown, types) = (sizes.names.shown(name), &pipeline.funcs[func].types);
            for value in 0..types.len() {
                let shown = if types.len() == 1 { shown.to_owned() } else { format!("{shown}_{value}") };
                let Some(array) = array(&shown).filter(|array| program.arrays[*array].kind == ArrayKind::Output) else {
                    return Err(
                        Problem::new(pipeline.funcs[func].span, format!("the nest has no output `{shown}`")).as_fault()
                    );
                };
                outputs.push(Output { func, value, array, is_decided: Cell::default() });
            }
        }
        let mut inputs = vec![None; program.arrays.len()];
        for (number, parameter) in pipeline.parameters.iter().enumerate() {
            let found = array(sizes.names.shown(&parameter.name));
            if let Some(found) = found.filter(|array| program.arrays[*array].kind == ArrayKind::Input) {
                inputs[found] = Some(number);
            }
        }
        let arithmetic = meaning::arithmetic(sizes.floats);
        let steps = Steps::new(program);
        Ok(Self { pipeline, program, steps, defined: meanings(sizes), arithmetic, outputs, inputs })
    }

    fn prove(&self, limits: Limits) -> Result<Vec<String>> {
        let (integers, numbers) = constants(self.pipeline);
        let cost = self.steps.whole_cost(&self.program.nest).saturating_mul(worlds::KINDS as u64);
        let rounds = (limits.again / cost.max(1)).clamp(1, ROUNDS);
        let worlds = worlds::worlds(&integers, &numbers, self.pipeline.format, rounds);
        let name = |output: &Output| self.program.arrays[output.array].name.clone();
        if cost <= limits.whole && self.whole(&worlds, limits)? {
            return Ok(self.outputs.iter().filter(|output| !output.is_decided.get()).map(name).collect());
        }
        let worlds = &worlds[..worlds::KINDS];
        let mut evaluations: Vec<Evaluation> =
            worlds.iter().map(|world| Evaluation::new(self.pipeline, &self.defined, world)).collect();
        let mut missed = Vec::new();
        for output in &self.outputs {
            if !self.sampled(worlds, &mut evaluations, output, limits.samples)? || !output.is_decided.get() {
                missed.push(name(output));
            }
        }
        Ok(missed)
    }

    /// Compares all pixels of all outputs: whether the operations that are allowed are enough for images of all kinds.
    fn whole(&self, worlds: &[World], limits: Limits) -> Result<bool> {
        let mut allowed = limits.whole;
        for (done, world) in worlds.iter().enumerate() {
            if done == worlds::KINDS {
                allowed = allowed.min(limits.again);
            }
            let mut evaluation = Evaluation::new(self.pipeline, &self.defined, world);
            evaluation.allowed = allowed;
            let mut machine = Machine::new(self.program, &self.steps, world, &self.inputs);
            machine.run();
            for output in &self.outputs {
                for place in 0..self.program.arrays[output.array].size() {
                    if self.compare(&mut evaluation, &machine, output, place)?.is_none() {
                        return Ok(done >= worlds::KINDS);
                    }
                }
            }
            allowed = evaluation.allowed;
        }
        Ok(true)
    }

    /// Compares samples of an output, in batches, as long as there are operations: whether there are for the first.
    fn sampled(&self, worlds: &[World], evaluations: &mut [Evaluation], output: &Output, allowed: u64) -> Result<bool> {
        let mut random = ChaCha8Rng::seed_from_u64(output.array as u64);
        let samples =
            samples::samples(&self.program.arrays[output.array].shape, &self.parts(output.array), &mut random);
        let (mut in_pipeline, mut in_nest) = (allowed, allowed / worlds.len() as u64);
        let (mut compared, mut size) = (0, 1);
        while compared < samples.len() {
            let batch = &samples[compared..samples.len().min(compared + size)];
            let Ok(needed) = slice::needed_for(self.program, &self.steps, output.array, batch, &mut in_nest) else {
                break;
            };
            for (world, evaluation) in worlds.iter().zip(evaluations.iter_mut()) {
                evaluation.allowed = in_pipeline;
                let mut machine = Machine::new(self.program, &self.steps, world, &self.inputs);
                needed.iter().for_each(|(operation, variables)| machine.execute(operation, variables));
                for place in batch {
                    if self.compare(evaluation, &machine, output, *place)?.is_none() {
                        return Ok(compared > 0);
                    }
                }
                in_pipeline = evaluation.allowed;
            }
            compared += batch.len();
            size *= BATCH_GROWTH;
        }
        Ok(compared > 0)
    }

    /// Compares a pixel; nothing, if the operations that are allowed are not enough for it.
    fn compare(
        &self,
        evaluation: &mut Evaluation,
        machine: &Machine,
        output: &Output,
        place: usize,
    ) -> Result<Option<()>> {
        let array = &self.program.arrays[output.array];
        let indices = array.indices(place);
        let expected = match evaluation.value(output.func, output.value, &indices, self.arithmetic) {
            Ok(value) => value,
            Err(Stop::Exhausted) => return Ok(None),
            // Any value is right.
            Err(Stop::Open | Stop::Foreign) => return Ok(Some(())),
        };
        output.is_decided.set(true);
        let found = machine.element(output.array, place);
        let format = self.pipeline.format;
        let is_same = match (expected, found) {
            (Scalar::Integer(expected), Some(found)) => expected == found,
            // Zeros may have a sign.
            (Scalar::Number(expected), Some(found)) => format.to_f64(found as u16) == expected,
            (_, None) => false,
        };
        if is_same {
            return Ok(Some(()));
        }
        let expected = match expected {
            Scalar::Integer(expected) => expected.to_string(),
            Scalar::Number(expected) => Type::of_format(format).text(format.from_f64(expected).into()),
        };
        let message = format!(
            "on random images `{}[{}]` is {expected} in the pipeline, but {} in the nest",
            array.name,
            indices.iter().join(", "),
            found.map_or("never written".to_owned(), |found| array.element.text(found))
        );
        Err(Problem::new(self.pipeline.funcs[output.func].span, message)
            .as_fault()
            .with_help("the import is wrong: please report it, with this file. Another schedule may be imported"))
    }

    /// Of each dimension of an output, the coordinates where operations begin and end to write it.
    fn parts(&self, array: usize) -> Vec<Vec<i64>> {
        let Array { shape, min, .. } = &self.program.arrays[array];
        let mut found = vec![Vec::new(); shape.len()];
        for (loops, operation) in self.program.operations() {
            if operation.target.array != array || operation.target.computed.is_some() {
                continue;
            }
            let ranges: Vec<(i64, i64)> = loops.iter().map(|each| (each.min, each.max())).collect();
            for (dimension, index) in operation.target.indices.iter().enumerate() {
                let (low, high) = index.range(&ranges);
                found[dimension].extend([low - min[dimension], high - min[dimension]]);
            }
        }
        found
    }
}

/// The constants that a pipeline computes with: integers, and numbers.
fn constants(pipeline: &Pipeline) -> (Vec<i64>, Vec<f64>) {
    let (mut integers, mut numbers) = (Vec::new(), Vec::new());
    let definitions = pipeline.funcs.iter().flat_map(|func| func.definition.iter().chain(&func.updates));
    let roots = definitions.flat_map(|definition| definition.values.iter().chain(&definition.predicate));
    for part in roots.flat_map(Expression::parts) {
        match part.kind {
            Kind::Integer(integer, _) => integers.push(integer),
            Kind::Real(number, _) => numbers.push(number),
            _ => {}
        }
    }
    let numbers = numbers
        .into_iter()
        .filter(|number| number.is_finite())
        .unique_by(|number| number.to_bits())
        .take(MOST_CONSTANTS);
    (integers.into_iter().unique().collect(), { numbers }.collect())
}

#[cfg(test)]
mod tests;
