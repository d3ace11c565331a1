//! Extraction of stages.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::{ArrayKind, Index, Loop as NestLoop, Operation, Piece, Program};
use pushmem_schedule::{Access, Array, Loop, Pipeline, Stage, Subscript};

/// What a stage was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The stream of an input.
    Input {
        /// The array, an index of [`Program::arrays`].
        array: usize,
        /// Which of the elements that come together.
        lane: i64,
    },
    /// A copy of an operation.
    Operation {
        /// The operation, an index of [`Program::operations`].
        operation: usize,
        /// Which copy: for each loop, innermost first, which of the iterations executed together.
        lanes: Vec<i64>,
    },
}

/// The stages of a program.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The arrays, numbered as in the program, and the stages.
    pub pipeline: Pipeline,
    /// By stage: what it was made from.
    pub origins: Vec<Origin>,
}

/// Extracts the stages of a program. `latency` tells how many cycles the datapath of an operation takes.
///
/// # Errors
/// A located message when an index cannot be the subscript of a streamed access.
pub fn extract(program: &Program, latency: impl Fn(&Operation) -> u64) -> Result<Extraction, Diagnostic> {
    let arrays = program
        .arrays
        .iter()
        .map(|array| Array { name: array.name.clone(), weight: u64::from(array.element.bits()) / 8 })
        .collect();
    let mut extraction = Extraction { pipeline: Pipeline { arrays, stages: Vec::new() }, origins: Vec::new() };
    for (array, declared) in program.arrays.iter().enumerate() {
        if declared.kind == ArrayKind::Input {
            extraction.add_input(program, array);
        }
    }
    for (number, (loops, operation)) in program.operations().into_iter().enumerate() {
        extraction.add_operation(program, number, &loops, operation, latency(operation))?;
    }
    Ok(extraction)
}

impl Extraction {
    /// Streams an input: a stage for each element that comes in a cycle.
    fn add_input(&mut self, program: &Program, array: usize) {
        let declared = &program.arrays[array];
        let together = elements_together(program, array);
        for lane in 0..together {
            let loops: Vec<Loop> = (0..declared.shape.len())
                .map(|dimension| {
                    // The lanes of the innermost dimension interleave; the last ones may be an element shorter.
                    let (stride, first) = if dimension == 0 { (together, lane) } else { (1, 0) };
                    let extent = (declared.shape[dimension] - first + stride - 1) / stride;
                    Loop { name: format!("i{dimension}"), min: 0, extent: extent as u64 }
                })
                .collect();
            let subscripts = (0..declared.shape.len())
                .map(|dimension| {
                    let mut coefficients = vec![0; declared.shape.len()];
                    coefficients[dimension] = if dimension == 0 { together } else { 1 };
                    let offset = if dimension == 0 { lane } else { 0 };
                    Subscript { coefficients, constant: declared.min[dimension] + offset, divisor: 1 }
                })
                .collect();
            let name = if together == 1 { declared.name.clone() } else { format!("{}_{lane}", declared.name) };
            let write = Access { array, subscripts };
            self.pipeline.stages.push(Stage { name, loops, reads: Vec::new(), write, latency: 0 });
            self.origins.push(Origin::Input { array, lane });
        }
    }

    /// Adds the copies of an operation.
    fn add_operation(
        &mut self,
        program: &Program,
        number: usize,
        loops: &[&NestLoop],
        operation: &Operation,
        latency: u64,
    ) -> Result<(), Diagnostic> {
        let inner_first = loops.iter().rev().copied().collect_vec();
        let copies = inner_first.iter().map(|level| 0..level.unroll).multi_cartesian_product();
        // The product of no loops is one copy without lanes.
        for lanes in copies {
            let copy = Copy { program, loops: &inner_first, lanes: &lanes };
            let domain = inner_first
                .iter()
                .map(|level| Loop {
                    name: level.variable.clone(),
                    min: 0,
                    extent: (level.extent / level.unroll) as u64,
                })
                .collect();
            let name = if lanes.iter().all(|&lane| lane == 0) && inner_first.iter().all(|level| level.unroll == 1) {
                operation.name.clone()
            } else {
                format!("{}_{}", operation.name, lanes.iter().join("_"))
            };
            self.pipeline.stages.push(Stage {
                name,
                loops: domain,
                reads: operation.reads().map(|access| copy.access(access)).try_collect()?,
                write: copy.access(&operation.target)?,
                latency,
            });
            self.origins.push(Origin::Operation { operation: number, lanes });
        }
        Ok(())
    }
}

/// How many successive elements of an input come in a cycle: the largest step with which an unrolled reader moves along
/// the innermost dimension.
fn elements_together(program: &Program, array: usize) -> i64 {
    program
        .operations()
        .iter()
        .flat_map(|(loops, operation)| {
            operation.reads().filter(|access| access.array == array).flat_map(move |access| {
                loops.iter().enumerate().filter(|(_, level)| level.unroll > 1).filter_map(|(variable, level)| {
                    let coefficient = access.indices.first()?.affine.coefficient(variable);
                    (coefficient != 0).then_some(coefficient.abs() * level.unroll)
                })
            })
        })
        .max()
        .unwrap_or(1)
}

/// One copy of an operation: its loops, innermost first, and which iteration of each unrolled loop it executes.
struct Copy<'a> {
    program: &'a Program,
    loops: &'a [&'a NestLoop],
    lanes: &'a [i64],
}

impl Copy<'_> {
    fn access(&self, access: &pushmem_nest::Access) -> Result<Access, Diagnostic> {
        let subscript = |index: &Index| {
            self.subscript(index).ok_or_else(|| {
                self.program.diagnostic(access.span, "this index cannot be streamed").with_help(
                    "a streamed index is an affine function of the loop variables, or one divided by a constant",
                )
            })
        };
        Ok(Access { array: access.array, subscripts: access.indices.iter().map(subscript).try_collect()? })
    }

    fn subscript(&self, index: &Index) -> Option<Subscript> {
        match index.pieces.as_slice() {
            [] => Some(self.affine(index, 1)),
            // ⌊of/by⌋ + c is ⌊(of + c·by)/by⌋.
            [(1, Piece::Quotient { of, by })] if of.pieces.is_empty() && index.affine.terms.is_empty() => {
                let mut subscript = self.affine(of, *by);
                subscript.constant += index.affine.constant * by;
                Some(subscript)
            }
            _ => None,
        }
    }

    /// The affine part of an index over the loops of this copy, which count from 0.
    fn affine(&self, index: &Index, divisor: i64) -> Subscript {
        let coefficients = index.affine.coefficients(self.loops.len());
        let moved = self
            .loops
            .iter()
            .zip(self.lanes)
            .zip(&coefficients)
            .map(|((level, lane), coefficient)| coefficient * (level.min + lane));
        let constant = index.affine.constant + moved.sum::<i64>();
        let steps = self.loops.iter().zip(&coefficients).map(|(level, coefficient)| coefficient * level.unroll);
        Subscript { coefficients: steps.collect(), constant, divisor }
    }
}
