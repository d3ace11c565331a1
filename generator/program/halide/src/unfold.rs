//! Stores in coordinates of whole arrays.
//!
//! A schedule of Halide decides where a Func is computed and how much of it is kept: a tile has a buffer with indices of its
//! own, a sliding window keeps the last rows, folded, a scalar exists for one iteration. Here every array becomes a whole
//! one again: its elements get *coordinates* that do not depend on the loops around. An element that is computed several times in
//! several tiles is then one element. The coordinate of an element is found from the loads of its value, which have
//! coordinates already: where a tile's element `r` is made of `input[r + 31*tile]`, its coordinate is `r + 31*tile`.

mod offsets;
mod rewrite;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_nest::{AffineIndex, Index, Piece, Span};

use crate::canonical::tidy;
use crate::fault::{Fault, Result};
use crate::fit::{MOST_VALUES, index_of};
use crate::program::{Production, Store, Stores};
use crate::rebuild::{mapped, residual};
use crate::shapes::Located;
use crate::unfold::offsets::{Placeable, renamed, straightened};
use crate::unfold::rewrite::{ExtraTaps, Rewriter};
use crate::value::{Element, Place, Value, Variable};

/// The effect of a store on the elements of a box.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub array: usize,
    /// The values of each coordinate, in ascending order.
    pub domain: Vec<Vec<i64>>,
    /// The value, of the coordinates and of the loops of the reduction.
    pub value: Rc<Value<Element>>,
    /// Whether the value depends on the element itself.
    pub updates: bool,
    /// Whether the whole array is computed in one place, not by parts in the iterations of a loop.
    pub is_whole: bool,
    /// Whether it is in a part of the iterations of a loop, and not a copy of a statement.
    pub is_part: bool,
    /// The loops, outermost first.
    pub order: Vec<Level>,
    /// How many of the coordinates follow a loop. The others are innermost.
    pub followed: usize,
    /// The number of the `produce`.
    pub production: usize,
    pub span: Span,
}

/// A loop of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Coordinate(usize),
    /// A loop that updates the same elements again and again, with its first and its last value here.
    Reduction(Variable, (i64, i64)),
}

/// All definitions with the variables that they are in.
#[derive(Debug)]
pub(crate) struct Unfolded {
    /// In the order of the text.
    pub definitions: Vec<Definition>,
    /// The variables that stand for the coordinates of each array.
    pub coordinates: Vec<Vec<Variable>>,
    /// The names of the loops behind the coordinates.
    pub names: BTreeMap<Variable, String>,
    /// The ranges of all variables; of coordinates, over all definitions.
    pub ranges: Vec<(i64, i64)>,
}

/// How the indices of a local array become coordinates.
#[derive(Clone, Debug, Default)]
struct Placement {
    /// Of each dimension, what is added: a function of the loops around.
    offsets: Vec<Index>,
    /// The coordinates behind those of the dimensions, functions of the loops around.
    extras: Vec<Index>,
}

/// Puts all stores into coordinates. `folded` says by array and dimension whether storage was folded.
pub(crate) fn unfold<'a>(program: &Stores, located: &'a [Located<'a>], folded: &'a [Vec<bool>]) -> Result<Unfolded> {
    let arrays = program.arrays.len();
    let mut stores = vec![Vec::new(); arrays];
    located.iter().enumerate().for_each(|(position, each)| stores[each.store.array].push(position));
    let mut unfolder = Unfolder {
        located,
        folded,
        offsets: vec![Vec::new(); located.len()],
        extras: BTreeMap::new(),
        placements: vec![None; located.len()],
        variables: program.variables.len(),
        result: Unfolded {
            definitions: Vec::new(),
            coordinates: vec![Vec::new(); arrays],
            names: BTreeMap::new(),
            ranges: program.variables.iter().map(|variable| variable.range).collect(),
        },
        stores,
    };
    // An array is placed when all that it is computed from is.
    let depths = sources(arrays, located);
    let order = (0..located.len()).sorted_by_key(|position| (depths[located[*position].store.array], *position));
    let mut is_placed = vec![false; arrays];
    let mut definitions = Vec::new();
    for position in order {
        let array = located[position].store.array;
        if !std::mem::replace(&mut is_placed[array], true) {
            unfolder.find_offsets(array)?;
            unfolder.find_extras(program, array);
        }
        definitions.push((position, unfolder.store(program, position)?));
    }
    definitions.sort_by_key(|(position, _)| *position);
    unfolder.result.definitions = definitions.into_iter().map(|(_, definition)| definition).collect();
    let Unfolded { definitions, coordinates, .. } = &unfolder.result;
    match definitions.iter().find(|each| each.domain.len() != coordinates[each.array].len()) {
        Some(Definition { array, span, .. }) => Err(unrelated(*span, *array)),
        None => Ok(unfolder.result),
    }
}

