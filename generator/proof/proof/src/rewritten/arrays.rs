//! Arrays that hold elements of arrays of the program, by a [witness](pushmem_nest::Witness).
//!
//! In each iteration of the loops around all that uses such an array, its first statement writes all of it, or it holds elements that belong to
//! this iteration and are no input. If the first statement copies, and nothing else writes the array, the elements that were copied must not
//! change until its last use. Else its last statement copies all of it back, and nothing uses these elements in another array meanwhile; unless
//! they are in no other one.

use itertools::Itertools;
use pushmem_nest::{Access, AffineIndex, Array, ArrayKind, ArrayOrigin, ExpressionKind, Index, Program, Type, ranges};

use super::{Place, Statement};
use crate::error::{PartError, require};

/// The statements of a rewritten program with the elements of the program in place of those of the arrays that hold them, without those that copy.
///
/// # Errors
/// The first array that is none of the program, or that does not hold the elements that it should.
pub(super) fn of_source<'a>(
    source: &Program,
    rewritten: &Program,
    statements: Vec<Statement<'a>>,
    origins: &[ArrayOrigin],
) -> Result<Vec<Statement<'a>>, PartError> {
    let holders = holders(source, rewritten, origins)?;
    for Holder { array, number, .. } in &holders {
        let name = || array.name.clone();
        let accesses = statements.iter().flat_map(|statement| statement.operation.accesses());
        let chosen = accesses.filter(|access| access.array == *number && access.computed.is_some()).collect_vec();
        require(chosen.is_empty() != array.random_access, name, "data choose other elements")?;
        // One element stands for all of it.
        let least = || array.min.iter().map(|least| Some(*least));
        let is_first = |access: &&Access| access.indices.iter().map(Index::as_constant).eq(least());
        require(chosen.iter().all(is_first), name, "an access is not that of all of it")?;
    }
    for holder in holders.iter().filter(|holder| !holder.is_whole) {
        let reason = |reason: &str| PartError { part: holder.array.name.clone(), reason: reason.to_owned() };
        Held { holder, holders: &holders, statements: &statements }.check().map_err(reason)?;
    }
    let mut of_source = Vec::new();
    for statement in statements {
        let place = |place: &Place<'a>| holders[place.array].place(place);
        let target = place(&statement.target);
        let loads = statement.loads.iter().map(place).collect::<Option<Vec<_>>>();
        let (Some(target), Some(loads)) = (target, loads) else {
            return Err(statement.error("an index of it is beyond the limits"));
        };
        match statement.origin {
            // Nothing is written beyond an array.
            Some(_) => of_source.push(Statement { target: Place { outside: None, ..target }, loads, ..statement }),
            None if is_edge(&statement, holders[statement.target.array].origin.outside) => {}
            None if copies(&Statement { target, loads, ..statement.clone() }) => {}
            None => return Err(statement.error("it does not only copy an element")),
        }
    }
    Ok(of_source)
}

/// An array that holds elements of one of the program.
struct Holder<'a> {
    array: &'a Array,
    number: usize,
    origin: &'a ArrayOrigin,
    /// The array of the program.
    held: &'a Array,
    /// Whether it is that array.
    is_whole: bool,
}

/// The arrays of a rewritten program. Inputs and outputs are those of the program, and a buffer may have one holder in its place.
fn holders<'a>(
    source: &'a Program,
    rewritten: &'a Program,
    origins: &'a [ArrayOrigin],
) -> Result<Vec<Holder<'a>>, PartError> {
    let whole = || "the program".to_owned();
    require(rewritten.arrays.len() >= origins.len(), whole, "it has fewer arrays than its witness")?;
    let mut holders = Vec::new();
    for (number, (array, origin)) in rewritten.arrays.iter().zip(origins).enumerate() {
        let name = || array.name.clone();
        let has_word = |held: &Array| held.element.words().len() == 2 && array.element == Type::U16;
        let is_held =
            |held: &&Array| if origin.word.is_some() { has_word(held) } else { held.element == array.element };
        let held = source.arrays.get(origin.array).filter(is_held);
        let Some(held) = held.filter(|held| held.shape.len() == origin.elements.len()) else {
            return Err(PartError { part: name(), reason: "it holds no elements of the program".to_owned() });
        };
        let is_declared_alike =
            (&array.name, array.kind, &array.shape, &array.min) == (&held.name, held.kind, &held.shape, &held.min);
        let is_whole = *origin == ArrayOrigin::same(origin.array, held) && is_declared_alike;
        require(is_whole || array.kind == ArrayKind::Buffer, name, "it is declared anew")?;
        holders.push(Holder { array, number, origin, held, is_whole });
    }
    for (number, held) in source.arrays.iter().enumerate() {
        let of_held = holders.iter().filter(|holder| holder.origin.array == number).collect_vec();
        let whole = of_held.iter().filter(|holder| holder.is_whole).count();
        let are_words = of_held.iter().all(|holder| holder.origin.word.is_some());
        let are_apart = of_held.len() <= 1 || are_words && of_held.iter().map(|holder| holder.origin.word).all_unique();
        let is_alone = held.kind == ArrayKind::Buffer && are_apart;
        require(whole == 1 || is_alone, || held.name.clone(), "it is missing, or another array")?;
    }
    Ok(holders)
}

