//! Array expansion: updates of other elements than those of the variables of a Func become parts of definitions, which choose between values by
//! their indices. A raster scan computes them, and no memory keeps the elements until they are updated.
//!
//! The indices of such an update follow all its loops, so that it writes no element twice, and it reads elements of the Func at constant
//! distances: those that it has updated before, as recursive filters do, or those that it has not updated yet. Where it reads the latter,
//! or where the definition before is a recursive filter, the elements before the update are an array of their own.
//!
//! Feautrier, 1988, expands all arrays so that each element is written once; here that is done where it saves a memory.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use itertools::Itertools;
use petgraph::algo::toposort;
use petgraph::graphmap::DiGraphMap;
use pushmem_nest::{Binary, Type};

use crate::plan::{Loop, Plan, Point, Stage, Term, Unroll};
use crate::substitution::Substitution;
use crate::target::{At, Target, distance, iterations};
use crate::value::{Variable, all_loads};

/// The most operations of a value that is a part of a choice, if the update does not have half as many by itself. Each update that reads the
/// element before it doubles them.
const LARGEST: usize = 256;

/// The fewest elements along each dimension for which a Func is scanned from the last to the first.
const FEWEST_TURNED: i64 = 5;

/// Makes as few definitions as possible of each Func and its updates.
pub(crate) fn joined(plan: &mut Plan) {
    let mut done: Vec<Stage> = Vec::new();
    let mut rest = std::mem::take(&mut plan.stages).into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut version = vec![first];
        while let Some(update) = rest.next_if(|next| next.arrays == version[0].arrays) {
            done.extend(with_update(plan, &mut version, update));
        }
        done.extend(version);
    }
    plan.stages = done;
}

/// Adds an update to the stages that store the elements so far. It becomes a part of the definition before it, or the elements before it become an
/// array of their own, and it a definition, or a copy and an update of that: gives the stages of these elements. Or it stays an update, after the others.
fn with_update(plan: &mut Plan, version: &mut Vec<Stage>, update: Stage) -> Vec<Stage> {
    let first = &version[0];
    let reads = Reads::of(plan, &update).filter(|reads| reads.is_worth_turning(first, &update));
    let is_definition = !first.updates && first.values.iter().all(Option::is_some) && is_pure(first);
    // The elements that these stages read are those before the update.
    let keeps_earlier = version.iter().any(is_recursive) || reads.as_ref().is_some_and(|reads| reads.before);
    let scanned = reads.as_ref().filter(|reads| version.len() == 1 && reads.scans(first));
    if !is_definition || !keeps_earlier && scanned.is_none() {
        version.push(update);
        return Vec::new();
    }
    if let Some(reads) = scanned.filter(|_| !keeps_earlier) {
        let values: Vec<Term> = first.values.iter().flatten().cloned().collect();
        // Else, the value would be too large.
        if let Some(whole) = one_definition(plan, first, &update, reads, &values, None) {
            *version = vec![whole];
            return Vec::new();
        }
    }
    expanded(plan, version, &update, reads.as_ref())
}

/// Lets the elements after an update be another version of those before it; gives the stages of these.
fn expanded(plan: &mut Plan, version: &mut Vec<Stage>, update: &Stage, reads: Option<&Reads>) -> Vec<Stage> {
    let before: BTreeMap<usize, usize> =
        update.arrays.iter().map(|array| (*array, array_before(plan, *array))).collect();
    let template = &version[0];
    let load = |array: &usize| plan.load(before[array], &template.targets, update.span);
    let values = update.arrays.iter().map(load).collect_vec();
    let scanned = reads.filter(|reads| reads.scans(template));
    let definition = scanned.and_then(|reads| one_definition(plan, template, update, reads, &values, Some(&before)));
    let next = definition.map_or_else(
        || {
            let (arrays, values) = (update.arrays.clone(), values.iter().cloned().map(Some).collect());
            let loops = template.loops.iter().map(|each| Loop { is_reversed: false, ..*each }).collect();
            let copy = Stage { arrays, values, loops, span: update.span, ..template.clone() };
            vec![copy, reading_before(plan, update, reads, &before)]
        },
        |definition| vec![definition],
    );
    let mut earlier = std::mem::replace(version, next);
    for stage in &mut earlier {
        stage.arrays = stage.arrays.iter().map(|array| before[array]).collect();
        replace_loads(plan, stage, &before, &|_| true);
    }
    earlier
}

/// Whether a stage reads other elements of its Func than those that it writes.
pub(crate) fn is_recursive(stage: &Stage) -> bool {
    let is_target =
        |point: &Point| point.indices.iter().zip(&stage.targets).all(|(index, target)| Rc::ptr_eq(index, target));
    stage.loads_of(&stage.arrays).any(|point| !is_target(point))
}

