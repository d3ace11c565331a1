//! One iteration of each shared loop: its nodes, their reservations, and their waits.

mod clusters;
mod dependences;
mod double_buffering;
mod loop_flattening;
mod resources;

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_stages::Pipeline;

use super::arrays::touches;
use super::modulo_scheduling::{Edge, Limit, Problem, Solution, Use};
use super::nest::{Nest, in_rows, nest};
use super::rate_matching::{Demand, Pace, Rates};
use super::tree::{Child, Tree};
use super::{Bound, CoarseOptions, LIMIT, Resource};
use crate::error::{ScheduleError, ScheduleFault};
use clusters::Clusters;
use double_buffering::{Renewals, Versions, renewals};
use loop_flattening::Inner;

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

/// How groups and loops access arrays, which is the same at all rates.
struct Accesses {
    /// By group, when it touches arrays in an iteration that takes no cycle.
    windows: Vec<Vec<Window>>,
    renewals: Renewals,
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
    accesses: &'a Accesses,
    /// By loop.
    bodies: Vec<Option<Body>>,
}

impl Bodies {
    /// Schedules all bodies, the innermost first. Rows follow the rate of the slowest nest, if that is asked for and shorter.
    ///
    /// # Errors
    /// When there are too many cycles.
    pub fn of(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions) -> Result<Bodies, ScheduleError> {
        let windows = (0..tree.groups.len()).map(|group| windows(pipeline, tree, options, group)).collect_vec();
        let accesses = &Accesses { renewals: renewals(pipeline, tree, options, &windows), windows };
        let dense = Context::of(pipeline, tree, options, &Rates::default(), accesses)?.root()?;
        let Some(rates) = options.match_rates.then(|| Rates::of(pipeline, tree, options)).flatten() else {
            return Ok(dense);
        };
        let Ok(context) = Context::of(pipeline, tree, options, &rates, accesses) else { return Ok(dense) };
        let mut best = dense;
        // Rows that are loaded late may take longer than dense nests: memories keep fewer of them.
        let mut below = if options.loads_follow { i64::MAX } else { best.root.length };
        // Where an interval is used up, nests may find no place in it that others leave: longer ones are looser.
        for slack in SLACK {
            for loads_at_once in [true, false].into_iter().filter(|at_once| !(*at_once && options.loads_follow)) {
                let (demand, pace) = (|child: Child| context.demand(child), Pace { slack, loads_at_once });
                let Some(rates) = rates.clone().paced(demand, &context.ports, options, pace) else { return Ok(best) };
                let Ok(matched) = Context::of(pipeline, tree, options, &rates, accesses) else { return Ok(best) };
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
        accesses: &'a Accesses,
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
            accesses,
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

/// When a group touches arrays in an iteration that takes no cycle.
fn windows(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions, group: usize) -> Vec<Window> {
    let content = &tree.groups[group];
    let members = content.members(pipeline);
    let accesses = members.iter().flat_map(|stage| stage.reads.iter().chain([&stage.write]));
    let arrays: BTreeSet<usize> = accesses.map(|access| access.array).collect();
    let touched = |array: usize, writes: bool| touches(pipeline, tree, group, array, writes).next().is_some();
    // The address of an element may come with the result of another read.
    let shown = |array: usize| {
        if !options.random_access.contains(&array) {
            return (0, 0);
        }
        let stages = content.stages.clone().zip(members);
        let cycles = stages.flat_map(|(number, stage)| {
            let own = (0..stage.reads.len()).filter(move |&read| stage.reads[read].array == array);
            own.map(move |read| options.transport.arrival(number, read))
        });
        cycles.minmax().into_option().unwrap_or_default()
    };
    let window = |array: usize| Window {
        group,
        array,
        read: touched(array, false).then(|| shown(array)),
        write: touched(array, true).then_some(content.latency),
    };
    arrays.into_iter().map(window).collect()
}

/// The error of a stage that takes too long.
fn too_long(pipeline: &Pipeline, tree: &Tree, child: &Child) -> ScheduleError {
    let mut child = *child;
    loop {
        match child {
            Child::Group(group) => {
                return ScheduleError::at(pipeline, tree.groups[group].stages.start, ScheduleFault::TooLong);
            }
            Child::Loop(level) => child = tree.loops[level].children[0],
        }
    }
}

impl Context<'_> {
    /// When a group touches arrays in iterations of so many cycles.
    fn windows_within(&self, group: usize, span: i64) -> impl Iterator<Item = Window> {
        self.accesses.windows[group].iter().map(move |window| window.moved(0, span))
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
                (Child::Group(group), _) => self.windows_within(*group, self.nests[*group].span).collect(),
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
