//! The coarse-grained schedule: a pipeline of whole loop nests (dissertation §4.3).
//!
//! Stages keep their loops and run densely; loops that several stages share start an iteration every *initiation
//! interval*, before the iterations before have ended. The interval and the start of each stage within the iteration come
//! from iterative modulo scheduling (dissertation §4.3.1, Algorithm 1) with stages as operations, and compute units and
//! ports of memories as resources (Figures 4.5 to 4.15). Several loops around one body are one long loop: an outer
//! iteration follows the last inner one without a flush (§4.3.4, loop flattening).

mod arrays;
mod body;
mod distribute;
mod modulo_scheduling;
mod nest;
mod rate_matching;
mod report;
mod reservation_table;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::dependence_distance::carried;
use crate::error::{ScheduleError, ScheduleFault};
use crate::schedule::starting_at;
use crate::transport::Transport;
use body::{Bodies, Body};
use pushmem_stages::{Pipeline, Schedule, Stage};
use serde::{Serialize, Serializer};
use tree::{Child, Tree};

/// More cycles than this are refused, so that sums of some of them are still numbers.
pub(crate) const LIMIT: i64 = 1 << 44;

/// How to schedule stages as a pipeline of loop nests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarseOptions {
    /// Write ports of the memory of each array, at least 1: how many groups write it at a time.
    pub write_ports: usize,
    /// Read ports of the memory of each array, at least 1: how many groups read it at a time.
    pub read_ports: usize,
    /// Arrays, by index, whose memories have other numbers of write and read ports.
    pub ports_of: BTreeMap<usize, (usize, usize)>,
    /// Arrays, by index, that one group at a time accesses, be it to read or to write: those in single-port memories.
    pub serialized: BTreeSet<usize>,
    /// For each stage the name of its compute unit. Groups that name the same one take turns. A group without a name, or
    /// beyond the end of the list, has its own.
    pub share: Vec<Option<String>>,
    /// Cycles that a word needs through the memory of an array, beyond the one from its write to the earliest read.
    pub round_trip: u64,
    /// Cycles that words travel between stages, be it through the memory of an array.
    pub transport: Transport,
    /// The loops of a stage may be interchanged for updates of an element to come further apart.
    pub interchange: bool,
    /// Stages that need not be in one loop get loops of their own, if updates of an element then come further apart and the
    /// schedule is shorter.
    pub distribute: bool,
    /// Arrays that are written anew in each iteration of a shared loop have room for two: one iteration writes while the
    /// one before still reads.
    pub double_buffer: bool,
    /// Where two versions are too few, because a version is read so late that the writer of the next would wait, arrays have as
    /// many as the shortest interval needs: the buffers that balance data paths which fork and join (Ye, Jun and Chen, *HIDA: A
    /// Hierarchical Dataflow Compiler for High-Level Synthesis*, §5.4.2).
    pub balance_paths: bool,
    /// A stage may start before those it reads from have ended, if every element is there in time.
    pub overlap: bool,
    /// Rows of nests outside of all shared loops follow the rate of those that they come from and go to, where that is shorter.
    pub match_rates: bool,
    /// Then rows of inputs follow that rate as well, and are not loaded at once, so that fewer are kept at a time; even where dense nests
    /// are shorter.
    pub loads_follow: bool,
    /// A loop within a loop starts again without waiting for the last iterations of all stages inside to end.
    pub flatten: bool,
    /// In stages with several loops, the fastest is padded in time to a multiple of this many iterations. Tiles store by
    /// wide rows of memory, which have elements of one row of the loop nest only.
    pub row_multiple: u64,
    /// Arrays, by index, whose reads begin anywhere in a row: stages that read them take as long for each round of their
    /// fastest loop as the rows that it touches need, a row every so many cycles as it has words that are used.
    pub whole_rows: BTreeSet<usize>,
    /// Arrays, by index, in random-access memories: all accesses are in the order of the program, whatever the elements. Iterations read
    /// until they end, there is one version, and no round trip.
    pub random_access: BTreeSet<usize>,
}

impl Default for CoarseOptions {
    fn default() -> Self {
        CoarseOptions {
            write_ports: 1,
            read_ports: 1,
            ports_of: BTreeMap::new(),
            serialized: BTreeSet::new(),
            share: Vec::new(),
            round_trip: 0,
            transport: Transport::default(),
            interchange: true,
            distribute: true,
            double_buffer: true,
            balance_paths: true,
            overlap: false,
            match_rates: false,
            loads_follow: false,
            flatten: true,
            row_multiple: 1,
            whole_rows: BTreeSet::new(),
            random_access: BTreeSet::new(),
        }
    }
}

