//! One iteration of each shared loop: its nodes, their reservations, and their waits.

mod double_buffering;
mod loop_flattening;

use itertools::Itertools;
use std::collections::{BTreeMap, BTreeSet};

use super::arrays::{distance_of_writes, lead, pointwise, touches, update_spacing, writes_meeting};
use super::modulo_scheduling::{Edge, Limit, Problem, Solution, Turns, Use};
use super::nest::{Nest, in_rows, nest};
use super::rate_matching::{Demand, Pace, Rates};
use super::reservation_table::fits_alone;
use super::tree::{Child, Tree};
use super::{Bound, CoarseOptions, LIMIT, Resource};
use crate::error::{ScheduleError, StageName};
use double_buffering::{FURTHEST, Room, Versions};
use loop_flattening::Inner;
use pushmem_stages::Pipeline;

/// Rows are tried to come later than they could by so many eighths of their interval.
const SLACK: [i64; 5] = [0, 1, 2, 4, 8];

/// One iteration of a loop, or everything outside of loops.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub interval: i64,
    pub bound: Bound,
    /// Cycles from its start to the end of its last stage.
    pub length: i64,
    /// Starts of its children.
    pub starts: Vec<(Child, i64)>,
    /// Reservations of children, each with the number of the port.
    pub taken: Vec<(Child, Use, usize)>,
    /// Arrays with more than two versions.
    pub versions: Versions,
    /// When groups touch arrays.
    windows: Vec<Window>,
}

/// When a group touches an array: from a cycle, before another. For all iterations of the loops considered so far.
#[derive(Clone, Copy, Debug)]
struct Window {
    group: usize,
    array: usize,
    read: Option<(i64, i64)>,
    write: Option<(i64, i64)>,
}

impl Window {
    fn moved(self, first: i64, last: i64) -> Self {
        let moved = |window: Option<(i64, i64)>| window.map(|(from, to)| (from + first, to + last));
        Window { read: moved(self.read), write: moved(self.write), ..self }
    }
}

/// The iterations of a group, in the loops around it that are scheduled so far.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    /// Cycles from the start of the outermost of these loops to its first iteration.
    pub start: i64,
    /// Cycles of a step of each loop, innermost first: its own loops, then the shared ones.
    pub strides: Vec<i64>,
}

/// A dependence within an iteration that waits less if both are fused.
#[derive(Clone, Copy, Debug)]
struct Wait {
    edge: Edge,
    /// Cycles from start to start if the second follows the first iteration by iteration.
    fused: Option<i64>,
}

/// All bodies.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    pub nests: Vec<Nest>,
    /// By group, when it runs in the whole pipeline.
    pub timings: Vec<Timing>,
    pub loops: Vec<Body>,
    pub root: Body,
    pub resources: Vec<Resource>,
    /// By group, its unit, as an index in `resources`.
    pub units: Vec<usize>,
    /// By group, those that it follows iteration by iteration.
    pub follows: Vec<BTreeSet<usize>>,
}

/// Context that all bodies share.
struct Context<'a> {
    pipeline: &'a Pipeline,
    tree: &'a Tree,
    options: &'a CoarseOptions,
    nests: Vec<Nest>,
    /// By group.
    timings: Vec<Timing>,
    resources: Vec<Resource>,
    ports: Vec<usize>,
    units: Vec<usize>,
    /// By array: resources to read and to write it.
    memories: Vec<(usize, usize)>,
    follows: Vec<BTreeSet<usize>>,
    rates: &'a Rates,
    /// By loop.
    bodies: Vec<Option<Body>>,
}

