//! Iterations of a statement in other loops, by a [witness](pushmem_nest::Witness).

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Loop, StatementOrigin, Word};

use super::{Statement, values};
use crate::error::{PartError, require};

/// Iterations of the program that one may be together.
const MOST_COPIES: i64 = 1 << 12;

/// A statement of the program, and the same one in other loops, both with the same elements in an iteration.
pub(super) struct Pair<'a> {
    pub source: Statement<'a>,
    pub other: Statement<'a>,
    /// The loop variables of the first one as functions of those of the second one, each a number of which the latter are digits.
    pub values: Vec<AffineIndex>,
    /// How many loops, from the outermost, are the same in each iteration.
    pub kept: usize,
}

impl Pair<'_> {
    /// Whether iterations come in the order of the program.
    pub fn is_in_order(&self) -> bool {
        let is_fixed = |(value, level): (&AffineIndex, &&Loop)| value.terms.is_empty() && level.extent > 1;
        let digits = self.values.iter().flat_map(|value| value.terms.iter().sorted_by_key(|(_, step)| -step));
        digits.map(|(place, _)| *place).is_sorted() && !self.values.iter().zip(&self.source.loops).any(is_fixed)
    }

    /// Whether all loops are the same.
    pub fn is_same(&self) -> bool {
        self.kept == self.source.loops.len() && self.kept == self.other.loops.len()
    }
}

/// Each statement of other loops with its own of the program, which has no others. Two may write the words of an element that one does, and
/// several may be copies of one, each for other values of the same loop variables.
///
/// # Errors
/// The first statement that is none of the program, or in loops with other iterations.
pub(super) fn pairs<'a>(source: &[Statement<'a>], others: Vec<Statement<'a>>) -> Result<Vec<Pair<'a>>, PartError> {
    let mut rest: BTreeSet<(usize, Option<Word>)> = (0..source.len()).map(|statement| (statement, None)).collect();
    let mut copies: BTreeMap<usize, BTreeSet<Vec<Option<i64>>>> = BTreeMap::new();
    let pair = |other: Statement<'a>| {
        let Some(StatementOrigin { statement, word, variables, .. }) = other.origin else {
            return Err(other.error("it is no statement of the program"));
        };
        if word.is_some() && rest.remove(&(*statement, None)) {
            rest.extend([Word::Low, Word::High].map(|word| (*statement, Some(word))));
        }
        let fixed = source.get(*statement).map(|own| fixed(own, variables)).unwrap_or_default();
        let is_copy = word.is_none() && fixed.iter().any(Option::is_some);
        let is_new = rest.remove(&(*statement, *word)) || is_copy && copies.contains_key(statement);
        if !is_new || is_copy && !copies.entry(*statement).or_default().insert(fixed.clone()) {
            return Err(other.error("it is no statement of the program"));
        }
        pair(source[*statement].clone(), other, &fixed)
    };
    let pairs = others.into_iter().map(pair).collect::<Result<_, _>>()?;
    if let Some((missing, _)) = rest.first() {
        return Err(source[*missing].error("the statement is missing"));
    }
    copies.into_iter().try_for_each(|(of, copies)| are_all(&source[of], &copies)).map(|()| pairs)
}

/// The values of the loop variables of a statement of the program that are the same in all iterations of another one, though the loop has several.
fn fixed(own: &Statement, values: &[AffineIndex]) -> Vec<Option<i64>> {
    let value =
        |(level, value): (&&Loop, &AffineIndex)| (level.extent > 1 && value.terms.is_empty()).then_some(value.constant);
    own.loops.iter().zip(values).map(value).collect()
}

/// Checks that copies of a statement have all values of the loop variables that each fixes.
fn are_all(own: &Statement, copies: &BTreeSet<Vec<Option<i64>>>) -> Result<(), PartError> {
    let first = copies.first().expect("there is one");
    let values = |(level, value): (&&Loop, &Option<i64>)| match value {
        Some(_) => (level.min..=level.max()).map(Some).collect_vec(),
        None => vec![None],
    };
    let wanted = own.loops.iter().zip(first).map(values);
    let count = wanted.clone().try_fold(1, |count: usize, values| count.checked_mul(values.len()));
    // As many as are wanted, and each of these: no other.
    let is_all = count == Some(copies.len()) && wanted.multi_cartesian_product().all(|values| copies.contains(&values));
    require(is_all, || own.operation.name.clone(), "its copies have not each iteration of the program once")
}

