//! A flow of greatest length that meets demands, by successive paths with scaling (Ahuja, Magnanti, Orlin: "Network Flows",
//! 1993, §10.2), and the potentials of its residual network.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An arc without capacity: `to` is at least `length` later than `from`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub from: usize,
    pub to: usize,
    pub length: i128,
}

/// A flow in a network.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    arcs: Vec<Arc>,
    /// The flow along each arc.
    amounts: Vec<i128>,
    /// The arcs from and to each node.
    touching: Vec<Vec<usize>>,
}

/// An arc of the residual network: an arc, or back along one with a flow.
#[derive(Clone, Copy, Debug)]
struct Step {
    arc: usize,
    back: bool,
    to: usize,
    length: i128,
}

impl Flow {
    /// A network of so many nodes, without arcs.
    pub fn new(nodes: usize) -> Self {
        Flow { arcs: Vec::new(), amounts: Vec::new(), touching: vec![Vec::new(); nodes] }
    }

    /// Adds an arc on which nothing flows.
    pub fn add(&mut self, arc: Arc) {
        self.touching[arc.from].push(self.arcs.len());
        if arc.to != arc.from {
            self.touching[arc.to].push(self.arcs.len());
        }
        self.arcs.push(arc);
        self.amounts.push(0);
    }

    /// The flow along each arc.
    pub fn amounts(self) -> Vec<i128> {
        self.amounts
    }

    /// The steps from a node in the residual network.
    fn steps(&self, node: usize) -> impl Iterator<Item = Step> + '_ {
        self.touching[node].iter().flat_map(move |&number| {
            let arc = self.arcs[number];
            let forth = (arc.from == node).then_some(Step { arc: number, back: false, to: arc.to, length: arc.length });
            let is_back = arc.to == node && self.amounts[number] > 0;
            let back = is_back.then_some(Step { arc: number, back: true, to: arc.from, length: -arc.length });
            forth.into_iter().chain(back)
        })
    }

    /// The least values from 0 on that meet all arcs of the residual network: longest paths, by Bellman and Ford.
    ///
    /// # Errors
    /// A circle of positive length: the nodes, each the start of an arc to the next.
    pub fn earliest(&self) -> Result<Vec<i128>, Vec<usize>> {
        let nodes = self.touching.len();
        let mut values = vec![0; nodes];
        let mut before: Vec<Option<usize>> = vec![None; nodes];
        let mut queue: VecDeque<usize> = (0..nodes).collect();
        let mut queued = vec![true; nodes];
        // A circle of the nodes before nodes has a positive length, and there is one soon after such a circle was gone around. To
        // look for it takes as long as so many values take.
        let mut until_look = nodes;
        while let Some(node) = queue.pop_front() {
            queued[node] = false;
            for Step { to, length, .. } in self.steps(node) {
                if values[node] + length <= values[to] {
                    continue;
                }
                (values[to], before[to]) = (values[node] + length, Some(node));
                until_look -= 1;
                if until_look == 0 {
                    if let Some(circle) = circle(&before) {
                        return Err(circle);
                    }
                    until_look = nodes;
                }
                if !queued[to] {
                    queued[to] = true;
                    queue.push_back(to);
                }
            }
        }
        Ok(values)
    }

    /// Routes a flow of the greatest length that brings to each node its demand, from nodes of negative demand, and returns
    /// the least values from 0 on that it proves to be optimal. `values` meet all arcs.
    ///
    /// Nothing if a demand cannot be met.
    pub fn route(&mut self, demands: Vec<i128>, mut values: Vec<i128>) -> Option<Vec<i128>> {
        // The supply that each node still has to send; to receive, if negative.
        let mut excess: Vec<i128> = demands.into_iter().map(|demand| -demand).collect();
        let largest = excess.iter().map(|excess| excess.unsigned_abs()).max().unwrap_or(0);
        let mut search = Search::new(self.touching.len());
        // Large amounts first: then few paths are needed, however large the weights are. All flows stay multiples of the
        // amount, so that every arc back has room for it.
        for bit in (0..u128::BITS - largest.leading_zeros()).rev() {
            let amount = 1_i128 << bit;
            for from in 0..self.touching.len() {
                while excess[from] >= amount
                    && let Some(to) = search.longest_path(self, from, |node| excess[node] <= -amount, &mut values)
                {
                    for (arc, back) in search.path(to) {
                        self.amounts[arc] += if back { -amount } else { amount };
                    }
                    excess[from] -= amount;
                    excess[to] += amount;
                }
            }
        }
        if excess.iter().any(|excess| *excess != 0) {
            return None;
        }
        // Where something flows, an optimal solution meets the arc with equality: an arc there and one back.
        Some(self.earliest().expect("an optimal flow has no circle of positive length"))
    }
}

