//! The offsets that the loops around add to the indices of a local array.
//!
//! An allocation has indices of its own: its element `r` is row `r + 31*tile` of the Func. So much is known from the loads of
//! what is stored, `input[r + 31*tile]`. All stores of an allocation have one offset, for one place is one element. But not
//! each store says it: at the edge of an image the row after the last is computed from the last one, too, and where a
//! constant lies beyond, nothing is loaded. So each load votes, in all iterations of the loops around, and the function of
//! these loops that most of them agree with is the offset. The constant that a load adds to the offset is compared with the store
//! that says most, which has the *taps* of the definition.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{Index, Piece};

use crate::canonical::tidy;
use crate::fault::{Fault, Result};
use crate::fit::{MOST_VALUES, fit};
use crate::program::Store;
use crate::value::{Element, Value, Variable};

/// The most values of a sum of own loops that are taps of a load.
const MOST_TAPS: i64 = 32;

/// The most hints that the others are compared with for what lies between them.
const MOST_NEIGHBOURS: usize = 64;

/// The most offsets that hints may say, each with each tap: every one of them is a candidate.
const MOST_SAID: usize = 1 << 16;

/// The most comparisons of candidates with hints.
const MOST_BALLOTS: usize = 1 << 26;

/// The most iterations of the loops around in all of which a store votes.
const MOST_POINTS: i64 = 64;

/// A store of the array with its value, whose loads have their coordinates already.
pub(super) struct Placeable<'a> {
    pub store: &'a Store,
    /// The element that is written.
    pub target: Vec<Index>,
    /// Nothing, if it is not known which elements are loaded.
    pub value: Option<Rc<Value<Element>>>,
}

/// Loads that vote alike: of one dimension of one array, which follows the dimension of the element by a slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Channel {
    array: usize,
    dimension: usize,
    slope: i64,
    /// The divisor of the index.
    by: i64,
    /// Whether it is in an update: that loads other elements than a first definition does.
    updates: bool,
}

/// The offset that a load implies: `slope` times the offset, and one of the taps of its channel.
#[derive(Clone, Debug, PartialEq)]
struct Hint {
    channel: Channel,
    /// A function of the loops around, which are numbered from the outermost, without a constant.
    outer: Index,
    constant: i64,
}

impl Hint {
    fn at(&self, point: &[i64]) -> i64 {
        self.outer.evaluate(point) + self.constant
    }
}

/// A hint, with the ranges of the loops around in which it holds, and how many stores say it.
type Voter<'a> = (Vec<(i64, i64)>, &'a Hint, usize);

/// The hints of a store for one dimension.
struct Witness<'a> {
    store: &'a Store,
    hints: Vec<Hint>,
}

/// Stores that have one offset as a function of their loops: those of one allocation, or of one `produce` in it, in all parts
/// of the loops around.
struct Group {
    /// The numbers of the witnesses.
    members: Vec<usize>,
    /// The ranges of the loops around each reading of the text.
    readings: Vec<Vec<(i64, i64)>>,
    /// How many loops it is a function of.
    depth: usize,
}

/// An offset, a function of the loops around, with how often hints agree with it.
struct Elected {
    offset: Index,
    votes: usize,
}

