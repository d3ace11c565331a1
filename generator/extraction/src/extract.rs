//! Extraction of stages.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::{Access as NestAccess, Affine, ArrayKind, Index, Loop as NestLoop, Operation, Piece, Program, Span};
use pushmem_schedule::{Access, Array, Boundary, Loop, Pipeline, Stage, Subscript};

/// What a stage was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The stream of an input.
    Input {
        /// The array, an index of [`Program::arrays`].
        array: usize,
        /// Which of the elements that come together, in each dimension.
        lanes: Vec<i64>,
    },
    /// A copy of an operation.
    Operation {
        /// The operation, an index of [`Program::operations`].
        operation: usize,
        /// Which copy: for each loop, innermost first, which of the iterations executed together.
        ///
        /// The copies of a reduction along loops that its target does not follow are one stage, whose lane there is 0: it
        /// reads what they load, copy by copy as in [`Extraction::copies`], and the target last.
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
    let mut before: Vec<&NestLoop> = Vec::new();
    for (number, (loops, operation)) in program.operations().into_iter().enumerate() {
        let shared = before.iter().zip(&loops).take_while(|(one, other)| std::ptr::eq(**one, **other)).count();
        extraction.add_operation(program, number, &loops, shared, operation, latency(operation))?;
        before = loops;
    }
    Ok(extraction)
}

impl Extraction {
    /// The lanes of the copies that a stage executes, in the order of its reads. Several only for a reduction.
    pub fn copies(&self, program: &Program, stage: usize) -> Vec<Vec<i64>> {
        match &self.origins[stage] {
            Origin::Input { .. } => Vec::new(),
            Origin::Operation { operation, lanes } => {
                let (loops, operation) = &program.operations()[*operation];
                operation.copies_together(loops).iter().map(|part| combined(lanes, part)).collect()
            }
        }
    }

    /// Where the text of the program has a stage.
    pub fn span(&self, program: &Program, stage: usize) -> Span {
        match &self.origins[stage] {
            Origin::Input { array, .. } => program.arrays[*array].span,
            Origin::Operation { operation, .. } => program.operations()[*operation].1.span,
        }
    }

    /// The group of the next stages.
    fn next_group(&self) -> usize {
        self.pipeline.stages.last().map_or(0, |stage| stage.group + 1)
    }

    /// Streams an input: a stage for each element that comes in a cycle.
    fn add_input(&mut self, program: &Program, array: usize) {
        let declared = &program.arrays[array];
        let together = elements_together(program, array);
        let group = self.next_group();
        // As the lanes of operations, the innermost turning fastest.
        let lanes = together.iter().rev().map(|&together| 0..together).multi_cartesian_product();
        for mut lanes in lanes {
            lanes.reverse();
            let loops: Vec<Loop> = (0..declared.shape.len())
                .map(|dimension| {
                    // Lanes interleave; the last ones may be an element shorter.
                    let (stride, first) = (together[dimension], lanes[dimension]);
                    let extent = (declared.shape[dimension] - first + stride - 1) / stride;
                    Loop { name: format!("i{dimension}"), min: 0, extent: extent as u64 }
                })
                .collect();
            let subscripts = (0..declared.shape.len())
                .map(|dimension| {
                    let mut coefficients = vec![0; declared.shape.len()];
                    if loops[dimension].extent > 1 {
                        coefficients[dimension] = together[dimension];
                    }
                    Subscript::affine(coefficients, declared.min[dimension] + lanes[dimension])
                })
                .collect();
            let several = together.iter().zip(&lanes).filter(|(together, _)| **together > 1);
            let name =
                std::iter::once(declared.name.clone()).chain(several.map(|(_, lane)| lane.to_string())).join("_");
            let write = Access { array, subscripts };
            self.pipeline.stages.push(Stage { name, group, shared: 0, loops, reads: Vec::new(), write, latency: 0 });
            self.origins.push(Origin::Input { array, lanes });
        }
    }

