//! The proof that a program whose accesses of random-access memories are alike computes what it did before.
//!
//! It takes the copies between streams and memories out, and compares what is left statement by statement.

use std::collections::BTreeMap;
use std::sync::Arc;

use itertools::Itertools;
use pushmem_nest::{
    Access, Array, ArrayKind, Binary, Expression, ExpressionKind, Index, Load, Loop, Node, Operation, Program, ranges,
};

use crate::error::{PartError, require};

/// The most values of an index that are compared one by one.
const MOST_VALUES: i64 = 1 << 20;

/// Proves that a program with accesses of random-access memories in one form computes what the program as it is written does.
///
/// # Errors
/// The first statement that does something else.
pub fn prove_random_access(written: &Program, alike: &Program) -> Result<(), PartError> {
    let name = || written.name.clone();
    let count = written.arrays.len();
    require(alike.arrays.len() >= count && written.tables == alike.tables, name, "it has other arrays or tables")?;
    for (before, after) in written.arrays.iter().zip(&alike.arrays) {
        let expected = Array {
            random_access: before.random_access && before.kind == ArrayKind::Buffer,
            level: after.level,
            ..before.clone()
        };
        let name = || before.name.clone();
        require(
            *after == expected && (after.level == before.level || before.random_access),
            name,
            "it is declared anew",
        )?;
    }
    // The stream of each memory that the program does not declare.
    let mut streams = BTreeMap::new();
    let (mut first, mut last) = (0, alike.nest.len());
    while let Some(copy) = alike.nest.get(first).and_then(|node| copied(alike, node, count, ArrayKind::Input)) {
        require(streams.insert(copy.memory, copy.stream).is_none(), name, "a memory is filled twice")?;
        first += 1;
    }
    while let Some(copy) = alike.nest[first..last].last().and_then(|node| copied(alike, node, count, ArrayKind::Output))
    {
        require(streams.insert(copy.memory, copy.stream).is_none(), name, "a memory is emptied twice")?;
        last -= 1;
    }
    require(
        streams.keys().copied().eq(count..alike.arrays.len()),
        name,
        "a memory has no stream that it is a copy of",
    )?;
    require(streams.values().all_unique(), name, "a stream has two memories")?;
    let checker = Checker { written, alike, streams: &streams };
    checker.nodes(&written.nest, &alike.nest[first..last], &mut Vec::new())
}

/// A nest that copies a stream.
struct Copied {
    stream: usize,
    memory: usize,
}

/// The copy that a node is, of all elements in their order between a stream of a kind and a memory that is not declared.
fn copied(program: &Program, node: &Node, count: usize, kind: ArrayKind) -> Option<Copied> {
    let (mut loops, mut node) = (Vec::new(), node);
    let operation = loop {
        match node {
            Node::Operation(operation) => break operation,
            Node::Loop(inner) => {
                loops.push(inner);
                node = inner.body.iter().exactly_one().ok()?;
            }
        }
    };
    let load = operation.loads.iter().exactly_one().ok()?;
    let only_copies = operation.reduction.is_none() && operation.expression.kind == ExpressionKind::Load(0);
    let (stream, memory) = match kind {
        ArrayKind::Input => (&load.access, &operation.target),
        _ => (&operation.target, &load.access),
    };
    if memory.array < count || stream.array >= count {
        return None;
    }
    let [of_stream, of_memory] = [stream.array, memory.array].map(|array| &program.arrays[array]);
    let same =
        of_stream.shape == of_memory.shape && of_stream.min == of_memory.min && of_stream.element == of_memory.element;
    let indices: Vec<Index> = (0..loops.len()).rev().map(Index::variable).collect();
    let whole = of_stream.min.iter().zip(&of_stream.shape).map(|(&min, &extent)| (min, extent, 1));
    let all = whole.eq(loops.iter().rev().map(|level| (level.min, level.extent, level.unroll)));
    let is_copy = only_copies
        && load.outside.is_none()
        && of_stream.kind == kind
        && of_memory.kind == ArrayKind::Buffer
        && of_memory.random_access
        && same
        && all
        && stream.computed.is_none()
        && stream.indices == indices
        && are_alike(&indices, memory, &loops);
    is_copy.then_some(Copied { stream: stream.array, memory: memory.array })
}

struct Checker<'a> {
    written: &'a Program,
    alike: &'a Program,
    /// The stream of each memory that is not declared.
    streams: &'a BTreeMap<usize, usize>,
}

