//! The rows that a transpose buffer holds, and those that its output means.

use crate::controller::Controller;
use crate::order::{Match, ReadOrder, Shown};

/// A row that is fetched into a transpose buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Counted from 0 in a run.
    pub number: u64,
    /// Where it is in the SRAM, and whether in that of this tile.
    pub row: (bool, u64),
    /// When the row was last written in this run.
    pub written: Option<u64>,
}

/// A word that is right if its row is not written before it is fetched again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Early {
    /// The fetch whose word is shown.
    pub held: Fetch,
    /// The number of the fetch that is meant.
    pub meant: i64,
    /// When the word is shown.
    pub cycle: u64,
    /// Its address in the transpose buffer.
    pub address: u64,
}

/// How the rows of an SRAM are found.
pub(crate) struct Rows<'a> {
    /// The controller that fetches them.
    pub fetching: &'a Controller,
    /// Which of its address generators has the row.
    pub generator: usize,
    /// Whether a row at an address is in this tile, and where.
    pub locate: &'a dyn Fn(u64) -> (bool, u64),
    /// When each row of this tile was last written in this run.
    pub written: &'a [Option<u64>],
}

impl Rows<'_> {
    /// The row of a fetch, if there is such a fetch.
    pub fn of_fetch(&self, number: i64) -> Option<(bool, u64)> {
        let address = self.fetching.address_of(self.generator, u64::try_from(number).ok()?)?;
        Some((self.locate)(address))
    }

    /// When a fetch reads its row, if there is such a fetch.
    fn cycle_of(&self, number: i64) -> Option<u64> {
        self.fetching.cycle_of(u64::try_from(number).ok()?)
    }

    /// When a row was last written; those of other tiles are not known.
    pub fn written(&self, (owned, row): (bool, u64)) -> Option<u64> {
        self.written.get(row as usize).copied().flatten().filter(|_| owned)
    }
}

/// The fetches of a transpose buffer in a run.
#[derive(Clone, Debug)]
pub(crate) struct Fetches {
    /// Words of a row.
    width: i64,
    departed: u64,
    /// By row of the transpose buffer, the fetch that it holds; none of this run at first.
    held: Vec<Option<Fetch>>,
    /// Rows that arrived of which no word has been read since.
    unread: Vec<bool>,
    /// How many of them were replaced, and when the first was.
    pub wasted: Option<(u64, u64)>,
    /// How many words were shown that no fetch brings, and when the first was.
    pub unfetched: Option<(u64, u64)>,
    early: Vec<Early>,
    /// The known part of the order of the words since the first was read.
    order: Option<ReadOrder>,
}

impl Fetches {
    /// None yet, for a buffer of so many rows of so many words.
    pub fn new(rows: u32, width: u64) -> Self {
        Fetches {
            width: width as i64,
            departed: 0,
            held: vec![None; rows as usize],
            unread: vec![false; rows as usize],
            wasted: None,
            unfetched: None,
            early: Vec::new(),
            order: None,
        }
    }

    /// Forgets those of the last run.
    pub fn flush(&mut self) {
        *self = Fetches::new(self.held.len() as u32, self.width as u64);
    }

    /// Reads a row of the SRAM. Gives the words shown earlier that were meant to come from it, and that have been written since.
    pub fn depart(&mut self, row: (bool, u64), written: Option<u64>) -> (Fetch, Vec<Early>) {
        let fetch = Fetch { number: self.departed, row, written };
        self.departed += 1;
        let of_fetch = |early: &mut Early| early.meant == fetch.number as i64;
        let waited = self.early.extract_if(.., of_fetch);
        (fetch, waited.filter(|early| early.held.written != written).collect())
    }

    /// Puts a row into the transpose buffer at the end of a cycle.
    pub fn arrive(&mut self, cycle: u64, place: usize, fetch: Fetch) {
        if self.unread[place] {
            count(&mut self.wasted, cycle);
        }
        self.unread[place] = true;
        self.held[place] = Some(fetch);
    }

    /// Reads a word, at an address, of the transpose buffer, in the order of these loops. If it is stale, gives the fetch that
    /// it is from, and the one that is meant.
    pub fn read(
        &mut self,
        (cycle, address): (u64, u64),
        loops: impl Iterator<Item = (u64, u64)>,
        rows: &Rows,
    ) -> Option<(u64, i64)> {
        let place = (address / self.width as u64) as usize;
        self.unread[place] = false;
        let lane = address as i64 % self.width;
        let (width, departed, recent) = (self.width, self.departed, 2 * self.held.len() as u64);
        let shown = self.held[place].map(|fetch| Word { fetch, lane, width, departed, recent, rows });
        let order = self.order.get_or_insert_with(|| ReadOrder::new(loops));
        let (found, meant) = order.read(shown.as_ref(), self.wasted.is_some())?;
        let held = self.held[place]?;
        let meant = meant.div_euclid(self.width);
        // Where neither row is in this tile, it shows what the chain has, as it should.
        if !held.row.0 && !rows.of_fetch(meant).is_some_and(|(owned, _)| owned) {
            return None;
        }
        match found {
            Match::Same => {}
            Match::SameSoFar => self.early.push(Early { held, meant, cycle, address }),
            Match::Unfetched => count(&mut self.unfetched, cycle),
            Match::Other => return Some((held.number, meant)),
        }
        None
    }
}

/// Counts one more in this cycle: how many, and when the first was.
fn count(counted: &mut Option<(u64, u64)>, cycle: u64) {
    let (before, first) = counted.unwrap_or((0, cycle));
    *counted = Some((before + 1, first));
}

/// A word that an output shows.
struct Word<'a> {
    fetch: Fetch,
    /// Its place in the row.
    lane: i64,
    /// Words of a row.
    width: i64,
    /// Rows fetched so far.
    departed: u64,
    /// How many of the last fetches may have the same row while the words of one are read.
    recent: u64,
    rows: &'a Rows<'a>,
}

impl Word<'_> {
    /// Whether another fetch brings the row as it is in this one.
    fn is_repeated(&self, other: i64) -> bool {
        let Fetch { number, row, written } = self.fetch;
        self.rows.of_fetch(other) == Some(row)
            && if other < number as i64 {
                // The row that the earlier one read is there until it is written.
                written.is_none_or(|written| self.rows.cycle_of(other).is_some_and(|cycle| written < cycle))
            } else {
                self.rows.written(row) == written
            }
    }
}

impl Shown for Word<'_> {
    fn number(&self) -> i64 {
        self.fetch.number as i64 * self.width + self.lane
    }

    fn copies(&self) -> Vec<i64> {
        let others = (self.departed.saturating_sub(self.recent)..self.departed).map(|other| other as i64);
        let others = others.filter(|&other| other != self.fetch.number as i64 && self.is_repeated(other));
        [self.number()].into_iter().chain(others.map(|other| other * self.width + self.lane)).collect()
    }

    fn compare(&self, meant: i64) -> Match {
        let (fetch, lane) = (meant.div_euclid(self.width), meant.rem_euclid(self.width));
        match self.rows.of_fetch(fetch) {
            None => Match::Unfetched,
            Some(_) if lane != self.lane || !self.is_repeated(fetch) => Match::Other,
            Some(_) if fetch < self.departed as i64 => Match::Same,
            Some(_) => Match::SameSoFar,
        }
    }
}
