//! Iterations of a statement in other loops, by a [witness](pushmem_nest::Witness).

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Loop, StatementOrigin, Word};

use super::{Statement, values};
use crate::error::PartError;

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
        let digits = self.values.iter().flat_map(|value| value.terms.iter().sorted_by_key(|(_, step)| -step));
        digits.map(|(place, _)| *place).is_sorted()
    }

    /// Whether all loops are the same.
    pub fn is_same(&self) -> bool {
        self.kept == self.source.loops.len() && self.kept == self.other.loops.len()
    }
}

/// Each statement of other loops with its own of the program, which has no others. Two may write the words of an element that one does.
///
/// # Errors
/// The first statement that is none of the program, or in loops with other iterations.
pub(super) fn pairs<'a>(source: &[Statement<'a>], others: Vec<Statement<'a>>) -> Result<Vec<Pair<'a>>, PartError> {
    let mut rest: BTreeSet<(usize, Option<Word>)> = (0..source.len()).map(|statement| (statement, None)).collect();
    let pair = |other: Statement<'a>| {
        let Some(StatementOrigin { statement, word, .. }) = other.origin else {
            return Err(other.error("it is no statement of the program"));
        };
        if word.is_some() && rest.remove(&(*statement, None)) {
            rest.extend([Word::Low, Word::High].map(|word| (*statement, Some(word))));
        }
        match rest.remove(&(*statement, *word)) {
            true => pair(source[*statement].clone(), other),
            false => Err(other.error("it is no statement of the program")),
        }
    };
    let pairs = others.into_iter().map(pair).collect::<Result<_, _>>()?;
    match rest.first() {
        Some((missing, _)) => Err(source[*missing].error("the statement is missing")),
        None => Ok(pairs),
    }
}

/// Checks that a statement has the iterations of the one of the program that it is, each once; and that it computes the same there of the same
/// elements.
fn pair<'a>(own: Statement<'a>, mut other: Statement<'a>) -> Result<Pair<'a>, PartError> {
    let StatementOrigin { variables: values, word, .. } = other.origin.expect("it has been found");
    let lanes = other.lanes;
    other.loops.extend(lanes);
    let variables = variables(&other.loops);
    let values = values.iter().map(|value| value.composed(&variables)).collect::<Option<Vec<_>>>();
    let values = values.filter(|values| values.len() == own.loops.len());
    let values = values.ok_or_else(|| other.error("its iterations are none of the program"))?;
    let copies = lanes.iter().try_fold(1, |copies: i64, lane| copies.checked_mul(lane.extent));
    let may_be_copied = copies.is_some_and(|copies| (1..=MOST_COPIES).contains(&copies));
    if !may_be_copied || !are_digits(&values, &own.loops, &other.loops) {
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

/// Whether a function of loops is a number of which these are the digits, from the first to the last value of the variable of a level.
fn is_number(value: &AffineIndex, level: &Loop, loops: &[&Loop]) -> bool {
    let (mut first, mut count) = (value.constant, 1);
    for (place, step) in value.terms.iter().sorted_by_key(|(_, step)| *step) {
        if *step != count {
            return false;
        }
        first += step * loops[*place].min;
        count *= loops[*place].extent;
    }
    (first, count) == (level.min, level.extent)
}

/// Whether the loop variables of a statement are numbers of which other loops are the digits, each of one of them.
fn are_digits(values: &[AffineIndex], own: &[&Loop], other: &[&Loop]) -> bool {
    let used = values.iter().flat_map(|value| value.terms.iter().map(|(place, _)| *place)).collect_vec();
    let runs = (0..other.len()).filter(|place| other[*place].extent > 1);
    used.iter().copied().sorted().eq(runs)
        && values.iter().zip(own).all(|(value, level)| is_number(value, level, other))
}
