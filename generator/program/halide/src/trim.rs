//! Removes the computation of elements that are never read.
//!
//! Halide fills a sliding window by running its loop a few times before the first output. Elements that it computes beyond the
//! Func's needs are never used, and may come from elements that were never written.

use pushmem_nest::Index;

use crate::canonical::tidy;
use crate::merge::Merged;
use crate::program::Stores;
use crate::unfold::Unfolded;
use crate::value::{Element, Value};

/// Limits the definitions of buffers to the box that is read. Arrays are in the order of execution.
pub(crate) fn trim(
    program: &Stores,
    is_table: &[bool],
    unfolded: &mut Unfolded,
    definitions: &mut [(usize, Vec<Merged>)],
) {
    let mut needed: Vec<Option<Vec<(i64, i64)>>> = vec![None; program.arrays.len()];
    for (array, merged) in definitions.iter_mut().rev() {
        let coordinates = &unfolded.coordinates[*array];
        if let Some(needed) = &needed[*array]
            && !program.arrays[*array].is_argument
            && !is_table[*array]
        {
            merged.iter_mut().for_each(|each| limit(each, needed));
            merged.retain(|each| each.domain.iter().all(|(low, high)| low <= high));
            for (dimension, variable) in coordinates.iter().enumerate() {
                let low = merged.iter().map(|each| each.domain[dimension].0).min();
                let high = merged.iter().map(|each| each.domain[dimension].1).max();
                if let (Some(low), Some(high)) = (low, high) {
                    unfolded.ranges[*variable] = (low, high);
                }
            }
        }
        for each in merged {
            let mut ranges = unfolded.ranges.clone();
            for (variable, range) in coordinates.iter().zip(&each.domain) {
                ranges[*variable] = *range;
            }
            need(&each.value, &ranges, *array, &mut needed);
        }
    }
}

/// Leaves away what is not needed at both ends of each dimension.
fn limit(merged: &mut Merged, needed: &[(i64, i64)]) {
    for ((domain, unroll), needed) in merged.domain.iter_mut().zip(&merged.unroll).zip(needed) {
        let (low, high) = (domain.0.max(needed.0), domain.1.min(needed.1));
        if (high - low + 1) % unroll == 0 {
            *domain = (low, high);
        }
    }
}

/// Adds what a value reads of other arrays.
fn need(value: &Value<Element>, ranges: &[(i64, i64)], own: usize, needed: &mut [Option<Vec<(i64, i64)>>]) {
    let mut loads = Vec::new();
    value.loads(&mut loads);
    for load in loads {
        match load {
            Element::Array { array, indices, .. } if *array != own => {
                let read = indices.iter().map(|index: &Index| tidy(index, ranges).range(ranges));
                match &mut needed[*array] {
                    Some(needed) => {
                        needed.iter_mut().zip(read).for_each(|(one, other)| {
                            *one = (one.0.min(other.0), one.1.max(other.1));
                        });
                    }
                    nothing => *nothing = Some(read.collect()),
                }
            }
            Element::Array { .. } => {}
            Element::Table { index, .. } => need(index, ranges, own, needed),
            // Any element may be chosen.
            Element::Chosen { .. } => {}
        }
    }
}
