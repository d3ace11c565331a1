//! The words of a netlist and of a program as tokens of their operations.

use index_vec::IndexVec;
use pushmem_cells::Cells;
use pushmem_fabric::ArraySpec;
use pushmem_graph::{ArrayAccesses, ArrayId};
use pushmem_netlist::{BankLanes, Lane, Netlist};
use pushmem_pe::Tokens;
use pushmem_tile::TileSpec;
use rayon::prelude::*;

use crate::models::Models;
use crate::periods::Periods;
use crate::tables::with_tokens;
use crate::validate::{Invalid, Reference};

/// A program and its netlist.
pub(crate) struct Parts<'a> {
    pub reference: Reference<'a>,
    /// The cells of each operation.
    pub cells: &'a [Cells],
    pub netlist: &'a Netlist,
    pub spec: &'a ArraySpec,
    /// The lanes of the streams, those that come in and those that go out.
    pub entering: Vec<Lane>,
    pub leaving: Vec<Lane>,
    pub banks: Vec<BankLanes>,
}

/// Words that were compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    pub words: usize,
    /// Cycles in which what happens repeats an earlier period.
    pub skipped: u64,
}

impl Parts<'_> {
    /// The memory tiles of the array.
    pub fn memory(&self) -> Option<&TileSpec> {
        self.spec.memory.as_ref().map(|memory| &memory.tile)
    }

    /// Compares the words that leave, as the tokens of so many seeds, for words of their own that enter.
    pub fn compared(&self, seeds: u64) -> Result<Compared, Invalid> {
        let graph = self.reference.graph;
        let accesses = graph.array_accesses();
        // Words of banks have numbers, and data choose elements of random-access memories.
        let may_repeat = self.banks.is_empty() && graph.rams.is_empty();
        let periods = may_repeat
            .then(|| Periods::of(graph, &accesses, self.netlist, self.memory(), [&self.entering, &self.leaving]))
            .flatten();
        let of_seed = |seed: u64| self.compared_with(Tokens { seed }, &accesses, periods.as_ref());
        // The first difference of the first run that has one, whichever ends first.
        let runs: Vec<Result<Compared, Invalid>> = (0..seeds).into_par_iter().map(of_seed).collect();
        runs.into_iter().try_fold(Compared::default(), |all, run| {
            let run = run?;
            Ok(Compared { words: all.words + run.words, skipped: all.skipped + run.skipped })
        })
    }

    /// The same of one seed.
    fn compared_with(
        &self,
        tokens: Tokens,
        accesses: &IndexVec<ArrayId, ArrayAccesses>,
        periods: Option<&Periods>,
    ) -> Result<Compared, Invalid> {
        let netlist = with_tokens(self.netlist, self.memory(), tokens);
        let models = |later: Vec<usize>| Models::new(self, &netlist, accesses, tokens, later);
        let none = vec![0; self.reference.graph.inputs.len()];
        let mut run = models(none.clone());
        let skipped = periods.map_or(0, |periods| run.skip(periods, models(periods.entering.clone())));
        run.execute(u64::MAX);
        let mut words = run.verdict();
        if words.is_err() && skipped > 0 {
            // Without a skip, a difference has its place.
            let mut run = models(none);
            run.execute(u64::MAX);
            words = run.verdict();
        }
        Ok(Compared { words: words?, skipped })
    }
}
