//! Accesses of groups to arrays: the elements that they touch, those that survive an iteration of a shared loop, and
//! the distance of a consumer from its producer.

use std::collections::BTreeSet;

use super::body::Timing;
use super::nest::{Nest, follows};
use super::tree::{Group, Tree};
use pushmem_stages::{Access, Boundary, Pipeline, Stage, Subscript};

/// A loop that a subscript follows, as a digit of the number that the subscript is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    /// The loop; nothing for the stages of a group, which count as one.
    pub level: Option<usize>,
    pub step: i64,
    pub count: i64,
}

/// Whether a sum of digits, and of anything from 0 to `width`, tells all digits: each step is more than all that the
/// smaller ones add up to.
pub(crate) fn separated(digits: &mut [Digit], width: i128) -> bool {
    digits.sort_by_key(|digit| digit.step.unsigned_abs());
    let mut reach = width;
    digits.iter().all(|digit| {
        let step = i128::from(digit.step).abs();
        let apart = step > reach;
        reach += step * i128::from(digit.count - 1);
        apart
    })
}

/// An access of a stage of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<'a> {
    pub group: usize,
    /// The number of the stage, and of the access: of a read its own, of the write the number of reads.
    pub at: (usize, usize),
    pub stage: &'a Stage,
    pub access: &'a Access,
}

/// The accesses of a stage of a group: its reads, then the write.
pub(crate) fn accesses(group: usize, number: usize, stage: &Stage) -> impl Iterator<Item = Touch<'_>> {
    let all = stage.reads.iter().chain([&stage.write]).enumerate();
    all.map(move |(place, access)| Touch { group, at: (number, place), stage, access })
}

/// All reads of an array, or all writes, by a group.
pub(crate) fn touches<'a>(
    pipeline: &'a Pipeline,
    tree: &'a Tree,
    group: usize,
    array: usize,
    writes: bool,
) -> impl Iterator<Item = Touch<'a>> {
    tree.groups[group].stages.clone().flat_map(move |number| {
        let stage = &pipeline.stages[number];
        let of_kind = move |touch: &Touch| (touch.at.1 == stage.reads.len()) == writes && touch.access.array == array;
        accesses(group, number, stage).filter(of_kind)
    })
}

/// The least and the greatest value of a subscript over the innermost `loops`, without the terms of the others; nothing if
/// there is no element.
fn range(stage: &Stage, subscript: &Subscript, loops: usize) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::from(subscript.constant), i128::from(subscript.constant));
    for (level, coefficient) in stage.loops.iter().zip(&subscript.coefficients).take(loops) {
        let least = i128::from(level.min);
        let ends =
            [least, least + i128::from(level.extent) - 1].map(|index| i128::from(*coefficient).saturating_mul(index));
        low = low.saturating_add(ends[0].min(ends[1]));
        high = high.saturating_add(ends[0].max(ends[1]));
    }
    let divisor = i128::from(subscript.divisor.max(1));
    let (low, high) = (low.div_euclid(divisor), high.div_euclid(divisor));
    let (low, high) = match subscript.boundary {
        Boundary::None => (low, high),
        Boundary::Clamp { low: least, high: most } => {
            let limit = |value: i128| value.max(i128::from(least)).min(i128::from(most));
            (limit(low), limit(high))
        }
        // Where it is reflected it may be anywhere.
        Boundary::Mirror { low: least, high: most } if low < i128::from(least) || high > i128::from(most) => {
            (i128::from(least), i128::from(most))
        }
        Boundary::Mirror { .. } => (low, high),
        Boundary::Outside { low: least, high: most } => (low.max(i128::from(least)), high.min(i128::from(most))),
    };
    let offset = i128::from(subscript.offset);
    (low <= high).then_some((low.saturating_add(offset), high.saturating_add(offset)))
}

/// The writes of a group that may touch an element of an access.
pub(crate) fn writes_meeting<'a>(
    pipeline: &'a Pipeline,
    tree: &'a Tree,
    group: usize,
    touch: Touch<'a>,
) -> impl Iterator<Item = Touch<'a>> {
    let writers = tree.writers_meeting(touch).iter().copied();
    let stages = &tree.groups[group].stages;
    writers.filter(|writer| stages.contains(writer)).map(move |writer| write_of(pipeline, group, writer))
}

