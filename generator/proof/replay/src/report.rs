//! Figures of a replay.

/// A successful replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayReport {
    /// Cycles of the run, to the last word that is read.
    pub cycles_total: u64,
    /// Cycles that were simulated one by one; the others are repetitions of these.
    pub cycles_simulated: u64,
    /// Words of read ports in the run, all of which are right.
    pub words: u64,
    /// Times that repetitions were skipped.
    pub skips: u32,
}
