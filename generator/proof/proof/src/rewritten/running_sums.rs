//! Running sums, taken out of a program.
//!
//! The array of a running sum has an element for each iteration of the loop that adds, which the next one reads; the last one is taken by the
//! statement that writes the element, or added by another running sum. In its place the loop adds to the element itself, which begins with what
//! the running sum does, and with what is joined with the last one.

use std::borrow::Cow;

use itertools::Itertools;
use pushmem_nest::{Array, ArrayKind, Binary, Expression, ExpressionKind, Index};

use super::{Place, Statement};
use crate::error::PartError;

/// The statements without the arrays from a number on, all of running sums.
///
/// # Errors
/// The first statement whose running sum is none.
pub(super) fn without<'a>(
    mut statements: Vec<Statement<'a>>,
    arrays: &'a [Array],
    count: usize,
) -> Result<Vec<Statement<'a>>, PartError> {
    let takes = |of: &Statement| of.target.array < count && of.loads.iter().any(|place| place.array >= count);
    while let Some(taker) = statements.iter().position(takes) {
        let chain = Chain::of(&statements, taker, Arrays { arrays, count });
        let (gone, new) = chain.and_then(|chain| chain.replaced()).map_err(|reason| statements[taker].error(reason))?;
        let kept = statements.into_iter().filter(|statement| !gone.contains(&statement.number));
        statements = kept.chain(new).sorted_by_key(|statement| statement.number).collect();
    }
    match statements.iter().find(|statement| statement.places().any(|place| place.array >= count)) {
        Some(left) => Err(left.error("nothing takes the running sum")),
        None => Ok(statements),
    }
}

/// The arrays of the program, of which those from a number on are of running sums.
#[derive(Clone, Copy)]
struct Arrays<'a> {
    arrays: &'a [Array],
    count: usize,
}

/// A statement that takes a running sum, and those that make it.
struct Chain<'s, 'a> {
    statements: &'s [Statement<'a>],
    taker: &'s Statement<'a>,
    /// The load that takes the sum.
    load: usize,
    operator: Binary,
    /// The value with which the sum begins.
    first: i64,
    /// The statements of the running sums, each of which takes the next one.
    writers: Vec<&'s Statement<'a>>,
}

