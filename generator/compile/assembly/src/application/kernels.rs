//! Kernels, and stages that need none.

use itertools::Itertools;
use pushmem_datapaths::Datapath;
use pushmem_extraction::Origin;
use pushmem_nest::{Policy, Word};

use super::plan::{Outcome, ReadSource, at};
use super::{Builder, Timed};
use crate::taps::{Tap, TapCase};
use pushmem_graph::{BitDriver, Choice, Constant, CopyNode, Edge, KernelNode, Variable, WordDriver, WordId, WordNet};

impl<'a> Builder<'a> {
    /// The operation of a stage that is no input, and which copy of it the stage is.
    fn origin(&self, stage: usize) -> (usize, &'a [i64]) {
        let Origin::Operation { operation, lanes } = &self.scheduled.extraction.origins[stage] else {
            unreachable!("inputs have no kernel");
        };
        (*operation, lanes)
    }

    fn datapath(&self, stage: usize) -> &'a Datapath {
        self.scheduled.datapath(stage).expect("inputs have no kernel")
    }
}

impl Builder<'_> {
    /// Notes a stage that has no net of its own: its result is that of another one, or constant.
    pub(super) fn add_wireless(&mut self, stage: usize) {
        match (self.datapath(stage).copied(), self.outcomes[stage]) {
            (Some(load), _) => self.graph.copies.push(CopyNode { stage, load, nets: Vec::new() }),
            (None, Outcome::Constant(number)) => {
                let words = self.scheduled.words_of(stage).iter().rev();
                let bits = words.fold(0, |bits, word| (bits << Word::BITS) | u32::from(word.of(number)));
                self.graph.constants.push(Constant { stage, bits });
            }
            (None, Outcome::At(_)) => unreachable!("only copies have the result of another stage"),
        }
    }

    /// A net of a stage that always carries the same word: that of a number.
    pub(super) fn add_constant_net(&mut self, stage: usize, number: i64, word: Word) -> WordId {
        let choices = vec![Choice { when: None, edge: Edge::Constant(word.of(number)) }];
        let result = self.result(stage);
        self.add_net(self.name_of_result(stage, word), WordDriver::Select(choices), result)
    }

    /// The kernel of a stage, or the net of its load if it only passes that on.
    pub(super) fn add_kernel(&mut self, stage: usize, reads: &[ReadSource]) {
        let operands = self.operands(stage, reads);
        let datapath = self.datapath(stage);
        match datapath.copied() {
            Some(load) => {
                let words = datapath.operands().into_iter().zip(operands);
                let words = words.filter(|((of, _), _)| *of == load).map(|((_, word), edge)| (word, edge));
                self.add_copy(stage, load, words.collect());
            }
            None => {
                let kernel = self.kernel(stage, operands);
                self.push_kernel(stage, kernel);
            }
        }
    }

    /// The kernel of a stage whose result comes back, without its operands.
    pub(super) fn announce_kernel(&mut self, stage: usize) {
        let kernel = self.kernel(stage, Vec::new());
        self.push_kernel(stage, kernel);
    }

    /// Connects the operands of a kernel that was announced.
    pub(super) fn connect_kernel(&mut self, stage: usize, reads: &[ReadSource]) {
        let operands = self.operands(stage, reads);
        let net = self.nets[&(stage, Word::Low)];
        let kernel = self.graph.kernels.iter_mut().find(|kernel| kernel.net() == net);
        kernel.expect("the kernel was announced").operands = operands;
    }

    /// The sources of the words of the loads of a stage.
    fn operands(&mut self, stage: usize, reads: &[ReadSource]) -> Vec<Edge> {
        let scheduled = self.scheduled;
        let name = self.stage_name(stage).to_owned();
        let operation = self.origin(stage).0;
        let (loops, content) = &scheduled.operations[operation];
        let datapath = &scheduled.datapaths[operation];
        let outside = |read: usize| content.load_of_read(loops, read).and_then(|load| load.outside).unwrap_or(0);
        let operand = |(read, word): (usize, Word)| match &reads[read] {
            _ if !datapath.uses(read) => Edge::Constant(0),
            ReadSource::Taps(cases) => {
                let edges = cases.iter().map(|case| self.edge_of_tap(case.tap, outside(read), word)).collect_vec();
                let Timed { content, cycle } = self.timed(stage);
                let cycle = &cycle.shifted(scheduled.arrival(stage, read));
                let name = format!("{name}_load_{read}{}", word.suffix());
                self.chosen(Timed { content, cycle }, &name, cases, &edges)
            }
            ReadSource::Held(held) => self.held((stage, read, word), outside(read), held),
            ReadSource::HeldEach(words) => self.held_each((stage, read, word), outside(read), words),
            ReadSource::RandomAccess => Edge::Net { net: self.ram_nets[&(stage, read)], delay: 0 },
        };
        datapath.operands().into_iter().map(operand).collect()
    }

    /// The nets of a stage that only passes on a load, word by word: the selection itself is the result.
    fn add_copy(&mut self, stage: usize, load: usize, operands: Vec<(Word, Edge)>) {
        let mut nets = Vec::new();
        for (word, operand) in operands {
            let net = match operand {
                Edge::Net { net, delay: 0 } if self.is_free_selection(net) => net,
                // All of it lies outside of the array.
                Edge::Constant(always) => self.add_constant_net(stage, word.shifted(always), word),
                edge @ Edge::Net { .. } => {
                    let driver = WordDriver::Select(vec![Choice { when: None, edge }]);
                    self.add_net(self.name_of_result(stage, word), driver, None)
                }
            };
            // A later copy or kernel has a selection of its own: the net of this one is the result of the stage.
            self.selections.retain(|(_, other)| *other != net);
            if self.graph.words[net].result.is_none() {
                self.graph.words[net].result = self.result(stage);
            }
            self.nets.insert((stage, word), net);
            nets.push(net);
        }
        self.graph.copies.push(CopyNode { stage, load, nets });
    }

    fn kernel(&mut self, stage: usize, operands: Vec<Edge>) -> KernelNode {
        let scheduled = self.scheduled;
        let (operation, lanes) = self.origin(stage);
        let loops = &scheduled.operations[operation].0;
        let variable = |variable: usize| {
            let level = loops.len() - 1 - variable;
            let (of, lane) = (loops[variable], lanes[level]);
            let iterated = scheduled.extraction.pipeline.stages[stage].loops[level].extent > 1;
            let counted = iterated.then(|| self.timed(stage).level(level));
            Variable { level: counted, scale: of.unroll, offset: of.min + lane }
        };
        let datapath = &scheduled.datapaths[operation];
        let variables = datapath.variables().into_iter().map(variable).collect_vec();
        let counter = variables.iter().any(|variable| variable.level.is_some()).then(|| self.counter(stage, 0));
        let iterations = self.iterations(stage, 0);
        let latency = datapath.latency();
        KernelNode { nets: Vec::new(), operation, latency, iterations, counter, operands, variables }
    }

    /// Adds a kernel, with a net for each word of its result.
    fn push_kernel(&mut self, stage: usize, kernel: KernelNode) {
        let kernel = self.graph.kernels.push(kernel);
        for &word in self.scheduled.words_of(stage) {
            let result = self.result(stage);
            let net = self.add_net(self.name_of_result(stage, word), WordDriver::Kernel { kernel, word }, result);
            self.graph.kernels[kernel].nets.push(net);
            self.nets.insert((stage, word), net);
        }
    }

    /// Whether a net selects a load or reads it from a memory, so that it can be the result of a stage. In a raster scan it is
    /// that of one stage, and hold registers pass on words of the stage that they are loaded from.
    fn is_free_selection(&self, net: WordId) -> bool {
        let is_scan = self.scheduled.program.policy() == Policy::Stencil;
        let WordNet { driver, result, .. } = &self.graph.words[net];
        matches!(driver, WordDriver::Select(_) | WordDriver::Port { .. }) && !(is_scan && result.is_some())
    }

    /// A word of the element of a tap. `outside` is the one outside of the array.
    pub(super) fn edge_of_tap(&self, tap: Tap, outside: i64, word: Word) -> Edge {
        match tap {
            Tap::Stage { producer, delay } => match at(&self.outcomes, producer, delay) {
                Outcome::At(place) => self.edge(place, word),
                Outcome::Constant(number) => Edge::Constant(word.of(number)),
            },
            Tap::Outside => Edge::Constant(word.of(outside)),
            Tap::Port { array, port } => Edge::Net { net: self.port_nets[&(array, port, word)], delay: 0 },
        }
    }

    /// The word of a load in these iterations: the edge of the case that applies, by a selection of this name if they differ.
    pub(super) fn chosen(&mut self, iterations: Timed, name: &str, cases: &[TapCase], edges: &[Edge]) -> Edge {
        // Constants are the same whatever their delay.
        if let Ok(&only) = edges.iter().all_equal_value() {
            return only;
        }
        let counter = self.counter_at(iterations, 0);
        let mut choices = Vec::new();
        for (case, &edge) in cases.iter().zip(edges) {
            let conditions = case.conditions.iter();
            let conditions = conditions.map(|&(level, one)| iterations.counted(level, one)).collect_vec();
            let driver = (!conditions.is_empty()).then_some(BitDriver::Indices { counter, conditions });
            choices.push(Choice { when: driver.map(|driver| self.bit(driver)), edge });
        }
        // Loads that select alike share the selection.
        if let Some((_, net)) = self.selections.iter().find(|(other, _)| *other == choices) {
            return Edge::Net { net: *net, delay: 0 };
        }
        let net = self.add_net(name.to_owned(), WordDriver::Select(choices.clone()), None);
        self.selections.push((choices, net));
        Edge::Net { net, delay: 0 }
    }
}
