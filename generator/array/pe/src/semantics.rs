//! The words that processing elements compute with: numbers, or tokens that tell the origin of a word.

use std::cell::LazyCell;
use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use crate::model::Configuration;
use crate::operation::Operation;

/// The values of words and bits, and the results of operations on them.
pub trait Semantics {
    /// The word and the bit that a configuration computes of words `a`, `b`, `c` and bits `d`, `e`, `f`. 0 and 1 are the
    /// constants of bits.
    fn outcome(&self, configuration: &Configuration, words: [u32; 3], bits: [u32; 3]) -> (u32, u32);

    /// The word of a held or accumulated operand: `new` if the enable is 1, `kept` if it is 0.
    fn enabled(&self, enable: u32, new: u32, kept: u32) -> u32;

    /// The word of a register that has taken none yet: that of the operand at a place of a cell.
    fn unknown(&self, cell: u32, operand: usize) -> u32;
}

/// Numbers: the semantics of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// Bits of a word.
    pub word_bits: u32,
}

impl Semantics for Numbers {
    fn outcome(&self, configuration: &Configuration, words: [u32; 3], bits: [u32; 3]) -> (u32, u32) {
        let outcome = configuration.outcome(self.word_bits, words, bits.map(|bit| bit != 0));
        (outcome.word, outcome.bit.into())
    }

    fn enabled(&self, enable: u32, new: u32, kept: u32) -> u32 {
        if enable == 0 { kept } else { new }
    }

    fn unknown(&self, _: u32, _: usize) -> u32 {
        0
    }
}

/// Tokens: a result is a random function of the operation and its operands, so that two words are equal only if they are the
/// same operations of the same words. Bits that are no tokens choose as in the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Bits of a word, and so of a token. Different ones are equal by chance once in `2^word_bits`.
    pub word_bits: u32,
    /// Which random function.
    pub seed: u64,
}

impl Tokens {
    /// The token of anything.
    pub fn token(&self, of: impl Hash) -> u32 {
        self.word(self.digest(of))
    }

    fn digest(&self, of: impl Hash) -> u64 {
        FixedState::with_seed(self.seed).hash_one(of)
    }

    /// The digest of an operation, its words and its bit: whole numbers, which are the fastest to hash.
    fn digest_of(&self, operation: Operation, [a, b, c]: [u32; 3], bit: u32) -> u64 {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        self.digest((pair(operation as u32, bit), pair(a, b), c))
    }

    /// The token of a word with this digest.
    fn word(&self, digest: u64) -> u32 {
        digest as u32 & (u32::MAX >> (u32::BITS - self.word_bits))
    }

    /// The token of a bit with this digest: neither 0 nor 1, and not that of the word.
    fn bit(&self, digest: u64) -> u32 {
        self.word(digest >> 32) + 2
    }

    /// A function of three bits, of which some are tokens.
    fn table(&self, table: u8, bits: [u32; 3]) -> u32 {
        // The entries that the constants leave: the function of the tokens alone, whatever their places.
        let free: Vec<usize> = (0..3).filter(|place| bits[*place] > 1).collect();
        let entry = |choice: usize| {
            let bit = |place: usize| match free.iter().position(|other| *other == place) {
                Some(number) => choice >> number & 1,
                None => bits[place] as usize,
            };
            table >> ((bit(2) << 2) + (bit(1) << 1) + bit(0)) & 1
        };
        let entries: Vec<u8> = (0..1 << free.len()).map(entry).collect();
        match entries.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => (*first).into(),
            _ => {
                let tokens: Vec<u32> = free.iter().map(|place| bits[*place]).collect();
                self.bit(self.digest(("table", entries, tokens)))
            }
        }
    }
}

/// A sum of three words of which one is 0 is that of two.
fn simplest(operation: Operation, [a, b, c]: [u32; 3]) -> (Operation, [u32; 3]) {
    match (operation, [a, b, c]) {
        (Operation::AddThree, [0, b, c]) => (Operation::Add, [b, c, 0]),
        (Operation::AddThree, [a, 0, c]) => (Operation::Add, [a, c, 0]),
        (Operation::AddThree, [a, b, 0]) => (Operation::Add, [a, b, 0]),
        (_, words) => (operation, words),
    }
}

impl Semantics for Tokens {
    fn outcome(&self, configuration: &Configuration, words: [u32; 3], bits: [u32; 3]) -> (u32, u32) {
        let (operation, words) = simplest(configuration.operation, words);
        let [a, b, _] = words;
        let d = bits[0];
        let used: [u32; 3] = std::array::from_fn(|place| if place < operation.words() { words[place] } else { 0 });
        let sorted = if operation.commutes() { [a.min(b), a.max(b), used[2]] } else { used };
        let chosen = if operation.uses_bit() { d } else { 0 };
        // Most results are tokens: one digest gives the word and the bit.
        let digest = LazyCell::new(|| self.digest_of(operation, sorted, chosen));
        let word = match operation {
            Operation::Pass => a,
            // Constants enter so where no operation passes a word, and so do the words of memories of several tiles.
            Operation::Or | Operation::Add if b == 0 => a,
            Operation::Or | Operation::Add if a == 0 => b,
            Operation::Select if d <= 1 => {
                if d == 1 {
                    a
                } else {
                    b
                }
            }
            _ => self.word(*digest),
        };
        let bit = match (configuration.lut, operation) {
            (Some(table), _) => self.table(table, bits),
            (None, Operation::Pass | Operation::Select) => d,
            (None, _) if operation.compares() => self.bit(self.digest_of(operation, used, 0)),
            (None, _) => self.bit(*digest),
        };
        (word, bit)
    }

    fn enabled(&self, enable: u32, new: u32, kept: u32) -> u32 {
        match enable {
            0 => kept,
            1 => new,
            // It depends on words which of the two it is.
            enable => self.token(("enabled", enable, new, kept)),
        }
    }

    fn unknown(&self, cell: u32, operand: usize) -> u32 {
        self.token(("unknown", cell, operand))
    }
}
