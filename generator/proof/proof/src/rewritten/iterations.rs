//! Iterations of a statement in other loops, by a [witness](pushmem_nest::Witness).

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Loop, StatementOrigin, Word};

use super::{Statement, values};
use crate::error::PartError;

/// A statement of the program, and the same one in other loops, both with the same elements in an iteration.
pub(super) struct Pair<'a> {
    pub source: Statement<'a>,
    pub other: Statement<'a>,
    /// How many loops, from the outermost, are the same in each iteration.
    pub kept: usize,
}

impl Pair<'_> {
    /// Whether all loops are the same.
    pub fn is_same(&self) -> bool {
        self.kept == self.source.loops.len() && self.kept == self.other.loops.len()
    }
}

/// Each statement of other loops with its own of the program, which has no others. Two may write the words of an element that one does.
///
/// # Errors
/// The first statement that is none of the program, or in loops with other iterations.
pub(super) fn pairs<'a>(
    source: &[Statement<'a>],
    others: Vec<(Statement<'a>, &StatementOrigin)>,
) -> Result<Vec<Pair<'a>>, PartError> {
    let words = source.iter().map(|own| (own.number, None));
    let mut rest: BTreeSet<(usize, Option<Word>)> = words.collect();
    let pair = |(other, origin): (Statement<'a>, &StatementOrigin)| {
        let StatementOrigin { statement, word, .. } = *origin;
        if word.is_some() && rest.remove(&(statement, None)) {
            rest.extend([Word::Low, Word::High].map(|word| (statement, Some(word))));
        }
        match rest.remove(&(statement, word)) {
            true => pair(source[statement].clone(), other, origin),
            false => Err(other.error("it is no statement of the program")),
        }
    };
    let pairs = others.into_iter().map(pair).collect::<Result<_, _>>()?;
    match rest.first() {
        Some((missing, _)) => Err(source[*missing].error("the statement is missing")),
        None => Ok(pairs),
    }
}

/// Checks that a statement has the iterations of one of the program, each once; and that it computes the same there of the same elements.
fn pair<'a>(own: Statement<'a>, other: Statement<'a>, origin: &StatementOrigin) -> Result<Pair<'a>, PartError> {
    let variables = variables(&other.loops);
    let values = origin.variables.iter().map(|value| value.composed(&variables)).collect::<Option<Vec<_>>>();
    let values = values.filter(|values| values.len() == own.loops.len());
    let values = values.ok_or_else(|| other.error("its iterations are none of the program"))?;
    if !are_digits(&values, &own.loops, &other.loops) {
        return Err(other.error("it has not each iteration of the program once"));
    }
    // A sum whose element is loaded is one, too.
    let read = if other.reduction.is_none() { own.clone().with_old_value() } else { own.clone() };
    let (Some(read), Some(moved)) = (read.in_loops(&values), other.clone().in_loops(&variables)) else {
        return Err(other.error("an index of it is beyond the limits"));
    };
    if !values::have_same_target(&read, &moved, origin.word) {
        return Err(other.error("it accesses other elements"));
    }
    if !values::are_same(&read, &moved, origin.word) {
        return Err(other.error("it computes another value"));
    }
    let is_kept = |place: &usize| {
        let bounds = |statement: &Statement| statement.loops.get(*place).map(|level| (level.min, level.extent));
        bounds(&own) == bounds(&other) && variables[*place] == values[*place]
    };
    let kept = (0..own.loops.len()).take_while(is_kept).count();
    Ok(Pair { source: own, other, kept })
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
