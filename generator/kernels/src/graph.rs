//! A datapath that is being built: nodes without stages, equal ones only once.

use std::collections::HashMap;

use pushmem_nest::{Table, Type};

use crate::delays::{Delay, UNITS_PER_STAGE, delay};
use crate::node::NodeKind;
use crate::ranges;
use crate::tables::{TableMemories, address_bits};

/// A moment within the pipeline: units after the start of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub stage: u64,
    pub units: u32,
}

/// A value of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub kind: NodeKind,
    pub value: Type,
    /// Bounds of the value.
    pub range: (i64, i64),
    /// When the computation starts, if everything starts as soon as it can.
    pub start: Moment,
    /// When the value is there, if everything starts as soon as it can.
    pub ready: Moment,
}

/// Nodes, operands before their users.
pub(crate) struct Graph<'a> {
    pub vertices: Vec<Vertex>,
    pub tables: &'a [Table],
    /// Which tables are beside the kernel.
    memories: TableMemories,
    /// The least and the greatest value of each loop variable, outermost first.
    variables: &'a [(i64, i64)],
    known: HashMap<(NodeKind, Type), usize>,
}

impl<'a> Graph<'a> {
    pub fn new(tables: &'a [Table], memories: TableMemories, variables: &'a [(i64, i64)]) -> Self {
        Self { vertices: Vec::new(), tables, memories, variables, known: HashMap::new() }
    }

    /// An empty graph of the same tables and loops.
    pub fn fresh(&self) -> Self {
        Self::new(self.tables, self.memories, self.variables)
    }

    /// The look-up of an entry where its table is.
    pub fn placed_lookup(&self, table: usize, index: usize) -> NodeKind {
        let entries = self.tables[table].values.len();
        match self.memories.holds(entries) {
            true => {
                NodeKind::Fetch { table, index, address_bits: address_bits(entries), latency: self.memories.latency }
            }
            false => NodeKind::Lookup { table, index },
        }
    }

    /// The node, as it is: [`Graph::node`] simplifies.
    pub fn intern(&mut self, kind: NodeKind, value: Type) -> usize {
        if let Some(&known) = self.known.get(&(kind, value)) {
            return known;
        }
        let range = match kind {
            NodeKind::Variable(variable) => self.variables[variable],
            _ => ranges::range(&kind, value, |operand| (self.vertices[operand].value, self.vertices[operand].range)),
        };
        let (start, ready) = self.times(&kind);
        self.vertices.push(Vertex { kind, value, range, start, ready });
        self.known.insert((kind, value), self.vertices.len() - 1);
        self.vertices.len() - 1
    }

    pub fn constant(&mut self, number: i64, value: Type) -> usize {
        self.intern(NodeKind::Constant(value.wrap(number)), value)
    }

    /// The number, if the node is a constant.
    pub fn as_constant(&self, node: usize) -> Option<i64> {
        match self.vertices[node].kind {
            NodeKind::Constant(number) => Some(number),
            _ => None,
        }
    }

    pub fn value(&self, node: usize) -> Type {
        self.vertices[node].value
    }

    pub fn delay(&self, kind: &NodeKind) -> Delay {
        let Some(first) = kind.operands().next() else {
            return Delay::Units(0);
        };
        let constant = kind.operands().last().is_some_and(|last| self.as_constant(last).is_some());
        delay(kind, self.value(first), constant)
    }

    fn times(&self, kind: &NodeKind) -> (Moment, Moment) {
        let there = kind.operands().map(|operand| self.vertices[operand].ready).max().unwrap_or_default();
        let next = Moment { stage: there.stage + 1, units: 0 };
        match self.delay(kind) {
            Delay::Units(units) => {
                let start = if there.units + units <= UNITS_PER_STAGE { there } else { next };
                (start, Moment { stage: start.stage, units: start.units + units })
            }
            Delay::Stages(stages) => {
                let start = if there.units == 0 { there } else { next };
                (start, Moment { stage: start.stage + stages, units: 0 })
            }
        }
    }

    /// How often each node is used by what the result depends on; the result counts as used once.
    pub fn uses(&self, result: usize) -> Vec<usize> {
        let mut uses = vec![0; self.vertices.len()];
        uses[result] = 1;
        for node in (0..=result).rev() {
            if uses[node] > 0 {
                self.vertices[node].kind.operands().for_each(|operand| uses[operand] += 1);
            }
        }
        uses
    }
}
