//! How a group runs its own loops: in which order, and how many cycles from one iteration to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::arrays::{Digit, separated};
use super::tree::Group;
use super::{CoarseOptions, LIMIT};
use crate::dependence_distance::{Dependence, carried, takes_own_results};
use crate::writers::Writers;
use pushmem_stages::{Access, Pipeline, Stage};

/// The times of a group's own loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    /// Cycles from one iteration to the next, by own loop, innermost first.
    pub strides: Vec<i64>,
    /// Cycles from one iteration of the fastest loop to the next.
    pub interval: i64,
    /// Cycles from the first iteration to the last, both included, and those in which the last rows of memory are fetched.
    pub span: i64,
    /// Whether the loops run in another order than the program has them.
    pub interchanged: bool,
    /// Its rows, if these follow the rate of other groups.
    pub rows: Option<RowLoop>,
}

/// A loop whose iterations follow the rate of other groups. It is the slowest one: each iteration is dense, and waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLoop {
    /// The own loop.
    pub level: usize,
    /// Cycles from one of its iterations to the next.
    pub interval: i64,
    /// Cycles from the first iteration to the last of a row, both included.
    pub span: i64,
    /// Cycles from the start of the first row to that of the last.
    pub last: i64,
}

impl Nest {
    /// With rows that come at an interval.
    pub fn paced(mut self, interval: i64) -> Option<Nest> {
        let Some(rows) = &mut self.rows else { return Some(self) };
        let last = (rows.last / rows.interval).checked_mul(interval).filter(|last| *last <= LIMIT)?;
        *rows = RowLoop { interval, last, ..*rows };
        self.strides[rows.level] = interval;
        self.span = rows.span + last;
        Some(self)
    }
}

/// Loops in another order than that of the program are so many times as fast at least, where results come back.
const WORTH_WAITING: i64 = 3;

/// Dependences of a group's updates on each other.
struct Updates {
    /// Own loops that revisit elements, by whether the write does not follow them.
    reductions: Vec<bool>,
    /// Whether two iterations that differ in another loop never update the same element.
    injective: bool,
}

/// The own loops of a group, dense except where recurrences forbid it; nothing if they take too long.
///
/// `gap` is how many cycles after an iteration one that updates the same element may read.
pub(crate) fn nest(pipeline: &Pipeline, group: &Group, gap: i64, options: &CoarseOptions) -> Option<Nest> {
    let rows = &Rows::of(pipeline, group, options)?;
    let program: Vec<usize> = (0..group.own()).collect();
    let dense = layout(group, &program, 1, rows)?;
    let returns = returns(pipeline, group, options);
    let updates = updates(pipeline, group);
    let interval = |nest: &Nest| updates.as_ref().map_or(1, |updates| apart(group, nest, updates, gap));
    if !returns.is_empty() {
        let in_order_of = |order: &[usize]| {
            let least = interval(&layout(group, order, 1, rows)?);
            paced(group, &returns, least, rows, order)
        };
        let in_order = in_order_of(&program);
        let turned = options.interchange.then(|| in_order_of(&turned(pipeline, group))).flatten();
        // Stages that follow each other in the order of the program wait for all of an array in another one.
        let is_worthwhile = |turned: &Nest| {
            in_order.as_ref().is_none_or(|in_order| turned.span.saturating_mul(WORTH_WAITING) <= in_order.span)
        };
        return turned.filter(is_worthwhile).or(in_order);
    }
    let needed = interval(&dense);
    if needed == 1 {
        return Some(dense);
    }
    if let Some(updates) = updates.as_ref().filter(|_| options.interchange) {
        // With the loops that revisit elements outside of the others, an element comes again only after all others have. Terms
        // of one element are added in the order of the program.
        let (outer, inner): (Vec<usize>, Vec<usize>) = program.iter().partition(|&&level| updates.reductions[level]);
        let order: Vec<usize> = inner.into_iter().chain(outer).collect();
        let interval = interval(&layout(group, &order, 1, rows)?);
        if interval < needed {
            return layout(group, &order, interval, rows);
        }
    }
    layout(group, &program, needed, rows)
}

