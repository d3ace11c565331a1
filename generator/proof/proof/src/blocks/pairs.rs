//! Statements of a program in other loops.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Expression, Index, Loop};

use super::copies::Blocks;
use super::iterations::{Pair, have_same_values, is_number, variables};
use super::{Place, Statement};
use crate::error::PartError;

/// The elements of an array that a block of it has: functions of the loops around it, and of the indices of the block, numbered after these.
type Elements<'a> = BTreeMap<&'a str, Vec<AffineIndex>>;

/// Each statement with its own of the program. Of arrays with one block at a time, the elements follow from the statements that use them.
///
/// # Errors
/// The first statement that is none of the program, or in loops with other iterations.
pub(super) fn of<'a>(
    source: Vec<Statement<'a>>,
    others: Vec<Statement<'a>>,
    blocks: &Blocks<'a>,
) -> Result<Vec<Pair<'a>>, PartError> {
    let mut rest = source;
    let mut waiting = Vec::new();
    for other in others {
        let place = rest.iter().position(|own| computes_like(own, &other));
        let own = rest.remove(place.ok_or_else(|| other.error("it is no statement of the program"))?);
        waiting.push((own, other));
    }
    if let Some(missing) = rest.first() {
        return Err(missing.error("the statement is missing"));
    }
    let mut elements = Elements::new();
    let mut pairs = Vec::new();
    while !waiting.is_empty() {
        let count = waiting.len();
        let mut later = Vec::new();
        for (own, other) in waiting {
            let Some(values) = values(&own, &in_arrays(&other, blocks, &elements)?, |array| {
                !blocks.contains_key(array) || elements.contains_key(array)
            }) else {
                later.push((own, other));
                continue;
            };
            for (of_own, of_other) in own.places().zip(other.places()) {
                let Some(depth) = blocks.get(of_other.array).filter(|_| !elements.contains_key(of_other.array)) else {
                    continue;
                };
                let found = block_elements(of_own, of_other, &values, *depth);
                elements.insert(of_own.array, found.ok_or_else(|| other.error("its block is no part of an array"))?);
            }
            let other = in_arrays(&other, blocks, &elements)?;
            let is_same = headers(&own) == headers(&other) && own.places().eq(other.places());
            if !is_same {
                check(&own, &other, &values)?;
            }
            let kept = if is_same { own.loops.len() } else { 0 };
            pairs.push(Pair { source: own, other, kept });
        }
        if later.len() == count {
            return Err(later[0].1.error("its elements do not tell which iteration it is"));
        }
        waiting = later;
    }
    Ok(pairs)
}

/// A statement with whole arrays in place of their blocks, as far as their elements are known.
///
/// # Errors
/// An index beyond the limits.
fn in_arrays<'a>(
    statement: &Statement<'a>,
    blocks: &Blocks<'a>,
    elements: &Elements<'a>,
) -> Result<Statement<'a>, PartError> {
    let mut statement = statement.clone();
    let beyond = statement.error("an index is beyond the limits");
    for place in statement.places_mut() {
        if let Some(elements) = elements.get(place.array) {
            let whole = place.of_block(place.array, blocks[place.array], elements);
            *place = whole.ok_or_else(|| beyond.clone())?;
        }
    }
    Ok(statement)
}

/// The bounds of the loops.
fn headers(statement: &Statement) -> Vec<(i64, i64)> {
    statement.loops.iter().map(|level| (level.min, level.extent)).collect()
}

/// Whether two statements compute the same of elements of the same arrays.
fn computes_like(own: &Statement, other: &Statement) -> bool {
    let (one, two) = (own.operation, other.operation);
    let arrays = |statement: &Statement| statement.places().map(|place| place.array.to_owned()).collect_vec();
    arrays(own) == arrays(other)
        && one.reduction == two.reduction
        && one.unit() == two.unit()
        && one.loads.iter().map(|load| load.outside).eq(two.loads.iter().map(|load| load.outside))
        && computed(own).len() == computed(other).len()
        && computed(own).into_iter().zip(computed(other)).all(|(one, two)| one.difference(two).is_none())
        && one.expression.difference(&two.expression).is_none()
}

/// The indices of a statement that depend on data.
fn computed<'a>(statement: &Statement<'a>) -> Vec<&'a Expression> {
    statement.operation.accesses().filter_map(|access| access.computed.as_ref()).flatten().collect()
}

/// The loop variables of a statement of the program over the other loops, from the elements of arrays that are known: a guess, which
/// [`check`] proves. Loops with which no element changes have their first value.
fn values(own: &Statement, other: &Statement, is_known: impl Fn(&str) -> bool) -> Option<Vec<AffineIndex>> {
    let places = || own.places().zip(other.places()).filter(|(_, other)| is_known(other.array));
    if headers(own) == headers(other) && places().all(|(own, other)| own == other) {
        return Some((0..own.loops.len()).map(AffineIndex::variable).collect());
    }
    let repeats = repeated(own);
    let only = |(variable, level): (usize, &&Loop)| {
        (level.extent == 1 || repeats.contains(&variable)).then(|| AffineIndex::constant(level.min))
    };
    let mut values = own.loops.iter().enumerate().map(only).collect_vec();
    let indices = places().flat_map(|(own, other)| own.indices.iter().zip(&other.indices));
    let rows = indices.filter_map(|(own, other)| Some((own.as_affine()?, other.as_affine()?))).collect_vec();
    while values.iter().any(Option::is_none) {
        // An index with one loop that is unknown tells more than one with several.
        let found = [1, usize::MAX].into_iter().find_map(|most| {
            rows.iter().find_map(|(of_own, of_other)| {
                let is_known = |(variable, _): &&(usize, i64)| values[*variable].is_some();
                let (known, unknown): (Vec<_>, Vec<_>) = of_own.terms.iter().partition(is_known);
                if !(1..=most).contains(&unknown.len()) {
                    return None;
                }
                let rest = known.iter().try_fold((*of_other).clone(), |rest, (variable, step)| {
                    rest.plus(values[*variable].as_ref()?, -step)
                });
                digits(&unknown, &rest?, own, other)
            })
        });
        for (variable, value) in found? {
            values[variable] = Some(value);
        }
    }
    values.into_iter().collect()
}

