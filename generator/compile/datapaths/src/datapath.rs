//! The datapath of an operation.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{Access, Operation, Program, Type, Word};

use crate::copies::Copies;
use crate::node::{DatapathNode, NodeKind};
use crate::operators::Operators;
use crate::tables::{Fetch, MemoryRead, READ_LATENCY};

/// The computation of an operation, as a pipeline.
///
/// The copies of an unrolled reduction that add to the same element are one datapath, of their sum. Its loads are those of
/// all of them, copy by copy in the order of [`Operation::copies_together`]: load `i` of copy `k` is load `k·n + i` if the
/// operation has `n`. The old value of the target is the last.
///
/// Two equal datapaths are the same hardware up to the names of their ports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Datapath {
    pub(crate) nodes: Vec<DatapathNode>,
    pub(crate) result: usize,
    pub(crate) latency: u64,
    /// Of each load.
    pub(crate) operand_latency: Vec<u64>,
    /// Of each load.
    pub(crate) arrivals: Vec<u64>,
    pub(crate) loads: Vec<Type>,
    pub(crate) processing_elements: u64,
}

impl Datapath {
    /// The datapath of these nodes, operands before their users, each needed for the result. Loads of these types come in the stages of
    /// `arrivals`, elements of random-access memories behind their addresses.
    pub fn new(
        nodes: Vec<DatapathNode>,
        result: usize,
        latency: u64,
        loads: Vec<Type>,
        arrivals: Vec<u64>,
        operators: &dyn Operators,
    ) -> Datapath {
        let operand_latency = loads.iter().map(|load| operators.operand_latency(*load)).collect();
        let mut datapath =
            Datapath { nodes, result, latency, operand_latency, arrivals, loads, processing_elements: 0 };
        for read in datapath.memory_reads() {
            datapath.arrivals[read.load] = read.stage + READ_LATENCY;
        }
        datapath.processing_elements = (0..datapath.nodes.len())
            .filter(|&node| !datapath.shares_divider(node))
            .map(|node| operators.processing_elements(&datapath.operator(node)))
            .sum();
        datapath
    }

    /// All nodes, operands before their users. Every one is needed for the result.
    pub fn nodes(&self) -> &[DatapathNode] {
        &self.nodes
    }

    /// The node of the result, an index of [`nodes`](Datapath::nodes).
    pub fn result(&self) -> usize {
        self.result
    }

    /// The type of the result.
    pub fn result_type(&self) -> Type {
        self.nodes[self.result].value
    }

    /// The types of the loads of all copies; of a reduction the old value of the target is the last.
    pub fn loads(&self) -> &[Type] {
        &self.loads
    }

    /// The operands of a kernel: the words of all loads, each with the number of its load, low word first.
    pub fn operands(&self) -> Vec<(usize, Word)> {
        let words = |(load, of): (usize, &Type)| of.words().iter().map(move |&word| (load, word));
        self.loads.iter().enumerate().flat_map(words).collect()
    }

    /// The values of the loads whose words are the operands of a kernel.
    ///
    /// # Panics
    /// When there are fewer words than [`operands`](Datapath::operands).
    pub fn joined(&self, mut operands: &[u16], loads: &mut [i64]) {
        for (load, of) in loads.iter_mut().zip(&self.loads) {
            let (words, others) = operands.split_at(of.words().len());
            *load = of.join(words);
            operands = others;
        }
    }

    /// The elements that the loads read, in terms of the loop variables in the first copy. The program and the operation
    /// are those that the datapath was made of.
    pub fn accesses(program: &Program, operation: &Operation) -> Vec<Access> {
        Copies::new(program, operation).reads()
    }

    /// Whether the result depends on a load.
    pub fn uses(&self, load: usize) -> bool {
        self.nodes.iter().any(|node| match node.kind {
            NodeKind::Load(of) | NodeKind::Read { load: of, .. } => of == load,
            _ => false,
        })
    }

