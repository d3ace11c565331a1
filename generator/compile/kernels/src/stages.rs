//! Assignment of operators to pipeline stages.
//!
//! Everything could start as soon as its operands are there; the graph knows when. From the result backwards, each node
//! then moves to the stage, from that one to those of its users, where it costs the fewest bits of registers. The latency
//! stays the least possible.

use crate::graph::Graph;
use crate::moments::{Moment, Moments};
use pushmem_datapaths::DatapathNode;
use pushmem_datapaths::Delay;

/// The nodes that the result needs with their stages, the result, and the latency in cycles.
pub(crate) fn assign(graph: &Graph, moments: &mut Moments, result: usize) -> (Vec<DatapathNode>, usize, u64) {
    let ready = moments.ready(graph, result);
    let latency = if ready.units == 0 { ready.stage } else { ready.stage + 1 };
    let stages = Retiming::new(graph, moments, result, latency).run();
    let mut places = vec![None; graph.vertices.len()];
    let mut nodes = Vec::new();
    for (node, stage) in stages.into_iter().enumerate() {
        let Some(stage) = stage else {
            continue;
        };
        places[node] = Some(nodes.len());
        let vertex = &graph.vertices[node];
        let kind = vertex.kind.map(|operand| places[operand].expect("operands come before their users"));
        let latency = match moments.operators.delay(&graph.operator(node)) {
            Delay::Units(_) => 0,
            Delay::Stages(stages) => stages,
        };
        nodes.push(DatapathNode { kind, value: vertex.value, stage, latency });
    }
    (nodes, places[result].expect("the result is needed"), latency)
}

/// Uses of a node by nodes that have their stage already.
#[derive(Clone, Copy, Debug)]
struct Uses {
    /// The earliest moment at which it must be there.
    first: Moment,
    /// The last stage in which it is used.
    last: u64,
}

struct Retiming<'a, 'b> {
    graph: &'a Graph<'a>,
    moments: &'a mut Moments<'b>,
    result: usize,
    uses: Vec<Option<Uses>>,
}

impl<'a, 'b> Retiming<'a, 'b> {
    fn new(graph: &'a Graph<'a>, moments: &'a mut Moments<'b>, result: usize, latency: u64) -> Self {
        let mut uses = vec![None; graph.vertices.len()];
        // The result comes out of registers.
        uses[result] = Some(Uses { first: Moment { stage: latency, units: 0 }, last: latency });
        Self { graph, moments, result, uses }
    }

    /// The stage of each node that is needed.
    fn run(mut self) -> Vec<Option<u64>> {
        let mut stages = vec![None; self.graph.vertices.len()];
        for node in (0..=self.result).rev() {
            let Some(uses) = self.uses[node] else {
                continue;
            };
            let start = self.best_start(node, uses);
            stages[node] = Some(start.stage);
            for operand in self.graph.vertices[node].kind.operands() {
                let uses = self.uses[operand].get_or_insert(Uses { first: start, last: start.stage });
                uses.first = uses.first.min(start);
                uses.last = uses.last.max(start.stage);
            }
        }
        stages
    }

    fn best_start(&mut self, node: usize, uses: Uses) -> Moment {
        let earliest = self.moments.start(self.graph, node);
        let operators = self.moments.operators;
        let Delay::Units(delay) = operators.delay(&self.graph.operator(node)) else {
            // Dividers and memories are registers whatever their place.
            return earliest;
        };
        if self.graph.vertices[node].kind.operands().next().is_none() {
            return earliest;
        }
        let candidates = (earliest.stage..=uses.first.stage).filter_map(|stage| {
            let end = if stage == uses.first.stage { uses.first.units } else { operators.units_per_stage() };
            let start = Moment { stage, units: end.checked_sub(delay)? };
            (start >= earliest).then_some(start)
        });
        let candidates: Vec<Moment> = candidates.collect();
        candidates.into_iter().min_by_key(|start| (self.bits(node, uses, start.stage), start.stage)).unwrap_or(earliest)
    }

    /// The bits of the registers that depend on the stage of a node.
    fn bits(&mut self, node: usize, uses: Uses, stage: u64) -> u64 {
        let width = |node: usize| match self.graph.as_constant(node) {
            Some(_) => 0,
            None => u64::from(self.graph.value(node).bits()),
        };
        let mut bits = width(node) * (uses.last - stage);
        let mut counted = Vec::new();
        for operand in self.graph.vertices[node].kind.operands() {
            if !counted.contains(&operand) {
                counted.push(operand);
                let there = self.moments.ready(self.graph, operand).stage;
                let kept = self.uses[operand].map_or(there, |uses| uses.last.max(there));
                bits += width(operand) * stage.saturating_sub(kept);
            }
        }
        bits
    }
}