impl Bodies {
    /// Schedules all bodies, the innermost first. Rows follow the rate of the slowest nest, if that is asked for and shorter.
    ///
    /// # Errors
    /// When there are too many cycles.
    pub fn of(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions) -> Result<Bodies, ScheduleError> {
        let dense = Context::of(pipeline, tree, options, &Rates::default())?.root()?;
        let Some(rates) = options.match_rates.then(|| Rates::of(pipeline, tree, options)).flatten() else {
            return Ok(dense);
        };
        let Ok(context) = Context::of(pipeline, tree, options, &rates) else { return Ok(dense) };
        let mut best = dense;
        // Rows that are loaded late may take longer than dense nests: memories keep fewer of them.
        let mut below = if options.loads_follow { i64::MAX } else { best.root.length };
        // Where an interval is used up, nests may find no place in it that others leave: longer ones are looser.
        for slack in SLACK {
            for loads_at_once in [true, false].into_iter().filter(|at_once| !(*at_once && options.loads_follow)) {
                let (demand, pace) = (|child: Child| context.demand(child), Pace { slack, loads_at_once });
                let Some(rates) = rates.clone().paced(demand, &context.ports, options, pace) else { return Ok(best) };
                let Ok(matched) = Context::of(pipeline, tree, options, &rates) else { return Ok(best) };
                // The slowest takes no less, and with more slack takes longer.
                if matched.least_length() >= below {
                    return Ok(best);
                }
                if let Some(matched) = matched.root().ok().filter(|matched| matched.root.length < below) {
                    below = matched.root.length;
                    best = matched;
                }
            }
        }
        Ok(best)
    }
}

impl<'a> Context<'a> {
    /// All loops inside, with the rows of some children of the root at their intervals.
    ///
    /// # Errors
    /// When there are too many cycles.
    fn of(
        pipeline: &'a Pipeline,
        tree: &'a Tree,
        options: &'a CoarseOptions,
        rates: &'a Rates,
    ) -> Result<Context<'a>, ScheduleError> {
        let mut nests = Vec::new();
        for (number, group) in tree.groups.iter().enumerate() {
            let gap = options.update_gap(pipeline, group);
            let found = match rates.of_group(number) {
                Some((level, interval)) => in_rows(pipeline, group, gap, options, level)
                    .and_then(|nest| interval.map_or(Some(nest.clone()), |interval| nest.paced(interval))),
                None => nest(pipeline, group, gap, options),
            };
            nests.push(found.ok_or_else(|| too_long(pipeline, tree, &Child::Group(number)))?);
        }
        let timings = nests.iter().map(|nest: &Nest| Timing { start: 0, strides: nest.strides.clone() }).collect();
        let mut context = Context {
            pipeline,
            tree,
            options,
            nests,
            timings,
            resources: Vec::new(),
            ports: Vec::new(),
            units: Vec::new(),
            memories: Vec::new(),
            follows: vec![BTreeSet::new(); tree.groups.len()],
            rates,
            bodies: vec![None; tree.loops.len()],
        };
        context.add_resources();
        for level in (0..tree.loops.len()).rev() {
            let body = context.body(Some(level), &tree.loops[level].children)?;
            context.bodies[level] = Some(body);
        }
        Ok(context)
    }

    /// The whole pipeline.
    ///
    /// # Errors
    /// When there are too many cycles.
    fn root(mut self) -> Result<Bodies, ScheduleError> {
        let root = self.body(None, &self.tree.roots)?;
        Ok(Bodies {
            nests: self.nests,
            timings: self.timings,
            loops: self.bodies.into_iter().flatten().collect(),
            root,
            resources: self.resources,
            units: self.units,
            follows: self.follows,
        })
    }

    /// Cycles that the rows of one stage or loop take at least.
    fn least_length(&self) -> i64 {
        let groups = self.nests.iter().map(|nest| nest.span);
        let loops = self.bodies.iter().zip(&self.tree.loops).filter_map(|(body, level)| {
            let around = level.parent.is_none();
            body.as_ref().filter(|_| around)?.interval.checked_mul(level.extent - 1)
        });
        groups.chain(loops).max().unwrap_or(0)
    }

    /// The demand of a child of the root for its rows.
    fn demand(&self, child: Child) -> Demand {
        match child {
            Child::Group(group) => {
                let interval = self.nests[group].rows.map_or(self.nests[group].span, |rows| rows.interval);
                Demand { interval, uses: self.uses(group, &BTreeSet::new()) }
            }
            Child::Loop(level) => {
                let body = self.bodies[level].as_ref();
                let uses = body.map_or_else(Vec::new, |body| body.taken.iter().map(|(_, taken, _)| *taken).collect());
                Demand { interval: body.map_or(1, |body| body.interval), uses }
            }
        }
    }
}

