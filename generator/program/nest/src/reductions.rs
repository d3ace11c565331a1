//! Statements that are reductions, though they are written as assignments: `peak[0] = max(peak[0], a[x])`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::expression::{Expression, ExpressionKind, Part};
use crate::operators::Binary;
use crate::program::{Access, Load, Loop, Operation, Program};

/// Makes a reduction of each statement that joins an element with a value by an operator whose operands may be joined in any order, as
/// `+=` says it of sums. Where other statements of an unrolled loop use the array, between the copies of the statement, it stays as it is.
pub(crate) fn recognize(program: &mut Program) {
    let chosen: BTreeSet<String> = {
        let all = program.operations();
        let seen_between = |loops: &[&Loop], operation: &Operation| {
            let merged = loops.iter().enumerate();
            let mut merged =
                merged.filter(|(variable, level)| level.unroll > 1 && !operation.target.follows(*variable));
            merged.any(|(variable, level)| {
                all.iter().any(|(around, other)| {
                    let inside = around.get(variable).is_some_and(|of| std::ptr::eq(*of, *level));
                    let uses = other.target.array == operation.target.array
                        || other.reads().any(|read| read.array == operation.target.array);
                    inside && uses && other.name != operation.name
                })
            })
        };
        let is_one = |(loops, operation): &&(Vec<&Loop>, &Operation)| {
            joined(operation).is_some() && !seen_between(loops, operation)
        };
        all.iter().filter(is_one).map(|(_, operation)| operation.name.clone()).collect()
    };
    for operation in program.operations_mut() {
        if let Some(reduction) = joined(operation).filter(|_| chosen.contains(&operation.name)) {
            *operation = reduction;
        }
    }
}

/// The reduction that an assignment is: its expression is a chain of one operator that has an identity, and one of the operands is the
/// element that is written, which is read nowhere else.
fn joined(operation: &Operation) -> Option<Operation> {
    let ExpressionKind::Binary { operator, .. } = operation.expression.kind else { return None };
    let value = operation.expression.value;
    operator.identity(value).filter(|_| operation.reduction.is_none() && operation.share.is_none())?;
    let is_element = |load: &Load| load.outside.is_none() && load.access.is_same_element(&operation.target);
    let own = operation.loads.iter().position(is_element)?;
    let of_array = operation.loads.iter().filter(|load| load.access.array == operation.target.array).count();
    let terms = operands(&operation.expression, operator);
    let is_own = |term: &&Expression| matches!(term.kind, ExpressionKind::Load(load) if load == own);
    if of_array != 1 || terms.iter().filter(|term| is_own(term)).count() != 1 {
        return None;
    }
    let joined = terms.iter().filter(|term| !is_own(term)).copied().cloned().reduce(|left, right| {
        let kind = ExpressionKind::Binary { operator, left: Arc::new(left), right: Arc::new(right) };
        Expression { kind, ..operation.expression }
    })?;
    let leaf = |kind: &ExpressionKind| match kind {
        ExpressionKind::Load(load) if *load == own => None,
        ExpressionKind::Load(load) => Some(ExpressionKind::Load(load - usize::from(*load > own))),
        kind => Some(kind.clone()),
    };
    let expression = joined.rebuilt(&leaf)?;
    // Indices that are computed have other numbers of loads as well; none of them is of the element.
    let access = |access: &Access| access.with_computed(|index| index.rebuilt(&leaf));
    let others = operation.loads.iter().enumerate().filter(|(number, _)| *number != own);
    let loads = others.map(|(_, load)| Some(Load { access: access(&load.access)?, outside: load.outside }));
    let (target, loads) = (access(&operation.target)?, loads.collect::<Option<_>>()?);
    Some(Operation { reduction: Some(operator), target, loads, expression, ..operation.clone() })
}

/// The operands of a chain of one operator, from left to right. A value that is used several times is one of them.
fn operands(expression: &Expression, of: Binary) -> Vec<&Expression> {
    let shared = expression.shared_parts();
    let (mut found, mut open) = (Vec::new(), vec![expression]);
    while let Some(next) = open.pop() {
        match &next.kind {
            ExpressionKind::Binary { operator, left, right } if *operator == of && !shared.contains(&Part(next)) => {
                open.extend([&**right, &**left]);
            }
            _ => found.push(next),
        }
    }
    found
}
