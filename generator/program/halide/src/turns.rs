//! Folded rows, as if all of them were kept.
//!
//! A sliding window keeps the last rows of a Func only: row `y` takes the place of row `y - 4`, and the address says `y % 4`.
//! Without the remainder, the index of a store and that of a load may be of different turns, as Halide makes either small:
//! what one loop writes as `y + 3`, the next reads as `y - 1`. How many turns lie between them follows from the order of
//! execution. So the accesses are executed, with nothing but their addresses: a place remembers which store wrote it last,
//! and the row. The load that finds it there is of the same row. Between a store and a load is so one shift, the same in
//! all iterations, and all shifts together give each access the index of its row.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_nest::Index;

use crate::canonical::tidy;
use crate::fault::{Fault, Result};
use crate::fit::index_of;
use crate::folding::without_remainder;
use crate::program::{Store, Stores};
use crate::rebuild::mapped;
use crate::shapes::{Located, Shape};
use crate::value::{Element, Flat, Place, Value, Variable};

/// The most accesses that are executed for a dimension of an array, in all repetitions. Later accesses are not seen, and
/// may be refused.
const MOST_ACCESSES: usize = 1 << 23;

/// The most accesses that are executed for all dimensions of all arrays.
pub(crate) const MOST_OF_ALL: usize = 1 << 25;

/// The accesses with the indices of their rows. Says also which dimensions of which arrays were folded. Executes at most `left`
/// accesses, and takes from it those that it executed.
pub(crate) fn unrolled<'a>(
    program: &Stores,
    shapes: &[Vec<Shape>],
    mut located: Vec<Located<'a>>,
    left: &mut usize,
) -> Result<(Vec<Located<'a>>, Vec<Vec<bool>>)> {
    let folds = folds(program, shapes, &located);
    let mut folded: Vec<Vec<bool>> = folds.iter().map(|folds| folds.iter().map(Option::is_some).collect()).collect();
    for (array, folds) in folds.iter().enumerate() {
        for (dimension, fold) in folds.iter().enumerate() {
            if let Some(fold) = *fold {
                let turns = Turns { shapes: &shapes[array], array, dimension, fold };
                let shifted = turns.shifted(program, &located, left)?;
                located = turns.replaced(located, shifted.indices)?;
            }
        }
        // A single row has no index: it gets one, if one part of a loop after another computes it.
        if folds.iter().all(Option::is_none) && is_in_parts(program, array) {
            let turns = Turns { shapes: &shapes[array], array, dimension: folds.len(), fold: 1 };
            if let Some(shifted) =
                turns.shifted(program, &located, left).ok().filter(|shifted| shifted.overwritten)
            {
                located = turns.replaced(located, shifted.indices)?;
                folded[array].push(true);
            }
        }
    }
    Ok((located, folded))
}

/// Whether one allocation of a local array is written in several places.
fn is_in_parts(program: &Stores, array: usize) -> bool {
    let mut stores = program.stores.iter().filter(|store| store.array == array && store.allocated < store.outer);
    let Some(first) = stores.next().filter(|_| !program.arrays[array].is_argument) else { return false };
    stores.any(|store| store.site == first.site && !store.is_beside(first))
}

/// Of each dimension of each array, how many elements are folded, if an address says that.
fn folds(program: &Stores, shapes: &[Vec<Shape>], located: &[Located]) -> Vec<Vec<Option<i64>>> {
    let mut folds: Vec<Vec<Option<i64>>> = shapes.iter().map(|sites| vec![None; sites[0].len()]).collect();
    for Located { store, value, addresses, .. } in located {
        let accesses = value.array_loads().into_iter().map(|(array, _)| array).chain([store.array]);
        for (array, address) in accesses.zip(addresses).filter(|(array, _)| !program.arrays[*array].is_argument) {
            for (dimension, known) in folds[array].iter_mut().enumerate().filter(|(_, known)| known.is_none()) {
                *known = shapes[array]
                    .iter()
                    .filter_map(|shape| {
                        let period = shape.get(..=dimension)?.iter().product();
                        (without_remainder(address, period) != **address).then_some(shape[dimension])
                    })
                    .max();
            }
        }
    }
    folds
}

