//! The search for unroll factors.

use std::collections::BTreeSet;
use std::path::Path;

use itertools::Itertools;
use pushmem_compiler::CompileError;
use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{Program, Witness};
use pushmem_parallelization::{Alternative, Awareness, Dataflow, NodeParallelization, Parallelization};
use pushmem_proof::prove_rewritten;

use super::blocks::{self, Blocked};
use super::budget::{Budget, Cost, Resource};
use super::{Candidate, Fitted, copies};
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

/// A search for unroll factors: more and more copies, until they do not fit; then numbers between those that do and those that do not.
pub(super) struct Search<'a> {
    pub program: &'a Program,
    pub budget: &'a Budget,
    pub awareness: Awareness,
    pub file: &'a Path,
}

/// The candidates of a search, and the best of them.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    seen: BTreeSet<Vec<Vec<i64>>>,
    best: Option<(Cost, u64, Parallelization)>,
}

impl Search<'_> {
    pub fn run(
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
        let blocks = Vec::new();
        Ok((parallelization, Fitted { budget, parallel_factor, cost, nodes, arrays, candidates, blocks }))
    }

    /// The program with the most copies, in blocks, that keeps to the budget. Without multipliers and elements in the budget, factors stay as they
    /// are.
    ///
    /// # Errors
    /// When no blocks fit, and a fault if the program in blocks computes something else.
    pub fn run_in_blocks(&self, blocks: &blocks::Search) -> Result<(Program, Fitted), Diagnostic> {
        let dataflow = Dataflow::of(self.program);
        let intensity = dataflow.nodes.iter().map(|node| node.intensity).max().unwrap_or(1);
        let operations = [Resource::Multipliers, Resource::Elements];
        let most = { operations.iter() }.filter_map(|resource| self.budget.most.get(resource)).max().copied();
        let numbers = match most {
            None => vec![1],
            Some(most) => numbers_of_copies().take_while(|copies| *copies <= intensity.min(most)).collect(),
        };
        let (mut candidates, mut seen): (Vec<Candidate>, _) = (Vec::new(), BTreeSet::new());
        for parallel_factor in numbers.into_iter().rev() {
            for alternative in Alternative::ALL {
                let parallelization = dataflow.alternative(parallel_factor, self.awareness, alternative);
                if !seen.insert(factors(&parallelization)) {
                    continue;
                }
                let unrolled = match most {
                    Some(_) => parallelization.applied(self.program),
                    None => self.program.clone(),
                };
                let checked = self.check(&unrolled).map_err(|refused| refused.message().to_owned());
                let found = checked.and_then(|()| blocks.run(&unrolled));
                let cost = found.as_ref().ok().map(|blocked| blocked.cost);
                let refused = found.as_ref().err().cloned();
                let candidate = Candidate { parallel_factor, cost, refused, fits: cost.is_some() };
                blocks.spinner.above(|| output::note(&candidate.to_string()));
                candidates.push(candidate);
                let Ok(Blocked { cost, program, nests: blocks, proof }) = found else { continue };
                let proof = prove_rewritten(self.program, &unrolled, &Witness::same(&unrolled)).and(proof);
                proof.map_err(|error| CompileError::wrong(&error))?;
                let nodes = if most.is_some() { parallelization.nodes.clone() } else { Vec::new() };
                let arrays = dataflow.partitions(&factors(&parallelization));
                let budget = self.budget.to_string();
                return Ok((program, Fitted { budget, parallel_factor, cost, nodes, arrays, candidates, blocks }));
            }
        }
        let message = format!("no blocks of `{}` fit `{}`", self.program.name, self.budget);
        let last = candidates.into_iter().rev().find_map(|candidate| candidate.refused);
        let help = last.unwrap_or_else(|| "the program has no loops".to_owned());
        Err(Diagnostic::new(message).with_help(format!("{help}. Ask for as much, unroll less, or take larger tiles")))
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
    fn copies_grow_by_a_half_and_a_third() {
        assert_eq!(numbers_of_copies().take(9).collect_vec(), [1, 2, 3, 4, 6, 8, 12, 16, 24]);
    }
}
