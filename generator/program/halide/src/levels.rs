//! Funcs that are computed level by level, as the time steps of a simulation or the columns of a filter that double from step to step: each
//! level becomes arrays of its own.
//!
//! A dimension has levels if all reads have a constant index along it, once the loops of updates that go from level to level are unrolled.
//! The arrays of a level hold nothing of others, so that a raster scan streams from level to level.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use itertools::Itertools;
use pushmem_nest::Type;

use crate::intern::Interner;
use crate::plan::{Array, Loop, Plan, Point, Stage, Storage, Term};
use crate::substitution::Substitution;
use crate::target::iterations;
use crate::value::Variable;

/// The most levels of a dimension.
const MOST_LEVELS: usize = 256;

/// Divides Funcs along all dimensions that have levels.
pub(crate) fn divided(plan: &mut Plan) {
    let mut next = 0;
    while next < plan.stages.len() {
        let arrays = &plan.stages[next].arrays;
        let group = next..next + plan.stages[next..].iter().take_while(|stage| stage.arrays == *arrays).count();
        let dimensions = plan.arrays[arrays[0]].dimensions;
        // The stages of a level may have levels along another dimension.
        match (0..dimensions).find_map(|dimension| Division::of(plan, group.clone(), dimension)) {
            Some(division) => division.apply(plan),
            None => next = group.end,
        }
    }
}

/// The level that a stage writes.
enum Along {
    /// All levels, by a loop along the dimension.
    All(Variable),
    /// One for each value of a variable of a reduction.
    Each(Variable, BTreeMap<i64, i64>),
    One(i64),
}

impl Along {
    fn writes(&self, level: i64) -> bool {
        match self {
            Along::All(_) => true,
            Along::Each(_, levels) => levels.contains_key(&level),
            Along::One(one) => *one == level,
        }
    }

    /// Whether iterations that write a level read an element of another one as it was before the stage, in their order; nothing, if they
    /// would read another element in the order of the levels, and no version of the level has the one that they read.
    fn reads_before(&self, stage: &Stage, level: i64, point: &Point, read: i64) -> Option<bool> {
        let (variable, levels) = match self {
            Along::All(_) => return None,
            Along::One(_) => return Some(false),
            Along::Each(variable, levels) => (variable, levels),
        };
        // The loops around the one along the levels go to earlier or later elements.
        let outer = stage.loops.iter().take_while(|each| each.variable != *variable);
        let distances = outer.map(|each| iterations(&point.indices, &stage.targets, each.variable));
        let distances: Vec<i64> = distances.collect::<Option<_>>()?;
        let first = distances.into_iter().find(|distance| *distance != 0).unwrap_or(0);
        match (first, levels.get(&read).map(|other| other.cmp(&levels[&level]))) {
            (_, None) => Some(false),
            // Both orders have the iteration that writes the element before this one; or both after it.
            (..=0, Some(Ordering::Less)) | (0.., Some(Ordering::Greater)) => Some(false),
            // Only the order of the levels has it before.
            (1.., Some(Ordering::Less)) => Some(true),
            _ => None,
        }
    }

    /// The variable that goes along the levels, with its value for one.
    fn at(&self, level: i64) -> Option<(Variable, i64)> {
        match self {
            Along::All(variable) => Some((*variable, level)),
            Along::Each(variable, levels) => Some((*variable, *levels.get(&level)?)),
            Along::One(_) => None,
        }
    }
}

/// The iterations of a stage that write a level.
struct Part {
    stage: usize,
    level: i64,
    /// The value of the variable that goes along the levels.
    at: Option<(Variable, i64)>,
    reads: LevelReads,
}

/// The other levels that iterations read, each with whether it is read as it was before the stage of the iterations.
type LevelReads = BTreeSet<(i64, bool)>;

/// The versions of these levels.
type VersionsRead = BTreeMap<(i64, bool), usize>;

/// The elements of a level from one change of them to the next, between which others read them.
struct Version {
    level: i64,
    /// The elements before, if it begins with these.
    before: Option<usize>,
    /// Those that store it, in the order of execution, each with the versions that it reads.
    parts: Vec<(Part, VersionsRead)>,
    is_read: bool,
}

/// A Func divided along a dimension.
struct Division {
    group: Range<usize>,
    dimension: usize,
    /// Of each stage of the group.
    along: Vec<Along>,
    versions: Vec<Version>,
    /// The last version of each level.
    last: BTreeMap<i64, usize>,
}