/// The write of a stage of a group.
pub(crate) fn write_of(pipeline: &Pipeline, group: usize, number: usize) -> Touch<'_> {
    let stage = &pipeline.stages[number];
    Touch { group, at: (number, stage.reads.len()), stage, access: &stage.write }
}

/// Whether two accesses may touch a common element in any iterations.
pub(crate) fn may_meet(one: Touch<'_>, other: Touch<'_>) -> bool {
    one.access.subscripts.iter().zip(&other.access.subscripts).all(|(first, second)| {
        let first = range(one.stage, first, one.stage.loops.len());
        let second = range(other.stage, second, other.stage.loops.len());
        matches!((first, second), (Some(first), Some(second)) if first.0 <= second.1 && second.0 <= first.1)
            && !other_lane(one, other)
    })
}

/// Whether some dimension has only elements of other remainders: different lanes of an array.
fn other_lane(one: Touch<'_>, other: Touch<'_>) -> bool {
    one.access.subscripts.iter().zip(&other.access.subscripts).any(|(first, second)| {
        let both = || first.coefficients.iter().chain(&second.coefficients);
        let step = both().fold(0, |step, &coefficient| num_integer::gcd(step, coefficient.saturating_abs()));
        let apart = i128::from(first.constant) + i128::from(first.offset)
            - i128::from(second.constant)
            - i128::from(second.offset);
        first.is_affine() && second.is_affine() && step > 1 && apart % i128::from(step) != 0
    })
}

/// After how many iterations of a shared loop, at the earliest, elements of an array are touched again; nothing if never.
/// An iteration of a loop around it counts as all iterations of this one.
pub(crate) fn spacing(pipeline: &Pipeline, tree: &Tree, array: usize, level: usize) -> Option<i64> {
    let around: Vec<usize> = tree.upwards(Some(level)).collect();
    let depth = around.len();
    let below = (0..tree.groups.len()).filter(|&group| tree.below(group, Some(level)));
    let all: Vec<Touch<'_>> = below
        .flat_map(|group| {
            [false, true].into_iter().flat_map(move |writes| touches(pipeline, tree, group, array, writes))
        })
        .collect();
    let mut told_apart = BTreeSet::new();
    let dimensions = all.first().map_or(0, |touch| touch.access.subscripts.len());
    for dimension in 0..dimensions {
        // Coefficients of the shared loops, innermost first.
        let shared = |touch: &Touch<'_>| {
            let subscript = &touch.access.subscripts[dimension];
            let own = subscript.coefficients.len() - depth;
            subscript.is_affine().then(|| subscript.coefficients[own..].to_vec())
        };
        let Some(coefficients) = shared(&all[0]) else { continue };
        if all.iter().any(|touch| shared(touch).as_ref() != Some(&coefficients)) {
            continue;
        }
        let own = |touch: &Touch<'_>| {
            let subscript = &touch.access.subscripts[dimension];
            range(touch.stage, subscript, subscript.coefficients.len() - depth)
        };
        let ranges = || all.iter().filter_map(own);
        let width = ranges().map(|(_, high)| high).max().unwrap_or(0) - ranges().map(|(low, _)| low).min().unwrap_or(0);
        let mut digits: Vec<Digit> = coefficients
            .iter()
            .zip(&around)
            .filter(|&(&step, &level)| step != 0 && tree.loops[level].extent > 1)
            .map(|(&step, &level)| Digit { level: Some(level), step, count: tree.loops[level].extent })
            .collect();
        if separated(&mut digits, width) {
            told_apart.extend(digits.iter().filter_map(|digit| digit.level));
        }
    }
    distance(tree, &around, |level| told_apart.contains(&level))
}

/// After how many iterations of the innermost of these loops the first comes that agrees on all loops told apart.
fn distance(tree: &Tree, around: &[usize], told_apart: impl Fn(usize) -> bool) -> Option<i64> {
    let mut iterations = 1_i64;
    for &level in around {
        let extent = tree.loops[level].extent;
        if extent > 1 && !told_apart(level) {
            return Some(iterations);
        }
        iterations = iterations.saturating_mul(extent);
    }
    None
}

