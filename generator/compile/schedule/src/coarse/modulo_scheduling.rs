//! Iterative modulo scheduling of one iteration of a loop (dissertation §4.3.1, Algorithm 1; Rau, 1994).
//!
//! The operations are whole stages, and loops inside: each reserves a resource from its first cycle there to its last.
//! Reservations are intervals, so a free slot is looked for only where one of them ends or begins, not cycle by cycle.

use std::collections::BTreeSet;

use super::reservation_table::Table;

/// A resource kept busy, in cycles after the start of the node: from `from`, before `to`, and so again in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub resource: usize,
    pub from: i64,
    pub to: i64,
    pub turns: Turns,
}

impl Use {
    /// The cycle after the last of all turns.
    pub fn end(&self) -> i64 {
        self.to + self.turns.last
    }
}

/// How a reservation comes again: rows of a nest that follow the rate of others. Those of an iteration that itself is repeated come
/// once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Cycles from one turn to the next; 0 if there is one.
    pub every: i64,
    /// Cycles from the first turn to the last.
    pub last: i64,
}

/// `start[to] ≥ start[from] + weight − distance · period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: usize,
    pub to: usize,
    pub weight: i64,
    /// Iterations from one to the other; 0 in the same.
    pub distance: i64,
    pub array: usize,
}

/// One iteration of a loop. Edges of distance 0 have no cycles.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'a> {
    /// Resources that each node reserves.
    pub nodes: Vec<Vec<Use>>,
    pub edges: Vec<Edge>,
    /// How many there are of each resource.
    pub ports: &'a [usize],
    /// Whether the iteration is repeated.
    pub repeats: bool,
    /// The least period for other reasons.
    pub least: i64,
}

/// The bound that keeps a period from being shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Resource(usize),
    Arrays(Vec<usize>),
    Inner,
    Rate,
    Conflicts,
}

#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub period: i64,
    pub limit: Limit,
    /// By node, the least of them 0.
    pub starts: Vec<i64>,
    /// By node, for each of its uses, which of the resources it has.
    pub ports: Vec<Vec<usize>>,
}

/// Start of a node, and which of the resources each of its uses has.
type Placed = (i64, Vec<usize>);

/// The order in which nodes are scheduled, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// In topological order, each as early as possible; nodes in the way are scheduled again.
    Earliest,
    /// The longest paths first; nodes with all their successors placed as late as possible. Loads then come just in
    /// time, and their data is kept for a shorter time.
    CriticalFirst,
    /// As the first, of an iteration without a period: rows find their place within a turn, or take the room of others. Elsewhere they
    /// wait for the last row of those.
    WithinTurn,
}

