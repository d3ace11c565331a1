//! The search for blocks of loops.

use std::cell::RefCell;
use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_blocking::{ArrayBlock, Blocking, CYCLE_STEPS, Candidate, Capacity, Estimate, Reduction};
use pushmem_files::{Diagnostic, counted};
use pushmem_nest::{Program, Witness};
use pushmem_proof::{PartError, prove_rewritten};
use serde::Serialize;

use super::budget::{Budget, Cost, Resource};
use crate::build::line;
use crate::output;
use crate::progress::Spinner;

/// Blockings of a nest that are looked at.
const MOST_CANDIDATES: usize = 1 << 12;

/// Blockings of a nest that are compiled.
const MOST_COMPILED: usize = 16;

/// Blockings that are compiled though one of them is as fast as the products let it be.
const LEAST_COMPILED: usize = 4;

/// A search for the blocks of loops with which a program keeps to a budget. The nest with the most iterations goes block by block first, then the
/// next, until the program does.
pub(super) struct Search<'a> {
    pub budget: &'a Budget,
    /// The memory tiles that blocks are to fit.
    pub capacity: Capacity,
    pub compiled: &'a dyn Fn(&Program) -> Result<Cost, Diagnostic>,
    pub spinner: &'a Spinner,
    /// The last blocks that the compiler refused, with its reason.
    pub refused: RefCell<Option<String>>,
}

/// A program whose nests go block by block.
pub(super) struct Blocked {
    pub cost: Cost,
    pub program: Program,
    pub nests: Vec<BlockedNest>,
    /// Whether it computes what the program does that was to go block by block.
    pub proof: Result<(), PartError>,
}

/// A nest that goes block by block.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BlockedNest {
    nest: String,
    /// The loops of the nest, outermost first.
    loops: Vec<String>,
    #[serde(flatten)]
    blocking: Blocking,
    /// Words that go between global buffer and memory tiles.
    moved: i64,
    /// The arrays in blocks.
    arrays: Vec<ArrayBlock>,
    /// Blockings that were compiled.
    tried: usize,
}

impl BlockedNest {
    /// The lines of the report.
    pub fn lines(&self) -> String {
        let Blocking { tiles, outer, inner, is_wide } = &self.blocking;
        let names = |places: &[usize]| places.iter().map(|place| self.loops[*place].as_str()).join(", ");
        let sizes = self.loops.iter().zip(tiles).map(|(name, tile)| format!("{name} {tile}")).join(", ");
        let width = if *is_wide { ", wide copies" } else { "" };
        let mut lines = line(&format!("  blocks of {}", self.nest), &format!("{sizes}{width} ({} tried)", self.tried));
        lines += &line("    order", &format!("{} between blocks; {} within", names(outer), names(inner)));
        for ArrayBlock { array, shape, moved, words } in &self.arrays {
            let moves = match moved {
                0 => "stays in memory tiles".to_owned(),
                _ if moved <= words => "each word is moved once".to_owned(),
                _ => format!("{} are moved, {:.1} times each", counted(*moved, "word"), *moved as f64 / *words as f64),
            };
            lines += &line(&format!("    {array}"), &format!("{}: {moves}", shape.iter().join(" x ")));
        }
        lines
    }
}

