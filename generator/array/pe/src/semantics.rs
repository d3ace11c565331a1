//! The words that processing elements compute with: numbers, or tokens that tell the origin of a word.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;

use crate::model::PeConfiguration;
use crate::operation::Operation;

/// The values of words and bits, and the results of operations on them.
pub trait Semantics {
    /// A word or a bit. The constants of bits are 0 and 1.
    type Value: Copy + Eq + From<u32> + Into<u64>;

    /// A configuration, prepared for the evaluation of many cycles.
    type Element;

    /// Prepares a configuration.
    fn element(&self, configuration: &PeConfiguration) -> Self::Element;

    /// The word and the bit that an element computes of words `a`, `b`, `c` and bits `d`, `e`, `f`.
    fn outcome(
        &self,
        element: &Self::Element,
        words: [Self::Value; 3],
        bits: [Self::Value; 3],
    ) -> (Self::Value, Self::Value);

    /// The outcomes of operands in so many cycles, in the first places of the results.
    fn outcomes(
        &self,
        element: &Self::Element,
        [a, b, c]: [&[Self::Value]; 3],
        [d, e, f]: [&[Self::Value]; 3],
        [words, bits]: [&mut [Self::Value]; 2],
    ) {
        // By number: iterators over so many slices are calls.
        let length = words.len().min(bits.len());
        for cycle in 0..length {
            let operands = ([a[cycle], b[cycle], c[cycle]], [d[cycle], e[cycle], f[cycle]]);
            (words[cycle], bits[cycle]) = self.outcome(element, operands.0, operands.1);
        }
    }

    /// The word of a held or accumulated operand: `new` if the enable is 1, `kept` if it is 0.
    fn enabled(&self, enable: Self::Value, new: Self::Value, kept: Self::Value) -> Self::Value;

    /// The word of a register that has taken none yet: that of the operand at a place of a cell.
    fn unknown(&self, cell: u32, operand: usize) -> Self::Value;

    /// The word that a memory has as this number.
    fn stored(&self, word: u64) -> Self::Value;
}

/// Numbers: the semantics of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// Bits of a word.
    pub word_bits: u32,
}

impl Semantics for Numbers {
    type Value = u32;
    type Element = PeConfiguration;

    fn element(&self, configuration: &PeConfiguration) -> PeConfiguration {
        *configuration
    }

    fn outcome(&self, configuration: &PeConfiguration, words: [u32; 3], bits: [u32; 3]) -> (u32, u32) {
        let outcome = configuration.outcome(self.word_bits, words, bits.map(|bit| bit != 0));
        (outcome.word, outcome.bit.into())
    }

    fn enabled(&self, enable: u32, new: u32, kept: u32) -> u32 {
        if enable == 0 { kept } else { new }
    }

    fn unknown(&self, _: u32, _: usize) -> u32 {
        0
    }

    fn stored(&self, word: u64) -> u32 {
        word as u32
    }
}

/// Tokens: a result is a random function of the operation and its operands, so that two words are equal only if they are the
/// same operations of the same words. Bits that are no tokens choose as in the hardware. A token has 64 bits, whatever words have in
/// the hardware: different ones are equal by chance once in 2^64.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Which random function.
    pub seed: u64,
}

/// An operation of an element, and what its token depends on.
#[derive(Clone, Copy, Debug)]
pub struct TokenElement {
    operation: Operation,
    words: usize,
    commutes: bool,
    uses_bit: bool,
    compares: bool,
    lut: Option<u8>,
}

impl Tokens {
    /// The token of anything.
    pub fn token(&self, of: impl Hash) -> u64 {
        FixedState::with_seed(self.seed).hash_one(of)
    }

    /// The token of an operation of these operands.
    #[inline(always)]
    fn digest(&self, operation: Operation, of: impl IntoIterator<Item = u64>) -> u64 {
        // The operation is in the seed, where it costs no round.
        let seed = self.seed.wrapping_add((operation as u64 + 1).rotate_right(8));
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        of.into_iter().for_each(|number| hasher.write_u64(number));
        hasher.finish()
    }