/// A dimension of an array that is folded; the one behind all others, if there is no index for it.
struct Turns<'a> {
    /// Of each allocation of the array.
    shapes: &'a [Shape],
    array: usize,
    dimension: usize,
    fold: i64,
}

/// A store of the array, or a load from it.
struct Access {
    indices: Vec<Index>,
    /// The place in the allocation; none beyond the range of numbers.
    place: Option<Index>,
    /// The index of the row, without the remainder: some turns away from the true one.
    row: Index,
    /// The allocation.
    site: usize,
}

/// The accesses without turns.
struct Shifted {
    /// The index of the row of each.
    indices: Vec<Option<Index>>,
    /// Whether places are written again with rows that have nothing to do with those before.
    overwritten: bool,
}

/// The accesses of a store.
struct Step<'a> {
    store: &'a Store,
    /// The numbers of the accesses.
    loads: Vec<usize>,
    target: Option<usize>,
}

impl Turns<'_> {
    /// The accesses without turns. Each that it executes is taken from `left`.
    fn shifted(&self, program: &Stores, located: &[Located], left: &mut usize) -> Result<Shifted> {
        let mut accesses = Vec::new();
        let steps = self.steps(located, &mut accesses);
        let mut execution = Execution::new(self, program, accesses, MOST_ACCESSES.min(*left));
        let settled = self.settle(&steps, &mut execution);
        *left = left.saturating_sub(execution.executed);
        settled?;
        let shifts = self.placed(&steps, &mut execution);
        let Execution { accesses, mut shifts_of, overwritten, .. } = execution;
        let overwritten = overwritten.into_iter().any(|(one, other)| shifts_of.root(one).0 != shifts_of.root(other).0);
        let indices = accesses.into_iter().zip(shifts).map(|(access, by)| access.row.plus(&Index::constant(by), 1));
        Ok(Shifted { indices: indices.collect(), overwritten })
    }

    /// Executes the accesses until the indices of all follow the loops that they must.
    fn settle(&self, steps: &[Step], execution: &mut Execution) -> Result<()> {
        let all: Vec<&Step> = steps.iter().collect();
        execution.begin(steps);
        let mut moved = BTreeSet::new();
        while let Err(Conflict { store, moves }) = execution.run(&all, 0) {
            let Some(Move { access, variable, by }) = moves else { return Err(self.refuse(store)) };
            // Of all loads of a row by one store, each would be found out alone.
            let alike = execution.alike(steps, access);
            let turns = Index::variable(variable).times(by).ok_or_else(|| self.refuse(store))?;
            for each in alike {
                if !moved.insert((each, variable)) {
                    return Err(self.refuse(store));
                }
                let row = &mut execution.accesses[each].row;
                *row = row.plus(&turns, 1).ok_or_else(|| self.refuse(store))?;
            }
            // To see less than before would be no progress.
            if 2 * execution.executed - execution.began > execution.allowed {
                return Err(self.refuse(store));
            }
            execution.begin(steps);
        }
        Ok(())
    }

    /// The stores with these indices.
    fn replaced<'a>(&self, located: Vec<Located<'a>>, indices: Vec<Option<Index>>) -> Result<Vec<Located<'a>>> {
        let mut rows = indices.into_iter();
        let mut replace = |indices: &mut Vec<Index>, store: &Store| {
            let row = rows.next().flatten().ok_or_else(|| self.refuse(store))?;
            match indices.get_mut(self.dimension) {
                Some(index) => *index = row,
                None => indices.push(row),
            }
            Ok(())
        };
        let mut found = Vec::new();
        for Located { store, mut target, value, addresses } in located {
            let value = mapped(&value, &mut |_| None, &mut |array, indices, outside, span| {
                let mut indices = indices.to_vec();
                if array == self.array {
                    replace(&mut indices, store)?;
                }
                Ok(Element::Array { array, indices, outside, place: Place(span) })
            })?;
            if store.array == self.array {
                replace(&mut target, store)?;
            }
            found.push(Located { store, target, value, addresses });
        }
        Ok(found)
    }

    fn refuse(&self, store: &Store) -> Fault {
        Fault::new(store.span, format!("it is not known which of the last {} elements is read", self.fold))
            .with_help("compute the Func at another loop, or without `store_at`")
            .about_parts_of(self.array)
    }

    /// All accesses in the order of the text: the loads of each store, and then what it writes.
    fn steps<'a>(&self, located: &[Located<'a>], accesses: &mut Vec<Access>) -> Vec<Step<'a>> {
        let mut site = 0;
        let mut steps = Vec::new();
        for Located { store, target, value, addresses } in located {
            let mut add = |indices: &[Index], address: &Value<Flat>, site: usize| {
                let row = self.row(indices, address, &self.shapes[site], &store.ranges);
                let row = row.unwrap_or_else(|| indices.get(self.dimension).cloned().unwrap_or(Index::constant(0)));
                let place = place_in(&self.shapes[site], indices);
                accesses.push(Access { indices: indices.to_vec(), place, row, site });
                accesses.len() - 1
            };
            let is_target = store.array == self.array;
            if is_target {
                site = store.site;
            }
            let loads = value.array_loads().into_iter().zip(addresses).filter(|((array, _), _)| *array == self.array);
            let loads: Vec<usize> = loads.map(|((_, indices), address)| add(indices, address, site)).collect();
            let own = addresses.last().filter(|_| is_target);
            let target = own.map(|address| add(target, address, site));
            if target.is_some() || !loads.is_empty() {
                steps.push(Step { store, loads, target });
            }
        }
        steps
    }

    /// The index of the row without the remainder: it has as much more as the address without the remainder is beyond the
    /// address.
    fn row(&self, indices: &[Index], address: &Value<Flat>, shape: &Shape, ranges: &[(i64, i64)]) -> Option<Index> {
        indices.get(self.dimension)?;
        let stride: i64 = shape[..self.dimension].iter().product();
        let whole = without_remainder(address, stride * self.fold);
        let beyond = index_of(&whole, ranges)?.plus(&index_of(address, ranges)?, -1)?;
        let mut turns = Index::constant(beyond.affine.constant / stride);
        turns.affine.terms =
            beyond.affine.terms.iter().map(|(variable, factor)| (*variable, factor / stride)).collect();
        turns.pieces = beyond.pieces.iter().map(|(factor, piece)| (factor / stride, piece.clone())).collect();
        (turns.times(stride)? == beyond).then(|| indices[self.dimension].plus(&turns, 1))?
    }

    /// The shift of each access. Rows between which there is no relation follow each other.
    fn placed(&self, steps: &[Step], execution: &mut Execution) -> Vec<i64> {
        let count = execution.accesses.len();
        let referred: Vec<(usize, i64)> = (0..count).map(|access| execution.shifts_of.root(access)).collect();
        let stores: Vec<(&Store, usize)> = steps.iter().filter_map(|step| Some((step.store, step.target?))).collect();
        let mut roots: BTreeMap<usize, i64> = BTreeMap::new();
        let mut end: Option<i64> = None;
        for root in stores.iter().map(|(_, target)| referred[*target].0).unique() {
            let related = stores.iter().filter(|(_, target)| referred[*target].0 == root);
            let rows = related.map(|&(store, target)| {
                let (low, high) = tidy(&execution.accesses[target].row, &store.ranges).range(&store.ranges);
                (low + referred[target].1, high + referred[target].1)
            });
            let (low, high) = rows.fold((i64::MAX, i64::MIN), |all, row| (all.0.min(row.0), all.1.max(row.1)));
            let shift = end.map_or(0, |end| end + 1) - low;
            end = Some(end.unwrap_or(i64::MIN).max(high + shift));
            roots.insert(root, shift);
        }
        referred.into_iter().map(|(root, shift)| shift + roots.get(&root).unwrap_or(&0)).collect()
    }
}