impl Search<'_> {
    /// The program in blocks.
    ///
    /// # Errors
    /// The least that was found, in words, if no blocks keep to the budget.
    pub fn run(&self, program: &Program) -> Result<Blocked, String> {
        let whole = (self.compiled)(program);
        let mut best = whole.as_ref().ok().map(|cost| (*cost, program.clone()));
        let (mut nests, mut proof) = (Vec::new(), Ok(()));
        let mut done = BTreeSet::new();
        let fits = |best: &Option<(Cost, Program)>| best.as_ref().is_some_and(|(cost, _)| cost.is_within(self.budget));
        while !fits(&best) {
            let current = best.as_ref().map_or(program, |(_, program)| program).clone();
            let Some(reduction) = Reduction::all(&current).into_iter().find(|each| done.insert(each.name().to_owned()))
            else {
                break;
            };
            if let Some((cost, (blocked, witness), nest)) = self.of_nest(&reduction) {
                let is_better = best.as_ref().is_none_or(|(least, _)| self.rank(&cost) < self.rank(least));
                if is_better {
                    proof = proof.and_then(|()| prove_rewritten(&current, &blocked, &witness));
                    best = Some((cost, blocked));
                    nests.push(nest);
                }
            }
        }
        match best {
            Some((cost, program)) if cost.is_within(self.budget) => Ok(Blocked { cost, program, nests, proof }),
            Some((cost, _)) => {
                let refused = self.refused.take().map_or_else(String::new, |refused| format!("; {refused}"));
                Err(format!("the least is {cost}{refused}"))
            }
            None => Err(whole.err().map_or_else(String::new, |refused| reason(&refused))),
        }
    }

    /// The order of costs: what keeps to the budget first, and the fastest; else the fewest tiles.
    fn rank(&self, cost: &Cost) -> (bool, u64, Cost) {
        match cost.is_within(self.budget) {
            true => (false, 0, *cost),
            false => (true, cost.tiles, *cost),
        }
    }

    /// The best blocks of a nest.
    fn of_nest(&self, reduction: &Reduction) -> Option<(Cost, (Program, Witness), BlockedNest)> {
        let (mut compiled, mut tried) = (Vec::new(), 0);
        let mut too_large: Vec<(Blocking, i64)> = Vec::new();
        for Candidate { blocking, estimate } in reduction.candidates(self.capacity, MOST_CANDIDATES) {
            if tried == MOST_COMPILED {
                break;
            }
            // Blocks of about the same size need as much.
            if too_large.iter().any(|refused| is_as_large((&blocking, estimate.words), refused)) {
                continue;
            }
            tried += 1;
            let name = reduction.name();
            self.spinner.say(&format!("compiling blocks of `{name}`, {tried} of at most {MOST_COMPILED}"));
            let Some(blocked) = reduction.blocked(&blocking).transpose() else { continue };
            let outcome = blocked.and_then(|blocked| Ok(((self.compiled)(&blocked.0)?, blocked)));
            let sizes =
                reduction.loops().zip(&blocking.tiles).map(|(level, tile)| format!("{} {tile}", level.variable));
            let sizes = { sizes }.join(", ");
            let told = match &outcome {
                Ok((cost, _)) => format!("{cost}, {} moved", counted(estimate.moved, "word")),
                Err(refused) => format!("refused, {}", reason(refused)),
            };
            self.spinner.above(|| output::note(&format!("`{name}` in blocks of {sizes}: {told}")));
            let (cost, blocked) = match outcome {
                Ok(found) => found,
                Err(refused) => {
                    self.refused.replace(Some(format!("`{name}` in blocks of {sizes}: {}", reason(&refused))));
                    too_large.push((blocking, estimate.words));
                    continue;
                }
            };
            let fits = cost.is_within(self.budget);
            // Blocks do not change how many lanes the nest has.
            let most = self.budget.most.get(&Resource::Multipliers);
            if compiled.is_empty() && most.is_some_and(|most| cost.multipliers > *most) {
                return None;
            }
            if !fits {
                too_large.push((blocking.clone(), estimate.words));
            }
            compiled.push((cost, blocked, blocking, estimate));
            // Of those that come next, none is faster by more than that, and they move more words.
            let least = reduction.cycles() as u64;
            if tried >= LEAST_COMPILED && fits && cost.cycles <= least + least / CYCLE_STEPS as u64 {
                break;
            }
        }
        // Of those that are about as fast as the fastest, the one that moves the fewest words.
        let fastest = compiled.iter().map(|(cost, ..)| self.rank(cost)).min()?;
        let is_alike = |cost: &Cost| {
            let (is_beyond, tiles, Cost { cycles, .. }) = self.rank(cost);
            (is_beyond, tiles) == (fastest.0, fastest.1)
                && cycles <= fastest.2.cycles + fastest.2.cycles / CYCLE_STEPS as u64
        };
        let alike = compiled.into_iter().filter(|(cost, ..)| is_alike(cost));
        let best = alike.min_by_key(|(cost, _, _, estimate)| (estimate.moved, *cost));
        let (cost, blocked, blocking, Estimate { moved, arrays, .. }) = best?;
        let loops = reduction.loops().map(|level| level.variable.clone()).collect();
        let nest = BlockedNest { nest: reduction.name().to_owned(), loops, blocking, moved, arrays, tried };
        Some((cost, blocked, nest))
    }
}

/// Whether a blocking has the loops of another in the same order within blocks, and needs about as many words.
fn is_as_large((blocking, words): (&Blocking, i64), (other, too_many): &(Blocking, i64)) -> bool {
    let is_alike = blocking.inner == other.inner && blocking.is_wide == other.is_wide;
    is_alike && 4 * words > 3 * too_many
}

/// A refusal in a line: the array or statement, and the first reason.
fn reason(refused: &Diagnostic) -> String {
    refused.message().lines().take(2).map(str::trim).join(" ")
}
