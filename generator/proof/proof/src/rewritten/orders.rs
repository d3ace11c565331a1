//! The order of iterations that access one element.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Index, Loop, ranges};

use super::iterations::Pair;
use super::{Place, Statement};
use crate::error::PartError;

/// Checks that of two iterations that access one element, and one of which writes it, the order is that of the program; unless one statement
/// adds in both, in any order.
///
/// # Errors
/// The first statement that may come too late, or too early.
pub(super) fn check(pairs: &[Pair]) -> Result<(), PartError> {
    pairs.iter().filter(|pair| !pair.is_same()).try_for_each(check_alone)?;
    for (one, two) in dependent(pairs) {
        if one.source.number == two.source.number {
            // Of copies of one statement each was checked alone.
            if one.other.origin.is_some_and(|origin| origin.word.is_some()) {
                check_words(one, two)?;
            }
            continue;
        }
        let (first, second) = if one.source.number < two.source.number { (one, two) } else { (two, one) };
        // The iterations of the loops that are around both here and there decide, and in one of these the others, and the text.
        let both = [(&first.source, &second.source), (&first.other, &second.other)];
        let shared = both.map(|(first, second)| first.shared(second));
        let same = shared[0].min(shared[1]).min(first.kept).min(second.kept);
        let is_ordered = first.other.number < second.other.number
            && both.iter().all(|(first, second)| come_in_order(first, second, same));
        if !is_ordered {
            let reason = format!("it may access an element before `{}` does", first.source.operation.name);
            return Err(second.other.error(&reason));
        }
    }
    Ok(())
}

/// Any two that access one array that one of them writes: programs of thousands of statements have few.
fn dependent<'p>(pairs: &'p [Pair]) -> impl Iterator<Item = (&'p Pair<'p>, &'p Pair<'p>)> {
    let accesses = |number: usize| pairs[number].source.places().map(move |place| (place.array, number));
    let users = (0..pairs.len()).flat_map(accesses).into_group_map();
    let with = |number: usize| users[&pairs[number].source.target.array].iter().map(move |user| (number, *user));
    let found = (0..pairs.len()).flat_map(with).filter(|(writer, user)| writer != user);
    let found: BTreeSet<(usize, usize)> = found.map(|(one, other)| (one.min(other), one.max(other))).collect();
    found.into_iter().map(|(one, other)| (&pairs[one], &pairs[other]))
}

/// Checks that of two statements that each write a word of an element, the second one needs nothing that the first one writes.
fn check_words(one: &Pair, two: &Pair) -> Result<(), PartError> {
    let (first, second) = if one.other.number < two.other.number { (one, two) } else { (two, one) };
    let are_together = first.is_same() && second.is_same() && first.other.shared(&second.other) == first.kept;
    let Place { array, word, .. } = first.other.target;
    let needs = second.other.loads.iter().any(|place| (place.array, place.word) == (array, word));
    match are_together && !needs {
        true => Ok(()),
        false => Err(second.other.error("it comes after a part of the element that it reads")),
    }
}

/// Checks that the iterations of a statement may come in any order.
fn check_alone(pair: &Pair) -> Result<(), PartError> {
    let Pair { source, other, .. } = pair;
    if source.loads.iter().any(|place| place.array == source.target.array) {
        return Err(other.error("its iterations are in another order, and it reads the array that it writes"));
    }
    let adds = source.reduction.is_some();
    if adds && source.operation.sums_in_order() && !pair.is_in_order() {
        return Err(other.error("it adds numbers in another order"));
    }
    // Iterations in different ones of the loops that are kept come in the order of these.
    let changed = |index: &AffineIndex| index.terms.iter().copied().filter(|(of, _)| *of >= pair.kept).collect_vec();
    let indices = source.target.indices.iter().filter_map(Index::as_affine);
    let shown = indices.flat_map(|index| digits(changed(index), 1, &source.loops)).collect_vec();
    let is_shown = |variable: usize| source.loops[variable].extent == 1 || shown.contains(&variable);
    if adds || (pair.kept..source.loops.len()).all(is_shown) {
        Ok(())
    } else {
        Err(other.error("its iterations are in another order, and several may write one element"))
    }
}

/// The elements that two statements access of one array that one of them writes.
fn common<'s>(first: &'s Statement, second: &'s Statement) -> impl Iterator<Item = (&'s Place<'s>, &'s Place<'s>)> {
    let is_common = |(one, other): &(&Place, &Place)| {
        one.array == other.array && (std::ptr::eq(*one, &first.target) || std::ptr::eq(*other, &second.target))
    };
    first.places().cartesian_product(second.places().collect_vec()).filter(is_common)
}

/// Whether iterations of two statements that access one element, in the same iteration of so many loops, are in the same iteration of all loops
/// around both, so that the first statement comes first.
fn come_in_order(first: &Statement, second: &Statement, same: usize) -> bool {
    let shared = first.shared(second);
    let is_shown = |(one, other): (&Place, &Place)| {
        let shown = one
            .indices
            .iter()
            .zip(&other.indices)
            .flat_map(|(one, other)| shown((first, one), (second, other), shared));
        let shown = shown.collect_vec();
        (same..shared).all(|variable| first.loops[variable].extent == 1 || shown.contains(&variable))
    };
    common(first, second).all(is_shown)
}

/// The loops around both statements whose iteration follows from the value of an index, as from the digits of a number.
fn shown(one: (&Statement, &Index), other: (&Statement, &Index), shared: usize) -> Vec<usize> {
    let around =
        |index: &AffineIndex| index.terms.iter().copied().filter(|(variable, _)| *variable < shared).collect_vec();
    let inside = |(statement, index): (&Statement, &AffineIndex)| {
        let terms = index.terms.iter().copied().filter(|(variable, _)| *variable >= shared).collect();
        AffineIndex { constant: index.constant, terms }.range(&ranges(statement.loops.iter().copied()))
    };
    let (Some(own), Some(others)) = (one.1.as_affine(), other.1.as_affine()) else { return Vec::new() };
    let terms = around(own);
    if terms != around(others) {
        return Vec::new();
    }
    let ((low, high), (least, most)) = (inside((one.0, own)), inside((other.0, others)));
    digits(terms, high.max(most) - low.min(least) + 1, &one.0.loops)
}

/// The variables of terms, if the value of all together shows that of each, where other terms have so many values one after the other.
fn digits(terms: Vec<(usize, i64)>, mut span: i64, loops: &[&Loop]) -> Vec<usize> {
    for (variable, step) in terms.iter().sorted_by_key(|(_, step)| step.abs()) {
        let extent = loops[*variable].extent;
        if extent > 1 && step.abs() < span {
            return Vec::new();
        }
        span += step.abs() * (extent - 1);
    }
    terms.into_iter().map(|(variable, _)| variable).collect()
}