    /// Adds the copies of an operation.
    fn add_operation(
        &mut self,
        program: &Program,
        number: usize,
        loops: &[&NestLoop],
        shared: usize,
        operation: &Operation,
        latency: u64,
    ) -> Result<(), Diagnostic> {
        let inner_first = loops.iter().rev().copied().collect_vec();
        let group = self.next_group();
        let parts = operation.copies_together(loops);
        let several = operation.copies_apart(loops);
        for lanes in several.clone() {
            let mut reads = Vec::new();
            for part in &parts {
                let lanes = combined(&lanes, part);
                let copy = Copy { program, loops: &inner_first, lanes: &lanes };
                for load in &operation.loads {
                    reads.push(copy.access(&load.access, load.outside.is_some())?);
                }
            }
            let write = Copy { program, loops: &inner_first, lanes: &lanes }.access(&operation.target, false)?;
            if operation.reduce {
                reads.push(write.clone());
            }
            let domain = inner_first
                .iter()
                .map(|level| Loop {
                    name: level.variable.clone(),
                    min: 0,
                    extent: (level.extent / level.unroll) as u64,
                })
                .collect();
            let name = if several.len() == 1 {
                operation.name.clone()
            } else {
                format!("{}_{}", operation.name, lanes.iter().join("_"))
            };
            self.pipeline.stages.push(Stage { name, group, shared, loops: domain, reads, write, latency });
            self.origins.push(Origin::Operation { operation: number, lanes });
        }
        Ok(())
    }
}

/// The lanes of a part of a stage.
fn combined(lanes: &[i64], part: &[i64]) -> Vec<i64> {
    lanes.iter().zip(part).map(|(lane, part)| lane + part).collect()
}

/// How many successive elements of an input come in a cycle, in each dimension: as many as the widest unrolled reader moves
/// on.
fn elements_together(program: &Program, array: usize) -> Vec<i64> {
    let declared = &program.arrays[array];
    let mut together = vec![1; declared.shape.len()];
    for (loops, operation) in program.operations() {
        for access in operation.reads().filter(|access| access.array == array) {
            for (dimension, index) in access.indices.iter().enumerate() {
                let moves = |variable: &usize| reach(index, *variable, 1) != 0;
                let runs = |variable: &usize| loops[*variable].extent > loops[*variable].unroll;
                // A loop that is unrolled completely beside one that runs along the same dimension is a window.
                let has_running = (0..loops.len()).any(|variable| moves(&variable) && runs(&variable));
                let wide = (0..loops.len()).filter(|variable| loops[*variable].unroll > 1 && moves(variable));
                for variable in wide.filter(|variable| runs(variable) || !has_running) {
                    let reach = reach(index, variable, loops[variable].unroll).min(declared.shape[dimension]);
                    together[dimension] = together[dimension].max(reach);
                }
            }
        }
    }
    together
}

/// How many elements an index moves in so many iterations of a variable, where no boundary acts.
fn reach(index: &Index, variable: usize, iterations: i64) -> i64 {
    let pieces = index.pieces.iter().map(|(coefficient, piece)| {
        let within = reach(piece.of(), variable, iterations);
        let moved = match piece {
            Piece::Quotient { by, .. } => (within + by - 1) / by,
            Piece::Remainder { .. } | Piece::Clamp { .. } | Piece::Mirror { .. } => within,
        };
        coefficient.abs() * moved
    });
    index.affine.coefficient(variable).abs() * iterations + pieces.sum::<i64>()
}

/// One copy of an operation: its loops, innermost first, and which iteration of each unrolled loop it executes.
struct Copy<'a> {
    program: &'a Program,
    loops: &'a [&'a NestLoop],
    lanes: &'a [i64],
}