/// The offset of a dimension at each store, a function of the loops around; nothing for those of which it is not known, while
/// others have one.
///
/// # Errors
/// When what reads the elements leaves too many offsets to choose from.
pub(super) fn offsets(stores: &[Placeable], dimension: usize) -> Result<Vec<Option<Index>>> {
    let witnesses: Vec<Witness> = witnesses(stores, dimension);
    let allocations = groups(&witnesses, |store| (store.allocation.start, store.site), |store| store.allocated);
    let of = |members: &[usize]| members.iter().map(|member| &witnesses[*member]).collect::<Vec<_>>();
    let zero = || vec![Some(Index::constant(0)); stores.len()];
    let Some(taps) = Taps::new(&witnesses) else { return Ok(zero()) };
    let mut found: Vec<Option<Index>> = vec![None; stores.len()];
    // The first one has no constant: only differences count.
    let mut constant = None;
    for allocation in &allocations {
        let mut elected = vec![(taps.elected(&of(&allocation.members), allocation.depth)?, allocation.members.clone())];
        if allocation.members.iter().any(|member| witnesses[*member].store.allocated < witnesses[*member].store.outer) {
            // The part that an allocation keeps may move on with each `produce`.
            let reading = |store: &Store| (store.production.place, store.production.number);
            let mut moving = Vec::new();
            for mut production in groups(&witnesses, reading, |store| store.outer) {
                production.members.retain(|member| allocation.members.contains(member));
                if !production.members.is_empty() {
                    moving.push((taps.elected(&of(&production.members), production.depth)?, production.members));
                }
            }
            let votes = |elected: &[(Option<Elected>, Vec<usize>)]| {
                elected.iter().flat_map(|(elected, _)| elected).map(|elected| elected.votes).sum::<usize>()
            };
            if 4 * votes(&elected) < 3 * votes(&moving) {
                elected = moving;
            }
        }
        for (elected, members) in elected {
            let Some(Elected { offset, .. }) = elected else { continue };
            let constant = *constant.get_or_insert(offset.affine.constant);
            for member in members {
                let shifted = offset.plus(&Index::constant(-constant), 1);
                found[member] = shifted.map(|offset| placed(&offset, witnesses[member].store));
            }
        }
    }
    Ok(found)
}

/// The offset in the loops of a store.
fn placed(offset: &Index, store: &Store) -> Index {
    tidy(&renamed(offset, &|position| store.loops[position]), &store.ranges)
}

/// The index with other variables.
pub(super) fn renamed(index: &Index, name: &impl Fn(Variable) -> Variable) -> Index {
    let mut affine = index.affine.clone();
    affine.terms.iter_mut().for_each(|(variable, _)| *variable = name(*variable));
    affine.terms.sort_unstable();
    let pieces = index.pieces.iter().map(|(factor, piece)| {
        let of = renamed(piece.of(), name);
        (
            *factor,
            match *piece {
                Piece::Quotient { by, .. } => Piece::Quotient { of, by },
                Piece::Remainder { by, .. } => Piece::Remainder { of, by },
                Piece::Clamp { low, high, .. } => Piece::Clamp { of, low, high },
                Piece::Mirror { low, high, .. } => Piece::Mirror { of, low, high },
            },
        )
    });
    Index { affine, pieces: pieces.collect() }
}

/// Groups of stores by places of the text. Stores that are read again in another part of a loop belong to the same group;
/// those of unrolled loops do not.
fn groups<Number: Ord + Copy>(
    witnesses: &[Witness],
    reading: impl Fn(&Store) -> (usize, Number),
    depth: impl Fn(&Store) -> usize,
) -> Vec<Group> {
    let mut readings: Vec<(Number, usize, Vec<usize>)> = Vec::new();
    for (member, witness) in witnesses.iter().enumerate() {
        let (place, number) = reading(witness.store);
        match readings.iter_mut().find(|(other, of, _)| (*other, *of) == (number, place)) {
            Some((.., members)) => members.push(member),
            None => readings.push((number, place, vec![member])),
        }
    }
    let mut groups: Vec<(usize, Group)> = Vec::new();
    for (_, place, members) in readings {
        let loops = members.iter().map(|member| depth(witnesses[*member].store)).min().unwrap_or(0);
        let of_loops = |position: usize| {
            let ranges = members.iter().map(|member| {
                let store = witnesses[*member].store;
                store.ranges[store.loops[position]]
            });
            ranges.fold((i64::MAX, i64::MIN), |all, range| (all.0.min(range.0), all.1.max(range.1)))
        };
        let ranges: Vec<(i64, i64)> = (0..loops).map(of_loops).collect();
        let is_part = |group: &Group| {
            group.depth == loops
                && group
                    .readings
                    .iter()
                    .all(|other| other.iter().zip(&ranges).any(|(one, other)| one.1 < other.0 || other.1 < one.0))
        };
        match groups.iter_mut().find(|(other, group)| *other == place && is_part(group)) {
            Some((_, group)) => {
                group.members.extend(members);
                group.readings.push(ranges);
            }
            None => groups.push((place, Group { members, readings: vec![ranges], depth: loops })),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The hints of all stores.
fn witnesses<'a>(stores: &[Placeable<'a>], dimension: usize) -> Vec<Witness<'a>> {
    let mut channels: Vec<Channel> = Vec::new();
    for each in stores {
        let Some(base) = base(each, dimension) else { continue };
        let Some((variable, here)) = innermost(each.store, &base) else { continue };
        for (array, of, index) in loads(each) {
            let Some((of_load, by)) = seen_through(index, each.store) else { continue };
            let there = of_load.affine.coefficient(variable);
            for updates in [false, true] {
                let channel = Channel { array, dimension: of, slope: there / here, by, updates };
                if there != 0 && there % here == 0 && !channels.contains(&channel) {
                    channels.push(channel);
                }
            }
        }
    }
    let witness = |each: &Placeable<'a>| {
        let store = each.store;
        let mut hints: Vec<Hint> = Vec::new();
        let mut loaded = each.value.iter().flat_map(|value| value.array_loads());
        let updates = loaded.any(|(array, _)| array == store.array);
        let base = base(each, dimension);
        let follows = base.as_ref().and_then(|base| innermost(store, base));
        for (array, of, index) in loads(each) {
            let (Some(base), Some((of_load, by))) = (&base, seen_through(index, store)) else { continue };
            let here =
                |each: &&Channel| (each.array, each.dimension, each.by, each.updates) == (array, of, by, updates);
            for channel in channels.iter().filter(here) {
                if let Some((variable, here)) = follows
                    && of_load.affine.coefficient(variable) != channel.slope * here
                {
                    continue;
                }
                for hint in hinted(store, &of_load, base, *channel).into_iter().flatten() {
                    if !hints.contains(&hint) {
                        hints.push(hint);
                    }
                }
            }
        }
        Witness { store, hints }
    };
    stores.iter().map(witness).collect()
}

