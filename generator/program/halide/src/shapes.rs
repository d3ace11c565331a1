//! Flat addresses, turned back into dimensions.

use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{Index, Span, Unary};

use crate::emit::is_stage;
use crate::fault::{Fault, Result};
use crate::fit::index_of;
use crate::folding::folded_strides;
use crate::program::{Array, Store, Stores, all_loads};
use crate::value::{Element, Flat, Place, Value, Variable};

/// The shape of an array where it is accessed, innermost first.
pub(crate) type Shape = Vec<i64>;

/// The shapes of every allocation of every array. Those of arguments that are not declared follow from the addresses.
pub(crate) fn shapes(program: &Stores) -> Result<Vec<Vec<Shape>>> {
    let accesses = accesses(program);
    let of = |(number, array): (usize, &Array)| {
        let program = Accessed { program, accesses: &accesses[number] };
        // The same for all allocations, of which there may be one for each part of a loop.
        let inferred = std::cell::LazyCell::new(|| infer(program, number));
        let sites = array.sites.iter().map(|site| match site {
            // The size of a small allocation is one number, whatever its dimensions are.
            Some(shape) if !array.is_argument && shape.len() == 1 && array.entries.is_none() => {
                let found = inferred.as_ref().ok().cloned().map(|found| unfolded(program, found, shape[0]));
                Ok(found.and_then(|found| fill(found, shape[0])).unwrap_or(shape.clone()))
            }
            Some(shape) => Ok(shape.clone()),
            None => inferred.clone().and_then(|shape| match array.is_argument && is_guess(program, &shape) {
                true => Err(unclear(program, number)),
                false => Ok(shape),
            }),
        });
        sites.collect::<Result<Vec<Shape>>>()
    };
    program.arrays.iter().enumerate().map(of).collect()
}

/// A program with all accesses to one of its arrays.
#[derive(Clone, Copy)]
struct Accessed<'a> {
    program: &'a Stores<'a>,
    accesses: &'a [Access<'a>],
}

/// An address, with its store and its place.
type Access<'a> = (&'a Rc<Value<Flat>>, &'a Store, Span);

/// The shape of an array of this size with one dimension that is folded. `(y + 2*n) % 4` may be written as
/// `y + 2*(n % 2)`, which looks like two.
fn unfolded(program: Accessed, mut shape: Shape, size: i64) -> Shape {
    let addresses = program.accesses.iter();
    let Some(stride) = addresses.flat_map(|(address, ..)| folded_strides(address, size)).min() else { return shape };
    let mut inner = 1;
    let within = shape.iter().take_while(|extent| {
        inner *= **extent;
        inner < stride
    });
    let count = within.count();
    let rest: i64 = shape[..count].iter().product();
    shape.truncate(count);
    shape.extend([stride / rest, size / stride]);
    shape
}

/// The shape with an outermost dimension that makes it as large as the allocation.
fn fill(mut shape: Shape, size: i64) -> Option<Shape> {
    shape.pop();
    let inner: i64 = shape.iter().product();
    shape.push(size / inner);
    (size % inner == 0 && size > 0).then_some(shape)
}

