//! A form of a program for some hardware, with its stages: all that schedules of it have in common.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_assembly::{Constraints, Delivery, LOAD, Shortage, Tiles, Unserved, Waits, check_inputs};
use pushmem_datapaths::{Datapath, TableMemories};
use pushmem_extraction::{Extraction, Origin, diagnose, extract};
use pushmem_files::Diagnostic;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Level, Program};
use pushmem_proof::prove_rewritten;
use pushmem_rewriting::with_copies;
use pushmem_schedule::{Coarse, CoarseOptions, Options, Schedule, ScheduleError, Transport, coarse};
use pushmem_tile::{Kind, TileSpec, timing};

use crate::accumulators::with_complete_outputs;
use crate::compute_sharing;
use crate::error::CompileError;
use crate::recurrences::Recurrences;

/// The hardware that programs are compiled for.
#[derive(Clone, Copy)]
pub(crate) struct Hardware<'a> {
    pub tiles: Tiles<'a>,
    pub constraints: &'a Constraints,
    pub delivery: Delivery,
}

/// A form of a program.
#[derive(Clone)]
pub(crate) struct Form {
    pub program: Program,
    /// Its differences from the program, in words of reports.
    pub changes: Vec<&'static str>,
    /// Whether lanes load their words one after the other, which takes fewer tiles.
    pub loads_serially: bool,
}

/// A coarse pipeline, or why there is none.
pub(crate) type Scheduled = Rc<Result<Coarse, ScheduleError>>;

/// A form of a program whose arrays are at levels of the memory hierarchy, with its stages.
pub(crate) struct Stages<'a> {
    pub hardware: Hardware<'a>,
    /// The form, without the copies between levels.
    pub form: Form,
    pub program: Program,
    pub extraction: Extraction,
    pub datapaths: Vec<Datapath>,
    /// By operation, the loads of results of earlier iterations.
    pub recurrent: Vec<BTreeSet<usize>>,
    /// The coarse pipelines that were scheduled.
    pipelines: RefCell<Vec<(CoarseOptions, Scheduled)>>,
}

impl<'a> Stages<'a> {
    /// The stages of a form.
    ///
    /// # Errors
    /// When a level has no tile for elements, or operations have no datapath or no stages; a fault when the copies between levels are not
    /// the form.
    pub fn of(form: Form, hardware: Hardware<'a>) -> Result<Self, CompileError> {
        let target = hardware.tiles.target;
        let complete = with_complete_outputs(form.program.clone());
        let (program, witness) = with_copies(complete.clone());
        if program != complete {
            prove_rewritten(&complete, &program, &witness).map_err(|error| CompileError::wrong(&error))?;
        }
        check_levels(&program, target)?;
        let recurrences = Recurrences::of(&program);
        let datapaths = datapaths(&program, &recurrences, hardware)?;
        compute_sharing::check(&program, &datapaths)?;
        let extraction = extract(&program, |operation| datapaths[operation].latency());
        let extraction = extraction.map_err(|refused| match refused.array {
            Some(array) => CompileError::unordered(refused.diagnostic, &program, &program.arrays[array].name),
            None => refused.diagnostic.into(),
        })?;
        let (recurrent, pipelines) = (recurrences.loads, RefCell::default());
        Ok(Stages { hardware, form, program, extraction, datapaths, recurrent, pipelines })
    }

    /// The same with the array for which memory is short in the global buffer, if it is too large for memory tiles, or these are too few.
    pub fn with_moved(&self, short: &Shortage) -> Option<Result<Self, CompileError>> {
        let target = self.hardware.tiles.target;
        let array = short.array().filter(|_| target.at(Level::GlobalBuffer).is_some())?;
        let declared = self.form.program.arrays.get(array).filter(|declared| declared.level.is_none())?;
        let is_large = declared.size() as u64 > target.memory().largest_memory();
        (is_large || matches!(short, Shortage::Tiles { .. })).then(|| {
            let mut form = self.form.clone();
            form.program.arrays[array].level = Some(Level::GlobalBuffer);
            Stages::of(form, self.hardware)
        })
    }

    /// Checks that tiles have inputs for the words of coarse pipelines, which no schedule changes.
    ///
    /// # Errors
    /// The first array whose tile has too few.
    pub fn check_inputs(&self) -> Result<(), Shortage> {
        check_inputs(&self.program, &self.extraction, &self.datapaths, self.hardware.tiles.target)
    }

    /// The cycles of a schedule.
    pub fn cycles(&self, schedule: &Schedule) -> u64 {
        schedule.length(&self.extraction.pipeline) as u64
    }

    /// The reads whose words wait.
    pub fn waits(&self) -> Waits {
        Waits::of(&self.program, &self.extraction, &self.datapaths, self.hardware.delivery)
    }

    /// A schedule that there is none of, as an error of the program.
    pub fn refused(&self, error: &ScheduleError) -> Unserved {
        let refused = Box::new(diagnose(&self.program, &self.extraction, error));
        match error.out_of_order() {
            Some(array) => Unserved::Order { array: array.to_owned(), refused },
            None => Unserved::Program(refused),
        }
    }