/// Of each array, from how many it is computed, itself included: those are fewer for what it is computed from.
fn sources(arrays: usize, located: &[Located]) -> Vec<usize> {
    let mut reads = vec![BTreeSet::new(); arrays];
    for Located { store, value, .. } in located {
        reads[store.array].extend(value.array_loads().into_iter().map(|(array, _)| array));
    }
    let count = |array: usize| {
        let (mut found, mut next) = (BTreeSet::from([array]), vec![array]);
        while let Some(array) = next.pop() {
            next.extend(reads[array].iter().filter(|read| found.insert(**read)));
        }
        found.len()
    };
    (0..arrays).map(count).collect()
}

/// The dividend and the divisor of an index that is a quotient or an affine function, whatever limits it.
pub(crate) fn numerator(index: &Index) -> Option<(AffineIndex, i64)> {
    match &index.pieces[..] {
        [] => Some((index.affine.clone(), 1)),
        [(1, Piece::Clamp { of, .. } | Piece::Mirror { of, .. })] => {
            let (inner, by) = numerator(of)?;
            let outer = Index { affine: index.affine.clone(), pieces: Vec::new() }.times(by)?;
            let sum = outer.plus(&Index { affine: inner, pieces: Vec::new() }, 1)?;
            Some((sum.affine, by))
        }
        [(1, Piece::Quotient { of, by })] => {
            let inner = of.as_affine()?.clone();
            let outer = Index { affine: index.affine.clone(), pieces: Vec::new() }.times(*by)?;
            let sum = outer.plus(&Index { affine: inner, pieces: Vec::new() }, 1)?;
            Some((sum.affine, *by))
        }
        _ => None,
    }
}

/// The least and the largest step of a loop in the addresses of a statement, if it does not have the same wherever it is read.
fn steps(program: &Stores, store: &Store, variable: Variable) -> Option<(i64, i64)> {
    let name = program.variables[variable].name;
    // Each part of the loops around has variables of its own.
    let step = |other: &Store| {
        let index = index_of(&other.address, &other.ranges)?;
        let variable = *other.loops.iter().find(|each| program.variables[**each].name == name)?;
        let along = |(_, piece): &&(i64, Piece)| piece.of().variables().contains(&variable);
        let step = match index.affine.coefficient(variable) {
            0 => index.pieces.iter().find(along)?.0,
            step => step,
        };
        Some(step.abs())
    };
    let same = program.stores.iter().filter(|other| other.span.start == store.span.start);
    let (least, most) = same.filter_map(step).minmax().into_option()?;
    (least < most).then_some((least, most))
}

/// A store in coordinates.
struct Rewritten {
    value: Rc<Value<Element>>,
    /// Functions of the loops.
    coordinates: Vec<Index>,
    /// Of each coordinate, the position of its loop among those of the store.
    pivots: Vec<Option<usize>>,
    placement: Placement,
    /// The taps that the coordinates behind those of the dimensions follow, if they were found here.
    taps: Vec<ExtraTaps>,
}

struct Unfolder<'a> {
    located: &'a [Located<'a>],
    /// Of each dimension of each array, whether its elements were folded.
    folded: &'a [Vec<bool>],
    /// Of each array, its stores.
    stores: Vec<Vec<usize>>,
    /// Of each store, what the loops around add to each dimension, if that is known.
    offsets: Vec<Vec<Option<Index>>>,
    /// Of each array, in each production, the coordinates behind those of its dimensions.
    extras: BTreeMap<(usize, Production), Vec<Index>>,
    /// How each store has placed its array.
    placements: Vec<Option<Placement>>,
    /// How many variables there are.
    variables: usize,
    result: Unfolded,
}

impl<'a> Unfolder<'a> {
    fn variable(&mut self, range: (i64, i64)) -> Variable {
        self.variables += 1;
        self.result.ranges.push(range);
        self.variables - 1
    }