/// The shape of an array that nothing says, from the addresses of its elements.
fn infer(program: Accessed, array: usize) -> Result<Shape> {
    let Array { name, span, .. } = program.program.arrays[array];
    let mut addresses = Vec::new();
    for (address, store, span) in program.accesses {
        addresses.push((index_of(address, &store.ranges).ok_or_else(|| no_index(*span))?, &store.ranges));
    }
    if addresses.is_empty() {
        return Err(Fault::new(span, format!("`{name}` is never used")));
    }
    let unclear = || unclear(program, array);
    let coefficients = addresses.iter().flat_map(|(index, _)| terms(index)).map(|(coefficient, _)| coefficient.abs());
    let coefficients: Vec<i64> = coefficients.sorted().dedup().collect();
    let (low, high) = addresses
        .iter()
        .map(|(index, ranges)| index.range(ranges))
        .fold((i64::MAX, i64::MIN), |(low, high), (first, last)| (low.min(first), high.max(last)));
    if low < 0 {
        return Err(unclear());
    }
    // Strides are coefficients of which all larger ones are multiples, and within which all smaller terms stay.
    let mut strides = vec![1];
    for &stride in coefficients.iter().filter(|coefficient| **coefficient > 1) {
        let larger = coefficients.iter().filter(|other| **other > stride);
        if larger.clone().all(|other| other % stride == 0)
            && addresses.iter().all(|(index, ranges)| split(index, stride, stride, ranges).is_some())
        {
            strides.push(stride);
        }
    }
    if coefficients.first().is_some_and(|least| *least != 1) {
        return Err(unclear());
    }
    let mut shape: Shape = strides.iter().tuple_windows().map(|(inner, outer)| outer / inner).collect();
    if strides.iter().tuple_windows().any(|(inner, outer)| outer % inner != 0) {
        return Err(unclear());
    }
    shape.push(high / strides[strides.len() - 1] + 1);
    Ok(shape)
}

/// Whether the addresses of an array fall into other shapes, too: where a loop is split, its parts may be dimensions, and where
/// a loop is read in parts of one iteration, its stride is not seen.
fn is_guess(Accessed { program, accesses }: Accessed, shape: &Shape) -> bool {
    let strides = strides(shape.iter().copied());
    accesses.iter().any(|(address, store, _)| {
        let is_one_of_several = |variable: &Variable| {
            let (first, last) = store.ranges[*variable];
            first == last && (first, last) != program.variables[*variable].range
        };
        // The loops in the address, each with the dimension that it runs along.
        let terms = index_of(address, &store.ranges).map_or(Vec::new(), |index| terms(&index));
        let runs = terms.into_iter().flat_map(|(coefficient, term)| {
            let along = strides.iter().rposition(|stride| *stride <= coefficient.abs());
            term.variables().into_iter().map(move |variable| (dimension_of(program.variables[variable].name), along))
        });
        let runs: Vec<_> = runs.unique().collect();
        store.loops.iter().any(is_one_of_several) || !runs.iter().map(|(dimension, _)| dimension).all_unique()
    })
}

/// The Func, the definition and the variable of a loop, without the part of it: `blur.s0.x` of `blur.s0.x.xi`.
fn dimension_of(name: &str) -> &str {
    let parts = name.match_indices('.').map(|(place, _)| place);
    let stage = name.split('.').position(is_stage).map_or(0, |stage| stage + 1);
    parts.into_iter().nth(stage).map_or(name, |end| &name[..end])
}

fn unclear(program: Accessed, array: usize) -> Fault {
    let Array { name, span, .. } = program.program.arrays[array];
    let span = program.accesses.first().map_or(span, |(.., span)| *span);
    Fault::new(span, format!("the shape of `{name}` does not follow from its addresses")).with_help(format!(
        "declare it at the top of the file, innermost dimension first: `// {}: u16[64, 64]`",
        name.split('$').next().unwrap_or(name)
    ))
}

/// The accesses to each array. One that is used several times in a value is there once.
fn accesses<'a>(program: &'a Stores) -> Vec<Vec<Access<'a>>> {
    let mut found = vec![Vec::new(); program.arrays.len()];
    for store in &program.stores {
        found[store.array].push((&store.address, store, store.span));
        for load in all_loads(&store.value) {
            found[load.array].push((&load.address, store, load.place.0));
        }
    }
    found
}

fn no_index(span: Span) -> Fault {
    Fault::new(span, "this address is not a sum of loop variables times constants, limited or divided by constants")
        .with_help("addresses are computed by counters, not from data; only tables of constants are looked up by data")
}

/// The terms of an index but the constant, each with its coefficient.
fn terms(index: &Index) -> Vec<(i64, Index)> {
    let affine = index.affine.terms.iter().map(|&(variable, coefficient)| (coefficient, Index::variable(variable)));
    let pieces = index.pieces.iter().map(|(coefficient, piece)| (*coefficient, piece.clone().into()));
    affine.chain(pieces).collect()
}