    /// The token of a bit with this digest: neither 0 nor 1, and not that of the word.
    fn bit(digest: u64) -> u64 {
        digest.rotate_left(u64::BITS / 2) | 2
    }

    /// A function of three bits, of which some are tokens.
    fn table(&self, table: u8, bits: [u64; 3]) -> u64 {
        if let [d @ 0..=1, e @ 0..=1, f @ 0..=1] = bits {
            return u64::from(table) >> (4 * f + 2 * e + d) & 1;
        }
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
                let tokens: Vec<u64> = free.iter().map(|place| bits[*place]).collect();
                Self::bit(self.token(("table", entries, tokens)))
            }
        }
    }
}

/// A sum of three words of which one is 0 is that of two.
fn simplest(operation: Operation, [a, b, c]: [u64; 3]) -> (Operation, [u64; 3]) {
    match (operation, [a, b, c]) {
        (Operation::AddThree, [0, b, c]) => (Operation::Add, [b, c, 0]),
        (Operation::AddThree, [a, 0, c]) => (Operation::Add, [a, c, 0]),
        (Operation::AddThree, [a, b, 0]) => (Operation::Add, [a, b, 0]),
        (_, words) => (operation, words),
    }
}

impl Semantics for Tokens {
    type Value = u64;
    type Element = TokenElement;

    fn element(&self, configuration: &PeConfiguration) -> TokenElement {
        let PeConfiguration { operation, lut, .. } = *configuration;
        TokenElement {
            operation,
            words: operation.words(),
            commutes: operation.commutes(),
            uses_bit: operation.uses_bit(),
            compares: operation.compares(),
            lut,
        }
    }

    #[inline(always)]
    fn outcome(&self, element: &TokenElement, words: [u64; 3], bits: [u64; 3]) -> (u64, u64) {
        let (operation, words) = simplest(element.operation, words);
        let [a, b, c] = words;
        let b = if element.words > 1 { b } else { 0 };
        let c = if element.words > 2 { c } else { 0 };
        let (least, most) = if element.commutes && b < a { (b, a) } else { (a, b) };
        let d = bits[0];
        let chosen = if element.uses_bit { d } else { 0 };
        // Most results are tokens: one digest gives the word and the bit.
        // A sum of three words may have become one of two.
        let words = if operation == element.operation { element.words } else { operation.words() };
        let digest = || match (words, element.uses_bit) {
            (0..=2, false) => self.digest(operation, [least, most]),
            _ => self.digest(operation, [least, most, c, chosen]),
        };
        let passed = match operation {
            Operation::Pass => Some(a),
            // Constants enter so where no operation passes a word, and so do the words of memories of several tiles.
            Operation::Or | Operation::Add if b == 0 => Some(a),
            Operation::Or | Operation::Add if a == 0 => Some(b),
            Operation::Select if d == 1 => Some(a),
            Operation::Select if d == 0 => Some(b),
            _ => None,
        };
        match (element.lut, operation) {
            (Some(table), _) => (passed.unwrap_or_else(digest), self.table(table, bits)),
            (None, Operation::Pass | Operation::Select) => (passed.unwrap_or_else(digest), d),
            (None, _) if element.compares => {
                (passed.unwrap_or_else(digest), Self::bit(self.digest(operation, [a, b, c, 0])))
            }
            (None, _) => {
                let digest = digest();
                (passed.unwrap_or(digest), Self::bit(digest))
            }
        }
    }

    fn enabled(&self, enable: u64, new: u64, kept: u64) -> u64 {
        match enable {
            0 => kept,
            1 => new,
            // It depends on words which of the two it is.
            enable => self.token(("enabled", enable, new, kept)),
        }
    }

    fn unknown(&self, cell: u32, operand: usize) -> u64 {
        self.token(("unknown", cell, operand))
    }

    fn stored(&self, word: u64) -> u64 {
        word
    }
}