/// The index of what is written, if it is a sum as far as its own loops go.
fn base(each: &Placeable, dimension: usize) -> Option<Index> {
    let own = &each.store.loops[each.store.outer..];
    let index = each.target.get(dimension)?;
    let is_own = |piece: &Piece| piece.of().variables().iter().any(|variable| own.contains(variable));
    (!index.pieces.iter().any(|(_, piece)| is_own(piece))).then(|| index.clone())
}

/// The innermost loop that an index follows, of the Func's own loops if possible, with its factor.
fn innermost(store: &Store, base: &Index) -> Option<(Variable, i64)> {
    let of = |loops: &[Variable]| {
        let followed = loops.iter().rev().map(|each| (*each, base.affine.coefficient(*each)));
        followed.into_iter().find(|(_, factor)| *factor != 0)
    };
    of(&store.loops[store.outer..]).or_else(|| of(&store.loops))
}

/// The loads of other arrays, with each dimension.
fn loads<'b>(each: &'b Placeable) -> impl Iterator<Item = (usize, usize, &'b Index)> {
    let own = each.store.array;
    let loads = each.value.iter().flat_map(|value| value.array_loads()).filter(move |(array, _)| *array != own);
    loads.flat_map(|(array, indices)| indices.iter().enumerate().map(move |(of, index)| (array, of, index)))
}

/// An index as a dividend and a divisor, whatever limits it at the edges of an image. The terms of the loops around remain as
/// they are.
fn seen_through(index: &Index, store: &Store) -> Option<(Index, i64)> {
    let own = &store.loops[store.outer..];
    let is_own = |piece: &Piece| piece.of().variables().iter().any(|variable| own.contains(variable));
    let (inner, outer): (Vec<_>, Vec<_>) = index.pieces.iter().cloned().partition(|(_, piece)| is_own(piece));
    let rest = Index { affine: index.affine.clone(), pieces: outer };
    match &inner[..] {
        [] => Some((rest, 1)),
        [(1, Piece::Clamp { of, .. } | Piece::Mirror { of, .. })] => {
            let (inner, by) = seen_through(of, store)?;
            Some((rest.times(by)?.plus(&inner, 1)?, by))
        }
        [(1, Piece::Quotient { of, by })] => match seen_through(of, store)? {
            (inner, 1) => Some((rest.times(*by)?.plus(&inner, 1)?, *by)),
            _ => None,
        },
        _ => None,
    }
}

