//! Whether rows are in memory when they are fetched.

use pushmem_affine::Affine;
use pushmem_tile::timing;

use crate::digits::{Digit, decompose};
use crate::group::{Read, Space, Stream};
use crate::nest::Nest;
use crate::past::firings;
use crate::vectorization::{Storage, place};

/// Most fetches that are enumerated.
const ENUMERATION_LIMIT: u128 = 1 << 18;

/// The digits of a row number: the loops that write rows.
pub(crate) fn system(rows: &Nest) -> Vec<Digit> {
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

/// The longest time from a fetch to the write of its row, where both have no offset yet; the row is the fetches' first
/// function. Rows that are never written do not count: no port reads them.
fn longest_wait(fetches: &Nest, rows: &Nest) -> Result<i64, String> {
    let rows = rows.clone().merged(&[None]);
    let mut nest = fetches.clone();
    nest.functions.truncate(1);
    if let Ok(digits) = decompose(nest, 0, &system(&rows)) {
        // Affine all over: the extremes are in the corners.
        let written = digits.weighted(&rows.cycle.stride).functions.remove(0).shifted(rows.cycle.start);
        let wait = written.plus(&digits.cycle, -1);
        return Ok(digits.range(&wait).1);
    }
    if fetches.firings() > ENUMERATION_LIMIT {
        return Err("its fetches do not follow the loops of the write".to_owned());
    }
    let mut longest = None;
    fetches.extent.for_each(|index| {
        if let Some(cycle) = written(&rows, fetches.functions[0].value(index)) {
            longest = longest.max(Some(cycle - fetches.cycle.value(index)));
        }
    });
    longest.ok_or_else(|| "it reads nothing that is written".to_owned())
}

/// For each write of a stream, the least offset of fetches relative to that of its writes of rows, if they take words from
/// it. `reads` are the words in the order of fetched rows, as in [`crate::vectorization::Fetch`].
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
    // The word and the cycle in the whole run, by the indices of the iterations that were followed.
    let whole = read.nest.extent.numbering();
    let first = reads.functions[0].start;
    let step = |number: &i64| reads.extent.value_at(&reads.functions[0], *number as u64) - first;
    let number = Affine { start: first, stride: whole.iter().map(step).collect() };
    let nest = Nest { functions: vec![number], ..followed.nest.clone() };
    let cycles = nest.extent.values(&read.nest.cycle);
    for ((firing, cycle), word) in firings(std::slice::from_ref(&nest)).zip(cycles).zip(&followed.words) {
        let age = firing.cycle - word.cycle;
        let (fetch, lane) = (firing.value / storage.fetch_width, firing.value % storage.fetch_width);
        let fetch = fetches.extent.value_at(&fetches.cycle, place(fetches, fetch) as u64);
        // The row could move with its first word, if that took no time.
        let row = cycle - age - lane * storage.fillings[word.write].pace;
        after[word.write] = after[word.write].max(Some(row - fetch + written));
    }
    Ok(after)
}
