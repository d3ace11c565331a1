//! The search for a schedule that the memories can serve: as few cycles as are found.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_assembly::{
    AssemblyError, Constraints, Delivery, LOAD, TileSharing, Tiles, Waits, application_graph, check_inputs, storage,
};
use pushmem_extraction::{Extraction, Origin, diagnose};
use pushmem_graph::{ApplicationGraph, Storage};
use pushmem_kernels::Datapath;
use pushmem_mapping::MappingError;
use pushmem_nest::{Level, Program};
use pushmem_schedule::{
    Coarse, CoarseOptions, Options, Recurrence, Schedule, ScheduleError, Transport, coarse, recurrence, sequential,
    stencil,
};
use pushmem_tile::{Kind, TileSpec, timing};

use crate::compile::CoarsePlan;
use crate::compute_sharing;
use crate::driver::{Driver, Problem};
use crate::refusal::shortage;
use crate::trial::{self, Trial};

/// The schedule of the stages, their graph and its memories.
pub(crate) struct Planned {
    pub schedule: Schedule,
    pub recurrence: Option<Recurrence>,
    pub coarse: Option<CoarsePlan>,
    pub graph: ApplicationGraph,
    pub storage: Storage,
}

/// A pipeline whose memories are not yet mapped.
struct Plan {
    coarse: Coarse,
    options: CoarseOptions,
}

/// Changes of a schedule that let a memory serve an array.
#[derive(Clone, Copy)]
enum Relief {
    /// Accesses that would be at the same time come one after the other.
    Turns,
    /// Reads pause between rows, as the rows of a wide-fetch tile do not begin where theirs do.
    Pauses,
}

/// Context of the passes after extraction.
#[derive(Clone, Copy)]
pub(crate) struct Passes<'a> {
    pub program: &'a Program,
    pub extraction: &'a Extraction,
    pub datapaths: &'a [Datapath],
    /// By operation, the loads of results of earlier iterations.
    pub recurrent: &'a [BTreeSet<usize>],
    pub tiles: Tiles<'a>,
    pub constraints: &'a Constraints,
    pub delivery: Delivery,
}

impl Passes<'_> {
    /// The stages that write an array, and whose kernels contain the way of their results.
    fn writers_with_ways(&self, array: usize) -> impl Iterator<Item = usize> {
        let stages = self.extraction.pipeline.stages.iter().zip(&self.extraction.origins).enumerate();
        let has_way = |origin: &Origin| match origin {
            Origin::Input { .. } => false,
            Origin::Operation { operation, .. } => !self.recurrent[*operation].is_empty(),
        };
        stages
            .filter(move |(_, (stage, origin))| stage.write.array == array && has_way(origin))
            .map(|(number, _)| number)
    }

    /// The way of words from stage to stage, and the latencies of operands.
    fn transport(&self) -> Transport {
        let mut transport = Transport::uniform(self.delivery.transport);
        let operations = self.program.operations();
        for (stage, origin) in self.extraction.origins.iter().enumerate() {
            let Origin::Operation { operation, .. } = origin else { continue };
            for (read, access) in self.extraction.pipeline.stages[stage].reads.iter().enumerate() {
                let datapath = &self.datapaths[*operation];
                if datapath.operand_latency(read) > 0 {
                    transport.set_operand(stage, read, datapath.operand_latency(read));
                }
                if datapath.arrival(read) > 0 {
                    transport.set_arrival(stage, read, datapath.arrival(read));
                }
                // The kernels of results that come back have their ways already.
                let loads = operations[*operation].1.loads.len().max(1);
                if self.delivery.transport > 0 && self.recurrent[*operation].contains(&(read % loads)) {
                    self.writers_with_ways(access.array).for_each(|producer| transport.set(producer, stage, 0));
                }
            }
        }
        transport
    }
}

