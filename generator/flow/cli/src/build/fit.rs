//! `--fit`: unroll factors for a budget.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_compiler::{Compiled, Report};
use pushmem_files::{Diagnostic, Document, counted};
use pushmem_mapper::{ArrayTarget, Edited, Report as ArrayReport};
use pushmem_nest::Program;
use pushmem_parallelization::{Alternative, Awareness, Dataflow, NodeParallelization, Parallelization, Partition};
use pushmem_routing::Options;
use serde::Serialize;

use super::{Build, line};
use crate::application::choices::Chosen;
use crate::output;
use crate::progress::Spinner;

/// Candidates with one number of copies.
const ALTERNATIVES: usize = Alternative::ALL.len();

/// Candidates beyond the budget that end the search, one after the other: larger ones need more.
const MOST_BEYOND: usize = 2 * ALTERNATIVES;

/// Candidates that are refused or do not fit that end the search, after one that fits, and before: a schedule that is too long for the
/// controllers of a tile is shorter with more copies.
const MOST_IN_VAIN: [usize; 2] = [4 * ALTERNATIVES, 12 * ALTERNATIVES];

/// The search goes on with copies that need this part of the budget or more.
const LEAST_PART: u64 = 4;

/// Parts of the way from copies that fit to copies that do not.
const BETWEEN: u64 = 4;

/// Options of the choice of unroll factors.
#[derive(Args, Default)]
pub(super) struct Fit {
    /// Choose the unroll factors of loops that have none: the fastest with at most so many `multipliers`, `tiles` of memory and
    /// processing `elements`, as in `multipliers=64,tiles=16`; with --array, `array` is all that it has.
    #[arg(long = "fit", value_name = "RESOURCE=NUMBER")]
    budget: Option<Budget>,
    /// With --fit: choose without regard to the work of nests, or to the loops of nests that they are connected to.
    #[arg(long = "fit-without", value_name = "FACT", requires = "budget")]
    without: Vec<Fact>,
}

/// Facts that the choice may disregard.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fact {
    /// The work of each nest.
    Intensity,
    /// The loops of connected nests.
    Connection,
}

/// A resource of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Multipliers,
    /// Memory tiles of all levels.
    Tiles,
    /// Processing elements.
    Elements,
}

impl Resource {
    const ALL: [Resource; 3] = [Resource::Multipliers, Resource::Tiles, Resource::Elements];

    fn name(self) -> &'static str {
        match self {
            Resource::Multipliers => "multipliers",
            Resource::Tiles => "tiles",
            Resource::Elements => "elements",
        }
    }
}

/// The most of each resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Budget {
    most: BTreeMap<Resource, u64>,
    /// Whether it is all that an array has.
    is_array: bool,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Budget { is_array: text == "array", ..Budget::default() };
        if budget.is_array {
            return Ok(budget);
        }
        for part in text.split(',') {
            let form = || format!("`{part}` is no resource with a number, as in `multipliers=64`");
            let (name, number) = part.split_once('=').ok_or_else(form)?;
            let resource = Resource::ALL.into_iter().find(|resource| resource.name() == name);
            let resource =
                resource.ok_or_else(|| format!("`{name}` is none of `multipliers`, `tiles` and `elements`"))?;
            if budget.most.insert(resource, number.parse().map_err(|_| form())?).is_some() {
                return Err(format!("`{name}` stands twice"));
            }
        }
        Ok(budget)
    }
}

impl Display for Budget {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let given = self.most.iter().map(|(resource, most)| format!("{}={most}", resource.name()));
        let is_array = self.is_array.then(|| "array".to_owned());
        formatter.write_str(&is_array.into_iter().chain(given).join(","))
    }
}

/// The cost of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Cost {
    cycles: u64,
    multipliers: u64,
    elements: u64,
    tiles: u64,
}

impl Cost {
    fn of(compiled: &Compiled) -> Self {
        let report = Report::of(compiled);
        let tiles = report.memory_tiles + report.global_buffer_banks + report.register_files + report.rom_tiles;
        let Report { cycles, multipliers, processing_elements: elements, .. } = report;
        Cost { cycles, multipliers, tiles: tiles as u64, elements }
    }

    fn has(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Multipliers => self.multipliers,
            Resource::Tiles => self.tiles,
            Resource::Elements => self.elements,
        }
    }

    fn is_within(&self, budget: &Budget) -> bool {
        budget.most.iter().all(|(resource, most)| self.has(*resource) <= *most)
    }
}