/// An address as `stride · first + second`, where the second is from 0 to below `limit`.
fn split(address: &Index, stride: i64, limit: i64, ranges: &[(i64, i64)]) -> Option<(Index, Index)> {
    let (mut multiple, mut rest) = (Index::constant(0), Index::constant(address.affine.constant));
    for (coefficient, term) in terms(address) {
        match coefficient % stride {
            0 => multiple = multiple.plus(&term, coefficient / stride)?,
            _ => rest = rest.plus(&term, coefficient)?,
        }
    }
    let (low, high) = rest.range(ranges);
    let whole = low.div_euclid(stride);
    if high - whole * stride >= limit {
        return None;
    }
    Some((multiple.plus(&Index::constant(whole), 1)?, rest.plus(&Index::constant(whole * stride), -1)?))
}

/// How far apart in memory neighbours of each dimension are, where these many elements lie along each, innermost first.
pub(crate) fn strides(extents: impl Iterator<Item = i64>) -> Vec<i64> {
    extents.scan(1, |stride, extent| Some(std::mem::replace(stride, *stride * extent))).collect()
}

/// The indices of an address, innermost first.
pub(crate) fn indices(address: &Index, shape: &Shape, ranges: &[(i64, i64)], place: Span) -> Result<Vec<Index>> {
    let strides = strides(shape.iter().copied());
    let apart = || {
        Fault::new(place, format!("this address does not fall into dimensions of {}", shape.iter().join(" × ")))
            .with_help(why_apart(address, &strides, ranges))
    };
    let mut rest = address.clone();
    let mut indices = vec![Index::constant(0); shape.len()];
    for dimension in (1..shape.len()).rev().filter(|&dimension| shape[dimension] > 1) {
        let (here, inner) = split(&rest, strides[dimension], strides[dimension], ranges).ok_or_else(apart)?;
        indices[dimension] = here;
        rest = inner;
    }
    if let Some(innermost) = indices.first_mut() {
        *innermost = rest;
    }
    for (index, extent) in indices.iter().zip(shape) {
        let (low, high) = index.range(ranges);
        if low < 0 || high >= *extent {
            return Err(apart());
        }
    }
    Ok(indices)
}

/// The remedy where an address does not fall into dimensions of these strides.
fn why_apart(address: &Index, strides: &[i64], ranges: &[(i64, i64)]) -> &'static str {
    for (coefficient, term) in terms(address) {
        let (low, high) = term.range(ranges);
        let within = |stride: &&i64| coefficient.abs() < **stride;
        let Some(next) = strides.iter().find(within) else {
            // A step of the loop is as far as some rows, and a part of one.
            if strides.iter().any(|stride| coefficient % stride != 0) {
                return "a loop runs along two dimensions, as by an index `x + y`: index each by loops of its own";
            }
            continue;
        };
        if coefficient.abs() * (high - low) >= *next {
            return "one loop runs over two dimensions, as `fuse` and `reorder_storage` make it: do without";
        }
    }
    "give every buffer its bounds and dense strides before compiling to a statement"
}

/// A store whose address and loads are elements of arrays.
#[derive(Debug)]
pub(crate) struct Located<'a> {
    pub store: &'a Store,
    pub target: Vec<Index>,
    pub value: Rc<Value<Element>>,
    /// The addresses of the loads, in the order of [`Value::array_loads`], and then of what is written.
    pub addresses: Vec<Rc<Value<Flat>>>,
}

/// Finds the elements that stores access. Arrays of `is_table` are looked up as tables.
pub(crate) fn locate<'a>(program: &'a Stores, shapes: &[Vec<Shape>], is_table: &[bool]) -> Result<Vec<Located<'a>>> {
    let mut located = Vec::new();
    // The allocation of each array that is the last so far, which is the one that is read.
    let mut latest = vec![0; program.arrays.len()];
    for store in &program.stores {
        latest[store.array] = store.site;
        let ranges = &store.ranges;
        let address = index_of(&store.address, ranges).ok_or_else(|| no_index(store.span))?;
        let target = indices(&address, &shapes[store.array][store.site], ranges, store.span)?;
        let mut locator = Locator { shapes, is_table, latest: &latest, ranges, addresses: Vec::new() };
        let value = locator.value(&store.value)?;
        let mut addresses = locator.addresses;
        addresses.push(store.address.clone());
        located.push(Located { store, target, value, addresses });
    }
    Ok(located)
}