/// A schedule that the memories may serve.
pub(crate) struct Candidate {
    schedule: Schedule,
    /// Of a raster scan, that of results of earlier iterations.
    recurrence: Option<Recurrence>,
    coarse: Option<CoarsePlan>,
    /// The reads whose words wait.
    waits: Waits,
}

/// Schedules that are tried if the memories serve none. Programs that have an accelerator have one by then: of those shipped,
/// for the tiles shipped, after 8.
const MOST_REFUSED: usize = 12;

/// Rows follow the slowest with more tiles only if the schedule becomes shorter by one cycle in so many.
const LEAST_GAIN: u64 = 32;

/// So many arrays are relieved one after the other.
const RELIEVED_ALONE: usize = 2;

/// A schedule is feasible if the memories serve it. It costs cycles first, then tiles.
impl Problem for Passes<'_> {
    type Candidate = Candidate;
    type Solution = Planned;
    type Shortage = AssemblyError;
    type Record = Trial;
    type Cost = (u64, usize);

    fn solve(&self, Candidate { schedule, recurrence, coarse, waits }: Candidate) -> Result<Planned, AssemblyError> {
        let Passes { program, extraction, datapaths, tiles, constraints, .. } = *self;
        let graph = application_graph(program, extraction, &schedule, datapaths, &waits, tiles)?;
        let storage = storage(&graph, tiles, constraints, TileSharing::Shared)?;
        Ok(Planned { schedule, recurrence, coarse, graph, storage })
    }

    fn cost(planned: &Planned) -> (u64, usize) {
        (planned.graph.length, planned.storage.tiles.len())
    }

    fn is_resource(shortage: &AssemblyError) -> bool {
        matches!(shortage, AssemblyError::Array { .. })
    }

    fn record(&self, Candidate { schedule, coarse, .. }: &Candidate) -> Trial {
        let description = match coarse {
            None => "a raster scan of all stages".to_owned(),
            Some(CoarsePlan { coarse: None, .. }) => "one stage after the other".to_owned(),
            Some(CoarsePlan { options, .. }) => trial::pipeline(self.program, options),
        };
        let cycles = schedule.length(&self.extraction.pipeline) as u64;
        Trial { schedule: description, cycles, tiles: None, short: None }
    }

    fn complete(&self, record: &mut Trial, outcome: &Result<Planned, AssemblyError>) {
        match outcome {
            Ok(planned) => record.tiles = Some(planned.storage.tiles.len()),
            Err(error) => record.short = shortage(self.program, self.extraction, error),
        }
    }
}

/// A search for a schedule.
pub(crate) struct Search<'a> {
    passes: Passes<'a>,
    /// Whether an array may move to the global buffer for a schedule that is much shorter.
    may_move: &'a dyn Fn(usize) -> bool,
    /// Whether the search ended with such an array.
    moves_ahead: Cell<bool>,
    driver: Driver<'a, Passes<'a>>,
    /// The most cycles that a schedule may take that is tried.
    most: u64,
    /// Whether one was not tried for that.
    too_long: Cell<bool>,
    /// The array that was in the way of the last schedule that was refused, where it was to be, and why.
    last: RefCell<Option<(usize, Level, Box<MappingError>)>>,
    /// The pipelines that the memories do not serve, and why. Other options may lead to the same schedule.
    refused: RefCell<Vec<(Schedule, AssemblyError)>>,
}

impl<'a> Search<'a> {
    /// A search by these passes for a schedule that competes with one of so many cycles, if one is known. It ends where a schedule
    /// that is much shorter than others lacks memory for an array that `may_move` to the global buffer. `observe` is told of each
    /// schedule that was tried.
    pub fn new(
        passes: &'a Passes<'a>,
        known: Option<u64>,
        may_move: &'a dyn Fn(usize) -> bool,
        observe: &'a dyn Fn(&Trial),
    ) -> Self {
        let driver = Driver::new(passes, MOST_REFUSED, observe);
        // A schedule that is longer by less may be preferred to one whose rows follow the slowest, for its tiles.
        let most = known.map_or(u64::MAX, |known| known.saturating_add(known.div_ceil(LEAST_GAIN - 1)));
        let (moves_ahead, too_long) = (Cell::default(), Cell::default());
        let (last, refused) = (RefCell::default(), RefCell::default());
        Search { passes: *passes, may_move, moves_ahead, driver, most, too_long, last, refused }
    }

