//! The models of a program and of its netlist beside each other.
//!
//! # Periods
//!
//! A token is made of the tokens of words that enter, which have numbers. Where all loops repeat, each model is a fixed function
//! from its words, and those that enter in a period, to its words a period later, and to those that leave. If its words a period
//! later are what they were, with the words of one period added to the numbers of those that entered, then so are they after all
//! periods that follow, and so are the words that leave. So models are executed beside others whose words that enter have the
//! numbers of a period later. Where they have the words that those had a period before, the rest of the periods is skipped.
//!
//! Undefined words of tiles may differ: the model reports each read of one.

use index_vec::IndexVec;
use pushmem_cells::CellEvaluator;
use pushmem_graph::{ArrayAccesses, ArrayId, InputId, KernelFunction, KernelId, Machine as ProgramMachine};
use pushmem_netlist::{Machine, Netlist, Run};
use pushmem_pe::Tokens;

use crate::periods::{Moved, Periods};
use crate::tables::Tables;
use crate::tokens::Parts;
use crate::validate::{Invalid, Reference};

/// The models are compared with earlier ones in this part of the periods, at most: words that depend on all that came before never repeat.
const SEARCHED: u64 = 4;

/// The models of a program and of its netlist, in the same cycle.
pub(crate) struct Models<'a> {
    reference: Reference<'a>,
    netlist: &'a Netlist,
    of_program: ProgramMachine<'a, u64>,
    of_netlist: Run<'a, Tokens>,
    words: Entering,
    /// The cycle of both.
    now: u64,
}

/// The words that enter.
struct Entering {
    tokens: Tokens,
    /// For each stream what is added to the numbers of its words.
    later: Vec<usize>,
    /// The stream of each lane of the netlist, its place there, and how many lanes the stream has.
    lanes: Vec<(usize, usize, usize)>,
}

impl Entering {
    /// The word of a stream with a number.
    fn word(&self, stream: usize, number: usize) -> u64 {
        self.tokens.token((stream, number + self.later[stream]))
    }

    /// The word of a lane with a number.
    fn of_lane(&self, lane: usize, number: usize) -> u64 {
        let (stream, place, count) = self.lanes[lane];
        self.word(stream, number * count + place)
    }
}

impl<'a> Models<'a> {
    /// Both before their first cycle.
    pub fn new(
        parts: &'a Parts<'a>,
        netlist: &'a Netlist,
        accesses: &'a IndexVec<ArrayId, ArrayAccesses>,
        tokens: Tokens,
        later: Vec<usize>,
    ) -> Self {
        let Parts { reference, cells, spec, entering, leaving, banks, .. } = parts;
        let Reference { program, datapaths, graph } = *reference;
        let function = |kernel: KernelId| -> KernelFunction<u64> {
            let cells = &cells[reference.first_of_unit(graph.kernels[kernel].operation)];
            let tables = Tables::of(program, cells, parts.memory(), tokens);
            let mut evaluator = CellEvaluator::new(cells, tokens);
            Box::new(move |loads, variables| {
                let mut words = evaluator.evaluate(loads, variables, |table, index| tables.entry(table, index));
                std::array::from_fn(|_| words.next().unwrap_or_default())
            })
        };
        let lanes = graph.inputs.iter_enumerated().flat_map(|(stream, node)| {
            let count = node.lanes.len();
            (0..count).map(move |lane| (stream.index(), lane, count))
        });
        Models {
            reference: *reference,
            netlist,
            of_program: ProgramMachine::new(graph, program, datapaths, accesses, &function),
            of_netlist: Run::new(Machine::new(netlist, spec, tokens), entering, leaving, banks),
            words: Entering { tokens, later, lanes: lanes.collect() },
            now: 0,
        }
    }