    /// The variable of a coordinate of an array, whose range now contains these values.
    fn coordinate(&mut self, array: usize, dimension: usize, (low, high): (i64, i64), name: Option<&str>) -> Variable {
        if self.result.coordinates[array].len() == dimension {
            let variable = self.variable((low, high));
            self.result.coordinates[array].push(variable);
        }
        let variable = self.result.coordinates[array][dimension];
        let range = &mut self.result.ranges[variable];
        *range = (range.0.min(low), range.1.max(high));
        if let Some(name) = name {
            self.result.names.entry(variable).or_insert_with(|| name.to_owned());
        }
        variable
    }

    fn store(&mut self, program: &Stores, position: usize) -> Result<Definition> {
        let located = &self.located[position];
        let store = located.store;
        let array = store.array;
        let forced = self.extras.get(&(array, store.production)).cloned();
        let Rewritten { value, coordinates, pivots, mut placement, .. } =
            self.rewritten(program, position, forced.as_deref())?;
        let dimensions = located.target.len();
        let own = &store.loops[store.outer..];
        placement.extras = coordinates[dimensions..].to_vec();
        if coordinates.len() != self.result.coordinates[array].len() {
            return Err(unrelated(store.span, array));
        }
        let updates = value.array_loads().into_iter().any(|(loaded, _)| loaded == array);
        let domain = self.domain(&coordinates, located)?;
        // Loops that no coordinate follows.
        let followed: BTreeSet<Variable> = coordinates.iter().flat_map(Index::variables).collect();
        let repeats = |variable: &Variable| {
            let (first, last) = store.ranges[*variable];
            first < last && !followed.contains(variable)
        };
        let reductions: Vec<Variable> = own.iter().copied().filter(repeats).collect();
        if let Some(variable) = residual(&value)
            .into_iter()
            .find(|variable| *variable < program.variables.len() && !(updates && reductions.contains(variable)))
        {
            let name = program.variables[variable].name;
            if let Some((least, most)) = steps(program, store, variable) {
                let message = format!(
                    "the next iteration of `{name}` writes {} further in some iterations of the loops around, and {most} in others",
                    counted(least, "element")
                );
                return Err(Fault::new(store.span, message).with_help(
                    "rows of this Func differ in length: let tiles divide the image, or store the Func outside of the loops in \
                     which its rows are shorter, by `store_root` or `store_at`",
                ));
            }
            return Err(Fault::new(
                store.span,
                format!("the value depends on the loop `{name}`, but the element does not"),
            )
            .with_help("each element of a Func is computed from one point of it, or by a reduction that updates it"));
        }
        let place_of = |level: &Level| match level {
            Level::Coordinate(dimension) => pivots[*dimension].unwrap_or(usize::MAX),
            Level::Reduction(variable, _) => store.loops.iter().position(|each| each == variable).unwrap_or(usize::MAX),
        };
        let mut order: Vec<Level> = (0..coordinates.len()).rev().map(Level::Coordinate).collect();
        if updates {
            order.extend(reductions.iter().map(|variable| Level::Reduction(*variable, store.ranges[*variable])));
        }
        order.sort_by_key(place_of);
        self.placements[position] = Some(placement);
        let is_whole = !self.is_local(array);
        let is_part = !divided(program, store).is_empty();
        let (followed, span) = (pivots.iter().flatten().count(), store.span);
        let production = store.production.number;
        Ok(Definition { array, domain, value, updates, is_whole, is_part, order, followed, production, span })
    }

    /// Finds the coordinates behind those of the dimensions: in each production of an array the same for all its stores. An
    /// initial value says nothing of the loops around, but updates do; and so do other parts of a loop, where one part is a
    /// single iteration.
    fn find_extras(&mut self, program: &Stores, array: usize) {
        let mut found: Vec<(&Store, Vec<(Index, ExtraTaps)>)> = Vec::new();
        for position in self.stores[array].clone() {
            let store = self.located[position].store;
            if store.outer == 0 {
                continue;
            }
            let extras = self.extras(program, position).unwrap_or_default();
            match found.iter_mut().find(|(other, _)| other.production == store.production) {
                Some((_, known)) if known.len() > extras.len() => {}
                Some((_, known)) => *known = extras,
                None => found.push((store, extras)),
            }
        }
        let mut first: Vec<ExtraTaps> = Vec::new();
        for (store, own) in &found {
            let twins = found
                .iter()
                .filter(|(twin, _)| twin.production.place == store.production.place && twin.outer == store.outer);
            let most = twins.max_by_key(|(_, extras)| extras.len()).filter(|(_, extras)| extras.len() > own.len());
            let extras = match most {
                Some((twin, extras)) => {
                    let place = |variable: Variable| twin.loops.iter().position(|each| *each == variable);
                    let here = |variable: Variable| place(variable).map_or(variable, |place| store.loops[place]);
                    let moved = extras.iter().map(|(index, _)| tidy(&renamed(index, &here), &store.ranges));
                    moved.collect()
                }
                None => {
                    // The elements of other places are further on if what they are computed from is.
                    let mut indices = Vec::new();
                    for (place, (index, taps)) in own.iter().enumerate() {
                        if first.len() == place {
                            first.push(taps.clone());
                        }
                        let mut index = index.clone();
                        index.affine.constant += taps.beyond(&first[place]);
                        indices.push(index);
                    }
                    indices
                }
            };
            self.extras.insert((array, store.production), extras);
        }
    }