/// How many rows must be added to the indices of accesses, as far as that is known: each access with another one, and what
/// it has more. Those that refer to themselves are where it begins.
struct Shifts(Vec<(usize, i64)>);

impl Shifts {
    /// The access that all related ones refer to, and what this one has more.
    fn root(&mut self, access: usize) -> (usize, i64) {
        let (next, shift) = self.0[access];
        if next == access {
            return (access, 0);
        }
        let (root, more) = self.root(next);
        self.0[access] = (root, shift + more);
        self.0[access]
    }

    /// The first has so much more than the second: whether that is so.
    fn relate(&mut self, first: usize, second: usize, more: i64) -> bool {
        let ((one, of_one), (other, of_other)) = (self.root(first), self.root(second));
        if one == other {
            return of_one == of_other + more;
        }
        self.0[one] = (other, of_other + more - of_one);
        true
    }
}

/// Why an execution stops: a store reads rows of another turn than before.
struct Conflict<'a> {
    store: &'a Store,
    moves: Option<Move>,
}

/// An access whose index lacks a loop, as the last row of each two has none.
struct Move {
    access: usize,
    /// The loop, and its factor.
    variable: Variable,
    by: i64,
}

/// The state of an execution.
struct Execution {
    fold: i64,
    accesses: Vec<Access>,
    shifts_of: Shifts,
    /// Accesses that write to the same place, one after the other.
    overwritten: BTreeSet<(usize, usize)>,
    /// Of each load and the store that it reads from, the variables when it first did, and what the load has more.
    first: BTreeMap<(usize, usize), (Vec<i64>, i64)>,
    /// Of each allocation, by place: the access that wrote last, and the row.
    memories: Vec<Vec<Option<(usize, i64)>>>,
    /// The values of all variables.
    point: Vec<i64>,
    /// The accesses that were executed, and how many of them before the beginning.
    executed: usize,
    began: usize,
    /// The most that may be executed.
    allowed: usize,
}