/// Whether the indices of a stage are the variables of its loops.
fn is_pure(stage: &Stage) -> bool {
    let variables = stage.targets.iter().map(|target| target.as_variable()).collect::<Option<Vec<_>>>();
    variables.is_some_and(|variables| variables.iter().all_unique() && variables.len() == stage.loops.len())
}

/// The array of the elements before an update.
fn array_before(plan: &mut Plan, array: usize) -> usize {
    let after = &plan.arrays[array];
    let before = after.like(format!("{}_before", after.name));
    plan.arrays.push(before);
    plan.arrays.len() - 1
}

/// An update that reads the elements before it where it has not updated them yet.
fn reading_before(plan: &Plan, update: &Stage, reads: Option<&Reads>, before: &BTreeMap<usize, usize>) -> Stage {
    let mut stage = update.clone();
    if let Some(reads) = reads {
        replace_loads(plan, &mut stage, before, &|point| reads.time(point) == Some(Time::Before));
    }
    stage
}

/// Lets a stage load from other arrays, where it loads these points.
fn replace_loads(
    plan: &Plan,
    stage: &mut Stage,
    arrays: &BTreeMap<usize, usize>,
    is_replaced: &dyn Fn(&Point) -> bool,
) {
    let load = |written: &Point, point: Point, loaded| {
        let array = arrays.get(&point.array).filter(|_| is_replaced(written)).copied().unwrap_or(point.array);
        Some(plan.terms.load(Point { array, ..point }, loaded))
    };
    Substitution::new(&plan.terms, HashMap::new(), load).within(stage);
}

/// When an element of a Func that an iteration of an update reads is updated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// By this iteration.
    Now,
    /// By an earlier one.
    Earlier,
    /// By a later one, or by none: it is as it was before the update.
    Before,
}

/// How an update writes and reads elements of its Func.
pub(crate) struct Reads {
    /// The indices of the element that it writes.
    indices: Vec<Term>,
    targets: Vec<Target>,
    /// The loops, outermost first, each with its iterations, if these are known.
    loops: Vec<(Variable, Option<i64>)>,
    /// Whether it reads elements as they were before it.
    before: bool,
    /// Of each value, the elements that it reads and that were updated in earlier iterations: their value, and how far they are.
    earlier: Vec<Vec<(usize, Vec<i64>)>>,
}

impl Reads {
    /// Those of an update whose indices follow all its loops, and which reads at constant distances.
    pub fn of(plan: &Plan, update: &Stage) -> Option<Self> {
        let targets: Vec<Target> = update.targets.iter().map(Target::of).collect::<Option<_>>()?;
        let followed = targets.iter().filter_map(|target| target.variable).map(|(variable, _)| variable).collect_vec();
        let iterations = |variable: Variable| plan.variables[variable].1.map(|(low, high)| high - low + 1);
        let loops = update.loops.iter().map(|each| (each.variable, iterations(each.variable))).collect_vec();
        if !followed.iter().all_unique() || !loops.iter().all(|(each, _)| followed.contains(each)) {
            return None;
        }
        let indices = update.targets.clone();
        let mut reads = Self { indices, targets, loops, before: false, earlier: Vec::new() };
        for value in &update.values {
            let mut earlier = Vec::new();
            for point in all_loads(value).into_iter().filter(|point| update.arrays.contains(&point.array)) {
                match reads.time(point)? {
                    Time::Now => {}
                    Time::Before => reads.before = true,
                    Time::Earlier => {
                        let place = update.arrays.iter().position(|array| *array == point.array)?;
                        earlier.push((place, reads.distance(point)?));
                    }
                }
            }
            reads.earlier.push(earlier);
        }
        Some(reads)
    }

    /// How far an element that is read is from the one that is written.
    fn distance(&self, point: &Point) -> Option<Vec<i64>> {
        point.indices.iter().zip(&self.indices).map(|(read, written)| distance(read, written)).collect()
    }

    /// When an element is updated that an iteration reads.
    fn time(&self, point: &Point) -> Option<Time> {
        let distances = self.distance(point)?;
        let is_missed = |(target, distance): (&Target, &i64)| match target.variable {
            Some((_, factor)) => distance % factor != 0,
            None => *distance != 0,
        };
        if self.targets.iter().zip(&distances).any(is_missed) {
            return Some(Time::Before);
        }
        let mut time = Time::Now;
        for (variable, count) in &self.loops {
            let distance = iterations(&point.indices, &self.indices, *variable).unwrap_or(0);
            if count.is_some_and(|count| distance.abs() >= count) {
                return Some(Time::Before);
            }
            time = match (time, distance) {
                (Time::Now, ..=-1) => Time::Earlier,
                (Time::Now, 1..) => Time::Before,
                (time, _) => time,
            };
        }
        Some(time)
    }

