//! The words of a netlist and of a program as tokens of their operations.

use itertools::Itertools;
use pushmem_cells::{CellEvaluator, Cells};
use pushmem_fabric::ArraySpec;
use pushmem_graph::{InputId, KernelFunction, KernelId};
use pushmem_netlist::{BankLanes, Lane, Machine, Netlist, run};
use pushmem_pe::Tokens;

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
        let tokens = Tokens { seed };
        // The words that enter, of a stream and the number of the word in it.
        let word = |stream: usize, number: usize| tokens.token((stream, number));
        let (expected, found) = rayon::join(|| self.of_program(tokens, &word), || self.of_netlist(tokens, &word));
        let mut found = found?.into_iter();
        let mut compared = 0;
        for (stream, expected) in self.reference.graph.outputs.iter().zip(&expected) {
            let lanes = stream.lanes.len();
            compared += expected.len();
            let differences = found.by_ref().take(lanes).enumerate().filter_map(|(word, found)| {
                let mut of_lane = expected.iter().skip(word).step_by(lanes).enumerate();
                Some((of_lane.position(|(beat, expected)| found.get(beat) != Some(expected))?, word))
            });
            if let Some((beat, word)) = differences.min() {
                return Err(Invalid::Word { stream: stream.name.clone(), beat, word });
            }
        }
        Ok(compared)
    }

    /// The words that leave the netlist, on each lane.
    fn of_netlist(&self, tokens: Tokens, word: &dyn Fn(usize, usize) -> u64) -> Result<Vec<Vec<u64>>, Invalid> {
        let memory = self.spec.memory.as_ref().map(|memory| &memory.tile);
        let netlist = with_tokens(self.netlist, memory, tokens);
        let mut machine = Machine::new(&netlist, self.spec, tokens);
        let lanes = self.reference.graph.inputs.iter_enumerated().flat_map(|(stream, node)| {
            let count = node.lanes.len();
            (0..count).map(move |lane| (stream.index(), lane, count))
        });
        let lanes = lanes.collect_vec();
        let words = |lane: usize, number: usize| {
            let (stream, lane, count) = lanes[lane];
            word(stream, number * count + lane)
        };
        let found = run(&mut machine, &self.entering, &words, &self.leaving, &self.banks);
        match machine.take_violations().into_iter().next() {
            Some((cell, violation)) => {
                let tile = netlist.cells[cell].name.clone();
                Err(Invalid::Memory { tile, violation: violation.to_string() })
            }
            None => Ok(found),
        }
    }

    /// The words that leave the graph, whose kernels compute tokens, on each stream.
    fn of_program(&self, tokens: Tokens, word: &dyn Fn(usize, usize) -> u64) -> Vec<Vec<u64>> {
        let Reference { program, datapaths, graph } = self.reference;
        let memory = self.spec.memory.as_ref().map(|memory| &memory.tile);
        let word = |stream: InputId, number: usize| word(stream.index(), number);
        graph.run_with(program, datapaths, &word, &|kernel: KernelId| -> KernelFunction<u64> {
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
