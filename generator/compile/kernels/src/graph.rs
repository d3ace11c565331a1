//! A datapath that is being built: nodes without stages, equal ones only once.

use std::collections::HashMap;

use pushmem_nest::{Table, Type};

use crate::ranges;
use pushmem_datapaths::NodeKind;
use pushmem_datapaths::Operator;
use pushmem_datapaths::{TableMemories, address_bits};

/// A value of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub kind: NodeKind,
    pub value: Type,
    /// Bounds of the value.
    pub range: (i64, i64),
}

/// Nodes, operands before their users.
#[derive(Clone, Debug)]
pub(crate) struct Graph<'a> {
    pub vertices: Vec<Vertex>,
    pub tables: &'a [Table],
    /// Which tables are beside the kernel.
    memories: TableMemories,
    /// The least and the greatest value of each loop variable, outermost first.
    variables: Vec<(i64, i64)>,
    /// The least and the greatest value of each load.
    loads: Vec<(i64, i64)>,
    known: HashMap<(NodeKind, Type), usize>,
}

impl<'a> Graph<'a> {
    pub fn new(
        tables: &'a [Table],
        memories: TableMemories,
        variables: Vec<(i64, i64)>,
        loads: Vec<(i64, i64)>,
    ) -> Self {
        Self { vertices: Vec::new(), tables, memories, variables, loads, known: HashMap::new() }
    }

    /// An empty graph of the same tables and loops, with tables in these memories.
    pub fn fresh(&self, memories: TableMemories) -> Self {
        Self::new(self.tables, memories, self.variables.clone(), self.loads.clone())
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

    /// The node, as it is, or the constant if its bounds leave one number: [`Graph::node`] simplifies further.
    pub fn intern(&mut self, kind: NodeKind, value: Type) -> usize {
        if let Some(&known) = self.known.get(&(kind, value)) {
            return known;
        }
        let range = match kind {
            NodeKind::Variable(variable) => self.variables[variable],
            NodeKind::Load(load) | NodeKind::Read { load, .. } => self.loads[load],
            _ => ranges::range(&kind, value, |operand| (self.vertices[operand].value, self.vertices[operand].range)),
        };
        if range.0 == range.1 && !matches!(kind, NodeKind::Constant(_)) {
            return self.constant(range.0, value);
        }
        self.vertices.push(Vertex { kind, value, range });
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

    /// The node, as a technology sees it.
    pub fn operator(&self, node: usize) -> Operator {
        let Vertex { kind, value, .. } = self.vertices[node];
        let operand = kind.operands().next().map_or(value, |first| self.value(first));
        let constant = kind.operands().last().is_some_and(|last| self.as_constant(last).is_some());
        Operator { kind, operand, value, constant }
    }

    /// How often each node is used by nodes that the result depends on; the result counts as used once.
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
