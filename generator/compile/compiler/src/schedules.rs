//! The search for a schedule that the memories can serve: the cheapest, by its cycles and tiles.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_assembly::{LOAD, Shortage, TileSharing, Unserved, Waits, application_graph, storage};
use pushmem_files::Diagnostic;
use pushmem_graph::{ApplicationGraph, Memories, RamNode, Storage, Target, WORDS_OF_SEQUENCE};
use pushmem_nest::{Policy, Program};
use pushmem_schedule::{CoarseOptions, Options, Pipeline, Recurrence, Schedule, recurrence, sequential, stencil};
use pushmem_search::{Cost, Relieved, Search, Space};
use pushmem_tile::TileSpec;

use crate::candidate::{Candidate, Choice};
use crate::compile::CoarsePlan;
use crate::refusal::told;
use crate::stages::Stages;
use crate::tile_counts::Kept;
use crate::trial::{self, Trial};

/// Rows follow the slowest before other schedules are tried if that is shorter by one cycle in so many.
const LEAST_GAIN: u64 = 32;

/// Tiles for each tile that words would fill, in which no schedule is likely to save many.
const MOST_LOOSE: u64 = 2;

/// The schedules of forms of a program.
#[derive(Default)]
pub(crate) struct Schedules<'a> {
    /// Schedules that were tried, and why the memories do not serve them, if so. Other options may lead to the same one.
    tried: RefCell<Vec<Tried<'a>>>,
    /// The first fault of the compiler itself.
    pub(crate) fault: RefCell<Option<Diagnostic>>,
}

/// A schedule that was tried.
struct Tried<'a> {
    stages: Rc<Stages<'a>>,
    schedule: Schedule,
    waits: Waits,
    /// Why the memories do not serve it, if so.
    refused: Option<Unserved>,
}

/// A schedule whose memories are not yet mapped.
pub(crate) struct Plan<'a> {
    stages: Rc<Stages<'a>>,
    schedule: Schedule,
    recurrence: Option<Recurrence>,
    coarse: Option<CoarsePlan>,
    waits: Waits,
}

/// A schedule that the memories serve, with its graph.
pub(crate) struct Found<'a> {
    pub stages: Rc<Stages<'a>>,
    pub schedule: Schedule,
    pub recurrence: Option<Recurrence>,
    pub coarse: Option<CoarsePlan>,
    pub graph: ApplicationGraph,
    pub storage: Storage,
}

impl Found<'_> {
    fn cost(&self) -> Cost {
        cost(&self.stages.program, &self.graph, &self.storage, self.stages.hardware.tiles.target)
    }

    /// Words in a cycle beyond those that streams carry.
    fn excess(&self) -> usize {
        let (inputs, outputs) = self.stages.hardware.delivery.streams;
        let words = |streams: &mut dyn Iterator<Item = usize>| streams.sum::<usize>();
        let taken = words(&mut self.graph.inputs.iter().map(|stream| stream.lanes.len()));
        let given = words(&mut self.graph.outputs.iter().map(|stream| stream.lanes.len()));
        taken.saturating_sub(inputs) + given.saturating_sub(outputs)
    }

    /// Whether others cost hardly less.
    pub fn is_least(&self) -> bool {
        let Stages { extraction, hardware, .. } = &*self.stages;
        is_least(&self.graph, &self.storage, &extraction.pipeline, hardware.tiles.target.memory())
    }
}

impl Plan<'_> {
    fn cycles(&self) -> u64 {
        self.stages.cycles(&self.schedule)
    }

    /// Whether it is likely to take fewer tiles than others.
    fn saves_tiles(&self) -> bool {
        let balances = |plan: &CoarsePlan| plan.options.balance_paths;
        self.stages.form.loads_serially || self.coarse.as_ref().is_some_and(|plan| !balances(plan))
    }

    /// The trial, before it is solved.
    fn trial(&self) -> Trial {
        let program = &self.stages.program;
        let schedule = match &self.coarse {
            None => "a raster scan of all stages".to_owned(),
            Some(CoarsePlan { coarse: None, .. }) => "one stage after the other".to_owned(),
            Some(CoarsePlan { options, .. }) => trial::pipeline(program, options),
        };
        let changes = self.stages.form.changes.iter().map(|change| format!(", {change}"));
        let schedule = std::iter::once(schedule).chain(changes).collect();
        Trial { schedule, cycles: self.cycles(), tiles: None, short: None }
    }

    /// The graph, and its memories on tiles.
    fn assembled(&self) -> Result<(ApplicationGraph, Storage), Unserved> {
        let Stages { hardware, form, program, extraction, datapaths, .. } = &*self.stages;
        let graph = application_graph(program, extraction, &self.schedule, datapaths, &self.waits, hardware.tiles)?;
        let storage = storage(&graph, hardware.tiles, hardware.constraints, TileSharing::Shared)?;
        let kept = Kept { program, extraction, graph: &graph, storage: &storage, target: hardware.tiles.target };
        kept.check_counts(&form.program)?;
        Ok((graph, storage))
    }
}

