//! Extraction of stages.

mod subscripts;

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::{ArrayKind, Index, Load, Loop, Operation, Piece, Policy, Program, Span};
use pushmem_stages::{Access, Array, Origin, Pipeline, Stage, StageLoop, Staged, Subscript};

use crate::advice::Repeated;
use crate::names::Names;
use subscripts::Copy;

/// The stages of a program.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The arrays, numbered as in the program, and the stages.
    pub pipeline: Pipeline,
    /// By stage: its origin.
    pub origins: Vec<Origin>,
    /// The inputs of which elements come more than once.
    pub repeated: Vec<Repeated>,
}

/// Why a program has no stages.
#[derive(Debug)]
pub struct NotExtracted {
    /// The array with an index that is no subscript of a streamed access, if that is why: a random-access memory takes it.
    pub array: Option<usize>,
    /// The message.
    pub diagnostic: Diagnostic,
}

impl From<Diagnostic> for NotExtracted {
    fn from(diagnostic: Diagnostic) -> Self {
        NotExtracted { array: None, diagnostic }
    }
}

/// Extracts the stages of a program. `latency` tells how many cycles the datapath of an operation takes, given
/// the operation's index in [`Program::operations`].
///
/// # Errors
/// A located message when an index cannot be the subscript of a streamed access.
pub fn extract(program: &Program, latency: impl Fn(usize) -> u64) -> Result<Extraction, NotExtracted> {
    let arrays = program
        .arrays
        .iter()
        .map(|array| Array { name: array.name.clone(), weight: u64::from(array.element.bits()) / 8 })
        .collect();
    let operations = program.operations();
    check_copies(program, &operations)?;
    let mut extractor = Extractor {
        program,
        operations: &operations,
        names: Names::of(program),
        extraction: Extraction {
            pipeline: Pipeline { arrays, stages: Vec::new() },
            origins: Vec::new(),
            repeated: Vec::new(),
        },
    };
    let beside = |number: usize, other: Option<usize>| {
        let other = other.and_then(|other| operations.get(other));
        other.map_or(0, |(others, _)| common_loops(others, &operations[number].0))
    };
    // How many of the outermost loops of an operation it has in common with another one.
    let shared_depth = |number: usize| beside(number, number.checked_sub(1)).max(beside(number, Some(number + 1)));
    let is_input = |array: usize| program.arrays[array].kind == ArrayKind::Input;
    let is_dnn = program.policy() == Policy::Dnn;
    let follow = |array: usize| {
        let reader = (is_dnn && is_input(array)).then(|| only_reader(&operations, array)).flatten();
        reader.is_some_and(|(number, load)| {
            reads_each_once(&operations[number].0[shared_depth(number)..], shared_depth(number), load)
        })
    };
    for array in (0..program.arrays.len()).filter(|&array| is_input(array) && !follow(array)) {
        extractor.add_input(array);
    }
    for (number, (_, operation)) in operations.iter().enumerate() {
        let mut shared = beside(number, number.checked_sub(1));
        let of_nest = shared_depth(number);
        for load in (0..operation.loads.len()).filter(|&load| follow(operation.loads[load].access.array)) {
            extractor.add_followed_input(number, load, shared, of_nest)?;
            shared = of_nest;
        }
        extractor.add_operation(number, shared, latency(number))?;
    }
    Ok(extractor.extraction)
}

/// Checks that copies of a statement may run at the same time: that no other statement of the unrolled loop takes part in the sum of
/// merged copies, and that not all copies write one element.
fn check_copies(program: &Program, operations: &[(Vec<&Loop>, &Operation)]) -> Result<(), Diagnostic> {
    for (loops, operation) in operations {
        let target = &operation.target;
        let in_order = operation.sums_in_order();
        let name = &program.arrays[target.array].name;
        for (level, unrolled) in loops.iter().enumerate().filter(|(_, level)| level.unroll > 1) {
            let variable = &unrolled.variable;
            let refuse = |message: String, help: &str| {
                let help = format!("leave the loop `{variable}` without `unroll`{help}");
                Err(program.diagnostic(operation.span, message).with_help(help))
            };
            let takes_part = |(others, other): &&(Vec<&Loop>, &Operation)| {
                let beside = others.get(level).is_some_and(|of| std::ptr::eq(*of, *unrolled));
                let reads = other.loads.iter().any(|load| load.access.array == target.array);
                // Where the order does not matter, others of its kind may update the element in between.
                let between = other.reduction != operation.reduction || in_order && other.name != operation.name;
                beside && (reads || (other.target.array == target.array && between))
            };
            if operation.merges(level)
                && let Some((_, other)) = operations.iter().find(takes_part)
            {
                let line = program.diagnostic(other.span, "").location().map_or(0, |(_, line, _)| line);
                let message = format!(
                    "the copies of this statement are one sum, but the statement in line {line} uses `{name}` in each \
                     iteration of `{variable}`"
                );
                return refuse(message, ", or take one of the two out of it");
            }
            let runs_inside = |inner: usize| operation.merges(inner) && loops[inner].extent > loops[inner].unroll;
            if in_order
                && operation.merges(level)
                && let Some(inner) = (level + 1..loops.len()).find(|&inner| runs_inside(inner))
            {
                let inner = &loops[inner].variable;
                let element = program.arrays[target.array].element.name();
                let message = format!(
                    "copies of `{variable}` would add in another order than the program, which adds all of `{inner}` for one \
                     `{variable}` before the next: the sum of {element} depends on the order"
                );
                return refuse(message, &format!(", or put the loop `{inner}` around it"));
            }
            let alone = !operation.updates() && !target.follows(level);
            if alone && program.policy() == Policy::Dnn {
                let message = format!("all copies of `{variable}` write the same element of `{name}`");
                return refuse(message, ", or write only the last");
            }
        }
    }
    Ok(())
}