/// A search for a longest path, whose memory lasts from one to the next: a search costs what it visits.
struct Search {
    /// By node, the distance if the search has reached it.
    distance: Vec<Option<i128>>,
    /// The step with which the search reached the node, and where it came from.
    before: Vec<Option<(Step, usize)>>,
    done: Vec<bool>,
    reached: Vec<usize>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Search { distance: vec![None; nodes], before: vec![None; nodes], done: vec![false; nodes], reached: Vec::new() }
    }

    fn clear(&mut self) {
        for node in self.reached.drain(..) {
            (self.distance[node], self.before[node], self.done[node]) = (None, None, false);
        }
    }

    fn reach(&mut self, node: usize, distance: i128, before: Option<(Step, usize)>) {
        if self.distance[node].is_none() {
            self.reached.push(node);
        }
        (self.distance[node], self.before[node]) = (Some(distance), before);
    }

    /// The end of a longest residual path from a node to one that `is_end`, if there is any: by Dijkstra, on lengths reduced by
    /// `values`, which are moved so that they meet all residual arcs, those of the path with equality.
    fn longest_path(
        &mut self,
        flow: &Flow,
        from: usize,
        is_end: impl Fn(usize) -> bool,
        values: &mut [i128],
    ) -> Option<usize> {
        self.clear();
        self.reach(from, 0, None);
        // Of paths of the same length, those of the fewest arcs first: most ends are near.
        let mut heap = BinaryHeap::from([Reverse((0, 0, from))]);
        let (end, far) = loop {
            let Reverse((far, arcs, node)) = heap.pop()?;
            if std::mem::replace(&mut self.done[node], true) {
                continue;
            }
            if is_end(node) {
                break (node, far);
            }
            for step in flow.steps(node) {
                let there = far + values[step.to] - values[node] - step.length;
                if self.distance[step.to].is_none_or(|known| there < known) {
                    self.reach(step.to, there, Some((step, node)));
                    heap.push(Reverse((there, arcs + 1, step.to)));
                }
            }
        };
        for &node in &self.reached {
            let distance = self.distance[node].expect("it was reached");
            values[node] += far - distance.min(far);
        }
        Some(end)
    }

    /// The arcs of the path to a node, the last first, and whether it goes back along them.
    fn path(&self, end: usize) -> impl Iterator<Item = (usize, bool)> + '_ {
        let before = |&(_, node): &(Step, usize)| self.before[node];
        std::iter::successors(self.before[end], before).map(|(step, _)| (step.arc, step.back))
    }
}

/// A circle of nodes before nodes, in the order of its arcs, if there is one.
fn circle(before: &[Option<usize>]) -> Option<Vec<usize>> {
    const NEW: usize = usize::MAX;
    // By node, the start from which it was first seen.
    let mut seen = vec![NEW; before.len()];
    for start in 0..before.len() {
        let mut next = Some(start);
        while let Some(node) = next.filter(|node| seen[*node] == NEW) {
            seen[node] = start;
            next = before[node];
        }
        let Some(on_circle) = next.filter(|node| seen[*node] == start) else { continue };
        let mut nodes = vec![on_circle];
        nodes.extend(
            std::iter::successors(before[on_circle], |node| before[*node]).take_while(|node| *node != on_circle),
        );
        nodes.reverse();
        return Some(nodes);
    }
    None
}