impl Display for Cost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Cost { cycles, multipliers, tiles, elements } = *self;
        let parts =
            [counted(multipliers, "multiplier"), counted(tiles, "tile"), counted(elements, "processing element")];
        write!(formatter, "{}, {}", counted(cycles, "cycle"), parts.join(", "))
    }
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
}

impl Display for Fitted {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let found = format!(
            "{}, at most {} copies of a nest, {} tried",
            self.budget,
            self.parallel_factor,
            self.candidates.len()
        );
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
        Ok(())
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
        let file = &self.programs[0];
        let compiled = |program: &Program| match array {
            None => chosen.compile_quietly(program.clone()).map(|compiled| Cost::of(&compiled)),
            Some(target) => {
                let options = Options { seed: self.seed, ..Options::default() };
                let mapped = chosen.compile_for(program, target, &Edited::default(), options, &|_| ());
                mapped.map(|(compiled, mapped)| {
                    let report = ArrayReport::of(&compiled, &mapped, target);
                    let (elements, tiles) = (report.processing_elements.used as u64, report.memories.used as u64);
                    Cost { cycles: report.cycles, elements, tiles, ..Cost::of(&compiled) }
                })
            }
        };
        let search = Search { program: &program, budget, awareness: self.fit.awareness(), file };
        let (parallelization, fitted) = search.run(compiled, spinner)?;
        Ok((parallelization.applied(&program), Some(fitted)))
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

/// A search for unroll factors: more and more copies, until they do not fit; then numbers between those that do and those that do not.
struct Search<'a> {
    program: &'a Program,
    budget: &'a Budget,
    awareness: Awareness,
    file: &'a Path,
}

/// The candidates of a search, and the best of them.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    seen: BTreeSet<Vec<Vec<i64>>>,
    best: Option<(Cost, u64, Parallelization)>,
}

impl Search<'_> {
    fn run(
        &self,
        compiled: impl Fn(&Program) -> Result<Cost, Diagnostic>,
        spinner: &Spinner,
    ) -> Result<(Parallelization, Fitted), Diagnostic> {
        let dataflow = Dataflow::of(self.program);
        let intensity = dataflow.nodes.iter().map(|node| node.intensity).max().unwrap_or(1);
        let mut found = Found::default();
        let try_with = |most: u64, found: &mut Found| {
            let mut fits = false;
            for alternative in Alternative::ALL {
                let parallelization = dataflow.alternative(most, self.awareness, alternative);
                if found.seen.insert(factors(&parallelization)) {
                    spinner.say(&format!("compiling `{}` with {}", self.program.name, copies(most)));
                    let candidate = self.candidate(most, &parallelization, &compiled);
                    spinner.above(|| output::note(&candidate.to_string()));
                    fits |= candidate.fits;
                    found.add(candidate, parallelization);
                }
            }
            fits
        };
        let (mut fitting, mut beyond, mut least) = (None, None, 1);
        for most in numbers_of_copies().take_while(|most| *most <= intensity) {
            if most < least {
                continue;
            }
            let tried = found.candidates.len();
            if try_with(most, &mut found) {
                (fitting, beyond) = (Some(most), None);
                least = least.max(found.of_budget(self.budget) * most / LEAST_PART);
            } else if found.candidates.len() > tried {
                beyond.get_or_insert(most);
                if found.is_over() {
                    break;
                }
            }
        }
        if let Some((fitting, beyond)) = fitting.zip(beyond) {
            let steps = (1..BETWEEN).map(|step| fitting + (beyond - fitting) * step / BETWEEN);
            for most in steps.filter(|most| *most > fitting).dedup() {
                try_with(most, &mut found);
            }
        }
        let Found { candidates, best, .. } = found;
        let Some((cost, parallel_factor, parallelization)) = best else { return Err(self.refused(&candidates)) };
        let arrays = dataflow.partitions(&factors(&parallelization));
        let nodes = parallelization.nodes.clone();
        let budget = self.budget.to_string();
        Ok((parallelization, Fitted { budget, parallel_factor, cost, nodes, arrays, candidates }))
    }

    /// The cost of a parallelization.
    fn candidate(
        &self,
        parallel_factor: u64,
        parallelization: &Parallelization,
        compiled: impl Fn(&Program) -> Result<Cost, Diagnostic>,
    ) -> Candidate {
        let unrolled = parallelization.applied(self.program);
        let outcome = self.check(&unrolled).and_then(|()| compiled(&unrolled));
        let cost = outcome.as_ref().ok().copied();
        let fits = cost.is_some_and(|cost| cost.is_within(self.budget));
        let refused = outcome.err().map(|refused| refused.message().lines().next().unwrap_or_default().to_owned());
        Candidate { parallel_factor, cost, refused, fits }
    }

    /// Whether the program with other factors is one: not if it has too many copies.
    fn check(&self, unrolled: &Program) -> Result<(), Diagnostic> {
        let document = Document::parse(self.file.display().to_string(), unrolled.to_string())?;
        Program::from_document(&document).map(drop)
    }

    fn refused(&self, candidates: &[Candidate]) -> Diagnostic {
        let message = format!("no unroll factors of `{}` fit `{}`", self.program.name, self.budget);
        let costs = candidates.iter().filter_map(|candidate| candidate.cost);
        let help = match (costs.min_by_key(|cost| (cost.multipliers, cost.elements)), candidates.first()) {
            (Some(least), _) => format!("the least is {least}: ask for as much, or take factors out of the program"),
            (None, Some(first)) => format!("with {first}"),
            (None, None) => "the program has no loops".to_owned(),
        };
        Diagnostic::new(message).with_help(help)
    }
}

