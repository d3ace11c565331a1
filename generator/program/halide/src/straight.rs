//! Reads of arrays that are kept whole, by addresses that are sums of variables.
//!
//! Memories compute addresses by counters. Other reads, as beyond the edges of an image or at another rate, are brought
//! into this form: a loop along which indices repeat themselves becomes two, and other reads go to a copy of the array that has
//! the elements at the places where they are read. Memory tiles have few inputs, so that two nests at most write a copy;
//! more parts need a copy of the copy.
//!
//! A copy follows one sum of variables along each dimension; `several` is about indices of several sums.
//!
//! Where elements are looked up, such reads stay as they are, or one nest copies all of their elements, in the order in which they are read.

mod several;
mod steps;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::{Index, Span};

use self::several::SpreadKey;
use crate::emit::{Block, Loop, Statement};
use crate::loops::Loops;
use crate::plan::{Array, Arrays, Box, Storage};
use crate::rebuild::{rewritten, value_of};
use crate::regions::extend;
use crate::runs::MOST_WRITERS;
use crate::value::{Element, Value, Variable};
pub(crate) use steps::OfSum;
use steps::{Step, along, hull, repeated, steps, values_of};

/// The most parts of an index for which there are copies.
const MOST_RUNS: usize = 8;

/// The most words of a copy for each word of its array and each read.
const MOST_SPARSE: i64 = 4;

/// A copy of an array for reads with these indices: of each dimension that has another place, its values.
type Key = (usize, Vec<Option<Vec<i64>>>, Option<i64>, Box);

/// The blocks with addresses that are sums; where there is no way, a block stays as it is.
pub(crate) fn straightened(blocks: Vec<Block>, arrays: &mut Arrays, loops: Loops) -> Vec<Block> {
    let mut straight = Straight { loops, ..Straight::new(arrays) };
    for mut block in blocks {
        if !loops.looks_up() {
            straight.read_copies(&mut block, Straight::unlimited);
        }
        straight.divide_loops(&mut block);
        straight.block(block);
    }
    straight.done
}

/// The blocks with a copy of each array before its updates by a third block and by those after it, which go on in the copy.
pub(crate) fn with_few_writers(blocks: Vec<Block>, arrays: &mut Arrays) -> Vec<Block> {
    let elements = blocks.iter().flat_map(|block| &block.statements).flat_map(Statement::elements);
    let chosen = elements.filter(|element| matches!(element, Element::Chosen { .. })).map(Element::array);
    let chosen: BTreeSet<usize> = chosen.collect();
    let buffers = (0..arrays.plan.arrays.len()).filter(|array| arrays.plan.arrays[*array].storage == Storage::Buffer);
    // Data choose elements of one memory, whatever the number of blocks that write it.
    let copied: BTreeSet<usize> = buffers.filter(|array| !chosen.contains(array)).collect();
    let mut straight = Straight::new(arrays);
    let (mut writers, mut now) = (HashMap::<usize, usize>::new(), HashMap::<usize, usize>::new());
    for mut block in blocks {
        let written: BTreeSet<usize> = block.statements.iter().map(Statement::array).collect();
        for array in written.intersection(&copied) {
            let count = writers.entry(*array).or_default();
            *count += 1;
            if *count > MOST_WRITERS {
                // The copy is written by the block that copies, and by this one.
                *count = MOST_WRITERS;
                let before = now.get(array).copied().unwrap_or(*array);
                now.insert(*array, straight.begun_anew(before, block.span));
            }
        }
        let mut part = |value: &Value<Element>| match value {
            Value::Load(Element::Array { array, indices, outside, span }) => {
                let array = *now.get(array)?;
                let (indices, outside, span) = (indices.clone(), *outside, *span);
                Some(Rc::new(Value::Load(Element::Array { array, indices, outside, span })))
            }
            _ => None,
        };
        block.statements.iter_mut().for_each(|statement| statement.rewrite(&mut part));
        straight.done.push(block);
    }
    straight.done
}