/// The own loops of a group with `level` as the slowest one, whose iterations are rows; nothing if that is not possible.
///
/// Loops that revisit elements run inside of it and outside of all others, so that a row is complete before the next one begins.
pub(crate) fn in_rows(
    pipeline: &Pipeline,
    group: &Group,
    gap: i64,
    options: &CoarseOptions,
    level: usize,
) -> Option<Nest> {
    let rows = &Rows::of(pipeline, group, options)?;
    let program: Vec<usize> = (0..group.own()).collect();
    let slowest = program.iter().rev().find(|&&level| group.extents[level] > 1) == Some(&level);
    let returns = returns(pipeline, group, options);
    let nest = match updates(pipeline, group) {
        Some(updates) if returns.is_empty() && options.interchange && updates.injective => {
            let (outer, inner): (Vec<usize>, Vec<usize>) =
                program.iter().filter(|&&other| other != level).partition(|&&level| updates.reductions[level]);
            let order: Vec<usize> = inner.into_iter().chain(outer).chain([level]).collect();
            let interval = apart(group, &layout(group, &order, 1, rows)?, &updates, gap);
            layout(group, &order, interval, rows)?
        }
        _ if slowest => {
            let is_slowest = |nest: &Nest| nest.strides.iter().all(|stride| *stride <= nest.strides[level]);
            let in_order = CoarseOptions { interchange: false, ..options.clone() };
            let found = nest(pipeline, group, gap, options).filter(is_slowest);
            found.or_else(|| nest(pipeline, group, gap, &in_order))?
        }
        _ => return None,
    };
    let (interval, count) = (nest.strides[level], group.extents[level]);
    let last = interval * (count - 1);
    Some(Nest { rows: Some(RowLoop { level, interval, span: nest.span - last, last }), ..nest })
}

/// Loops that revisit elements: those that the writes of a group with updates do not follow.
pub(crate) fn reductions(pipeline: &Pipeline, group: &Group) -> Option<Vec<bool>> {
    updates(pipeline, group).map(|updates| updates.reductions)
}

/// The own loops of a group that takes its own results, fastest first: those along which it takes none, then the others. Each of
/// the two in the order of the program, so that an element is written and read in that order, too.
fn turned(pipeline: &Pipeline, group: &Group) -> Vec<usize> {
    let members = group.members(pipeline);
    let written: BTreeSet<usize> = members.iter().map(|stage| stage.write.array).collect();
    let mut apart = vec![true; group.own()];
    for array in written {
        let accesses = members.iter().flat_map(|stage| stage.reads.iter().chain([&stage.write]));
        let accesses: Vec<&Access> = accesses.filter(|access| access.array == array).collect();
        let told = told_apart(group, &accesses, group.own());
        apart.iter_mut().zip(told).for_each(|(apart, told)| *apart &= told);
    }
    let (inner, outer): (Vec<usize>, Vec<usize>) = (0..group.own()).partition(|&level| apart[level]);
    inner.into_iter().chain(outer).collect()
}

/// Loops in an order, fastest first, with the fewest cycles for an iteration, at least so many, in which results come back in time.
fn paced(group: &Group, returns: &[Return], least: i64, rows: &Rows, order: &[usize]) -> Option<Nest> {
    let late = |nest: &Nest| returns.iter().map(|of| of.late(group, nest)).max().unwrap_or(0);
    let first = layout(group, order, least, rows)?;
    // Each cycle more for an iteration is one for each result at least.
    let most = least.saturating_add(late(&first).max(0));
    let nests = (least..=most).map_while(|interval| layout(group, order, interval, rows));
    nests.into_iter().find(|nest| late(nest) <= 0)
}

/// A read that takes results of earlier iterations of its group, and the cycles until these can be read.
struct Return {
    dependence: Dependence,
    latency: i64,
}

impl Return {
    /// By how many cycles a result comes too late.
    fn late(&self, group: &Group, nest: &Nest) -> i64 {
        // The loops around are in the same iteration.
        let steps: Vec<i64> = nest.strides.iter().copied().chain(std::iter::repeat_n(0, group.depth)).collect();
        self.dependence.furthest(&steps, &steps) + self.latency
    }
}

/// The reads of a group of its own earlier results: out of its kernels, or out of the memory of the array.
fn returns(pipeline: &Pipeline, group: &Group, options: &CoarseOptions) -> Vec<Return> {
    let members = group.members(pipeline);
    let written: BTreeSet<usize> = members.iter().map(|stage| stage.write.array).collect();
    let is_own = |stage: &Stage, read: &Access| *read != stage.write && written.contains(&read.array);
    if !members.iter().any(|stage| stage.reads.iter().any(|read| is_own(stage, read))) {
        return Vec::new();
    }
    let writers = Writers::of(pipeline);
    let mut returns = Vec::new();
    for (consumer, stage) in group.stages.clone().zip(members) {
        for read in (0..stage.reads.len()).filter(|&read| is_own(stage, &stage.reads[read])) {
            let through_memory = match takes_own_results(pipeline, &writers, consumer, read) {
                true => 0,
                false => 1 + options.round_trip as i64,
            };
            for producer in group.stages.clone() {
                let same_array = pipeline.stages[producer].write.array == stage.reads[read].array;
                let found = same_array.then(|| carried(pipeline, producer, consumer, read, group.depth).ok().flatten());
                if let Some(dependence) = found.flatten() {
                    let travel = options.transport.to_operand(producer, consumer, read);
                    let latency = pipeline.stages[producer].latency as i64 + travel + through_memory;
                    returns.push(Return { dependence, latency });
                }
            }
        }
    }
    returns
}

