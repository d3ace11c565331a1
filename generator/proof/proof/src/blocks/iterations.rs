//! Iterations of a statement in other loops, by a [witness](pushmem_nest::Witness).

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Expression, Index, Loop, StatementOrigin};

use super::Statement;
use crate::error::PartError;

/// Values of indices that are not affine, of which each is looked at.
const MOST_VALUES: i64 = 1 << 16;

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

/// Each statement of other loops with its own of the program, which has no others.
///
/// # Errors
/// The first statement that is none of the program, or in loops with other iterations.
pub(super) fn pairs<'a>(
    source: &[Statement<'a>],
    others: Vec<Statement<'a>>,
    origins: &[StatementOrigin],
) -> Result<Vec<Pair<'a>>, PartError> {
    let mut rest: BTreeSet<usize> = (0..source.len()).collect();
    let pair = |(place, other): (usize, Statement<'a>)| {
        let origin = origins.get(place).filter(|origin| rest.remove(&origin.statement));
        let origin = origin.ok_or_else(|| other.error("it is no statement of the program"))?;
        pair(source[origin.statement].clone(), other, &origin.variables)
    };
    let pairs = others.into_iter().enumerate().map(pair).collect::<Result<_, _>>()?;
    match rest.first() {
        Some(missing) => Err(source[*missing].error("the statement is missing")),
        None => Ok(pairs),
    }
}

/// Checks that a statement has the iterations of one of the program, whose loop variables have these values, each once; and that it computes
/// the same there of the same elements.
fn pair<'a>(own: Statement<'a>, other: Statement<'a>, values: &[AffineIndex]) -> Result<Pair<'a>, PartError> {
    let variables = variables(&other.loops);
    let values = values.iter().map(|value| value.composed(&variables)).collect::<Option<Vec<_>>>();
    let values = values.filter(|values| values.len() == own.loops.len());
    let values = values.ok_or_else(|| other.error("its iterations are none of the program"))?;
    if !are_digits(&values, &own.loops, &other.loops) {
        return Err(other.error("it has not each iteration of the program once"));
    }
    if !computes_like((&own, &values), (&other, &variables)) {
        return Err(other.error("it computes another value"));
    }
    if !has_same_elements((&own, &values), (&other, &variables)) {
        return Err(other.error("it accesses other elements"));
    }
    let is_kept = |place: &usize| {
        let bounds = |statement: &Statement| statement.loops.get(*place).map(|level| (level.min, level.extent));
        bounds(&own) == bounds(&other) && variables[*place] == values[*place]
    };
    let kept = (0..own.loops.len()).take_while(is_kept).count();
    Ok(Pair { source: own, other, kept })
}

/// The variables of loops. Those of loops of one iteration are constant.
pub(super) fn variables(loops: &[&Loop]) -> Vec<AffineIndex> {
    let variable = |(number, level): (usize, &&Loop)| match level.extent {
        1 => AffineIndex::constant(level.min),
        _ => AffineIndex::variable(number),
    };
    loops.iter().enumerate().map(variable).collect()
}

/// Whether a function of loops is a number of which these are the digits, from the first to the last value of the variable of a level.
pub(super) fn is_number(value: &AffineIndex, level: &Loop, loops: &[&Loop]) -> bool {
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

/// Whether two statements compute the same of what they load, where the variables of their loops have these values.
fn computes_like(
    (own, values): (&Statement, &[AffineIndex]),
    (other, variables): (&Statement, &[AffineIndex]),
) -> bool {
    let (one, two) = (own.operation, other.operation);
    let expressions = |statement: &Statement, values: &[AffineIndex]| {
        let computed = statement.operation.accesses().filter_map(|access| access.computed.as_ref()).flatten();
        computed.chain([&statement.operation.expression]).map(|of| of.in_loops(values)).collect::<Option<Vec<_>>>()
    };
    let is_alike = |(one, two): (&Expression, &Expression)| one.difference(two).is_none();
    let are_alike =
        |one: Vec<Expression>, two: Vec<Expression>| one.len() == two.len() && one.iter().zip(&two).all(is_alike);
    one.reduction == two.reduction
        && one.unit() == two.unit()
        && one.loads.iter().map(|load| load.outside).eq(two.loads.iter().map(|load| load.outside))
        && expressions(own, values).zip(expressions(other, variables)).is_some_and(|(one, two)| are_alike(one, two))
}

/// Whether two statements access the same elements, where the variables of their loops have these values.
fn has_same_elements(
    (own, values): (&Statement, &[AffineIndex]),
    (other, variables): (&Statement, &[AffineIndex]),
) -> bool {
    let is_same = |(of_own, of_other): (&Index, &Index)| {
        let moved = of_own.composed(values);
        moved.is_some() && moved == of_other.composed(variables)
            || have_same_values((of_own, values), of_other, &other.loops)
    };
    own.places().zip(other.places()).all(|(own, other)| {
        let mut indices = own.indices.iter().zip(&other.indices);
        own.array == other.array && own.indices.len() == other.indices.len() && indices.all(is_same)
    })
}

/// Whether an index of the program, with these values of its loop variables, is another one in all iterations of the other loops: few enough to
/// look at each. Of affine ones the terms tell.
pub(super) fn have_same_values((own, values): (&Index, &[AffineIndex]), other: &Index, loops: &[&Loop]) -> bool {
    let of_values =
        own.variables().into_iter().flat_map(|variable| values[variable].terms.iter().map(|(place, _)| *place));
    let used: BTreeSet<usize> = of_values.chain(other.variables()).collect();
    let is_affine = own.as_affine().and(other.as_affine()).is_some();
    if is_affine || used.iter().map(|place| loops[*place].extent).product::<i64>() > MOST_VALUES {
        return false;
    }
    let mut points = used.iter().map(|place| loops[*place].min..=loops[*place].max()).multi_cartesian_product();
    points.all(|point| {
        let mut iteration = loops.iter().map(|level| level.min).collect_vec();
        used.iter().zip(point).for_each(|(place, value)| iteration[*place] = value);
        let of_own = values.iter().map(|value| value.evaluate(&iteration)).collect_vec();
        own.evaluate(&of_own) == other.evaluate(&iteration)
    })
}
