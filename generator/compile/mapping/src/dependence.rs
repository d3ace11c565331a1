//! Which iteration of a write port each iteration of a read port needs.

use pushmem_affine::Affine;

use crate::digits::{Digit, decompose};
use crate::nest::Nest;

/// Replaces the element that each iteration reads by the iteration of the write that makes it: one function for each
/// loop of the write. Loops of the read are split where the loops of the write demand it.
///
/// Where the write repeats an element in some loop, the last iteration before the read counts.
pub(crate) fn dependence(read: &Nest, write: &Nest) -> Result<Nest, String> {
    let mut owner = Vec::new();
    for level in 0..write.depth() {
        let mut dimensions =
            (0..write.functions.len()).filter(|&dimension| write.functions[dimension].stride[level] != 0);
        owner.push(dimensions.next());
        if dimensions.next().is_some() {
            return Err(format!("loop {level} of the write moves along two dimensions at once"));
        }
    }
    let mut nest = read.clone();
    // Levels of the write in the order in which their digits come out.
    let mut order = Vec::new();
    for (dimension, function) in write.functions.iter().enumerate() {
        let mut levels: Vec<usize> = (0..write.depth()).filter(|&level| owner[level] == Some(dimension)).collect();
        levels.sort_by_key(|&level| function.stride[level].unsigned_abs());
        let system: Vec<Digit> = levels
            .iter()
            .map(|&level| Digit { weight: function.stride[level].abs(), count: write.extent[level] as i64 })
            .collect();
        let ((low, high), (first, last)) = (nest.range(&nest.functions[0]), write.range(function));
        if low < first || high > last {
            return Err(format!(
                "it reads elements {low} to {high} of dimension {dimension}, and only {first} to {last} are written"
            ));
        }
        let mut reach = 0;
        for digit in &system {
            if digit.weight <= reach {
                return Err(format!("the write does not address dimension {dimension} digit by digit"));
            }
            reach += digit.weight * (digit.count - 1);
        }
        // Count from the smallest element, so that all digits count up.
        nest.functions[0].start -= first;
        nest = decompose(nest, 0, &system).map_err(|reason| format!("dimension {dimension}: {reason}"))?;
        order.extend(levels);
    }
    let mut digits = vec![Affine::constant(0, nest.depth()); write.depth()];
    for (function, &level) in nest.functions.iter().zip(&order) {
        let dimension = owner[level].expect("ordered levels have a dimension");
        let mut digit = function.clone();
        if write.functions[dimension].stride[level] < 0 {
            digit.start = write.extent[level] as i64 - 1 - digit.start;
            digit.stride.iter_mut().for_each(|stride| *stride = -*stride);
        }
        digits[level] = digit;
    }
    nest.functions = digits;
    let repeating: Vec<usize> = (0..write.depth()).filter(|&level| owner[level].is_none()).collect();
    for &level in repeating.iter().rev() {
        choose_repetition(&mut nest, write, level)?;
    }
    for (number, &level) in repeating.iter().enumerate() {
        check_last(&nest, write, level, &repeating[..number])?;
    }
    Ok(nest)
}

/// Checks that no element is written once more, by the next iteration of loop `level`, before it is read.
fn check_last(nest: &Nest, write: &Nest, level: usize, inside: &[usize]) -> Result<(), String> {
    if nest.range(&nest.functions[level]).0 == write.extent[level] as i64 - 1 {
        return Ok(());
    }
    let mut again = nest.clone();
    again.functions[level].start += 1;
    for &level in inside {
        again.functions[level] = Affine::constant(0, nest.depth());
    }
    let written = again.weighted(&write.cycle.stride).functions.remove(0).shifted(write.cycle.start);
    let spare = written.plus(&nest.cycle, -1);
    let late = -nest.range(&spare).0;
    if late > 0 {
        return Err(format!("it reads elements up to {late} cycles after they are written anew"));
    }
    Ok(())
}

/// Loop `level` of the write repeats all elements: follow it with the loops of the read that repeat at its pace.
fn choose_repetition(nest: &mut Nest, write: &Nest, level: usize) -> Result<(), String> {
    let period = write.cycle.stride[level];
    let count = write.extent[level] as i64;
    let mut room = count - 1;
    for loop_of_read in (0..nest.depth()).rev() {
        let repeats = nest.functions.iter().all(|function| function.stride[loop_of_read] == 0);
        let stride = nest.cycle.stride[loop_of_read];
        let travel = stride / period * (nest.extent[loop_of_read] as i64 - 1);
        if repeats && stride % period == 0 && travel <= room {
            nest.functions[level].stride[loop_of_read] = stride / period;
            room -= travel;
        }
    }
    let first: Vec<u64> = nest.functions.iter().map(|digit| digit.start as u64).collect();
    let before = nest.cycle.start - 1 - write.cycle.value(&first);
    if before < 0 {
        return Err("it reads before anything is written".to_owned());
    }
    nest.functions[level].start = (before / period).min(room);
    Ok(())
}
