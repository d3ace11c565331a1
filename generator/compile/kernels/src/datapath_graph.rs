//! The datapath graph of an operation, before any technology.

use std::collections::BTreeSet;
use std::fmt;

use itertools::Itertools;
use pushmem_nest::{Operation, Printer, Program, Type};
use thiserror::Error;

use crate::array_ranges::ArrayRanges;
use crate::graph::{Graph, Vertex};
use crate::moments::Moments;
use crate::{build, chains, stages};
use pushmem_datapaths::Copies;
use pushmem_datapaths::Datapath;
use pushmem_datapaths::NodeKind;
use pushmem_datapaths::TableMemories;
use pushmem_datapaths::{DedicatedOperators, Operator, Operators};

/// The computation of an operation: values and their operators, simplified, each value once, without stages.
///
/// It is the same for every technology. [`pipelined`](DatapathGraph::pipelined) fits it to one.
#[derive(Clone, Debug)]
pub struct DatapathGraph<'a> {
    program: &'a Program,
    operation: &'a Operation,
    graph: Graph<'a>,
    /// The value that the operation writes, or adds to its target if it reduces and the order of what is added does not matter.
    result: usize,
    loads: Vec<Type>,
}

/// A value of a datapath graph, as [`DatapathGraph::balanced`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its operator. Operands are indices of [`Values::values`], less than its own.
    pub kind: NodeKind,
    /// Its type.
    pub value: Type,
    /// Its least and its greatest value.
    pub range: (i64, i64),
}

/// The values of an operation, operands before their users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The values. Some may not be needed for the result.
    pub values: Vec<Value>,
    /// The value that the operation writes.
    pub result: usize,
    /// The types of the loads, as [`Datapath::loads`].
    pub loads: Vec<Type>,
}

/// An operator that a technology does not compute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{technology} has no operator `{operator}` of {operand}")]
pub struct Unsupported {
    /// The name of the technology.
    pub technology: String,
    /// The operator, as graphs print it.
    pub operator: String,
    /// The name of the type of its operands.
    pub operand: &'static str,
}

impl<'a> DatapathGraph<'a> {
    /// The graph of an operation of the program. The copies of an unrolled reduction that add to the same element are one
    /// graph, of their sum; their loads are in the order of [`Datapath`].
    pub fn of(program: &'a Program, operation: &'a Operation) -> Self {
        let copies = Copies::new(program, operation);
        let ranges = ArrayRanges::of_types(program).loads(operation, &copies.reads());
        Self::of_copies(program, &copies, ranges)
    }

    /// The graphs of all operations of a program, in their order.
    pub fn all(program: &'a Program) -> impl Iterator<Item = Self> {
        Self::all_within(program, ArrayRanges::of_types(program))
    }

    /// The same where elements of arrays have these ranges. For words beyond them, the graphs may compute anything.
    pub fn all_within(program: &'a Program, ranges: ArrayRanges) -> impl Iterator<Item = Self> {
        let copies = program.operations().into_iter().map(|(loops, operation)| Copies::within(loops, operation));
        let copies = copies.collect_vec();
        let loads = copies.iter().map(|of| ranges.loads(of.operation, &of.reads())).collect_vec();
        let all = (0..copies.len()).map(|number| {
            // One graph computes all operations of a unit.
            let sharers =
                copies.iter().zip(&loads).filter(|(of, _)| of.operation.shares_unit(copies[number].operation));
            let mut together = loads[number].clone();
            sharers.for_each(|(_, loads)| ArrayRanges::widen(&mut together, loads));
            Self::of_copies(program, &copies[number], together)
        });
        all.collect_vec().into_iter()
    }

    fn of_copies(program: &'a Program, copies: &Copies<'a>, ranges: Vec<(i64, i64)>) -> Self {
        let loads = copies.reads().iter().map(|access| program.arrays[access.array].element).collect_vec();
        let (graph, result) = build::build(program, copies, &loads, ranges);
        Self { program, operation: copies.operation, graph, result, loads }
    }