impl Division {
    /// The division of the Func that these stages define, if its dimension has levels.
    fn of(plan: &Plan, group: Range<usize>, dimension: usize) -> Option<Self> {
        let own = plan.stages[group.start].arrays.clone();
        let is_divisible =
            |array: &usize| plan.arrays[*array].storage == Storage::Buffer && plan.arrays[*array].dimensions > 1;
        if !own.iter().all(is_divisible) {
            return None;
        }
        let along: Vec<Along> = group.clone().map(|stage| along(plan, stage, dimension)).collect::<Option<_>>()?;
        if along.iter().all(|along| matches!(along, Along::All(_))) {
            return None;
        }
        let mut wanted = BTreeSet::new();
        for stage in (0..plan.stages.len()).filter(|stage| !group.contains(stage)) {
            for point in plan.stages[stage].loads_of(&own) {
                wanted.insert(point.indices[dimension].as_number()?);
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        let (mut open, mut seen) = (wanted.iter().copied().collect_vec(), wanted);
        while let Some(level) = open.pop() {
            if seen.len() > MOST_LEVELS {
                return None;
            }
            for (stage, along) in group.clone().zip(&along) {
                if !along.writes(level) {
                    continue;
                }
                let reads = levels_read(plan, stage, dimension, along, level)?;
                open.extend(reads.iter().map(|(read, _)| *read).filter(|read| seen.insert(*read)));
                parts.push(Part { stage, level, at: along.at(level), reads });
            }
        }
        parts.sort_by_key(|part| (part.stage, part.at.map(|(_, value)| value)));
        let mut division = Self { group, dimension, along, versions: Vec::new(), last: BTreeMap::new() };
        let read_before = |part: &Part| {
            let mut of_stage = parts.iter().filter(|other| other.stage == part.stage);
            of_stage.any(|other| other.reads.contains(&(part.level, true)))
        };
        let are_read_before = parts.iter().map(read_before).collect_vec();
        for (part, is_read_before) in parts.into_iter().zip(are_read_before) {
            division.add(part, is_read_before)?;
        }
        // Each level that is read is written.
        if !seen.iter().all(|level| division.last.contains_key(level)) {
            return None;
        }
        let begins_anew = division.versions.iter().any(|version| version.before.is_some());
        let first = &plan.stages[division.group.start];
        let is_whole = matches!(division.along[0], Along::All(_)) && first.values.iter().all(Option::is_some);
        (is_whole || !begins_anew).then_some(division)
    }

    /// Adds iterations, after those that are executed before them. A level that was read, or that is read by later iterations of the stage
    /// as it was before, has a new version then.
    fn add(&mut self, part: Part, is_read_before: bool) -> Option<()> {
        let is_of_stage = |version: &Version| version.parts.iter().any(|(other, _)| other.stage == part.stage);
        let of_level = |read: &(i64, bool)| {
            let last = *self.last.get(&read.0)?;
            let is_later = read.1 && is_of_stage(&self.versions[last]);
            Some((*read, if is_later { self.versions[last].before? } else { last }))
        };
        let reads: VersionsRead = part.reads.iter().map(of_level).collect::<Option<_>>()?;
        reads.values().for_each(|version| self.versions[*version].is_read = true);
        let before = self.last.get(&part.level).copied();
        if before.is_none_or(|version| is_read_before || self.versions[version].is_read) {
            self.last.insert(part.level, self.versions.len());
            self.versions.push(Version { level: part.level, before, parts: Vec::new(), is_read: false });
        }
        self.versions[self.last[&part.level]].parts.push((part, reads));
        Some(())
    }

    /// An order in which each version comes after those that it reads.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        while order.len() < self.versions.len() {
            let is_done = |version: &usize| order.contains(version);
            let is_free = |version: &Version| {
                version.parts.iter().flat_map(|(_, reads)| reads.values()).chain(&version.before).all(is_done)
            };
            let next = (0..self.versions.len()).find(|version| !is_done(version) && is_free(&self.versions[*version]));
            // A version is complete before others read it, so that there is one.
            order.push(next.expect("versions of levels do not read each other"));
        }
        order
    }

