//! Reads at other rates in an image pipeline: a choice between reads, each of which streams.
//!
//! `input[x / 2 + 8 * (x % 2)]` is `input[x / 2]` where `x` is even, and else `input[x / 2 + 8]`.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Index, Piece};

use super::plan::Box;
use super::runs::period;
use super::straight::OfSum;
use super::text::Block;
use crate::rebuild::{rewritten, value_of};
use crate::value::{Element, Place, Value};

/// The most reads that one becomes.
const MOST_READS: usize = 4;

/// Whether all reads of a block stream: each dimension is a sum of variables, a quotient of one, or such a one with a boundary.
pub(crate) fn is_streamed(block: &Block) -> bool {
    let is_known = |index: &Index| {
        let rolled = |variable: &usize| block.loops.iter().any(|each| each.variable == *variable && each.is_rolled());
        !index.variables().iter().any(rolled)
    };
    let indices = block.statements.iter().flat_map(|statement| statement.value.array_loads());
    { indices }.flat_map(|(_, indices)| indices).all(|index| streams(index, &is_known, false))
}

/// Whether an index streams, perhaps one that has a boundary around it already.
fn streams(index: &Index, is_known: &dyn Fn(&Index) -> bool, is_bounded: bool) -> bool {
    let unknown: Vec<&(i64, Piece)> = index.pieces.iter().filter(|(_, piece)| !is_known(piece.of())).collect();
    let sum = Index { affine: index.affine.clone(), pieces: Vec::new() };
    match unknown[..] {
        [] => true,
        [(1, piece)] if is_known(&sum) => match piece {
            Piece::Quotient { of, .. } => is_sum(of, is_known),
            Piece::Remainder { .. } => false,
            Piece::Clamp { of, .. } | Piece::Mirror { of, .. } => !is_bounded && streams(of, is_known, true),
        },
        _ => false,
    }
}

fn is_sum(index: &Index, is_known: &dyn Fn(&Index) -> bool) -> bool {
    index.pieces.iter().all(|(_, piece)| is_known(piece.of()))
}

/// Lets reads at other rates that do not stream be choices between some that do.
pub(crate) fn in_turns_of_rates(block: &mut Block) {
    let whole = block.clone();
    let variables = block.loops.iter().map(|each| each.variable + 1).max().unwrap_or(0);
    let mut ranges: Box = vec![(0, 0); variables];
    block.loops.iter().for_each(|each| ranges[each.variable] = each.range);
    for statement in &mut block.statements {
        statement.value = rewritten(&statement.value, &mut HashMap::new(), &mut |value| {
            let Value::Load(Element::Array { array, indices, outside, place }) = value else { return None };
            chosen(&whole, &ranges, indices).map(|choices| select(*array, *outside, *place, choices))
        });
    }
}

/// A read, and when it is the one: where a sum has this remainder by a number.
type Choice = (Vec<Index>, Option<(Index, i64, i64)>);

fn select(array: usize, outside: Option<i64>, place: Place, choices: Vec<Choice>) -> Rc<Value<Element>> {
    let load = |indices| Rc::new(Value::Load(Element::Array { array, indices, outside, place }));
    let mut choices = choices.into_iter().rev();
    let last = choices.next().map(|(indices, _)| load(indices)).unwrap_or_else(|| Value::number(0));
    choices.fold(last, |otherwise, (indices, when)| match when {
        Some((sum, by, remainder)) => {
            let turn = Value::binary(Binary::Modulo, value_of(&sum), Value::number(by));
            let condition = Value::binary(Binary::Equal, turn, Value::number(remainder));
            Rc::new(Value::Select(condition, load(indices), otherwise))
        }
        None => otherwise,
    })
}

/// The reads that one becomes in one of its dimensions; nothing, if it streams, or there is no such choice.
fn chosen(block: &Block, ranges: &Box, indices: &[Index]) -> Option<Vec<Choice>> {
    let is_known = |index: &Index| {
        let rolled = |variable: &usize| block.loops.iter().any(|each| each.variable == *variable && each.is_rolled());
        !index.variables().iter().any(rolled)
    };
    let mut other = indices.iter().enumerate().filter(|(_, index)| !streams(index, &is_known, false));
    let (dimension, index) = other.next()?;
    if other.next().is_some() {
        return None;
    }
    let of = OfSum::new(index, ranges)?;
    let (low, high) = of.range;
    let values: Vec<i64> = (low..=high).map(|at| of.at(at)).collect();
    let by = period(&values)?;
    if by as usize > MOST_READS {
        return None;
    }
    let moves = values[by as usize] - values[0];
    let choice = |turn: i64| {
        // `moves * (sum - low - turn) / by + value`, exact in its turn.
        let value = values[turn as usize];
        let scaled = of.sum.times(moves)?.plus(&Index::constant(value * by - moves * (low + turn)), 1)?;
        let mine = || values.iter().skip(turn as usize).step_by(by as usize).copied();
        let (least, greatest) = (mine().min()?, mine().max()?);
        let found = scaled.divided(by, ranges)?.clamped(least, greatest, ranges);
        let mut all = indices.to_vec();
        all[dimension] = found;
        Some((all, Some((of.sum.clone(), by, (low + turn).rem_euclid(by)))))
    };
    let choices: Option<Vec<Choice>> = (0..by).map(choice).collect();
    choices.filter(|choices| choices.iter().all(|(indices, _)| streams(&indices[dimension], &is_known, false)))
}
