//! Clusters: stages that run at fixed distances, as one operation of modulo scheduling.

use std::collections::BTreeMap;

use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;

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
        for number in 0..children.len() {
            let (node, uses) = (clusters.node[number], self.of_child(number, children, inner, waits, clusters));
            of_node[node].extend(uses.iter().map(|_| number));
            nodes[node].extend(uses);
        }
        (nodes, of_node)
    }

    /// Reservations of a child, from the start of its node on.
    fn of_child(
        &self,
        number: usize,
        children: &[Child],
        inner: &[Option<Inner>],
        waits: &[Wait],
        clusters: &Clusters,
    ) -> Vec<Use> {
        let uses = match (children[number], &inner[number]) {
            (Child::Group(group), _) => {
                let fused = waits.iter().filter(|wait| wait.fused.is_some() && wait.edge.to == number);
                let direct = fused.filter(|wait| clusters.together(wait.edge)).map(|wait| wait.edge.array).collect();
                self.uses(group, &direct)
            }
            (Child::Loop(_), inner) => inner.as_ref().map_or_else(Vec::new, |inner| inner.uses.clone()),
        };
        let offset = clusters.offset[number];
        uses.into_iter().map(move |taken| Use { from: taken.from + offset, to: taken.to + offset, ..taken }).collect()
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
            let node = joined.node[wait.edge.to];
            let members = (0..children.len()).filter(|&child| joined.node[child] == node);
            let uses = members.flat_map(|child| self.of_child(child, children, inner, waits, &joined)).collect();
            if fits_alone(uses, &self.ports) {
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
        let between = inside().filter(|wait| !self.together(wait.edge));
        let between = between.map(|wait| (self.node[wait.edge.from] as u32, self.node[wait.edge.to] as u32, ()));
        inside().all(kept) && !is_cyclic_directed(&DiGraph::<(), ()>::from_edges(between))
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