    /// Whether the search ended, before all schedules were tried, with an array that may move.
    pub fn moves_ahead(&self) -> bool {
        self.moves_ahead.get()
    }

    /// The schedules that were tried.
    pub fn trials(&self) -> Vec<Trial> {
        self.driver.records()
    }

    /// The error with which the search ends, if it has tried enough.
    fn given_up(&self) -> Option<AssemblyError> {
        self.last_refusal(Some(self.driver.given_up()?))
    }

    /// The error of the last array that was in the way, after so many schedules if the search is given up.
    fn last_refusal(&self, given_up: Option<usize>) -> Option<AssemblyError> {
        let (array, level, error) = self.last.borrow().clone()?;
        Some(AssemblyError::Array { array, level, error, others: Vec::new(), given_up })
    }

    /// The cycles of a schedule.
    fn cycles(&self, schedule: &Schedule) -> u64 {
        schedule.length(&self.passes.extraction.pipeline) as u64
    }

    /// All stages fused into one raster scan. Words that are read again in each row wait in memories, if the tiles have such
    /// memories; else they are delayed from row to row.
    pub fn stencil(&self) -> Result<Planned, AssemblyError> {
        let Passes { program, extraction, datapaths, delivery, .. } = self.passes;
        let waits = Waits::of(program, extraction, datapaths, delivery);
        match self.stencil_with(&waits) {
            Err(refused @ (AssemblyError::Array { .. } | AssemblyError::Memory { .. }))
                if !waits.memories.is_empty() =>
            {
                let delayed = self.stencil_with(&waits.in_registers());
                // Words in the opposite order have no delay: the memory is what is missing.
                if waits.turned.is_empty() { delayed } else { delayed.map_err(|_| refused) }
            }
            outcome => outcome,
        }
    }

    /// A raster scan in which these words wait.
    fn stencil_with(&self, waits: &Waits) -> Result<Planned, AssemblyError> {
        let with_rows = |row_multiple: u64| {
            let options = Options { row_multiple, ..self.stencil_options(waits) };
            let pipeline = &self.passes.extraction.pipeline;
            let recurrence = recurrence(pipeline, &options).map_err(|error| self.refused(&error))?;
            let schedule = stencil(pipeline, &options).map_err(|error| self.refused(&error))?;
            let schedule = self.after_loads(schedule, waits);
            self.attempted(Candidate { schedule, recurrence, coarse: None, waits: waits.clone() })
        };
        // Rows as they are first; if a memory does not fit so, rows of whole fetches.
        match (with_rows(1), self.passes.tiles.target.memory().kind) {
            (Err(AssemblyError::Memory { .. } | AssemblyError::Array { .. }), Kind::WideFetch { fetch_width, .. }) => {
                with_rows(u64::from(fetch_width))
            }
            (outcome, _) => outcome,
        }
    }

    /// A schedule in which no register is loaded before the run. A word waits for its read in any case, but what a register
    /// holds first may be no word of a stage: the constant outside of an array.
    fn after_loads(&self, schedule: Schedule, waits: &Waits) -> Schedule {
        let stages = &self.passes.extraction.pipeline.stages;
        let first = |&(stage, _): &(usize, usize)| stages[stage].first_cycle(&schedule.stages[stage]);
        let late = waits.registers.iter().map(first).min().map_or(0, |first| (LOAD as i64 - first).max(0));
        Schedule { stages: schedule.stages.iter().map(|stage| stage.shifted(late)).collect() }
    }

