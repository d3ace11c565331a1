//! Skipping of repeated periods.
//!
//! # Why skipping is exact
//!
//! Between two marked moments lies a period. The run from the second moment on is the run from the first moment on,
//! later by the period, for as long as these hold:
//!
//! - every walker (controller or port) that fires has come to the same place in all its inner loops and has moved on by
//!   some steps in one loop, which has room for as many steps again; walkers that do not fire in the period stay silent;
//! - all addresses in a memory have moved by the same number of words, so that the memory may as well have been turned;
//! - every word that was read in the period before it was written there is, in its new place, the same word, later: a
//!   token as much younger as the period is long; and so in each place that follows, until one that the period wrote,
//!   after which the writes of the periods provide the words. Reads of words that the period itself wrote follow.
//!   Words that were not read do not matter, however old they are. The same goes for whether a word of an aggregator that
//!   was overwritten had been moved on, and rows on their way to transpose buffers follow each other in the same way;
//! - the expectation of a read port moves on with time: the write of the element is some steps of one of its loops
//!   later, and that loop has room for them. Where elements are written more than once, the table of their last writers
//!   is a memory like any other, which write ports write and read ports read, and all have moved by the same number of
//!   elements.
//!
//! In a period in which no memory takes a word from outside, words are not later in the next one, but the same: weights that are read
//! again and again.
//!
//! By induction over the periods each then reads the same words as the one before, later, and so writes the same words,
//! later: a place that a period needs was last written either before the second moment, and then was looked at, or by the
//! repetition of a write that was looked at. All checks of a skipped period come out as in the first. Memories after the
//! skip are those that the skipped writes leave, word for word, so that the rest of the run reads nothing else than it
//! would have.

use crate::simulation::Simulation;
use crate::tile::{ReplayedTile, TileAdvance, TileMark};
use crate::walker::{Advance, Mark, NEVER, Walker};

/// A skip must save this part of the rest of the run: a shorter period may otherwise hide a longer one that saves more.
const WORTHWHILE: u64 = 4;

/// After so many cycles without a skip, one that saves as many is welcome.
const LONG_WITHOUT_SKIP: u64 = 1 << 16;

/// The state at the beginning of a period.
struct Snapshot {
    cycle: u64,
    tiles: Vec<TileMark>,
    readers: Vec<Mark>,
    /// The write ports, where they are followed.
    writers: Vec<Mark>,
    /// The controller whose firings may end the period: its tile and number.
    leader: (usize, usize),
}

impl Snapshot {
    fn mark_of_leader(&self) -> &Mark {
        &self.tiles[self.leader.0].walkers[self.leader.1]
    }
}

/// The search for periods. Snapshots are taken further and further apart, so that any period is found soon after the
/// run becomes periodic, whatever its length (Brent's method).
pub(crate) struct Search {
    enabled: bool,
    snapshot: Option<Snapshot>,
    /// Cycles in which a period may end before there is a new snapshot.
    span: u64,
    last_skip: u64,
}

impl Search {
    /// Nothing is found unless `enabled`.
    pub fn new(enabled: bool) -> Search {
        Search { enabled, snapshot: None, span: 1, last_skip: 0 }
    }

    /// Looks at the simulation before cycle `now` is simulated. Gives how many cycles it has moved on.
    pub fn visit(&mut self, simulation: &mut Simulation, now: u64) -> Option<u64> {
        if !self.enabled {
            return None;
        }
        let Some(snapshot) = &self.snapshot else {
            self.take(simulation, now);
            return None;
        };
        let leader = &simulation.tiles[snapshot.leader.0].walkers[snapshot.leader.1];
        if leader.next == NEVER {
            self.take(simulation, now);
            return None;
        }
        if leader.next != now || now == snapshot.cycle {
            return None;
        }
        if snapshot.mark_of_leader().next != snapshot.cycle {
            // Periods begin with a firing of the leader.
            self.take(simulation, now);
            return None;
        }
        // A period with which not much can be skipped is not looked at closely, but it must not keep a longer one away.
        if simulation.may_save(snapshot, now, self.last_skip)
            && let Some(skipped) = simulation.skip(snapshot, now, self.last_skip)
        {
            self.span = 1;
            self.last_skip = now + skipped;
            self.snapshot = None;
            return Some(skipped);
        }
        let elapsed = now - snapshot.cycle;
        if elapsed >= self.span {
            self.span = 2 * elapsed;
            self.take(simulation, now);
        }
        None
    }