    /// The coordinates behind those of the dimensions, for a store that is treated later.
    fn extras(&mut self, program: &Stores, position: usize) -> Option<Vec<(Index, ExtraTaps)>> {
        let before = (self.variables, self.result.coordinates.clone(), self.result.names.clone());
        let ranges = self.result.ranges.clone();
        let rewritten = self.rewritten(program, position, None);
        (self.variables, self.result.coordinates, self.result.names) = before;
        self.result.ranges = ranges;
        let Rewritten { mut coordinates, taps, .. } = rewritten.ok()?;
        Some(coordinates.split_off(self.located[position].target.len()).into_iter().zip(taps).collect())
    }

    /// The element that a store writes, in indices of the allocation.
    fn target(&self, position: usize) -> Vec<Index> {
        let Located { store, target, .. } = &self.located[position];
        target.iter().map(|index| straightened(index, store)).collect()
    }

    /// The value of a store, of elements in their coordinates.
    fn value(&self, position: usize) -> Result<Rc<Value<Element>>> {
        let Located { store, value, .. } = &self.located[position];
        let value = Placed { unfolder: self, position }.globalized(value)?;
        mapped(&value, &mut |_| None, &mut |array, indices, outside, span| {
            let indices = indices.iter().map(|index| straightened(index, store)).collect();
            Ok(Element::Array { array, indices, outside, place: Place(span) })
        })
    }

    /// The store in coordinates. The coordinates behind the dimensions are found, or given.
    fn rewritten(&mut self, program: &Stores, position: usize, extras: Option<&[Index]>) -> Result<Rewritten> {
        let located = &self.located[position];
        let store = located.store;
        let is_local = store.outer > 0;
        let value = self.value(position)?;
        let mut placement = Placement::default();
        let mut coordinates = Vec::new();
        for (target, offset) in self.target(position).iter().zip(&self.offsets[position]) {
            let offset = offset.clone().ok_or_else(|| unrelated(store.span, store.array))?;
            coordinates.push(tidy(&sum(target, &straightened(&offset, store), store.span)?, &store.ranges));
            placement.offsets.push(offset);
        }
        let dimensions = coordinates.len();
        let mut rewriter = Rewriter {
            located,
            value,
            coordinates,
            substitutions: Vec::new(),
            pivots: Vec::new(),
            taps: Vec::new(),
            unfolder: self,
        };
        rewriter.simplify()?;
        rewriter.name_pieces()?;
        for dimension in 0..dimensions {
            rewriter.solve(program, dimension)?;
        }
        match extras {
            Some(extras) => {
                for extra in extras {
                    rewriter.coordinates.push(extra.clone());
                    rewriter.solve(program, rewriter.coordinates.len() - 1)?;
                }
            }
            None if is_local => rewriter.add_extras(program)?,
            None => {}
        }
        let coordinates = (0..rewriter.coordinates.len()).map(|dimension| rewriter.original(dimension)).collect();
        let Rewriter { value, pivots, taps, .. } = rewriter;
        Ok(Rewritten { value, coordinates, pivots, placement, taps })
    }

    /// Finds what the loops around add to the indices of an array.
    fn find_offsets(&mut self, array: usize) -> Result<()> {
        let stores = self.stores[array].clone();
        let dimensions = self.located[stores[0]].target.len();
        for position in &stores {
            self.offsets[*position] = vec![Some(Index::constant(0)); dimensions];
        }
        if !self.is_local(array) {
            return Ok(());
        }
        let placed = |position: &usize| {
            let store = self.located[*position].store;
            Placeable { store, target: self.target(*position), value: self.value(*position).ok() }
        };
        let placeable: Vec<Placeable> = stores.iter().map(placed).collect();
        // All rows of a window over the whole array have their indices already.
        let is_whole = self.located[stores[0]].store.allocated == 0;
        for dimension in (0..dimensions).filter(|dimension| !(is_whole && self.folded[array][*dimension])) {
            let offsets = offsets::offsets(&placeable, dimension)?;
            for (position, offset) in stores.iter().zip(offsets) {
                self.offsets[*position][dimension] = offset;
            }
        }
        Ok(())
    }