impl Tried<'_> {
    fn is_of(&self, plan: &Plan) -> bool {
        Rc::ptr_eq(&self.stages, &plan.stages) && self.schedule == plan.schedule && self.waits == plan.waits
    }
}

/// The cost of a graph of a program, with the tiles of its memories, or as many as its random-access memories have words of.
pub(crate) fn cost(program: &Program, graph: &ApplicationGraph, storage: &Storage, target: &Target) -> Cost {
    let words = match target.memories {
        Memories::Tiles => target.memory().words().max(1),
        Memories::Fixed => WORDS_OF_SEQUENCE,
    };
    // Each read port has a copy of its own.
    let copies = |ram: &RamNode| ram.reads.iter().map(|read| read.port as u64 + 1).max().unwrap_or(1);
    let random = graph.rams.iter().map(|ram| copies(ram) * program.arrays[ram.array].size() as u64).sum::<u64>();
    Cost { cycles: graph.length, tiles: storage.cost(target.memories) + random.div_ceil(words) }
}

/// The words of streams that come and leave in a cycle, at most.
pub(crate) fn stream_words(graph: &ApplicationGraph) -> usize {
    let inputs = graph.inputs.iter().map(|stream| stream.lanes.len());
    inputs.chain(graph.outputs.iter().map(|stream| stream.lanes.len())).sum()
}

/// Whether no schedule of these stages costs much less: it takes hardly more cycles than the busiest stage has iterations after the latencies of
/// those before, and not many more tiles than its words fill.
pub(crate) fn is_least(graph: &ApplicationGraph, storage: &Storage, stages: &Pipeline, memory: &TileSpec) -> bool {
    let busiest = stages.stages.iter().map(|stage| stage.loops.iter().map(|each| each.extent).product::<u64>());
    let mut ready = vec![0; stages.arrays.len()];
    for stage in &stages.stages {
        let begin = stage.reads.iter().map(|read| ready[read.array]).max().unwrap_or(0);
        ready[stage.write.array] = ready[stage.write.array].max(begin + stage.latency);
    }
    let least = busiest.max().unwrap_or(0) + ready.into_iter().max().unwrap_or(0);
    let filled = storage.live_words().div_ceil(memory.words().max(1));
    graph.length <= least + least / LEAST_GAIN && storage.tiles.len() as u64 <= MOST_LOOSE * filled
}

impl<'a> Space for Schedules<'a> {
    type Candidate = Candidate<'a>;
    type Plan = Plan<'a>;
    type Found = Found<'a>;
    type Refusal = Unserved;
    type Trial = Trial;