    fn take(&mut self, simulation: &mut Simulation, now: u64) {
        // The slowest of those at work.
        let leader = simulation
            .tiles
            .iter()
            .enumerate()
            .flat_map(|(tile, state)| state.walkers.iter().enumerate().map(move |(walker, at)| (at, (tile, walker))))
            .filter(|(walker, _)| walker.fired > 0 && walker.next != NEVER)
            .min_by_key(|(walker, _)| walker.total)
            .map(|(_, leader)| leader);
        self.snapshot = leader.map(|leader| {
            let writers = simulation.expectation.mark(now);
            Snapshot {
                cycle: now,
                writers,
                tiles: simulation.tiles.iter_mut().map(ReplayedTile::mark).collect(),
                readers: simulation.readers.iter().map(|reader| reader.walker.mark()).collect(),
                leader,
            }
        });
    }
}

impl Simulation {
    /// Whether a skip of so many cycles is worthwhile.
    fn is_worthwhile(&self, saved: u64, now: u64, last_skip: u64) -> bool {
        saved > 0
            && (saved.saturating_mul(WORTHWHILE) >= self.end - now
                || (now - last_skip >= LONG_WITHOUT_SKIP && saved >= LONG_WITHOUT_SKIP))
    }

    /// Whether the leader alone would allow to skip enough.
    fn may_save(&self, snapshot: &Snapshot, now: u64, last_skip: u64) -> bool {
        let period = now - snapshot.cycle;
        let leader = &self.tiles[snapshot.leader.0].walkers[snapshot.leader.1];
        let advance = leader.advance_since(snapshot.mark_of_leader(), period);
        let periods = advance.map_or(0, |advance| leader.repetitions(&advance, now, period));
        self.is_worthwhile(periods.saturating_mul(period), now, last_skip)
    }

    /// Skips as many periods as are sure to repeat, if that saves enough. Gives the cycles skipped.
    fn skip(&mut self, snapshot: &Snapshot, now: u64, last_skip: u64) -> Option<u64> {
        let period = now - snapshot.cycle;
        let readers: Vec<Advance> = self
            .readers
            .iter()
            .zip(&snapshot.readers)
            .map(|(reader, mark)| reader.walker.advance_since(mark, period))
            .collect::<Option<_>>()?;
        let mut periods = (self.end - now) / period;
        for (reader, advance) in self.readers.iter().zip(&readers) {
            periods = periods.min(reader.walker.repetitions(advance, now, period));
        }
        if !self.is_worthwhile(periods.saturating_mul(period), now, last_skip) {
            return None;
        }
        let moving = self.readers.iter().zip(&snapshot.readers).zip(&readers);
        let moving: Vec<Option<(&Walker, &Mark)>> = moving
            .map(|((reader, mark), advance)| (*advance != Advance::Rests).then_some((&reader.walker, mark)))
            .collect();
        let advances: Vec<TileAdvance> = self
            .tiles
            .iter()
            .zip(&snapshot.tiles)
            .map(|(tile, mark)| tile.advance_since(mark, period))
            .collect::<Option<_>>()?;
        // Without a new word, all words stay as old as they are.
        let writes = self.tiles.iter().zip(&advances).any(|(tile, advance)| tile.takes_words(advance));
        let age = if writes { period * self.expectation.tokens_per_cycle() } else { 0 };
        periods = self.expectation.repetitions(&snapshot.writers, &moving, now, (period, age), periods);
        if !self.is_worthwhile(periods.saturating_mul(period), now, last_skip) {
            return None;
        }
        for (tile, advance) in self.tiles.iter().zip(&advances) {
            for (walker, advance) in tile.walkers.iter().zip(&advance.walkers) {
                periods = periods.min(walker.repetitions(advance, now, period));
            }
        }
        if !self.is_worthwhile(periods.saturating_mul(period), now, last_skip) {
            return None;
        }
        for ((tile, mark), advance) in self.tiles.iter().zip(&snapshot.tiles).zip(&advances) {
            periods = tile.repetitions(mark, advance, period, age, periods);
        }
        if !self.is_worthwhile(periods.saturating_mul(period), now, last_skip) {
            return None;
        }
        for ((tile, mark), advance) in self.tiles.iter_mut().zip(&snapshot.tiles).zip(&advances) {
            tile.skip(mark, advance, period, age, periods);
        }
        for ((reader, mark), advance) in self.readers.iter_mut().zip(&snapshot.readers).zip(&readers) {
            reader.walker.skip(mark, advance, period, periods);
        }
        self.expectation.skip(&snapshot.writers, (period, age), periods);
        Some(period * periods)
    }
}