struct Locator<'a> {
    shapes: &'a [Vec<Shape>],
    is_table: &'a [bool],
    latest: &'a [usize],
    ranges: &'a [(i64, i64)],
    /// Those of all loads of arrays so far.
    addresses: Vec<Rc<Value<Flat>>>,
}

impl Locator<'_> {
    fn value(&mut self, value: &Rc<Value<Flat>>) -> Result<Rc<Value<Element>>> {
        Ok(Rc::new(match &**value {
            Value::Number(number, of) => Value::Number(*number, *of),
            Value::Variable(variable) => Value::Variable(*variable),
            Value::Load(load) => Value::Load(self.load(load)?),
            Value::Unary(operator, operand) => Value::Unary(*operator, self.value(operand)?),
            Value::Binary(operator, left, right) => Value::Binary(*operator, self.value(left)?, self.value(right)?),
            Value::Select(condition, then, otherwise) => {
                Value::Select(self.value(condition)?, self.value(then)?, self.value(otherwise)?)
            }
            Value::Cast(to, operand) => Value::Cast(*to, self.value(operand)?),
        }))
    }

    fn load(&mut self, load: &Flat) -> Result<Element> {
        let Flat { array, address, place } = load;
        if self.is_table[*array] {
            return Ok(Element::Table { table: *array, index: self.value(address)? });
        }
        let index = index_of(address, self.ranges).ok_or_else(|| no_index(place.0))?;
        let indices = indices(&index, &self.shapes[*array][self.latest[*array]], self.ranges, place.0)?;
        self.addresses.push(address.clone());
        Ok(Element::Array { array: *array, indices, outside: None, place: Place(place.0) })
    }
}

/// Which arrays are tables: those of constants, and those that some address depending on data looks up.
pub(crate) fn tables(program: &Stores) -> Vec<bool> {
    let mut is_table: Vec<bool> = program.arrays.iter().map(|array| array.entries.is_some()).collect();
    for store in &program.stores {
        lookups(store).for_each(|load| is_table[load.array] = true);
    }
    is_table
}

/// Why an array that is looked up is no table.
pub(crate) fn no_table(program: &Stores, array: usize) -> Fault {
    let Array { name, span, .. } = program.arrays[array];
    let load = program.stores.iter().find_map(|store| lookups(store).find(|load| load.array == array));
    let mut inner = Vec::new();
    if let Some(load) = load {
        load.address.loads(&mut inner);
    }
    match load {
        Some(load) if inner.is_empty() && turns_back(&load.address) => no_index(load.place.0).with_help(
            "an index that turns back at the last element, as of `mirror_interior`, is none: use `mirror_image` or `repeat_edge`",
        ),
        Some(load) if inner.is_empty() => no_index(load.place.0),
        load => Fault::new(
            load.map_or(span, |load| load.place.0),
            format!("`{name}` is looked up by data, but is itself no table of constants"),
        )
        .with_help("addresses are computed by counters, not from data; only what is constant can be looked up"),
    }
}

/// Whether there is an absolute value in an address.
fn turns_back(address: &Value<Flat>) -> bool {
    matches!(address, Value::Unary(Unary::Absolute, _)) || address.operands().into_iter().any(|each| turns_back(each))
}

/// The loads of a store whose addresses depend on data, or are no sums of loop variables.
fn lookups(store: &Store) -> impl Iterator<Item = &Flat> {
    all_loads(&store.value).into_iter().filter(|load| {
        let mut inner = Vec::new();
        load.address.loads(&mut inner);
        !inner.is_empty() || index_of(&load.address, &store.ranges).is_none()
    })
}