/// The making of copies.
pub(crate) struct Straight<'a> {
    pub arrays: &'a mut Arrays,
    /// The blocks so far, with those that copy.
    pub done: Vec<Block>,
    loops: Loops,
    copies: HashMap<Key, usize>,
    spread: HashMap<SpreadKey, usize>,
}

/// A read that needs a copy.
struct Read<'a> {
    array: usize,
    indices: &'a [Index],
    outside: Option<i64>,
    span: Span,
    ranges: &'a [(i64, i64)],
}

impl<'a> Straight<'a> {
    pub fn new(arrays: &'a mut Arrays) -> Self {
        Self { arrays, done: Vec::new(), loops: Loops::Kept, copies: HashMap::new(), spread: HashMap::new() }
    }

    fn variable(&mut self, name: String) -> Variable {
        self.arrays.plan.variables.push((name, None));
        self.arrays.plan.variables.len() - 1
    }

    /// Makes two loops of each along which indices repeat themselves, so that they become sums.
    fn divide_loops(&mut self, block: &mut Block) {
        for place in (0..block.loops.len()).rev() {
            let each = block.loops[place].clone();
            let periodic: Vec<(Index, i64)> =
                block.indices().filter_map(|index| Some((index.clone(), repeated(index, &each)?))).collect();
            let Some(by) = periodic.iter().map(|(_, by)| *by).max() else { continue };
            let extent = each.range.1 - each.range.0 + 1;
            if extent % by != 0 || by == extent || (each.unroll > 1 && each.unroll % by != 0) {
                continue;
            }
            let parts =
                periodic.into_iter().filter_map(|(index, _)| along(&index, &each, by).map(|part| (index, part)));
            let parts: HashMap<Index, [i64; 3]> = parts.collect();
            if parts.is_empty() {
                continue;
            }
            let name = self.arrays.plan.variables[each.variable].0.clone();
            let (outer, inner) = (self.variable(name.clone()), self.variable(format!("{name}_{by}")));
            let Some(divided) = divided(block, &each, [outer, inner], by, &parts) else { continue };
            *block = divided;
            let unrolled = each.unroll > 1;
            let of = |variable, extent, unroll| Loop {
                variable,
                range: (0, extent - 1),
                unroll,
                is_dimension: each.is_dimension,
            };
            let loops = [
                of(outer, extent / by, if unrolled { each.unroll / by } else { 1 }),
                of(inner, by, if unrolled { by } else { 1 }),
            ];
            block.loops.splice(place..=place, loops);
        }
    }

    /// Adds a block, and before it the copies that it reads.
    fn block(&mut self, mut block: Block) {
        let ranges = block.ranges(self.arrays.plan.variables.len());
        if self.is_copied(&block, &ranges) {
            return;
        }
        self.read_copies(&mut block, Straight::read_straight);
        let written: BTreeSet<usize> = block.statements.iter().map(Statement::array).collect();
        self.copies.retain(|(array, ..), _| !written.contains(array));
        self.spread.retain(|(array, ..), _| !written.contains(array));
        self.done.push(block);
    }

    /// Lets a block read copies of arrays that it does not write, where there are some for a read: each with the indices in it.
    fn read_copies(&mut self, block: &mut Block, copy: impl Fn(&mut Self, &Read) -> Option<(usize, Vec<Index>)>) {
        let ranges = block.ranges(self.arrays.plan.variables.len());
        let written: BTreeSet<usize> = block.statements.iter().map(Statement::array).collect();
        for statement in &mut block.statements {
            let mut part = |value: &Value<Element>| {
                let Value::Load(Element::Array { array, indices, outside, span }) = value else { return None };
                let read = Read { array: *array, indices, outside: *outside, span: *span, ranges: &ranges };
                let is_read = written.contains(array) || self.loops == Loops::LookedUp && outside.is_none();
                let (copy, indices) = if is_read { None } else { copy(self, &read) }?;
                Some(load(copy, &indices, *span))
            };
            let mut known = HashMap::new();
            statement.value = rewritten(&statement.value, &mut known, &mut part);
            if let Element::Chosen { indices, .. } = &mut statement.target {
                indices.iter_mut().for_each(|index| *index = rewritten(index, &mut known, &mut part));
            }
        }
    }

