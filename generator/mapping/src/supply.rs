//! Whether rows are in memory when they are fetched.

use pushmem_configuration::Affine;
use pushmem_tile::timing;

use crate::digits::{Digit, decompose};
use crate::group::{Read, Space, Stream};
use crate::nest::{Nest, value};
use crate::past::firings;
use crate::rounds::cut;
use crate::storage::Storage;

/// Most fetches that are enumerated.
const ENUMERATION_LIMIT: u128 = 1 << 18;

/// The digits of a row number: the loops that write rows.
fn system(rows: &Nest) -> Vec<Digit> {
    let digits = rows.functions[0].stride.iter().zip(&rows.extent);
    digits.map(|(&weight, &count)| Digit { weight, count: count as i64 }).collect()
}

/// When row `number` is written, if it ever is.
fn written(rows: &Nest, number: i64) -> Option<i64> {
    let mut rest = number;
    let mut cycle = rows.cycle.start;
    for (digit, stride) in system(rows).into_iter().zip(&rows.cycle.stride).rev() {
        let index = rest / digit.weight;
        if index >= digit.count || rest < 0 {
            return None;
        }
        cycle += stride * index;
        rest -= index * digit.weight;
    }
    (rest == 0).then_some(cycle)
}

/// How many rows are written until the end of a cycle.
pub(crate) fn written_until(rows: &Nest, cycle: i64) -> i64 {
    let mut rest = cycle - rows.cycle.start;
    if rest < 0 {
        return 0;
    }
    let mut number = 1;
    for (digit, stride) in system(rows).into_iter().zip(&rows.cycle.stride).rev() {
        let index = (rest / stride).min(digit.count - 1);
        number += index * digit.weight;
        rest -= index * stride;
    }
    number
}

/// The longest time from a fetch to the write of its row, where both have no offset yet; the row is the fetches' first
/// function. Rows that are never written do not count: nobody reads them.
fn longest_wait(fetches: &Nest, rows: &Nest) -> Result<i64, String> {
    let rows = rows.clone().merged(&[None]);
    let mut nest = fetches.clone();
    nest.functions.truncate(1);
    if let Ok(digits) = decompose(nest, 0, &system(&rows)) {
        // Affine all over: the extremes are in the corners.
        let mut wait = Affine { start: rows.cycle.start, stride: vec![0; digits.depth()] };
        for (digit, stride) in digits.functions.iter().zip(&rows.cycle.stride) {
            wait.start += stride * digit.start;
            for (sum, step) in wait.stride.iter_mut().zip(&digit.stride) {
                *sum += stride * step;
            }
        }
        wait.start -= digits.cycle.start;
        for (sum, step) in wait.stride.iter_mut().zip(&digits.cycle.stride) {
            *sum -= step;
        }
        return Ok(digits.range(&wait).1);
    }
    if fetches.firings() > ENUMERATION_LIMIT {
        return Err("its fetches do not follow the loops of the write".to_owned());
    }
    let mut longest = None;
    fetches.for_each(|index| {
        if let Some(cycle) = written(&rows, value(&fetches.functions[0], index)) {
            longest = longest.max(Some(cycle - value(&fetches.cycle, index)));
        }
    });
    longest.ok_or_else(|| "it reads nothing that is written".to_owned())
}

/// For each write of a stream, the least offset of fetches relative to that of its writes of rows, if they take words from
/// it. `reads` are the words in the order of fetches, as in [`crate::fetch::Fetch`].
pub(crate) fn after_writes(
    stream: &Stream,
    storage: &Storage,
    read: &Read,
    fetches: &Nest,
    reads: &Nest,
) -> Result<Vec<Option<i64>>, String> {
    let written = timing::SRAM_WRITE as i64;
    if let Space::Iterations = stream.space {
        return Ok(vec![Some(longest_wait(fetches, &storage.fillings[0].rows)? + written)]);
    }
    let mut after: Vec<Option<i64>> = vec![None; stream.writes.len()];
    let followed = read.past.as_deref().expect("elements are followed");
    // Iterations of the whole run by the indices of those that were followed.
    let numbers = Nest { functions: vec![Affine { start: 0, stride: read.nest.numbering() }], ..followed.nest.clone() };
    for (firing, word) in firings(std::slice::from_ref(&numbers)).zip(&followed.words) {
        let age = firing.cycle - word.cycle;
        let cycle = value(&read.nest.cycle, &read.nest.iteration(firing.value as u64));
        let number = value(&reads.functions[0], &reads.iteration(firing.value as u64));
        let (fetch, lane) = (number / storage.fetch_width, number % storage.fetch_width);
        let fetch = value(&fetches.cycle, &fetches.iteration(fetch as u64));
        // The row could move with its first word, if that took no time.
        let row = cycle - age - lane * storage.fillings[word.write].pace;
        after[word.write] = after[word.write].max(Some(row - fetch + written));
    }
    Ok(after)
}

/// How many rows must be kept: from the row of a fetch to the last one written by then.
pub(crate) fn rows_needed(fetches: &Nest, offset: i64, rows: &Nest, rows_offset: i64) -> i64 {
    let [fetches, rows] = [(fetches, offset), (rows, rows_offset)].map(|(nest, offset)| {
        let mut nest = Nest { functions: vec![nest.functions[0].clone()], ..nest.clone() };
        nest.cycle.start += offset;
        nest
    });
    let [fetches, rows] = <[Nest; 2]>::try_from(cut(&[&fetches, &rows])).expect("each nest is cut");
    let (mut fetches, rows) = (fetches.merged(&[None]), rows.merged(&[None]));
    let total = rows.firings() as i64;
    if rows.depth() == 1 {
        // (cycle − start) / pace + 1 − row, times the pace: affine.
        let pace = rows.cycle.stride[0];
        let row = &fetches.functions[0];
        let ahead = Affine {
            start: fetches.cycle.start - rows.cycle.start + pace * (1 - row.start),
            stride: fetches.cycle.stride.iter().zip(&row.stride).map(|(cycle, row)| cycle - pace * row).collect(),
        };
        return fetches.range(&ahead).1.div_euclid(pace).clamp(1, total);
    }
    // Of the fetches of a row, the last one counts.
    for level in 0..fetches.depth() {
        if fetches.functions[0].stride[level] == 0 {
            fetches.cycle.start += fetches.cycle.stride[level] * (fetches.extent[level] as i64 - 1);
            fetches.extent[level] = 1;
        }
    }
    // The first rounds of long runs: later ones repeat them, and the replay covers all.
    let mut room = ENUMERATION_LIMIT as u64;
    let extent = fetches.extent.iter().map(|&extent| {
        let kept = extent.min(room.max(1));
        room /= kept;
        kept
    });
    let first = Nest { extent: extent.collect(), ..fetches };
    let mut needed = 1;
    first.for_each(|index| {
        let row = value(&first.functions[0], index);
        if (0..total).contains(&row) {
            needed = needed.max(written_until(&rows, value(&first.cycle, index)) - row);
        }
    });
    needed
}
