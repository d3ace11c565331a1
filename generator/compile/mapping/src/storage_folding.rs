//! Storage folding: how many rows of an endless memory must be kept, so that addresses wrap after them (dissertation §5.2–5.6).

use pushmem_affine::Affine;

use crate::nest::Nest;
use crate::rounds::cut;

/// Most fetches that are enumerated.
const ENUMERATION_LIMIT: u64 = 1 << 18;

/// How many rows must be kept: from the row of a fetch to the last one written by then. Rows are written in their order.
pub(crate) fn rows_needed(fetches: &Nest, offset: i64, rows: &Nest, rows_offset: i64) -> i64 {
    let [fetches, rows] = [(fetches, offset), (rows, rows_offset)]
        .map(|(nest, offset)| Nest { functions: vec![nest.functions[0].clone()], ..nest.shifted(offset) });
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
    let first = Nest { extent: fetches.extent.clipped(ENUMERATION_LIMIT), ..fetches };
    let mut needed = 1;
    for (cycle, row) in first.cycles().zip(first.extent.values(&first.functions[0])) {
        if (0..total).contains(&row) {
            needed = needed.max(rows.extent.points_until(&rows.cycle, cycle) as i64 - row);
        }
    }
    needed
}
