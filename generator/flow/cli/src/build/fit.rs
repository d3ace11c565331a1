//! `--fit`: unroll factors, and blocks of loops, for a budget.

mod blocks;
mod budget;
mod factors;

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_blocking::Capacity;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::{Diagnostic, counted};
use pushmem_mapper::{ArrayTarget, Edited, Report as ArrayReport};
use pushmem_nest::Program;
use pushmem_parallelization::{Awareness, NodeParallelization, Partition};
use pushmem_routing::Options;
use serde::Serialize;

use self::blocks::BlockedNest;
use self::budget::{Budget, Cost, Resource};
use super::{Build, line};
use crate::application::choices::Chosen;
use crate::progress::Spinner;

/// Options of the choice of unroll factors.
#[derive(Args)]
pub(super) struct Fit {
    /// Choose the unroll factors of loops that have none: the fastest with at most so many `multipliers`, `tiles` of memory and
    /// processing `elements`, as in `multipliers=64,tiles=16`; with --array, `array` is all that it has.
    #[arg(long = "fit", value_name = "RESOURCE=NUMBER")]
    budget: Option<Budget>,
    /// With --fit: choose without regard to the work of nests, or to the loops of nests that they are connected to.
    #[arg(long = "fit-without", value_name = "FACT", requires = "budget")]
    without: Vec<Fact>,
    /// With --fit: let nests that add, as products of matrices and convolutions, go block by block where the memory tiles of the budget do not
    /// hold their arrays. Whole arrays are in the global buffer, which an array must have. The sizes of blocks, and the orders of loops between them and within, are chosen.
    #[arg(long = "fit-blocks", requires = "budget")]
    blocks: bool,
}

/// Facts that the choice may disregard.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fact {
    /// The work of each nest.
    Intensity,
    /// The loops of connected nests.
    Connection,
}

/// A candidate: the unroll factors with this many copies at most.
#[derive(Serialize)]
struct Candidate {
    parallel_factor: u64,
    /// Its cost, if it was compiled.
    cost: Option<Cost>,
    /// The reason if it was not.
    refused: Option<String>,
    /// Whether it keeps to the budget.
    fits: bool,
}

impl Display for Candidate {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", copies(self.parallel_factor))?;
        match (&self.cost, &self.refused) {
            (Some(cost), _) => write!(formatter, "{cost}{}", if self.fits { "" } else { ", beyond the budget" }),
            (None, Some(reason)) => write!(formatter, "refused, {reason}"),
            (None, None) => formatter.write_str("refused"),
        }
    }
}

/// The unroll factors that were chosen, as reports have them.
#[derive(Serialize)]
pub(super) struct Fitted {
    budget: String,
    /// The most copies of a nest.
    parallel_factor: u64,
    cost: Cost,
    nodes: Vec<NodeParallelization>,
    /// The banks that the factors ask of arrays.
    arrays: Vec<Partition>,
    candidates: Vec<Candidate>,
    /// Nests that go block by block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<BlockedNest>,
}

impl Display for Fitted {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Fitted { budget, parallel_factor, .. } = self;
        let tried = self.candidates.len();
        let found = match self.nodes.is_empty() {
            true => format!("{budget}, unroll factors as they are"),
            false => format!("{budget}, at most {parallel_factor} copies of a nest, {tried} tried"),
        };
        formatter.write_str(&line("fit", &found))?;
        for NodeParallelization { node, intensity, unroll, .. } in &self.nodes {
            let unrolled = unroll.iter().filter(|(_, factor)| *factor > 1);
            let unrolled = unrolled.map(|(variable, factor)| format!("{variable} by {factor}")).join(", ");
            let unrolled = if unrolled.is_empty() { "as it is".to_owned() } else { unrolled };
            formatter.write_str(&line(
                &format!("  {node}"),
                &format!("{unrolled} ({})", counted(*intensity, "iteration")),
            ))?;
        }
        self.blocks.iter().try_for_each(|nest| formatter.write_str(&nest.lines()))
    }
}