impl<'s, 'a> Chain<'s, 'a> {
    fn of(statements: &'s [Statement<'a>], taker: usize, arrays: Arrays) -> Result<Self, &'static str> {
        let taker = &statements[taker];
        let is_sum = |place: &Place| place.array >= arrays.count;
        let (load, _) = { taker.loads.iter() }
            .enumerate()
            .filter(|(_, place)| is_sum(place))
            .exactly_one()
            .map_err(|_| "it takes more than one sum")?;
        let (mut reader, mut taken) = (taker, load);
        let mut firsts = Vec::new();
        let mut writers: Vec<&Statement> = Vec::new();
        loop {
            let sum = &reader.loads[taken];
            let writer = statements.iter().filter(|writer| writer.target.array == sum.array).exactly_one();
            let writer = writer.map_err(|_| "its running sum has not one writer")?;
            let loads = statements.iter().flat_map(|statement| &statement.loads);
            let is_read_twice = loads.filter(|place| place.array == sum.array).count() == 2;
            let first = running(writer, (reader, sum), taker, arrays.arrays);
            firsts.push(first.filter(|_| is_read_twice).ok_or("the running sum is none")?);
            writers.push(writer);
            let nested = writer.loads.iter().position(|place| is_sum(place) && place.array != sum.array);
            let Some(nested) = nested else { break };
            (reader, taken) = (writer, nested);
        }
        let ExpressionKind::Binary { operator, .. } = writers[0].expression.kind else { return Err("it adds nothing") };
        let identity = operator.identity(writers[0].expression.value);
        if firsts[1..].iter().any(|first| Some(*first) != identity) {
            return Err("a running sum within another one begins with another value");
        }
        // Of running sums within each other, the outer ones only add the inner ones.
        for (writer, inner) in writers.iter().tuple_windows() {
            let array = |of: &Expression| match of.kind {
                ExpressionKind::Load(load) => Some(writer.loads[load].array),
                _ => None,
            };
            let joined = match &writer.expression.kind {
                ExpressionKind::Binary { operator: by, left, right } if *by == operator && identity.is_some() => {
                    [array(left), array(right)]
                }
                _ => return Err("it adds other values"),
            };
            let both = [writer.target.array, inner.target.array].map(Some);
            if joined != both && joined != [both[1], both[0]] {
                return Err("it adds other values");
            }
        }
        Ok(Chain { statements, taker, load, operator, first: firsts[0], writers })
    }

    /// The numbers of its statements, and those in their place: the one that adds, and perhaps one that writes the first value.
    fn replaced(&self) -> Result<(Vec<usize>, Vec<Statement<'a>>), &'static str> {
        let Chain { statements, taker, ref writers, .. } = *self;
        let (depth, target) = (taker.loops.len(), &taker.target);
        let innermost = *writers.last().expect("there is one");
        let begins = self.begins()?;
        let others = writers.iter().copied().filter(|writer| writer.number != innermost.number);
        let mut without_own = others.chain((begins.is_none()).then_some(taker));
        if without_own.any(|statement| statement.origin.is_some()) {
            return Err("it is a part of a sum, and no statement of the program");
        }
        let gone = writers.iter().map(|writer| writer.number).chain([taker.number]).collect_vec();
        let changes = |statement: &&Statement| {
            let is_read = begins.iter().flat_map(|begins| &begins.loads).any(|of| of.array == statement.target.array);
            !gone.contains(&statement.number) && (statement.uses(target.array) || is_read)
        };
        if statements.iter().filter(changes).any(|other| other.is_between((Some(innermost), taker), depth)) {
            return Err("another statement uses its element meanwhile, or writes its first value");
        }
        let mut adds = innermost.clone();
        adds.loads.iter_mut().filter(|place| place.array == innermost.target.array).for_each(|place| {
            place.clone_from(target);
        });
        adds.target = target.clone();
        Ok((gone, begins.into_iter().chain([adds]).collect()))
    }

    /// The statement that writes the first value, if there is one, before all in the loop of the innermost sum.
    fn begins(&self) -> Result<Option<Statement<'a>>, &'static str> {
        let Chain { statements, taker, load, operator, first, ref writers } = *self;
        let expression = &taker.expression;
        let is_sum = |of: &Expression| of.kind == ExpressionKind::Load(load);
        let beside = match &expression.kind {
            ExpressionKind::Load(_) => None,
            ExpressionKind::Binary { operator: by, left, right } if *by == operator => match is_sum(left) {
                true => Some(right),
                false => Some(left).filter(|_| is_sum(right)),
            },
            _ => return Err("it takes something else than a sum"),
        };
        let is_neutral = operator.identity(expression.value) == Some(first);
        let value = match (beside, &expression.kind) {
            (Some(beside), _) if is_neutral && taker.reduction.is_none() => (**beside).clone(),
            (None, ExpressionKind::Load(_)) if taker.reduction == Some(operator) && is_neutral => return Ok(None),
            (None, ExpressionKind::Load(_)) if taker.reduction.is_none() => {
                Expression { kind: ExpressionKind::Constant(first), ..(**expression).clone() }
            }
            _ => return Err("it begins with another value"),
        };
        let innermost = *writers.last().expect("there is one");
        let within = statements.iter().filter(|other| other.shared(innermost) > taker.loops.len());
        let number = within.map(|other| other.number).min().map_or(innermost.number, |number| number & !1);
        let mut begins = Statement { number, expression: Cow::Owned(value), ..taker.clone() };
        // Nothing loads it any more.
        begins.loads[load] = taker.target.clone();
        Ok(Some(begins))
    }
}

/// The value with which a running sum begins, whose last element a statement loads in each iteration: nothing if it is none. Around both are the
/// loops of the statement that takes the sum as a whole.
fn running(
    writer: &Statement,
    (reader, sum): (&Statement, &Place),
    taker: &Statement,
    arrays: &[Array],
) -> Option<i64> {
    let inner = writer.loops.len().checked_sub(1)?;
    let of_iteration = |index: Index| std::iter::once(index).chain((0..inner).rev().map(Index::variable)).collect();
    let place = |index: Index, outside| Place { indices: of_iteration(index), outside, ..Place::new(sum.array) };
    let before = Index::variable(inner).plus(&Index::constant(-1), 1)?;
    let own = writer.loads.iter().filter(|of| of.array == sum.array).exactly_one().ok()?;
    let bounds = |of: &Statement| of.loops.iter().map(|level| (level.min, level.extent)).take(inner).collect_vec();
    let all = writer.loops.iter().rev().map(|level| (level.min, level.extent));
    let (level, array, element) = (writer.loops[inner], &arrays[sum.array], arrays[taker.target.array].element);
    let is_running = writer.target == place(Index::variable(inner), None)
        && *own == place(before, own.outside)
        && *sum == place(Index::constant(level.max()), None)
        && (array.kind, array.element) == (ArrayKind::Buffer, element)
        && array.min.iter().copied().zip(array.shape.iter().copied()).eq(all)
        && reader.loops.len() == inner
        && bounds(reader) == bounds(writer)
        && writer.shared(taker) == taker.loops.len()
        && writer.number < reader.number
        && writer.reduction.is_none()
        && writer.operation.share.is_none()
        && taker.target.computed.is_none();
    own.outside.filter(|_| is_running)
}
