//! A wide-fetch memory as a FIFO.

use pushmem_tile::TileSpec;

/// The words and rows that have gone each way since the flush. Where each memory stands follows from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Words that came.
    pushed: u64,
    /// Words that left.
    popped: u64,
    /// Rows from the aggregator into the SRAM.
    stored: u64,
    /// Rows read from the SRAM, and those of them that are in the transpose buffer.
    fetched: u64,
    arrived: u64,
    /// Whole rows from the aggregator into the transpose buffer.
    passed: u64,
    /// Words of the row after the last in the transpose buffer that are there, too.
    ahead: u64,
}

/// A FIFO: words go through the aggregator of input 0 to the transpose buffer of output 0, past the SRAM while that is empty, and through it otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fifo {
    lanes: u64,
    agg_rows: u64,
    sram_rows: u64,
    tb_rows: u64,
    counts: Counts,
}

/// Rows that move in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// The word that comes is written here, by row and lane of the aggregator.
    pub push: Option<(u64, u64)>,
    /// The row of the aggregator that moves on, if one does.
    pub agg_row: u64,
    /// It goes into this row of the SRAM.
    pub store: Option<u64>,
    /// It goes into the next row of the transpose buffer.
    pub passes: bool,
    /// This row of the SRAM is read for the next row of the transpose buffer.
    pub fetch: Option<u64>,
    /// The next row of the transpose buffer.
    pub tb_row: u64,
    /// The word that is shown leaves.
    pub pops: bool,
}

impl Fifo {
    /// An empty FIFO of the memories of a tile.
    pub fn new(spec: &TileSpec, fetch_width: u32, agg_words: u32, tb_words: u32) -> Self {
        let [lanes, agg_words, tb_words] = [fetch_width, agg_words, tb_words].map(u64::from);
        Fifo {
            lanes,
            agg_rows: agg_words / lanes,
            sram_rows: spec.rows.into(),
            tb_rows: tb_words / lanes,
            counts: Counts::default(),
        }
    }

    /// Drops all words.
    pub fn flush(&mut self) {
        self.counts = Counts::default();
    }

    /// Whether no word is in it.
    pub fn is_empty(&self) -> bool {
        self.counts.pushed == self.counts.popped
    }

    /// Whether a word can come.
    pub fn is_ready(&self) -> bool {
        self.waiting() < self.agg_rows
    }

    /// The row and lane of the transpose buffer with the word that is shown, if there is one.
    pub fn shown(&self) -> Option<(u64, u64)> {
        let Counts { popped, arrived, passed, ahead, .. } = self.counts;
        let there = (arrived + passed) * self.lanes + ahead;
        (popped < there).then_some((popped / self.lanes % self.tb_rows, popped % self.lanes))
    }

    /// Whole rows of the aggregator.
    fn waiting(&self) -> u64 {
        self.counts.pushed / self.lanes - self.counts.stored - self.counts.passed
    }

    /// The rows and words that move in a cycle, in which a word may be offered and the one that is shown may be taken.
    pub fn moves(&self, offered: bool, taken: bool) -> Moves {
        let Counts { pushed, popped, stored, fetched, arrived, passed, ahead } = self.counts;
        let filled = fetched + passed;
        let has_room = filled - popped / self.lanes < self.tb_rows;
        let stored_rows = stored - fetched;
        // Past the SRAM only in order: nothing is in it, nor on its way from it.
        let can_pass = has_room && stored_rows == 0 && arrived == fetched;
        let has_more = self.waiting() > 0 || pushed % self.lanes != ahead;
        let stores = !has_room && self.waiting() > 0 && stored_rows < self.sram_rows;
        Moves {
            push: (offered && self.is_ready()).then_some((pushed / self.lanes % self.agg_rows, pushed % self.lanes)),
            agg_row: (stored + passed) % self.agg_rows,
            store: stores.then_some(stored % self.sram_rows),
            passes: can_pass && has_more,
            fetch: (has_room && stored_rows > 0).then_some(fetched % self.sram_rows),
            tb_row: filled % self.tb_rows,
            pops: taken && self.shown().is_some(),
        }
    }

    /// Ends a cycle with these moves; whether a row arrives from the SRAM.
    pub fn clock(&mut self, moves: Moves, arrives: bool) {
        let is_whole = self.waiting() > 0;
        let ahead = self.counts.pushed % self.lanes;
        let counts = &mut self.counts;
        if moves.passes {
            counts.ahead = if is_whole { 0 } else { ahead };
            counts.passed += u64::from(is_whole);
        }
        counts.pushed += u64::from(moves.push.is_some());
        counts.popped += u64::from(moves.pops);
        counts.stored += u64::from(moves.store.is_some());
        counts.fetched += u64::from(moves.fetch.is_some());
        counts.arrived += u64::from(arrives);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fifo(lanes: u64, agg_rows: u64, sram_rows: u64, tb_rows: u64) -> Fifo {
        Fifo { lanes, agg_rows, sram_rows, tb_rows, counts: Counts::default() }
    }

    /// The cycle in which the first word is shown, and the words that come until no more do, when none leaves.
    fn fill(mut fifo: Fifo) -> (Option<u64>, u64) {
        let (mut first, mut pending) = (None, false);
        for cycle in 0..1000 {
            first = first.or(fifo.shown().map(|_| cycle));
            let moves = fifo.moves(true, false);
            fifo.clock(moves, pending);
            pending = moves.fetch.is_some();
        }
        (first, fifo.counts.pushed)
    }

    #[test]
    fn all_memories_hold_words() {
        for (lanes, agg_rows, sram_rows, tb_rows) in [(4, 2, 8, 2), (1, 1, 5, 1), (8, 1, 2, 3), (2, 3, 7, 1)] {
            let words = (agg_rows + sram_rows + tb_rows) * lanes;
            assert_eq!(fill(fifo(lanes, agg_rows, sram_rows, tb_rows)), (Some(2), words), "{lanes} lanes");
        }
    }

    #[test]
    fn a_word_a_cycle_goes_through_with_a_fetch_width_of_four() {
        let mut fifo = fifo(4, 2, 16, 2);
        let (mut pending, mut pushed, mut popped) = (false, 0, 0);
        for cycle in 0..400 {
            // Some rows wait in the SRAM, so that all go through it.
            let moves = fifo.moves(true, cycle >= 40);
            pushed += u64::from(cycle >= 40 && moves.push.is_some());
            popped += u64::from(moves.pops);
            fifo.clock(moves, pending);
            pending = moves.fetch.is_some();
        }
        assert_eq!((pushed, popped), (360, 360));
        assert!(fifo.counts.fetched > 80);
    }
}