/// Checks that a statement has the iterations of the one of the program that it is, each once, where these loop variables have fixed values; and
/// that it computes the same there of the same elements.
fn pair<'a>(own: Statement<'a>, mut other: Statement<'a>, fixed: &[Option<i64>]) -> Result<Pair<'a>, PartError> {
    let StatementOrigin { variables: values, word, .. } = other.origin.expect("it has been found");
    let lanes = other.lanes;
    other.loops.extend(lanes);
    let variables = variables(&other.loops);
    let values = values.iter().map(|value| value.composed(&variables)).collect::<Option<Vec<_>>>();
    let values = values.filter(|values| values.len() == own.loops.len());
    let values = values.ok_or_else(|| other.error("its iterations are none of the program"))?;
    let copies = lanes.iter().try_fold(1, |copies: i64, lane| copies.checked_mul(lane.extent));
    let may_be_copied = copies.is_some_and(|copies| (1..=MOST_COPIES).contains(&copies));
    let bounds =
        own.loops.iter().zip(fixed).map(|(level, fixed)| fixed.map_or((level.min, level.extent), |at| (at, 1)));
    if !may_be_copied || !are_digits(&values, bounds, &other.loops) {
        return Err(other.error("it has not each iteration of the program once"));
    }
    let of_lanes = lanes.iter().map(|lane| 0..lane.extent).multi_cartesian_product();
    let copy = |lane: Vec<i64>| {
        let around = variables[..variables.len() - lanes.len()].iter().cloned();
        let in_lane = around.chain(lane.into_iter().map(AffineIndex::constant)).collect_vec();
        own.clone().in_loops(&values.iter().map(|value| value.composed(&in_lane)).collect::<Option<Vec<_>>>()?)
    };
    let copies = of_lanes.map(copy).collect::<Option<Vec<_>>>();
    let (Some(copies), Some(moved)) = (copies, other.clone().in_loops(&variables)) else {
        return Err(other.error("an index of it is beyond the limits"));
    };
    if !copies.iter().all(|own| values::have_same_target(own, &moved, *word)) {
        return Err(other.error("it accesses other elements"));
    }
    if !values::are_same(&copies, &moved, *word) {
        return Err(other.error("it computes another value"));
    }
    let is_kept = |place: &usize| {
        let bounds = |statement: &Statement| statement.loops.get(*place).map(|level| (level.min, level.extent));
        bounds(&own) == bounds(&other) && variables[*place] == values[*place]
    };
    let kept = (0..own.loops.len()).take_while(is_kept).count();
    Ok(Pair { source: own, other, values, kept })
}

/// The variables of loops. Those of loops of one iteration are constant.
fn variables(loops: &[&Loop]) -> Vec<AffineIndex> {
    let variable = |(number, level): (usize, &&Loop)| match level.extent {
        1 => AffineIndex::constant(level.min),
        _ => AffineIndex::variable(number),
    };
    loops.iter().enumerate().map(variable).collect()
}

/// Whether a function of loops is a number of which these are the digits, from the first value of a variable on, so many.
fn is_number(value: &AffineIndex, bounds: (i64, i64), loops: &[&Loop]) -> bool {
    let (mut first, mut count) = (value.constant, 1);
    for (place, step) in value.terms.iter().sorted_by_key(|(_, step)| *step) {
        if *step != count {
            return false;
        }
        first += step * loops[*place].min;
        count *= loops[*place].extent;
    }
    (first, count) == bounds
}

/// Whether the loop variables of a statement, with these bounds, are numbers of which other loops are the digits, each of one of them.
fn are_digits(values: &[AffineIndex], bounds: impl Iterator<Item = (i64, i64)>, other: &[&Loop]) -> bool {
    let used = values.iter().flat_map(|value| value.terms.iter().map(|(place, _)| *place)).collect_vec();
    let runs = (0..other.len()).filter(|place| other[*place].extent > 1);
    used.iter().copied().sorted().eq(runs)
        && values.iter().zip(bounds).all(|(value, bounds)| is_number(value, bounds, other))
}