    /// The operation.
    pub fn operation(&self) -> &'a Operation {
        self.operation
    }

    /// The values of the operation with chains balanced for these operators, without stages. The old value of the target of a
    /// reduction is its last load. Loads come in the stages of `arrivals`, those beyond its end in the first: of a chain, words
    /// that come late are joined last.
    pub fn balanced(&self, operators: &dyn Operators, arrivals: Vec<u64>) -> Values {
        let (graph, result) = self.rebuilt(TableMemories::NONE, &mut Moments::with_arrivals(operators, arrivals));
        let value = |vertex: &Vertex| Value { kind: vertex.kind, value: vertex.value, range: vertex.range };
        Values { values: graph.vertices.iter().map(value).collect(), result, loads: self.loads.clone() }
    }

    /// The graph of the value that is written, with chains balanced for these operators.
    fn rebuilt(&self, memories: TableMemories, moments: &mut Moments) -> (Graph<'a>, usize) {
        let (mut graph, result) = chains::rebuild(&self.graph, self.result, memories, moments);
        let result = build::written(&mut graph, self.operation, &self.loads, result);
        (graph, result)
    }

    /// The datapath of the graph: with chains balanced and stages chosen for these operators, tables in these memories.
    ///
    /// # Errors
    /// If the technology does not compute an operator of the graph.
    pub fn pipelined(&self, operators: &dyn Operators, memories: TableMemories) -> Result<Datapath, Unsupported> {
        self.pipelined_around(operators, memories, &BTreeSet::new())
    }

    /// The datapath of dedicated operators, with all tables in its logic.
    pub fn dedicated(&self) -> Datapath {
        let datapath = self.pipelined(&DedicatedOperators::LONG_STAGES, TableMemories::NONE);
        datapath.expect("there is a dedicated operator of each kind")
    }

    /// The same where these loads take results of earlier iterations, numbered as those of one copy. The way from them to the
    /// result is as short as it can be: all else is computed before, and they come in the first stage for which that is so. The
    /// result comes out of a register.
    ///
    /// # Errors
    /// As [`pipelined`](DatapathGraph::pipelined).
    pub fn pipelined_around(
        &self,
        operators: &dyn Operators,
        memories: TableMemories,
        recurrent: &BTreeSet<usize>,
    ) -> Result<Datapath, Unsupported> {
        let at = |arrival: u64| self.pipelined_at(operators, memories, recurrent, arrival);
        let early = at(0)?;
        if recurrent.is_empty() || early.nodes()[early.result()].kind.operands().next().is_none() {
            return Ok(early);
        }
        let (early, latest) = match early.latency() {
            0 => (early.later(1), 0),
            latency => (early, latency),
        };
        let shortest = at(latest)?.latency().max(latest + 1) - latest;
        for arrival in 1..=latest {
            if early.latency() <= shortest {
                break;
            }
            let datapath = at(arrival)?;
            if datapath.latency() == arrival + shortest {
                return Ok(datapath);
            }
        }
        Ok(early)
    }

    /// The datapath where these loads come in a stage.
    fn pipelined_at(
        &self,
        operators: &dyn Operators,
        memories: TableMemories,
        recurrent: &BTreeSet<usize>,
        arrival: u64,
    ) -> Result<Datapath, Unsupported> {
        let of_copy = self.operation.loads.len().max(1);
        // The last load of a reduction is the old value of its target.
        let loads = self.loads.len() - usize::from(self.operation.reduction.is_some());
        let is_late = |load: usize| load < loads && recurrent.contains(&(load % of_copy));
        let arrivals = (0..self.loads.len()).map(|load| if is_late(load) { arrival } else { 0 }).collect_vec();
        let mut moments = Moments::with_arrivals(operators, arrivals.clone());
        let (graph, result) = self.rebuilt(memories, &mut moments);
        let uses = graph.uses(result);
        let needed = (0..graph.vertices.len()).filter(|&node| uses[node] > 0).map(|node| graph.operator(node));
        if let Some(operator) = needed.collect_vec().into_iter().find(|operator| !operators.computes(operator)) {
            let Operator { kind, operand, .. } = operator;
            return Err(Unsupported {
                technology: operators.name().to_owned(),
                operator: kind.name().into_owned(),
                operand: operand.name(),
            });
        }
        let (nodes, result, latency) = stages::assign(&graph, &mut moments, result);
        Ok(Datapath::new(nodes, result, latency, self.loads.clone(), arrivals, operators))
    }
}

/// One value a line: `%2 u16 = add %0 %1`. Loads and tables have the names of the program; values from a number to another
/// by their types are not marked, other bounds are: `%3 u16 0..=255 = …`.
impl fmt::Display for DatapathGraph<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { program, operation, graph, result, .. } = self;
        let accesses = Datapath::accesses(program, operation);
        let loops = Copies::new(program, operation).loops;
        let printer = Printer { program, loops: &loops, operation };
        let uses = graph.uses(*result);
        for (node, vertex) in graph.vertices.iter().enumerate().filter(|(node, _)| uses[*node] > 0) {
            write!(formatter, "  %{node} {}", vertex.value.name())?;
            if vertex.range != (vertex.value.min(), vertex.value.max()) && !vertex.kind.is_constant() {
                write!(formatter, " {}..={}", vertex.range.0, vertex.range.1)?;
            }
            match vertex.kind {
                NodeKind::Constant(number) => write!(formatter, " = {number}")?,
                NodeKind::Load(load) => {
                    write!(formatter, " = load {}", printer.access(&accesses[load]))?;
                }
                NodeKind::Read { load, .. } => write!(formatter, " = read {}", printer.access(&accesses[load]))?,
                NodeKind::Variable(variable) => write!(formatter, " = loop {}", loops[variable].variable)?,
                NodeKind::Lookup { table, .. } | NodeKind::Fetch { table, .. } => {
                    write!(formatter, " = lookup {}", program.tables[table].name)?;
                }
                kind => write!(formatter, " = {}", kind.name())?,
            }
            vertex.kind.operands().try_for_each(|operand| write!(formatter, " %{operand}"))?;
            writeln!(formatter)?;
        }
        let joins = operation.reduction.filter(|_| !operation.sums_in_order());
        let assign = joins.map_or_else(|| "=".to_owned(), |operator| format!("{}=", operator.symbol()));
        writeln!(formatter, "  {} {assign} %{result}", printer.access(&operation.target))
    }
}
