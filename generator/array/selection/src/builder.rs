//! Cells under construction: equal ones only once, constants folded, and operations that the processing element lacks made of
//! others.

use indexmap::IndexSet;
use pushmem_pe::{Operation, PeSpec};

use pushmem_cells::Predicate;
use pushmem_cells::{Bit, BitSource, Cell, Cells, Fetch, Sequence, Table, Word};

/// No operand.
const NONE: Word = Word::Constant(0);

pub(crate) struct Builder<'a> {
    pub spec: &'a PeSpec,
    pub cells: IndexSet<Cell>,
    pub fetches: IndexSet<Fetch>,
    pub tables: IndexSet<Vec<i64>>,
    pub sequences: IndexSet<Sequence>,
    pub predicates: IndexSet<Predicate>,
}

impl<'a> Builder<'a> {
    pub fn new(spec: &'a PeSpec) -> Self {
        Builder {
            spec,
            cells: IndexSet::new(),
            fetches: IndexSet::new(),
            tables: IndexSet::new(),
            sequences: IndexSet::new(),
            predicates: IndexSet::new(),
        }
    }

    /// The cells that give these results.
    pub fn finished(self, results: Vec<Word>) -> Cells {
        Cells {
            cells: self.cells.into_iter().collect(),
            fetches: self.fetches.into_iter().collect(),
            tables: self.tables.into_iter().collect(),
            sequences: self.sequences.into_iter().collect(),
            predicates: self.predicates.into_iter().collect(),
            results,
        }
    }

    pub fn has(&self, operation: Operation) -> bool {
        self.spec.opcode(operation).is_some()
    }

    /// A word of ones.
    pub fn ones(&self) -> Word {
        Word::Constant(self.mask())
    }