    /// Lets the array of a block be the copy, if the block copies only; gives whether it does.
    fn is_copied(&mut self, block: &Block, ranges: &Box) -> bool {
        let [Statement { target: Element::Array { array: target, indices, .. }, value, updates: false }] =
            &block.statements[..]
        else {
            return false;
        };
        let Value::Load(Element::Array { array, indices: read, outside, span }) = &**value else { return false };
        if self.loops == Loops::LookedUp && outside.is_none() {
            return false;
        }
        let held = &self.arrays.held;
        let follows = |index: &Index, read: &Index| match OfSum::new(read, ranges) {
            Some(of) => of.sum == *index,
            None => false,
        };
        let all = indices.len() == read.len()
            && held[*array] == held[*target]
            && self.arrays.plan.arrays[*target].storage == Storage::Buffer
            && block.loops.len() == indices.len()
            && block.loops.iter().all(|each| each.unroll == 1)
            && indices.iter().zip(read).all(|(index, read)| follows(index, read));
        if !all {
            return false;
        }
        let read = Read { array: *array, indices: read, outside: *outside, span: *span, ranges };
        self.copied(&read, Some(*target)).is_some()
    }

    /// The copy for a read, with the indices in it; nothing where the read is by sums already, or there is no copy for it.
    fn copied(&mut self, read: &Read, into: Option<usize>) -> Option<(usize, Vec<Index>)> {
        let mut sums = Vec::new();
        for index in read.indices {
            let of = match index.pieces.is_empty() {
                true => None,
                false => Some(OfSum::new(index, read.ranges)?),
            };
            sums.push(of);
        }
        self.copied_along(read, sums, into)
    }

    /// The copy for a read along the dimensions that have a sum; nothing, if it is sparse.
    fn copied_along(
        &mut self,
        read: &Read,
        sums: Vec<Option<OfSum>>,
        into: Option<usize>,
    ) -> Option<(usize, Vec<Index>)> {
        let region = self.arrays.boxes[read.array].clone()?;
        let values: Box = read
            .indices
            .iter()
            .zip(&sums)
            .map(|(index, sum)| sum.as_ref().map_or_else(|| values_of(index, read.ranges), OfSum::values))
            .collect();
        let is_within = values.iter().zip(&region).all(|(values, region)| region.0 <= values.0 && values.1 <= region.1);
        let outside = read.outside.filter(|_| !is_within);
        if sums.iter().all(Option::is_none) && outside.is_none() {
            return None;
        }
        let functions =
            sums.iter().map(|sum| sum.as_ref().map(|of| (of.range.0..=of.range.1).map(|at| of.at(at)).collect()));
        let firsts: Box =
            sums.iter().zip(&values).map(|(sum, values)| sum.as_ref().map_or(*values, |of| of.range)).collect();
        if into.is_none() && is_sparse(&firsts, read, &region) {
            return None;
        }
        let key: Key = (read.array, functions.collect(), outside, firsts);
        let indices = read.indices.iter().zip(&sums);
        let indices =
            indices.map(|(index, sum)| sum.as_ref().map_or_else(|| index.clone(), |of| of.sum.clone())).collect();
        if into.is_none()
            && let Some(copy) = self.copies.get(&key)
        {
            return Some((*copy, indices));
        }
        if self.loops == Loops::Gathered && outside.is_none() {
            let target = self.target(read, "gathered", into);
            self.gathered(read, &sums, target, &key.3);
            self.copies.insert(key, target);
            return Some((target, indices));
        }
        let steps = steps(&sums)?;
        let last = steps.len();
        let mut source = (read.array, region);
        if let Some(constant) = outside {
            let target = self.target(read, "bordered", into.filter(|_| last == 0));
            source = self.bordered(read.span, source, target, &values, constant);
        } else {
            source.1 = values;
        }
        let mut origin = source.clone();
        for (place, step) in steps.into_iter().enumerate() {
            let target = self.target(read, "moved", into.filter(|_| place + 1 == last));
            if step.covered.is_none() {
                origin = source.clone();
            }
            source = self.moved(read.span, [origin.0, source.0], &source.1, target, &step);
        }
        if into.is_none() {
            self.copies.insert(key, source.0);
        }
        Some((source.0, indices))
    }

