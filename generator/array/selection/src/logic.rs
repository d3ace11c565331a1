//! Truth values in the tables of processing elements.

use itertools::Itertools;
use pushmem_pe::Operation;

use crate::builder::Builder;
use pushmem_cells::{Bit, BitSource, Cell, Word};

/// Bits that a table takes.
const INPUTS: usize = 3;

impl Builder<'_> {
    /// A bit that is not inverted, for operands that cannot invert.
    pub fn plain(&mut self, bit: Bit) -> Bit {
        if bit.as_constant().is_some() || !bit.inverted {
            return bit;
        }
        self.logic(bit, Bit::constant(false), |one, _| one)
    }

    /// A function of two bits. The tables of its operands are taken into its own where three inputs suffice.
    pub fn logic(&mut self, one: Bit, other: Bit, function: impl Fn(bool, bool) -> bool) -> Bit {
        let (whole, other_whole) = (self.inlined(one), self.inlined(other));
        let plain = |bit: Bit| Table { inputs: vec![bit.source], entries: if bit.inverted { 0b01 } else { 0b10 } };
        let choices = [
            (&whole, &other_whole),
            (&whole, &Some(plain(other))),
            (&Some(plain(one)), &other_whole),
            (&Some(plain(one)), &Some(plain(other))),
        ];
        let joined = choices.into_iter().find_map(|(one, other)| one.as_ref()?.join(other.as_ref()?, &function));
        let table = joined.expect("two bits are inputs of a table").reduced();
        match (table.inputs.as_slice(), table.entries & 0b11) {
            ([], entry) => Bit::constant(entry & 1 == 1),
            // A table would only pass the bit on. The opposite of one takes a table, when an operand needs it.
            (&[source], 0b10) => Bit { source, inverted: false },
            _ => Bit::of_cell(self.intern(table.cell())),
        }
    }

    /// The table whose result a bit is.
    fn inlined(&self, bit: Bit) -> Option<Table> {
        let BitSource::Cell(cell) = bit.source else { return None };
        let Cell { bits, lut, .. } = self.cells[cell];
        let table = Table { inputs: bits.iter().map(|bit| bit.source).collect(), entries: lut? }.reduced();
        Some(if bit.inverted { Table { entries: !table.entries, ..table } } else { table })
    }
}

/// A function of up to three bits: entry `Σ 2^i · input_i` of `entries` is its value.
#[derive(Clone, Debug)]
struct Table {
    inputs: Vec<BitSource>,
    entries: u8,
}

impl Table {
    fn value(&self, of: impl Fn(BitSource) -> bool) -> bool {
        let entry: u32 = self.inputs.iter().enumerate().map(|(place, input)| u32::from(of(*input)) << place).sum();
        self.entries >> entry & 1 == 1
    }

    /// The table of these inputs that computes a function.
    fn of(inputs: Vec<BitSource>, function: impl Fn(&dyn Fn(BitSource) -> bool) -> bool) -> Self {
        let mut entries = 0;
        for entry in 0..1_u32 << inputs.len() {
            let value = |input: BitSource| {
                let place = inputs.iter().position(|other| *other == input);
                place.is_some_and(|place| entry >> place & 1 == 1)
            };
            entries |= u8::from(function(&value)) << entry;
        }
        Table { inputs, entries }
    }

    /// A function of the results of two tables, if that has few enough inputs.
    fn join(&self, other: &Table, function: impl Fn(bool, bool) -> bool) -> Option<Table> {
        let inputs = self.inputs.iter().chain(&other.inputs).copied();
        let inputs = inputs.filter(|input| *input != BitSource::False).sorted().dedup().collect_vec();
        (inputs.len() <= INPUTS).then(|| Table::of(inputs, |value| function(self.value(value), other.value(value))))
    }

    /// The same function without the inputs that it does not depend on.
    fn reduced(&self) -> Table {
        let depends = |input: &BitSource| {
            let with = |set: bool| {
                Table::of(self.inputs.clone(), |value| {
                    self.value(|other| if other == *input { set } else { value(other) })
                })
            };
            *input != BitSource::False && with(false).entries != with(true).entries
        };
        let inputs = self.inputs.iter().copied().filter(depends).sorted().dedup().collect();
        Table::of(inputs, |value| self.value(value))
    }

    fn cell(&self) -> Cell {
        let mut bits = [Bit::constant(false); INPUTS];
        for (bit, input) in bits.iter_mut().zip(&self.inputs) {
            *bit = Bit { source: *input, inverted: false };
        }
        // Entries for inputs that are always false are those without them.
        let widths = 1_u32 << self.inputs.len();
        let entries = (0..8).map(|entry| (self.entries >> (entry % widths) & 1) << entry).sum();
        Cell { operation: Operation::Pass, words: [Word::Constant(0); 3], bits, lut: Some(entries) }
    }
}
