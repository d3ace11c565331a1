//! Cells: operations of processing elements, and where their operands come from.

use std::borrow::Cow;

use pushmem_nest::Program;
use pushmem_pe::{Mode, Operand, Operation, PeConfiguration, Semantics};

use crate::evaluator::CellEvaluator;
use crate::predicate::Predicate;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// A constant.
    Constant(u32),
    /// A word of a load of the operation: one of the operands of its datapath.
    Load(usize),
    /// The word of a cell, an index of [`Cells::cells`].
    Cell(usize),
    /// The entry that a look-up gives, an index of [`Cells::fetches`].
    Fetch(usize),
    /// A function of a loop variable, an index of [`Cells::sequences`].
    Sequence(usize),
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

    /// The cell that gives it, if there is one.
    pub fn cell(self) -> Option<usize> {
        match self.source {
            BitSource::Cell(cell) => Some(cell),
            _ => None,
        }
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

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// One of the program, an index of [`Program::tables`]: the low words of its entries.
    Program(usize),
    /// The high words of the entries of one of the program, which are the only other words that they have.
    High(usize),
    /// One that selection made, an index of [`Cells::tables`].
    Selected(usize),
}

/// A look-up in a table: a memory gives the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The table.
    pub table: Table,
    /// The number of the entry.
    pub index: Word,
}

/// A function of a loop variable: a memory has its words, and its own controllers read them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// The loop, numbered from the outermost.
    pub variable: usize,
    /// The least value of the variable.
    pub first: i64,
    /// The word for each value of the variable, from the least on.
    pub words: Vec<u32>,
}

impl Sequence {
    /// The word for a value of the variable.
    ///
    /// # Panics
    /// If the variable never has the value.
    pub fn word(&self, value: i64) -> u32 {
        self.words[usize::try_from(value - self.first).expect("values are those of the loop")]
    }
}

/// The cells of an operation, operands before their users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// The cells.
    pub cells: Vec<Cell>,
    /// The look-ups. The index of one comes from cells and from look-ups before it.
    pub fetches: Vec<Fetch>,
    /// The entries of tables that are none of the program, words without sign.
    pub tables: Vec<Vec<i64>>,
    /// The functions of a loop variable.
    pub sequences: Vec<Sequence>,
    /// The boxes of loop variables that decide.
    pub predicates: Vec<Predicate>,
    /// The words of the result, low word first.
    pub results: Vec<Word>,
}

impl Cell {
    /// The configuration of its processing element, whose operands are all direct.
    pub fn configuration(&self) -> PeConfiguration {
        PeConfiguration {
            operation: self.operation,
            words: [Operand { mode: Mode::Direct, constant: 0 }; 3],
            bits: [Operand { mode: Mode::Direct, constant: false }; 3],
            lut: self.lut,
        }
    }

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
    /// The entries of a table, for the cells of an operation of this program. Words are their low bits.
    pub fn contents<'a>(&'a self, program: &'a Program, table: Table) -> Cow<'a, [i64]> {
        match table {
            Table::Program(table) => Cow::Borrowed(&program.tables[table].values),
            Table::High(table) => {
                let high = |value: &i64| i64::from(pushmem_nest::Word::High.of(*value));
                Cow::Owned(program.tables[table].values.iter().map(high).collect())
            }
            Table::Selected(table) => Cow::Borrowed(&self.tables[table]),
        }
    }

    /// The words of the result, low word first, for these words of the loads and these values of the loop variables.
    ///
    /// `entry` gives the entry of a table, whose entries are [`contents`](Cells::contents).
    pub fn evaluate<S: Semantics + Copy>(
        &self,
        semantics: &S,
        loads: &[S::Value],
        variables: &[i64],
        entry: impl Fn(Table, S::Value) -> S::Value,
    ) -> Vec<S::Value> {
        CellEvaluator::new(self, *semantics).evaluate(loads, variables, entry).collect()
    }
}