    /// Options of a raster scan in which these words wait: reads come as late as registers and memories need, and words that
    /// stay there to the end may come as early as they like.
    fn stencil_options(&self, waits: &Waits) -> Options {
        let Passes { program, extraction, tiles, .. } = self.passes;
        let mut transport = self.passes.transport();
        let mut free_to_wait = waits.memories.union(&waits.each).copied().collect::<BTreeSet<_>>();
        let access = |stage: usize, read: usize| &extraction.pipeline.stages[stage].reads[read];
        for &(stage, read) in waits.registers.union(&waits.each) {
            transport.set_operand(stage, read, transport.operand(stage, read) + LOAD);
            if access(stage, read).subscripts.iter().all(|subscript| subscript.single_loop() == Ok(None)) {
                free_to_wait.insert((stage, read));
            }
        }
        for &(stage, read) in &waits.memories {
            let level = program.arrays[access(stage, read).array].level.unwrap_or(Level::Memory);
            let spec = tiles.target.at(level).unwrap_or_else(|| tiles.target.memory());
            transport.set_operand(stage, read, transport.operand(stage, read) + coarse_options(spec).round_trip);
        }
        let share = compute_sharing::units(program, extraction);
        Options { share, transport, free_to_wait, ..Options::default() }
    }

    /// A coarse pipeline of loop nests, as fast as one stage after the other at least, if the memories can serve that.
    pub fn coarse(&self) -> Result<Planned, AssemblyError> {
        check_inputs(self.passes.program, self.passes.extraction, self.passes.datapaths, self.passes.tiles.target)?;
        self.coarse_with(&self.best_options())
    }

    /// A coarse pipeline whose nests have their loops in the order of the program, where memories serve no other order; nothing if
    /// they do not serve this one, or if no nest has another.
    pub fn coarse_in_order(&self) -> Option<Planned> {
        let best = self.best_options();
        let in_order = CoarseOptions { interchange: false, ..best.clone() };
        self.differ(&best, &in_order).then(|| {
            self.driver.begin_again();
            self.coarse_with(&in_order).ok()
        })?
    }

    /// The options of the fastest coarse pipeline.
    fn best_options(&self) -> CoarseOptions {
        let share = compute_sharing::units(self.passes.program, self.passes.extraction);
        let balance_paths = self.passes.constraints.balance_paths;
        CoarseOptions { share, balance_paths, ..self.coarse_options() }
    }

    fn coarse_with(&self, best: &CoarseOptions) -> Result<Planned, AssemblyError> {
        match self.much_shorter(best) {
            Some(Ok(planned)) => return Ok(planned),
            Some(Err(refused)) if refused.array().is_some_and(self.may_move) => {
                self.moves_ahead.set(true);
                return Err(refused);
            }
            _ => {}
        }
        match self.matched(best, self.dense(best)) {
            // An array that was refused before may move.
            Err(error @ AssemblyError::TooLong { .. }) => Err(self.last_refusal(None).unwrap_or(error)),
            planned => planned,
        }
    }

    /// A plan whose rows follow the rate of the slowest nest, where it is so much shorter than the shortest with dense nests that no tiles
    /// make up for that, if there is one. It is tried first: mapping the arrays of large programs takes most of the time.
    fn much_shorter(&self, best: &CoarseOptions) -> Option<Result<Planned, AssemblyError>> {
        let pipeline = &self.passes.extraction.pipeline;
        let options = CoarseOptions { overlap: true, match_rates: true, ..best.clone() };
        let plan = Plan { coarse: coarse(pipeline, &options).ok().filter(Coarse::matches_rates)?, options };
        let cycles = |plan: &Plan| self.cycles(&plan.coarse.schedule);
        let [dense, apart] =
            [true, false].map(|overlap| self.coarse_plan(&CoarseOptions { overlap, ..best.clone() }).ok());
        let shortest = [dense, apart].iter().flatten().map(cycles).min()?;
        let length = cycles(&plan);
        let is_wanted = length < shortest && shortest - length >= shortest / LEAST_GAIN && length <= self.most;
        if !is_wanted {
            return None;
        }
        let schedule = plan.coarse.schedule.clone();
        let outcome = self.driver.attempt_ahead(self.candidate_of(plan));
        self.remember(schedule, &outcome);
        Some(outcome)
    }

