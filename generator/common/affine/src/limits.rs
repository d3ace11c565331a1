//! Limits of the numbers of a program, and of all stages that are read back: within them, sums and products of a few numbers fit their types.

use crate::affine::Affine;
use crate::domain::Domain;

/// Bounds of loops and least indices of arrays are from minus to plus this: 2^24.
pub const LARGEST_BOUND: i64 = 1 << 24;

/// The most iterations of a loop: 2^25, from the least bound to the greatest.
pub const LARGEST_LOOP: u64 = 2 * LARGEST_BOUND as u64;

/// The most times that an operation may be executed: 2^40.
pub const MOST_ITERATIONS: i64 = 1 << 40;

/// Elements, addresses and cycles, and their strides, stay below this: 2^48.
pub const LARGEST_VALUE: i64 = 1 << 48;

/// The message for a number that reaches [`LARGEST_VALUE`]; nothing for smaller ones.
pub fn beyond_largest(number: i64) -> Option<String> {
    (number.unsigned_abs() >= LARGEST_VALUE as u64).then(|| format!("{number} does not stay below 2^48"))
}

impl Affine {
    /// Why the function has values or strides that do not stay below [`LARGEST_VALUE`], if it has. Loops have fewer iterations than that.
    pub fn beyond_limits(&self, domain: &Domain) -> Option<String> {
        let largest = i128::from(LARGEST_VALUE);
        if let Some(stride) = self.stride.iter().find(|stride| i128::from(**stride).abs() >= largest) {
            return Some(format!("a stride is {stride}; it must stay below 2^48"));
        }
        let range = domain.range(self);
        let is_beyond = *range.start() <= -largest || *range.end() >= largest;
        is_beyond.then(|| format!("values run from {} to {}; they must stay below 2^48", range.start(), range.end()))
    }
}