/// The lines of the report about unroll factors, if they were chosen.
pub(super) fn lines(fitted: Option<&Fitted>) -> String {
    fitted.map(Fitted::to_string).unwrap_or_default()
}

impl Build {
    /// The program with unroll factors for the budget, if there is one; `array` is the one that it is to run on.
    ///
    /// # Errors
    /// When no factors fit, or there is no array to fit.
    pub(super) fn fitted(
        &self,
        program: Program,
        chosen: &Chosen,
        array: Option<&ArrayTarget>,
        spinner: &Spinner,
    ) -> Result<(Program, Option<Fitted>), Diagnostic> {
        let Some(budget) = &self.fit.budget else { return Ok((program, None)) };
        if budget.is_array && array.is_none() {
            let refused = Diagnostic::new("there is no array to fit");
            return Err(refused.with_help("name one by `--array`, or give numbers, as in `--fit multipliers=64`"));
        }
        let file = &self.file()?;
        let compiled = |program: &Program| match array {
            None => chosen.compile_quietly(program.clone()).map(|compiled| Cost::of(&compiled)),
            Some(target) => {
                let options = Options { seed: self.seed, ..Options::default() };
                let mapped = chosen.compile_for(program, target, &Edited::default(), options, &|_| ());
                mapped.map_err(Diagnostic::from).map(|(compiled, mapped)| {
                    let report = ArrayReport::of(&compiled, &mapped, target);
                    let (elements, tiles) = (report.processing_elements.used as u64, report.memories.used as u64);
                    let multipliers = compiled.instances().map(|datapath| datapath.multipliers()).sum();
                    Cost { cycles: report.cycles, multipliers, elements, tiles }
                })
            }
        };
        let search = factors::Search { program: &program, budget, awareness: self.fit.awareness(), file };
        if !self.fit.blocks {
            let (parallelization, fitted) = search.run(compiled, spinner)?;
            return Ok((parallelization.applied(&program), Some(fitted)));
        }
        let tiles = budget.most.get(&Resource::Tiles).copied();
        let capacity = match array {
            None => chosen.capacity(tiles),
            Some(target) => capacity_of(&target.spec, tiles)?,
        };
        let refused = RefCell::default();
        let blocks = blocks::Search { budget, capacity, compiled: &compiled, spinner, refused };
        let (in_blocks, fitted) = search.run_in_blocks(&blocks)?;
        Ok((in_blocks, Some(fitted)))
    }
}

impl Fit {
    /// Whether factors are to be chosen.
    pub(super) fn is_given(&self) -> bool {
        self.budget.is_some()
    }

    fn awareness(&self) -> Awareness {
        let without = |fact: Fact| self.without.contains(&fact);
        Awareness { intensity: !without(Fact::Intensity), connection: !without(Fact::Connection) }
    }
}

/// So many copies of a nest at most.
fn copies(most: u64) -> String {
    if most == 1 { "1 copy".to_owned() } else { format!("{most} copies") }
}

/// So many memory tiles of an array, or all that it has.
///
/// # Errors
/// When it has none, or no global buffer.
fn capacity_of(spec: &ArraySpec, tiles: Option<u64>) -> Result<Capacity, Diagnostic> {
    let Some(memory) = spec.memory.as_ref().filter(|_| spec.global_buffer.is_some()) else {
        let refused = Diagnostic::new(format!("`{}` has no global buffer to keep whole arrays", spec.name));
        return Err(
            refused.with_help("choose an array with a global buffer, as `amber_buffered`, or leave out `--fit-blocks`")
        );
    };
    let all = u64::from(spec.count(TileKind::Memory));
    Ok(Capacity { tiles: tiles.map_or(all, |tiles| tiles.min(all)), words: memory.tile.words() })
}