    /// Whether a plan takes longer than so many cycles. One that is refused may be the rest of those that take too long.
    fn is_longer(&self, planned: &Result<Planned, AssemblyError>, than: u64) -> bool {
        length(planned).map_or(self.too_long.get(), |cycles| cycles > than)
    }

    /// A coarse pipeline whose nests run densely.
    fn dense(&self, best: &CoarseOptions) -> Result<Planned, AssemblyError> {
        let pipeline = &self.passes.extraction.pipeline;
        let baseline = sequential(pipeline, best);
        let cycles = self.cycles(&baseline);
        let planned = self.pipelined(best, cycles);
        let planned = self.unpadded(best, planned, cycles);
        match self.is_longer(&planned, cycles) {
            true => {
                let plan = CoarsePlan { coarse: None, options: best.clone() };
                cheaper(planned, self.attempted(self.candidate(baseline, Some(plan))))
            }
            false => planned,
        }
    }

    /// The plan, or one whose rows follow the rate of the slowest nest, where that is shorter and the memories serve it. It keeps fewer
    /// rows at a time, so that it is tried as well where the memories serve no other.
    fn matched(&self, best: &CoarseOptions, planned: Result<Planned, AssemblyError>) -> Result<Planned, AssemblyError> {
        let below = match &planned {
            Ok(planned) => planned.graph.length,
            Err(AssemblyError::Array { .. } | AssemblyError::TooLong { .. }) => self.most.saturating_add(1),
            Err(_) => return planned,
        };
        let options = CoarseOptions { overlap: true, match_rates: true, ..best.clone() };
        // Of several, only those are tried that are shorter than the ones before.
        let below = Cell::new(below);
        let attempt = |options: &CoarseOptions| {
            let found = self.shorter(options, below.get());
            if let Some(Ok(found)) = &found {
                below.set(found.graph.length);
            }
            found
        };
        let relieved = |options: &CoarseOptions, array: usize| {
            // Pauses lengthen rows a little, turns by all that others do.
            let orders = self.relief_orders().iter().rev();
            let found = orders.filter_map(|order| coarse_relieved_in(options.clone(), array, *order, &attempt));
            found.filter(Result::is_ok).collect_vec()
        };
        let found = match attempt(&options) {
            Some(Err(AssemblyError::Array { array, .. })) => {
                let found = relieved(&options, array);
                // Where that takes longer than loading at their rate, memories keep the fewest rows so.
                let slow = CoarseOptions { loads_follow: true, ..options.clone() };
                let others = match self.differ(&options, &slow).then(|| attempt(&slow)).flatten() {
                    Some(Err(AssemblyError::Array { array, .. })) if found.is_empty() => relieved(&slow, array),
                    other => other.into_iter().collect(),
                };
                found.into_iter().chain(others).collect()
            }
            found => found.into_iter().collect_vec(),
        };
        let fewer = |planned: &Planned| planned.storage.tiles.len();
        match (planned, found.into_iter().filter(Result::is_ok).reduce(cheaper)) {
            // Memory is spent only for what is worth it.
            (Ok(planned), Some(Ok(found)))
                if fewer(&found) > fewer(&planned)
                    && planned.graph.length - found.graph.length < planned.graph.length / LEAST_GAIN =>
            {
                Ok(planned)
            }
            (planned, Some(found)) => cheaper(planned, found),
            (planned, None) => planned,
        }
    }

    /// Whether two pipelines are scheduled in different ways.
    fn differ(&self, one: &CoarseOptions, other: &CoarseOptions) -> bool {
        let schedule =
            |options: &CoarseOptions| coarse(&self.passes.extraction.pipeline, options).ok().map(|plan| plan.schedule);
        schedule(one) != schedule(other)
    }

