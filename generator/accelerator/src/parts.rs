//! The proof that the parts of an accelerator are what they are said to be.
//!
//! The proof of provenance follows names: a kernel says which stage it executes, a selection that its counter is that of
//! the stage, a stage that it only copies. Here it is shown that the parts, as they are printed, are what the names say:
//! kernels have the datapath of their stage and its loop variables, streams come at the cycles of their stages, all outputs
//! go outside and all inputs come in, and the run is long enough for them. This comes first: references lead somewhere,
//! and nothing depends on itself within a cycle.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_extraction::{Extraction, Origin};
use pushmem_kernels::{Datapath, NodeKind};
use pushmem_nest::{Operation, Program};
use pushmem_schedule::{Schedule, coincide};

use crate::accelerator::{
    Accelerator, Counter, Driver, Kernel, SharedUnit, Source, Stream, Turn, Variable, WireId, counted_levels,
};
use crate::error::{PartError, require};
use crate::outputs::final_stages;
use crate::units::kernels_in_turn;

/// The program and what was made of it.
#[derive(Clone, Copy)]
pub(crate) struct Compilation<'a> {
    pub program: &'a Program,
    pub extraction: &'a Extraction,
    pub schedule: &'a Schedule,
    /// The datapath of each operation.
    pub datapaths: &'a [Datapath],
    pub accelerator: &'a Accelerator,
}

impl Counter {
    /// Whether it counts the loops of a stage, its steps some cycles late. Loops of one iteration are left out.
    pub(crate) fn counts(&self, extraction: &Extraction, schedule: &Schedule, stage: usize, late: u64) -> bool {
        let (content, scheduled) = (&extraction.pipeline.stages[stage], &schedule.stages[stage]);
        let levels = counted_levels(content, scheduled);
        let extents = levels.iter().map(|&level| &content.loops[level].extent);
        let strides = levels.iter().map(|&level| &scheduled.stride[level]);
        self.cycle.start == scheduled.first(content) + late as i64
            && self.extent.iter().eq(extents)
            && self.cycle.stride.iter().eq(strides)
    }

    /// Whether hardware can follow it: it begins in the run, and each iteration comes after the one before.
    fn is_possible(&self) -> bool {
        self.extent.len() == self.cycle.stride.len()
            && self.extent.len() == self.loops.len()
            && self.extent.iter().all(|&extent| extent > 0)
            && self.cycle.start >= 0
            && self.gaps().iter().all(|&gap| gap > 0)
    }
}

/// Checks all parts but the memories.
///
/// # Errors
/// The first part that is wrong.
pub(crate) fn check(compilation: Compilation) -> Result<(), PartError> {
    let checker = Checker { operations: compilation.program.operations(), compilation };
    checker.counters()?;
    checker.wires()?;
    checker.tiles()?;
    checker.stages()?;
    checker.streams()?;
    checker.kernels()?;
    checker.units()?;
    checker.copies_and_constants()?;
    checker.length()
}

struct Checker<'a> {
    compilation: Compilation<'a>,
    operations: Vec<(Vec<&'a pushmem_nest::Loop>, &'a Operation)>,
}

