//! March C− with the backgrounds of word-oriented memories.
//!
//! March C− finds stuck-at, transition and address-decoder faults and unlinked coupling faults between rows (van de Goor,
//! "Testing Semiconductor Memories", 1991, §4.5). Repeated with as many backgrounds as a bit's number has digits, and one in which all
//! bits are alike, it finds those between the bits of a row, too (van de Goor and Tlili, "March Tests for Word-Oriented
//! Memories", DATE 1998): any two bits are alike in one background and different in another.

use crate::memory::FaultyMemory;
use crate::row::Row;
use crate::shape::MemoryShape;

/// A march element: the accesses to each row before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Whether it goes from the last row to the first.
    pub down: bool,
    /// The value that it reads, if it reads: the background, or its complement (`true`).
    pub read: Option<bool>,
    /// The value that it writes after that, if it writes, likewise.
    pub write: Option<bool>,
}

/// {any w0; up r0 w1; up r1 w0; down r0 w1; down r1 w0; any r0}.
pub const MARCH_C_MINUS: [Element; 6] = [
    Element { down: false, read: None, write: Some(false) },
    Element { down: false, read: Some(false), write: Some(true) },
    Element { down: false, read: Some(true), write: Some(false) },
    Element { down: true, read: Some(false), write: Some(true) },
    Element { down: true, read: Some(true), write: Some(false) },
    Element { down: true, read: Some(false), write: None },
];

impl MemoryShape {
    /// Cycles in which the self-test is busy: one for each read and write, and the latency of the last.
    pub fn cycles(&self) -> u64 {
        let accesses = |element: &Element| u64::from(element.read.is_some()) + u64::from(element.write.is_some());
        let of_a_row: u64 = MARCH_C_MINUS.iter().map(accesses).sum();
        of_a_row * u64::from(self.rows) * u64::from(self.backgrounds()) * u64::from(self.ports)
            + u64::from(self.latency)
    }
}

/// A background: number 0 has no bit set; background n has bit b set where bit n − 1 of b is set.
pub fn background(width: u32, number: u32) -> Row {
    Row::of(width, |bit| number > 0 && bit >> (number - 1) & 1 == 1)
}

/// The access to a row in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is read and compared.
    Read,
    /// It is written.
    Write,
}

/// A read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarchOperation {
    /// Port of the memory that reads, or that writes.
    pub port: u32,
    /// The row.
    pub address: u32,
    /// Number of the background.
    pub background: u32,
    /// Whether it is the complement of the background that is read or written.
    pub ones: bool,
    /// Which of both.
    pub action: Action,
}

/// The reads and writes of the self-test, one for each cycle.
pub fn operations(shape: MemoryShape) -> impl Iterator<Item = MarchOperation> {
    let passes = (0..shape.ports).flat_map(move |port| (0..shape.backgrounds()).map(move |number| (port, number)));
    passes.flat_map(move |(port, background)| march(&MARCH_C_MINUS, shape.rows, port, background))
}

/// The reads and writes of a march test with one background, through one port.
pub fn march(elements: &[Element], rows: u32, port: u32, background: u32) -> impl Iterator<Item = MarchOperation> {
    elements.iter().flat_map(move |element| {
        let Element { down, read, write } = *element;
        (0..rows).map(move |step| if down { rows - 1 - step } else { step }).flat_map(move |address| {
            let of = move |action| move |ones| MarchOperation { port, address, background, ones, action };
            read.map(of(Action::Read)).into_iter().chain(write.map(of(Action::Write)))
        })
    })
}

/// Result of a self-test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Cycles in which it was busy.
    pub cycles: u64,
    /// The row that was wrong first, if any was.
    pub first_failure: Option<u32>,
    /// The bits that were wrong in any row.
    pub bits: Row,
}

impl Verdict {
    /// Does these reads and writes. Cycles are left at 0.
    pub fn of(shape: MemoryShape, operations: impl Iterator<Item = MarchOperation>, memory: &mut FaultyMemory) -> Self {
        let mut verdict = Verdict::default();
        let all = Row::of(shape.width, |_| true);
        for MarchOperation { port, address, background: number, ones, action } in operations {
            let row = background(shape.width, number) ^ if ones { all } else { Row::default() };
            match action {
                Action::Write => memory.write(port, address, row),
                Action::Read => {
                    let wrong = memory.read(port, address) ^ row;
                    if wrong != Row::default() {
                        verdict.first_failure.get_or_insert(address);
                        verdict.bits = verdict.bits | wrong;
                    }
                }
            }
        }
        verdict
    }
}

/// Runs the self-test on a memory, as the RTL does.
pub fn run(shape: MemoryShape, memory: &mut FaultyMemory) -> Verdict {
    Verdict { cycles: shape.cycles(), ..Verdict::of(shape, operations(shape), memory) }
}
