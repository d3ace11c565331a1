//! Elements that show the iteration which accesses them, as a number shows its digits.

use itertools::Itertools;
use pushmem_nest::{Access, Index};

/// Whether iterations access different elements, if they differ only in loops whose variables are numbered from `first` on, with these extents: in
/// some index, the value of their terms together shows that of each.
pub(crate) fn shows(access: &Access, first: usize, extents: &[i64]) -> bool {
    let shown_by = |index: &Index| {
        let inner = |(variable, step): &(usize, i64)| Some((variable.checked_sub(first)?, *step));
        let terms = index.as_affine().map(|affine| affine.terms.iter().filter_map(inner)).into_iter().flatten();
        let terms = terms.filter(|(place, _)| extents[*place] > 1).sorted_by_key(|(_, step)| step.abs()).collect_vec();
        let mut span = 1;
        let is_digit = |(place, step): &(usize, i64)| {
            let is_digit = step.abs() >= span;
            span += step.abs() * (extents[*place] - 1);
            is_digit
        };
        if terms.iter().all(is_digit) { terms } else { Vec::new() }
    };
    let shown = access.indices.iter().flat_map(shown_by).map(|(place, _)| place).collect_vec();
    extents.iter().enumerate().all(|(place, extent)| *extent == 1 || shown.contains(&place))
}