/// The index with what the loops around add in one form: as a line, and what is beside it at its ends. So the same is taken
/// away where it is in the index of what is written and in those of the loads.
pub(super) fn straightened(index: &Index, store: &Store) -> Index {
    let around = &store.loops[..store.outer];
    let mut straight = Index { affine: index.affine.clone(), pieces: Vec::new() };
    for (factor, piece) in &index.pieces {
        let variables = piece.of().variables();
        let of_one = match (piece, variables.len(), variables.first()) {
            (Piece::Clamp { .. }, 1, Some(variable)) if around.contains(variable) => {
                bent(piece, *variable, store.ranges[*variable])
            }
            (Piece::Quotient { of, by }, ..) => of.divided(*by, &store.ranges),
            _ => None,
        };
        let piece = of_one.unwrap_or_else(|| piece.clone().into());
        straight = straight.plus(&piece, *factor).unwrap_or_else(|| index.clone());
    }
    straight
}

/// A piece that follows one loop as a line through its middle, and the rest.
fn bent(piece: &Piece, variable: Variable, (first, last): (i64, i64)) -> Option<Index> {
    if last - first >= MOST_VALUES || first == last {
        return None;
    }
    let mut point = vec![0; variable + 1];
    let values = (first..=last).map(|at| {
        point[variable] = at;
        piece.evaluate(&point)
    });
    let values: Vec<i64> = values.collect();
    let middle = values.len() / 2;
    let slope = values[middle] - values[middle - 1];
    let line = Index::variable(variable).times(slope)?;
    let line = line.plus(&Index::constant(values[middle] - slope * (first + middle as i64)), 1)?;
    let rest: Vec<i64> = values
        .into_iter()
        .zip(first..)
        .map(|(value, at)| {
            point[variable] = at;
            value - line.evaluate(&point)
        })
        .collect();
    line.plus(&fit(variable, first, &rest)?, 1)
}

/// The hints of a load in a channel: one for each tap.
fn hinted(store: &Store, of: &Index, base: &Index, channel: Channel) -> Option<Vec<Hint>> {
    let own = &store.loops[store.outer..];
    let mut rest = of.plus(base, -channel.slope)?.times(channel.slope.signum())?;
    let (mut low, mut high) = (rest.affine.constant, rest.affine.constant);
    rest.affine.constant = 0;
    for (variable, factor) in std::mem::take(&mut rest.affine.terms) {
        let (first, last) = store.ranges[variable];
        match own.contains(&variable) {
            true => {
                low += (factor * first).min(factor * last);
                high += (factor * first).max(factor * last);
            }
            false => rest.affine.terms.push((variable, factor)),
        }
    }
    let position = |variable: Variable| store.loops.iter().position(|each| *each == variable);
    if rest.variables().into_iter().any(|variable| position(variable).is_none_or(|at| at >= store.outer)) {
        return None;
    }
    let outer = renamed(&rest, &|variable| position(variable).unwrap_or(0));
    let constants = if high - low <= MOST_TAPS { (low..=high).collect() } else { vec![low, high] };
    Some(constants.into_iter().map(|constant| Hint { channel, outer: outer.clone(), constant }).collect())
}

/// The constants that the loads of a definition add to the offset.
struct Taps(Vec<(Channel, BTreeSet<i64>)>);

impl Taps {
    /// Those of the store that says most; nothing if no store says anything.
    fn new(witnesses: &[Witness]) -> Option<Self> {
        let outer =
            |witness: &Witness| witness.hints.iter().map(|hint| hint.outer.variables().len()).max().unwrap_or(0);
        let says = |witness: &&Witness| (witness.hints.len(), outer(witness));
        let first = witnesses.iter().rev().max_by_key(says).filter(|witness| !witness.hints.is_empty())?;
        // The offset is what the loops around add to a tap that follows most of them.
        let main =
            first.hints.iter().rev().max_by_key(|hint| (hint.outer.pieces.is_empty(), hint.outer.variables().len()))?;
        let offset = divided(&main.outer, 0, main.channel)?;
        // Those of the other class are of the same elements.
        let updates = main.channel.updates;
        let beside = witnesses.iter().filter(|witness| {
            let hint = witness.hints.first();
            witness.store.production == first.store.production
                && hint.is_some_and(|hint| hint.channel.updates != updates)
        });
        let other = beside.rev().max_by_key(says);
        let mut taps: Vec<(Channel, BTreeSet<i64>)> = Vec::new();
        for hint in first.hints.iter().chain(other.iter().flat_map(|other| &other.hints)) {
            let rest = hint.outer.plus(&offset, -hint.channel.slope.abs());
            let more = match (rest.and_then(|rest| rest.as_constant()), hint.channel == main.channel) {
                (Some(more), _) => more,
                (None, true) if hint.outer == main.outer => 0,
                _ => continue,
            };
            match taps.iter_mut().find(|(channel, _)| *channel == hint.channel) {
                Some((_, taps)) => _ = taps.insert(hint.constant + more),
                None => taps.push((hint.channel, BTreeSet::from([hint.constant + more]))),
            }
        }
        Some(Self(taps))
    }