impl Problem<'_> {
    /// The shortest period found, and when everything runs.
    pub fn solve(&self) -> Solution {
        let (one_by_one, longest) = self.one_by_one();
        if !self.repeats {
            let turns = self.nodes.iter().flatten().any(|taken| taken.turns.every > 0);
            let within = turns.then(|| self.attempt(None, Strategy::WithinTurn)).flatten();
            let starts = [self.attempt(None, Strategy::Earliest), within].into_iter().flatten();
            let starts = starts.min_by_key(|starts| self.length(starts));
            return solution(0, Limit::Conflicts, starts.unwrap_or_else(|| self.with_ports(&one_by_one, None)));
        }
        let longest = longest.max(self.least).max(1);
        let (resource, resource_limit) = self.resource_bound();
        let recurrence = self.recurrence_bound(longest);
        let bound = resource.max(recurrence).max(self.least).max(1);
        let at = |period: i64| {
            let found = [Strategy::Earliest, Strategy::CriticalFirst]
                .into_iter()
                .filter_map(|strategy| self.attempt(Some(period), strategy));
            found.min_by_key(|starts| self.length(starts))
        };
        if let Some(starts) = at(bound) {
            let limit = match bound {
                _ if bound == resource => resource_limit.map_or(Limit::Conflicts, Limit::Resource),
                _ if bound == self.least => Limit::Inner,
                _ => Limit::Arrays(self.arrays_of_cycle(recurrence - 1)),
            };
            return solution(bound, limit, starts);
        }
        // Everything one after the other is always possible. In between, longer periods are easier, as a rule.
        let (mut below, mut above) = (bound, longest.max(bound + 1));
        let mut starts = None;
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            match at(middle) {
                Some(found) => (above, starts) = (middle, Some(found)),
                None => below = middle,
            }
        }
        let starts = starts.unwrap_or_else(|| self.with_ports(&one_by_one, Some(above)));
        solution(above, Limit::Conflicts, starts)
    }

    /// Ports for nodes that do not meet.
    fn with_ports(&self, starts: &[i64], period: Option<i64>) -> Vec<Placed> {
        let mut table = Table::new(self, period);
        let mut placed = Vec::new();
        for (node, &start) in starts.iter().enumerate() {
            let ports = table.fits(node, start).unwrap_or_else(|| vec![0; self.nodes[node].len()]);
            table.reserve(node, start, &ports);
            placed.push((start, ports));
        }
        placed
    }

    /// From the first start to the last end.
    fn length(&self, placed: &[Placed]) -> i64 {
        let last = placed.iter().enumerate().map(|(node, (start, _))| start + self.end(node)).max().unwrap_or(0);
        last - placed.iter().map(|(start, _)| *start).min().unwrap_or(0)
    }

    /// How long a node takes.
    fn end(&self, node: usize) -> i64 {
        self.nodes[node].iter().map(Use::end).max().unwrap_or(0)
    }

    /// Nodes by the longest path through each, in topological order where they are equal.
    fn critical_first(&self, topological: &[usize]) -> Vec<usize> {
        let inside = || self.edges.iter().filter(|edge| edge.distance == 0 && edge.from != edge.to);
        let mut head = vec![0_i64; topological.len()];
        let mut tail: Vec<i64> = (0..topological.len()).map(|node| self.end(node)).collect();
        for &node in topological {
            for edge in inside().filter(|edge| edge.from == node) {
                head[edge.to] = head[edge.to].max(head[node] + edge.weight);
            }
        }
        for &node in topological.iter().rev() {
            for edge in inside().filter(|edge| edge.from == node) {
                tail[node] = tail[node].max(edge.weight + tail[edge.to]);
            }
        }
        let mut order = topological.to_vec();
        order.sort_by_key(|&node| std::cmp::Reverse(head[node] + tail[node]));
        order
    }

    /// The resource that is busy for the most cycles of an iteration, and for how many.
    fn resource_bound(&self) -> (i64, Option<usize>) {
        let mut busy = vec![0_i64; self.ports.len()];
        let mut longest = vec![0_i64; self.ports.len()];
        for taken in self.nodes.iter().flatten() {
            busy[taken.resource] += taken.to - taken.from;
            longest[taken.resource] = longest[taken.resource].max(taken.to - taken.from);
        }
        let least = |resource: usize| {
            let ports = self.ports[resource].max(1) as i64;
            longest[resource].max((busy[resource] + ports - 1) / ports)
        };
        let bound = (0..busy.len()).map(|resource| (least(resource), std::cmp::Reverse(resource))).max();
        bound.map_or((0, None), |(cycles, resource)| (cycles, (cycles > 0).then_some(resource.0)))
    }

    /// The least period that all cycles of dependences allow.
    fn recurrence_bound(&self, longest: i64) -> i64 {
        let (mut below, mut above) = (0, longest);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if self.cycle(middle).is_none() { above = middle } else { below = middle }
        }
        if self.edges.iter().all(|edge| edge.distance == 0) { 0 } else { above }
    }

    /// A cycle of dependences that a period is too short for.
    fn cycle(&self, period: i64) -> Option<Vec<usize>> {
        let mut longest = vec![0_i64; self.nodes.len()];
        let mut by: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut changed = None;
        for _ in 0..=self.nodes.len() {
            changed = None;
            for (number, edge) in self.edges.iter().enumerate() {
                let reached = longest[edge.from] + edge.weight - edge.distance * period;
                if reached > longest[edge.to] {
                    longest[edge.to] = reached;
                    by[edge.to] = Some(number);
                    changed = Some(edge.to);
                }
            }
            changed?;
        }
        // Backwards along the edges one gets into the cycle, and then around it.
        let back = |node: usize| by[node].map(|edge| (edge, self.edges[edge].from));
        let mut node = changed?;
        for _ in 0..self.nodes.len() {
            node = back(node)?.1;
        }
        let (entry, mut edges) = (node, Vec::new());
        loop {
            let (edge, from) = back(node)?;
            edges.push(edge);
            node = from;
            if node == entry {
                return Some(edges);
            }
        }
    }

    /// The arrays that carry the values, or whose room is reused, from one iteration to another.
    fn arrays_of_cycle(&self, period: i64) -> Vec<usize> {
        let edges = self.cycle(period).unwrap_or_default();
        let carried = edges.iter().map(|&edge| self.edges[edge]).filter(|edge| edge.distance > 0);
        carried.map(|edge| edge.array).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The cycles after which all reservations of a node come again.
    fn turn(&self, node: usize) -> Option<i64> {
        let mut turns = self.nodes[node].iter().map(|taken| taken.turns.every);
        let every = turns.next().filter(|every| *every > 0)?;
        turns.all(|other| other == every).then_some(every)
    }

    /// Nodes such that edges of distance 0 go forward.
    fn topological(&self) -> Vec<usize> {
        let inside = || self.edges.iter().filter(|edge| edge.distance == 0 && edge.from != edge.to);
        let mut waits = vec![0_usize; self.nodes.len()];
        inside().for_each(|edge| waits[edge.to] += 1);
        let mut ready: BTreeSet<usize> = (0..self.nodes.len()).filter(|&node| waits[node] == 0).collect();
        let mut order = Vec::new();
        while let Some(node) = ready.pop_first() {
            order.push(node);
            for edge in inside().filter(|edge| edge.from == node) {
                waits[edge.to] -= 1;
                if waits[edge.to] == 0 {
                    ready.insert(edge.to);
                }
            }
        }
        order
    }

    /// One node after the other, and the period that this needs.
    fn one_by_one(&self) -> (Vec<i64>, i64) {
        let mut starts = vec![0_i64; self.nodes.len()];
        let mut now = 0;
        for node in self.topological() {
            let before = self.edges.iter().filter(|edge| edge.to == node && edge.from != node && edge.distance == 0);
            starts[node] = before.map(|edge| starts[edge.from] + edge.weight).max().unwrap_or(0).max(now);
            now = now.max(starts[node] + self.end(node));
        }
        let carried = self.edges.iter().filter(|edge| edge.distance > 0).map(|edge| {
            let late = starts[edge.from] + edge.weight - starts[edge.to];
            late.div_euclid(edge.distance) + i64::from(late.rem_euclid(edge.distance) > 0)
        });
        let period = carried.max().unwrap_or(0).max(now).max(1);
        (starts, period)
    }

    /// Starts of all nodes with this period, if the strategy finds any.
    fn attempt(&self, period: Option<i64>, strategy: Strategy) -> Option<Vec<Placed>> {
        let topological = self.topological();
        let mut attempt = Attempt::new(self, period);
        if topological.len() < self.nodes.len() || attempt.is_impossible() {
            return None;
        }
        let order = match strategy {
            Strategy::Earliest | Strategy::WithinTurn => topological,
            Strategy::CriticalFirst => self.critical_first(&topological),
        };
        order.iter().enumerate().for_each(|(place, &node)| attempt.rank[node] = place);
        attempt.open = (0..order.len()).collect();
        // Rau's budget: how often nodes are scheduled, in all.
        let mut budget = 20 + 8 * order.len();
        while let Some(place) = attempt.open.pop_first() {
            let node = order[place];
            budget = usize::checked_sub(budget, 1)?;
            let found = match strategy {
                Strategy::Earliest => attempt.earliest_slot(node, period)?,
                Strategy::WithinTurn => attempt.earliest_slot(node, period.or(self.turn(node)))?,
                Strategy::CriticalFirst => attempt.slot_beside_neighbours(node)?,
            };
            attempt.place(node, found);
        }
        attempt.placed.into_iter().collect()
    }
}

