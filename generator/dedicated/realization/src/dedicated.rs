//! A program in dedicated hardware.

use std::ops::Deref;

use itertools::Itertools;
use pushmem_arithmetic::Arithmetic;
use pushmem_assembly::{Constraints, Delivery};
use pushmem_compiler::{CompileError, Compiled, Trial, plan};
use pushmem_files::{Diagnostic, Document, counted};
use pushmem_graph::{Accelerator, ApplicationGraph, DelayMemory, StoredArray, Target};
use pushmem_nest::{Array, ArrayKind, Program, Span};
use pushmem_proof::{ProofError, prove, prove_roms};
use pushmem_replay::{ReplayReport, replay};
use rayon::prelude::*;

use crate::realize::realize;

/// A program through all stages, to the hardware that realizes its application graph. It has all that the compiler found.
#[derive(Clone, Debug)]
pub struct Dedicated {
    /// The stages to the application graph.
    pub compiled: Compiled,
    /// The hardware that realizes the graph.
    pub accelerator: Accelerator,
    /// Figures of the proof.
    pub proof: Proof,
}

impl Deref for Dedicated {
    type Target = Compiled;

    fn deref(&self) -> &Compiled {
        &self.compiled
    }
}

/// Result of the last pass: every value that an operation reads is that of the program, and each operation computes its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Memories replayed.
    pub memories: usize,
    /// Cycles of all tiles that were simulated for it.
    pub simulated_cycles: u64,
    /// Cycles of all tiles that it holds for: those between were skipped, because the state repeats.
    pub proven_cycles: u64,
    /// How the operations are known to compute their statements.
    pub arithmetic: Arithmetic,
}

/// Compiles a program to dedicated hardware, which is proven, as [`planned`] plans it.
///
/// # Errors
/// Which of both: the program is refused, or the proof fails, which is a fault of the compiler.
pub fn build(
    program: Program,
    target: &Target,
    constraints: &Constraints,
    observe: &dyn Fn(&Trial),
) -> Result<Dedicated, CompileError> {
    // The proof of the hardware is one of the graph, too.
    Dedicated::of(planned(program, target, constraints, observe)?)
}

/// Plans a program for dedicated hardware. `observe` is told of each schedule that was tried. Arrays whose elements are accessed in an order
/// that no other memory serves are in random-access memories, and those for whose memory iterations wait, if it costs less.
///
/// # Errors
/// As [`build`], but for the proof.
pub fn planned(
    mut program: Program,
    target: &Target,
    constraints: &Constraints,
    observe: &dyn Fn(&Trial),
) -> Result<Compiled, CompileError> {
    let plan = |program| plan(program, target, constraints, Delivery::default(), observe);
    let mut planned = plan(program.clone());
    while let Err(CompileError::Unordered { array, declared, .. }) = &planned
        && let Some(number) = declaration(&program, array, *declared)
        && !std::mem::replace(&mut program.arrays[number].random_access, true)
    {
        planned = match plan(program.clone()) {
            // The refusal of the program as it is says more.
            Err(refused) if !matches!(refused, CompileError::Unordered { .. } | CompileError::Fault(_)) => break,
            other => other,
        };
    }
    let found = planned?;
    let other = found.without_waits().and_then(|program| plan(program).ok());
    Ok(other.filter(|other| other.is_cheaper(&found)).unwrap_or(found))
}

/// The array of a program of this name, or the input or output that an array declared there is a copy of.
fn declaration(program: &Program, array: &str, declared: Span) -> Option<usize> {
    let named = program.arrays.iter().position(|own| own.name == array);
    let copied = |own: &Array| own.kind != ArrayKind::Buffer && own.span == declared;
    named.or_else(|| program.arrays.iter().position(copied))
}

impl Dedicated {
    /// The hardware of a program, which is proven to compute it.
    ///
    /// # Errors
    /// Programs that [`realize`] refuses; too few ROM tiles; a fault when the proof fails.
    pub fn of(compiled: Compiled) -> Result<Self, CompileError> {
        let accelerator = realize(&compiled)?;
        check_roms(&accelerator)?;
        check_names(&accelerator)?;
        let realized = Dedicated { compiled, accelerator, proof: Proof::default() };
        Ok(Dedicated { proof: realized.prove()?, ..realized })
    }

    /// The same program in the hardware that realizes another graph of it, for example one that was edited. The graph is
    /// proven before it is realized, and the hardware as every compile does.
    ///
    /// # Errors
    /// Those of [`Compiled::with_graph`], and what [`realize`] refuses.
    pub fn with_graph(self, graph: ApplicationGraph) -> Result<Self, CompileError> {
        Self::of(self.compiled.with_graph(graph)?)
    }

