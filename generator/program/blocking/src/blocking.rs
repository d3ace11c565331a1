//! A blocking: how the loops of a nest are cut.

use serde::Serialize;

/// How the loops of a nest are cut into blocks, and the order in which they then go. Loops are numbered from the outermost, 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Blocking {
    /// The iterations of each loop in a block; they divide those of the loop, and are a multiple of its unroll factor.
    pub tiles: Vec<i64>,
    /// The loops that have several blocks, as the loops between blocks go, outermost first.
    pub outer: Vec<usize>,
    /// All loops, as those within a block go, outermost first.
    pub inner: Vec<usize>,
    /// Whether copies move as many words in a cycle as the lanes of the nest use along the innermost dimension, and not one.
    pub is_wide: bool,
}