impl CoarseOptions {
    /// Cycles from the start of an iteration of a group to that of the next one that updates the same element.
    fn update_gap(&self, pipeline: &Pipeline, group: &tree::Group) -> i64 {
        let members = group.members(pipeline);
        if members.iter().all(|stage| self.random_access.contains(&stage.write.array)) {
            // The memory shows an element in the cycle in which it is written.
            let of_stage = |(number, stage): (usize, &Stage)| {
                let own = (0..stage.reads.len()).filter(|&read| stage.reads[read].array == stage.write.array);
                let late = own.map(|read| self.transport.arrival(number, read)).min();
                late.map(|late| i64::try_from(stage.latency).unwrap_or(LIMIT) - late)
            };
            return group.stages.clone().zip(members).filter_map(of_stage).max().unwrap_or(1).max(1);
        }
        let travel = self.transport.longest(group.stages.clone(), group.stages.clone());
        group.latency.1 + 1 + (self.round_trip + travel) as i64
    }
}

/// A resource that stages compete for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// A compute unit, by the name of the group that has it alone, or by its own.
    Unit(String),
    /// The write ports of an array.
    Write(String),
    /// The read ports of an array.
    Read(String),
    /// The only port of an array.
    Access(String),
}

/// A lower bound of an initiation interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The cycles that all stages together, or one of them, use a resource.
    Resource(Resource),
    /// These arrays carry values from one iteration to another, or an iteration waits for their room.
    Arrays(Vec<String>),
    /// The iterations of the loop inside.
    Inner,
    /// The rate of the rows of other stages.
    Rate,
    /// No order of the stages was found that fits in fewer cycles, though no resource is used all the time.
    Conflicts,
}

/// A loop that several stages share. Reports have no start of it, and the bound in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoarseLoop {
    /// Name of its variable.
    pub name: String,
    /// The loop around it, as an index in [`Coarse::loops`].
    pub parent: Option<usize>,
    /// Number of iterations.
    pub extent: u64,
    /// Cycle of its first iteration, after the start of the iteration of the loop around it.
    #[serde(skip)]
    pub start: u64,
    /// Initiation interval: cycles from one iteration to the next.
    pub interval: u64,
    /// The bound that keeps it from being shorter.
    #[serde(serialize_with = "in_words")]
    pub bound: Bound,
    /// Cycles from the start of an iteration to the end of its last stage.
    pub length: u64,
    /// The arrays that need more than two versions for this interval, by name, and how many.
    pub versions: Vec<(String, u64)>,
}

fn in_words<S: Serializer>(bound: &Bound, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(bound)
}

/// A stage of the coarse-grained pipeline: a group of stages that run in the same cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarseStage {
    /// Name of its first stage.
    pub name: String,
    /// Its stages, as indices in [`Pipeline::stages`].
    pub stages: std::ops::Range<usize>,
    /// The innermost loop that it shares, as an index in [`Coarse::loops`].
    pub parent: Option<usize>,
    /// Cycle of its first iteration, after the start of the iteration of that loop.
    pub start: u64,
    /// Iterations of its own loops.
    pub iterations: u64,
    /// Cycles from its first iteration to its last, both included: how long it keeps its resources.
    pub busy: u64,
    /// Cycles from one iteration to the next; 1 unless updates of an element would come too close.
    pub interval: u64,
    /// Whether its loops run in another order than the program's.
    pub interchanged: bool,
    /// Cycles from one iteration of its slowest loop to the next, where these follow the rate of other groups.
    pub rows: Option<u64>,
    /// The group before it, as an index in [`Coarse::stages`], that it follows iteration by iteration, taking each value as
    /// it comes.
    pub follows: Vec<usize>,
    /// Its compute unit.
    pub unit: Resource,
}

/// A resource in use: an entry of a reservation table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The loop whose iteration it is in, as an index in [`Coarse::loops`]; nothing outside of all.
    pub place: Option<usize>,
    /// The resource in use.
    pub resource: Resource,
    /// Which of the ports.
    pub port: usize,
    /// The group, or the loop, that uses it.
    pub by: String,
    /// First cycle after the start of the iteration.
    pub from: u64,
    /// Cycle after the last.
    pub to: u64,
    /// After how many cycles it comes again within the iteration, for rows that follow the rate of others.
    pub every: Option<u64>,
}

