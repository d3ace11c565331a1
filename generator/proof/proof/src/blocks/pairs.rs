//! Statements of a program in other loops.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Expression, Index, Loop};

use super::affine::{composed, divided, plus};
use super::copies::Blocks;
use super::{Place, Statement};
use crate::error::PartError;

/// A statement of the program, and the same one in other loops, both with the same elements in an iteration.
pub(super) struct Pair<'a> {
    pub source: Statement<'a>,
    pub other: Statement<'a>,
    /// Whether the loops are the same.
    pub is_same: bool,
}

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
            let Some(values) = values(&own, &in_arrays(&other, blocks, &elements), |array| {
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
            let other = in_arrays(&other, blocks, &elements);
            let is_same = headers(&own) == headers(&other) && own.places().eq(other.places());
            if !is_same {
                check(&own, &other, &values)?;
            }
            pairs.push(Pair { source: own, other, is_same });
        }
        if later.len() == count {
            return Err(later[0].1.error("its elements do not tell which iteration it is"));
        }
        waiting = later;
    }
    Ok(pairs)
}

/// A statement with whole arrays in place of their blocks, as far as their elements are known.
fn in_arrays<'a>(statement: &Statement<'a>, blocks: &Blocks<'a>, elements: &Elements<'a>) -> Statement<'a> {
    let mut statement = statement.clone();
    for place in statement.places_mut() {
        if let Some(elements) = elements.get(place.array) {
            // An index that is not affine stays, and is no element of the program.
            *place = place.of_block(place.array, blocks[place.array], elements).unwrap_or_else(|| place.clone());
        }
    }
    statement
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
    let loads = statement.operation.loads.iter().map(|load| &load.access);
    loads.chain([&statement.operation.target]).filter_map(|access| access.computed.as_ref()).flatten().collect()
}

/// The loop variables of a statement of the program over the other loops, from the elements of arrays that are known.
fn values(own: &Statement, other: &Statement, is_known: impl Fn(&str) -> bool) -> Option<Vec<AffineIndex>> {
    let places = || own.places().zip(other.places()).filter(|(_, other)| is_known(other.array));
    if headers(own) == headers(other) && places().all(|(own, other)| own == other) {
        return Some((0..own.loops.len()).map(AffineIndex::variable).collect());
    }
    let only = |level: &&Loop| (level.extent == 1).then(|| AffineIndex::constant(level.min));
    let mut values = own.loops.iter().map(only).collect_vec();
    let indices = places().flat_map(|(own, other)| own.indices.iter().zip(&other.indices));
    let rows = indices.filter_map(|(own, other)| Some((own.as_affine()?, other.as_affine()?))).collect_vec();
    loop {
        let known = values.iter().flatten().count();
        for (own, other) in &rows {
            let unknown = own.terms.iter().filter(|(variable, _)| values[*variable].is_none());
            let Ok((variable, step)) = unknown.exactly_one() else { continue };
            let rest = own.terms.iter().filter_map(|(variable, step)| Some((values[*variable].as_ref()?, step)));
            let rest = rest.fold(plus(other, &AffineIndex::constant(own.constant), -1), |rest, (value, step)| {
                plus(&rest, value, -step)
            });
            values[*variable] = divided(&rest, *step);
        }
        match values.iter().flatten().count() {
            all if all == values.len() => return values.into_iter().collect(),
            same if same == known => return None,
            _ => {}
        }
    }
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
        let index = composed(index.as_affine()?, values);
        let corner = |dimension: usize| {
            let corner = plus(&index, of_block.indices[dimension].as_affine()?, -1);
            corner.terms.iter().all(|(variable, _)| *variable < depth).then_some(corner)
        };
        let (place, corner) = dimensions.iter().enumerate().find_map(|(place, own)| Some((place, corner(*own)?)))?;
        Some(plus(&corner, &AffineIndex::variable(depth + dimensions.remove(place)), 1))
    });
    let elements = elements.collect::<Option<Vec<_>>>();
    elements.filter(|_| dimensions.is_empty())
}

/// Checks that a statement has the iterations of the one of the program, each once, with the same elements.
fn check(own: &Statement, other: &Statement, values: &[AffineIndex]) -> Result<(), PartError> {
    if own.chooses() || own.operation.expression.uses_variables() {
        return Err(other.error("its loops are others, and it uses their variables as values"));
    }
    // Loops of one iteration have no variable.
    let variable = |(number, level): (usize, &&Loop)| match level.extent {
        1 => AffineIndex::constant(level.min),
        _ => AffineIndex::variable(number),
    };
    let variables = other.loops.iter().enumerate().map(variable).collect_vec();
    let values = values.iter().map(|value| composed(value, &variables)).collect_vec();
    if !are_digits(&values, own, other) {
        return Err(other.error("it has not each iteration of the program once"));
    }
    let is_same = |(own, other): (&Index, &Index)| match (own.as_affine(), other.as_affine()) {
        (Some(own), Some(other)) => composed(own, &values) == composed(other, &variables),
        _ => false,
    };
    let mut indices = own.places().zip(other.places()).flat_map(|(own, other)| own.indices.iter().zip(&other.indices));
    if indices.all(is_same) { Ok(()) } else { Err(other.error("it accesses other elements")) }
}

/// Whether the variables of loops are numbers of which the other loops are the digits, each of one of them.
fn are_digits(values: &[AffineIndex], own: &Statement, other: &Statement) -> bool {
    let is_number = |(value, level): (&AffineIndex, &&Loop)| {
        let digits = value.terms.iter().map(|(place, step)| (*step, other.loops[*place])).sorted_by_key(|of| of.0);
        let (mut first, mut count) = (value.constant, 1);
        for (step, digit) in digits {
            if step != count {
                return false;
            }
            first += step * digit.min;
            count *= digit.extent;
        }
        (first, count) == (level.min, level.extent)
    };
    let used = values.iter().flat_map(|value| value.terms.iter().map(|(place, _)| *place)).sorted().collect_vec();
    let all = (0..other.loops.len()).filter(|place| other.loops[*place].extent > 1);
    used.into_iter().eq(all) && values.iter().zip(&own.loops).all(is_number)
}
