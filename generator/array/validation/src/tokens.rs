//! The words of a netlist and of a program as tokens of their operations.

use itertools::Itertools;
use pushmem_cells::{CellEvaluator, Cells};
use pushmem_fabric::ArraySpec;
use pushmem_graph::{KernelFunction, KernelId, deinterleaved, interleaved};
use pushmem_netlist::{BankLanes, Lane, Machine, Netlist, run};
use pushmem_pe::Tokens;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::tables::{Tables, with_tokens};
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

impl Parts<'_> {
    /// Compares the words that leave, as the tokens of a seed, for words of their own that enter: how many there are.
    pub fn compared(&self, seed: u64) -> Result<usize, Invalid> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let tokens = Tokens { seed };
        let mut words_of = |lane: &Lane| -> Vec<u64> { lane.cycles.iter().map(|_| random.random()).collect() };
        let words: Vec<Vec<u64>> = self.entering.iter().map(&mut words_of).collect();
        let (expected, found) = rayon::join(|| self.of_program(tokens, &words), || self.of_netlist(tokens, &words));
        let mut found = found?.into_iter();
        let mut compared = 0;
        for (stream, expected) in self.reference.graph.outputs.iter().zip(&expected) {
            let expected_lanes = deinterleaved(expected, stream.lanes.len());
            compared += expected.len();
            let lanes = expected_lanes.iter().zip(found.by_ref()).enumerate();
            let differences = lanes.filter_map(|(word, (expected, found))| {
                let is_other = |beat: &usize| found.get(*beat) != Some(&expected[*beat]);
                Some(((0..expected.len()).find(is_other)?, word))
            });
            if let Some((beat, word)) = differences.min() {
                return Err(Invalid::Word { stream: stream.name.clone(), beat, word });
            }
        }
        Ok(compared)
    }

    /// The words that leave the netlist, on each lane.
    fn of_netlist(&self, tokens: Tokens, words: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Invalid> {
        let memory = self.spec.memory.as_ref().map(|memory| &memory.tile);
        let netlist = with_tokens(self.netlist, memory, tokens);
        let mut machine = Machine::new(&netlist, self.spec, tokens);
        let found = run(&mut machine, &self.entering, words, &self.leaving, &self.banks);
        match machine.take_violations().into_iter().next() {
            Some((cell, violation)) => {
                let tile = netlist.cells[cell].name.clone();
                Err(Invalid::Memory { tile, violation: violation.to_string() })
            }
            None => Ok(found),
        }
    }

    /// The words that leave the graph, whose kernels compute tokens, on each stream.
    fn of_program(&self, tokens: Tokens, words: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let Reference { program, datapaths, graph } = self.reference;
        let memory = self.spec.memory.as_ref().map(|memory| &memory.tile);
        let mut lanes = words.iter();
        let beats =
            graph.inputs.iter().map(|stream| interleaved(&lanes.by_ref().take(stream.lanes.len()).collect_vec()));
        let beats = beats.collect();
        graph.run_with(program, datapaths, beats, &|kernel: KernelId| -> KernelFunction<u64> {
            let cells = &self.cells[self.reference.first_of_unit(graph.kernels[kernel].operation)];
            let tables = Tables::of(program, cells, memory, tokens);
            let mut evaluator = CellEvaluator::new(cells, tokens);
            Box::new(move |loads, variables| {
                let mut words = evaluator.evaluate(loads, variables, |table, index| tables.entry(table, index));
                std::array::from_fn(|_| words.next().unwrap_or_default())
            })
        })
    }
}