/// A coarse-grained schedule, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coarse {
    /// When all stages run.
    pub schedule: Schedule,
    /// Loops that stages share, each before those inside.
    pub loops: Vec<CoarseLoop>,
    /// Groups of stages, in program order.
    pub stages: Vec<CoarseStage>,
    /// The reservation tables of all loops.
    pub reservations: Vec<Reservation>,
}

impl Coarse {
    /// Whether rows of some stages or loops follow the rate of others.
    pub fn matches_rates(&self) -> bool {
        self.stages.iter().any(|stage| stage.rows.is_some())
            || self.reservations.iter().any(|entry| entry.every.is_some())
    }
}

/// Runs whole stages in a pipeline, each as soon as the elements that it reads are there and its resources are free.
///
/// # Errors
/// When a stage reads elements that are written only later, stages do not agree on their loops, or there are too many
/// cycles.
pub fn coarse(pipeline: &Pipeline, options: &CoarseOptions) -> Result<Coarse, ScheduleError> {
    for (number, stage) in pipeline.stages.iter().enumerate() {
        if !stage.write.is_affine() {
            return Err(ScheduleError::at(pipeline, number, ScheduleFault::WriteDivides));
        }
    }
    let tree = Tree::of(pipeline, options)?;
    check_order(pipeline, &tree)?;
    let mut found = Bodies::of(pipeline, &tree, options).map(|bodies| (tree.clone(), bodies));
    let distributed = || distribute::distributed(pipeline, &tree, options);
    if let Some(apart) = options.distribute.then(distributed).flatten() {
        let tree = Tree::of(&apart, options)?;
        let length = |found: &(Tree, Bodies)| found.1.root.length;
        found = match (found, Bodies::of(&apart, &tree, options).map(|bodies| (tree, bodies))) {
            (Ok(found), Ok(apart)) if length(&apart) >= length(&found) => Ok(found),
            (found, apart) => apart.or(found),
        };
    }
    let (tree, bodies) = found?;
    let units = &bodies.resources;
    let mut loops = shared_loops(pipeline, &tree, &bodies);
    let mut starts = vec![0; tree.groups.len()];
    let mut reservations = Vec::new();
    let places = (0..tree.loops.len()).map(Some).chain([None]);
    for (place, body) in places.zip(bodies.loops.iter().chain([&bodies.root])) {
        for (child, start) in &body.starts {
            match *child {
                Child::Group(group) => starts[group] = *start,
                Child::Loop(level) => loops[level].start = *start as u64,
            }
        }
        reservations.extend(table(pipeline, &tree, units, place, body));
    }
    let mut stages = Vec::new();
    let mut schedules = Vec::new();
    for (number, (group, nest)) in tree.groups.iter().zip(&bodies.nests).enumerate() {
        let body::Timing { start, strides } = &bodies.timings[number];
        schedules.extend(group.members(pipeline).iter().map(|stage| starting_at(*start, strides.clone(), stage)));
        let iterations = group.extents.iter().take(group.own()).product::<i64>();
        stages.push(CoarseStage {
            name: pipeline.stages[group.stages.start].name.clone(),
            stages: group.stages.clone(),
            parent: group.parent,
            start: starts[number] as u64,
            iterations: iterations as u64,
            busy: nest.span as u64,
            interval: nest.interval as u64,
            interchanged: nest.interchanged,
            rows: nest.rows.map(|rows| rows.interval as u64),
            follows: bodies.follows[number].iter().copied().collect(),
            unit: units[bodies.units[number]].clone(),
        });
    }
    let found = Coarse { schedule: Schedule { stages: schedules }, loops, stages, reservations };
    if options.match_rates && !found.matches_rates() {
        // Stages may have waited for rows that do not follow others after all.
        let dense = coarse(pipeline, &CoarseOptions { match_rates: false, ..options.clone() })?;
        let length = |found: &Coarse| found.schedule.length(pipeline);
        return Ok(if length(&dense) < length(&found) { dense } else { found });
    }
    Ok(found)
}

/// The loops that stages share, before it is known where in those around them they start.
fn shared_loops(pipeline: &Pipeline, tree: &Tree, bodies: &Bodies) -> Vec<CoarseLoop> {
    let named = |(&array, &versions): (&usize, &i64)| (pipeline.arrays[array].name.clone(), versions as u64);
    let of_body = |(level, body): (&tree::SharedLoop, &Body)| CoarseLoop {
        name: level.name.clone(),
        parent: level.parent,
        extent: level.extent as u64,
        start: 0,
        interval: body.interval as u64,
        bound: body.bound.clone(),
        length: body.length as u64,
        versions: body.versions.iter().map(named).collect(),
    };
    tree.loops.iter().zip(&bodies.loops).map(of_body).collect()
}