    /// A copy of an array as it is.
    pub fn begun_anew(&mut self, array: usize, span: Span) -> usize {
        let region = self.arrays.boxes[array].clone().unwrap_or_default();
        let copy = self.target(&Read { array, indices: &[], outside: None, span, ranges: &[] }, "so_far", None);
        self.arrays.boxes[copy] = Some(region.clone());
        self.nest(span, copy, &region, |_, indices| load(array, indices, span));
        copy
    }

    /// Copies the elements of a read by one nest over the values of its sums.
    fn gathered(&mut self, read: &Read, sums: &[Option<OfSum>], target: usize, values: &Box) {
        self.enlarge(target, values);
        self.nest(read.span, target, values, |_, indices| {
            let of = |(sum, index): (&Option<OfSum>, &Index)| match sum {
                Some(of) => of.function.substituted(0, index).unwrap_or_default(),
                None => index.clone(),
            };
            let from: Vec<Index> = sums.iter().zip(indices).map(of).collect();
            load(read.array, &from, read.span)
        });
    }

    /// The array that a copy goes to.
    fn target(&mut self, read: &Read, what: &str, into: Option<usize>) -> usize {
        if let Some(into) = into {
            return into;
        }
        let of = &self.arrays.plan.arrays[read.array];
        let like = of.like(format!("{}_{what}", of.name));
        let array = Array { storage: Storage::Buffer, span: read.span, ..like };
        self.arrays.add(array, None, self.arrays.held[read.array])
    }

    /// Copies an array, with a constant around it.
    fn bordered(
        &mut self,
        span: Span,
        (source, region): (usize, Box),
        target: usize,
        values: &Box,
        constant: i64,
    ) -> (usize, Box) {
        self.enlarge(target, values);
        let whole = self.arrays.boxes[target].clone().unwrap_or_default();
        let filling = Rc::new(Value::Number(constant, self.arrays.held[target]));
        self.nest(span, target, &whole, |_, _| filling.clone());
        let inner: Box =
            whole.iter().zip(&region).map(|(one, other)| (one.0.max(other.0), one.1.min(other.1))).collect();
        if inner.iter().all(|(low, high)| low <= high) {
            self.nest(span, target, &inner, |_, indices| load(source, indices, span));
        }
        (target, whole)
    }

    /// Copies an array, `origin`, with other places along a dimension, and what the copy `before` has already.
    fn moved(
        &mut self,
        span: Span,
        [origin, before]: [usize; 2],
        region: &Box,
        target: usize,
        step: &Step,
    ) -> (usize, Box) {
        let &Step { dimension, ref parts, covered } = step;
        let mut whole = region.clone();
        whole[dimension] = hull(step);
        self.enlarge(target, &whole);
        if let Some(covered) = covered {
            let mut inner = whole.clone();
            inner[dimension] = covered;
            self.nest(span, target, &inner, |_, indices| load(before, indices, span));
        }
        for part in parts {
            let mut others = whole.clone();
            others[dimension] = (0, part.length - 1);
            let turn = (part.turns > 1).then(|| self.variable("turn".to_owned()));
            let place = |at: &Index, start: i64, step: i64, stride: i64| {
                let index = Index::constant(start).plus(at, step)?;
                turn.map_or(Some(index.clone()), |turn| index.plus(&Index::variable(turn), stride))
            };
            self.nest(span, target, &others, |target, indices| {
                let at = indices[dimension].clone();
                let mut from = indices.to_vec();
                from[dimension] = place(&at, part.value, part.slope, part.value_stride).unwrap_or_default();
                target[dimension] = place(&at, part.first, 1, part.stride).unwrap_or_default();
                load(origin, &from, span)
            });
            if let (Some(turn), Some(block)) = (turn, self.done.last_mut()) {
                let at = block.loops.len() - 1 - dimension;
                block
                    .loops
                    .insert(at, Loop { variable: turn, range: (0, part.turns - 1), unroll: 1, is_dimension: true });
            }
        }
        (target, whole)
    }