impl Holder<'_> {
    /// The element of the program that an element is.
    fn place<'a>(&self, place: &Place<'a>) -> Option<Place<'a>> {
        let ArrayOrigin { array, outside, word, .. } = *self.origin;
        match self.is_whole {
            true => Some(Place { array, ..place.clone() }),
            false => {
                let (indices, outside) = (self.origin.element(&place.indices)?, outside.or(place.outside));
                Some(Place { array, indices, outside, word, ..place.clone() })
            }
        }
    }
}

/// Whether all that a statement does is to copy an element to where it is held, too.
fn copies(statement: &Statement) -> bool {
    let is_copy = statement.reduction.is_none() && statement.expression.kind == ExpressionKind::Load(0);
    is_copy
        && statement.operation.share.is_none()
        && !statement.chooses()
        && statement.loads == [statement.target.clone()]
}

/// Whether all that a statement does is to write the value beyond an array.
fn is_edge(statement: &Statement, outside: Option<i64>) -> bool {
    let is_value = outside.is_some_and(|value| statement.expression.kind == ExpressionKind::Constant(value));
    is_value && statement.reduction.is_none() && statement.operation.share.is_none() && !statement.chooses()
}

/// An array that is none of the program, among the statements.
struct Held<'a> {
    holder: &'a Holder<'a>,
    holders: &'a [Holder<'a>],
    statements: &'a [Statement<'a>],
}