    /// Executes so many cycles, or those that are left.
    pub fn execute(&mut self, cycles: u64) {
        let Models { reference, of_program, of_netlist, words, now, .. } = self;
        let of_length = |length: u64| cycles.min(length.saturating_sub(*now));
        let (of_graph, of_run) = (of_length(reference.graph.length), of_length(of_netlist.length()));
        let word = |stream: InputId, number: usize| words.word(stream.index(), number);
        rayon::join(
            || of_program.run(of_graph, &word),
            || of_netlist.execute(of_run, &|lane, number| words.of_lane(lane, number)),
        );
        *now = now.saturating_add(cycles);
    }

    /// Whether each has the words that it has in other models, in memories that much later.
    fn have_words_of(&self, other: &Self, moved: &Moved) -> bool {
        self.of_program.has_words_of(&other.of_program, &moved.elements)
            && self.of_netlist.has_words_of(&other.of_netlist, &moved.rows)
    }

    /// The words that left each model so far, on each lane of a stream.
    fn counts(&self) -> [Vec<usize>; 2] {
        let streams = self.of_program.outputs.iter().zip(&self.reference.graph.outputs);
        let of_program =
            streams.flat_map(|(words, stream)| stream.lanes.iter().map(|_| words.len() / stream.lanes.len()));
        [of_program.collect(), self.of_netlist.left.iter().map(Vec::len).collect()]
    }

    /// Skips periods, if the words of both models are found to repeat: how many cycles. `later` are models before their first cycle, whose words that
    /// enter have the numbers of a period later.
    pub fn skip(&mut self, Periods { begin, cycles, count, moved, .. }: &Periods, mut later: Models<'a>) -> u64 {
        self.execute(begin + cycles);
        later.execute(*begin);
        let mut executed = 1;
        while !self.have_words_of(&later, moved) {
            if executed * SEARCHED >= *count {
                return 0;
            }
            self.execute(*cycles);
            later.execute(*cycles);
            executed += 1;
        }
        // From here on the words that leave each model repeat, as many in a period. A whole period of those that repeat in both is compared.
        let [before, now] = [later.counts(), self.counts()];
        let of_period = |model: usize| now[model].iter().zip(&before[model]).map(|(now, before)| now - before);
        if !of_period(0).eq(of_period(1)) {
            return 0;
        }
        let begin = before[0].iter().zip(&before[1]).map(|(one, other)| one.max(other));
        let end: Vec<usize> = begin.zip(of_period(0)).map(|(begin, words)| begin + words).collect();
        let reach = |counts: &Vec<usize>| counts.iter().zip(&end).all(|(count, end)| count >= end);
        while executed < *count && !self.counts().iter().all(reach) {
            self.execute(*cycles);
            executed += 1;
        }
        let skipped = (count - executed) * cycles;
        let moved = moved.times(count - executed);
        self.of_program.skip(skipped, &moved.elements);
        self.of_netlist.skip(skipped, &moved.rows);
        self.now += skipped;
        skipped
    }

    /// Compares the words that left: how many leave in a run.
    pub fn verdict(&mut self) -> Result<usize, Invalid> {
        if let Some((cell, violation)) = self.of_netlist.take_violations().into_iter().next() {
            let tile = &self.netlist.cells[cell].name;
            return Err(Invalid::Configuration(format!("the memory {tile} breaks a promise: {violation}")));
        }
        let graph = self.reference.graph;
        let mut found = self.of_netlist.left.iter();
        let mut compared = 0;
        for (stream, expected) in graph.outputs.iter().zip(&self.of_program.outputs) {
            let lanes = stream.lanes.len();
            compared += graph.counters[stream.counter].iterations() as usize * lanes;
            let differences = found.by_ref().take(lanes).enumerate().filter_map(|(word, found)| {
                let of_lane = expected.iter().skip(word).step_by(lanes).map(Some).chain([None]);
                Some((of_lane.enumerate().position(|(beat, expected)| found.get(beat) != expected)?, word))
            });
            if let Some((beat, word)) = differences.min() {
                return Err(Invalid::Word { stream: stream.name.clone(), beat, word });
            }
        }
        Ok(compared)
    }
}
