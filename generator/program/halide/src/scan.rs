//! The order of loops: as the schedule says where arrays are kept whole, and that of the streams in an image pipeline.
//!
//! A raster scan has one order, that in which its inputs arrive. An array is whole here, so that the loops of its coordinates may be
//! exchanged; each definition takes the order of what it reads.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_nest::Index;

use crate::emit::Block;
use crate::plan::Box;
use crate::value::{Element, Variable};

/// Puts the loops of all blocks into the order of what they read; nothing is changed where that is not one order. Gives whether it is.
pub(crate) fn follow_streams(blocks: &mut [Block], boxes: &[Option<Box>]) -> bool {
    let mut arrivals: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut ordered: Vec<Vec<Variable>> = Vec::new();
    for block in blocks.iter() {
        let orders = block.loads().into_iter().filter_map(|load| match load {
            Element::Array { array, indices, .. } => {
                let raster = || (0..boxes[*array].as_ref().map_or(0, Vec::len)).rev().collect();
                let arrival: Vec<usize> = arrivals.get(array).cloned().unwrap_or_else(raster);
                let of = |dimension: usize| followed(indices.get(dimension)?, block);
                Some(arrival.into_iter().filter_map(of).unique().collect::<Vec<Variable>>())
            }
            Element::Table { .. } | Element::Chosen { .. } => None,
        });
        let orders: Vec<Vec<Variable>> = orders.collect();
        let longest = orders.iter().rev().max_by_key(|order| order.len()).cloned().unwrap_or_default();
        if orders.iter().any(|order| is_exchanged(&longest, order)) {
            return false;
        }
        // Dimensions that nothing says the place of are outermost, the last one first.
        let own = block.statements.first().map_or(&[][..], |statement| statement.target.indices());
        let others =
            own.iter().rev().filter_map(|index| followed(index, block)).filter(|variable| !longest.contains(variable));
        let order: Vec<Variable> = others.chain(longest.iter().copied()).unique().collect();
        for statement in &block.statements {
            let indices = statement.target.indices();
            let place = |dimension: &usize| {
                let variable = followed(&indices[*dimension], block);
                order.iter().position(|each| Some(*each) == variable)
            };
            let dimensions = (0..indices.len()).sorted_by_key(place).collect();
            arrivals.insert(statement.array(), dimensions);
        }
        ordered.push(order);
    }
    for (block, order) in blocks.iter_mut().zip(ordered) {
        block.rearrange(&order);
    }
    true
}

/// Whether two orders have two variables in different orders.
fn is_exchanged(one: &[Variable], other: &[Variable]) -> bool {
    let place = |variable: &Variable| other.iter().position(|each| each == variable);
    one.iter().filter_map(place).tuple_windows().any(|(first, second)| first > second)
}

/// The variable of a loop that is not wholly unrolled that an index follows, if it is one.
fn followed(index: &Index, block: &Block) -> Option<Variable> {
    let variables = index.variables();
    block.rolled().filter(|variable| variables.contains(variable)).exactly_one().ok()
}