impl Found {
    fn add(&mut self, candidate: Candidate, parallelization: Parallelization) {
        let cost = candidate.cost.filter(|_| candidate.fits);
        if let Some(cost) = cost.filter(|cost| self.best.as_ref().is_none_or(|(least, ..)| cost < least)) {
            self.best = Some((cost, candidate.parallel_factor, parallelization));
        }
        self.candidates.push(candidate);
    }

    /// How often the last candidate goes into the operations of the budget; at least once.
    fn of_budget(&self, budget: &Budget) -> u64 {
        let cost = self.candidates.iter().rev().find_map(|candidate| candidate.cost);
        let operations = budget.most.iter().filter(|(resource, _)| **resource != Resource::Tiles);
        let parts = operations.filter_map(|(resource, most)| Some(most / cost?.has(*resource).max(1)));
        parts.min().unwrap_or(1).max(1)
    }

    /// Whether so many candidates do not fit that no others will.
    fn is_over(&self) -> bool {
        let last = || self.candidates.iter().rev();
        let beyond = last().take_while(|candidate| !candidate.fits && candidate.cost.is_some()).count();
        let in_vain = last().take_while(|candidate| !candidate.fits).count();
        beyond >= MOST_BEYOND || in_vain >= MOST_IN_VAIN[usize::from(self.best.is_none())]
    }
}

/// So many copies of a nest at most.
fn copies(most: u64) -> String {
    if most == 1 { "1 copy".to_owned() } else { format!("{most} copies") }
}

/// 1, 2, 3, 4, 6, 8, 12 and so on.
fn numbers_of_copies() -> impl Iterator<Item = u64> {
    std::iter::once(1).chain((0..).flat_map(|power| [2u64 << power, 3 << power])).take(60)
}

fn factors(parallelization: &Parallelization) -> Vec<Vec<i64>> {
    parallelization.nodes.iter().map(NodeParallelization::factors).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_written() {
        let budget: Budget = "multipliers=64,tiles=16".parse().unwrap();
        let most = |resource| budget.most.get(&resource).copied();
        assert_eq!(Resource::ALL.map(most), [Some(64), Some(16), None]);
        assert_eq!(budget.to_string(), "multipliers=64,tiles=16");
        assert_eq!("array".parse::<Budget>().unwrap().to_string(), "array");
        for (text, message) in [
            ("tiles", "`tiles` is no resource with a number, as in `multipliers=64`"),
            ("tiles=x", "`tiles=x` is no resource with a number, as in `multipliers=64`"),
            ("rows=3", "`rows` is none of `multipliers`, `tiles` and `elements`"),
            ("tiles=3,tiles=4", "`tiles` stands twice"),
        ] {
            assert_eq!(text.parse::<Budget>().unwrap_err(), message);
        }
    }

    #[test]
    fn copies_grow_by_a_half_and_a_third() {
        assert_eq!(numbers_of_copies().take(9).collect_vec(), [1, 2, 3, 4, 6, 8, 12, 16, 24]);
    }
}