    /// Puts the stages and the arrays of the levels in the place of those of the Func.
    fn apply(self, plan: &mut Plan) {
        let order = self.order();
        let Self { group, dimension, along, versions, last } = self;
        let own = plan.stages[group.start].arrays.clone();
        let mut of_version: HashMap<(usize, usize), usize> = HashMap::new();
        for ((version, Version { level, .. }), array) in versions.iter().enumerate().cartesian_product(&own) {
            let whole = &plan.arrays[*array];
            let mut said = whole.said.clone();
            said.iter_mut().for_each(|said| _ = said.remove(dimension));
            let dimensions = whole.dimensions - 1;
            let divided = Array { dimensions, said, ..whole.like(format!("{}_{level}", whole.name)) };
            of_version.insert((*array, version), plan.arrays.len());
            plan.arrays.push(divided);
        }
        let load = |terms: &Interner, mut point: Point, loaded: Type, version: &dyn Fn(i64) -> Option<usize>| {
            if own.contains(&point.array) {
                let level = point.indices.remove(dimension).as_number();
                let version = level.and_then(version).expect("each level that is read has a version");
                point.array = of_version[&(point.array, version)];
            }
            Some(terms.load(point, loaded))
        };
        let mut made = Vec::new();
        for version in order {
            let arrays = own.iter().map(|array| of_version[&(*array, version)]).collect_vec();
            let Version { level, before, parts, .. } = &versions[version];
            let first = &plan.stages[group.start];
            if let Some(before) = before {
                let mut targets = first.targets.clone();
                targets.remove(dimension);
                let values = own.iter().map(|array| of_version[&(*array, *before)]);
                let is_other = |each: &Loop| each.dimension != Some(dimension);
                let loops = without(&first.loops, dimension, is_other);
                let (copy, span) = (first.clone(), first.span);
                let values = values.map(|array| Some(plan.load(array, &targets, span))).collect();
                made.push(Stage { arrays: arrays.clone(), targets, values, loops, ..copy });
            }
            for (part, reads) in parts {
                let along = &along[part.stage - group.start];
                let at =
                    part.at.iter().map(|(variable, value)| (*variable, plan.terms.number(*value, Type::I32))).collect();
                let stage = &plan.stages[part.stage];
                let Stage { func, targets, values, loops, updates, span, .. } = stage;
                let mut new = Substitution::new(&plan.terms, at, |written: &Point, point, loaded| {
                    let of = |read: i64| match read == *level {
                        true => Some(version),
                        false => reads.get(&(read, along.reads_before(stage, *level, written, read)?)).copied(),
                    };
                    load(&plan.terms, point, loaded, &of)
                });
                let mut anew = |term: &Term| new.of(term).expect("each load has another");
                let mut targets = targets.iter().map(&mut anew).collect_vec();
                targets.remove(dimension);
                let is_other = |each: &Loop| part.at.is_none_or(|(variable, _)| each.variable != variable);
                made.push(Stage {
                    func: *func,
                    arrays: arrays.clone(),
                    targets,
                    values: values.iter().map(|term| term.as_ref().map(&mut anew)).collect(),
                    loops: without(loops, dimension, is_other),
                    updates: *updates,
                    span: *span,
                });
            }
        }
        let count = made.len();
        plan.stages.splice(group.clone(), made);
        for stage in &mut plan.stages[group.start + count..] {
            let load = |_: &Point, point, loaded| load(&plan.terms, point, loaded, &|level| last.get(&level).copied());
            Substitution::new(&plan.terms, HashMap::new(), load).within(stage);
        }
    }
}

/// Those of some loops that are loops of levels, too, along the dimensions that these have.
fn without(loops: &[Loop], dimension: usize, is_other: impl Fn(&Loop) -> bool) -> Vec<Loop> {
    let moved =
        |each: &Loop| Loop { dimension: each.dimension.map(|of| of - usize::from(of > dimension)), ..each.clone() };
    loops.iter().filter(|each| is_other(each)).map(moved).collect()
}

/// The level that a stage writes, if that depends on one variable only.
fn along(plan: &Plan, stage: usize, dimension: usize) -> Option<Along> {
    let Stage { targets, loops, .. } = &plan.stages[stage];
    let target = &targets[dimension];
    if let Some(level) = target.as_number() {
        return Some(Along::One(level));
    }
    let variable = target.own_variables().into_iter().exactly_one().ok()?;
    let is_elsewhere =
        |(other, target): (usize, &Term)| other != dimension && target.own_variables().contains(&variable);
    if targets.iter().enumerate().any(is_elsewhere) {
        return None;
    }
    if loops.iter().any(|each| each.variable == variable && each.dimension == Some(dimension)) {
        return target.as_variable().is_some().then_some(Along::All(variable));
    }
    let (low, high) = plan.variables[variable].1?;
    if high - low >= MOST_LEVELS as i64 {
        return None;
    }
    let level = |value: i64| target.evaluate(&|other| (other == variable).then_some(value));
    let levels: BTreeMap<i64, i64> = (low..=high).map(|value| Some((level(value)?, value))).collect::<Option<_>>()?;
    // Each value of the variable has a level of its own.
    (levels.len() as i64 == high - low + 1).then_some(Along::Each(variable, levels))
}

/// The levels that a stage reads, but for the one that it writes; nothing, if they are not known, or if its iterations cannot be in the
/// order of the levels.
fn levels_read(plan: &Plan, stage: usize, dimension: usize, along: &Along, level: i64) -> Option<LevelReads> {
    let stage = &plan.stages[stage];
    let at = along.at(level);
    let values = at.iter().map(|(variable, value)| (*variable, plan.terms.number(*value, Type::I32))).collect();
    let mut reads = LevelReads::new();
    let mut new = Substitution::new(&plan.terms, values, |_: &Point, _, _| None);
    for point in stage.loads_of(&stage.arrays) {
        let read = new.of(&point.indices[dimension])?.as_number()?;
        if read != level {
            reads.insert((read, along.reads_before(stage, level, point, read)?));
        }
    }
    Some(reads)
}
