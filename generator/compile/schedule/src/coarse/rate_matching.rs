//! Rate matching: stages whose outermost loops go along the same dimension of arrays are *rows* of one stream. The rows of all come at
//! the pace of the slowest, each dense in itself, so that a row is read soon after it was written, whatever the stages between take
//! (dissertation §4.4.2, where stages are fused; here each keeps its loops).
//!
//! A stage that is faster than its producer would else begin late and run at once, and stages behind it would wait for that.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use itertools::Itertools;
use num_integer::lcm;
use pushmem_affine::Fraction;

use super::arrays::{Touch, accesses, writes_meeting};
use super::modulo_scheduling::Use;
use super::nest::{in_rows, reductions};
use super::tree::{Child, Tree};
use super::{CoarseOptions, LIMIT};
use pushmem_stages::{Access, Pipeline, Stage};

/// The rows of children of the root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    rows: BTreeMap<usize, Rows>,
}

/// The rows of a group, or of a loop around several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    child: Child,
    /// For a group, the loop of its own that goes from row to row.
    level: usize,
    /// Children that are linked have one stream.
    stream: usize,
    /// Intervals of rows of the stream, as a fraction of the interval of its first child.
    interval: Fraction,
    /// Whether it only loads what others follow, and nothing else writes that.
    loads: bool,
    /// Cycles from one row to the next; nothing as long as that is not known.
    cycles: Option<i64>,
}

/// How rows are paced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Eighths of the shortest interval by which rows come later.
    pub slack: i64,
    /// Rows are loaded at once, so that the first are there early, and not at the rate of those that read them.
    pub loads_at_once: bool,
}

/// The demand of a child for the resources of one of its rows.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    /// The fewest cycles from one row to the next.
    pub interval: i64,
    pub uses: Vec<Use>,
}

/// Numerators and denominators of rates beyond this have no use.
const LIMIT_OF_RATES: i64 = 1 << 12;

/// Nothing where a number of the rate becomes too large.
fn limited(rate: Fraction) -> Option<Fraction> {
    (rate.numerator.max(rate.denominator) <= LIMIT_OF_RATES).then_some(rate)
}

impl Rates {
    /// The streams of a program whose children of the root follow each other row by row; nothing if there are none.
    pub fn of(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions) -> Option<Rates> {
        let links = Links { pipeline, tree, options };
        let levels = links.levels();
        let loads = links.loads();
        let mut rates = Rates::default();
        for first in 0..tree.roots.len() {
            let Some(level) = levels[first].filter(|_| !rates.rows.contains_key(&first)) else { continue };
            let rows = Rows {
                child: tree.roots[first],
                level,
                stream: first,
                interval: Fraction::ONE,
                loads: loads[first],
                cycles: None,
            };
            rates.rows.insert(first, rows);
            let mut open = VecDeque::from([first]);
            while let Some(one) = open.pop_front() {
                let from = rates.rows[&one];
                for (other, level) in levels.iter().enumerate() {
                    let Some(level) = level.filter(|_| !rates.rows.contains_key(&other)) else { continue };
                    let link = links.between((one, from.level), (other, level));
                    let Some(interval) = link.and_then(|link| limited(from.interval.product(link))) else { continue };
                    rates
                        .rows
                        .insert(other, Rows { child: tree.roots[other], level, interval, loads: loads[other], ..from });
                    open.push_back(other);
                }
            }
        }
        // Arrays that are only loaded have no rate to follow.
        let follows = |rows: &&Rows| !rows.loads;
        let of_nests = rates.rows.values().filter(follows).map(|rows| rows.stream).collect::<Vec<_>>();
        let all = rates.rows.values().map(|rows| rows.stream).collect::<Vec<_>>();
        let several = |stream: usize| all.iter().filter(|&&other| other == stream).count() > 1;
        rates.rows.retain(|_, rows| several(rows.stream) && of_nests.contains(&rows.stream));
        (!rates.rows.is_empty()).then_some(rates)
    }