/// The error of a stage that takes too long.
fn too_long(pipeline: &Pipeline, tree: &Tree, child: &Child) -> ScheduleError {
    let mut child = *child;
    loop {
        match child {
            Child::Group(group) => {
                return ScheduleError::TooLong { stage: StageName::of(pipeline, tree.groups[group].stages.start) };
            }
            Child::Loop(level) => child = tree.loops[level].children[0],
        }
    }
}

impl Context<'_> {
    fn add_resources(&mut self) {
        let (pipeline, options) = (self.pipeline, self.options);
        let shared: Vec<Option<&str>> = self
            .tree
            .groups
            .iter()
            .map(|group| group.stages.clone().find_map(|stage| options.share.get(stage)?.as_deref()))
            .collect();
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        let taken: BTreeSet<&str> = shared.iter().copied().flatten().collect();
        for (group, shared) in self.tree.groups.iter().zip(&shared) {
            let name = shared.map_or_else(
                || {
                    // Nothing but a name given by the caller makes two units one.
                    let own = &pipeline.stages[group.stages.start].name;
                    let mut names = (1..).map(|number| match number {
                        1 => own.clone(),
                        _ => format!("{own} ({number})"),
                    });
                    let free = names.find(|name| !taken.contains(name.as_str()) && !named.contains_key(name));
                    free.unwrap_or_else(|| own.clone())
                },
                str::to_owned,
            );
            let next = self.resources.len();
            let unit = *named.entry(name.clone()).or_insert(next);
            if unit == next {
                self.resources.push(Resource::Unit(name));
                self.ports.push(1);
            }
            self.units.push(unit);
        }
        for (number, array) in pipeline.arrays.iter().enumerate() {
            let at = self.resources.len();
            let name = || array.name.clone();
            if options.serialized.contains(&number) {
                self.resources.push(Resource::Access(name()));
                self.ports.push(1);
                self.memories.push((at, at));
            } else {
                self.resources.extend([Resource::Write(name()), Resource::Read(name())]);
                let ports = options.ports_of.get(&number).copied();
                let (write_ports, read_ports) = ports.unwrap_or((options.write_ports, options.read_ports));
                self.ports.extend([write_ports.max(1), read_ports.max(1)]);
                self.memories.push((at + 1, at));
            }
        }
    }

    /// When a group touches arrays.
    fn windows(&self, group: usize) -> Vec<Window> {
        self.windows_within(group, self.nests[group].span)
    }

    /// When a group touches arrays in iterations of so many cycles.
    fn windows_within(&self, group: usize, span: i64) -> Vec<Window> {
        let content = &self.tree.groups[group];
        let members = content.members(self.pipeline);
        let accesses = members.iter().flat_map(|stage| stage.reads.iter().chain([&stage.write]));
        let arrays: BTreeSet<usize> = accesses.map(|access| access.array).collect();
        let touched =
            |array: usize, writes: bool| touches(self.pipeline, self.tree, group, array, writes).next().is_some();
        // The address of an element may come with the result of another read.
        let shown = |array: usize| {
            if !self.options.random_access.contains(&array) {
                return (0, 0);
            }
            let stages = content.stages.clone().zip(content.members(self.pipeline));
            let cycles = stages.flat_map(|(number, stage)| {
                let own = (0..stage.reads.len()).filter(move |&read| stage.reads[read].array == array);
                own.map(move |read| self.options.transport.arrival(number, read))
            });
            cycles.minmax().into_option().unwrap_or_default()
        };
        let window = |array: usize| Window {
            group,
            array,
            read: touched(array, false).then(|| (shown(array).0, span + shown(array).1)),
            write: touched(array, true).then_some((content.latency.0, content.latency.1 + span)),
        };
        arrays.into_iter().map(window).collect()
    }

    /// Reservations of a group, without ports for arrays that it gets as they are computed, and for reads of random-access memories,
    /// each of which has its own.
    fn uses(&self, group: usize, direct: &BTreeSet<usize>) -> Vec<Use> {
        let nest = &self.nests[group];
        let (span, turns) = match nest.rows {
            Some(rows) => (rows.span, Turns { every: rows.interval, last: rows.last }),
            None => (nest.span, Turns::default()),
        };
        let unit = Use { resource: self.units[group], from: 0, to: span, turns };
        let mut uses = vec![unit];
        for window in self.windows_within(group, span) {
            let (read, write) = self.memories[window.array];
            let has_own = direct.contains(&window.array) || self.options.random_access.contains(&window.array);
            let reads = window.read.filter(|_| !has_own);
            let ports = [(read, reads), (write, window.write)];
            for (resource, (from, to)) in ports.into_iter().filter_map(|(port, window)| Some((port, window?))) {
                // One port for both is the group's from its first read to its last write.
                match uses.iter_mut().find(|other| other.resource == resource) {
                    Some(other) => (other.from, other.to) = (other.from.min(from), other.to.max(to)),
                    None => uses.push(Use { resource, from, to, turns }),
                }
            }
        }
        uses
    }

    /// Schedules one iteration of a loop, or the stages outside of all loops.
    fn body(&mut self, level: Option<usize>, children: &[Child]) -> Result<Body, ScheduleError> {
        let inner: Vec<Option<Inner>> = children
            .iter()
            .map(|child| match *child {
                Child::Group(_) => Ok(None),
                Child::Loop(inner) => {
                    let body = self.bodies[inner].as_ref();
                    let (extent, rows) = (self.tree.loops[inner].extent, self.rates.of_loop(inner).is_some());
                    let found = body.and_then(|body| Inner::of(body, extent, self.options.flatten, rows));
                    found.map(Some).ok_or_else(|| too_long(self.pipeline, self.tree, child))
                }
            })
            .collect::<Result<_, _>>()?;
        let windows: Vec<Vec<Window>> = children
            .iter()
            .zip(&inner)
            .map(|(child, inner)| match (child, inner) {
                (Child::Group(group), _) => self.windows(*group),
                (_, inner) => inner.as_ref().map_or_else(Vec::new, |inner| inner.windows.clone()),
            })
            .collect();
        let mut fits = 0_i64;
        for (child, windows) in children.iter().zip(&windows) {
            let ends = windows.iter().flat_map(|window| [window.read, window.write]).flatten().map(|(_, to)| to);
            fits = fits.saturating_add(ends.max().unwrap_or(0) + self.options.round_trip as i64);
            if fits > LIMIT {
                return Err(too_long(self.pipeline, self.tree, child));
            }
        }
        let contents = Contents { level, children, inner: &inner, windows: &windows };
        let Plan { waits, clusters, nodes, of_node, solution, versions } = self.balanced(&contents);
        let mut body = Body {
            interval: solution.period,
            bound: self.bound(solution.limit),
            length: 0,
            starts: Vec::new(),
            taken: Vec::new(),
            versions,
            windows: Vec::new(),
        };
        for (number, child) in children.iter().enumerate() {
            let start = solution.starts[clusters.node[number]] + clusters.offset[number];
            body.starts.push((*child, start));
            body.windows.extend(windows[number].iter().map(|window| window.moved(start, start)));
        }
        self.place(&body, level);
        for (node, uses) in nodes.iter().enumerate() {
            let start = solution.starts[node];
            for ((taken, &port), &child) in uses.iter().zip(&solution.ports[node]).zip(&of_node[node]) {
                let moved = Use { from: taken.from + start, to: taken.to + start, ..*taken };
                body.taken.push((children[child], moved, port));
            }
        }
        let ends = body.windows.iter().flat_map(|window| [window.read, window.write]).flatten().map(|(_, to)| to);
        body.length = ends.chain(body.taken.iter().map(|(_, taken, _)| taken.end())).max().unwrap_or(0);
        if body.length > LIMIT || body.interval > LIMIT {
            return Err(too_long(self.pipeline, self.tree, &children[0]));
        }
        for (number, child) in children.iter().enumerate() {
            let Child::Group(group) = child else { continue };
            for wait in waits.iter().filter(|wait| wait.fused.is_some() && wait.edge.to == number) {
                if let (Child::Group(producer), true) = (children[wait.edge.from], clusters.together(wait.edge)) {
                    self.follows[*group].insert(producer);
                }
            }
        }
        Ok(body)
    }

    /// Notes when groups run in all iterations of a loop.
    fn place(&mut self, body: &Body, level: Option<usize>) {
        for &(child, start) in &body.starts {
            let inside = |group: usize| match child {
                Child::Group(only) => group == only,
                Child::Loop(inner) => self.tree.below(group, Some(inner)),
            };
            for group in (0..self.tree.groups.len()).filter(|&group| inside(group)) {
                self.timings[group].start += start;
                self.timings[group].strides.extend(level.map(|_| body.interval));
            }
        }
    }

    /// Schedules an iteration with so many versions of some arrays, two of the others.
    fn plan(&self, contents: &Contents, versions: Versions) -> Plan {
        let Contents { level, children, inner, windows } = *contents;
        let waits = self.waits(level, children, windows, &versions);
        let clusters = self.fuse(children, inner, &waits);
        let dense = inner.iter().flatten().map(|inner| inner.dense).max().unwrap_or(0);
        let least = level.and_then(|level| self.rates.of_loop(level)).flatten().unwrap_or(0).max(dense);
        let (nodes, of_node) = self.nodes(children, inner, &waits, &clusters);
        let edges: Vec<Edge> = waits.iter().filter_map(|wait| clusters.contracted(wait)).collect();
        let mut problem = Problem { nodes, edges, ports: &self.ports, repeats: level.is_some(), least };
        // A perfect nest is one long loop.
        let perfect = self.options.flatten && level.is_some() && matches!(children, [Child::Loop(_)]);
        let mut solution = match perfect {
            true => Solution {
                period: least,
                limit: Limit::Inner,
                starts: vec![0],
                ports: inner.iter().flatten().map(|inner| inner.ports.clone()).collect(),
            },
            false => self.solved(&mut problem),
        };
        if solution.limit == Limit::Inner && least > dense {
            solution.limit = Limit::Rate;
        }
        Plan { waits, clusters, nodes: problem.nodes, of_node, solution, versions }
    }

    /// A solution. Where memories are read by whole rows, each iteration begins at the same place in the turn of their accesses: the
    /// interval is a multiple of the words of a row.
    fn solved(&self, problem: &mut Problem) -> Solution {
        let turn = if self.options.whole_rows.is_empty() { 1 } else { self.options.row_multiple.max(1) as i64 };
        loop {
            let solution = problem.solve();
            let late = solution.period.rem_euclid(turn);
            if late == 0 || !problem.repeats || solution.period > LIMIT {
                return solution;
            }
            problem.least = solution.period + turn - late;
        }
    }

    fn bound(&self, limit: Limit) -> Bound {
        match limit {
            Limit::Resource(resource) => Bound::Resource(self.resources[resource].clone()),
            Limit::Arrays(arrays) => {
                Bound::Arrays(arrays.into_iter().map(|array| self.pipeline.arrays[array].name.clone()).collect())
            }
            Limit::Inner => Bound::Inner,
            Limit::Rate => Bound::Rate,
            Limit::Conflicts => Bound::Conflicts,
        }
    }

    /// All dependences between the children of a loop.
    fn waits(
        &self,
        level: Option<usize>,
        children: &[Child],
        windows: &[Vec<Window>],
        versions: &Versions,
    ) -> Vec<Wait> {
        let mut by_array: BTreeMap<usize, Vec<(usize, Window)>> = BTreeMap::new();
        for (child, windows) in windows.iter().enumerate() {
            for window in windows {
                by_array.entry(window.array).or_default().push((child, *window));
            }
        }
        let mut waits = Vec::new();
        for (array, windows) in by_array {
            if windows.iter().all(|(_, window)| window.write.is_none()) {
                continue;
            }
            let room = self.room(level, array, versions);
            for (place, &(child, window)) in windows.iter().enumerate() {
                if let (Child::Group(group), Some(level)) = (children[child], level) {
                    waits.extend(self.recurrence(level, child, group, array, room.versions));
                }
                for &(after, later) in windows[place + 1..].iter().filter(|(after, _)| *after != child) {
                    self.within((child, window), (after, later), children, room, &mut waits);
                    self.across((child, window), (after, later), room, &mut waits);
                }
            }
        }
        waits
    }

    /// The wait of a group that updates elements, in the next iteration of its innermost shared loop.
    fn recurrence(&self, level: usize, child: usize, group: usize, array: usize, versions: i64) -> Option<Wait> {
        let content = &self.tree.groups[group];
        let updates = content.members(self.pipeline).iter().any(|stage| stage.updates() && stage.write.array == array);
        // With two versions every iteration begins with new values.
        if !updates || versions > 1 || content.parent != Some(level) {
            return None;
        }
        let (distance, travel) = update_spacing(self.pipeline, self.tree, group, &self.nests[group])?;
        let weight = travel + self.options.update_gap(self.pipeline, content);
        let edge = Edge { from: child, to: child, weight, distance: distance.min(FURTHEST), array };
        Some(Wait { edge, fused: None })
    }

    /// The most cycles that words travel from stages of a group to stages of another.
    fn transport(&self, producer: usize, consumer: usize) -> u64 {
        let stages = |group: usize| self.tree.groups[group].stages.clone();
        self.options.transport.longest(stages(producer), stages(consumer))
    }

    /// Cycles that a word needs through the memory of an array. Where reads begin anywhere in a row, its fetch is earlier by as many
    /// cycles as a row has words. A random-access memory shows it in the cycle in which it is written, before the next one.
    fn round_trip(&self, array: usize) -> i64 {
        if self.options.random_access.contains(&array) {
            return -1;
        }
        let earlier = if self.options.whole_rows.contains(&array) { self.options.row_multiple } else { 0 };
        (self.options.round_trip + earlier) as i64
    }

    /// Whether two groups, one of which writes, may touch the same element of an array.
    fn meet(&self, (one, writes): (usize, bool), (other, other_writes): (usize, bool), array: usize) -> bool {
        let (writer, other, writes) = if other_writes { (other, one, writes) } else { (one, other, false) };
        touches(self.pipeline, self.tree, other, array, writes)
            .any(|touch| writes_meeting(self.pipeline, self.tree, writer, touch).next().is_some())
    }

    /// Flow, output and anti dependences within an iteration.
    fn within(
        &self,
        (from, first): (usize, Window),
        (to, second): (usize, Window),
        children: &[Child],
        room: Room,
        waits: &mut Vec<Wait>,
    ) {
        let (array, round_trip) = (first.array, self.round_trip(first.array));
        let edge = |weight: i64| Edge { from, to, weight, distance: 0, array };
        let meet = |writes: bool, later: bool| self.meet((first.group, writes), (second.group, later), array);
        let groups = matches!((children[from], children[to]), (Child::Group(_), Child::Group(_)));
        let nests = (&self.nests[first.group], &self.nests[second.group]);
        // With values of an iteration before, an element may not be the producer's of this one.
        let may_overlap = self.options.overlap && (room.versions > 1 || room.spacing.is_none());
        let timings = (&self.timings[first.group], &self.timings[second.group]);
        let timed = ((first.group, timings.0), (second.group, timings.1));
        if let (Some((_, end)), Some((start, _)), true) = (first.write, second.read, meet(true, false)) {
            let pair = ((first.group, nests.0), (second.group, nests.1));
            let fused = groups && pointwise(self.pipeline, self.tree, pair.0, pair.1, array);
            let transport = self.transport(first.group, second.group);
            let travel = transport as i64;
            let whole = end + round_trip + travel - start;
            let early =
                may_overlap.then(|| lead(self.pipeline, self.tree, timed.0, timed.1, array, transport)).flatten();
            let early = early.map(|lead| {
                let between = lead.max(self.tree.groups[first.group].latency.0 + travel) + 1 + round_trip;
                timings.0.start + between - timings.1.start
            });
            let weight = early.map_or(whole, |early| early.min(whole));
            let latency = self.tree.groups[first.group].latency.1 + travel;
            waits.push(Wait { edge: edge(weight), fused: fused.then_some(latency) });
        }
        if let (Some((_, end)), Some((start, _)), true) = (first.read, second.write, meet(false, true)) {
            waits.push(Wait { edge: edge(end - start), fused: None });
        }
        if let (Some((_, end)), Some((start, _)), true) = (first.write, second.write, meet(true, true)) {
            // An update writes the element that it has read, so it waits already.
            let members = self.tree.groups[second.group].members(self.pipeline);
            if !members.iter().all(|stage| stage.updates()) {
                let early = self.options.match_rates && may_overlap;
                let early =
                    early.then(|| distance_of_writes(self.pipeline, self.tree, timed.0, timed.1, array)).flatten();
                let early = early.map(|distance| timings.0.start + distance - timings.1.start);
                let whole = end - start;
                waits.push(Wait { edge: edge(early.map_or(whole, |early| early.min(whole))), fused: None });
            }
        }
    }

    /// Waits of the first group for the second, some iterations before.
    fn across(&self, (to, first): (usize, Window), (from, second): (usize, Window), room: Room, waits: &mut Vec<Wait>) {
        let Some(spacing) = room.spacing else { return };
        let array = first.array;
        let distance = spacing.max(room.versions);
        let meet = |writes: bool, later: bool| self.meet((second.group, writes), (first.group, later), array);
        let mut add = |weight: i64| {
            let edge = Edge { from, to, weight, distance, array };
            waits.push(Wait { edge, fused: None });
        };
        if let (Some((_, end)), Some((start, _)), 1, true) =
            (second.write, first.read, room.versions, meet(true, false))
        {
            let random = self.options.random_access.contains(&array);
            let round_trip = if random { self.round_trip(array) } else { self.options.round_trip as i64 };
            add(end + round_trip + self.transport(second.group, first.group) as i64 - start);
        }
        if let (Some((_, end)), Some((start, _)), true) = (second.read, first.write, meet(false, true)) {
            add(end - start);
        }
        if let (Some((_, end)), Some((start, _)), true) = (second.write, first.write, meet(true, true)) {
            add(end - start);
        }
    }

    /// Reservations of each node, and the child of each.
    fn nodes(
        &self,
        children: &[Child],
        inner: &[Option<Inner>],
        waits: &[Wait],
        clusters: &Clusters,
    ) -> (Vec<Vec<Use>>, Vec<Vec<usize>>) {
        let mut nodes: Vec<Vec<Use>> = vec![Vec::new(); clusters.count];
        let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); clusters.count];
        for (number, child) in children.iter().enumerate() {
            let fused = waits.iter().filter(|wait| wait.fused.is_some() && wait.edge.to == number);
            let direct = fused.filter(|wait| clusters.together(wait.edge)).map(|wait| wait.edge.array).collect();
            let uses = match (child, &inner[number]) {
                (Child::Group(group), _) => self.uses(*group, &direct),
                (Child::Loop(_), inner) => inner.as_ref().map_or_else(Vec::new, |inner| inner.uses.clone()),
            };
            let (node, offset) = (clusters.node[number], clusters.offset[number]);
            of_node[node].extend(uses.iter().map(|_| number));
            let moved = |taken: Use| Use { from: taken.from + offset, to: taken.to + offset, ..taken };
            nodes[node].extend(uses.into_iter().map(moved));
        }
        (nodes, of_node)
    }

    /// Joins children that run iteration by iteration into nodes, wherever nothing else forbids it.
    fn fuse(&self, children: &[Child], inner: &[Option<Inner>], waits: &[Wait]) -> Clusters {
        let mut clusters = Clusters::apart(children.len());
        for wait in waits {
            let Some(delay) = wait.fused else { continue };
            let joined = clusters.joined(wait.edge, delay);
            if !joined.possible(waits) {
                continue;
            }
            // Groups of a node run at the same time, so each needs resources of its own.
            let (mut nodes, _) = self.nodes(children, inner, waits, &joined);
            let node = nodes.swap_remove(joined.node[wait.edge.to]);
            if fits_alone(node, &self.ports) {
                clusters = joined;
            }
        }
        clusters
    }
}

