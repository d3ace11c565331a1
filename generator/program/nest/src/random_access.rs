//! Arrays whose elements data choose.

use std::collections::BTreeSet;

use crate::program::Program;
use crate::types::Word;

/// The most elements of an array in a random-access memory: 2^16, as many as a word numbers.
pub const LARGEST_RANDOM_ACCESS: usize = 1 << Word::BITS;

impl Program {
    /// Notes the arrays with accesses whose indices depend on data.
    pub(crate) fn mark_random_access(&mut self) {
        let operations = self.operations();
        let accesses = operations.iter().flat_map(|(_, operation)| operation.accesses());
        let found: BTreeSet<usize> =
            accesses.filter(|access| access.computed.is_some()).map(|access| access.array).collect();
        found.into_iter().for_each(|array| self.arrays[array].random_access = true);
    }
}