impl Checker<'_> {
    fn nodes<'a>(&self, written: &'a [Node], alike: &[Node], loops: &mut Vec<&'a Loop>) -> Result<(), PartError> {
        let name = || self.written.name.clone();
        require(written.len() == alike.len(), name, "it has other statements")?;
        for pair in written.iter().zip(alike) {
            match pair {
                (Node::Operation(written), Node::Operation(alike)) => self.operation(written, alike, loops)?,
                (Node::Loop(before), Node::Loop(after)) => {
                    let header = |level: &Loop| Loop { body: Vec::new(), ..level.clone() };
                    require(header(before) == header(after), || before.variable.clone(), "it is another loop")?;
                    loops.push(before);
                    self.nodes(&before.body, &after.body, loops)?;
                    loops.pop();
                }
                _ => require(false, name, "it has other statements")?,
            }
        }
        Ok(())
    }

    fn operation(&self, written: &Operation, alike: &Operation, loops: &[&Loop]) -> Result<(), PartError> {
        let name = || written.name.clone();
        let is_update = written.reduction.filter(|_| self.alike.arrays[alike.target.array].random_access);
        let (mut loads, mut expression) = (written.loads.clone(), written.expression.clone());
        if let Some(operator) = is_update {
            let old = Expression { kind: ExpressionKind::Load(loads.len()), ..expression.clone() };
            loads.push(Load { access: written.target.clone(), outside: None });
            let kind = ExpressionKind::Binary { operator, left: Arc::new(old), right: Arc::new(expression.clone()) };
            expression = Expression { kind, ..expression };
        }
        let reduction = if is_update.is_some() { None } else { written.reduction };
        let of_loads = loads.len() == alike.loads.len()
            && loads.iter().zip(&alike.loads).all(|(before, after)| {
                before.outside == after.outside && self.is_same(&before.access, &after.access, loops)
            });
        let same = of_loads
            && self.is_same(&written.target, &alike.target, loops)
            && expression == alike.expression
            && reduction == alike.reduction
            && written.share == alike.share;
        require(same, name, "it computes something else with a random-access memory")
    }

    /// Whether two accesses are of the same element in all iterations.
    fn is_same(&self, written: &Access, alike: &Access, loops: &[&Loop]) -> bool {
        let array = self.streams.get(&alike.array).copied().unwrap_or(alike.array);
        if array != written.array {
            return false;
        }
        if !self.alike.arrays[alike.array].random_access {
            return written.computed == alike.computed && written.indices == alike.indices;
        }
        match &written.computed {
            Some(_) => written.computed == alike.computed,
            None => are_alike(&written.indices, alike, loops),
        }
    }
}

/// Whether an access computes these indices.
fn are_alike(indices: &[Index], access: &Access, loops: &[&Loop]) -> bool {
    let Some(computed) = &access.computed else { return false };
    let ranges = ranges(loops.iter().copied());
    computed.len() == indices.len()
        && computed.iter().zip(indices).all(|(computed, index)| has_value(computed, index, &ranges))
}

/// Whether an expression of loop variables has the value of an index. Sums of variables are compared as such, others value by value.
fn has_value(computed: &Expression, index: &Index, ranges: &[(i64, i64)]) -> bool {
    if let Some(sum) = as_sum(computed) {
        return sum == *index;
    }
    let used = index.variables().into_iter().collect_vec();
    let values = used.iter().map(|&variable| ranges[variable].1 - ranges[variable].0 + 1).fold(1, i64::saturating_mul);
    let mut variables = ranges.iter().map(|(first, _)| *first).collect_vec();
    if values > MOST_VALUES || !uses_only(computed, &used) {
        return false;
    }
    loop {
        if value_of(computed, &variables) != Some(index.evaluate(&variables)) {
            return false;
        }
        let Some(next) = used.iter().position(|&variable| variables[variable] < ranges[variable].1) else {
            return true;
        };
        used[..next].iter().for_each(|&variable| variables[variable] = ranges[variable].0);
        variables[used[next]] += 1;
    }
}

/// The affine function that an expression is.
fn as_sum(expression: &Expression) -> Option<Index> {
    match &expression.kind {
        ExpressionKind::Constant(number) => Some(Index::constant(*number)),
        ExpressionKind::Variable(variable) => Some(Index::variable(*variable)),
        ExpressionKind::Binary { operator, left, right } => {
            let (left, right) = (as_sum(left)?, as_sum(right)?);
            match operator {
                Binary::Add => left.plus(&right, 1),
                Binary::Subtract => left.plus(&right, -1),
                Binary::Multiply => left.times(right.as_constant()?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an expression has no other variables than these, and no data.
fn uses_only(expression: &Expression, variables: &[usize]) -> bool {
    match &expression.kind {
        ExpressionKind::Constant(_) => true,
        ExpressionKind::Variable(variable) => variables.contains(variable),
        ExpressionKind::Binary { left, right, .. } => uses_only(left, variables) && uses_only(right, variables),
        _ => false,
    }
}

fn value_of(expression: &Expression, variables: &[i64]) -> Option<i64> {
    match &expression.kind {
        ExpressionKind::Constant(number) => Some(*number),
        ExpressionKind::Variable(variable) => variables.get(*variable).copied(),
        ExpressionKind::Binary { operator, left, right } => {
            Some(operator.apply(left.value, value_of(left, variables)?, value_of(right, variables)?))
        }
        _ => None,
    }
}