    /// The constant whose low bits are those of a number.
    pub fn constant(&self, number: i64) -> Word {
        Word::Constant(number as u32 & self.mask())
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.spec.word_bits)
    }

    /// The cell, which is a new one unless there is an equal one.
    pub fn intern(&mut self, cell: Cell) -> usize {
        self.cells.insert_full(cell).0
    }

    /// The cell of an operation of up to three words and a bit.
    fn cell(&mut self, operation: Operation, words: [Word; 3], bit: Bit) -> usize {
        let bits = [bit, Bit::constant(false), Bit::constant(false)];
        self.intern(Cell { operation, words, bits, lut: None })
    }

    /// The word and the bit of an operation of two words and perhaps a bit.
    fn outcome(&mut self, operation: Operation, [a, b]: [Word; 2], d: Bit) -> (Word, Bit) {
        if let (Word::Constant(a), Word::Constant(b)) = (a, b)
            && let Some(d) = if operation.uses_bit() { d.as_constant() } else { Some(false) }
        {
            let outcome = operation.evaluate(self.spec.word_bits, [a, b, 0], d);
            return (Word::Constant(outcome.word), Bit::constant(outcome.bit));
        }
        let cell = self.cell(operation, [a, b, NONE], d);
        (Word::Cell(cell), Bit::of_cell(cell))
    }

    fn binary(&mut self, operation: Operation, a: Word, b: Word) -> Word {
        self.outcome(operation, [a, b], Bit::constant(false)).0
    }

    /// The operands of a commutative operation: a constant comes last.
    fn ordered(a: Word, b: Word) -> [Word; 2] {
        match (a, b) {
            (Word::Constant(_), _) => [b, a],
            (_, Word::Constant(_)) => [a, b],
            _ => [a.min(b), a.max(b)],
        }
    }

    /// `a + b` and its carry.
    pub fn add(&mut self, a: Word, b: Word) -> (Word, Bit) {
        match Self::ordered(a, b) {
            [a, Word::Constant(0)] => (a, Bit::constant(false)),
            operands => self.outcome(Operation::Add, operands, Bit::constant(false)),
        }
    }

    /// `a + b + d` and its carry.
    pub fn add_carry(&mut self, a: Word, b: Word, d: Bit) -> (Word, Bit) {
        match d.as_constant() {
            Some(false) => self.add(a, b),
            _ => match Self::ordered(a, b) {
                [Word::Constant(0), Word::Constant(0)] => (self.word_of(d), Bit::constant(false)),
                operands => {
                    let d = self.plain(d);
                    self.outcome(Operation::AddCarry, operands, d)
                }
            },
        }
    }

    /// `a - b`, and whether there was no borrow.
    pub fn subtract(&mut self, a: Word, b: Word) -> (Word, Bit) {
        match (a, b) {
            (a, Word::Constant(0)) => (a, Bit::constant(true)),
            (a, b) if a == b => (Word::Constant(0), Bit::constant(true)),
            _ => self.outcome(Operation::Subtract, [a, b], Bit::constant(false)),
        }
    }

    /// `a - b`, less 1 unless `d`, and whether there was no borrow.
    pub fn subtract_carry(&mut self, a: Word, b: Word, d: Bit) -> (Word, Bit) {
        match d.as_constant() {
            Some(true) => self.subtract(a, b),
            _ => {
                let d = self.plain(d);
                self.outcome(Operation::SubtractCarry, [a, b], d)
            }
        }
    }

    /// The low word of `a · b`.
    pub fn multiply(&mut self, a: Word, b: Word) -> Word {
        match Self::ordered(a, b) {
            [_, zero @ Word::Constant(0)] => zero,
            [a, Word::Constant(1)] => a,
            [a, Word::Constant(power)] if power.is_power_of_two() && self.has(Operation::ShiftLeft) => {
                self.shift(Operation::ShiftLeft, a, power.trailing_zeros())
            }
            [a, b] => self.binary(Operation::Multiply, a, b),
        }
    }

    /// The high word of the product of unsigned words, or of signed ones.
    pub fn multiply_high(&mut self, a: Word, b: Word, signed: bool) -> Word {
        let operation = if signed { Operation::MultiplyHighSigned } else { Operation::MultiplyHighUnsigned };
        match Self::ordered(a, b) {
            [_, zero @ Word::Constant(0)] => zero,
            [_, Word::Constant(1)] if !signed => Word::Constant(0),
            [a, b] => self.binary(operation, a, b),
        }
    }

    /// The word in the middle of the product; nothing if the processing element has no such operation.
    pub fn multiply_middle(&mut self, a: Word, b: Word, signed: bool) -> Option<Word> {
        let operation = if signed { Operation::MultiplyMiddleSigned } else { Operation::MultiplyMiddleUnsigned };
        let [a, b] = Self::ordered(a, b);
        self.has(operation).then(|| self.binary(operation, a, b))
    }

    /// A shift by a constant.
    pub fn shift(&mut self, operation: Operation, a: Word, amount: u32) -> Word {
        match amount {
            0 => a,
            _ if amount >= self.spec.word_bits && operation != Operation::ShiftRightSigned => Word::Constant(0),
            // A shift of the sign, and a mask, where there is no other.
            _ if operation == Operation::ShiftRightUnsigned
                && !self.has(operation)
                && self.has(Operation::ShiftRightSigned) =>
            {
                let shifted = self.shift(Operation::ShiftRightSigned, a, amount);
                self.bitwise(Operation::And, shifted, Word::Constant(self.mask() >> amount))
            }
            _ => self.binary(operation, a, Word::Constant(amount.min(self.spec.word_bits - 1))),
        }
    }

    /// A shift by a word, which is an amount without sign.
    pub fn shift_by(&mut self, operation: Operation, a: Word, amount: Word) -> Word {
        match amount {
            Word::Constant(amount) => self.shift(operation, a, amount),
            _ => self.binary(operation, a, amount),
        }
    }

    /// The result of an operation that converts a word.
    pub fn convert(&mut self, operation: Operation, a: Word) -> Word {
        self.binary(operation, a, NONE)
    }

    /// The word and the bit of an operation of two numbers with a fraction.
    pub fn float(&mut self, operation: Operation, a: Word, b: Word) -> (Word, Bit) {
        let operands = if operation.commutes() { Self::ordered(a, b) } else { [a, b] };
        self.outcome(operation, operands, Bit::constant(false))
    }

    /// The sign of a signed word in all its bits.
    pub fn sign(&mut self, a: Word) -> Word {
        self.shift(Operation::ShiftRightSigned, a, self.spec.word_bits - 1)
    }

    /// `a & b`, `a | b` or `a ^ b`.
    pub fn bitwise(&mut self, operation: Operation, a: Word, b: Word) -> Word {
        if let (Operation::And, [a, Word::Constant(mask)]) = (operation, Self::ordered(a, b))
            && let Some(shifted) = self.masked_shift(a, mask)
        {
            return shifted;
        }
        let ones = self.ones();
        match (operation, Self::ordered(a, b)) {
            (Operation::And, [_, zero @ Word::Constant(0)]) => zero,
            (Operation::Or | Operation::Xor, [a, Word::Constant(0)]) => a,
            // Of the highest bit a sum keeps no carry.
            (Operation::Xor, [a, b])
                if b == Word::Constant(self.mask() ^ (self.mask() >> 1)) && !self.has(operation) =>
            {
                self.add(a, b).0
            }
            (Operation::And, [a, b]) if b == ones => a,
            (Operation::Or, [_, b]) if b == ones => ones,
            (Operation::And | Operation::Or, [a, b]) if a == b => a,
            (_, [a, b]) => self.binary(operation, a, b),
        }
    }

    /// The low bits of a word that was shifted to the right by a constant: no mask is needed if these are the bits that remain of
    /// the word before, whose sign does not matter.
    fn masked_shift(&mut self, a: Word, mask: u32) -> Option<Word> {
        let Word::Cell(cell) = a else { return None };
        let Cell { operation, words: [shifted, Word::Constant(amount), _], lut: None, .. } = self.cells[cell] else {
            return None;
        };
        let is_right = matches!(operation, Operation::ShiftRightSigned | Operation::ShiftRightUnsigned);
        let is_all = is_right && amount < self.spec.word_bits && mask == self.mask() >> amount;
        let has = self.has(Operation::ShiftRightUnsigned);
        (is_all && has).then(|| self.shift(Operation::ShiftRightUnsigned, shifted, amount))
    }

    /// `a` if `d`, else `b`.
    pub fn select(&mut self, d: Bit, a: Word, b: Word) -> Word {
        match d.as_constant() {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => {
                let (a, b) = if d.inverted { (b, a) } else { (a, b) };
                Word::Cell(self.cell(Operation::Select, [a, b, NONE], Bit { inverted: false, ..d }))
            }
        }
    }

    /// A bit as a word, 0 or 1.
    pub fn word_of(&mut self, d: Bit) -> Word {
        if let (BitSource::Cell(cell), false) = (d.source, d.inverted)
            && is_comparison(self.cells[cell].operation)
            && self.cells[cell].lut.is_none()
        {
            return Word::Cell(cell);
        }
        self.select(d, Word::Constant(1), Word::Constant(0))
    }

    /// `a == b`.
    pub fn equal(&mut self, a: Word, b: Word) -> Bit {
        if a == b {
            return Bit::constant(true);
        }
        if self.has(Operation::Equal) {
            return self.outcome(Operation::Equal, Self::ordered(a, b), Bit::constant(false)).1;
        }
        let difference = self.bitwise(Operation::Xor, a, b);
        self.less(difference, Word::Constant(1), false)
    }

    /// `a < b`, of signed words or of unsigned ones.
    pub fn less(&mut self, a: Word, b: Word, signed: bool) -> Bit {
        let (less, less_equal) = match signed {
            true => (Operation::LessSigned, Operation::LessEqualSigned),
            false => (Operation::LessUnsigned, Operation::LessEqualUnsigned),
        };
        match (a, b) {
            (a, b) if a == b => Bit::constant(false),
            (_, Word::Constant(0)) if !signed => Bit::constant(false),
            _ if self.has(less) || !self.has(less_equal) => self.outcome(less, [a, b], Bit::constant(false)).1,
            _ => !self.outcome(less_equal, [b, a], Bit::constant(false)).1,
        }
    }

    /// `a <= b`, of signed words or of unsigned ones.
    pub fn less_equal(&mut self, a: Word, b: Word, signed: bool) -> Bit {
        let operation = if signed { Operation::LessEqualSigned } else { Operation::LessEqualUnsigned };
        match (a, b) {
            (a, b) if a == b => Bit::constant(true),
            (Word::Constant(0), _) if !signed => Bit::constant(true),
            _ if self.has(operation) => self.outcome(operation, [a, b], Bit::constant(false)).1,
            _ => !self.less(b, a, signed),
        }
    }

    /// The least of two words, or the greatest.
    pub fn extreme(&mut self, greatest: bool, a: Word, b: Word, signed: bool) -> Word {
        let operation = match (greatest, signed) {
            (false, false) => Operation::MinimumUnsigned,
            (false, true) => Operation::MinimumSigned,
            (true, false) => Operation::MaximumUnsigned,
            (true, true) => Operation::MaximumSigned,
        };
        if a == b {
            return a;
        }
        if self.has(operation) {
            let [a, b] = Self::ordered(a, b);
            return self.binary(operation, a, b);
        }
        let less = self.less(a, b, signed);
        if greatest { self.select(less, b, a) } else { self.select(less, a, b) }
    }

    /// `|a|` of a signed word.
    pub fn absolute(&mut self, a: Word) -> Word {
        if self.has(Operation::Absolute) {
            return self.binary(Operation::Absolute, a, NONE);
        }
        let negative = self.subtract(Word::Constant(0), a).0;
        let less = self.less(a, Word::Constant(0), true);
        self.select(less, negative, a)
    }

    /// `|a - b|`. `fits` tells that the difference is a signed word.
    pub fn absolute_difference(&mut self, a: Word, b: Word, signed: bool, fits: bool) -> Word {
        let operation = match signed {
            true => Operation::AbsoluteDifferenceSigned,
            false => Operation::AbsoluteDifferenceUnsigned,
        };
        if self.has(operation) {
            let [a, b] = Self::ordered(a, b);
            return self.binary(operation, a, b);
        }
        let (difference, no_borrow) = self.subtract(a, b);
        if fits {
            return self.absolute(difference);
        }
        let opposite = self.subtract(b, a).0;
        let is_less = if signed { self.less(a, b, true) } else { !no_borrow };
        self.select(is_less, opposite, difference)
    }

    /// The low bits of a word as a number of so many bits, extended to a word.
    pub fn extended(&mut self, a: Word, bits: u32, signed: bool) -> Word {
        let word_bits = self.spec.word_bits;
        let operation = if signed { Operation::ExtendSigned } else { Operation::ExtendUnsigned };
        if bits >= word_bits {
            return a;
        }
        if let Some(shifted) = (!signed).then(|| self.masked_shift(a, (1 << bits) - 1)).flatten() {
            return shifted;
        }
        if bits == word_bits / 2 && self.has(operation) {
            return self.binary(operation, a, NONE);
        }
        if signed {
            let high = self.shift(Operation::ShiftLeft, a, word_bits - bits);
            return self.shift(Operation::ShiftRightSigned, high, word_bits - bits);
        }
        self.bitwise(Operation::And, a, Word::Constant((1 << bits) - 1))
    }

    /// The table of these entries, which is no table of the program.
    pub fn table(&mut self, entries: Vec<i64>) -> Table {
        Table::Selected(self.tables.insert_full(entries).0)
    }

    /// The entry of a table.
    pub fn fetch(&mut self, table: Table, index: Word) -> Word {
        Word::Fetch(self.fetches.insert_full(Fetch { table, index }).0)
    }

    /// The word that is a function of a loop variable.
    pub fn sequence(&mut self, sequence: Sequence) -> Word {
        if let Some(&word) = sequence.words.first().filter(|first| sequence.words.iter().all(|word| word == *first)) {
            return Word::Constant(word);
        }
        Word::Sequence(self.sequences.insert_full(sequence).0)
    }

    /// The bit that tells whether loop variables are in a box.
    pub fn predicate(&mut self, predicate: Predicate) -> Bit {
        Bit { source: BitSource::Predicate(self.predicates.insert_full(predicate).0), inverted: false }
    }
}

/// Whether the word of an operation is its bit.
fn is_comparison(operation: Operation) -> bool {
    use Operation::*;
    matches!(operation, Equal | LessUnsigned | LessSigned | LessEqualUnsigned | LessEqualSigned)
        || operation.float().is_some_and(|(_, operation)| operation.is_comparison())
}