/// Whether stages that run together take results of each other, of earlier iterations.
pub(crate) fn exchange_results(pipeline: &Pipeline, stages: &Range<usize>, depth: usize) -> bool {
    let written: BTreeSet<usize> = pipeline.stages[stages.clone()].iter().map(|stage| stage.write.array).collect();
    let takes = |consumer: usize, read: usize, producer: usize| {
        let (reader, array) = (&pipeline.stages[consumer], pipeline.stages[producer].write.array);
        let depth = depth.min(reader.loops.len());
        consumer != producer
            && reader.reads[read].array == array
            && matches!(carried(pipeline, producer, consumer, read, depth), Ok(Some(_)))
    };
    stages.clone().any(|consumer| {
        let reader = &pipeline.stages[consumer];
        let is_own = |read: &Access| written.contains(&read.array) && *read != reader.write;
        let mut reads = (0..reader.reads.len()).filter(|&read| is_own(&reader.reads[read]));
        reads.any(|read| stages.clone().any(|producer| takes(consumer, read, producer)))
    })
}

/// Rows of memory, and how a group goes along them.
struct Rows {
    /// Words of a row.
    words: i64,
    /// For each own loop, the most words from one iteration to the next in arrays that are read from whole rows; 0 if it
    /// goes along none.
    steps: Vec<i64>,
}

impl Rows {
    fn of(pipeline: &Pipeline, group: &Group, options: &CoarseOptions) -> Option<Rows> {
        let words = i64::try_from(options.row_multiple.max(1)).ok().filter(|words| *words <= LIMIT)?;
        let members = group.members(pipeline).iter();
        let reads = members.flat_map(|stage| &stage.reads).filter(|read| options.whole_rows.contains(&read.array));
        let mut steps = vec![0; group.own()];
        for (_, subscript) in reads
            .flat_map(|read| read.subscripts.iter().enumerate().map(move |of| (read, of)))
            .filter(|(read, (dimension, _))| !is_divided(pipeline, read.array, *dimension))
            .map(|(_, of)| of)
        {
            for (step, coefficient) in steps.iter_mut().zip(&subscript.coefficients) {
                *step = coefficient.saturating_abs().max(*step);
            }
        }
        Some(Rows { words, steps })
    }

    /// Iterations of the fastest loop with those that only pass the time: whole rows; and where it begins anywhere in a row
    /// that is fetched, as many as all rows take that it touches.
    fn padded(&self, level: usize, extent: i64) -> Option<i64> {
        let step = self.steps[level];
        let taken = if (1..=self.words).contains(&step) {
            let touched = (step.checked_mul(extent - 1)?.checked_add(self.words)? + self.words - 1) / self.words;
            (touched.checked_mul(self.words)? + step - 1) / step
        } else {
            extent
        };
        taken.max(extent).checked_add(self.words - 1).map(|taken| taken / self.words * self.words)
    }
}

/// Whether each place of a dimension has a bank of its own: all stages that write there run as lanes, one for each place. Rows of memory
/// then never go along it.
fn is_divided(pipeline: &Pipeline, array: usize, dimension: usize) -> bool {
    let accesses = pipeline.stages.iter().flat_map(|stage| {
        let reads = stage.reads.iter().filter(move |read| read.array == array);
        let write = Some(&stage.write).filter(|write| write.array == array);
        reads.map(move |read| (stage, read, false)).chain(write.map(move |write| (stage, write, true)))
    });
    let fixed = |access: &Access| access.subscripts[dimension].coefficients.iter().all(|&step| step == 0);
    let mut lanes: BTreeMap<usize, (BTreeSet<i64>, bool, bool)> = BTreeMap::new();
    for (stage, access, writes) in accesses {
        let place = access.subscripts[dimension].constant;
        let known = lanes.entry(stage.group).or_insert((BTreeSet::new(), true, false));
        *known = (std::mem::take(&mut known.0), known.1 && fixed(access), known.2 || writes);
        known.0.insert(place);
    }
    let mut several = lanes.values().filter(|(places, ..)| places.len() > 1).peekable();
    several.peek().is_some()
        && several.all(|(_, fixed, _)| *fixed)
        && lanes.values().all(|(places, fixed, writes)| !writes || (*fixed && places.len() > 1))
}

