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

use crate::merge::Merged;
use crate::unfold::{Level, Unfolded};
use crate::value::Variable;

/// Gives the loops of an image pipeline the order of its streams. Arrays are in the order of execution.
///
/// A network keeps its loops: there they decide what is kept. A loop that is wholly unrolled keeps its place, and so does one
/// that no index follows.
pub(crate) fn follow_streams(
    schedule: Option<Schedule>,
    unfolded: &Unfolded,
    definitions: &mut [(usize, Vec<Merged>)],
) {
    let accumulates = |each: &Merged| {
        each.order.iter().any(|level| matches!(level, Level::Reduction(_, (first, last)) if first < last))
    };
    // As `Program::policy` decides for the nest that these definitions become.
    let is_pipeline = match schedule {
        Some(schedule) => schedule == Schedule::Stencil,
        None => !definitions.iter().flat_map(|(_, merged)| merged).any(accumulates),
    };
    if !is_pipeline {
        return;
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
                Some(followed.unique().collect::<Vec<usize>>())
            });
            // The first of those that say most.
            if let Some(order) = orders.rev().max_by_key(Vec::len).filter(|order| !order.is_empty()) {
                rearrange(each, &order);
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

/// Puts the loops of these coordinates into this order, in the places that they have together.
fn rearrange(definition: &mut Merged, order: &[usize]) {
    let is_rolled = |dimension: &usize| {
        let (low, high) = definition.domain[*dimension];
        high - low + 1 > definition.unroll[*dimension]
    };
    let order: Vec<usize> = order.iter().copied().filter(is_rolled).collect();
    let is_moved = |level: &Level| matches!(level, Level::Coordinate(dimension) if order.contains(dimension));
    let places: Vec<usize> = definition.order.iter().positions(is_moved).collect();
    for (place, dimension) in places.into_iter().zip(order) {
        definition.order[place] = Level::Coordinate(dimension);
    }
}
