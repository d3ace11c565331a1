//! Reads at other rates in an image pipeline: a choice between reads, each of which streams.
//!
//! `input[x / 2 + 8 * (x % 2)]` is `input[x / 2]` where `x` is even, and else `input[x / 2 + 8]`.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Index, Piece};

use crate::emit::{Block, Loop};
use crate::plan::Box;
use crate::rebuild::{rewritten, value_of};
use crate::runs::{lines, period};
use crate::straight::OfSum;
use crate::value::{Element, Value};

/// The most reads that one becomes.
const MOST_READS: usize = 4;

/// Whether all reads of a block stream: each dimension is a sum of variables, a quotient of one, or such a one with a boundary.
pub(crate) fn is_streamed(block: &Block) -> bool {
    block.indices().all(|index| streams_in(&block.loops, index))
}

/// Whether an index streams in these loops: it is known but for those that are not wholly unrolled.
fn streams_in(loops: &[Loop], index: &Index) -> bool {
    let rolled = |variable: &usize| loops.iter().any(|each| each.variable == *variable && each.is_rolled());
    streams(index, &|index| !index.variables().iter().any(rolled), false)
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

/// Lets reads at other rates, or beyond an edge, that do not stream be choices between some that do.
pub(crate) fn in_turns_of_rates(block: &mut Block) {
    let variables = block.loops.iter().map(|each| each.variable + 1).max().unwrap_or(0);
    let choosing = Choosing { loops: &block.loops, ranges: block.ranges(variables) };
    for statement in &mut block.statements {
        statement.value = rewritten(&statement.value, &mut HashMap::new(), &mut |value| {
            let Value::Load(Element::Array { array, indices, outside: None, span }) = value else { return None };
            choosing.other(indices)?;
            let load = |indices| Value::Load(Element::Array { array: *array, indices, outside: None, span: *span });
            choosing.value(indices, &load)
        });
    }
}

/// A read, and when it is the one.
type Choice = (Index, Rc<Value<Element>>);

/// The reads of a block.
struct Choosing<'a> {
    loops: &'a [Loop],
    ranges: Box,
}

impl Choosing<'_> {
    fn streams(&self, index: &Index) -> bool {
        streams_in(self.loops, index)
    }

    /// The first dimension that does not stream.
    fn other(&self, indices: &[Index]) -> Option<usize> {
        indices.iter().position(|index| !self.streams(index))
    }

    /// The read as choices between reads that stream; nothing, if there is no such choice.
    fn value(&self, indices: &[Index], load: &dyn Fn(Vec<Index>) -> Value<Element>) -> Option<Rc<Value<Element>>> {
        let Some(dimension) = self.other(indices) else { return Some(Rc::new(load(indices.to_vec()))) };
        let mut value: Option<Rc<Value<Element>>> = None;
        for (index, condition) in self.choices(&indices[dimension])?.into_iter().rev() {
            let mut all = indices.to_vec();
            all[dimension] = index;
            let this = self.value(&all, load)?;
            value = Some(match value {
                None => this,
                Some(otherwise) => Rc::new(Value::Select(condition, this, otherwise)),
            });
        }
        value
    }

    fn choices(&self, index: &Index) -> Option<Vec<Choice>> {
        let of = OfSum::new(index, &self.ranges)?;
        let (low, high) = of.range;
        let values: Vec<i64> = (low..=high).map(|at| of.at(at)).collect();
        let choices = match period(&values) {
            Some(by) => self.turns(&of, &values, by)?,
            None => self.edges(&of, &values)?,
        };
        choices.iter().all(|(index, _)| self.streams(index)).then_some(choices)
    }

    /// A choice by the remainder of a sum.
    fn turns(&self, of: &OfSum, values: &[i64], by: i64) -> Option<Vec<Choice>> {
        if by as usize > MOST_READS {
            return None;
        }
        let low = of.range.0;
        let moves = values[by as usize] - values[0];
        let choice = |turn: i64| {
            // `moves * (sum - low - turn) / by + value`, exact in its turn.
            let value = values[turn as usize];
            let scaled = of.sum.times(moves)?.plus(&Index::constant(value * by - moves * (low + turn)), 1)?;
            let mine = || values.iter().skip(turn as usize).step_by(by as usize).copied();
            let (least, greatest) = (mine().min()?, mine().max()?);
            let found = scaled.divided(by, &self.ranges)?.clamped(least, greatest, &self.ranges);
            let remainder = Value::binary(Binary::Modulo, value_of(&of.sum), Value::number(by));
            Some((found, equal(remainder, (low + turn).rem_euclid(by))))
        };
        (0..by).map(choice).collect()
    }

    /// A choice between elements beyond the edges, each of its own, and the others.
    fn edges(&self, of: &OfSum, values: &[i64]) -> Option<Vec<Choice>> {
        let low = of.range.0;
        let parts = lines(low, values);
        let most = parts.iter().max_by_key(|part| part.length)?;
        let (first, last) = most.range();
        let beyond = (of.range.0..=of.range.1).filter(|at| !(first..=last).contains(at));
        let constant = |at: i64| (Index::constant(of.at(at)), equal(value_of(&of.sum), at));
        let mut choices: Vec<Choice> = beyond.take(MOST_READS + 1).map(constant).collect();
        if choices.len() > MOST_READS {
            return None;
        }
        let line = of.sum.times(most.slope)?.plus(&Index::constant(most.value - most.slope * most.first), 1)?;
        let end = of.at(last);
        let inner = line.clamped(most.value.min(end), most.value.max(end), &self.ranges);
        choices.push((inner, Value::number(1)));
        Some(choices)
    }
}

fn equal(value: Rc<Value<Element>>, number: i64) -> Rc<Value<Element>> {
    Value::binary(Binary::Equal, value, Value::number(number))
}
