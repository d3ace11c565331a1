//! The loops of a store, replaced by the coordinates of what it writes.

use std::collections::BTreeSet;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Index, Piece, Type};

use super::{Unfolder, numerator};
use crate::fault::{Fault, Result};
use crate::fit::{greatest_divisor, index_of};
use crate::program::Stores;
use crate::rebuild::{mapped, value_of, variables, with_inner};
use crate::shapes::Located;
use crate::value::{Element, Place, Value, Variable};

/// Replaces the loops of a store by the coordinates of what it writes.
pub(super) struct Rewriter<'a, 'b> {
    pub located: &'a Located<'a>,
    pub value: Rc<Value<Element>>,
    /// Functions of the loops.
    pub coordinates: Vec<Index>,
    /// Variables with what stands for them, in this order.
    pub substitutions: Vec<Substitution>,
    /// Of each coordinate, the position of its loop among those of the store.
    pub pivots: Vec<Option<usize>>,
    /// The taps that the coordinates behind those of the dimensions follow.
    pub taps: Vec<ExtraTaps>,
    pub unfolder: &'a mut Unfolder<'b>,
}

/// An array and its dimension; nothing for a number that is computed.
type Origin = Option<(usize, usize)>;

/// The loads that a coordinate behind those of the dimensions was found from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExtraTaps {
    /// The origin of the load.
    of: Origin,
    divisor: i64,
    /// The constants that loads add to the coordinate.
    constants: BTreeSet<i64>,
}

