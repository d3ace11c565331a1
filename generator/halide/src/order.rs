//! The order of the loops of an image pipeline.
//!
//! An accelerator scans an image in one order, that in which its streams arrive: an input arrives row by row, whatever Halide's
//! loops do on the CPU. At this stage an array is whole, its elements do not depend on each other, and loops of reductions
//! update an element in an order of their own. So the loops of coordinates may be exchanged, and each definition takes the
//! order of what it reads: where Halide scans by columns (`reorder(y, x)`), so that a Func of `input[x, y]` has its rows
//! outermost again, and one of `input[y, x]` its columns.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{Index, Schedule};

use crate::emit::loop_name;
use crate::fault::{Fault, Result};
use crate::merge::Merged;
use crate::program::Stores;
use crate::unfold::{Level, Unfolded};
use crate::value::Variable;

/// Gives the loops of an image pipeline the order of its streams. Arrays are in the order of execution.
///
/// A network keeps its loops: there they decide what is kept. A loop that is wholly unrolled keeps its place, and so does one
/// that no index follows.
///
/// # Errors
/// Where what a definition reads arrives in two orders.
pub(crate) fn follow_streams(
    program: &Stores,
    schedule: Option<Schedule>,
    unfolded: &Unfolded,
    definitions: &mut [(usize, Vec<Merged>)],
) -> Result<()> {
    let accumulates = |each: &Merged| {
        each.order.iter().any(|level| matches!(level, Level::Reduction(_, (first, last)) if first < last))
    };
    // As `Program::policy` decides for the nest that these definitions become.
    let is_pipeline = match schedule {
        Some(schedule) => schedule == Schedule::Stencil,
        None => !definitions.iter().flat_map(|(_, merged)| merged).any(accumulates),
    };
    if !is_pipeline {
        return Ok(());
    }
    let coordinates = &unfolded.coordinates;
    let stored: BTreeSet<usize> = definitions.iter().map(|(array, _)| *array).collect();
    // Of each array, its dimensions in the order in which its elements come, outermost first, if that is known.
    let mut arrivals: Vec<Option<Vec<usize>>> = vec![None; coordinates.len()];
    for (array, merged) in definitions.iter_mut() {
        for each in merged {
            let loads = each.value.array_loads().into_iter().filter(|(loaded, _)| loaded != array);
            let orders = loads.filter_map(|(loaded, indices)| {
                let in_turn = (0..indices.len()).rev().collect();
                let arrival = if stored.contains(&loaded) { arrivals[loaded].clone()? } else { in_turn };
                let followed =
                    arrival.into_iter().filter_map(|dimension| followed(&indices[dimension], &coordinates[*array]));
                let rolled = followed.unique().filter(|dimension| is_rolled(each, *dimension));
                Some(Arrival { array: loaded, order: rolled.collect() })
            });
            let orders: Vec<Arrival> = orders.collect();
            // The first of those that say most.
            let Some(first) = orders.iter().rev().max_by_key(|arrival| arrival.order.len()) else { continue };
            if let Some((other, loops)) = orders.iter().find_map(|other| Some((other, first.exchanged(other)?))) {
                return Err(two_orders(program, unfolded, each, [first.array, other.array], loops));
            }
            if !first.order.is_empty() {
                rearrange(each, &first.order);
                arrivals[*array] = Some(scan(each));
            }
        }
    }
    // What reads nothing follows its first reader.
    for place in (0..definitions.len()).rev() {
        let array = definitions[place].0;
        if arrivals[array].is_some() {
            continue;
        }
        let readers = definitions[place + 1..].iter().filter(|(reader, _)| arrivals[*reader].is_some());
        let order = readers.flat_map(|(_, merged)| merged).find_map(|reader| {
            let (_, indices) = reader.value.array_loads().into_iter().find(|(loaded, _)| *loaded == array)?;
            let scanned = scan(reader);
            let position = |dimension: &usize| {
                let coordinate = followed(&indices[*dimension], &coordinates[reader.array])?;
                scanned.iter().position(|each| *each == coordinate)
            };
            let dimensions = (0..indices.len()).filter(|dimension| position(dimension).is_some());
            Some(dimensions.sorted_by_key(position).collect::<Vec<usize>>())
        });
        if let Some(order) = order {
            definitions[place].1.iter_mut().for_each(|each| rearrange(each, &order));
            arrivals[array] = definitions[place].1.last().map(scan);
        }
    }
    Ok(())
}

/// The order in which a definition finds what it reads of an array.
struct Arrival {
    array: usize,
    /// Coordinates of the definition whose loops are not wholly unrolled, outermost first.
    order: Vec<usize>,
}

impl Arrival {
    /// Two coordinates that have the other order there.
    fn exchanged(&self, other: &Arrival) -> Option<[usize; 2]> {
        let place = |coordinate: usize| other.order.iter().position(|each| *each == coordinate);
        let mut pairs = self.order.iter().copied().array_combinations();
        pairs.find(|&[outer, inner]| place(inner).is_some() && place(inner) < place(outer))
    }
}

fn two_orders(
    program: &Stores,
    unfolded: &Unfolded,
    definition: &Merged,
    read: [usize; 2],
    loops: [usize; 2],
) -> Fault {
    let name = |array: usize| program.arrays[array].name;
    let [outer, inner] = loops.map(|dimension| {
        let coordinate = unfolded.coordinates[definition.array][dimension];
        unfolded.names.get(&coordinate).map_or_else(|| format!("dimension {dimension}"), |name| loop_name(name))
    });
    let [first, second] = read.map(name);
    let read_second = if first == second { "and" } else { &format!("but `{second}`") };
    let message = format!(
        "`{}` reads `{first}` with its loop `{outer}` around `{inner}`, {read_second} with `{inner}` around `{outer}`",
        name(definition.array)
    );
    Fault::new(definition.span, message).with_help(
        "an image pipeline is scanned in one order, the same for all it reads; where arrays are to be kept whole, write \
         `// schedule: dnn` at the top, and the loops stay as they are",
    )
}

/// The coordinate that an index follows, if it is one.
fn followed(index: &Index, coordinates: &[Variable]) -> Option<usize> {
    let variables = index.variables();
    let of = coordinates.iter().positions(|coordinate| variables.contains(coordinate)).exactly_one();
    of.ok()
}

/// The coordinates of a definition, in the order of its loops.
fn scan(definition: &Merged) -> Vec<usize> {
    let coordinate = |level: &Level| match level {
        Level::Coordinate(dimension) => Some(*dimension),
        Level::Reduction(..) => None,
    };
    definition.order.iter().filter_map(coordinate).collect()
}

/// Whether a coordinate has a loop that is not wholly unrolled.
fn is_rolled(definition: &Merged, dimension: usize) -> bool {
    let (low, high) = definition.domain[dimension];
    high - low + 1 > definition.unroll[dimension]
}

/// Puts the loops of these coordinates into this order, in the places that they have together.
fn rearrange(definition: &mut Merged, order: &[usize]) {
    let order: Vec<usize> = order.iter().copied().filter(|dimension| is_rolled(definition, *dimension)).collect();
    let is_moved = |level: &Level| matches!(level, Level::Coordinate(dimension) if order.contains(dimension));
    let places: Vec<usize> = definition.order.iter().positions(is_moved).collect();
    for (place, dimension) in places.into_iter().zip(order) {
        definition.order[place] = Level::Coordinate(dimension);
    }
}