impl Extraction {
    /// The stages, and the origin of each.
    pub fn staged(&self) -> Staged<'_> {
        Staged { pipeline: &self.pipeline, origins: &self.origins }
    }

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

    /// A stage in a sentence, by its line in the program.
    pub fn statement(&self, program: &Program, stage: usize) -> String {
        let line = program.diagnostic(self.span(program, stage), "").location().map(|(_, line, _)| line);
        match (&self.origins[stage], line) {
            (Origin::Input { array, .. }, _) => format!("the input `{}`", program.arrays[*array].name),
            (Origin::Operation { .. }, Some(line)) => format!("the statement in line {line}"),
            (Origin::Operation { .. }, None) => format!("`{}`", self.pipeline.stages[stage].name),
        }
    }

    /// The stage in a message that points at it.
    pub fn this(&self, program: &Program, stage: usize) -> String {
        match &self.origins[stage] {
            Origin::Input { .. } => self.statement(program, stage),
            Origin::Operation { .. } => "this statement".to_owned(),
        }
    }

    /// Where the text of the program has an access of a stage: one of its reads, or its write.
    pub fn access_span(&self, program: &Program, stage: usize, read: Option<usize>) -> Span {
        let Origin::Operation { operation, .. } = &self.origins[stage] else { return self.span(program, stage) };
        let operation = program.operations()[*operation].1;
        // The copies that are one stage read the same loads, one after the other; the target comes last.
        let of_copies = self.pipeline.stages[stage].reads.len() - usize::from(operation.reduction.is_some());
        match read.filter(|&read| read < of_copies) {
            Some(read) => operation.loads[read % operation.loads.len()].access.span,
            None => operation.target.span,
        }
    }
}

/// A program, and the stages that were extracted so far.
struct Extractor<'a> {
    program: &'a Program,
    operations: &'a [(Vec<&'a Loop>, &'a Operation)],
    names: Names,
    extraction: Extraction,
}

