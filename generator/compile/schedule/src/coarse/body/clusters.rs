//! Clusters: stages that run at fixed distances, as one operation of modulo scheduling.

use std::collections::BTreeMap;

use super::super::modulo_scheduling::{Edge, Use};
use super::super::reservation_table::fits_alone;
use super::super::tree::Child;
use super::loop_flattening::Inner;
use super::{Context, Wait};

impl Context<'_> {
    /// Reservations of each node, and the child of each.
    pub(super) fn nodes(
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
    pub(super) fn fuse(&self, children: &[Child], inner: &[Option<Inner>], waits: &[Wait]) -> Clusters {
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

/// Children that are one node of a problem, and when each starts after the start of the node.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    count: usize,
    pub node: Vec<usize>,
    pub offset: Vec<i64>,
}

impl Clusters {
    fn apart(children: usize) -> Self {
        Clusters { count: children, node: (0..children).collect(), offset: vec![0; children] }
    }

    pub fn together(&self, edge: Edge) -> bool {
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
    pub fn weight(&self, wait: &Wait) -> i64 {
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
    pub fn contracted(&self, wait: &Wait) -> Option<Edge> {
        let Edge { from, to, .. } = wait.edge;
        if self.together(wait.edge) && wait.edge.distance == 0 {
            return None;
        }
        let weight = self.weight(wait) + self.offset[from] - self.offset[to];
        Some(Edge { from: self.node[from], to: self.node[to], weight, ..wait.edge })
    }
}
