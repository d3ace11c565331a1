//! Memories of rows of words.

use crate::word::Word;

/// A row of up to `LANES` words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<const LANES: usize> {
    pub words: [Word; LANES],
}

impl<const LANES: usize> Row<LANES> {
    /// A row that nothing wrote.
    pub const UNDEFINED: Row<LANES> = Row { words: [Word { value: 0, defined: false }; LANES] };

    /// Whether it has the words of another row, as far as anybody wrote those.
    pub fn refines(&self, other: &Row<LANES>) -> bool {
        self.words.iter().zip(&other.words).all(|(one, other)| one.refines(*other))
    }

    /// The output of a one-hot multiplexer that selects two rows.
    pub fn or(self, other: Row<LANES>) -> Row<LANES> {
        Row { words: std::array::from_fn(|lane| self.words[lane].or(other.words[lane])) }
    }
}

/// A memory of rows.
#[derive(Clone, Debug)]
pub(crate) struct Memory<const LANES: usize> {
    rows: Vec<Row<LANES>>,
}

impl<const LANES: usize> Memory<LANES> {
    pub fn new(rows: u32) -> Self {
        Memory { rows: vec![Row::UNDEFINED; rows as usize] }
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The row at an address; an undefined one beyond the end.
    pub fn row(&self, address: u64) -> &Row<LANES> {
        self.rows.get(address as usize).unwrap_or(&Row::UNDEFINED)
    }

    /// Whether it has the words of another memory, as far as anybody wrote those, each so many rows later: the first row comes after the last.
    pub fn refines(&self, other: &Self, rows: u64) -> bool {
        let later = self.rows.iter().cycle().skip(rows as usize);
        other.rows.iter().zip(later).all(|(other, row)| row.refines(other))
    }

    /// Moves each row by so many rows, the last ones to the begin.
    pub fn turn(&mut self, rows: u64) {
        self.rows.rotate_right(rows as usize);
    }

    pub fn word(&self, row: u64, lane: u64) -> Word {
        self.row(row).words[lane as usize]
    }

    /// Writes a row; nothing happens beyond the end.
    pub fn write_row(&mut self, address: u64, row: Row<LANES>) {
        if let Some(place) = self.rows.get_mut(address as usize) {
            *place = row;
        }
    }

    pub fn write_word(&mut self, row: u64, lane: u64, word: Word) {
        if let Some(place) = self.rows.get_mut(row as usize) {
            place.words[lane as usize] = word;
        }
    }
}

/// A read port of an SRAM: the row that was read appears `latency` enabled cycles later and stays until the next.
#[derive(Clone, Debug)]
pub(crate) struct ReadPort<const LANES: usize> {
    stages: Vec<Row<LANES>>,
}

impl<const LANES: usize> ReadPort<LANES> {
    pub fn new(latency: u32) -> Self {
        ReadPort { stages: vec![Row::UNDEFINED; latency as usize] }
    }

    /// The row on the port.
    pub fn row(&self) -> &Row<LANES> {
        self.stages.last().unwrap_or(&Row::UNDEFINED)
    }

    /// Whether it has the words of another port, as far as anybody wrote those.
    pub fn refines(&self, other: &Self) -> bool {
        self.stages.iter().zip(&other.stages).all(|(row, other)| row.refines(other))
    }

    /// Ends an enabled cycle in which `read` was read, if anything.
    pub fn clock(&mut self, read: Option<&Row<LANES>>) {
        for stage in (1..self.stages.len()).rev() {
            self.stages[stage] = self.stages[stage - 1];
        }
        if let Some(row) = read {
            self.stages[0] = *row;
        }
    }
}

/// Commands on their way beside an SRAM read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delay<T> {
    stages: Vec<Option<T>>,
    /// How many are on their way.
    pending: usize,
}

impl<T: Copy> Delay<T> {
    pub fn new(latency: u32) -> Self {
        Delay { stages: vec![None; latency as usize], pending: 0 }
    }

    /// The item that arrives in this cycle, given the one that departs: the same with no latency.
    pub fn arriving(&self, departing: Option<T>) -> Option<T> {
        self.stages.last().map_or(departing, |arriving| *arriving)
    }

    /// Ends an unstalled cycle.
    #[inline]
    pub fn clock(&mut self, departing: Option<T>) {
        if self.stages.is_empty() || self.pending == 0 && departing.is_none() {
            return;
        }
        self.pending += usize::from(departing.is_some());
        self.pending -= usize::from(self.stages.last().is_some_and(Option::is_some));
        self.stages.rotate_right(1);
        self.stages[0] = departing;
    }

    /// The same with other items.
    pub fn map(&self, change: impl Fn(T) -> T) -> Self {
        Delay { stages: self.stages.iter().map(|stage| stage.map(&change)).collect(), ..*self }
    }

    /// Whether anything is on its way.
    pub fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// Drops all items on their way.
    pub fn flush(&mut self) {
        self.stages.fill(None);
        self.pending = 0;
    }
}
