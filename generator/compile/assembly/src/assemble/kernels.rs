//! Kernels, and stages that need none.

use itertools::Itertools;
use pushmem_extraction::Origin;
use pushmem_nest::{Loop, Operation};

use super::Builder;
use super::plan::{Outcome, Place, at, copied_load};
use crate::taps::{Tap, TapCase};
use pushmem_graph::{Case, Constant, Copied, DatapathId, Driver, Kernel, OperationDatapath, Source, Variable, WireId};

impl Builder<'_> {
    /// Notes a stage that has no wire of its own: its result is that of another one, or constant.
    pub(super) fn add_wireless(&mut self, stage: usize) {
        let Origin::Operation { operation, .. } = self.scheduled.extraction.origins[stage] else {
            unreachable!("an input has a result of its own");
        };
        match (copied_load(&self.scheduled.datapaths[operation]), self.outcomes[stage]) {
            (Some(load), _) => self.accelerator.copies.push(Copied { stage, load, selection: None }),
            (None, Outcome::Constant(word)) => self.accelerator.constants.push(Constant { stage, word }),
            (None, Outcome::At(_)) => unreachable!("only copies have the result of another stage"),
        }
    }

    /// A wire of a stage that always carries the same word.
    pub(super) fn add_constant_wire(&mut self, stage: usize, word: u16) -> WireId {
        let cases = vec![Case { conditions: Vec::new(), source: Source::Constant(word) }];
        let counter = self.counter(stage, 0);
        self.add_wire(self.stage_name(stage).to_owned(), Driver::Select { counter, cases })
    }

    pub(super) fn add_kernel(&mut self, stage: usize, reads: &[Vec<TapCase>]) {
        let Origin::Operation { operation, lanes } = &self.scheduled.extraction.origins[stage] else {
            unreachable!("inputs have no kernel");
        };
        let name = self.stage_name(stage).to_owned();
        let (loops, content) = &self.scheduled.operations[*operation];
        let datapath = &self.scheduled.datapaths[*operation];
        let outside = |read: usize| content.load_of_read(loops, read).and_then(|load| load.outside).unwrap_or(0);
        let operands = reads
            .iter()
            .enumerate()
            .map(|(read, cases)| match datapath.uses(read) {
                true => self.operand(stage, &name, read, outside(read), cases),
                false => Source::Constant(0),
            })
            .collect_vec();
        if let Some(load) = copied_load(datapath) {
            // The selection itself is the result.
            let wire = match operands[load] {
                Source::Wire(wire) => wire,
                // All of it lies outside of the array.
                Source::Constant(word) => self.add_constant_wire(stage, word),
            };
            // A later copy or kernel has a selection of its own: the wire of this one is the result of the stage.
            self.selections.retain(|(_, other)| *other != wire);
            self.accelerator.copies.push(Copied { stage, load, selection: Some(wire) });
            self.wires.insert(Place { stage, delay: 0 }, wire);
            return;
        }
        let number = self.datapath(*operation);
        let used = self.accelerator.datapaths[number].variables.clone();
        let variables = used
            .iter()
            .map(|&(variable, _)| {
                let level = loops.len() - 1 - variable;
                let (of, lane) = (loops[variable], lanes[level]);
                let iterated = self.scheduled.extraction.pipeline.stages[stage].loops[level].extent > 1;
                let counted = iterated.then(|| self.counter_level(stage, level));
                Variable { level: counted, scale: of.unroll, offset: of.min + lane }
            })
            .collect_vec();
        let counter = variables.iter().any(|variable| variable.level.is_some()).then(|| self.counter(stage, 0));
        let iterations = self.iterations(stage, 0);
        let kernel = Kernel { name: name.clone(), stage, datapath: number, iterations, counter, operands, variables };
        let driver = Driver::Kernel { kernel: self.accelerator.kernels.push(kernel) };
        let wire = self.add_wire(name, driver);
        self.wires.insert(Place { stage, delay: 0 }, wire);
    }

    /// The datapath of an operation, which its copies share, and all operations of its unit.
    fn datapath(&mut self, operation: usize) -> DatapathId {
        let unit = self.scheduled.operations[operation].1.unit();
        let in_unit = |(_, other): &(Vec<&Loop>, &Operation)| unit.is_some() && other.unit() == unit;
        let operation = self.scheduled.operations.iter().position(in_unit).unwrap_or(operation);
        if let Some(&number) = self.datapath_of.get(&operation) {
            return number;
        }
        let content = self.scheduled.operations[operation].1;
        let datapath = self.scheduled.datapaths[operation].clone();
        let loops = &self.scheduled.operations[operation].0;
        let number = self.accelerator.datapaths.push(OperationDatapath {
            name: unit.unwrap_or(&content.name).to_owned(),
            operation,
            depth: loops.len(),
            variables: datapath
                .variables()
                .into_iter()
                .map(|number| (number, loops[number].variable.clone()))
                .collect(),
            datapath,
        });
        self.datapath_of.insert(operation, number);
        number
    }

    /// The source of a load.
    fn operand(&mut self, stage: usize, name: &str, read: usize, outside: i64, cases: &[TapCase]) -> Source {
        let source = |tap: Tap| match tap {
            Tap::Stage { producer, delay } => match at(&self.outcomes, producer, delay) {
                Outcome::At(place) => Source::Wire(self.wires[&place]),
                Outcome::Constant(word) => Source::Constant(word),
            },
            Tap::Outside => Source::Constant(outside as u16),
            Tap::Port { array, port } => Source::Wire(self.port_wires[&(array, port)]),
        };
        // Constants are the same whatever their delay.
        if let Ok(only) = cases.iter().map(|case| source(case.tap)).all_equal_value() {
            return only;
        }
        let cases = cases
            .iter()
            .map(|case| Case {
                conditions: case
                    .conditions
                    .iter()
                    .map(|&(level, condition)| {
                        (self.counter_level(stage, level), self.counted(stage, level, condition))
                    })
                    .collect(),
                source: source(case.tap),
            })
            .collect_vec();
        let counter = self.counter(stage, 0);
        let driver = Driver::Select { counter, cases };
        // Loads that select alike share the selection.
        if let Some((_, wire)) = self.selections.iter().find(|(other, _)| *other == driver) {
            return Source::Wire(*wire);
        }
        let wire = self.add_wire(format!("{name}_load_{read}"), driver.clone());
        self.selections.push((driver, wire));
        Source::Wire(wire)
    }
}
