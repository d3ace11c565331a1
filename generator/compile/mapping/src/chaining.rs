//! Chaining: memories of more rows than a tile has (unified-buffer paper §IV; dissertation §5.2–5.6).

use pushmem_affine::Affine;

use crate::digits::{Digit, decompose};
use crate::nest::Nest;

/// Numbers of rows, at least `needed` and at most `limit`, after which addresses can begin anew: where they do, the
/// loops that write rows can be split. The smallest first.
pub(crate) fn lengths(rows: &Nest, needed: i64, limit: i64) -> Vec<i64> {
    let mut lengths = vec![rows.firings() as i64];
    for (&weight, &extent) in rows.functions[0].stride.iter().zip(&rows.extent) {
        let extent = extent as i64;
        for divisor in (1..).take_while(|divisor| divisor * divisor <= extent).filter(|divisor| extent % divisor == 0) {
            lengths.extend([weight * divisor, weight * (extent / divisor)]);
        }
    }
    lengths.retain(|length| (needed..=limit).contains(length));
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Replaces the row number `function` of a nest by the number modulo `length`, with loops split where it begins anew.
pub(crate) fn wrapped(nest: &Nest, function: usize, length: i64) -> Result<Nest, String> {
    let mut nest = nest.clone();
    let count = nest.functions.len();
    let (_, high) = nest.range(&nest.functions[function]);
    let system =
        [Digit { weight: 1, count: length }, Digit { weight: length, count: high.div_euclid(length).max(0) + 1 }];
    let spare: Affine = nest.functions[function].clone();
    nest.functions.push(spare);
    let mut nest = decompose(nest, count, &system)?;
    nest.functions.pop();
    nest.functions[function] = nest.functions.pop().expect("the remainder was appended");
    Ok(nest)
}
