//! A memory with a fault.

use crate::fault::{BitCell, Fault};
use crate::row::Row;
use crate::shape::MemoryShape;

/// A memory that has one fault, or none.
#[derive(Clone, Debug)]
pub struct FaultyMemory {
    width: u32,
    rows: Vec<Row>,
    fault: Option<Fault>,
}

impl FaultyMemory {
    /// A memory whose rows hold the values of a function of their numbers.
    pub fn new(shape: MemoryShape, fault: Option<Fault>, row: impl FnMut(u32) -> Row) -> Self {
        FaultyMemory { width: shape.width, rows: (0..shape.rows).map(row).collect(), fault }
    }

    /// Writes a row.
    pub fn write(&mut self, port: u32, address: u32, row: Row) {
        match self.fault {
            Some(Fault::Address { address: wrong, own, other, writers, .. })
                if wrong == address && writers >> port & 1 == 1 =>
            {
                for reached in own.then_some(address).into_iter().chain(other) {
                    self.store(reached, row);
                }
            }
            _ => self.store(address, row),
        }
    }

    /// Reads a row.
    pub fn read(&self, port: u32, address: u32) -> Row {
        let row = self.rows[address as usize];
        match self.fault {
            Some(Fault::Address { address: wrong, own, other, value, readers, .. })
                if wrong == address && readers >> port & 1 == 1 =>
            {
                match (own, other.map(|other| self.rows[other as usize])) {
                    (false, None) => Row::of(self.width, |_| value),
                    (false, Some(other)) => other,
                    (true, None) => row,
                    (true, Some(other)) if value => row | other,
                    (true, Some(other)) => row.and(other),
                }
            }
            Some(Fault::StuckAt { cell, value }) if cell.row == address => {
                let mut row = row;
                row.set(cell.bit, value);
                row
            }
            _ => row,
        }
    }

    /// Changes the cells of a row, and those that they disturb.
    fn store(&mut self, row: u32, mut word: Row) {
        let held = self.rows[row as usize];
        match self.fault {
            Some(Fault::StuckAt { cell, value }) if cell.row == row => word.set(cell.bit, value),
            Some(Fault::Transition { cell, to })
                if cell.row == row && word.bit(cell.bit) == to && held.bit(cell.bit) != to =>
            {
                word.set(cell.bit, !to);
            }
            _ => {}
        }
        self.rows[row as usize] = word;
        let went = |cell: BitCell, to: bool| cell.row == row && held.bit(cell.bit) != to && word.bit(cell.bit) == to;
        match self.fault {
            Some(Fault::Inversion { aggressor, victim, to }) if went(aggressor, to) => {
                self.force(victim, !self.cell(victim));
            }
            Some(Fault::Idempotent { aggressor, victim, to, value }) if went(aggressor, to) => {
                self.force(victim, value)
            }
            Some(Fault::State { aggressor, victim, state, value }) if self.cell(aggressor) == state => {
                self.force(victim, value);
            }
            _ => {}
        }
    }

    fn cell(&self, cell: BitCell) -> bool {
        self.rows[cell.row as usize].bit(cell.bit)
    }

    fn force(&mut self, cell: BitCell, value: bool) {
        self.rows[cell.row as usize].set(cell.bit, value);
    }
}
