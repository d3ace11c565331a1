//! Rows of bits.

use std::ops::{BitOr, BitXor};

const WORDS: usize = 8;

/// Bits of the widest row.
pub const MAX_WIDTH: u32 = WORDS as u32 * u64::BITS;

/// A row of a memory, bit 0 first; bits past its width are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    words: [u64; WORDS],
}

impl Row {
    /// A row of `width` bits, each the function of its number.
    pub fn of(width: u32, mut bit: impl FnMut(u32) -> bool) -> Self {
        let mut row = Row::default();
        for number in 0..width {
            row.set(number, bit(number));
        }
        row
    }

    /// A row of 32-bit words, the lowest first.
    pub fn of_words(words: impl IntoIterator<Item = u32>) -> Self {
        let mut row = Row::default();
        for (index, word) in words.into_iter().enumerate() {
            row.words[index / 2] |= u64::from(word) << (32 * (index % 2));
        }
        row
    }

    /// A bit.
    pub fn bit(&self, number: u32) -> bool {
        self.words[(number / u64::BITS) as usize] >> (number % u64::BITS) & 1 == 1
    }

    /// Changes a bit.
    pub fn set(&mut self, number: u32, value: bool) {
        let mask = 1 << (number % u64::BITS);
        let word = &mut self.words[(number / u64::BITS) as usize];
        *word = if value { *word | mask } else { *word & !mask };
    }

    /// The bits that are set in both.
    pub fn and(self, other: Row) -> Row {
        Row { words: std::array::from_fn(|index| self.words[index] & other.words[index]) }
    }
}

impl BitXor for Row {
    type Output = Row;

    fn bitxor(self, other: Row) -> Row {
        Row { words: std::array::from_fn(|index| self.words[index] ^ other.words[index]) }
    }
}

impl BitOr for Row {
    type Output = Row;

    fn bitor(self, other: Row) -> Row {
        Row { words: std::array::from_fn(|index| self.words[index] | other.words[index]) }
    }
}