/// As [`spacing`], for the elements that a group updates itself, and how many cycles before its end it may update an
/// element for the last time in an iteration that it updates first in a later one.
pub(crate) fn update_spacing(pipeline: &Pipeline, tree: &Tree, group: usize, nest: &Nest) -> Option<(i64, i64)> {
    let content = &tree.groups[group];
    let around: Vec<usize> = tree.upwards(content.parent).collect();
    let followed = follows(pipeline, content, false);
    let write = |level: usize| content.members(pipeline).iter().any(|stage| stage.write.follows(level));
    let own = content.own();
    let injective = (0..own).all(|level| content.extents[level] == 1 || followed[level] || !write(level));
    // Shared loops are numbered from the innermost of the tree as levels of the group are.
    let place = |level: usize| around.iter().position(|&other| other == level).unwrap_or(0);
    if injective {
        let travel = super::nest::travel(pipeline, content, nest);
        return distance(tree, &around, |level| followed[own + place(level)]).map(|distance| (distance, travel));
    }
    let array = content.members(pipeline)[0].write.array;
    let parent = content.parent?;
    spacing(pipeline, tree, array, parent).map(|distance| (distance, nest.span - 1))
}

/// The elements along a dimension that a sum of loops gives: `first`, `first + step`, … up to `last`, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Progression {
    first: i128,
    last: i128,
    step: i128,
}

/// The elements that a written subscript reaches over the innermost `loops`; nothing if they have gaps.
fn progression(stage: &Stage, subscript: &Subscript, loops: usize) -> Option<Progression> {
    if !subscript.is_affine() {
        return None;
    }
    let (first, last) = range(stage, subscript, loops)?;
    let mut terms: Vec<(i128, i128)> = stage
        .loops
        .iter()
        .zip(&subscript.coefficients)
        .take(loops)
        .filter(|(level, coefficient)| **coefficient != 0 && level.extent > 1)
        .map(|(level, coefficient)| (i128::from(*coefficient).abs(), i128::from(level.extent)))
        .collect();
    terms.sort_unstable();
    let step = terms.first().map_or(1, |term| term.0);
    let mut width = 0;
    for (coefficient, extent) in terms {
        if coefficient % step != 0 || coefficient > width + step {
            return None;
        }
        width += coefficient * (extent - 1);
    }
    Some(Progression { first, last, step })
}

/// Whether everything that a group reads of an array, in an iteration of the loops around `level` and of it, was written
/// before in the same iteration: no value comes from an iteration before. An update is a writer, too, for its operand
/// must have been written as well.
pub(crate) fn is_private(pipeline: &Pipeline, tree: &Tree, array: usize, level: usize) -> bool {
    (0..tree.groups.len()).filter(|&group| tree.below(group, Some(level))).all(|reader| {
        touches(pipeline, tree, reader, array, false).all(|read| {
            (0..reader)
                .filter(|&writer| tree.below(writer, Some(level)))
                .any(|writer| covers(pipeline, tree, writer, read, array))
        })
    })
}