    fn enlarge(&mut self, target: usize, region: &Box) {
        extend(&mut self.arrays.boxes[target], Some(region.clone()));
    }

    /// Adds a nest over a box, one loop for each dimension, with the first dimension innermost.
    fn nest(
        &mut self,
        span: Span,
        array: usize,
        region: &Box,
        value: impl Fn(&mut Vec<Index>, &[Index]) -> Rc<Value<Element>>,
    ) {
        let variables: Vec<Variable> =
            (0..region.len()).map(|dimension| self.variable(format!("i{dimension}"))).collect();
        let indices: Vec<Index> = variables.iter().map(|variable| Index::variable(*variable)).collect();
        let of = |(variable, range): (&Variable, &(i64, i64))| Loop {
            variable: *variable,
            range: *range,
            unroll: 1,
            is_dimension: true,
        };
        let loops = variables.iter().zip(region).rev().map(of).collect();
        let mut target = indices.clone();
        let value = value(&mut target, &indices);
        let target = Element::new(array, target, span);
        self.done.push(Block { loops, statements: vec![Statement { target, value, updates: false }], span });
    }
}

/// Whether a copy with these values in its dimensions has several times the words of the array and the reads: these look up their places.
fn is_sparse(copied: &Box, read: &Read, region: &Box) -> bool {
    let words = |region: &Box| region.iter().map(|(low, high)| high - low + 1).fold(1, i64::saturating_mul);
    let variables: BTreeSet<Variable> = read.indices.iter().flat_map(Index::variables).collect();
    let reads = words(&variables.iter().map(|variable| read.ranges[*variable]).collect());
    words(copied) > MOST_SPARSE * reads.saturating_add(words(region))
}

fn load(array: usize, indices: &[Index], span: Span) -> Rc<Value<Element>> {
    Rc::new(Value::Load(Element::new(array, indices.to_vec(), span)))
}

/// A block with two variables in the place of one.
fn divided(
    block: &Block,
    each: &Loop,
    [outer, inner]: [Variable; 2],
    by: i64,
    parts: &HashMap<Index, [i64; 3]>,
) -> Option<Block> {
    let sum = |first: i64, stride: i64, step: i64| {
        let index = Index::constant(first).plus(&Index::variable(outer), stride)?;
        index.plus(&Index::variable(inner), step)
    };
    let whole = sum(each.range.0, by, 1)?;
    let index = |index: &Index| match parts.get(index) {
        Some([first, stride, step]) => {
            let rest = Index { affine: index.affine.clone(), pieces: Vec::new() };
            rest.substituted(each.variable, &whole)?.plus(&sum(*first, *stride, *step)?, 1)
        }
        None => index.substituted(each.variable, &whole),
    };
    let mut statements = Vec::new();
    for statement in &block.statements {
        let mut is_whole = true;
        let mut part = |value: &Value<Element>| match value {
            Value::Variable(variable) if *variable == each.variable => Some(value_of(&whole)),
            Value::Load(Element::Array { array, indices, outside, span }) => {
                let indices: Option<Vec<Index>> = indices.iter().map(index).collect();
                is_whole &= indices.is_some();
                let (array, indices, outside, span) = (*array, indices.unwrap_or_default(), *outside, *span);
                Some(Rc::new(Value::Load(Element::Array { array, indices, outside, span })))
            }
            _ => None,
        };
        let mut known = HashMap::new();
        let value = rewritten(&statement.value, &mut known, &mut part);
        let target = Rc::new(Value::Load(statement.target.clone()));
        let Value::Load(target) = (*rewritten(&target, &mut known, &mut part)).clone() else { return None };
        if !is_whole {
            return None;
        }
        statements.push(Statement { target, value, updates: statement.updates });
    }
    Some(Block { statements, ..block.clone() })
}
