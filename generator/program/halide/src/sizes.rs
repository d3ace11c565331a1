//! The sizes that a pipeline says: of its output, of images, and of Funcs with bounds.

use std::collections::BTreeMap;

use pushmem_nest::{INDEX_LIMIT, Policy};

use crate::floats::Floats;
use crate::plan::Box;
use crate::print::Names;
use crate::syntax::{Constraint, Expression, Func, Parameter, Pipeline};
use crate::{Problem, Result};

/// The lines behind the pipeline in its file, as Halide writes neither sizes of images nor how to schedule accelerators:
/// lines such as `// input: 64, 64` or `// input: -3 64, -3 64`, with least indices, `// schedule: dnn`, and `// narrow floats: bf16`.
#[derive(Default)]
pub(crate) struct Declarations {
    pub schedule: Option<Policy>,
    pub floats: Option<Floats>,
    images: BTreeMap<String, Box>,
}

/// The line that these lines begin with.
const BEGIN: &[u8] = b"\n// pushmem\n";

impl Declarations {
    /// The declarations of a file, and what is wrong with a line.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut declarations = Self::default();
        let Some(at) = bytes.windows(BEGIN.len()).rposition(|window| window == BEGIN) else { return Ok(declarations) };
        let text = String::from_utf8_lossy(&bytes[at + BEGIN.len()..]);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let refused = || format!("the line `{line}` behind the pipeline cannot be read");
            let (name, value) = line.strip_prefix("// ").and_then(|line| line.split_once(": ")).ok_or_else(refused)?;
            if name == "schedule" {
                let policy = [Policy::Stencil, Policy::Dnn].into_iter().find(|policy| policy.name() == value);
                declarations.schedule = Some(policy.ok_or_else(refused)?);
                continue;
            }
            if name == "narrow floats" {
                declarations.floats = Some(Floats::named(value).ok_or_else(refused)?);
                continue;
            }
            let dimension = |text: &str| {
                let numbers: Option<Vec<i64>> = text.split_whitespace().map(|number| number.parse().ok()).collect();
                let (least, extent) = match numbers?[..] {
                    [extent] => (0, extent),
                    [least, extent] => (least, extent),
                    _ => return None,
                };
                let is_small = extent > 0 && extent <= INDEX_LIMIT && least.abs() <= INDEX_LIMIT;
                is_small.then_some((least, least + extent - 1))
            };
            let shape: Option<Box> = value.split(',').map(dimension).collect();
            declarations.images.insert(name.to_owned(), shape.ok_or_else(refused)?);
        }
        Ok(declarations)
    }
}

/// The sizes of a pipeline.
pub(crate) struct Sizes<'a> {
    pub pipeline: &'a Pipeline,
    pub names: &'a Names,
    pub floats: Floats,
    pub declarations: &'a Declarations,
}

/// The numbers of a least index and an extent.
fn range(least: Option<&Expression>, extent: Option<&Expression>) -> Option<(i64, i64)> {
    let extent = extent?.number().filter(|extent| *extent > 0)?;
    let least = least.map_or(Some(0), Expression::number)?;
    Some((least, least.checked_add(extent)?.checked_sub(1)?))
}

impl Constraint {
    fn range(&self) -> Option<(i64, i64)> {
        range(self.least.as_ref(), self.extent.as_ref())
    }
}

impl<'a> Sizes<'a> {
    /// The box of an output: by `bound`, by the bounds of its buffer, or by estimates.
    pub fn output(&self, func: &Func) -> Result<Box> {
        let buffer = self.pipeline.parameters.iter().find(|parameter| func.buffers.contains(&parameter.name));
        let constraint = |dimension: usize| buffer.and_then(|buffer| buffer.constraints.get(dimension));
        let of = |(dimension, argument): (usize, &String)| {
            let estimate = func.schedule.estimates.iter().find(|estimate| &estimate.variable == argument);
            self.bound_of(func, argument)
                .or_else(|| constraint(dimension)?.range())
                .or_else(|| range(estimate?.least.as_ref(), estimate?.extent.as_ref()))
                .or_else(|| {
                    let constraint = constraint(dimension)?;
                    range(constraint.least_estimate.as_ref(), constraint.extent_estimate.as_ref())
                })
                .ok_or_else(|| {
                    let name = self.names.shown(&func.name);
                    let message = format!("the size of the output `{name}` along `{argument}` is not known");
                    Problem::new(func.span, message)
                        .with_help(format!("say it before the pipeline is written: `{name}.bound({argument}, 0, 64)`"))
                })
        };
        func.arguments.iter().enumerate().map(of).collect()
    }

    fn bound_of(&self, func: &Func, argument: &str) -> Option<(i64, i64)> {
        let bound = func.schedule.bounds.iter().find(|bound| bound.variable == argument)?;
        range(bound.least.as_ref(), bound.extent.as_ref())
    }

    /// The box of a Func that has bounds in all dimensions.
    pub fn bound(&self, func: &Func) -> Option<Box> {
        func.arguments.iter().map(|argument| self.bound_of(func, argument)).collect()
    }

    /// The box of an image, if its bounds are set.
    pub fn image(&self, parameter: &Parameter) -> Option<Box> {
        let declared = self.declarations.images.get(self.names.shown(&parameter.name));
        let of = |dimension: usize| match declared {
            Some(declared) => declared.get(dimension).copied(),
            None => parameter.constraints.get(dimension)?.range(),
        };
        (0..parameter.dimensions).map(of).collect()
    }

    /// The value of a variable such as `input.extent.0`.
    pub fn named(&self, name: &str) -> Option<i64> {
        let mut parts = name.rsplitn(3, '.');
        let (dimension, what, image) = (parts.next()?.parse::<usize>().ok()?, parts.next()?, parts.next()?);
        let parameter = self.pipeline.parameters.iter().find(|parameter| parameter.name == image);
        let buffer =
            || Some(self.pipeline.buffers.iter().find(|buffer| buffer.name == image)?.shape.get(dimension).copied());
        let (low, high) = match parameter {
            Some(parameter) => *self.image(parameter)?.get(dimension)?,
            None => buffer()?.map(|(least, extent)| (least, least + extent - 1))?,
        };
        match what {
            "min" => Some(low),
            "max" => Some(high),
            "extent" => Some(high - low + 1),
            _ => None,
        }
    }
}