    /// The rows with their intervals, the shortest that the demands of all children of each stream allow.
    ///
    /// `ports` is how many there are of each resource. Nothing if they take too long.
    pub fn paced(
        mut self,
        demand: impl Fn(Child) -> Demand,
        ports: &[usize],
        options: &CoarseOptions,
        pace: Pace,
    ) -> Option<Rates> {
        let streams: Vec<usize> =
            self.rows.iter().filter(|(first, rows)| **first == rows.stream).map(|(_, rows)| rows.stream).collect();
        for stream in streams {
            let members = || self.rows.values().filter(|rows| rows.stream == stream);
            // Intervals of the first child, in units in which those of all children are whole numbers of rows of memory.
            let unit = members().fold(1, |unit, rows| lcm(unit, rows.interval.denominator));
            let unit = unit.checked_mul(options.row_multiple.max(1) as i64).filter(|unit| *unit <= LIMIT)?;
            let mut busy = vec![0_i128; ports.len()];
            let mut least = 1_i128;
            // Cycles of the first child in 1/`scale`.
            let scale = members().fold(1, |scale, rows| lcm(scale, i128::from(rows.interval.numerator)));
            for rows in members() {
                let demand = demand(rows.child);
                let share = scale / i128::from(rows.interval.numerator) * i128::from(rows.interval.denominator);
                least = least.max(i128::from(demand.interval) * share);
                for taken in demand.uses {
                    let cycles = i128::from(taken.to - taken.from) * share;
                    busy[taken.resource] += cycles;
                    least = least.max(cycles);
                }
            }
            for (busy, &ports) in busy.into_iter().zip(ports) {
                least = least.max((busy + ports as i128 - 1) / ports as i128);
            }
            least += least * i128::from(pace.slack) / 8;
            let units = i64::try_from((least + scale * i128::from(unit) - 1) / (scale * i128::from(unit))).ok()?;
            let cycles = units.checked_mul(unit).filter(|cycles| *cycles <= LIMIT)?;
            for rows in self.rows.values_mut().filter(|rows| rows.stream == stream) {
                let cycles = (cycles / rows.interval.denominator).checked_mul(rows.interval.numerator)?;
                let at_once = (pace.loads_at_once && rows.loads).then(|| demand(rows.child).interval);
                rows.cycles = Some(at_once.map_or(cycles, |at_once| at_once.min(cycles)));
            }
        }
        Some(self)
    }

    /// The own loop of a group that goes from row to row, and the cycles between rows, once they are known.
    pub fn of_group(&self, group: usize) -> Option<(usize, Option<i64>)> {
        let rows = self.rows.values().find(|rows| rows.child == Child::Group(group))?;
        Some((rows.level, rows.cycles))
    }

    /// The cycles between iterations of a shared loop that goes from row to row, once they are known.
    pub fn of_loop(&self, level: usize) -> Option<Option<i64>> {
        self.rows.values().find(|rows| rows.child == Child::Loop(level)).map(|rows| rows.cycles)
    }
}

/// Which children of the root go along the same rows.
struct Links<'a> {
    pipeline: &'a Pipeline,
    tree: &'a Tree,
    options: &'a CoarseOptions,
}

