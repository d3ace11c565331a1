//! Stores in coordinates of whole arrays.
//!
//! A schedule of Halide decides where a Func is computed and how much of it is kept: a tile has a buffer with indices of its
//! own, a sliding window keeps the last rows in turn, a scalar exists for one iteration. Here every array becomes a whole
//! one again: its elements get *coordinates* that do not depend on the loops around. What is computed several times in
//! several tiles is then one element. The coordinate of an element is found from the loads of its value, which have
//! coordinates already: where a tile's element `r` is made of `input[r + 31*tile]`, its coordinate is `r + 31*tile`.

mod rewrite;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pushmem_nest::{Affine, Index, Piece, Span};

use crate::canonical::tidy;
use crate::fault::{Fault, Result};
use crate::fit::MOST_VALUES;
use crate::program::{Store, Stores};
use crate::rebuild::{mapped, residual};
use crate::shapes::Located;
use crate::unfold::rewrite::Rewriter;
use crate::value::{Element, Place, Value, Variable};

/// What a store does to the elements of a box.
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

/// Puts all stores into coordinates. The dimensions of arrays that were kept in turn are `in_turn`.
pub(crate) fn unfold<'a>(program: &Stores, located: &'a [Located<'a>], in_turn: &'a [Vec<bool>]) -> Result<Unfolded> {
    let arrays = program.arrays.len();
    let mut unfolder = Unfolder {
        located,
        in_turn,
        placements: vec![None; arrays],
        references: BTreeMap::new(),
        variables: program.variables.len(),
        result: Unfolded {
            definitions: Vec::new(),
            coordinates: vec![Vec::new(); arrays],
            names: BTreeMap::new(),
            ranges: program.variables.iter().map(|variable| variable.range).collect(),
        },
    };
    for store in located {
        unfolder.store(program, store)?;
    }
    let Unfolded { definitions, coordinates, .. } = &unfolder.result;
    match definitions.iter().find(|each| each.domain.len() != coordinates[each.array].len()) {
        Some(Definition { array, span, .. }) => Err(unrelated(*span, *array)),
        None => Ok(unfolder.result),
    }
}

/// The dividend and the divisor of an index that is a quotient or an affine function, whatever limits it.
pub(crate) fn numerator(index: &Index) -> Option<(Affine, i64)> {
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

/// Where the coordinate of a dimension was found: what it must agree with in other stores of the array.
#[derive(Clone, Debug, PartialEq)]
struct Anchor {
    array: usize,
    dimension: usize,
    slope: i64,
    /// The least constant of the loads.
    least: i64,
    /// What the loops around add, before the division by the slope; rounded down, where that is not exact.
    outer: Affine,
}

impl Anchor {
    /// Whether the other is in the same dimension of the same array.
    fn is_at(&self, other: &Anchor) -> bool {
        (self.array, self.dimension, self.slope) == (other.array, other.dimension, other.slope)
    }
}

/// What an index `of / by` has more than the slope times the index of the element that is written, before it is divided. It
/// is a multiple of the slope, or the index has as much of the element's as is divided by.
fn relative(store: &Store, (of, by): (&Affine, i64), base: &Affine, slope: i64) -> Option<Anchor> {
    let whole = |affine: &Affine| Index { affine: affine.clone(), pieces: Vec::new() };
    let rest = whole(of).plus(&whole(base), -slope)?;
    let own = &store.loops[store.outer..];
    let mut outer = Affine::default();
    let mut least = of.constant;
    for &(variable, factor) in &rest.affine.terms {
        let (first, last) = store.ranges[variable];
        match own.contains(&variable) {
            true => least += (factor * first).min(factor * last),
            false => outer.terms.push((variable, factor)),
        }
    }
    let whole = outer.terms.iter().all(|(_, factor)| factor % slope == 0);
    if !whole {
        outer.constant = least.rem_euclid(slope);
    }
    (whole || by == slope).then_some(Anchor { array: 0, dimension: 0, slope, least, outer })
}

/// Where the first store of a local array has its coordinates from.
#[derive(Clone)]
struct Reference<'a> {
    anchor: Option<Anchor>,
    /// The constant of its index.
    constant: i64,
    located: &'a Located<'a>,
}

/// A store in coordinates.
struct Rewritten {
    value: Rc<Value<Element>>,
    /// Functions of the loops.
    coordinates: Vec<Index>,
    /// Of each coordinate, the position of its loop among those of the store.
    pivots: Vec<Option<usize>>,
    placement: Placement,
}