    /// The coarse pipeline with these options.
    pub fn pipeline(&self, options: &CoarseOptions) -> Scheduled {
        let known = self.pipelines.borrow().iter().find(|(other, _)| other == options).map(|(_, known)| known.clone());
        known.unwrap_or_else(|| {
            let scheduled = Rc::new(coarse(&self.extraction.pipeline, options));
            self.pipelines.borrow_mut().push((options.clone(), scheduled.clone()));
            scheduled
        })
    }

    /// The cycles of the coarse pipeline with these options, if there is one.
    pub fn length(&self, options: &CoarseOptions) -> Option<u64> {
        Result::as_ref(&self.pipeline(options)).ok().map(|coarse| self.cycles(&coarse.schedule))
    }

    /// Coarse pipelines whose nests run densely, with stages that overlap those that they read from or follow them, the shorter first. As a
    /// rule stages that overlap end sooner; but they may keep ports busy for longer.
    pub fn dense(&self, options: &CoarseOptions) -> Vec<CoarseOptions> {
        let both = [true, false].map(|overlap| CoarseOptions { overlap, ..options.clone() });
        both.into_iter().sorted_by_key(|options| self.length(options).unwrap_or(0)).collect()
    }

    /// The options of a pipeline whose rows follow the rate of the slowest nest, if there are such rows.
    pub fn with_rates(&self, options: &CoarseOptions) -> Option<CoarseOptions> {
        let options = CoarseOptions { overlap: true, match_rates: true, ..options.clone() };
        let matches = Result::as_ref(&self.pipeline(&options)).is_ok_and(Coarse::matches_rates);
        matches.then_some(options)
    }

    /// Whether arrays have more than two versions in a pipeline, which balance its paths.
    pub fn balances(&self, options: &CoarseOptions) -> bool {
        let has_versions = |coarse: &Coarse| coarse.loops.iter().any(|level| !level.versions.is_empty());
        self.dense(options).iter().any(|options| Result::as_ref(&self.pipeline(options)).is_ok_and(has_versions))
    }

    /// Whether two pipelines are scheduled in different ways.
    pub fn differ(&self, one: &CoarseOptions, other: &CoarseOptions) -> bool {
        let schedule = |options: &CoarseOptions| {
            Result::as_ref(&self.pipeline(options)).ok().map(|coarse| coarse.schedule.clone())
        };
        schedule(one) != schedule(other)
    }

    /// The options of the fastest coarse pipeline: capabilities of the memory tiles, and of the other levels for the arrays that are there.
    pub fn coarse_options(&self) -> CoarseOptions {
        let Hardware { tiles, constraints, .. } = self.hardware;
        let mut options = coarse_options(tiles.target.memory());
        options.transport = self.transport();
        options.share = compute_sharing::units(&self.program, &self.extraction);
        options.balance_paths = constraints.balance_paths;
        for (number, array) in self.program.arrays.iter().enumerate() {
            if array.random_access {
                options.ports_of.insert(number, (1, 1));
                options.random_access.insert(number);
            }
            let level = array.level.filter(|level| *level != Level::Memory);
            if let Some(spec) = level.and_then(|level| tiles.target.at(level)) {
                let own = coarse_options(spec);
                options.ports_of.insert(number, (own.write_ports, own.read_ports));
                options.round_trip = options.round_trip.max(own.round_trip);
            }
        }
        options
    }

    /// Options of a raster scan in which these words wait: reads come as late as registers and memories need, and words that
    /// stay there to the end may come as early as they like.
    pub fn scan_options(&self, waits: &Waits) -> Options {
        let pipeline = &self.extraction.pipeline;
        let target = self.hardware.tiles.target;
        let mut transport = self.transport();
        let mut free_to_wait = waits.memories.union(&waits.each).copied().collect::<BTreeSet<_>>();
        let access = |stage: usize, read: usize| &pipeline.stages[stage].reads[read];
        for &(stage, read) in waits.registers.union(&waits.each) {
            transport.set_operand(stage, read, transport.operand(stage, read) + LOAD);
            if access(stage, read).subscripts.iter().all(|subscript| subscript.single_loop() == Ok(None)) {
                free_to_wait.insert((stage, read));
            }
        }
        for &(stage, read) in &waits.memories {
            let level = self.program.arrays[access(stage, read).array].level.unwrap_or(Level::Memory);
            let spec = target.at(level).unwrap_or_else(|| target.memory());
            transport.set_operand(stage, read, transport.operand(stage, read) + coarse_options(spec).round_trip);
        }
        let share = compute_sharing::units(&self.program, &self.extraction);
        Options { share, transport, free_to_wait, ..Options::default() }
    }

