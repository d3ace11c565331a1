//! The order of the loops of an image pipeline.
//!
//! An accelerator scans an image in one order, that in which its streams arrive: an input arrives row by row, whatever Halide's
//! loops do on the CPU. At this stage an array is whole, its elements do not depend on each other, and loops of reductions
//! update an element in an order of their own. So the loops of coordinates may be exchanged, and each definition takes the
//! order of what it reads: where Halide scans by columns (`reorder(y, x)`), so that a Func of `input[x, y]` has its rows
//! outermost again, and one of `input[y, x]` its columns.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_nest::{Index, Policy};

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
    schedule: Option<Policy>,
    unfolded: &Unfolded,
    definitions: &mut [(usize, Vec<Merged>)],
) -> Result<()> {
    let accumulates = |each: &Merged| {
        each.order.iter().any(|level| matches!(level, Level::Reduction(_, (first, last)) if first < last))
    };
    // As `Program::policy` decides for the nest that these definitions become.
    let is_pipeline = match schedule {
        Some(schedule) => schedule == Policy::Stencil,
        None => !definitions.iter().flat_map(|(_, merged)| merged).any(accumulates),
    };
    if !is_pipeline {
        return Ok(());
    }
    let coordinates = &unfolded.coordinates;
    let stored: BTreeSet<usize> = definitions.iter().map(|(array, _)| *array).collect();
    // Of each array, its dimensions in the order in which its elements come, if it is known.
    let mut arrivals: Vec<Option<Order>> = vec![None; coordinates.len()];
    for (array, merged) in definitions.iter_mut() {
        for each in merged {
            let loads = each.value.array_loads().into_iter().filter(|(loaded, _)| loaded != array);
            let orders = loads.filter_map(|(loaded, indices)| {
                let raster = || Order((0..indices.len()).rev().map(|dimension| (dimension, true)).collect());
                let arrival = if stored.contains(&loaded) { arrivals[loaded].clone()? } else { raster() };
                let coordinate = |dimension: usize| {
                    let coordinate = followed(&indices[dimension], &coordinates[*array])?;
                    is_rolled(each, coordinate).then_some(coordinate)
                };
                let order = arrival.0.into_iter().filter_map(|(dimension, said)| Some((coordinate(dimension)?, said)));
                Some((loaded, Order(order.unique_by(|(coordinate, _)| *coordinate).collect())))
            });
            let orders: Vec<(usize, Order)> = orders.collect();
            // The first of those that say most.
            let says = |(_, order): &&(usize, Order)| (order.said().count(), order.0.len());
            let Some((first, order)) = orders.iter().rev().max_by_key(says) else { continue };
            if let Some((other, loops)) =
                orders.iter().find_map(|(array, other)| Some((array, order.exchanged(other)?)))
            {
                return Err(two_orders(program, unfolded, each, [*first, *other], loops));
            }
            rearrange(each, order);
            arrivals[*array] = (!order.0.is_empty()).then(|| {
                Order(scan(each).map(|coordinate| (coordinate, order.said().contains(&coordinate))).collect())
            });
        }
    }
    // An order that does not follow from the arrays that are read follows from the first reader.
    for place in (0..definitions.len()).rev() {
        let array = definitions[place].0;
        if definitions[place].1.iter().all(|each| {
            let is_said = |coordinate| arrivals[array].iter().any(|order| order.said().contains(&coordinate));
            scan(each).all(|coordinate| is_said(coordinate) || !is_rolled(each, coordinate))
        }) {
            continue;
        }
        let readers = definitions[place + 1..].iter().filter(|(reader, _)| arrivals[*reader].is_some());
        let order = readers.flat_map(|(_, merged)| merged).find_map(|reader| {
            let (_, indices) = reader.value.array_loads().into_iter().find(|(loaded, _)| *loaded == array)?;
            let position = |dimension: &usize| {
                let coordinate = followed(&indices[*dimension], &coordinates[reader.array])?;
                scan(reader).position(|each| each == coordinate)
            };
            let dimensions = (0..indices.len()).filter(|dimension| position(dimension).is_some());
            Some(Order(dimensions.sorted_by_key(position).map(|dimension| (dimension, true)).collect()))
        });
        if let Some(order) = order {
            definitions[place].1.iter_mut().for_each(|each| rearrange(each, &order));
            arrivals[array] = Some(order);
        }
    }
    Ok(())
}

/// Dimensions or coordinates, outermost first, each with whether its place follows from a stream. The others are where
/// Halide's loops are.
#[derive(Clone, Debug)]
struct Order(Vec<(usize, bool)>);

impl Order {
    /// Those whose place follows from a stream.
    fn said(&self) -> impl Iterator<Item = usize> + Clone {
        self.0.iter().filter(|(_, said)| *said).map(|(coordinate, _)| *coordinate)
    }

    /// Two coordinates that have the other order there.
    fn exchanged(&self, other: &Order) -> Option<[usize; 2]> {
        let place = |coordinate: usize| other.said().position(|each| each == coordinate);
        let mut pairs = self.said().array_combinations();
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
fn scan(definition: &Merged) -> impl Iterator<Item = usize> {
    definition.order.iter().filter_map(|level| match level {
        Level::Coordinate(dimension) => Some(*dimension),
        Level::Reduction(..) => None,
    })
}

/// Whether a coordinate has a loop that is not wholly unrolled.
fn is_rolled(definition: &Merged, dimension: usize) -> bool {
    let (low, high) = definition.domain[dimension];
    high - low + 1 > definition.unroll[dimension]
}

/// Puts the loops of these coordinates into this order, in the places that they have together.
fn rearrange(definition: &mut Merged, order: &Order) {
    let coordinates = order.0.iter().map(|(coordinate, _)| *coordinate);
    let order: Vec<usize> = coordinates.filter(|coordinate| is_rolled(definition, *coordinate)).collect();
    let is_moved = |level: &Level| matches!(level, Level::Coordinate(dimension) if order.contains(dimension));
    let places: Vec<usize> = definition.order.iter().positions(is_moved).collect();
    for (place, dimension) in places.into_iter().zip(order) {
        definition.order[place] = Level::Coordinate(dimension);
    }
}