/// Whether a group writes, in one iteration of the loops that it shares with a reader, all elements that the reader
/// reads.
fn covers(pipeline: &Pipeline, tree: &Tree, writer: usize, read: Touch<'_>, array: usize) -> bool {
    let common = tree.common(tree.groups[writer].parent, tree.groups[read.group].parent);
    let depth = tree.upwards(common).count();
    // A lane may have an iteration of a shared loop less than the reader, which then reads the element of the iteration before.
    let in_each = |write: &Touch<'_>| {
        let shared = write.stage.loops.iter().rev().zip(read.stage.loops.iter().rev()).take(depth);
        shared.into_iter().all(|(written, wanted)| written.extent >= wanted.extent)
    };
    let writes: Vec<Touch<'_>> = touches(pipeline, tree, writer, array, true).filter(in_each).collect();
    let Some(first) = writes.first() else { return false };
    let inner = |stage: &Stage| stage.loops.len() - depth;
    let around = |stage: &Stage, subscript: &Subscript| subscript.coefficients[inner(stage)..].to_vec();
    // A loop along two dimensions gives a diagonal, not a box.
    let diagonal = |touch: &Touch<'_>| {
        (0..inner(touch.stage)).any(|level| {
            let along = touch.access.subscripts.iter().filter(|subscript| subscript.coefficients[level] != 0);
            touch.stage.loops[level].extent > 1 && along.count() > 1
        })
    };
    if writes.iter().any(diagonal) {
        return false;
    }
    let mut boxes: BTreeSet<Vec<Progression>> = BTreeSet::new();
    for write in &writes {
        let sides = write.access.subscripts.iter().map(|side| progression(write.stage, side, inner(write.stage)));
        let Some(sides) = sides.collect() else { return false };
        boxes.insert(sides);
    }
    let mut product = 1_usize;
    for (dimension, wanted) in read.access.subscripts.iter().enumerate() {
        let terms = around(first.stage, &first.access.subscripts[dimension]);
        let alike = writes.iter().all(|write| around(write.stage, &write.access.subscripts[dimension]) == terms);
        let moves = terms.iter().any(|&coefficient| coefficient != 0);
        let bent = !wanted.is_affine();
        if !alike || around(read.stage, wanted) != terms || (moves && bent) {
            return false;
        }
        let sides: BTreeSet<Progression> = boxes.iter().map(|sides| sides[dimension]).collect();
        product = product.saturating_mul(sides.len());
        let Some((low, high)) = range(read.stage, wanted, inner(read.stage)) else { continue };
        let sides: Vec<Progression> = sides.into_iter().collect();
        let step = sides[0].step;
        // Lanes follow one another; one alone may leave out unread elements.
        let lanes = sides.iter().zip(0..).all(|(side, lane)| side.step == step && side.first == sides[0].first + lane);
        // Lanes of an unrolled dimension have one place each, side by side.
        let places = lanes && sides.iter().all(|side| side.first == side.last);
        let dense = places || sides.len() as i128 == step;
        let whole = lanes && (dense || sides.len() == 1);
        let end = match places {
            true => sides[0].first + sides.len() as i128,
            false => sides.iter().map(|side| side.last + side.step).min().unwrap_or(0),
        };
        let stepping = || {
            let own = wanted.coefficients.iter().take(inner(read.stage)).zip(&read.stage.loops);
            let mut own = own.filter(|(_, level)| level.extent > 1);
            !bent
                && own.all(|(&coefficient, _)| i128::from(coefficient) % step == 0)
                && (low - sides[0].first) % step == 0
        };
        if !whole || low < sides[0].first || high >= end || !(dense || stepping()) {
            return false;
        }
    }
    boxes.len() == product
}

/// Whether a group reads an array only where another group of the same loops writes it, in the same iteration, at the same
/// times but for a delay.
pub(crate) fn pointwise(
    pipeline: &Pipeline,
    tree: &Tree,
    (producer, producer_nest): (usize, &Nest),
    (consumer, consumer_nest): (usize, &Nest),
    array: usize,
) -> bool {
    let (from, to) = (&tree.groups[producer], &tree.groups[consumer]);
    let followed = follows(pipeline, from, true);
    let firsts = |group: &Group| group.members(pipeline)[0].loops.iter().map(|level| level.min).collect::<Vec<_>>();
    let alone = (0..tree.groups.len())
        .all(|other| other == producer || touches(pipeline, tree, other, array, true).next().is_none());
    from.parent == to.parent
        && from.extents == to.extents
        && firsts(from) == firsts(to)
        && producer_nest.strides == consumer_nest.strides
        && alone
        && (0..from.own()).all(|level| followed[level] || from.extents[level] == 1)
        && touches(pipeline, tree, consumer, array, false).all(|read| {
            writes_meeting(pipeline, tree, producer, read).any(|write| {
                let mut extents = write.stage.loops.iter().zip(&read.stage.loops);
                write.access.subscripts == read.access.subscripts
                    && extents.all(|(written, wanted)| written.extent >= wanted.extent)
            })
        })
}

/// How many cycles after the first iteration of a group another may run its own first, so that it reads every element in the cycle of
/// its write or later, or writes every element that both write after the first group has; nothing if this is not affine. Both are in
/// the same iteration of the loops around them. Transport between them is not counted.
///
/// The iteration that writes an element is affine in the element where one loop runs along each dimension; the element
/// is affine in the loops of the other group. So is the difference of the times, and it is greatest in a corner.
pub(crate) fn lead(
    pipeline: &Pipeline,
    tree: &Tree,
    (before, first): (usize, &Timing),
    (after, second): (usize, &Timing),
    array: usize,
    writes: bool,
) -> Option<i64> {
    let mut greatest: Option<i128> = None;
    for other in touches(pipeline, tree, after, array, writes) {
        // A write is done its latency after its iteration, and in a cycle of its own.
        let own = if writes { 1 - i128::from(other.stage.latency) } else { 0 };
        for write in writes_meeting(pipeline, tree, before, other) {
            let found =
                furthest(write, &first.strides, other, &second.strides)? + i128::from(write.stage.latency) + own;
            greatest = greatest.max(Some(found));
        }
    }
    i64::try_from(greatest?).ok()
}

