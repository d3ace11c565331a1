//! Indices of elements, as functions of loop variables or as expressions that compute them.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{Binary, Expression, ExpressionKind, Index, Loop};

/// Values of indices that are not affine, of which each is looked at.
const MOST_VALUES: i64 = 1 << 20;

/// Whether an index is another one in all iterations of loops.
pub(super) fn are_same(one: &Index, other: &Index, loops: &[&Loop]) -> bool {
    let is_affine = one.as_affine().and(other.as_affine()).is_some();
    one == other
        || !is_affine && has_values(one, other.variables(), &|iteration| Some(other.evaluate(iteration)), loops)
}

/// Whether an index is what an expression computes in all iterations of loops.
pub(super) fn is_computed(index: &Index, computed: &Expression, loops: &[&Loop]) -> bool {
    let variable = |part: &Expression| match part.kind {
        ExpressionKind::Variable(variable) => Some(variable),
        _ => None,
    };
    let used = computed.parts().into_iter().filter_map(variable).collect();
    has_values(index, used, &|iteration| value_of(computed, iteration), loops)
}

/// Whether an index has the values of a function of some variables in all iterations of loops: few enough to look at each.
fn has_values(
    index: &Index,
    mut used: BTreeSet<usize>,
    function: &dyn Fn(&[i64]) -> Option<i64>,
    loops: &[&Loop],
) -> bool {
    used.extend(index.variables());
    if used.iter().map(|place| loops[*place].extent).fold(1, i64::saturating_mul) > MOST_VALUES {
        return false;
    }
    let mut points = used.iter().map(|place| loops[*place].min..=loops[*place].max()).multi_cartesian_product();
    points.all(|point| {
        let mut iteration = loops.iter().map(|level| level.min).collect_vec();
        used.iter().zip(point).for_each(|(place, value)| iteration[*place] = value);
        function(&iteration) == Some(index.evaluate(&iteration))
    })
}

/// The index that an expression is, if it is a sum of loop variables.
pub(super) fn as_sum(expression: &Expression) -> Option<Index> {
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

/// The value of an expression of loop variables.
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