    /// Whether an array has indices that depend on the loops around: it is computed in parts.
    fn is_local(&self, array: usize) -> bool {
        let mut stores = self.stores[array].iter().map(|position| self.located[*position].store);
        let Some(first) = stores.next() else { return false };
        first.outer > 0 || stores.any(|store| store.outer > 0 || store.site != first.site)
    }

    /// The values of each coordinate.
    fn domain(&self, coordinates: &[Index], located: &Located) -> Result<Vec<Vec<i64>>> {
        let store = located.store;
        let mut used = BTreeSet::new();
        let mut domain = Vec::new();
        for index in coordinates {
            let variables = index.variables();
            if variables.iter().any(|variable| used.contains(variable)) {
                return Err(Fault::new(store.span, "two dimensions of the array follow one loop")
                    .with_help("a Func is computed over a box: give each dimension loops of its own")
                    .about_parts_of(store.array));
            }
            let count = variables.iter().fold(1_i64, |count, variable| {
                let (first, last) = store.ranges[*variable];
                count.saturating_mul(last - first + 1)
            });
            if count > MOST_VALUES {
                return Err(Fault::new(store.span, format!("more than {MOST_VALUES} values of one dimension")));
            }
            let mut values = BTreeSet::new();
            let mut point: Vec<i64> = store.ranges.iter().map(|range| range.0).collect();
            loop {
                values.insert(index.evaluate(&point));
                let step = variables.iter().find(|variable| {
                    let (first, last) = store.ranges[**variable];
                    let value = &mut point[**variable];
                    *value = if *value == last { first } else { *value + 1 };
                    *value != first
                });
                if step.is_none() {
                    break;
                }
            }
            used.extend(variables);
            domain.push(values.into_iter().collect());
        }
        Ok(domain)
    }
}

/// The positions of loops of which the store is in a part of the iterations.
fn divided(program: &Stores, store: &Store) -> Vec<usize> {
    let in_part = |(_, variable): &(usize, &Variable)| store.ranges[**variable] != program.variables[**variable].range;
    store.loops.iter().enumerate().filter(in_part).map(|(position, _)| position).collect()
}

fn unrelated(span: Span, array: usize) -> Fault {
    Fault::new(span, "it is not known which elements of the Func these are")
        .with_help("compute it at another loop, or without `store_at`")
        .about_parts_of(array)
}

fn sum(left: &Index, right: &Index, span: Span) -> Result<Index> {
    left.plus(right, 1).ok_or_else(|| Fault::new(span, "this index becomes too large or too complicated"))
}

/// Turns the loads of a store into loads of coordinates.
struct Placed<'a, 'b> {
    unfolder: &'a Unfolder<'b>,
    /// The number of the store.
    position: usize,
}

impl Placed<'_, '_> {
    fn globalized(&self, value: &Rc<Value<Element>>) -> Result<Rc<Value<Element>>> {
        mapped(value, &mut |_| None, &mut |array, indices, outside, span| {
            let indices = self.coordinates(array, indices, span)?;
            Ok(Element::Array { array, indices, outside, place: Place(span) })
        })
    }

    fn coordinates(&self, array: usize, indices: &[Index], span: Span) -> Result<Vec<Index>> {
        let Unfolder { located, stores, placements, .. } = self.unfolder;
        let store = located[self.position].store;
        // An element that is read was placed by the last store above. A store that updates the element itself is placed as the ones
        // before it.
        let above = stores[array].partition_point(|position| *position < self.position);
        let last = stores[array][..above].iter().rev().find_map(|position| placements[*position].as_ref());
        let Some(placement) = last else { return Ok(indices.to_vec()) };
        let variables = placement.offsets.iter().chain(&placement.extras).flat_map(Index::variables);
        if { variables }.any(|variable| !store.loops.contains(&variable)) {
            return Err(Fault::new(span, "this reads what another loop has left behind")
                .with_help("compute the Func at a loop that is around all that reads it"));
        }
        let added = indices.iter().zip(&placement.offsets).map(|(index, offset)| sum(index, offset, span));
        added.chain(placement.extras.iter().cloned().map(Ok)).collect()
    }
}
