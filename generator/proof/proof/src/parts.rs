//! The proof that the parts of an accelerator have the functions that their names state.
//!
//! The proof of provenance follows names: a kernel says which stage it executes, a selection that its counter is that of
//! the stage, a stage that it only copies. Here it is shown that the parts, as they are printed, agree with the names:
//! kernels have the datapath of their stage and its loop variables, streams come at the cycles of their stages, all outputs
//! go outside and all inputs come in, and the run is long enough for them. This comes first: references lead somewhere,
//! and nothing depends on itself within a cycle.

use std::collections::HashSet;

use pushmem_affine::Affine;
use pushmem_datapaths::{Datapath, NodeKind};
use pushmem_nest::{Program, Word};
use pushmem_stages::{Origin, Staged};
use pushmem_stages::{Schedule, Stage};

use crate::error::{PartError, require};
use crate::sequence::Sequence;
use crate::{counters, units};
use pushmem_graph::{
    Accelerator, Counter, CounterId, Driver, Kernel, Memories, Source, Stream, Tile, Turn, Variable, WireId,
};
use pushmem_tile::TileSpec;

/// The program and the results of the passes.
#[derive(Clone, Copy)]
pub(crate) struct Compilation<'a> {
    pub program: &'a Program,
    pub staged: Staged<'a>,
    pub schedule: &'a Schedule,
    /// The datapath of each operation.
    pub datapaths: &'a [Datapath],
    pub accelerator: &'a Accelerator,
}

/// Checks all parts but the memories.
///
/// # Errors
/// The first part that is wrong.
pub(crate) fn check(compilation: Compilation, sequence: &Sequence) -> Result<(), PartError> {
    let checker = Checker { compilation, sequence };
    checker.counters()?;
    checker.wires()?;
    checker.tiles()?;
    checker.delay_lines()?;
    checker.stages()?;
    checker.streams()?;
    checker.kernels()?;
    units::check(&checker)?;
    checker.copies_and_constants()?;
    checker.length()
}

pub(crate) struct Checker<'a> {
    compilation: Compilation<'a>,
    pub sequence: &'a Sequence<'a>,
}