    fn of(&self, channel: Channel) -> impl Iterator<Item = i64> {
        let taps = self.0.iter().filter(move |(other, _)| *other == channel);
        taps.flat_map(|(_, taps)| taps.iter().copied())
    }

    /// Whether a hint agrees with an offset.
    fn agree(&self, hint: &Hint, point: &[i64], offset: i64) -> bool {
        let slope = hint.channel.slope.abs();
        let of_element = hint.at(point) - slope * offset;
        self.of(hint.channel)
            .any(|tap| of_element == tap || (hint.channel.by == slope && (of_element - tap).div_euclid(slope) == 0))
    }

    /// The function of a loop that is read in single iterations, each of which says one offset.
    fn fitted(&self, voters: &[Voter], position: usize) -> Option<Index> {
        let mut said: BTreeMap<i64, BTreeMap<i64, usize>> = BTreeMap::new();
        for (ranges, hint, count) in voters {
            let (first, last) = *ranges.get(position)?;
            if first != last {
                return None;
            }
            for tap in self.of(hint.channel) {
                let Some(offset) = divided(&hint.outer, hint.constant - tap, hint.channel) else { continue };
                let offset = offset.as_constant()?;
                *said.entry(first).or_default().entry(offset).or_default() += count;
            }
        }
        let mut values: Vec<i64> = Vec::new();
        let first = *said.first_key_value()?.0;
        for (at, offsets) in (first..).zip(said.iter()) {
            let most = offsets.1.values().max()?;
            let best = offsets.1.iter().filter(|(_, votes)| *votes == most).map(|(offset, _)| *offset);
            let before = values.last().copied();
            let next = best.min_by_key(|offset| (offset - before.unwrap_or(*offset)).abs())?;
            (at == *offsets.0).then(|| values.push(next))?;
        }
        fit(position, first, &values)
    }

    /// The offset that most hints agree with, a function of so many loops.
    fn elected(&self, witnesses: &[&Witness], depth: usize) -> Result<Option<Elected>> {
        let mut voters: Vec<Voter> = Vec::new();
        for witness in witnesses {
            let store = witness.store;
            let around: Vec<(i64, i64)> = store.loops[..store.outer].iter().map(|each| store.ranges[*each]).collect();
            for hint in witness.hints.iter().filter(|hint| self.of(hint.channel).next().is_some()) {
                match voters.iter_mut().find(|(ranges, other, _)| *ranges == around && *other == hint) {
                    Some((.., count)) => *count += 1,
                    None => voters.push((around.clone(), hint, 1)),
                }
            }
        }
        let said: usize = voters.iter().map(|(_, hint, _)| self.of(hint.channel).count()).sum();
        check_ballots(witnesses, "places that its reads say", said, MOST_SAID)?;
        let mut candidates: Vec<Index> = Vec::new();
        let mut add = |offset: Option<Index>| {
            let is_around = |offset: &Index| offset.variables().into_iter().all(|position| position < depth);
            candidates.extend(offset.filter(|offset| is_around(offset) && !candidates.contains(offset)));
        };
        for (ranges, hint, _) in &voters {
            for tap in self.of(hint.channel) {
                let offset = divided(&hint.outer, hint.constant - tap, hint.channel);
                // Where a loop is read in single iterations, the offset is a constant in each.
                let others = voters.iter().take(MOST_NEIGHBOURS).filter(|(_, other, _)| other.channel == hint.channel);
                for (there, other, _) in others {
                    let other = divided(&other.outer, other.constant - tap, other.channel);
                    add(offset.as_ref().zip(other).and_then(|(one, other)| line((ranges, one), (there, &other))));
                }
                let ranges = ranges.iter().copied().take(depth).collect_vec();
                add(offset.map(|offset| {
                    if offset.variables().iter().all(|each| *each < depth) { tidy(&offset, &ranges) } else { offset }
                }));
            }
        }
        for position in 0..depth {
            add(self.fitted(&voters, position));
        }
        let points: Vec<Vec<Vec<i64>>> = voters.iter().map(|(ranges, ..)| points(ranges)).collect();
        let counted = candidates.len() * points.iter().map(Vec::len).sum::<usize>();
        check_ballots(witnesses, "comparisons of possible places with reads", counted, MOST_BALLOTS)?;
        let votes = |offset: &Index| {
            let agree = |(voter, points): (&(_, &Hint, usize), &Vec<Vec<i64>>)| {
                let holds = |point: &&Vec<i64>| self.agree(voter.1, point, offset.evaluate(point));
                voter.2 * points.iter().filter(holds).count()
            };
            voters.iter().zip(&points).map(agree).sum::<usize>()
        };
        let ballots: Vec<(usize, Index)> = candidates.into_iter().map(|offset| (votes(&offset), offset)).collect();
        // Of equal ones, the one that follows most loops, and the first of these.
        let says = |(votes, offset): &&(usize, Index)| {
            (*votes, offset.variables().len(), std::cmp::Reverse(offset.affine.constant.abs()))
        };
        let found = ballots.iter().rev().max_by_key(says);
        Ok(found.map(|(votes, offset)| Elected { offset: offset.clone(), votes: *votes }))
    }
}