struct Unfolder<'a> {
    located: &'a [Located<'a>],
    /// Of each dimension of each array, whether its elements were kept in turn.
    in_turn: &'a [Vec<bool>],
    /// Of each array, how its last store placed it.
    placements: Vec<Option<Placement>>,
    /// Of each dimension of each array, what the coordinates of its other stores are compared with.
    references: BTreeMap<(usize, usize), Reference<'a>>,
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

    fn store(&mut self, program: &Stores, located: &'a Located<'a>) -> Result<()> {
        let store = located.store;
        let array = store.array;
        let siblings = self.siblings(located);
        let forced = match siblings.len() {
            _ if store.outer == 0 => None,
            0 | 1 => None,
            // An initial value says nothing of the loops around, but the updates do.
            _ => siblings.into_iter().filter_map(|sibling| self.extras(program, sibling)).max_by_key(Vec::len),
        };
        let Rewritten { value, coordinates, pivots, mut placement } =
            self.rewritten(program, located, forced.as_deref())?;
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
            return Err(Fault::new(
                store.span,
                format!("the value depends on the loop `{name}`, but the element does not"),
            )
            .with_help("each element of a Func is computed from one point of it, or by a reduction that updates it"));
        }
        let position = |level: &Level| match level {
            Level::Coordinate(dimension) => pivots[*dimension].unwrap_or(usize::MAX),
            Level::Reduction(variable, _) => store.loops.iter().position(|each| each == variable).unwrap_or(usize::MAX),
        };
        let mut order: Vec<Level> = (0..coordinates.len()).rev().map(Level::Coordinate).collect();
        if updates {
            order.extend(reductions.iter().map(|variable| Level::Reduction(*variable, store.ranges[*variable])));
        }
        order.sort_by_key(position);
        self.placements[array] = Some(placement);
        let is_whole = store.outer == 0;
        let is_part = !divided(program, store).is_empty();
        let (followed, span) = (pivots.iter().flatten().count(), store.span);
        let definition = Definition { array, domain, value, updates, is_whole, is_part, order, followed, span };
        self.result.definitions.push(definition);
        Ok(())
    }

    /// The stores of the same local array in the same loops: what they say of the loops around holds for all of them.
    fn siblings(&self, located: &Located) -> Vec<&'a Located<'a>> {
        let store = located.store;
        let same = |other: &&Located| other.store.array == store.array && other.store.is_beside(store);
        self.located.iter().filter(same).collect()
    }

    /// The coordinates behind those of the dimensions, for a store that is treated later.
    fn extras(&mut self, program: &Stores, located: &'a Located<'a>) -> Option<Vec<Index>> {
        let before = (self.variables, self.result.coordinates.clone(), self.result.names.clone());
        let (ranges, references) = (self.result.ranges.clone(), self.references.clone());
        let rewritten = self.rewritten(program, located, None);
        (self.variables, self.result.coordinates, self.result.names) = before;
        (self.result.ranges, self.references) = (ranges, references);
        Some(rewritten.ok()?.coordinates.split_off(located.target.len()))
    }

    /// The store in coordinates. What is behind the dimensions is found, or given.
    fn rewritten(&mut self, program: &Stores, located: &'a Located<'a>, extras: Option<&[Index]>) -> Result<Rewritten> {
        let store = located.store;
        let is_local = store.outer > 0;
        let value = Placed { unfolder: self, located }.globalized(&located.value)?;
        let mut placement = Placement::default();
        let mut coordinates = Vec::new();
        for (dimension, target) in located.target.iter().enumerate() {
            // All rows of a window over the whole array have their indices already.
            let is_whole = store.allocated == 0 && self.in_turn[store.array][dimension];
            let offset = match is_local && !is_whole {
                true => self.offset(located, dimension, &value)?,
                false => Index::constant(0),
            };
            coordinates.push(tidy(&sum(target, &offset, store.span)?, &store.ranges));
            placement.offsets.push(offset);
        }
        let dimensions = coordinates.len();
        let mut rewriter =
            Rewriter { located, value, coordinates, substitutions: Vec::new(), pivots: Vec::new(), unfolder: self };
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
        Ok(Rewritten { value: rewriter.value, coordinates, pivots: rewriter.pivots, placement })
    }

    /// What the loops around add to the index of a local array: the same for all stores of it in these loops.
    fn offset(&mut self, located: &'a Located<'a>, dimension: usize, value: &Value<Element>) -> Result<Index> {
        let store = located.store;
        let own = (self.anchor(located, dimension, value), located.target[dimension].affine.constant);
        let of_siblings = self.siblings(located).into_iter().filter_map(|sibling| {
            let value = Placed { unfolder: self, located: sibling }.globalized(&sibling.value).ok()?;
            let constant = sibling.target[dimension].affine.constant;
            Some((Some(self.anchor(sibling, dimension, &value)?), constant))
        });
        // Of a part at an edge, the loops around may be constant; the others say what they add.
        let all: Vec<(Option<Anchor>, i64)> = of_siblings.collect();
        let says = |(anchor, _): &&(Option<Anchor>, i64)| anchor.as_ref().map_or(0, |anchor| anchor.outer.terms.len());
        let best = all.iter().rev().max_by_key(says).cloned();
        let (mut anchor, constant) = best.unwrap_or(own);
        let key = (store.array, dimension);
        let mut reference = self.references.get(&key).cloned();
        // Where one of the two says nothing by itself, the other says which loads to look at.
        if let Some(reference) = &mut reference {
            match (&reference.anchor, &anchor) {
                (Some(known), None) => anchor = self.anchor_at(located, dimension, value, known),
                (None, Some(known)) => {
                    let first = reference.located;
                    let value = Placed { unfolder: self, located: first }.globalized(&first.value)?;
                    reference.anchor = self.anchor_at(first, dimension, &value, known);
                }
                _ => {}
            }
        }
        let outer = match &anchor {
            Some(Anchor { outer, slope, .. }) => {
                let outer = Index { affine: outer.clone(), pieces: Vec::new() };
                outer.divided(*slope, &store.ranges).ok_or_else(|| unrelated(store.span, store.array))?
            }
            None => Index::constant(0),
        };
        let Some(reference) = reference else {
            self.references.insert(key, Reference { anchor, constant, located });
            return Ok(outer);
        };
        let first = reference.located.store;
        // In one allocation that does not move with the loops around, an index is the same element for all.
        let stays = |anchor: &Option<Anchor>| anchor.as_ref().is_none_or(|anchor| anchor.outer.terms.is_empty());
        let same_place = first.is_beside(store) || anchor.is_none() || (stays(&reference.anchor) && stays(&anchor));
        if first.site == store.site && same_place {
            return Ok(outer);
        }
        let shift = match (&reference.anchor, &anchor) {
            (Some(first), Some(anchor)) if first.is_at(anchor) => {
                let by = anchor.least - first.least;
                if by % anchor.slope != 0 {
                    return Err(unrelated(store.span, store.array));
                }
                reference.constant + by / anchor.slope - constant
            }
            (None, None) => 0,
            _ => return Err(unrelated(store.span, store.array)),
        };
        sum(&outer, &Index::constant(shift), store.span)
    }

    /// What the loads say that are known to say it for another store of the array.
    fn anchor_at(&self, located: &Located, dimension: usize, value: &Value<Element>, known: &Anchor) -> Option<Anchor> {
        let store = located.store;
        let base = located.target[dimension].as_affine()?.clone();
        let mut found: Option<Anchor> = None;
        for (array, indices) in value.array_loads() {
            if array != known.array {
                continue;
            }
            let (of, by) = numerator(&indices[known.dimension])?;
            let anchor = relative(store, (&of, by), &base, known.slope)?;
            let anchor = Anchor { array: known.array, dimension: known.dimension, ..anchor };
            match &mut found {
                Some(found) if found.outer != anchor.outer => return None,
                Some(found) => found.least = found.least.min(anchor.least),
                None => found = Some(anchor),
            }
        }
        found
    }

    /// The loads from whose coordinates that of a dimension follows.
    fn anchor(&self, located: &Located, dimension: usize, value: &Value<Element>) -> Option<Anchor> {
        let store = located.store;
        let own = &store.loops[store.outer..];
        let (base, 1) = numerator(&located.target[dimension])? else { return None };
        let inner = own.iter().rev().find(|variable| base.coefficient(**variable) != 0);
        let variable = *inner.or_else(|| store.loops.iter().rev().find(|each| base.coefficient(**each) != 0))?;
        let mut best: Option<Anchor> = None;
        for (array, indices) in value.array_loads().into_iter().filter(|(array, _)| *array != store.array) {
            for (dimension, index) in indices.iter().enumerate() {
                let Some((of, by)) = numerator(index) else { continue };
                let (here, there) = (base.coefficient(variable), of.coefficient(variable));
                if there == 0 || there % here != 0 {
                    continue;
                }
                let slope = there / here;
                let Some(found) = relative(store, (&of, by), &base, slope) else { continue };
                let found = Anchor { array, dimension, ..found };
                match &mut best {
                    None => best = Some(found),
                    Some(best) => {
                        if best.is_at(&found) && best.outer == found.outer {
                            best.least = best.least.min(found.least);
                        }
                    }
                }
            }
        }
        best
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
    located: &'a Located<'a>,
}

impl Placed<'_, '_> {
    fn globalized(&self, value: &Rc<Value<Element>>) -> Result<Rc<Value<Element>>> {
        mapped(value, &mut |_| None, &mut |array, indices, outside, span| {
            let indices = self.coordinates(array, indices, span)?;
            Ok(Element::Array { array, indices, outside, place: Place(span) })
        })
    }

    fn coordinates(&self, array: usize, indices: &[Index], span: Span) -> Result<Vec<Index>> {
        // A store that updates the element itself is placed as the ones before it.
        let store = self.located.store;
        let Some(placement) = &self.unfolder.placements[array] else { return Ok(indices.to_vec()) };
        if placement
            .offsets
            .iter()
            .chain(&placement.extras)
            .flat_map(Index::variables)
            .any(|variable| !store.loops.contains(&variable))
        {
            return Err(Fault::new(span, "this reads what another loop has left behind")
                .with_help("compute the Func at a loop that is around all that reads it"));
        }
        let mut coordinates = Vec::new();
        for (dimension, index) in indices.iter().enumerate() {
            let coordinate = sum(index, &placement.offsets[dimension], span)?;
            coordinates.push(coordinate);
        }
        coordinates.extend(placement.extras.iter().cloned());
        Ok(coordinates)
    }
}