/// Contents of an iteration of a loop.
#[derive(Clone, Copy)]
struct Contents<'a> {
    level: Option<usize>,
    children: &'a [Child],
    inner: &'a [Option<Inner>],
    windows: &'a [Vec<Window>],
}

/// A schedule of an iteration, and its constraints.
struct Plan {
    waits: Vec<Wait>,
    clusters: Clusters,
    nodes: Vec<Vec<Use>>,
    of_node: Vec<Vec<usize>>,
    solution: Solution,
    versions: Versions,
}

/// Children that are one node of a problem, and when each starts after the start of the node.
#[derive(Clone, Debug)]
struct Clusters {
    count: usize,
    node: Vec<usize>,
    offset: Vec<i64>,
}

impl Clusters {
    fn apart(children: usize) -> Self {
        Clusters { count: children, node: (0..children).collect(), offset: vec![0; children] }
    }

    fn together(&self, edge: Edge) -> bool {
        edge.from != edge.to && self.node[edge.from] == self.node[edge.to]
    }

    /// The two of an edge in one node, the second so many cycles after the first, or more if it follows others as well.
    fn joined(&self, edge: Edge, delay: i64) -> Self {
        let mut joined = self.clone();
        let wanted = self.offset[edge.from] + delay;
        let (kept, gone) = (self.node[edge.from], self.node[edge.to]);
        if kept == gone {
            joined.offset[edge.to] = joined.offset[edge.to].max(wanted);
            return joined;
        }
        // The nodes are moved against each other so that this edge is exact.
        let shift = wanted - self.offset[edge.to];
        for child in 0..self.node.len() {
            if self.node[child] == gone {
                joined.node[child] = kept;
                joined.offset[child] += shift;
            }
        }
        let members: Vec<usize> = (0..self.node.len()).filter(|&child| joined.node[child] == kept).collect();
        let first = members.iter().map(|&child| joined.offset[child]).min().unwrap_or(0);
        members.iter().for_each(|&child| joined.offset[child] -= first);
        joined.renumbered()
    }