    /// A plan with these options as it is, unless it takes as many cycles, or there are no rows that follow others.
    fn shorter(&self, options: &CoarseOptions, below: u64) -> Option<Result<Planned, AssemblyError>> {
        let pipeline = &self.passes.extraction.pipeline;
        let coarse = coarse(pipeline, options).ok()?;
        let follows = !options.match_rates || coarse.matches_rates();
        let plan = Plan { coarse, options: options.clone() };
        let is_shorter = self.cycles(&plan.coarse.schedule) < below;
        (follows && is_shorter).then(|| self.tried(self.candidate_of(plan)))
    }

    /// The plan, or one with rows as long as the program has them, where that is shorter: padding is for reads of whole rows alone.
    /// One stage after the other takes `baseline` cycles: a plan of more may also be relieved without padding.
    fn unpadded(
        &self,
        best: &CoarseOptions,
        planned: Result<Planned, AssemblyError>,
        baseline: u64,
    ) -> Result<Planned, AssemblyError> {
        let options = CoarseOptions { row_multiple: 1, ..best.clone() };
        if self.is_longer(&planned, baseline) {
            return cheaper(planned, self.coarse_or_slower(&options));
        }
        let Some(padded) = length(&planned).filter(|_| best.row_multiple > 1) else { return planned };
        match self.coarse_plan(&CoarseOptions { overlap: true, ..options }) {
            Ok(plan) if self.cycles(&plan.coarse.schedule) < padded => cheaper(planned, self.coarse_at_once(plan)),
            _ => planned,
        }
    }

    /// Nests that run at the same time: divided, and with balanced paths, where that is faster; and as the program has the
    /// nests, if arrays then live too long for the tile. One stage after the other takes `baseline` cycles.
    fn pipelined(&self, best: &CoarseOptions, baseline: u64) -> Result<Planned, AssemblyError> {
        let whole = CoarseOptions { distribute: false, ..best.clone() };
        let unbalanced = CoarseOptions { balance_paths: false, ..best.clone() };
        let planned = self.coarse_or_slower(best);
        let balanced = match &planned {
            Ok(Planned { coarse, .. }) => {
                coarse.as_ref().and_then(|plan| plan.coarse.as_ref()).is_some_and(has_versions)
            }
            Err(_) => self.balances(best),
        };
        let planned = match balanced {
            // Memories that cannot hold that many versions at once serve their accesses one after the other.
            true => cheaper(self.coarse_or_slower(&unbalanced), planned),
            false => planned,
        };
        // Loops in the order of the program, where another order only waits.
        let planned = match self.is_longer(&planned, baseline) {
            true => {
                let plain = CoarseOptions { interchange: false, balance_paths: false, ..whole.clone() };
                cheaper(planned, self.coarse_or_slower(&plain))
            }
            false => planned,
        };
        planned.or_else(|_| self.coarse_or_slower(&whole)).or_else(|error| match self.balances(&whole) {
            true => self.coarse_or_slower(&CoarseOptions { balance_paths: false, ..whole }).map_err(|_| error),
            false => Err(error),
        })
    }

    /// Whether paths are balanced in a pipeline that is scheduled so.
    fn balances(&self, options: &CoarseOptions) -> bool {
        self.coarse_plan(options).is_ok_and(|plan| has_versions(&plan.coarse))
    }