    /// The stages that write an array, and whose kernels contain the way of their results.
    fn writers_with_ways(&self, array: usize) -> impl Iterator<Item = usize> {
        let stages = self.extraction.pipeline.stages.iter().zip(&self.extraction.origins).enumerate();
        let has_way = |origin: &Origin| origin.operation().is_some_and(|number| !self.recurrent[number].is_empty());
        stages
            .filter(move |(_, (stage, origin))| stage.write.array == array && has_way(origin))
            .map(|(number, _)| number)
    }

    /// The way of words from stage to stage, and the latencies of operands.
    fn transport(&self) -> Transport {
        let distance = self.hardware.delivery.transport;
        let mut transport = Transport::uniform(distance);
        let operations = self.program.operations();
        for (stage, origin) in self.extraction.origins.iter().enumerate() {
            let Some(operation) = origin.operation() else { continue };
            for (read, access) in self.extraction.pipeline.stages[stage].reads.iter().enumerate() {
                let datapath = &self.datapaths[operation];
                if datapath.operand_latency(read) > 0 {
                    transport.set_operand(stage, read, datapath.operand_latency(read));
                }
                if datapath.arrival(read) > 0 {
                    transport.set_arrival(stage, read, datapath.arrival(read));
                }
                // The kernels of results that come back have their ways already.
                let loads = operations[operation].1.loads.len().max(1);
                if distance > 0 && self.recurrent[operation].contains(&(read % loads)) {
                    self.writers_with_ways(access.array).for_each(|producer| transport.set(producer, stage, 0));
                }
            }
        }
        transport
    }
}

/// The datapath of each operation.
fn datapaths(program: &Program, recurrences: &Recurrences, hardware: Hardware) -> Result<Vec<Datapath>, Diagnostic> {
    let Hardware { tiles, constraints, delivery } = hardware;
    // The memory of an array has one distance from the stages that write it and those that read it.
    let memories = TableMemories {
        logic_words: constraints.table_logic_words,
        latency: timing::sram_to_output(tiles.target.rom().sram_latency),
    };
    let Recurrences { loads, come_back, registered } = recurrences;
    let datapath = |(number, graph): (usize, DatapathGraph)| {
        let operation = graph.operation();
        // An update travels to its memory, and from there to the next one: the schedule of a stage knows no distance to itself. So
        // does a result that comes back: all of its way but the delays is part of the kernel.
        let comes_back = operation.updates() || come_back[number];
        let distance = if comes_back { delivery.transport } else { 0 };
        let operators = tiles.target.operators.as_ref();
        let operators = if comes_back { operators.of_recurrences() } else { operators };
        let datapath = graph.pipelined_around(operators, memories, &loads[number]);
        let datapath = datapath.map(|datapath| datapath.later(distance).behind_reads());
        // A random-access memory shows what comes to it in the same cycle, so that this comes out of a register.
        let writes_ram = program.arrays[operation.target.array].random_access;
        let datapath = datapath.map(|of| if writes_ram && of.latency() == 0 { of.later(1) } else { of });
        // So is a copy that comes back, though it computes nothing.
        let datapath =
            datapath.map(|of| if registered[number] && of.copied().is_some() { of.registered() } else { of });
        datapath.map_err(|error| program.diagnostic(operation.span, error.to_string()))
    };
    DatapathGraph::all(program).enumerate().map(datapath).try_collect()
}

/// Checks that an array can be kept at the level that the program names.
fn check_levels(program: &Program, target: &pushmem_graph::Target) -> Result<(), Diagnostic> {
    for array in &program.arrays {
        let Some(level @ (Level::GlobalBuffer | Level::RegisterFile)) = array.level else { continue };
        let option = match level {
            Level::GlobalBuffer => "--global-buffer",
            _ => "--register-file",
        };
        let word_bits = pushmem_graph::WORD_BITS;
        let help = format!("name a specification with words of at least {word_bits} bits by `{option}`");
        let refuse = |message: String| Err(program.diagnostic(array.span, message).with_help(&help));
        if let Some(spec) = target.at(level).filter(|spec| spec.kind == Kind::Rom || spec.word_bits < word_bits) {
            return refuse(format!("`{}` tiles cannot keep `{}`", spec.name, array.name));
        }
    }
    Ok(())
}

/// Capabilities of the memories of a tile, for the scheduler of coarse pipelines.
fn coarse_options(spec: &TileSpec) -> CoarseOptions {
    let (inputs, outputs) = (spec.inputs as usize, spec.outputs as usize);
    match spec.kind {
        // Every input and every output has a buffer of its own.
        Kind::WideFetch { fetch_width, .. } => CoarseOptions {
            write_ports: inputs,
            read_ports: outputs,
            round_trip: timing::wide_fetch_round_trip(fetch_width, spec.sram_latency),
            row_multiple: u64::from(fetch_width),
            ..CoarseOptions::default()
        },
        kind => CoarseOptions {
            write_ports: inputs.min(kind.memory_ports() as usize),
            read_ports: outputs.min(kind.memory_ports() as usize),
            round_trip: timing::SRAM_WRITE + timing::sram_to_output(spec.sram_latency),
            ..CoarseOptions::default()
        },
    }
}