/// The times of own loops in an order, fastest first.
fn layout(group: &Group, order: &[usize], interval: i64, rows: &Rows) -> Option<Nest> {
    let repeating = |&&level: &&usize| group.extents[level] > 1;
    let several = order.iter().filter(repeating).count() > 1;
    let row = order.iter().find(repeating).copied().filter(|_| several);
    let mut strides = vec![0; group.own()];
    let (mut period, mut span) = (interval, 1_i64);
    for &level in order {
        let extent = group.extents[level];
        strides[level] = period;
        span = span.checked_add(period.checked_mul(extent - 1)?)?;
        let padded = if row == Some(level) { rows.padded(level, extent)? } else { extent };
        if row == Some(level) && rows.steps[level] > 0 {
            // The rows of the last round are fetched, too, before others are.
            span = span.checked_add(period.checked_mul(padded - extent)?)?;
        }
        period = period.checked_mul(padded).filter(|period| *period <= LIMIT)?;
    }
    let interchanged = !order.is_sorted();
    Some(Nest { strides, interval, span, interchanged, rows: None }).filter(|nest| nest.span <= LIMIT)
}

/// The fewest cycles from an iteration of a dense nest to the next for updates of an element to be a gap apart.
fn apart(group: &Group, dense: &Nest, updates: &Updates, gap: i64) -> i64 {
    let nearest = nearest(group, dense, updates);
    (gap / nearest + i64::from(gap % nearest > 0)).max(1)
}

/// The fewest cycles between two iterations that update the same element.
fn nearest(group: &Group, nest: &Nest, updates: &Updates) -> i64 {
    if !updates.injective {
        return nest.interval;
    }
    // Of the loops that revisit elements, a step of an outer one less all steps of those inside is at least one step of
    // the innermost, for the order is lexicographic.
    let reductions = (0..group.own()).filter(|&level| updates.reductions[level] && group.extents[level] > 1);
    reductions.map(|level| nest.strides[level]).min().unwrap_or(i64::MAX)
}

/// The cycles from the first to the last iteration that updates an element, at most.
pub(crate) fn travel(pipeline: &Pipeline, group: &Group, nest: &Nest) -> i64 {
    match updates(pipeline, group) {
        Some(updates) if updates.injective => {
            let reductions = (0..group.own()).filter(|&level| updates.reductions[level]);
            reductions.map(|level| nest.strides[level] * (group.extents[level] - 1)).sum()
        }
        _ => nest.span - 1,
    }
}

fn updates(pipeline: &Pipeline, group: &Group) -> Option<Updates> {
    let members = group.members(pipeline);
    if !members.iter().any(|stage| stage.updates()) {
        return None;
    }
    let followed = |level: usize| members.iter().any(|stage| stage.write.follows(level));
    let reductions: Vec<bool> = (0..group.own()).map(|level| !followed(level)).collect();
    let told_apart = follows(pipeline, group, true);
    let injective = (0..group.own()).all(|level| reductions[level] || group.extents[level] == 1 || told_apart[level]);
    Some(Updates { reductions, injective })
}

/// Which loops every two iterations of a group that write the same element agree on, whichever of its stages they are of:
/// of all loops, or, within one iteration of the shared loops, of its own.
pub(crate) fn follows(pipeline: &Pipeline, group: &Group, own: bool) -> Vec<bool> {
    let loops = if own { group.own() } else { group.extents.len() };
    let writes: Vec<&Access> = group.members(pipeline).iter().map(|stage| &stage.write).collect();
    told_apart(group, &writes, loops)
}

/// Which of the innermost loops of a group every two iterations agree on in which some of these accesses are to the same element.
fn told_apart(group: &Group, accesses: &[&Access], loops: usize) -> Vec<bool> {
    let mut found = vec![false; group.extents.len()];
    let first = accesses[0];
    for (dimension, subscript) in first.subscripts.iter().enumerate() {
        let others = || accesses.iter().map(|access| access.subscripts.get(dimension));
        let alike = accesses.iter().all(|access| access.array == first.array)
            && others().all(|other| {
                other.is_some_and(|other| other.coefficients == subscript.coefficients && other.is_affine())
            });
        if !alike {
            continue;
        }
        let mut digits: Vec<Digit> = subscript
            .coefficients
            .iter()
            .enumerate()
            .take(loops)
            .filter(|&(level, &coefficient)| coefficient != 0 && group.extents[level] > 1)
            .map(|(level, &coefficient)| Digit { level: Some(level), step: coefficient, count: group.extents[level] })
            .collect();
        let mut lanes: Vec<i64> = others().flatten().map(|other| other.constant + other.offset).collect();
        lanes.sort_unstable();
        lanes.dedup();
        if let [first, second, ..] = lanes[..] {
            let step = second - first;
            if lanes.windows(2).any(|pair| pair[1] - pair[0] != step) {
                continue;
            }
            digits.push(Digit { level: None, step, count: lanes.len() as i64 });
        }
        if separated(&mut digits, 0) {
            digits.iter().filter_map(|digit| digit.level).for_each(|level| found[level] = true);
        }
    }
    found
}
