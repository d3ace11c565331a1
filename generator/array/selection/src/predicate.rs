//! Conditions that depend on loop variables only, as boxes of these, which address generators compute.

use std::collections::BTreeMap;

use pushmem_cells::{Predicate, Steps};
use pushmem_datapaths::NodeKind;
use pushmem_kernels::Values;

/// A truth value of loop variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    /// Always the same.
    Always(bool),
    /// True in the box, or outside of it.
    In { predicate: Predicate, inverted: bool },
}

/// For each value, the only loop variable that it depends on, if there is one and it depends on nothing else.
pub(crate) fn variables(values: &Values) -> Vec<Option<usize>> {
    let mut known: Vec<Option<usize>> = Vec::new();
    let mut is_constant = Vec::new();
    for value in &values.values {
        let mut operands = value.kind.operands().peekable();
        let constant = value.kind.is_constant()
            || (operands.peek().is_some() && value.kind.operands().all(|operand| is_constant[operand]));
        let variable = match value.kind {
            NodeKind::Variable(variable) => Some(variable),
            NodeKind::Load(_) | NodeKind::Lookup { .. } | NodeKind::Fetch { .. } | NodeKind::Read { .. } => None,
            _ => {
                let mut found = operands.filter(|operand| !is_constant[*operand]).map(|operand| known[operand]);
                found.next().flatten().filter(|first| found.all(|other| other == Some(*first)))
            }
        };
        known.push(variable);
        is_constant.push(constant);
    }
    known
}

/// The values of the loop variable for which a truth value that depends only on it is true.
pub(crate) fn decide(values: &Values, node: usize, variable: usize) -> Option<Decided> {
    let (first, results) = tabulated(values, node)?;
    let (inside, outside): (Vec<i64>, Vec<i64>) =
        (first..first + results.len() as i64).partition(|index| results[(index - first) as usize] != 0);
    if inside.is_empty() || outside.is_empty() {
        return Some(Decided::Always(outside.is_empty()));
    }
    let named = |steps: Steps, inverted: bool| Decided::In {
        predicate: Predicate { variables: BTreeMap::from([(variable, steps)]) },
        inverted,
    };
    let inside = Steps::of(&inside).map(|steps| named(steps, false));
    inside.or_else(|| Steps::of(&outside).map(|steps| named(steps, true)))
}

/// A value that depends only on one loop variable: the least value of the variable, and the value for it and those after it.
pub(crate) fn tabulated(values: &Values, node: usize) -> Option<(i64, Vec<i64>)> {
    let is_variable = |each: &usize| matches!(values.values[*each].kind, NodeKind::Variable(_));
    let variable = needed(values, node, None).into_iter().find(is_variable)?;
    Some((values.values[variable].range.0, results(values, node, variable)))
}

/// A value that depends on one other value only, for the least of that value and each after it.
pub(crate) fn results(values: &Values, node: usize, of: usize) -> Vec<i64> {
    let needed = needed(values, node, Some(of));
    let mut results = vec![0; values.values.len()];
    let (low, high) = values.values[of].range;
    let result = |value: i64| {
        results[of] = value;
        for &each in needed.iter().filter(|each| **each != of) {
            results[each] = evaluate(values, each, &results);
        }
        results[node]
    };
    (low..=high).map(result).collect()
}

/// The values that a value depends on, and itself, in their order; not those that `of` depends on.
fn needed(values: &Values, node: usize, of: Option<usize>) -> Vec<usize> {
    let mut needed = std::collections::BTreeSet::from([node]);
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        if Some(next) != of {
            open.extend(values.values[next].kind.operands().filter(|operand| needed.insert(*operand)));
        }
    }
    needed.into_iter().collect()
}

fn evaluate(values: &Values, node: usize, results: &[i64]) -> i64 {
    let operand_type = |operand: usize| values.values[operand].value;
    match values.values[node].kind {
        NodeKind::Constant(number) => number,
        NodeKind::Unary { operator, operand } => operator.apply(operand_type(operand), results[operand]),
        NodeKind::Binary { operator, left, right } => operator.apply(operand_type(left), results[left], results[right]),
        NodeKind::Select { condition, then, otherwise } => {
            results[if results[condition] != 0 { then } else { otherwise }]
        }
        NodeKind::Cast(operand) => values.values[node].value.wrap(results[operand]),
        NodeKind::Variable(_)
        | NodeKind::Load(_)
        | NodeKind::Lookup { .. }
        | NodeKind::Fetch { .. }
        | NodeKind::Read { .. } => {
            unreachable!("the value depends on one other value only")
        }
    }
}
