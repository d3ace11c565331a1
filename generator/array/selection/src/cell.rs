//! Cells: operations of processing elements, and where their operands come from.

use pushmem_pe::{Operation, Outcome};

use crate::predicate::Predicate;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// A constant.
    Constant(u32),
    /// A load of the operation.
    Load(usize),
    /// The word of a cell, an index of [`Cells::cells`].
    Cell(usize),
    /// The entry that a look-up gives, an index of [`Cells::fetches`].
    Fetch(usize),
}

/// The source of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BitSource {
    /// Always false.
    False,
    /// The bit of a cell, an index of [`Cells::cells`].
    Cell(usize),
    /// Whether loop variables are in a box, an index of [`Cells::predicates`].
    Predicate(usize),
}

/// A bit: that of its source, or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit {
    /// The source.
    pub source: BitSource,
    /// Whether the bit is the opposite of its source.
    pub inverted: bool,
}

impl Bit {
    /// A constant.
    pub fn constant(value: bool) -> Self {
        Bit { source: BitSource::False, inverted: value }
    }

    /// The bit of a cell.
    pub fn of_cell(cell: usize) -> Self {
        Bit { source: BitSource::Cell(cell), inverted: false }
    }

    /// The value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.source == BitSource::False).then_some(self.inverted)
    }
}

impl std::ops::Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit { inverted: !self.inverted, ..self }
    }
}

/// An operation of a processing element and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// The words `a`, `b`, `c`. Those that the operation does not depend on are 0.
    pub words: [Word; 3],
    /// The bits `d`, `e`, `f`. No bit is inverted in the result of selection, but constants are.
    pub bits: [Bit; 3],
    /// The table of the bits, if it gives the resulting bit.
    pub lut: Option<u8>,
}

/// A look-up in a table of the program: a memory gives the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The table, an index of [`Program::tables`](pushmem_nest::Program::tables).
    pub table: usize,
    /// The number of the entry.
    pub index: Word,
}

/// The cells of an operation, operands before their users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// The cells.
    pub cells: Vec<Cell>,
    /// The look-ups. The index of one comes from cells and from look-ups before it.
    pub fetches: Vec<Fetch>,
    /// The boxes of loop variables that decide.
    pub predicates: Vec<Predicate>,
    /// The word of the result.
    pub result: Option<Word>,
}

impl Cell {
    /// The words that the result depends on.
    pub fn used_words(&self) -> &[Word] {
        &self.words[..self.operation.words()]
    }

    /// The bits that the result depends on.
    pub fn used_bits(&self) -> &[Bit] {
        &self.bits[..if self.lut.is_some() { 3 } else { self.operation.uses_bit().into() }]
    }
}

impl Cells {
    /// The word of the result for these words of the loads and these values of the loop variables.
    ///
    /// `tables` gives the entries of each table of the program. An entry beyond them is 0.
    pub fn evaluate(&self, word_bits: u32, loads: &[u32], variables: &[i64], tables: &[Vec<i64>]) -> u32 {
        let mut run = Run { cells: self, word_bits, loads, variables, tables, outcomes: Vec::new() };
        for cell in &self.cells {
            let words = cell.words.map(|word| run.word(word));
            let bits = cell.bits.map(|bit| run.bit(bit));
            let configuration = pushmem_pe::Configuration {
                operation: cell.operation,
                words: [OPERAND; 3],
                bits: [BIT_OPERAND; 3],
                lut: cell.lut,
            };
            run.outcomes.push(configuration.outcome(word_bits, words, bits));
        }
        run.word(self.result.expect("selection gives a result"))
    }
}

const OPERAND: pushmem_pe::Operand<u32> = pushmem_pe::Operand { mode: pushmem_pe::Mode::Direct, constant: 0 };
const BIT_OPERAND: pushmem_pe::Operand<bool> = pushmem_pe::Operand { mode: pushmem_pe::Mode::Direct, constant: false };

/// An evaluation under way.
struct Run<'a> {
    cells: &'a Cells,
    word_bits: u32,
    loads: &'a [u32],
    variables: &'a [i64],
    tables: &'a [Vec<i64>],
    outcomes: Vec<Outcome>,
}

impl Run<'_> {
    fn word(&self, word: Word) -> u32 {
        match word {
            Word::Constant(constant) => constant,
            Word::Load(load) => self.loads[load],
            Word::Cell(cell) => self.outcomes[cell].word,
            Word::Fetch(fetch) => {
                let Fetch { table, index } = self.cells.fetches[fetch];
                let entry = self.tables[table].get(self.word(index) as usize).copied().unwrap_or(0);
                (entry as u64 & (u64::from(u32::MAX) >> (32 - self.word_bits))) as u32
            }
        }
    }

    fn bit(&self, bit: Bit) -> bool {
        let value = match bit.source {
            BitSource::False => false,
            BitSource::Cell(cell) => self.outcomes[cell].bit,
            BitSource::Predicate(predicate) => self.cells.predicates[predicate].holds(self.variables),
        };
        value != bit.inverted
    }
}