    /// A coarse pipeline with stages that overlap those that they read from. Where a memory cannot serve the accesses of an
    /// array, a slower one, the fastest that is found.
    fn coarse_or_slower(&self, apart: &CoarseOptions) -> Result<Planned, AssemblyError> {
        let overlapping = &CoarseOptions { overlap: true, ..apart.clone() };
        let mut plans = [overlapping, apart].map(|options| (options, self.coarse_plan(options)));
        // As a rule stages that overlap end sooner; but they may keep ports busy for longer.
        let length = |plan: &Plan| self.cycles(&plan.coarse.schedule);
        if let [(_, Ok(one)), (_, Ok(other))] = &plans
            && length(other) < length(one)
        {
            plans.reverse();
        }
        let [(one, plan), (other, other_plan)] = plans;
        let relieved = |options: &CoarseOptions, outcome| match outcome {
            Err(AssemblyError::Array { array, .. }) => self.coarse_relieved(options, array, &|options| {
                Some(self.coarse_plan(options).and_then(|plan| self.coarse_at_once(plan)))
            }),
            outcome => vec![outcome],
        };
        let at_once = plan.and_then(|plan| self.coarse_at_once(plan));
        if at_once.is_ok() {
            return at_once;
        }
        let other_at_once = other_plan.and_then(|plan| self.coarse_at_once(plan));
        let slower = relieved(one, at_once).into_iter().chain(relieved(other, other_at_once));
        slower.reduce(cheaper).expect("one outcome at least")
    }

    /// Coarse pipelines in which the arrays that their memories cannot serve, the first of which is `array`, are relieved, in
    /// different ways. `attempt` plans one, unless it is not wanted.
    fn coarse_relieved(
        &self,
        options: &CoarseOptions,
        array: usize,
        attempt: &dyn Fn(&CoarseOptions) -> Option<Result<Planned, AssemblyError>>,
    ) -> Vec<Result<Planned, AssemblyError>> {
        let orders = self.relief_orders();
        orders.iter().filter_map(|order| coarse_relieved_in(options.clone(), array, *order, attempt)).collect()
    }

    /// The orders in which arrays are relieved.
    fn relief_orders(&self) -> &'static [[Relief; 2]] {
        match self.passes.tiles.target.memory().kind {
            Kind::WideFetch { .. } => &[[Relief::Turns, Relief::Pauses], [Relief::Pauses, Relief::Turns]],
            _ => &[[Relief::Turns; 2]],
        }
    }

    /// Capabilities of the memories: the memory tiles, and the other levels for the arrays that are there.
    fn coarse_options(&self) -> CoarseOptions {
        let mut options = coarse_options(self.passes.tiles.target.memory());
        options.transport = self.passes.transport();
        for (number, array) in self.passes.program.arrays.iter().enumerate() {
            if array.random_access {
                options.ports_of.insert(number, (1, 1));
                options.random_access.insert(number);
            }
            let level = array.level.filter(|level| *level != Level::Memory);
            if let Some(spec) = level.and_then(|level| self.passes.tiles.target.at(level)) {
                let own = coarse_options(spec);
                options.ports_of.insert(number, (own.write_ports, own.read_ports));
                options.round_trip = options.round_trip.max(own.round_trip);
            }
        }
        options
    }

    fn coarse_plan(&self, options: &CoarseOptions) -> Result<Plan, AssemblyError> {
        if let Some(error) = self.given_up() {
            return Err(error);
        }
        let coarse = coarse(&self.passes.extraction.pipeline, options).map_err(|error| self.refused(&error))?;
        Ok(Plan { coarse, options: options.clone() })
    }

    /// A plan as it is, if the memories can serve all arrays.
    fn coarse_at_once(&self, Plan { coarse, options }: Plan) -> Result<Planned, AssemblyError> {
        self.attempted(self.candidate_of(Plan { coarse, options }))
    }

    fn candidate_of(&self, Plan { coarse, options }: Plan) -> Candidate {
        self.candidate(coarse.schedule.clone(), Some(CoarsePlan { coarse: Some(coarse), options }))
    }

    fn refused(&self, error: &ScheduleError) -> AssemblyError {
        AssemblyError::Program(Box::new(diagnose(self.passes.program, self.passes.extraction, error)))
    }

    /// A schedule in which arrays are kept.
    fn candidate(&self, schedule: Schedule, coarse: Option<CoarsePlan>) -> Candidate {
        let Passes { program, extraction, datapaths, delivery, .. } = self.passes;
        let waits = Waits::of(program, extraction, datapaths, delivery);
        Candidate { schedule, recurrence: None, coarse, waits }
    }

    /// Tries a pipeline, unless its schedule was refused before: then the memories do not serve it now either.
    fn tried(&self, candidate: Candidate) -> Result<Planned, AssemblyError> {
        let known = self.refused.borrow().iter().find(|(schedule, _)| *schedule == candidate.schedule).cloned();
        if let Some((_, refused)) = known {
            self.driver.count_refused(&refused);
            return Err(refused);
        }
        let schedule = candidate.schedule.clone();
        let outcome = self.driver.attempt(candidate);
        self.remember(schedule, &outcome);
        outcome
    }

    /// Keeps in mind that the memories do not serve a schedule.
    fn remember(&self, schedule: Schedule, outcome: &Result<Planned, AssemblyError>) {
        if let Err(refused @ AssemblyError::Array { .. }) = outcome {
            self.refused.borrow_mut().push((schedule, refused.clone()));
        }
    }

    fn attempted(&self, candidate: Candidate) -> Result<Planned, AssemblyError> {
        if let Some(error) = self.given_up() {
            return Err(error);
        }
        let cycles = self.cycles(&candidate.schedule);
        if cycles > self.most {
            self.too_long.set(true);
            return Err(AssemblyError::TooLong { cycles, most: self.most });
        }
        let outcome = match candidate.coarse {
            Some(_) => self.tried(candidate),
            None => self.driver.attempt(candidate),
        };
        if let Err(AssemblyError::Array { array, level, error, .. }) = &outcome {
            self.last.replace(Some((*array, *level, error.clone())));
        }
        outcome
    }
}