    /// Whether an update reads elements that it has written in earlier iterations.
    pub fn is_recursive(&self) -> bool {
        self.earlier.iter().any(|earlier| !earlier.is_empty())
    }

    /// Whether a scan from the last element of a dimension to the first, where the update needs one, is for so many elements that the
    /// Func may wait for all of them: not for a few, or a line, nor where copies are along the dimension. An update of a kept array does
    /// without, unless it is one of a tuple, or reads elements as they were before it.
    pub fn is_worth_turning(&self, definition: &Stage, update: &Stage) -> bool {
        let turned = self.turned(definition).unwrap_or_default();
        let has_copies = |dimension: usize| {
            let mut loops = definition.loops.iter().chain(&update.loops);
            loops.any(|each| each.dimension == Some(dimension) && each.unroll != Unroll::By(1))
        };
        let count =
            |of: Variable| self.loops.iter().find(|(variable, _)| *variable == of).and_then(|(_, count)| *count);
        let is_few = |target: &Target| {
            target.variable.is_none_or(|(variable, _)| count(variable).is_some_and(|count| count < FEWEST_TURNED))
        };
        let needs_a_scan = self.before || update.arrays.len() > 1;
        turned.is_empty() || needs_a_scan || !self.targets.iter().any(is_few) && !turned.into_iter().any(has_copies)
    }

    /// Whether the update is a part of a definition: a raster scan, perhaps from the last element of a dimension to the first, computes
    /// the elements that each value reads of its own before those that it writes. Each value of a tuple has a nest of its own, after
    /// those of the values that it reads.
    fn scans(&self, definition: &Stage) -> bool {
        self.turned(definition).is_some() && !self.is_coupled()
    }

    /// Whether no nests of its values can be after each other, since they read elements of each other.
    fn is_coupled(&self) -> bool {
        let others = self.earlier.iter().enumerate();
        let others = others.flat_map(|(value, earlier)| earlier.iter().map(move |(of, _)| (*of, value)));
        let order = DiGraphMap::<usize, ()>::from_edges(others.filter(|(of, value)| of != value));
        toposort(&order, None).is_err()
    }

    /// Whether that is all that keeps a scan from computing the update.
    pub fn is_coupled_scan(&self, definition: &Stage) -> bool {
        let all = self.earlier.iter().flatten().map(|(_, distance)| &distance[..]);
        self.is_coupled() && turned(definition, all).is_some()
    }

    /// The dimensions along which a scan goes from the last element to the first, so that it has computed the elements of its own that each
    /// value reads; nothing, if no scan has.
    fn turned(&self, definition: &Stage) -> Option<Vec<usize>> {
        let values = self.earlier.iter().enumerate();
        let own = values.flat_map(|(value, earlier)| earlier.iter().filter(move |(of, _)| *of == value));
        turned(definition, own.map(|(_, distance)| &distance[..]))
    }
}

/// The dimensions along which a scan in the loops of a definition goes from the last element to the first, so that it has computed elements
/// at these distances before; nothing, if none has. The outermost loop along which an element is elsewhere decides.
fn turned<'a>(definition: &Stage, distances: impl Iterator<Item = &'a [i64]>) -> Option<Vec<usize>> {
    let (mut open, mut turned) = (distances.collect_vec(), Vec::new());
    for dimension in definition.loops.iter().filter_map(|each| each.dimension) {
        let is_after = open.iter().any(|distance| distance[dimension] > 0);
        if is_after && open.iter().any(|distance| distance[dimension] < 0) {
            return None;
        }
        turned.extend(is_after.then_some(dimension));
        open.retain(|distance| distance[dimension] == 0);
    }
    open.is_empty().then_some(turned)
}

/// The elements that an update computes, of those of a definition.
struct Updated {
    /// Whether an element is one.
    condition: Term,
    /// The value of each variable of the update in its iteration.
    substituted: HashMap<Variable, Term>,
    /// Its multiples in the indices of the update, each with the factor.
    multiples: HashMap<Variable, (i64, Term)>,
}