/// The loops of a statement with which no element changes.
fn repeated(statement: &Statement) -> Vec<usize> {
    let indices = statement.places().flat_map(|place| &place.indices);
    let used: BTreeSet<usize> = indices.flat_map(Index::variables).collect();
    (0..statement.loops.len()).filter(|variable| !used.contains(variable)).collect()
}

/// Loop variables that together are this number, as its digits: each has the terms between its step and that of the next one. Nothing if they
/// are no digits.
fn digits(
    variables: &[(usize, i64)],
    number: &AffineIndex,
    own: &Statement,
    other: &Statement,
) -> Option<Vec<(usize, AffineIndex)>> {
    let ascending = variables.iter().copied().sorted_by_key(|(_, step)| step.abs()).collect_vec();
    let overlaps = |&((variable, step), (_, next)): &((usize, i64), (usize, i64))| {
        step.abs() * own.loops[variable].extent > next.abs()
    };
    if ascending.iter().copied().tuple_windows().any(|pair| overlaps(&pair)) {
        return None;
    }
    let mut values = ascending.iter().map(|(variable, _)| (*variable, AffineIndex::constant(0))).collect_vec();
    for &(place, step) in &number.terms {
        let digit = ascending.iter().rposition(|(_, own)| own.abs() <= step.abs())?;
        let by = ascending[digit].1;
        if step % by != 0 {
            return None;
        }
        let share = AffineIndex { constant: 0, terms: vec![(place, step / by)] };
        values[digit].1 = values[digit].1.plus(&share, 1)?;
    }
    for (variable, value) in &mut values {
        let first: i64 = value.terms.iter().map(|(place, step)| step * other.loops[*place].min).sum();
        value.constant = own.loops[*variable].min - first;
    }
    Some(values)
}

/// The elements of a block, of which an iteration uses one that is this element of the array.
fn block_elements(
    of_array: &Place,
    of_block: &Place,
    values: &[AffineIndex],
    depth: usize,
) -> Option<Vec<AffineIndex>> {
    let mut dimensions = (0..of_block.indices.len()).collect_vec();
    let elements = of_array.indices.iter().map(|index| {
        let index = index.as_affine()?.composed(values)?;
        let corner = |dimension: usize| {
            let corner = index.plus(of_block.indices[dimension].as_affine()?, -1)?;
            corner.terms.iter().all(|(variable, _)| *variable < depth).then_some(corner)
        };
        let (place, corner) = dimensions.iter().enumerate().find_map(|(place, own)| Some((place, corner(*own)?)))?;
        corner.plus(&AffineIndex::variable(depth + dimensions.remove(place)), 1)
    });
    let elements = elements.collect::<Option<Vec<_>>>();
    elements.filter(|_| dimensions.is_empty())
}

/// Checks that a statement has the iterations of the one of the program, each once, with the same elements.
fn check(own: &Statement, other: &Statement, values: &[AffineIndex]) -> Result<(), PartError> {
    if own.chooses() || own.operation.expression.uses_variables() {
        return Err(other.error("its loops are others, and it uses their variables as values"));
    }
    let variables = variables(&other.loops);
    let values = values.iter().map(|value| value.composed(&variables)).collect::<Option<Vec<_>>>();
    let values = values.ok_or_else(|| other.error("an index is beyond the limits"))?;
    if !are_digits(&values, own, other) {
        return Err(other.error("it has not each iteration of the program once"));
    }
    let is_same = |(of_own, of_other): (&Index, &Index)| match (of_own.as_affine(), of_other.as_affine()) {
        (Some(own), Some(other)) => own.composed(&values).is_some_and(|own| other.composed(&variables) == Some(own)),
        _ => have_same_values((of_own, &values), of_other, &other.loops),
    };
    let mut indices = own.places().zip(other.places()).flat_map(|(own, other)| own.indices.iter().zip(&other.indices));
    if indices.all(is_same) { Ok(()) } else { Err(other.error("it accesses other elements")) }
}

/// Whether the variables of loops are numbers of which the other loops are the digits, each of one of them. Loops with which no element changes
/// may be any loops with as many iterations.
fn are_digits(values: &[AffineIndex], own: &Statement, other: &Statement) -> bool {
    let repeats = repeated(own);
    let is_of_loop = |(variable, value): (usize, &AffineIndex)| {
        is_number(value, own.loops[variable], &other.loops) || repeats.contains(&variable)
    };
    let used = values.iter().flat_map(|value| value.terms.iter().map(|(place, _)| *place)).collect_vec();
    let rest = (0..other.loops.len()).filter(|place| !used.contains(place)).map(|place| other.loops[place].extent);
    // Those of the same loops are digits of themselves.
    let repeats_rest = repeats.iter().filter(|variable| values[**variable].terms.is_empty());
    let repeated = repeats_rest.map(|variable| own.loops[*variable].extent);
    used.iter().all_unique()
        && rest.product::<i64>() == repeated.product::<i64>()
        && values.iter().enumerate().all(is_of_loop)
}