impl Checker<'_> {
    pub fn accelerator(&self) -> &Accelerator {
        self.compilation.accelerator
    }

    /// The number of a stage's operation; nothing for inputs.
    pub fn operation(&self, stage: usize) -> Option<usize> {
        match self.compilation.staged.origins.get(stage)? {
            Origin::Input { .. } => None,
            Origin::Operation { operation, .. } => Some(*operation),
        }
    }

    /// A stage, and when it runs.
    pub fn timed(&self, stage: usize) -> (&Stage, &Affine) {
        let Compilation { staged, schedule, .. } = self.compilation;
        (&staged.pipeline.stages[stage], &schedule.stages[stage])
    }

    /// The loop of a stage that each level of a counter counts, as [`counters::counted`].
    pub fn counted(&self, counter: &Counter, stage: usize, late: u64) -> Option<Vec<usize>> {
        let (content, schedule) = self.timed(stage);
        counters::counted(counter, content, schedule, late)
    }

    fn stage_name(&self, stage: usize) -> &str {
        &self.compilation.staged.pipeline.stages[stage].name
    }

    fn counters(&self) -> Result<(), PartError> {
        self.accelerator().counters.iter().try_for_each(|counter| {
            require(
                counters::is_possible(counter),
                || format!("the loops of {}", counter.loops.join(", ")),
                "no such schedule",
            )
        })
    }

    /// Checks that the driver of each wire exists and comes before it, and that no two wires are one.
    fn wires(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let (mut outputs, mut kernels) = (HashSet::new(), HashSet::new());
        let is_condition = |counter: CounterId, (level, condition): &(usize, pushmem_graph::Condition)| {
            let extent = accelerator.counters.get(counter).and_then(|of| of.extent.get(*level));
            extent.is_some_and(|&extent| condition.is_within(extent))
        };
        for (number, wire) in accelerator.wires.iter_enumerated() {
            let before = |source: Source| match source {
                Source::Wire(of) => of < number,
                Source::Constant(_) => true,
            };
            let right = match &wire.driver {
                Driver::Input { stream, lane } => {
                    let lane = accelerator.inputs.get(*stream).and_then(|stream| stream.lanes.get(*lane));
                    lane.is_some_and(|lane| lane.wire == number)
                }
                Driver::ShiftRegister { of, length } => *of < number && *length > 0,
                Driver::Tile { tile, output } => {
                    let wires = accelerator.tiles.get(*tile).map(|tile| &tile.outputs);
                    let listed = wires.and_then(|wires| wires.get(*output)) == Some(&Some(number));
                    listed && outputs.insert((*tile, *output))
                }
                Driver::Kernel { kernel, word } => {
                    let found = accelerator.kernels.get(*kernel);
                    let of = found.and_then(|kernel| accelerator.datapaths.get(kernel.datapath));
                    // Behind a register, words may come back.
                    let right = |(operand, (load, _)): (Source, (usize, Word))| {
                        let late = of.is_some_and(|of| of.datapath.latency() > of.datapath.arrival(load));
                        before(operand) || (late && operand.wire().is_none_or(|wire| self.is_wire(wire)))
                    };
                    let in_order = |kernel: &Kernel| {
                        let loads = of.map_or(Vec::new(), |of| of.datapath.operands());
                        kernel.operands.len() == loads.len() && kernel.operands.iter().copied().zip(loads).all(right)
                    };
                    let has_word = of.is_some_and(|of| of.datapath.result_type().words().contains(word));
                    found.is_some_and(in_order) && has_word && kernels.insert((*kernel, *word))
                }
                Driver::Ram { ram, read } => {
                    let found = accelerator.rams.get(*ram);
                    let writes = found.map_or(&[] as &[_], |ram| ram.writes.as_slice());
                    let listed = found.and_then(|ram| ram.reads.get(*read)).map(|read| read.wire) == Some(number);
                    listed && writes.iter().all(|write| before(write.element) && before(write.address))
                }
                Driver::Turns { turns } => {
                    let right = |turn: &Turn| before(turn.source) && turn.counter.index() < accelerator.counters.len();
                    !turns.is_empty() && turns.iter().all(right)
                }
                Driver::Hold { of, counter, conditions } => {
                    let exists = *of < number && accelerator.counters.get(*counter).is_some();
                    exists && conditions.iter().all(|condition| is_condition(*counter, condition))
                }
                Driver::Select { counter, cases } => {
                    cases.last().is_some_and(|last| last.conditions.is_empty())
                        && cases.iter().all(|case| before(case.source))
                        && cases.iter().flat_map(|case| &case.conditions).all(|one| is_condition(*counter, one))
                }
            };
            require(right, || wire.name.clone(), "nothing drives it")?;
        }
        Ok(())
    }

    fn is_wire(&self, wire: WireId) -> bool {
        wire.index() < self.accelerator().wires.len()
    }

    /// Checks that the connections of tiles exist.
    fn tiles(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        for (number, tile) in accelerator.tiles.iter_enumerated() {
            let spec = &tile.spec;
            let outputs = tile.outputs.iter().enumerate();
            let right = self.is_specified(tile)
                && tile.inputs.len() == spec.inputs as usize
                && tile.outputs.len() == spec.outputs as usize
                && tile.inputs.iter().flatten().all(|&wire| self.is_wire(wire))
                && tile.chain_from.is_none_or(|other| other < number)
                && outputs.clone().all(|(output, wire)| {
                    let driver = Driver::Tile { tile: number, output };
                    wire.is_none_or(|wire| self.is_wire(wire) && accelerator.wires[wire].driver == driver)
                });
            require(right, || tile.name.clone(), "it is connected to what does not exist")?;
        }
        Ok(())
    }

    /// Whether a tile is of the target: the tile of its level, or a memory that is made for the program, of any rows.
    fn is_specified(&self, tile: &Tile) -> bool {
        let accelerator = self.accelerator();
        match accelerator.target.memories {
            Memories::Tiles => *tile.spec == *accelerator.spec_at(tile.level),
            Memories::Fixed => {
                let TileSpec { name, rows, .. } = &*tile.spec;
                *tile.spec == TileSpec { name: name.clone(), rows: *rows, ..accelerator.target.memory().clone() }
            }
        }
    }

    /// Checks that delay lines are shift registers of their lengths, each in one.
    fn delay_lines(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let mut known = HashSet::new();
        for line in &accelerator.delay_lines {
            let is_of_line = |wire: &WireId| match accelerator.wires.get(*wire).map(|wire| &wire.driver) {
                Some(Driver::ShiftRegister { length, .. }) => *length == line.length && known.insert(*wire),
                _ => false,
            };
            let right = !line.wires.is_empty() && line.wires.iter().all(is_of_line);
            require(right, || format!("the delay line of {} cycles", line.length), "it has other words")?;
        }
        Ok(())
    }

    /// Checks that every stage is there once: as an input, a kernel, a copy or a constant.
    fn stages(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let origins = &self.compilation.staged.origins;
        let inputs = accelerator.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| {
            let words = self.words(lane.stage).len() as i64;
            (lane.stage, lane.element.start.rem_euclid(words) as usize, true)
        });
        let all = |stage: usize| (0..self.words(stage).len()).map(move |word| (stage, word, false));
        let kernels = accelerator.kernels.iter().map(|kernel| kernel.stage);
        let copies = accelerator.copies.iter().map(|copy| copy.stage);
        let constants = accelerator.constants.iter().map(|constant| constant.stage);
        let mut found: Vec<Vec<bool>> = (0..origins.len()).map(|stage| vec![false; self.words(stage).len()]).collect();
        for (stage, word, is_input) in inputs.chain(kernels.chain(copies).chain(constants).flat_map(all)) {
            let fits = origins.get(stage).map(|origin| matches!(origin, Origin::Input { .. })) == Some(is_input);
            let first = fits && !std::mem::replace(&mut found[stage][word], true);
            require(first, || format!("stage {stage}"), "it is there twice, or as what it is not")?;
        }
        match found.iter().position(|found| found.contains(&false)) {
            Some(missing) => require(false, || self.stage_name(missing).to_owned(), "nothing executes it"),
            None => Ok(()),
        }
    }

    /// The words of the results of a stage.
    fn words(&self, stage: usize) -> &'static [Word] {
        let Compilation { program, staged, .. } = self.compilation;
        let array = staged.pipeline.stages.get(stage).and_then(|stage| program.arrays.get(stage.write.array));
        array.map_or(&[Word::Low], |array| array.written().words())
    }

    fn streams(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        for (number, stream) in accelerator.inputs.iter_enumerated() {
            self.stream(stream)?;
            let mut lanes = stream.lanes.iter().enumerate();
            let right = lanes.all(|(lane, of)| {
                accelerator.wires.get(of.wire).map(|wire| &wire.driver) == Some(&Driver::Input { stream: number, lane })
            });
            require(right, || stream.name.clone(), "its words do not go to their wires")?;
        }
        for stream in &accelerator.outputs {
            self.stream(stream)?;
            let exist = stream.lanes.iter().all(|lane| self.is_wire(lane.wire));
            require(exist, || stream.name.clone(), "it gives words of wires that do not exist")?;
        }
        Ok(())
    }

    /// Checks that a stream is of its array, and comes when its stages have their results.
    fn stream(&self, stream: &Stream) -> Result<(), PartError> {
        let Compilation { program, staged, accelerator, .. } = self.compilation;
        let counter = accelerator.counters.get(stream.counter);
        let right = stream.lanes.iter().all(|lane| {
            staged.pipeline.stages.get(lane.stage).is_some_and(|stage| {
                let counts = |of: &Counter| self.counted(of, lane.stage, stage.latency).is_some();
                stage.write.array == stream.array
                    && counter.is_some_and(|of| counts(of) && lane.element.stride.len() == of.extent.len())
            })
        });
        let typed = program.arrays.get(stream.array).is_some_and(|array| array.element == stream.element);
        require(right && typed, || stream.name.clone(), "its beats are not the results of its stages")
    }

    fn kernels(&self) -> Result<(), PartError> {
        for (number, of) in self.accelerator().datapaths.iter().enumerate() {
            let right = self.sequence.operations.get(of.operation).is_some_and(|(loops, _)| {
                let variables = of.variables.iter().map(|(variable, _)| *variable);
                self.compilation.datapaths[of.operation] == of.datapath
                    && of.depth == loops.len()
                    && variables.eq(of.datapath.variables())
            });
            require(right, || of.name.clone(), "its datapath is not that of the operation")?;
            let same = |other: &pushmem_graph::OperationDatapath| other.operation == of.operation;
            let first = self.accelerator().datapaths.iter().position(same) == Some(number);
            require(first, || of.name.clone(), "an operation has one datapath")?;
        }
        self.accelerator().kernels.iter().try_for_each(|kernel| {
            require(self.is_of_its_stage(kernel), || kernel.name.clone(), "it does not execute its stage")
        })
    }

    /// Whether two operations share a unit, and have the same datapath.
    fn share_unit(&self, one: usize, other: usize) -> bool {
        let unit = |of: usize| self.sequence.operations[of].1.unit();
        let datapath = |of: usize| self.compilation.datapaths.get(of);
        unit(one).is_some() && unit(one) == unit(other) && datapath(one) == datapath(other)
    }

    /// Whether a kernel has the datapath of its stage, an operand for each of its loads, and its loop variables.
    fn is_of_its_stage(&self, kernel: &Kernel) -> bool {
        let Compilation { program, staged, accelerator, .. } = self.compilation;
        let Origin::Operation { operation, lanes } = &staged.origins[kernel.stage] else { return false };
        let Some(of) = accelerator.datapaths.get(kernel.datapath) else { return false };
        let stage = &staged.pipeline.stages[kernel.stage];
        let loops = &self.sequence.operations[*operation].0;
        // Where nothing is counted, only the value at index 0 is used.
        let counter = kernel.counter.map(|counter| accelerator.counters.get(counter));
        let counted = counter.map(|counter| self.counted(counter?, kernel.stage, 0));
        let steps = self.counted(&kernel.iterations, kernel.stage, 0).is_some() && counted != Some(None);
        let counted = counted.flatten();
        let right = |(&(number, _), variable): (&(usize, String), &Variable)| {
            counters::follows(variable, number, (loops, stage, lanes), counted.as_deref())
        };
        (of.operation == *operation || self.share_unit(of.operation, *operation))
            && stage.latency == of.datapath.latency()
            && of.datapath.loads().len() == stage.reads.len()
            && of.datapath.loads().iter().zip(&stage.reads).all(|(of, read)| program.arrays[read.array].element == *of)
            && kernel.operands.len() == of.datapath.operands().len()
            && of.datapath.result_type() == program.arrays[stage.write.array].written()
            && kernel.variables.len() == of.variables.len()
            && steps
            && of.variables.iter().zip(&kernel.variables).all(right)
    }

    /// Whether a wire selects a load or reads it from a memory.
    fn is_selection(&self, wire: WireId) -> bool {
        let driver = self.accelerator().wires.get(wire).map(|wire| &wire.driver);
        matches!(driver, Some(Driver::Select { .. } | Driver::Tile { .. }))
    }

    /// Checks that stages without a kernel need none.
    fn copies_and_constants(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        for copy in &accelerator.copies {
            let each = copy.selections.is_empty() || copy.selections.len() == self.words(copy.stage).len();
            let right = each
                && copy.selections.iter().all(|&wire| self.is_selection(wire))
                && self.datapath(copy.stage).is_some_and(|datapath| {
                    let result = datapath.nodes()[datapath.result()].kind;
                    result == NodeKind::Load(copy.load) && datapath.latency() == self.latency(copy.stage)
                });
            require(right, || self.stage_name(copy.stage).to_owned(), "it does not only pass on this load")?;
        }
        for constant in &accelerator.constants {
            let always = self.datapath(constant.stage).and_then(|datapath| datapath.constant());
            let right = always.is_some_and(|number| {
                let mut words = self.words(constant.stage).iter();
                words.all(|word| word.of(number) == word.of(i64::from(constant.bits)))
            });
            require(right, || self.stage_name(constant.stage).to_owned(), "its result is not always this word")?;
        }
        Ok(())
    }

    /// The datapath of a stage that is no input.
    fn datapath(&self, stage: usize) -> Option<&Datapath> {
        match &self.compilation.staged.origins[stage] {
            Origin::Input { .. } => None,
            Origin::Operation { operation, .. } => self.compilation.datapaths.get(*operation),
        }
    }

    fn latency(&self, stage: usize) -> u64 {
        self.compilation.staged.pipeline.stages[stage].latency
    }

    /// Checks that a run ends with the last output.
    fn length(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let last = accelerator.outputs.iter().map(|stream| accelerator.counters[stream.counter].last() + 1).max();
        let right = i128::from(accelerator.length) == i128::from(last.unwrap_or(0));
        require(right, || accelerator.name.clone(), "its run does not end with the last output")
    }
}