impl Held<'_> {
    /// Checks that it holds the elements that it should, whenever it is read.
    fn check(&self) -> Result<(), &'static str> {
        let Holder { number, origin: ArrayOrigin { array, depth, outside, word, .. }, held, .. } = *self.holder;
        let users = self.statements.iter().filter(|statement| statement.uses(number)).collect_vec();
        let [first, others @ ..] = &users[..] else { return Ok(()) };
        let last = others.last().unwrap_or(first);
        if first.loops.len() < *depth || others.iter().any(|other| first.shared(other) < *depth) {
            return Err("it is not written in the loops around all that uses it");
        }
        if !users.iter().all(|user| self.is_plain(user)) {
            return Err("an access of it may be outside, or depends on data");
        }
        let is_read = first.loads.iter().any(|place| place.array == number);
        let writes = first.target.array == number && first.reduction.is_none() && !is_read;
        let is_before = others.iter().all(|other| first.shared(other) == *depth);
        let is_filled = writes && is_before && self.goes_through(first, &first.target, &users);
        // Nothing is in the array when the program begins, unless it is an input. Programs write each element before they read it, and all
        // of an output: where an element belongs to one iteration, it does so in this one.
        let is_written = held.kind != ArrayKind::Input && self.is_of_one_iteration();
        if !is_filled && !is_written {
            return Err("its first statement does not write all of it");
        }
        let is_copy = |statement: &Statement| statement.origin.is_none();
        if is_filled && is_copy(first) && is_edge(first, *outside) {
            return self.is_edged(others).then_some(()).ok_or("it is not the array of the program with an edge");
        }
        let between = |statement: &&Statement| statement.is_between((Some(*first).filter(|_| is_filled), last), *depth);
        let mut meanwhile = self.statements.iter().filter(between);
        let is_held = |place: &Place| {
            let other = self.holders[place.array].origin;
            other.array == *array && (other.word == *word || other.word.is_none() || word.is_none())
        };
        if is_filled && is_copy(first) && others.iter().all(|other| other.target.array != number) {
            return match meanwhile.any(|statement| !is_copy(statement) && is_held(&statement.target)) {
                true => Err("the array that it copies is written meanwhile"),
                false => Ok(()),
            };
        }
        if outside.is_some() || !self.is_injective() {
            return Err("an element of it is none of an array, or one that another element is");
        }
        let whole = self.holders.iter().find(|holder| holder.is_whole && holder.origin.array == *array);
        let goes_back = |whole: &Holder| {
            let is_apart = others.iter().all(|other| other.number == last.number || other.shared(last) == *depth);
            let loaded = last.loads.first().filter(|place| is_copy(last) && place.array == number);
            last.target.array == whole.number
                && is_apart
                && loaded.is_some_and(|load| self.goes_through(last, load, &users))
        };
        if !whole.is_none_or(goes_back) {
            return Err("its last statement does not copy all of it back");
        }
        let uses_others = |statement: &Statement| {
            let copies_it = is_copy(statement) && [first.number, last.number].contains(&statement.number);
            !copies_it && statement.places().any(|place| place.array != number && is_held(place))
        };
        if meanwhile.any(uses_others) { Err("the array that it goes to is used meanwhile") } else { Ok(()) }
    }

    /// Whether it is the array of the program, with the value beyond that where nothing else is written: after the edge, one statement writes all
    /// elements of the array.
    fn is_edged(&self, others: &[&Statement]) -> bool {
        let Holder { array, number, origin: ArrayOrigin { depth, elements, word, .. }, held, .. } = self.holder;
        let rank = array.shape.len();
        let is_alike = (*depth..depth + rank).map(AffineIndex::variable).eq(elements.iter().cloned());
        let Ok(within) = others.iter().filter(|other| other.target.array == *number).exactly_one() else {
            return false;
        };
        let bounds = ranges(within.loops.iter().copied());
        let follows = |(dimension, index): (usize, &Index)| {
            let affine = index.as_affine().filter(|affine| matches!(affine.terms[..], [(of, 1)] if of >= *depth))?;
            (affine.range(&bounds) == (held.min[dimension], held.max(dimension))).then_some(affine.terms[0].0)
        };
        let loops = within.target.indices.iter().enumerate().map(follows).collect::<Option<Vec<_>>>();
        is_alike && word.is_none() && within.origin.is_some() && loops.is_some_and(|loops| loops.iter().all_unique())
    }

    /// Whether all elements of it that a statement accesses are there. Data may choose them, and there may be a constant beyond them, if
    /// it is as large as the array of the program, and elements have the same indices there. A word of a constant is another one.
    fn is_plain(&self, statement: &Statement) -> bool {
        let Holder { array, number, origin: ArrayOrigin { depth, elements, outside, word, .. }, held, .. } =
            self.holder;
        let rank = array.shape.len();
        let is_alike = (*depth..depth + rank).map(AffineIndex::variable).eq(elements.iter().cloned())
            && (&array.min, &array.shape) == (&held.min, &held.shape);
        let ranges = ranges(statement.loops.iter().copied());
        let is_inside = |(dimension, index): (usize, &Index)| {
            let (low, high) = index.range(&ranges);
            array.min[dimension] <= low && high <= array.max(dimension)
        };
        let mut own = statement.places().filter(|place| place.array == *number);
        own.all(|place| match place.computed {
            _ if place.outside.is_some() => is_alike && outside.is_none() && word.is_none(),
            Some(_) => is_alike,
            None => place.indices.iter().enumerate().all(is_inside),
        })
    }

    /// Whether a statement goes through all elements of it, each once, in the loops within those around all that uses it. Of dimensions along which
    /// these go, all users have the element of the iteration.
    fn goes_through(&self, statement: &Statement, place: &Place, users: &[&Statement]) -> bool {
        let Holder { array, number, origin, .. } = *self.holder;
        let (depth, own) = (origin.depth, &statement.loops[origin.depth..]);
        let (around, within): (Vec<_>, Vec<_>) = place
            .indices
            .iter()
            .enumerate()
            .partition(|(_, index)| (0..depth).any(|outer| **index == Index::variable(outer)));
        let is_kept = |(dimension, index): (usize, &Index)| {
            let mut places = users.iter().flat_map(|user| user.places()).filter(|place| place.array == number);
            places.all(|place| place.indices[dimension] == *index)
        };
        let loop_of = |(dimension, index): (usize, &Index)| {
            let inner = (0..own.len()).find(|inner| *index == Index::variable(depth + inner))?;
            let is_all = (own[inner].min, own[inner].extent) == (array.min[dimension], array.shape[dimension]);
            is_all.then_some(inner)
        };
        let loops = within.into_iter().map(loop_of).collect::<Option<Vec<_>>>();
        around.into_iter().all(is_kept)
            && loops.is_some_and(|loops| loops.len() == own.len() && loops.iter().all_unique())
    }

    /// Whether it holds other elements of the array of the program in each iteration of the loops around.
    fn is_of_one_iteration(&self) -> bool {
        let ArrayOrigin { depth, elements, .. } = self.holder.origin;
        (0..*depth).all(|outer| elements.iter().any(|index| index.terms.iter().map(|(of, _)| *of).eq([outer])))
    }

    /// Whether each element of it is another one of the array of the program.
    fn is_injective(&self) -> bool {
        let ArrayOrigin { depth, elements, .. } = self.holder.origin;
        let is_alone = |dimension: usize| {
            let rows = elements.iter().filter(|index| index.coefficient(depth + dimension) != 0).collect_vec();
            let of_held = |index: &AffineIndex| index.terms.iter().filter(|(variable, _)| variable >= depth).count();
            rows.len() == 1 && of_held(rows[0]) == 1
        };
        let shape = &self.holder.array.shape;
        (0..shape.len()).all(|dimension| shape[dimension] == 1 || is_alone(dimension))
    }
}