/// Entries of the reservation table of one body.
fn table(pipeline: &Pipeline, tree: &Tree, units: &[Resource], place: Option<usize>, body: &Body) -> Vec<Reservation> {
    let mut entries: BTreeMap<(usize, usize, i64, i64), Reservation> = BTreeMap::new();
    for (child, taken, port) in &body.taken {
        let by = match *child {
            Child::Group(group) => pipeline.stages[tree.groups[group].stages.start].name.clone(),
            Child::Loop(level) => format!("loop {}", tree.loops[level].name),
        };
        let (from, to) = (taken.from as u64, taken.to as u64);
        let resource = units[taken.resource].clone();
        let every = (taken.turns.every > 0).then_some(taken.turns.every as u64);
        let entry = Reservation { place, resource, port: *port, by, from, to, every };
        entries.insert((taken.resource, *port, taken.from, taken.to), entry);
    }
    entries.into_values().collect()
}

/// Checks that elements are written before they are read: by groups above, or by the own group in earlier iterations.
fn check_order(pipeline: &Pipeline, tree: &Tree) -> Result<(), ScheduleError> {
    for (number, group) in tree.groups.iter().enumerate() {
        for consumer in group.stages.clone() {
            let stage = &pipeline.stages[consumer];
            for read in arrays::accesses(number, consumer, stage).take(stage.reads.len()) {
                let (access, (_, read_number)) = (read.access, read.at);
                let error = |fault: ScheduleFault, writer: usize| {
                    ScheduleError::at(pipeline, consumer, fault).with(pipeline, writer).about(pipeline, access.array)
                };
                let mut later = None;
                let mut earlier = false;
                for &writer in tree.writers_meeting(read) {
                    let (other, stage) = (tree.group_of(writer), &pipeline.stages[writer]);
                    let updates = writer == consumer && *access == stage.write;
                    // A copy of an unrolled loop that needs the result of another copy in the same iteration.
                    let own = &pipeline.stages[consumer].write;
                    if other == number && !updates && *access == *own && stage.write == *own {
                        return Err(error(ScheduleFault::Serial, writer));
                    }
                    // A group may take results of its own earlier iterations.
                    if other == number && !updates {
                        carried(pipeline, writer, consumer, read_number, group.depth)?;
                        continue;
                    }
                    earlier |= other < number;
                    later = later.or((other >= number).then_some(writer));
                }
                if let (Some(writer), false) = (later, earlier) {
                    return Err(error(ScheduleFault::Cycle, writer));
                }
            }
        }
    }
    Ok(())
}

pub(crate) use nest::exchange_results;
pub(crate) use tree::runs;

/// Strides of the loops of stages that run together but the outermost `depth`, in the order of the program, and their cycles from
/// the first iteration to the last.
pub(crate) fn alone(pipeline: &Pipeline, stages: Range<usize>, depth: usize, waits: &CoarseOptions) -> (Vec<i64>, i64) {
    let members = || pipeline.stages[stages.clone()].iter();
    let extent = |level: usize| {
        let extents = members().map(|stage| i64::try_from(stage.loops[level].extent).unwrap_or(i64::MAX));
        extents.max().unwrap_or(1)
    };
    let extents: Vec<i64> = (0..pipeline.stages[stages.start].loops.len()).map(extent).collect();
    let latency = members().map(|stage| i64::try_from(stage.latency).unwrap_or(i64::MAX)).max().unwrap_or(0);
    let depth = depth.min(extents.len());
    let own = extents.len() - depth;
    let group = tree::Group { stages, depth, parent: None, extents, latency: (latency, latency) };
    let transport = waits.transport.clone();
    let random_access = waits.random_access.clone();
    let options = CoarseOptions {
        interchange: false,
        round_trip: waits.round_trip,
        transport,
        random_access,
        ..CoarseOptions::default()
    };
    let gap = options.update_gap(pipeline, &group);
    match nest::nest(pipeline, &group, gap.min(LIMIT), &options) {
        Some(nest) => (nest.strides, nest.span),
        None => {
            let mut span = 1_i64;
            let mut strides = Vec::new();
            for extent in &group.extents[..own] {
                strides.push(span);
                span = span.saturating_mul(*extent);
            }
            (strides, span)
        }
    }
}