/// A schedule in the making, of one period.
struct Attempt<'a> {
    period: Option<i64>,
    /// The edges that count: without a period, those within an iteration.
    edges: Vec<Edge>,
    table: Table<'a>,
    /// By node.
    placed: Vec<Option<Placed>>,
    /// By node, its start when it was placed last.
    before: Vec<Option<i64>>,
    /// By node, its place in the order; the places of nodes that are to be scheduled.
    rank: Vec<usize>,
    open: BTreeSet<usize>,
}

impl<'a> Attempt<'a> {
    fn new(problem: &'a Problem<'a>, period: Option<i64>) -> Self {
        let counts = |edge: &Edge| period.is_some() || edge.distance == 0;
        let nodes = problem.nodes.len();
        Attempt {
            period,
            edges: problem.edges.iter().copied().filter(counts).collect(),
            table: Table::new(problem, period),
            placed: vec![None; nodes],
            before: vec![None; nodes],
            rank: vec![0; nodes],
            open: BTreeSet::new(),
        }
    }

    /// Cycles from the start of the first node of an edge to that of the second, at least.
    fn length(&self, edge: &Edge) -> i64 {
        edge.weight - edge.distance * self.period.unwrap_or(0)
    }

    /// Whether a node would have to start after itself.
    fn is_impossible(&self) -> bool {
        self.edges.iter().any(|edge| edge.from == edge.to && self.length(edge) > 0)
    }