impl Extractor<'_> {
    fn push(&mut self, stage: Stage, origin: Origin) {
        self.extraction.pipeline.stages.push(stage);
        self.extraction.origins.push(origin);
    }

    /// The group of the next stages.
    fn next_group(&self) -> usize {
        self.extraction.pipeline.stages.last().map_or(0, |stage| stage.group + 1)
    }

    /// Streams an input: a stage for each element that comes in a cycle.
    fn add_input(&mut self, array: usize) {
        let program = self.program;
        let declared = &program.arrays[array];
        let together = elements_together(program, array);
        let group = self.next_group();
        // As the lanes of operations, the innermost turning fastest.
        let lanes = together.iter().rev().map(|&together| 0..together).multi_cartesian_product();
        let lanes = lanes.map(|lanes| lanes.into_iter().rev().collect_vec()).collect_vec();
        let several = |lanes: &Vec<i64>| {
            let numbers = together.iter().zip(lanes).filter(|(together, _)| **together > 1);
            numbers.map(|(_, lane)| *lane).collect_vec()
        };
        let names = self.names.copies(&declared.name, "lane", &lanes.iter().map(several).collect_vec());
        for (lanes, name) in lanes.into_iter().zip(names) {
            let loops: Vec<StageLoop> = (0..declared.shape.len())
                .map(|dimension| {
                    // Lanes interleave; the last ones may be an element shorter.
                    let (stride, first) = (together[dimension], lanes[dimension]);
                    let extent = (declared.shape[dimension] - first + stride - 1) / stride;
                    StageLoop { name: format!("i{dimension}"), min: 0, extent: extent as u64 }
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
            let write = Access { array, subscripts };
            let stage = Stage { name, group, shared: 0, loops, reads: Vec::new(), write, latency: 0 };
            self.push(stage, Origin::Input { array, lanes });
        }
    }

    /// Streams an input in the order in which a load of its only reader takes it: a stage for each element that the copies
    /// of the operation take in a cycle. The first of `shared` loops are those of the stage before it, the first `outer` those
    /// of other nests, too.
    fn add_followed_input(
        &mut self,
        number: usize,
        load_number: usize,
        shared: usize,
        outer: usize,
    ) -> Result<(), NotExtracted> {
        let program = self.program;
        let (loops, operation) = &self.operations[number];
        let load = &operation.loads[load_number];
        let inner_first = loops.iter().rev().copied().collect_vec();
        let group = self.next_group();
        let (mut together, mut known): (Vec<Access>, HashSet<Access>) = (Vec::new(), HashSet::new());
        for lanes in operation.copies_apart(loops) {
            for part in operation.copies_together(loops) {
                let lanes = combined(&lanes, &part);
                let access = Copy { program, loops: &inner_first, lanes: &lanes }.access(&load.access, false)?;
                if known.insert(access.clone()) {
                    together.push(access);
                }
            }
        }
        let array = load.access.array;
        let repeated =
            Repeated::of((number, load_number), &program.arrays[array], &together, &domain(&inner_first), outer);
        self.extraction.repeated.extend(repeated);
        let declared = &program.arrays[array].name;
        let names = match together.len() {
            1 => vec![declared.clone()],
            lanes => self.names.copies(declared, "lane", &(0..lanes as i64).map(|lane| vec![lane]).collect_vec()),
        };
        for ((lane, write), name) in together.into_iter().enumerate().zip(names) {
            let loops = domain(&inner_first);
            let stage = Stage { name, group, shared, loops, reads: Vec::new(), write, latency: 0 };
            self.push(stage, Origin::Input { array, lanes: vec![lane as i64] });
        }
        Ok(())
    }

    /// Adds the copies of an operation.
    fn add_operation(&mut self, number: usize, shared: usize, latency: u64) -> Result<(), NotExtracted> {
        let program = self.program;
        let (loops, operation) = &self.operations[number];
        let inner_first = loops.iter().rev().copied().collect_vec();
        let group = self.next_group();
        let parts = operation.copies_together(loops);
        let several = operation.copies_apart(loops);
        let names = match several.len() {
            1 => vec![operation.name.clone()],
            _ => self.names.copies(&operation.name, "copy", &several),
        };
        for (lanes, name) in several.into_iter().zip(names) {
            let mut reads = Vec::new();
            for part in &parts {
                let lanes = combined(&lanes, part);
                let copy = Copy { program, loops: &inner_first, lanes: &lanes };
                for load in &operation.loads {
                    reads.push(copy.access(&load.access, load.outside.is_some())?);
                }
            }
            let write = Copy { program, loops: &inner_first, lanes: &lanes }.access(&operation.target, false)?;
            if operation.reduction.is_some() {
                reads.push(write.clone());
            }
            let loops_of_copy = domain(&inner_first);
            let stage = Stage { name, group, shared, loops: loops_of_copy, reads, write, latency };
            self.push(stage, Origin::Operation { operation: number, lanes });
        }
        Ok(())
    }
}

/// The loops of the copies of an operation, innermost first.
fn domain(inner_first: &[&Loop]) -> Vec<StageLoop> {
    let copied = |level: &&Loop| StageLoop {
        name: level.variable.clone(),
        min: 0,
        extent: (level.extent / level.unroll) as u64,
    };
    inner_first.iter().map(copied).collect()
}

/// How many of their outermost loops two operations have in common.
fn common_loops(one: &[&Loop], other: &[&Loop]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| std::ptr::eq(**one, **other)).count()
}

/// The only load of an array in the program, and the number of its operation, if there is only one.
fn only_reader<'a>(operations: &[(Vec<&Loop>, &'a Operation)], array: usize) -> Option<(usize, &'a Load)> {
    let loads = operations.iter().enumerate().flat_map(|(number, (_, operation))| {
        let loads = operation.loads.iter().filter(|load| load.access.array == array);
        loads.map(move |load| (number, load))
    });
    loads.exactly_one().ok()
}

/// Whether a load stays within its array, and reads another element in each iteration of each of these loops, the first of
/// which has `outer` loops around it. Then the array can come in the order in which it is read; elements that loops
/// further out read again come again.
fn reads_each_once(loops: &[&Loop], outer: usize, load: &Load) -> bool {
    let indices = &load.access.indices;
    let follows = |variable: usize| indices.iter().any(|index| index.affine.coefficient(variable) != 0);
    let plain = load.outside.is_none() && indices.iter().all(|index| index.pieces.is_empty());
    plain && loops.iter().enumerate().all(|(level, bounds)| bounds.extent == 1 || follows(outer + level))
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