impl Updated {
    /// Those of an update with these targets, at the indices of a definition.
    fn of(plan: &Plan, targets: &[Target], indices: &[Term]) -> Self {
        let Plan { terms, variables, .. } = plan;
        let mut condition = terms.number(1, Type::Bool);
        let (mut substituted, mut multiples) = (HashMap::new(), HashMap::new());
        for (target, index) in targets.iter().zip(indices) {
            let within = match target.at(index, terms) {
                None => terms.binary(Binary::Equal, index.clone(), terms.number(target.constant, Type::I32)),
                Some(At { variable, multiple, value, is_one }) => {
                    substituted.insert(variable, value);
                    multiples.insert(variable, multiple);
                    match variables[variable].1 {
                        None => is_one,
                        Some((low, high)) => {
                            let factor = target.variable.map_or(1, |(_, factor)| factor);
                            let ends = [low, high].map(|end| target.constant + factor * end);
                            let [low, high] =
                                [ends[0].min(ends[1]), ends[0].max(ends[1])].map(|end| terms.number(end, Type::I32));
                            let from = terms.binary(Binary::LessEqual, low, index.clone());
                            let to = terms.binary(Binary::LessEqual, index.clone(), high);
                            terms.binary(Binary::And, terms.binary(Binary::And, from, to), is_one)
                        }
                    }
                }
            };
            condition = terms.binary(Binary::And, condition, within);
        }
        Self { condition, substituted, multiples }
    }
}

/// One definition: the values of an update where it computes some, and these `values` elsewhere, which are read from the arrays `before` it
/// if these are others.
fn one_definition(
    plan: &Plan,
    template: &Stage,
    update: &Stage,
    reads: &Reads,
    values: &[Term],
    before: Option<&BTreeMap<usize, usize>>,
) -> Option<Stage> {
    let Updated { condition, substituted, multiples } = Updated::of(plan, &reads.targets, &template.targets);
    let Plan { terms, variables, .. } = plan;
    let load = |written: &Point, point: Point, loaded| {
        let Some(place) = update.arrays.iter().position(|array| *array == point.array) else {
            return Some(terms.load(point, loaded));
        };
        let array = match reads.time(written)? {
            // A load of another type than that of the values is cast to it.
            Time::Now => return Some(values[place].clone()),
            Time::Earlier => point.array,
            Time::Before => before?[&point.array],
        };
        let beside = |(index, distance): (&Term, i64)| {
            terms.binary(Binary::Add, index.clone(), terms.number(distance, Type::I32))
        };
        let indices = template.targets.iter().zip(reads.distance(written)?).map(beside).collect();
        Some(terms.load(Point { array, indices, ..point }, loaded))
    };
    let mut new = Substitution::new(terms, substituted, load).with_multiples(multiples);
    let of_update = update.values.iter().map(|value| match value {
        Some(value) => new.of(value).map(Some),
        None => Some(None),
    });
    let of_update = of_update.collect::<Option<Vec<_>>>()?;
    // The operations of the update by itself are there in either form.
    let own = most_operations(update.values.iter().flatten());
    if most_operations(of_update.iter().flatten().chain(values)) > LARGEST.max(own.saturating_mul(2)) {
        return None;
    }
    let choose = |(value, before): (Option<Term>, &Term)| match value {
        Some(value) => Some(terms.select(condition.clone(), value, before.clone())),
        None => Some(before.clone()),
    };
    let values = of_update.into_iter().zip(values).map(choose).collect();
    // A definition without copies of its own has those of the update; how many a wholly unrolled reduction has is known.
    let unroll = |each: &Loop| {
        let mut along = template.targets.iter().zip(&reads.targets);
        let followed = along.find(|(target, _)| target.as_variable() == Some(each.variable));
        let (followed, _) = followed.and_then(|(_, target)| target.variable)?;
        let of_update = update.loops.iter().find(|other| other.variable == followed)?.unroll;
        Some(match (of_update, variables[followed].1) {
            (Unroll::Whole, Some((low, high))) => Unroll::AtMost(high - low + 1),
            (Unroll::By(factor), _) if factor > 1 => Unroll::AtMost(factor),
            (unroll, _) => unroll,
        })
    };
    let unroll = |each: &Loop| match each.unroll {
        Unroll::By(1) => unroll(each).unwrap_or(each.unroll),
        own => own,
    };
    let turned = reads.turned(template)?;
    let is_reversed = |each: &Loop| each.dimension.is_some_and(|dimension| turned.contains(&dimension));
    let of_loop = |each: &Loop| Loop { unroll: unroll(each), is_reversed: is_reversed(each), ..*each };
    let loops = template.loops.iter().map(of_loop).collect();
    Some(Stage { arrays: update.arrays.clone(), values, loops, span: update.span, ..template.clone() })
}

/// The operations of the largest of some values.
fn most_operations<'a>(values: impl Iterator<Item = &'a Term>) -> usize {
    let mut known = HashMap::new();
    values.map(|value| operations(value, &mut known)).max().unwrap_or(0)
}

/// The operations of a value, each as often as it is used: so often does the text of the nest have it.
fn operations(value: &Term, known: &mut HashMap<usize, usize>) -> usize {
    let place = Rc::as_ptr(value) as usize;
    if let Some(known) = known.get(&place) {
        return *known;
    }
    let sources = value.sources().into_iter();
    let all = sources.fold(1_usize, |all, source| all.saturating_add(operations(source, known)));
    known.insert(place, all);
    all
}