impl Links<'_> {
    /// The loop of each child that goes from row to row: the outermost one, or, where a group updates elements, one that writes
    /// follow. For shared loops, the number does not matter.
    fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.tree.roots.len()];
        let mut updating = Vec::new();
        for (number, &child) in self.tree.roots.iter().enumerate() {
            match child {
                Child::Loop(level) => levels[number] = (self.tree.loops[level].extent > 1).then_some(0),
                Child::Group(group) if reductions(self.pipeline, &self.tree.groups[group]).is_some() => {
                    updating.push((number, group));
                }
                Child::Group(group) => levels[number] = self.candidates(group).next(),
            }
        }
        for (number, group) in updating {
            // The one along which its neighbours have rows.
            let linked = |level: &usize| {
                let mut others = (0..levels.len()).filter_map(|other| Some((other, levels[other]?)));
                others.any(|other| self.between((number, *level), other).is_some())
            };
            levels[number] = self.candidates(group).find(linked).or_else(|| self.candidates(group).next());
        }
        levels
    }

    /// Which children only load: they read nothing, or only what is loaded so, and nothing else writes what they write.
    fn loads(&self) -> Vec<bool> {
        let writes = self.pipeline.stages.iter().map(|stage| (stage.write.array, stage.group));
        let writers = writes.unique().counts_by(|(array, _)| array);
        let mut loaded = BTreeSet::new();
        let mut loads = vec![false; self.tree.roots.len()];
        for (number, &child) in self.tree.roots.iter().enumerate() {
            let Child::Group(group) = child else { continue };
            let members = self.tree.groups[group].members(self.pipeline);
            let alone = |stage: &Stage| writers[&stage.write.array] == 1;
            let from_inputs = |stage: &Stage| stage.reads.iter().all(|read| loaded.contains(&read.array));
            loads[number] = members.iter().all(|stage| alone(stage) && from_inputs(stage));
            // Arrays made of it are no inputs any more.
            if members.iter().all(|stage| alone(stage) && stage.reads.is_empty()) {
                loaded.extend(members.iter().map(|stage| stage.write.array));
            }
        }
        loads
    }

    /// The loops of a group that could go from row to row, outermost first.
    fn candidates(&self, group: usize) -> impl Iterator<Item = usize> {
        let content = &self.tree.groups[group];
        let (gap, reductions) = (self.options.update_gap(self.pipeline, content), reductions(self.pipeline, content));
        let uses_ram = |stage: &Stage| {
            stage.reads.iter().chain([&stage.write]).any(|access| self.options.random_access.contains(&access.array))
        };
        let uses_ram = content.members(self.pipeline).iter().any(uses_ram);
        let levels = (0..content.own()).rev().filter(move |&level| {
            let revisits = reductions.as_ref().is_some_and(|reductions| reductions[level]);
            content.extents[level] > 1
                && !revisits
                && !uses_ram
                && in_rows(self.pipeline, content, gap, self.options, level).is_some()
        });
        levels.into_iter()
    }

    /// How many times as long as the interval between rows of a child that of another is, if arrays go from row to row of the one and
    /// the other.
    fn between(&self, one: (usize, usize), other: (usize, usize)) -> Option<Fraction> {
        let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
        let mut found = None;
        let producers: Vec<usize> = self.groups(first.0).collect();
        for (touch, level) in self.touches(second) {
            for write in producers.iter().flat_map(|&group| writes_meeting(self.pipeline, self.tree, group, touch)) {
                let written = self.row_level(first, write.stage);
                let step = ratio((write.access, written), (touch.access, level))?;
                if *found.get_or_insert(step) != step {
                    return None;
                }
            }
        }
        match first == one {
            true => found,
            false => found.map(|found| Fraction::ONE.quotient(found)),
        }
    }

    /// All accesses of a child, each with the loop that goes from row to row.
    fn touches(&self, child: (usize, usize)) -> impl Iterator<Item = (Touch<'_>, usize)> {
        self.groups(child.0).flat_map(move |group| {
            self.tree.groups[group].stages.clone().flat_map(move |number| {
                let stage = &self.pipeline.stages[number];
                accesses(group, number, stage).map(move |touch| (touch, self.row_level(child, stage)))
            })
        })
    }

    fn groups(&self, child: usize) -> impl Iterator<Item = usize> {
        (0..self.tree.groups.len()).filter(move |&group| match self.tree.roots[child] {
            Child::Group(only) => group == only,
            Child::Loop(around) => self.tree.below(group, Some(around)),
        })
    }

    /// The loop of a stage of a child that goes from row to row.
    fn row_level(&self, (child, level): (usize, usize), stage: &Stage) -> usize {
        match self.tree.roots[child] {
            Child::Group(_) => level,
            Child::Loop(_) => stage.loops.len() - 1,
        }
    }
}

/// The rows that a consumer moves along an array in a step of a loop, in rows that its producer moves in a step of one.
fn ratio((write, written): (&Access, usize), (access, level): (&Access, usize)) -> Option<Fraction> {
    let dimensions = write.subscripts.iter().zip(&access.subscripts);
    let mut moving =
        dimensions.filter(|(target, wanted)| target.coefficients[written] != 0 || wanted.coefficients[level] != 0);
    let (target, wanted) = moving.next()?;
    let plain = target.is_affine() && wanted.is_affine();
    let (target, wanted) = (target.coefficients[written], wanted.coefficients[level]);
    let alike = target != 0 && wanted != 0 && (target > 0) == (wanted > 0);
    let small = |step: i64| step.unsigned_abs() < 1 << 30;
    if moving.next().is_some() || !plain || !alike || !small(target) || !small(wanted) {
        return None;
    }
    limited(Fraction::new(wanted.abs(), target.abs()))
}