impl Execution {
    fn new(turns: &Turns, program: &Stores, accesses: Vec<Access>, allowed: usize) -> Self {
        Self {
            fold: turns.fold,
            shifts_of: Shifts(Vec::new()),
            accesses,
            overwritten: BTreeSet::new(),
            first: BTreeMap::new(),
            memories: turns.shapes.iter().map(|shape| vec![None; shape.iter().product::<i64>() as usize]).collect(),
            point: vec![0; program.variables.len()],
            executed: 0,
            allowed,
            began: 0,
        }
    }

    /// Forgets what was found: the state before the first store. The number of executed accesses stays.
    fn begin(&mut self, steps: &[Step]) {
        self.shifts_of = Shifts((0..self.accesses.len()).map(|access| (access, 0)).collect());
        self.overwritten.clear();
        self.first.clear();
        self.memories.iter_mut().for_each(|memory| memory.fill(None));
        self.point.fill(0);
        self.began = self.executed;
        for step in steps {
            // An update reads the element that it writes.
            let same = |load: &&usize, target: usize| {
                let (one, other) = (&self.accesses[**load], &self.accesses[target]);
                (&one.indices, &one.row) == (&other.indices, &other.row)
            };
            if let Some((target, load)) =
                step.target.and_then(|target| Some((target, *step.loads.iter().find(|load| same(load, target))?)))
            {
                self.shifts_of.relate(target, load, 0);
            }
        }
    }