impl Checker<'_> {
    fn accelerator(&self) -> &Accelerator {
        self.compilation.accelerator
    }

    fn stage_name(&self, stage: usize) -> &str {
        &self.compilation.extraction.pipeline.stages[stage].name
    }

    fn counters(&self) -> Result<(), PartError> {
        self.accelerator().counters.iter().try_for_each(|counter| {
            require(counter.is_possible(), || format!("the loops of {}", counter.loops.join(", ")), "no such schedule")
        })
    }

    /// Checks that what drives each wire exists and comes before it, and that no two wires are one.
    fn wires(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let mut only = HashSet::new();
        for (number, wire) in accelerator.wires.iter().enumerate() {
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
                    listed && only.insert((true, *tile, *output))
                }
                Driver::Kernel { kernel } => {
                    let operands = accelerator.kernels.get(*kernel).map(|kernel| &kernel.operands);
                    operands.is_some_and(|operands| operands.iter().all(|&operand| before(operand)))
                        && only.insert((false, *kernel, 0))
                }
                Driver::Turns { turns } => {
                    let right = |turn: &Turn| before(turn.source) && turn.counter < accelerator.counters.len();
                    !turns.is_empty() && turns.iter().all(right)
                }
                Driver::Select { counter, cases } => {
                    let is_condition = |(level, condition): &(usize, crate::Condition)| {
                        let extent = accelerator.counters.get(*counter).and_then(|of| of.extent.get(*level));
                        extent.is_some_and(|&extent| condition.is_within(extent))
                    };
                    cases.last().is_some_and(|last| last.conditions.is_empty())
                        && cases.iter().all(|case| before(case.source))
                        && cases.iter().flat_map(|case| &case.conditions).all(is_condition)
                }
            };
            require(right, || wire.name.clone(), "nothing drives it")?;
        }
        Ok(())
    }

    fn is_wire(&self, wire: WireId) -> bool {
        wire < self.accelerator().wires.len()
    }

    /// Checks that tiles are connected to what exists.
    fn tiles(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        for (number, tile) in accelerator.tiles.iter().enumerate() {
            let spec = accelerator.spec_at(tile.level);
            let outputs = tile.outputs.iter().enumerate();
            let right = tile.inputs.len() == spec.inputs as usize
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

    /// Checks that every stage is there once: as an input, a kernel, a copy or a constant.
    fn stages(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let origins = &self.compilation.extraction.origins;
        let inputs = accelerator.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| (lane.stage, true));
        let kernels = accelerator.kernels.iter().map(|kernel| (kernel.stage, false));
        let copies = accelerator.copies.iter().map(|copy| (copy.stage, false));
        let constants = accelerator.constants.iter().map(|constant| (constant.stage, false));
        let mut found = vec![false; origins.len()];
        for (stage, is_input) in inputs.chain(kernels).chain(copies).chain(constants) {
            let fits = origins.get(stage).map(|origin| matches!(origin, Origin::Input { .. })) == Some(is_input);
            let first = fits && !std::mem::replace(&mut found[stage], true);
            require(first, || format!("stage {stage}"), "it is there twice, or as what it is not")?;
        }
        match found.iter().position(|found| !found) {
            Some(missing) => require(false, || self.stage_name(missing).to_owned(), "nothing executes it"),
            None => Ok(()),
        }
    }

    fn streams(&self) -> Result<(), PartError> {
        let Compilation { program, extraction, accelerator, .. } = self.compilation;
        for (number, stream) in accelerator.inputs.iter().enumerate() {
            self.stream(stream)?;
            let mut lanes = stream.lanes.iter().enumerate();
            let right = lanes.all(|(lane, of)| {
                accelerator.wires.get(of.wire).map(|wire| &wire.driver) == Some(&Driver::Input { stream: number, lane })
            });
            require(right, || stream.name.clone(), "its words do not go to their wires")?;
        }
        let mut stages_of = vec![Vec::new(); program.arrays.len()];
        for stream in &accelerator.outputs {
            self.stream(stream)?;
            let exist = stream.lanes.iter().all(|lane| self.is_wire(lane.wire));
            require(exist, || stream.name.clone(), "it gives words of wires that do not exist")?;
            stages_of[stream.array].extend(stream.lanes.iter().map(|lane| lane.stage));
        }
        let finals = final_stages(program, extraction).unwrap_or_default();
        for (array, stages) in stages_of.iter_mut().enumerate() {
            stages.sort_unstable();
            let right =
                finals.get(&array).map_or(&[][..], |stages| stages.as_slice()).iter().sorted().eq(stages.iter());
            require(right, || program.arrays[array].name.clone(), "its streams are not of all elements")?;
        }
        Ok(())
    }

    /// Checks that a stream is of its array, and comes when its stages have their results.
    fn stream(&self, stream: &Stream) -> Result<(), PartError> {
        let Compilation { program, extraction, schedule, accelerator, .. } = self.compilation;
        let counter = accelerator.counters.get(stream.counter);
        let right = stream.lanes.iter().all(|lane| {
            extraction.pipeline.stages.get(lane.stage).is_some_and(|stage| {
                let counts = |of: &Counter| of.counts(extraction, schedule, lane.stage, stage.latency);
                stage.write.array == stream.array
                    && counter.is_some_and(|of| counts(of) && lane.element.stride.len() == of.extent.len())
            })
        });
        let typed = program.arrays.get(stream.array).is_some_and(|array| array.element == stream.element);
        require(right && typed, || stream.name.clone(), "its beats are not the results of its stages")
    }

    fn kernels(&self) -> Result<(), PartError> {
        for (number, of) in self.accelerator().datapaths.iter().enumerate() {
            let right = self.operations.get(of.operation).is_some_and(|(loops, _)| {
                let variables = of.variables.iter().map(|(variable, _)| *variable);
                self.compilation.datapaths[of.operation] == of.datapath
                    && of.depth == loops.len()
                    && variables.eq(of.datapath.variables())
            });
            require(right, || of.name.clone(), "its datapath is not that of the operation")?;
            let same = |other: &crate::OperationDatapath| other.operation == of.operation;
            let first = self.accelerator().datapaths.iter().position(same) == Some(number);
            require(first, || of.name.clone(), "an operation has one datapath")?;
        }
        self.accelerator().kernels.iter().try_for_each(|kernel| {
            require(self.is_of_its_stage(kernel), || kernel.name.clone(), "it does not execute its stage")
        })
    }

    /// Whether two operations share a unit, and have the same datapath.
    fn share_unit(&self, one: usize, other: usize) -> bool {
        let unit = |of: usize| self.operations[of].1.unit();
        let datapath = |of: usize| self.compilation.datapaths.get(of);
        unit(one).is_some() && unit(one) == unit(other) && datapath(one) == datapath(other)
    }

    /// Checks that kernels that have an instance in turn may, and that it takes the words of each in its turn.
    fn units(&self) -> Result<(), PartError> {
        let Compilation { extraction, accelerator, .. } = self.compilation;
        let wanted = kernels_in_turn(&self.operations, extraction, &accelerator.kernels);
        let found = accelerator.units.iter().map(|unit| &unit.kernels);
        let right = found.eq(wanted.iter().map(|(_, kernels)| kernels));
        require(right, || accelerator.name.clone(), "its units are not of the operations that share them")?;
        for unit in &accelerator.units {
            let name = || unit.name.clone();
            require(self.counts_loops(unit), name, "it looks at the loops of other kernels")?;
            require(self.is_one_datapath(unit), name, "its kernels are not the same hardware")?;
            let loads = accelerator.kernels[unit.kernels[0]].operands.len();
            let right = unit.operands.len() == loads && (0..loads).all(|load| self.takes_turns(unit, load));
            require(right, name, "it takes other words than its kernels")?;
            require(self.is_for_one_at_a_time(unit), name, "two of its kernels begin an iteration in the same cycle")?;
        }
        Ok(())
    }

    /// Whether the kernels of a unit have one datapath, of which nothing but loads is different.
    fn is_one_datapath(&self, unit: &SharedUnit) -> bool {
        let Accelerator { kernels, datapaths, .. } = self.accelerator();
        let number = kernels[unit.kernels[0]].datapath;
        let same = unit.kernels.iter().all(|&kernel| kernels[kernel].datapath == number);
        let of = &datapaths[number];
        same && of.variables.is_empty() && of.datapath.fetches().is_empty() && of.datapath.latency() > 0
    }

    /// Whether the counters of a unit step when its kernels begin an iteration.
    fn counts_loops(&self, unit: &SharedUnit) -> bool {
        let Compilation { extraction, schedule, accelerator, .. } = self.compilation;
        let counts = |(&counter, &kernel): (&usize, &usize)| {
            let counter = accelerator.counters.get(counter);
            counter.is_some_and(|of| of.counts(extraction, schedule, accelerator.kernels[kernel].stage, 0))
        };
        unit.counters.len() == unit.kernels.len() && unit.counters.iter().zip(&unit.kernels).all(counts)
    }

    /// Whether a load of a unit takes what each of its kernels takes, when the kernel begins an iteration.
    fn takes_turns(&self, unit: &SharedUnit, load: usize) -> bool {
        let accelerator = self.accelerator();
        let kernels = || unit.kernels.iter().map(|&kernel| &accelerator.kernels[kernel]);
        let wanted = unit.operands[load];
        if kernels().all(|kernel| kernel.operands[load] == wanted) {
            return true;
        }
        let Source::Wire(wire) = wanted else { return false };
        let Some(Driver::Turns { turns }) = accelerator.wires.get(wire).map(|wire| &wire.driver) else { return false };
        let expected =
            kernels().zip(&unit.counters).map(|(kernel, &counter)| Turn { counter, source: kernel.operands[load] });
        turns.iter().copied().eq(expected)
    }

    /// Whether no two kernels of a unit begin an iteration in the same cycle.
    fn is_for_one_at_a_time(&self, unit: &SharedUnit) -> bool {
        let Compilation { extraction, schedule, accelerator, .. } = self.compilation;
        let timed = |&kernel: &usize| {
            let stage = accelerator.kernels[kernel].stage;
            (&extraction.pipeline.stages[stage], &schedule.stages[stage])
        };
        unit.kernels.iter().map(timed).array_combinations().all(|[one, other]| !coincide(one, other, 0))
    }

    /// Whether a kernel has the datapath of its stage, an operand for each of its loads, and its loop variables.
    fn is_of_its_stage(&self, kernel: &Kernel) -> bool {
        let Compilation { extraction, schedule, accelerator, .. } = self.compilation;
        let Origin::Operation { operation, lanes } = &extraction.origins[kernel.stage] else { return false };
        let Some(of) = accelerator.datapaths.get(kernel.datapath) else { return false };
        let stage = &extraction.pipeline.stages[kernel.stage];
        let loops = &self.operations[*operation].0;
        let counted = counted_levels(stage, &schedule.stages[kernel.stage]);
        // Where nothing is counted, only the value at index 0 is used.
        let counter = kernel.counter.map(|counter| accelerator.counters.get(counter));
        let steps = kernel.iterations.counts(extraction, schedule, kernel.stage, 0)
            && counter.is_none_or(|counter| {
                counter.is_some_and(|counter| counter.counts(extraction, schedule, kernel.stage, 0))
            });
        let right = |(&(number, _), variable): (&(usize, String), &Variable)| {
            let level = loops.len() - 1 - number;
            let of = loops[number];
            let iterated = stage.loops[level].extent > 1;
            let place = counted.iter().position(|&other| other == level);
            let follows = match (kernel.counter, variable.level) {
                (Some(_), Some(level)) => iterated && Some(level) == place && variable.scale == of.unroll,
                _ => !iterated,
            };
            follows && stage.loops[level].min == 0 && variable.offset == of.min + lanes[level]
        };
        (of.operation == *operation || self.share_unit(of.operation, *operation))
            && stage.latency == of.datapath.latency()
            && kernel.operands.len() == stage.reads.len()
            && kernel.operands.len() == of.datapath.loads().len()
            && kernel.variables.len() == of.variables.len()
            && steps
            && of.variables.iter().zip(&kernel.variables).all(right)
    }

    /// Whether a wire is what selects a load or reads it from a memory.
    fn is_selection(&self, wire: WireId) -> bool {
        let driver = self.accelerator().wires.get(wire).map(|wire| &wire.driver);
        matches!(driver, Some(Driver::Select { .. } | Driver::Tile { .. }))
    }

    /// Checks that stages without a kernel need none.
    fn copies_and_constants(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        for copy in &accelerator.copies {
            let right = copy.selection.is_none_or(|wire| self.is_selection(wire))
                && self.datapath(copy.stage).is_some_and(|datapath| {
                    let result = datapath.nodes()[datapath.result()].kind;
                    result == NodeKind::Load(copy.load) && datapath.latency() == self.latency(copy.stage)
                });
            require(right, || self.stage_name(copy.stage).to_owned(), "it does not only pass on this load")?;
        }
        for constant in &accelerator.constants {
            let always = self.datapath(constant.stage).and_then(|datapath| datapath.constant());
            let right = always.map(|number| number as u16) == Some(constant.word);
            require(right, || self.stage_name(constant.stage).to_owned(), "its result is not always this word")?;
        }
        Ok(())
    }

    /// The datapath of a stage that is no input.
    fn datapath(&self, stage: usize) -> Option<&Datapath> {
        match &self.compilation.extraction.origins[stage] {
            Origin::Input { .. } => None,
            Origin::Operation { operation, .. } => self.compilation.datapaths.get(*operation),
        }
    }

    fn latency(&self, stage: usize) -> u64 {
        self.compilation.extraction.pipeline.stages[stage].latency
    }

    /// Checks that a run ends with the last output.
    fn length(&self) -> Result<(), PartError> {
        let accelerator = self.accelerator();
        let last = accelerator.outputs.iter().map(|stream| accelerator.counters[stream.counter].last() + 1).max();
        let right = i128::from(accelerator.length) == i128::from(last.unwrap_or(0));
        require(right, || accelerator.name.clone(), "its run does not end with the last output")
    }
}