    /// Nodes in the order of their first children, without gaps.
    fn renumbered(mut self) -> Self {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for node in &mut self.node {
            let next = numbers.len();
            *node = *numbers.entry(*node).or_insert(next);
        }
        self.count = numbers.len();
        self
    }

    /// Cycles that an edge waits, from start to start.
    fn weight(&self, wait: &Wait) -> i64 {
        wait.fused.filter(|_| self.together(wait.edge)).unwrap_or(wait.edge.weight)
    }

    /// Whether all waits within nodes are kept, and nodes do not wait for each other in a circle.
    fn possible(&self, waits: &[Wait]) -> bool {
        let inside = || waits.iter().filter(|wait| wait.edge.distance == 0);
        let kept = |wait: &Wait| {
            let (from, to) = (wait.edge.from, wait.edge.to);
            !self.together(wait.edge) || self.offset[to] >= self.offset[from] + self.weight(wait)
        };
        let between = || inside().filter(|wait| !self.together(wait.edge));
        let mut done = vec![false; self.count];
        for _ in 0..self.count {
            let blocked =
                |node: usize| between().any(|wait| self.node[wait.edge.to] == node && !done[self.node[wait.edge.from]]);
            match (0..self.count).find(|&node| !done[node] && !blocked(node)) {
                Some(node) => done[node] = true,
                None => return false,
            }
        }
        inside().all(kept)
    }

    /// An edge between nodes; nothing if it is within one and kept.
    fn contracted(&self, wait: &Wait) -> Option<Edge> {
        let Edge { from, to, .. } = wait.edge;
        if self.together(wait.edge) && wait.edge.distance == 0 {
            return None;
        }
        let weight = self.weight(wait) + self.offset[from] - self.offset[to];
        Some(Edge { from: self.node[from], to: self.node[to], weight, ..wait.edge })
    }
}
