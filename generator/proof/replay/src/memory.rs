//! Memories that hold where their words came from.

use num_integer::gcd;

/// Where a word came from: the cycle in which it was on the wire of a write port, and which port, as one number.
pub(crate) type Token = u64;

/// A word that was never written.
pub(crate) const UNDEFINED: Token = u64::MAX;

/// A word that is not here: the chain input has it.
pub(crate) const CHAINED: Token = u64::MAX - 1;

/// The token of the same word, some time later.
pub(crate) fn later(token: Token, by: u64) -> Token {
    if token >= CHAINED { token } else { token + by }
}

/// Words, and their accesses since the last mark.
#[derive(Clone, Debug)]
pub(crate) struct TracedMemory {
    tokens: Vec<Token>,
    /// Whether it matters that words are overwritten unread.
    watched: bool,
    /// Written and not read since.
    unread: Vec<bool>,
    epoch: u32,
    read_in: Vec<u32>,
    written_in: Vec<u32>,
    /// Words read since the mark before they were written, with their tokens.
    needed: Vec<(u32, Token)>,
    /// Words written since the mark.
    written: Vec<u32>,
    /// Words written since the mark before they were read, and whether the word before was still unread.
    replaced: Vec<(u32, bool)>,
}

impl TracedMemory {
    /// A memory, and whether it matters that words are overwritten unread.
    pub fn new(words: usize, watched: bool) -> TracedMemory {
        TracedMemory {
            watched,
            tokens: vec![UNDEFINED; words],
            unread: vec![false; words],
            epoch: 1,
            read_in: vec![0; words],
            written_in: vec![0; words],
            needed: Vec::new(),
            written: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.tokens.len()
    }

    pub fn read(&mut self, word: usize) -> Token {
        let token = self.tokens[word];
        if self.read_in[word] != self.epoch {
            self.read_in[word] = self.epoch;
            if self.written_in[word] != self.epoch {
                self.needed.push((word as u32, token));
            }
        }
        self.unread[word] = false;
        token
    }

    /// Writes a word. Gives whether that matters and the word before was never read.
    pub fn write(&mut self, word: usize, token: Token) -> bool {
        let unread = std::mem::replace(&mut self.unread[word], true);
        if self.written_in[word] != self.epoch {
            self.written_in[word] = self.epoch;
            self.written.push(word as u32);
            if self.read_in[word] != self.epoch {
                self.replaced.push((word as u32, unread));
            }
        }
        self.tokens[word] = token;
        unread && self.watched
    }

    /// Begins to record anew.
    pub fn mark(&mut self) {
        self.epoch += 1;
        self.needed.clear();
        self.written.clear();
        self.replaced.clear();
    }

    /// For how many periods, at most `limit`, everything that mattered since the mark is the same again, each time `moved`
    /// words further on and `age` later.
    ///
    /// A word that was read before it was written must be there again in the next place, and in the one after that, and so
    /// on until a place that the period wrote: from there on the writes of later periods provide it.
    pub fn repetitions(&self, moved: usize, age: u64, limit: u64) -> u64 {
        let words = self.tokens.len();
        let orbit = (words / gcd(moved, words)) as u64;
        let mut periods = limit;
        let mut follow = |word: u32, provided: &dyn Fn(usize) -> bool, same: &dyn Fn(usize, u64) -> bool| {
            let mut place = word as usize;
            for turn in 1..=periods.min(orbit) {
                place += moved;
                if place >= words {
                    place -= words;
                }
                if !same(place, turn) {
                    periods = turn - 1;
                    return;
                }
                if provided(place) {
                    return;
                }
            }
        };
        let written = |place: usize| self.written_in[place] == self.epoch;
        for &(word, token) in &self.needed {
            follow(word, &written, &|place, turn| self.tokens[place] == later(token, age * turn));
        }
        if self.watched {
            let touched = |place: usize| written(place) || self.read_in[place] == self.epoch;
            for &(word, unread) in &self.replaced {
                follow(word, &touched, &|place, _| self.unread[place] == unread);
            }
        }
        periods
    }

    /// Repeats the accesses since the mark as many times, each time `moved` words further on and `age` later.
    pub fn skip(&mut self, moved: usize, age: u64, periods: u64) {
        let words = self.tokens.len();
        let done: Vec<(usize, Token, bool)> = self
            .written
            .iter()
            .map(|&word| (word as usize, self.tokens[word as usize], self.unread[word as usize]))
            .collect();
        let only_read = self.needed.iter().map(|&(word, _)| word as usize);
        let only_read: Vec<usize> =
            only_read.filter(|&word| self.watched && self.written_in[word] != self.epoch).collect();
        // After so many periods the writes come back to the same words, and only the last ones last.
        let turn = (words / gcd(moved, words)) as u64;
        for period in periods.saturating_sub(turn) + 1..=periods {
            let shift = (moved as u128 * u128::from(period) % words as u128) as usize;
            let place = |word: usize| if word + shift >= words { word + shift - words } else { word + shift };
            for &(word, token, unread) in &done {
                self.tokens[place(word)] = later(token, age * period);
                self.unread[place(word)] = unread;
            }
            for &word in &only_read {
                self.unread[place(word)] = false;
            }
        }
    }
}
