//! Figures of a replay.

/// A successful replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl ReplayReport {
    /// The figures of a buffer with a part more, which runs beside the others: cycles are those of the part that needs most.
    pub(crate) fn beside(self, part: ReplayReport) -> ReplayReport {
        ReplayReport {
            cycles_total: self.cycles_total.max(part.cycles_total),
            cycles_simulated: self.cycles_simulated.max(part.cycles_simulated),
            words: self.words,
            skips: self.skips + part.skips,
        }
    }
}