    /// As [`with_graph`](Self::with_graph), of the text of a graph, perhaps edited.
    ///
    /// # Errors
    /// Those of the reader, and of [`with_graph`](Self::with_graph).
    pub fn with_graph_of(self, document: &Document) -> Result<Self, Diagnostic> {
        Self::of(self.compiled.with_graph_of(document)?).map_err(Diagnostic::from)
    }

    /// Proves the accelerator, as every build does: its printed form computes the program.
    ///
    /// # Errors
    /// A fault, when the proof fails.
    pub fn prove(&self) -> Result<Proof, CompileError> {
        let (values, replayed) = rayon::join(|| self.prove_values(), || self.replay());
        Ok(Proof { arithmetic: values?, ..replayed? })
    }

    /// Proves that kernels and outputs see the values of the program, given that memories implement their buffers, and compute with them
    /// what it says.
    fn prove_values(&self) -> Result<Arithmetic, CompileError> {
        let Compiled { program, schedule, datapaths, extraction, graph, .. } = &self.compiled;
        let staged = extraction.staged();
        let wrong = |error: ProofError| CompileError::wrong(&error);
        let arithmetic = prove(program, staged, schedule, datapaths, graph, &self.accelerator).map_err(wrong)?;
        prove_roms(program, staged, schedule, &self.accelerator).map_err(|error| CompileError::wrong(&error))?;
        Ok(arithmetic)
    }

    /// Proves that all memories implement their buffers.
    fn replay(&self) -> Result<Proof, CompileError> {
        let accelerator = &self.accelerator;
        let of_memory = |memory: &DelayMemory| {
            replay(&memory.buffer, &memory.mapped, &accelerator.tiles[memory.first_tile].spec).map_err(|error| {
                let wires = memory.streams.iter().map(|stream| accelerator.wires[stream.of].name.as_str());
                CompileError::wrong(&format!("{}: {error}", wires.collect::<Vec<_>>().join(", ")))
            })
        };
        let of_array = |array: &StoredArray| {
            replay(&array.buffer_of_tiles(), &array.mapped, &accelerator.tiles[array.first_tile].spec)
                .map_err(|error| CompileError::wrong(&format!("{}: {error}", array.buffer.name)))
        };
        let memories: Vec<Result<ReplayReport, CompileError>> =
            accelerator.memories.par_iter().map(of_memory).chain(accelerator.arrays.par_iter().map(of_array)).collect();
        memories.into_iter().try_fold(Proof::default(), |proof, report| {
            let report = report?;
            Ok(Proof {
                memories: proof.memories + 1,
                simulated_cycles: proof.simulated_cycles + report.cycles_simulated,
                proven_cycles: proof.proven_cycles + report.cycles_total,
                ..proof
            })
        })
    }
}

/// Checks that there are as many ROM tiles as the accelerator has.
fn check_roms(accelerator: &Accelerator) -> Result<(), Diagnostic> {
    let (rom, tiles) = (accelerator.target.rom(), accelerator.roms.len());
    let Some(count) = rom.count.filter(|count| tiles > *count as usize) else { return Ok(()) };
    let needed = counted(tiles, &format!("`{}` tile", rom.name));
    let message = format!("`{}` needs {needed}, and the specification has `count: {count}`", accelerator.name);
    let help = "keep more tables in logic by `--table-logic-words`, or unroll less";
    Err(Diagnostic::new(message).with_help(help))
}

/// Checks that tiles of one name are the same: their modules have the name, too.
fn check_names(accelerator: &Accelerator) -> Result<(), Diagnostic> {
    let rom = (!accelerator.roms.is_empty()).then_some(accelerator.target.rom());
    let specs = accelerator.specs_in_use().chain(rom).collect_vec();
    let mut pairs = specs.iter().array_combinations().map(|[one, other]| (one, other));
    match pairs.find(|(one, other)| one.name == other.name && one != other) {
        None => Ok(()),
        Some((one, other)) => {
            let name = &one.name;
            let [one, other] = [one, other].map(|spec| format!("a {} tile of {} rows", spec.kind.name(), spec.rows));
            let message =
                format!("`{}` needs two tiles that are both named `{name}`: {one} and {other}", accelerator.name);
            Err(Diagnostic::new(message).with_help("give one of the specifications another `name`"))
        }
    }
}