    /// The loop variables that the result depends on, outermost first.
    pub fn variables(&self) -> Vec<usize> {
        let variable = |node: &DatapathNode| match node.kind {
            NodeKind::Variable(variable) => Some(variable),
            _ => None,
        };
        self.nodes.iter().filter_map(variable).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The look-ups in tables beside the datapath: each needs a memory of its own, as all of them may happen at once.
    pub fn fetches(&self) -> Vec<Fetch> {
        let fetch = |node: &DatapathNode| match node.kind {
            NodeKind::Fetch { table, address_bits, latency, .. } => {
                Some(Fetch { table, stage: node.stage, latency, address_bits, value: node.value })
            }
            _ => None,
        };
        self.nodes.iter().filter_map(fetch).collect()
    }

    /// The reads of random-access memories beside the datapath: each has a port of its own.
    pub fn memory_reads(&self) -> Vec<MemoryRead> {
        let read = |node: &DatapathNode| match node.kind {
            NodeKind::Read { load, address, address_bits } => {
                Some(MemoryRead { load, stage: node.stage, address_bits, address })
            }
            _ => None,
        };
        self.nodes.iter().filter_map(read).collect()
    }

    /// The same with a result that comes out of a register behind all reads of random-access memories.
    pub fn behind_reads(self) -> Datapath {
        let shown = self.memory_reads().into_iter().map(|read| read.stage + READ_LATENCY).max();
        let is_direct = shown.is_some_and(|shown| shown == self.latency);
        if is_direct { self.later(1) } else { self }
    }

    /// The result, if it is always the same.
    pub fn constant(&self) -> Option<i64> {
        match self.nodes[self.result].kind {
            NodeKind::Constant(number) => Some(number),
            _ => None,
        }
    }

    /// The load that is the result as it is, without a register.
    pub fn copied(&self) -> Option<usize> {
        match self.nodes[self.result].kind {
            NodeKind::Load(load) if self.latency == 0 => Some(load),
            _ => None,
        }
    }

    /// The same with a result that comes out of a register, also of a load.
    pub fn registered(self) -> Datapath {
        Datapath { latency: self.latency.max(1), ..self }
    }

    /// The number of cycles from the operands to the result, which comes out of registers: 0 if it is a load, a constant
    /// or some bits of one of them, which need none.
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Cycles from the port of a load to the first operator that takes it: so long before an operation begins its word is at the
    /// port.
    pub fn operand_latency(&self, load: usize) -> u64 {
        self.operand_latency[load]
    }

    /// Cycles after an operation begins in which the word of a load is at its port: 0 but for loads of a recurrence, which come
    /// in the last stage in which they are in time, and for elements of random-access memories, which follow their addresses.
    pub fn arrival(&self, load: usize) -> u64 {
        self.arrivals[load]
    }

    /// The same, whose result comes so many cycles later: registers for the way to where it is stored. A load or a constant is no
    /// kernel that could have them, and stays as it is.
    pub fn later(self, cycles: u64) -> Datapath {
        match self.nodes[self.result].kind {
            NodeKind::Load(_) | NodeKind::Constant(_) => self,
            _ => Datapath { latency: self.latency + cycles, ..self },
        }
    }

    /// The stage from which on the value of a node is there.
    pub(crate) fn available(&self, node: usize) -> u64 {
        self.nodes[node].stage + self.nodes[node].latency
    }

    /// For each node, the last stage in which its value is used, which may be that in which it is computed. The result is
    /// used in the stage after the last.
    pub(crate) fn last_uses(&self) -> Vec<u64> {
        let mut last = (0..self.nodes.len()).map(|node| self.available(node)).collect_vec();
        for node in &self.nodes {
            for operand in node.kind.operands() {
                last[operand] = last[operand].max(node.stage);
            }
        }
        last[self.result] = last[self.result].max(self.latency);
        last
    }
}