/// Refuses a Func whose offset would take too long to find.
fn check_ballots(witnesses: &[&Witness], of: &str, count: usize, most: usize) -> Result<()> {
    match witnesses.first() {
        Some(first) if count > most => {
            let message = format!(
                "the importer would need {count} {of} to know which elements this Func computes in each iteration; the limit is {most}"
            );
            Err(Fault::new(first.store.span, message)
                .with_help("unroll less around it, or compute it by `compute_root`"))
        }
        _ => Ok(()),
    }
}

/// The offset that differs between iterations of one loop by a multiple of that loop.
fn line((ranges, one): (&[(i64, i64)], &Index), (there, other): (&[(i64, i64)], &Index)) -> Option<Index> {
    let position = ranges.iter().zip(there).positions(|(one, other)| one != other).exactly_one().ok()?;
    let (from, to) = (ranges[position], there[position]);
    let more = other.plus(one, -1)?.as_constant()?;
    let steps = to.0 - from.0;
    if from.0 != from.1 || to.0 != to.1 || more % steps != 0 {
        return None;
    }
    one.plus(&Index::variable(position).plus(&Index::constant(-from.0), 1)?, more / steps)
}

/// The offset that a hint says with a tap.
fn divided(outer: &Index, constant: i64, channel: Channel) -> Option<Index> {
    let slope = channel.slope.abs();
    let factors =
        outer.affine.terms.iter().map(|(_, factor)| factor).chain(outer.pieces.iter().map(|(factor, _)| factor));
    let is_whole = factors.into_iter().all(|factor| factor % slope == 0);
    if is_whole && (constant % slope == 0 || channel.by == slope) {
        let mut offset = Index::constant(constant.div_euclid(slope));
        offset.affine.terms = outer.affine.terms.iter().map(|(variable, factor)| (*variable, factor / slope)).collect();
        offset.pieces = outer.pieces.iter().map(|(factor, piece)| (factor / slope, piece.clone())).collect();
        return Some(offset);
    }
    (channel.by == slope).then(|| {
        let of = outer.plus(&Index::constant(constant), 1)?;
        Some(Index::from(Piece::Quotient { of, by: slope }))
    })?
}

/// Some iterations of loops: all values of each, or those at both ends and in the middle.
fn points(ranges: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let count = ranges.iter().fold(1_i64, |count, (first, last)| count.saturating_mul(last - first + 1));
    let values = ranges.iter().map(|&(first, last)| {
        let middle = first + (last - first) / 2;
        match (count <= MOST_POINTS, ranges.len() <= 3) {
            (true, _) => (first..=last).collect(),
            (_, true) => [first, first + 1, middle, last - 1, last].into_iter().sorted().dedup().collect_vec(),
            _ => [first, middle, last].into_iter().sorted().dedup().collect(),
        }
    });
    let values = values.map(|values| values.into_iter());
    if ranges.is_empty() { vec![Vec::new()] } else { values.multi_cartesian_product().collect() }
}
