//! When the values of a graph are there, if every operator starts as soon as it can.

use crate::graph::Graph;
use pushmem_datapaths::NodeKind;
use pushmem_datapaths::{Delay, Operators};

/// A moment within the pipeline: units after the start of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub stage: u64,
    pub units: u32,
}

/// The moments of the nodes of one graph with the operators of a technology. The graph may grow meanwhile.
pub(crate) struct Moments<'a> {
    pub operators: &'a dyn Operators,
    /// The stage in which the words of some loads come; of all others the first.
    arrivals: Vec<u64>,
    /// For each node known so far, when its computation starts and when its value is there.
    known: Vec<(Moment, Moment)>,
}

impl<'a> Moments<'a> {
    /// The moments where loads come in these stages, those beyond the end of the list in the first.
    pub fn with_arrivals(operators: &'a dyn Operators, arrivals: Vec<u64>) -> Self {
        Self { operators, arrivals, known: Vec::new() }
    }

    /// When the computation of a node starts.
    pub fn start(&mut self, graph: &Graph, node: usize) -> Moment {
        self.at(graph, node).0
    }

    /// When the value of a node is there.
    pub fn ready(&mut self, graph: &Graph, node: usize) -> Moment {
        self.at(graph, node).1
    }

    fn at(&mut self, graph: &Graph, node: usize) -> (Moment, Moment) {
        for next in self.known.len()..=node {
            let found = self.next(graph, next);
            self.known.push(found);
        }
        self.known[node]
    }

    /// The moments of a node whose operands are known.
    fn next(&self, graph: &Graph, node: usize) -> (Moment, Moment) {
        let operands = graph.vertices[node].kind.operands();
        let there = operands.map(|operand| self.known[operand].1).max().unwrap_or_else(|| self.arrival(graph, node));
        let next = Moment { stage: there.stage + 1, units: 0 };
        match self.operators.delay(&graph.operator(node)) {
            Delay::Units(units) => {
                let start = if there.units + units <= self.operators.units_per_stage() { there } else { next };
                (start, Moment { stage: start.stage, units: start.units + units })
            }
            Delay::Stages(stages) => {
                let start = if there.units == 0 { there } else { next };
                (start, Moment { stage: start.stage + stages, units: 0 })
            }
        }
    }

    /// The begin of the stage in which a node without operands is there.
    fn arrival(&self, graph: &Graph, node: usize) -> Moment {
        let stage = match graph.vertices[node].kind {
            NodeKind::Load(load) => self.arrivals.get(load).copied().unwrap_or(0),
            _ => 0,
        };
        Moment { stage, units: 0 }
    }
}
