//! Affine functions of loop variables.

use std::collections::BTreeMap;

use pushmem_nest::AffineIndex;

/// `one + factor · other`.
pub(super) fn plus(one: &AffineIndex, other: &AffineIndex, factor: i64) -> AffineIndex {
    let mut terms: BTreeMap<usize, i64> = one.terms.iter().copied().collect();
    for (variable, step) in &other.terms {
        *terms.entry(*variable).or_default() += factor * step;
    }
    terms.retain(|_, step| *step != 0);
    AffineIndex { constant: one.constant + factor * other.constant, terms: terms.into_iter().collect() }
}

/// The function with these values of its variables.
pub(super) fn composed(function: &AffineIndex, values: &[AffineIndex]) -> AffineIndex {
    let constant = AffineIndex::constant(function.constant);
    function.terms.iter().fold(constant, |sum, (variable, step)| plus(&sum, &values[*variable], *step))
}

/// Divides by a factor that divides all of it.
pub(super) fn divided(function: &AffineIndex, by: i64) -> Option<AffineIndex> {
    let is_whole = function.constant % by == 0 && function.terms.iter().all(|(_, step)| step % by == 0);
    let terms = || function.terms.iter().map(|(variable, step)| (*variable, step / by)).collect();
    is_whole.then(|| AffineIndex { constant: function.constant / by, terms: terms() })
}