    /// The accesses of the same store to the same row of the same allocation, with this one: loads, or what is written.
    fn alike(&self, steps: &[Step], access: usize) -> Vec<usize> {
        let Some(step) = steps.iter().find(|step| step.loads.contains(&access)) else { return vec![access] };
        let key = |access: usize| (self.accesses[access].site, &self.accesses[access].row);
        step.loads.iter().copied().filter(|load| key(*load) == key(access)).collect()
    }

    /// Executes what is in the loops of this depth.
    fn run<'a>(&mut self, steps: &[&Step<'a>], depth: usize) -> Result<(), Conflict<'a>> {
        let around = |step: &&&Step| step.store.loops.get(depth).copied();
        for (variable, group) in &steps.iter().chunk_by(around) {
            let group: Vec<&Step> = group.copied().collect();
            let Some(variable) = variable else {
                group.into_iter().try_for_each(|step| self.step(step))?;
                continue;
            };
            let ranges = group.iter().map(|step| step.store.ranges[variable]);
            let (first, last) =
                ranges.fold((i64::MAX, i64::MIN), |all, range| (all.0.min(range.0), all.1.max(range.1)));
            for at in first..=last {
                if self.executed >= self.allowed {
                    return Ok(());
                }
                self.point[variable] = at;
                let holds =
                    |step: &&&Step| (step.store.ranges[variable].0..=step.store.ranges[variable].1).contains(&at);
                if group.iter().all(|step| holds(&step)) {
                    self.run(&group, depth + 1)?;
                } else {
                    let now: Vec<&Step> = group.iter().filter(holds).copied().collect();
                    self.run(&now, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn step<'a>(&mut self, step: &Step<'a>) -> Result<(), Conflict<'a>> {
        self.executed += step.loads.len() + 1;
        for &load in &step.loads {
            let (place, row) = self.place(load);
            let Some((store, written)) = self.memories[self.accesses[load].site].get(place).copied().flatten() else {
                continue;
            };
            let same_place = (written - row) % self.fold == 0;
            if !(same_place && self.shifts_of.relate(load, store, written - row)) {
                return Err(Conflict { store: step.store, moves: self.moves(step.store, load, store, written - row) });
            }
            self.first.entry((load, store)).or_insert_with(|| (self.point.clone(), written - row));
        }
        if let Some(target) = step.target {
            let (place, row) = self.place(target);
            if let Some(memory) = self.memories[self.accesses[target].site].get_mut(place)
                && let Some((before, _)) = memory.replace((target, row))
                && before != target
            {
                self.overwritten.insert((before, target));
            }
        }
        Ok(())
    }

    /// The access that must follow the loop by which this conflict differs from the first time: the one that does not.
    fn moves(&self, of: &Store, load: usize, store: usize, more: i64) -> Option<Move> {
        let (point, before) = self.first.get(&(load, store))?;
        let variable = *of.loops.iter().find(|variable| self.point[**variable] != point[**variable])?;
        let steps = self.point[variable] - point[variable];
        let by = (more - before) / steps;
        let lacks = |access: usize| !self.accesses[access].row.variables().contains(&variable);
        let (access, factor) = if lacks(load) { (load, by) } else { (store, -by) };
        (by != 0 && by * steps == more - before && lacks(access)).then_some(Move { access, variable, by: factor })
    }

    /// The place that is accessed, and the row.
    fn place(&self, access: usize) -> (usize, i64) {
        let Access { place, row, .. } = &self.accesses[access];
        let place = place.as_ref().and_then(|place| usize::try_from(place.evaluate(&self.point)).ok());
        (place.unwrap_or(usize::MAX), row.evaluate(&self.point))
    }
}

/// The place of an element in an allocation of this shape.
fn place_in(shape: &Shape, indices: &[Index]) -> Option<Index> {
    let mut dimensions = indices.iter().zip(shape).rev();
    dimensions.try_fold(Index::constant(0), |place, (index, extent)| place.times(*extent)?.plus(index, 1))
}