    fn incoming(&self, node: usize) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == node && edge.from != node)
    }

    fn outgoing(&self, node: usize) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == node && edge.to != node)
    }

    fn start(&self, node: usize) -> Option<i64> {
        self.placed[node].as_ref().map(|(start, _)| *start)
    }

    /// The earliest start of a node after those that are placed before it.
    fn earliest(&self, node: usize) -> Option<i64> {
        self.incoming(node).filter_map(|edge| Some(self.start(edge.from)? + self.length(edge))).max()
    }

    /// The latest start of a node before those that are placed after it.
    fn latest(&self, node: usize) -> Option<i64> {
        self.outgoing(node).filter_map(|edge| Some(self.start(edge.to)? - self.length(edge))).min()
    }

    /// A start with the ports that are free then, if there are enough.
    fn fit(&self, node: usize, start: i64) -> Option<Placed> {
        self.table.fits(node, start).map(|ports| (start, ports))
    }

    /// The first slot of a node within a turn. If there is none, it takes the room of others, later than it did before; they are
    /// scheduled again.
    fn earliest_slot(&mut self, node: usize, turn: Option<i64>) -> Option<Placed> {
        let first = self.earliest(node).unwrap_or(0).max(0);
        let last = turn.map_or(i64::MAX, |turn| first + turn - 1);
        let free = self.table.ascending(node, first, last);
        if let Some(found) = free.into_iter().find_map(|start| self.fit(node, start)) {
            return Some(found);
        }
        let start = match self.before[node] {
            None => first,
            Some(before) => {
                let last = before.max(first) + turn? - 1;
                let later = self.table.ascending(node, first, last);
                later.into_iter().find(|&start| start > before).unwrap_or(first)
            }
        };
        for other in self.table.in_the_way(node, start) {
            self.take_out(other);
        }
        self.fit(node, start)
    }

    /// The slot of a node that is nearest to its neighbours: the last one before those after it where only they are placed, else the
    /// first one.
    fn slot_beside_neighbours(&self, node: usize) -> Option<Placed> {
        let (earliest, latest) = (self.earliest(node), self.latest(node));
        let wanted = self.outgoing(node).any(|edge| edge.distance == 0 && self.placed[edge.to].is_some());
        let waits = self.incoming(node).any(|edge| edge.distance == 0 && self.placed[edge.from].is_some());
        let turn = self.period? - 1;
        match latest {
            Some(last) if wanted && !waits => {
                let first = earliest.map_or(last - turn, |first| first.max(last - turn));
                self.table.descending(node, first, last).into_iter().rev().find_map(|start| self.fit(node, start))
            }
            _ => {
                let first = earliest.unwrap_or_else(|| latest.map_or(0, |latest| latest.min(0)));
                let last = latest.map_or(first + turn, |latest| latest.min(first + turn));
                self.table.ascending(node, first, last).into_iter().find_map(|start| self.fit(node, start))
            }
        }
    }

    /// A node is to be scheduled again.
    fn take_out(&mut self, node: usize) {
        self.table.release(node);
        self.placed[node] = None;
        self.open.insert(self.rank[node]);
    }

    /// Places a node. Those that would start too early after it are to be scheduled again.
    fn place(&mut self, node: usize, found: Placed) {
        let start = found.0;
        self.table.reserve(node, start, &found.1);
        self.placed[node] = Some(found);
        self.before[node] = Some(start);
        let is_early = |edge: &&Edge| self.start(edge.to).is_some_and(|other| other < start + self.length(edge));
        let early: Vec<usize> = self.outgoing(node).filter(is_early).map(|edge| edge.to).collect();
        for other in early {
            if self.placed[other].is_some() {
                self.take_out(other);
            }
        }
    }
}

/// A solution whose first node starts at 0.
fn solution(period: i64, limit: Limit, placed: Vec<Placed>) -> Solution {
    let first = placed.iter().map(|(start, _)| *start).min().unwrap_or(0);
    let (starts, ports) = placed.into_iter().map(|(start, ports)| (start - first, ports)).unzip();
    Solution { period, limit, starts, ports }
}