/// The longest time from the read of an element to its last write, both counted from the first iterations.
fn furthest(write: Touch<'_>, write_strides: &[i64], read: Touch<'_>, read_strides: &[i64]) -> Option<i128> {
    let (write_own, read_own) = (write_strides.len(), read_strides.len());
    // Greater numbers are no indices of arrays, and products of these cannot overflow.
    let small = |number: i64| number.unsigned_abs() < 1 << 30;
    if !write.stage.loops.iter().chain(&read.stage.loops).all(|level| small(level.min)) {
        return None;
    }
    let ranges = ranges_inside(read)?;
    // Everything in units of 1/scale cycles, for lanes have only every so many-th element.
    let mut steps = Vec::new();
    let mut scale = 1_i128;
    for (target, wanted) in write.access.subscripts.iter().zip(&read.access.subscripts) {
        let plain = |subscript: &Subscript| {
            let mut terms = subscript.coefficients.iter().chain([&subscript.constant, &subscript.offset]);
            subscript.divisor == 1 && terms.all(|term| small(*term))
        };
        if !plain(target)
            || !target.is_affine()
            || !plain(wanted)
            || target.coefficients[write_own..] != wanted.coefficients[read_own..]
        {
            return None;
        }
        let along: Vec<usize> = (0..write_own).filter(|&level| target.coefficients[level] != 0).collect();
        let level = match along[..] {
            [] => continue,
            [level] => level,
            _ => return None,
        };
        if steps.iter().any(|&(_, _, other, _)| other == level) {
            return None;
        }
        let coefficient = i128::from(target.coefficients[level]);
        scale = scale.checked_mul(coefficient.abs()).filter(|scale| *scale < 1 << 20)?;
        steps.push((target, wanted, level, coefficient));
    }
    let mut furthest = 0_i128;
    let mut gains: Vec<i128> = read_strides.iter().map(|&stride| -i128::from(stride) * scale).collect();
    for &(target, wanted, level, coefficient) in &steps {
        let weight = i128::from(write_strides[level]) * (scale / coefficient);
        let apart = i128::from(wanted.constant) + i128::from(wanted.offset)
            - i128::from(target.constant)
            - i128::from(target.offset);
        furthest +=
            weight * apart - i128::from(write_strides[level]) * scale * i128::from(write.stage.loops[level].min);
        for (inner, gain) in gains.iter_mut().enumerate() {
            let along = weight * i128::from(wanted.coefficients[inner]);
            furthest += along * i128::from(ranges[inner].0);
            *gain += along;
        }
    }
    for (level, stride) in write_strides.iter().enumerate() {
        if !steps.iter().any(|step| step.2 == level) {
            furthest += i128::from(*stride) * scale * (i128::from(write.stage.loops[level].extent) - 1);
        }
    }
    for ((gain, (low, high)), (level, stride)) in
        gains.iter().zip(&ranges).zip(read.stage.loops.iter().zip(read_strides))
    {
        furthest += (*gain).max(0) * i128::from(high - low) - i128::from(stride * (low - level.min)) * scale;
    }
    Some(furthest.div_euclid(scale))
}

/// The least and the greatest value of each loop of a read in iterations that read an element: an index that leaves the array follows one
/// loop. Nothing if none do, or if an index has another boundary.
fn ranges_inside(read: Touch<'_>) -> Option<Vec<(i64, i64)>> {
    let mut ranges: Vec<(i64, i64)> = read.stage.loops.iter().map(|level| (level.min, level.max())).collect();
    for subscript in &read.access.subscripts {
        let Boundary::Outside { low, high } = subscript.boundary else {
            if subscript.boundary == Boundary::None { continue } else { return None }
        };
        let Some(level) = subscript.single_loop().ok()? else { continue };
        let coefficient = subscript.coefficients[level];
        let (ends, step) = (if coefficient > 0 { (low, high) } else { (-high, -low) }, coefficient.abs());
        let start = subscript.constant * coefficient.signum();
        let range = &mut ranges[level];
        *range = (range.0.max(-(start - ends.0).div_euclid(step)), range.1.min((ends.1 - start).div_euclid(step)));
    }
    ranges.iter().all(|(low, high)| low <= high).then_some(ranges)
}