/// A coarse pipeline in which each array that its memory cannot serve is relieved in one way, and if that does not do in the other,
/// too. `attempt` plans one, unless it is not wanted.
fn coarse_relieved_in(
    mut options: CoarseOptions,
    array: usize,
    order: [Relief; 2],
    attempt: &dyn Fn(&CoarseOptions) -> Option<Result<Planned, AssemblyError>>,
) -> Option<Result<Planned, AssemblyError>> {
    let mut arrays = vec![array];
    let mut outcome = None;
    for trials in 1.. {
        let mut relieve = |array: &usize| {
            order.iter().any(|relief| match relief {
                Relief::Turns => options.serialized.insert(*array),
                Relief::Pauses => options.whole_rows.insert(*array),
            })
        };
        // An array without further relief stays refused, whatever the others get.
        let relieved = arrays.iter().filter(|array| relieve(array)).count();
        if relieved == 0 {
            break;
        }
        outcome = attempt(&options);
        match &outcome {
            // Relief of an array may serve others, too. Where it does not, all get theirs at once.
            Some(Err(AssemblyError::Array { array, others, .. })) if relieved == arrays.len() => {
                let all = others.iter().copied().filter(|_| trials >= RELIEVED_ALONE);
                arrays = all.chain([*array]).collect();
            }
            _ => break,
        }
    }
    outcome
}

/// The cheaper of two schedules, of those that the memories serve; the first if both cost as much.
fn cheaper(
    one: Result<Planned, AssemblyError>,
    other: Result<Planned, AssemblyError>,
) -> Result<Planned, AssemblyError> {
    Driver::<Passes>::cheaper(one, other)
}

/// The cycles of a schedule that the memories serve, or that takes too long; nothing of one that is refused.
fn length(planned: &Result<Planned, AssemblyError>) -> Option<u64> {
    match planned {
        Ok(planned) => Some(planned.graph.length),
        Err(AssemblyError::TooLong { cycles, .. }) => Some(*cycles),
        Err(_) => None,
    }
}

/// Whether some array has more than two versions.
fn has_versions(found: &Coarse) -> bool {
    found.loops.iter().any(|level| !level.versions.is_empty())
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