impl ExtraTaps {
    /// How much further an element is than one with these taps: as far as most of its loads are.
    pub fn beyond(&self, first: &ExtraTaps) -> i64 {
        if (self.of, self.divisor) != (first.of, first.divisor) || self.of.is_none() {
            return 0;
        }
        let same = |by: i64| {
            self.constants.iter().filter(|tap| first.constants.contains(&(**tap - by * self.divisor))).count()
        };
        let distances = self.constants.iter().cartesian_product(&first.constants).map(|(one, other)| one - other);
        let whole = distances.filter(|distance| distance % self.divisor == 0).map(|distance| distance / self.divisor);
        whole.chain([0]).max_by_key(|by| (same(*by), std::cmp::Reverse(by.abs()), *by)).unwrap_or(0)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Substitution {
    variable: Variable,
    /// The variable is `of / by`, which is exact for the values that `of` has.
    of: Index,
    by: i64,
    /// `by · variable`, exactly.
    multiple: Index,
}

impl Substitution {
    /// The index without the variable.
    fn apply(&self, index: &Index, ranges: &[(i64, i64)]) -> Option<Index> {
        let factor = index.affine.coefficient(self.variable);
        let mut rest = Index { affine: index.affine.clone(), pieces: Vec::new() };
        rest.affine.terms.retain(|(variable, _)| *variable != self.variable);
        if factor != 0 {
            rest = match factor % self.by {
                0 => rest.plus(&self.multiple, factor / self.by)?,
                _ => rest.plus(&Piece::Quotient { of: self.of.clone(), by: self.by }.into(), factor)?,
            };
        }
        for (factor, piece) in &index.pieces {
            let of = self.apply(piece.of(), ranges)?;
            let piece = match *piece {
                Piece::Quotient { by, .. } => of.divided(by, ranges)?,
                Piece::Remainder { by, .. } => of.remainder(by, ranges)?,
                _ => with_inner(piece, of),
            };
            rest = rest.plus(&piece, *factor)?;
        }
        Some(rest)
    }
}

impl Rewriter<'_, '_> {
    /// The value with all indices mapped.
    fn map(&mut self, mut change: impl FnMut(&Index) -> Option<Index>) -> Result<()> {
        let span = self.located.store.span;
        let complicated = || Fault::new(span, "an index becomes too large or too complicated");
        let ranges = self.all_ranges();
        let change = std::cell::RefCell::new(&mut change);
        let changed = |index: &Index| (change.borrow_mut())(index).ok_or_else(complicated);
        self.value = mapped(
            &self.value,
            &mut |value| {
                let index = is_index(value).then(|| index_of(value, &ranges)).flatten()?;
                Some(changed(&index).map(|index| value_of(&index)))
            },
            &mut |array, indices, outside, place| {
                let indices = indices.iter().map(&changed).collect::<Result<Vec<_>>>()?;
                Ok(Element::Array { array, indices, outside, place: Place(place) })
            },
        )?;
        Ok(())
    }

    /// The ranges of the loops as they are around the store, and those of the coordinates.
    fn all_ranges(&self) -> Vec<(i64, i64)> {
        let limited = &self.located.store.ranges;
        let all = &self.unfolder.result.ranges;
        limited.iter().copied().chain(all[limited.len()..].iter().copied()).collect()
    }

    /// Makes the variables of loops with one iteration numbers.
    pub fn simplify(&mut self) -> Result<()> {
        self.map(|index| Some(index.clone()))
    }

    /// Gives names to what is no sum in the coordinates, as the start of a tile that is shifted inwards.
    pub fn name_pieces(&mut self) -> Result<()> {
        while let Some(piece) =
            self.coordinates.iter().flat_map(|index| &index.pieces).map(|piece| piece.1.clone()).next()
        {
            let range = Index::from(piece.clone()).range(&self.all_ranges());
            let variable = self.unfolder.variable(range);
            let named = |index: &Index| Some(replace_piece(index, &piece, variable));
            self.map(named)?;
            self.coordinates = self.coordinates.iter().map(|index| replace_piece(index, &piece, variable)).collect();
            self.pieces_named(piece, variable);
        }
        Ok(())
    }

    fn pieces_named(&mut self, piece: Piece, variable: Variable) {
        self.substitutions.push(Substitution { variable, of: piece.clone().into(), by: 0, multiple: piece.into() });
    }

    /// Makes the loops that a coordinate follows functions of the coordinate.
    pub fn solve(&mut self, program: &Stores, dimension: usize) -> Result<()> {
        let store = self.located.store;
        let span = store.span;
        let complicated = || Fault::new(span, "an index becomes too large or too complicated");
        let ranges = self.all_ranges();
        let mut index = self.coordinates[dimension].clone();
        for substitution in self.substitutions.iter().filter(|substitution| substitution.by > 0) {
            index = substitution.apply(&index, &ranges).ok_or_else(complicated)?;
        }
        let original = self.original(dimension);
        let range = original.range(&self.all_ranges());
        let terms = index.affine.terms.clone();
        let candidates: Vec<(Variable, i64)> = terms
            .into_iter()
            .filter(|(variable, _)| !self.unfolder.result.coordinates[store.array].contains(variable))
            .collect();
        let depth = |variable: &Variable| store.loops.iter().position(|each| each == variable);
        let own = |variable: &Variable| depth(variable).is_some_and(|depth| depth >= store.outer);
        // The loop that steps by one, the innermost of them, of the Func's own loops if possible.
        let pivot = candidates.iter().max_by_key(|(variable, factor)| {
            (std::cmp::Reverse(factor.abs()), own(variable), depth(variable).map_or(0, |depth| depth + 1))
        });
        let Some(&(pivot, factor)) = pivot else {
            // In one iteration of a divided loop, the coordinate follows that loop, though it does not change.
            let of_parts = super::divided(program, store).into_iter();
            let single =
                |position: &usize| store.ranges[store.loops[*position]].0 == store.ranges[store.loops[*position]].1;
            let position = of_parts.filter(single).find(|position| !self.pivots.contains(&Some(*position)));
            let named = position.filter(|position| *position >= store.outer);
            let name = named.map(|position| program.variables[store.loops[position]].name);
            self.unfolder.coordinate(store.array, dimension, range, name);
            self.pivots.push(position);
            return Ok(());
        };
        let position = original.variables().iter().filter_map(depth).max();
        let name = position.map(|position| program.variables[store.loops[position]].name);
        let coordinate = self.unfolder.coordinate(store.array, dimension, range, name);
        self.pivots.push(position);
        let mut rest = index.clone();
        rest.affine.terms.retain(|(variable, _)| *variable != pivot);
        let by = factor.abs();
        if rest.affine.terms.iter().any(|(_, other)| other % by != 0) {
            return Err(Fault::new(span, "the element that is written does not follow a loop step by step"));
        }
        // `coordinate = factor · pivot + rest`; what the constant is beyond a multiple of the factor tells copies apart.
        let residue = rest.affine.constant.rem_euclid(by);
        let exact = Index::variable(coordinate).plus(&rest, -1).ok_or_else(complicated)?;
        let exact = exact.times(factor.signum()).ok_or_else(complicated)?;
        let of = match factor > 0 {
            true => exact.plus(&Index::constant(residue), 1),
            false => Some(exact.clone()),
        };
        let substitution = Substitution { variable: pivot, of: of.ok_or_else(complicated)?, by, multiple: exact };
        let ranges = self.all_ranges();
        self.map(|index| substitution.apply(index, &ranges))?;
        self.substitutions.push(substitution);
        Ok(())
    }

    /// The coordinate as a function of the loops, where nothing is named.
    pub fn original(&self, dimension: usize) -> Index {
        let mut index = self.coordinates[dimension].clone();
        for named in self.substitutions.iter().filter(|substitution| substitution.by == 0).rev() {
            index = index.substituted(named.variable, &named.of).unwrap_or(index);
        }
        index
    }

    /// Adds coordinates for the loops around a local array that its elements depend on.
    pub fn add_extras(&mut self, program: &Stores) -> Result<()> {
        let store = self.located.store;
        loop {
            let outer = &store.loops[..store.outer];
            let mut forms: Vec<(Origin, AffineIndex)> = Vec::new();
            for (array, indices) in self.value.array_loads() {
                if array != store.array {
                    let found = indices.iter().enumerate().filter_map(|(of, index)| Some((of, numerator(index)?.0)));
                    forms.extend(found.map(|(of, form)| (Some((array, of)), form)));
                }
            }
            // Its own elements follow from the others, and may not be placed yet.
            let of_values = variables(&self.value, Some(store.array)).into_iter().map(AffineIndex::variable);
            forms.extend(of_values.map(|form| (None, form)));
            let of_outer = forms.into_iter().map(|(of, mut form)| {
                let constant = std::mem::take(&mut form.constant);
                form.terms.retain(|(variable, _)| outer.contains(variable));
                (of, form, constant)
            });
            let of_outer: Vec<(Origin, AffineIndex, i64)> = of_outer.collect();
            let depth = |form: &AffineIndex| {
                form.terms.iter().filter_map(|(variable, _)| store.loops.iter().position(|each| each == variable)).max()
            };
            let least = |form: &AffineIndex| form.terms.iter().map(|(_, factor)| factor.abs()).min();
            // The innermost loop first, and of it the form that contains the most, as `inner + 31 * tile`.
            let next = of_outer.iter().filter(|(_, form, _)| !form.terms.is_empty()).max_by_key(|(of, form, _)| {
                (depth(form), form.terms.len(), std::cmp::Reverse(least(form)), of.is_some())
            });
            let Some((of, mut form, _)) = next.cloned() else { return Ok(()) };
            let alike = of_outer.iter().filter(|(other, terms, _)| *other == of && *terms == form);
            let constants = alike.map(|(.., constant)| *constant).collect();
            let divisor = form.terms.iter().fold(0, |divisor, (_, factor)| greatest_divisor(divisor, factor.abs()));
            form.terms.iter_mut().for_each(|(_, factor)| *factor /= divisor.max(1));
            self.taps.push(ExtraTaps { of, divisor: divisor.max(1), constants });
            self.coordinates.push(Index { affine: form, pieces: Vec::new() });
            self.solve(program, self.coordinates.len() - 1)?;
        }
    }
}

/// Whether a value is a number computed from variables only, and not a plain number.
fn is_index(value: &Value<Element>) -> bool {
    let mut loads = Vec::new();
    value.loads(&mut loads);
    let mut variables = BTreeSet::new();
    value.own_variables(&mut variables);
    loads.is_empty() && !variables.is_empty() && value.value_type(&|_| None) == Some(Type::I32)
}

/// The index with a variable in the place of a piece.
fn replace_piece(index: &Index, wanted: &Piece, variable: Variable) -> Index {
    let mut replaced = Index { affine: index.affine.clone(), pieces: Vec::new() };
    for (factor, piece) in &index.pieces {
        let term = match piece == wanted {
            true => Index::variable(variable),
            false => with_inner(piece, replace_piece(piece.of(), wanted, variable)),
        };
        replaced = replaced.plus(&term, *factor).unwrap_or_else(|| index.clone());
    }
    replaced
}