    fn plan(&self, candidate: &Candidate<'a>) -> Result<Plan<'a>, Unserved> {
        let stages = &candidate.stages;
        let pipeline = &stages.extraction.pipeline;
        let planned = |schedule: Schedule, coarse: CoarsePlan| {
            let (coarse, waits) = (Some(coarse), stages.waits());
            Plan { stages: stages.clone(), schedule, recurrence: None, coarse, waits }
        };
        match &candidate.schedule {
            Choice::Scan { row_multiple, waits } => {
                let options = Options { row_multiple: *row_multiple, ..stages.scan_options(waits) };
                let recurrence = recurrence(pipeline, &options).map_err(|error| stages.refused(&error))?;
                let schedule = stencil(pipeline, &options).map_err(|error| stages.refused(&error))?;
                let schedule = after_loads(stages, schedule, waits);
                Ok(Plan { stages: stages.clone(), schedule, recurrence, coarse: None, waits: waits.clone() })
            }
            Choice::Sequence(options) => {
                stages.check_inputs()?;
                // Results that no pipeline has in time come too late one after the other as well.
                Result::as_ref(&stages.pipeline(options)).map_err(|error| stages.refused(error))?;
                Ok(planned(sequential(pipeline, options), CoarsePlan { coarse: None, options: options.clone() }))
            }
            Choice::Pipeline(options, _) => {
                stages.check_inputs()?;
                let scheduled = stages.pipeline(options);
                let coarse = Result::as_ref(&scheduled).map_err(|error| stages.refused(error))?.clone();
                let schedule = coarse.schedule.clone();
                Ok(planned(schedule, CoarsePlan { coarse: Some(coarse), options: options.clone() }))
            }
        }
    }

    fn may_be_cheaper(&self, plan: &Plan<'a>, best: &Found<'a>) -> bool {
        let (cycles, exceeds, best) = (plan.cycles(), best.excess() > 0, best.cost());
        let is_wanted =
            exceeds || cycles < best.cycles || plan.saves_tiles() && Cost { cycles, tiles: 0 }.is_less(best);
        let is_served = |tried: &Tried| tried.refused.is_none() && tried.is_of(plan);
        is_wanted && !self.tried.borrow().iter().any(is_served)
    }

    fn solve(&self, plan: Plan<'a>, report: &mut dyn FnMut(Trial)) -> Result<Found<'a>, Unserved> {
        let known = self.tried.borrow().iter().find(|tried| tried.is_of(&plan)).and_then(|tried| tried.refused.clone());
        if let Some(refused) = known {
            return Err(refused);
        }
        let mut trial = plan.trial();
        let assembled = plan.assembled();
        let Plan { stages, schedule, recurrence, coarse, waits } = plan;
        let refused = assembled.as_ref().err().cloned();
        let tried = Tried { stages: stages.clone(), schedule: schedule.clone(), waits, refused };
        self.tried.borrow_mut().push(tried);
        match &assembled {
            Ok((_, storage)) => trial.tiles = Some(storage.tiles.len()),
            Err(Unserved::Short(short)) => trial.short = Some(told(&stages.program, &stages.extraction, short)),
            Err(Unserved::Program(refused)) if refused.is_fault() => {
                self.fault.borrow_mut().get_or_insert_with(|| (**refused).clone());
            }
            Err(Unserved::Program(_) | Unserved::Order { .. }) => {}
        }
        report(trial);
        let (graph, storage) = assembled?;
        Ok(Found { stages, schedule, recurrence, coarse, graph, storage })
    }

    fn is_cheaper(&self, one: &Found<'a>, other: &Found<'a>) -> bool {
        // Nests that read words of a stream again take more of them a cycle than a scan, which keeps them.
        let is_wider =
            other.coarse.is_none() && one.coarse.is_some() && stream_words(&one.graph) > stream_words(&other.graph);
        match one.excess().cmp(&other.excess()) {
            Ordering::Equal => !is_wider && one.cost().is_less(other.cost()),
            excess => excess.is_lt(),
        }
    }

    fn is_short(&self, refusal: &Unserved) -> bool {
        matches!(refusal, Unserved::Short(_))
    }

    /// The last shortage says more than that a schedule of another form does not exist. Where tiles are too few, it is the one that lacks
    /// the fewest of them.
    fn says_more(&self, refusal: &Unserved, before: &Unserved) -> bool {
        use Shortage::Tiles;
        match (refusal, before) {
            (
                Unserved::Short(Tiles { tile, missing, .. }),
                Unserved::Short(Tiles { tile: same, missing: many, .. }),
            ) => tile == same && missing < many,
            _ => self.is_short(refusal),
        }
    }

    fn relieved(&self, candidate: &Candidate<'a>, refusal: &Unserved) -> Relieved<Candidate<'a>> {
        match refusal {
            Unserved::Short(short) => candidate.relieved(short),
            Unserved::Program(_) | Unserved::Order { .. } => Relieved::default(),
        }
    }
}

/// A schedule in which no register is loaded before the run. A word waits for its read in any case, but what a register
/// holds first may be no word of a stage: the constant outside of an array.
fn after_loads(stages: &Stages, schedule: Schedule, waits: &Waits) -> Schedule {
    let all = &stages.extraction.pipeline.stages;
    let first = |&(stage, _): &(usize, usize)| all[stage].first_cycle(&schedule.stages[stage]);
    let late = waits.registers.iter().map(first).min().map_or(0, |first| (LOAD as i64 - first).max(0));
    Schedule { stages: schedule.stages.iter().map(|stage| stage.shifted(late)).collect() }
}

/// Tries the schedules of a form of a program, each after those that are likely to be cheaper.
pub(crate) fn run<'a>(search: &mut Search<Schedules<'a>>, stages: &Rc<Stages<'a>>) {
    search.begin();
    match stages.program.policy() {
        Policy::Stencil => {
            let scan = Choice::Scan { row_multiple: 1, waits: stages.waits() };
            search.run([Candidate { stages: stages.clone(), schedule: scan }]);
        }
        Policy::Dnn => run_nests(search, stages),
    }
}

/// The same of coarse pipelines.
fn run_nests<'a>(search: &mut Search<Schedules<'a>>, stages: &Rc<Stages<'a>>) {
    run_ahead(search, stages.clone());
    let best = stages.coarse_options();
    let pipelines = |options: &[CoarseOptions]| options.iter().map(|of| pipeline(stages, of)).collect_vec();
    search.run(pipelines(&stages.dense(&best)));
    // Rows that follow others keep fewer words at a time, so that memories may serve them where they serve no other.
    let rates = stages.with_rates(&best).map(|rates| pipeline(stages, &rates));
    if !search.any_feasible() {
        search.run(rates.clone());
    }
    let unbalanced = CoarseOptions { balance_paths: false, ..best.clone() };
    if stages.balances(&best) {
        search.run(pipelines(&stages.dense(&unbalanced)));
    }
    // Loops in the order of the program, where another order only waits.
    search.run(pipelines(&stages.dense(&CoarseOptions { interchange: false, distribute: false, ..unbalanced })));
    if !search.any_feasible() {
        let whole = CoarseOptions { distribute: false, ..best.clone() };
        search.run(pipelines(&stages.dense(&whole)));
        if stages.balances(&whole) {
            search.run(pipelines(&stages.dense(&CoarseOptions { balance_paths: false, ..whole })));
        }
    }
    // Padding is for reads of whole rows alone.
    if best.row_multiple > 1 {
        search.run(pipelines(&stages.dense(&CoarseOptions { row_multiple: 1, ..best.clone() })));
    }
    search.run([Candidate { stages: stages.clone(), schedule: Choice::Sequence(best.clone()) }]);
    search.run(rates);
    let in_order = CoarseOptions { interchange: false, ..best.clone() };
    if !search.any_feasible() && stages.differ(&best, &in_order) {
        search.begin();
        search.run(pipelines(&stages.dense(&in_order)));
    }
}

/// Tries a schedule whose rows follow the slowest nest before all others, where it is so much shorter than these that no tiles make up for
/// that: mapping the arrays of large programs takes most of the time. Arrays that are too large for memory tiles move for it.
fn run_ahead<'a>(search: &mut Search<Schedules<'a>>, mut stages: Rc<Stages<'a>>) {
    let best = stages.coarse_options();
    let length = |options: &CoarseOptions| stages.length(options);
    let Some(shortest) = stages.dense(&best).iter().filter_map(length).min() else { return };
    let rates = stages.with_rates(&best);
    if rates.as_ref().and_then(length).is_none_or(|rates| rates + (shortest / LEAST_GAIN).max(1) > shortest) {
        return;
    }
    while let Some(rates) = stages.with_rates(&stages.coarse_options()) {
        let Err(Unserved::Short(short)) = search.attempt(&pipeline(&stages, &rates)) else { return };
        let Some(moved) = stages.with_moved(&short).and_then(Result::ok) else { return };
        stages = Rc::new(moved);
    }
}

fn pipeline<'a>(stages: &Rc<Stages<'a>>, options: &CoarseOptions) -> Candidate<'a> {
    Candidate { stages: stages.clone(), schedule: Choice::Pipeline(options.clone(), None) }
}
