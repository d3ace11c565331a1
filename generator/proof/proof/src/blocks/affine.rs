//! Affine functions of loop variables.

use pushmem_nest::AffineIndex;

/// The function with these values of its variables; nothing beyond [`INDEX_LIMIT`](pushmem_nest::INDEX_LIMIT).
pub(super) fn composed(function: &AffineIndex, values: &[AffineIndex]) -> Option<AffineIndex> {
    let constant = AffineIndex::constant(function.constant);
    function.terms.iter().try_fold(constant, |sum, (variable, step)| sum.plus(&values[*variable], *step))
}

/// Divides by a factor that divides all of it.
pub(super) fn divided(function: &AffineIndex, by: i64) -> Option<AffineIndex> {
    let is_whole = function.constant % by == 0 && function.terms.iter().all(|(_, step)| step % by == 0);
    let terms = || function.terms.iter().map(|(variable, step)| (*variable, step / by)).collect();
    is_whole.then(|| AffineIndex { constant: function.constant / by, terms: terms() })
}