impl Copy<'_> {
    fn access(&self, access: &NestAccess, has_outside: bool) -> Result<Access, Diagnostic> {
        let array = &self.program.arrays[access.array];
        let subscripts = access.indices.iter().enumerate().map(|(dimension, index)| {
            let subscript = self.subscript(index);
            let subscript = match has_outside {
                true => subscript.and_then(|inner| self.within(inner, array.min[dimension], array.max(dimension))),
                false => subscript,
            };
            subscript.ok_or_else(|| {
                self.program.diagnostic(access.span, "this index cannot be streamed").with_help(
                    "a streamed index is an affine function of the loop variables, or one divided by a constant, or \
                     `clamp`, `mirror` or `outside` of such, plus a constant",
                )
            })
        });
        Ok(Access { array: access.array, subscripts: subscripts.try_collect()? })
    }

    fn subscript(&self, index: &Index) -> Option<Subscript> {
        // Pieces that this copy knows are constants.
        let known = |piece: &Piece| piece.of().variables().iter().all(|&variable| !self.repeats(variable));
        let first = self.first_iteration();
        let (constants, pieces): (Vec<_>, Vec<_>) = index.pieces.iter().partition(|(_, piece)| known(piece));
        let mut sum = self.affine(&index.affine);
        sum.constant += constants.iter().map(|(coefficient, piece)| coefficient * piece.evaluate(&first)).sum::<i64>();
        match pieces.as_slice() {
            [] => Some(sum),
            [(1, piece)] if sum.single_loop() == Ok(None) => {
                let inner = self.subscript(piece.of())?;
                match *piece {
                    Piece::Quotient { by, .. } => divided(inner, by),
                    Piece::Remainder { .. } => None,
                    Piece::Clamp { low, high, .. } => self.bounded(inner, Boundary::Clamp { low, high }, low, high),
                    Piece::Mirror { low, high, .. } => self.bounded(inner, Boundary::Mirror { low, high }, low, high),
                }
                .map(|subscript| moved(subscript, sum.constant))
            }
            _ => None,
        }
    }

    /// An affine function over the loops of this copy, which count from 0.
    fn affine(&self, affine: &Affine) -> Subscript {
        let steps = self.loops.iter().zip(affine.coefficients(self.loops.len()));
        let steps =
            steps.map(|(level, coefficient)| if level.extent == level.unroll { 0 } else { coefficient * level.unroll });
        Subscript::affine(steps.collect(), affine.evaluate(&self.first_iteration()))
    }

    /// The variables in the first iteration of this copy, outermost first.
    fn first_iteration(&self) -> Vec<i64> {
        self.loops.iter().zip(self.lanes).rev().map(|(level, lane)| level.min + lane).collect()
    }

    /// Whether the loop of a variable has several iterations in this copy.
    fn repeats(&self, variable: usize) -> bool {
        let level = self.loops[self.loops.len() - 1 - variable];
        level.extent > level.unroll
    }

    /// A subscript with a boundary, if it needs one; nothing if it has one already.
    fn bounded(&self, inner: Subscript, boundary: Boundary, low: i64, high: i64) -> Option<Subscript> {
        let (least, greatest) = self.range(&inner);
        if low <= least && greatest <= high {
            return Some(inner);
        }
        (inner.boundary == Boundary::None).then_some(Subscript { boundary, ..inner })
    }

    /// A subscript that has no element beyond `low..=high`.
    fn within(&self, inner: Subscript, low: i64, high: i64) -> Option<Subscript> {
        self.bounded(inner, Boundary::Outside { low, high }, low, high)
    }

    /// Bounds of a subscript's value.
    fn range(&self, subscript: &Subscript) -> (i64, i64) {
        let steps = self.loops.iter().zip(&subscript.coefficients);
        let (mut least, mut greatest) = (subscript.constant, subscript.constant);
        for (level, coefficient) in steps {
            let moved = coefficient * (level.extent / level.unroll - 1);
            least += moved.min(0);
            greatest += moved.max(0);
        }
        let (least, greatest) = (least.div_euclid(subscript.divisor), greatest.div_euclid(subscript.divisor));
        let (least, greatest) = match subscript.boundary {
            Boundary::None | Boundary::Outside { .. } => (least, greatest),
            Boundary::Clamp { low, high } => (least.clamp(low, high), greatest.clamp(low, high)),
            Boundary::Mirror { low, high } => (low, high),
        };
        (least + subscript.offset, greatest + subscript.offset)
    }
}

/// `⌊inner / by⌋`; nothing if a boundary comes before the division.
fn divided(inner: Subscript, by: i64) -> Option<Subscript> {
    if inner.boundary != Boundary::None {
        return None;
    }
    let divisor = inner.divisor * by;
    if inner.coefficients.iter().any(|coefficient| coefficient % divisor != 0) {
        return Some(Subscript { divisor, ..inner });
    }
    // What a copy executes may move by whole multiples of the divisor.
    let coefficients = inner.coefficients.iter().map(|coefficient| coefficient / divisor);
    Some(Subscript::affine(coefficients.collect(), inner.constant.div_euclid(divisor)))
}

/// `inner + constant`. Without a boundary, ⌊of/by⌋ + c is ⌊(of + c·by)/by⌋.
fn moved(inner: Subscript, constant: i64) -> Subscript {
    match inner.boundary {
        Boundary::None => Subscript { constant: inner.constant + constant * inner.divisor, ..inner },
        _ => Subscript { offset: inner.offset + constant, ..inner },
    }
}
