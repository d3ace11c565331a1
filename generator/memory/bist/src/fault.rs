//! Faults of memories.

use rand::Rng;

use crate::shape::MemoryShape;

/// A bit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitCell {
    /// The row.
    pub row: u32,
    /// The bit.
    pub bit: u32,
}

/// A functional fault of a memory, of the classes of van de Goor, "Testing Semiconductor Memories", 1991, §2.3.
///
/// Cells that influence each other are different, in different rows or in one. A disturbance comes after the write that causes
/// it: in one row, it prevails over the written value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A cell always has one value.
    StuckAt {
        /// The cell.
        cell: BitCell,
        /// Its value.
        value: bool,
    },
    /// A cell does not go to a value when it is written, but stays as it was.
    Transition {
        /// The cell.
        cell: BitCell,
        /// The value that it does not go to.
        to: bool,
    },
    /// An address reaches other rows than its own, at some ports. Without any, nothing is written and all bits read alike.
    Address {
        /// The address.
        address: u32,
        /// Whether it reaches its own row.
        own: bool,
        /// Another row that it reaches.
        other: Option<u32>,
        /// How rows read together join, by OR (`true`) or AND; what is read without any.
        value: bool,
        /// Ports that write and have the fault, by bit.
        writers: u32,
        /// Ports that read and have the fault, by bit.
        readers: u32,
    },
    /// A cell is inverted when another goes to a value.
    Inversion {
        /// The cell that goes to a value.
        aggressor: BitCell,
        /// The cell that is inverted.
        victim: BitCell,
        /// The value.
        to: bool,
    },
    /// A cell takes a value when another goes to one.
    Idempotent {
        /// The cell that goes to a value.
        aggressor: BitCell,
        /// The cell that takes one.
        victim: BitCell,
        /// The value that the aggressor goes to.
        to: bool,
        /// The value that the victim takes.
        value: bool,
    },
    /// A cell has one value as long as another has one.
    State {
        /// The cell that has a value.
        aggressor: BitCell,
        /// The cell that it forces.
        victim: BitCell,
        /// The value of the aggressor.
        state: bool,
        /// The value of the victim.
        value: bool,
    },
}

const BOTH: [bool; 2] = [false, true];

impl Fault {
    /// The name of its class.
    pub fn class(&self) -> &'static str {
        match self {
            Fault::StuckAt { .. } => "stuck-at",
            Fault::Transition { .. } => "transition",
            Fault::Address { .. } => "address decoder",
            Fault::Inversion { .. } => "inversion coupling",
            Fault::Idempotent { .. } => "idempotent coupling",
            Fault::State { .. } => "state coupling",
        }
    }

    /// All faults of a memory; their number grows with the square of its bits.
    pub fn all(shape: MemoryShape) -> Vec<Fault> {
        let cells = (0..shape.rows).flat_map(|row| (0..shape.width).map(move |bit| BitCell { row, bit }));
        let mut faults = Vec::new();
        for victim in cells.clone() {
            faults.extend(BOTH.map(|value| Fault::StuckAt { cell: victim, value }));
            faults.extend(BOTH.map(|to| Fault::Transition { cell: victim, to }));
            for aggressor in cells.clone().filter(|aggressor| *aggressor != victim) {
                for to in BOTH {
                    faults.push(Fault::Inversion { aggressor, victim, to });
                    faults.extend(BOTH.map(|value| Fault::Idempotent { aggressor, victim, to, value }));
                    faults.extend(BOTH.map(|value| Fault::State { aggressor, victim, state: to, value }));
                }
            }
        }
        for address in 0..shape.rows {
            for (writers, readers) in Self::decoders(shape) {
                let others = (0..shape.rows).filter(|other| *other != address).map(Some);
                let reached = others.flat_map(|other| BOTH.map(|own| (own, other))).chain([(false, None)]);
                faults.extend(reached.flat_map(|(own, other)| {
                    BOTH.map(|value| Fault::Address { address, own, other, value, writers, readers })
                }));
            }
        }
        faults
    }

    /// The decoders that can be wrong: of a port that writes, of one that reads, of both, and of all ports.
    fn decoders(shape: MemoryShape) -> Vec<(u32, u32)> {
        let all = (1 << shape.ports) - 1;
        let one = (0..shape.ports).map(|port| 1 << port);
        let mut decoders: Vec<(u32, u32)> = one.flat_map(|port| [(port, 0), (0, port), (port, port)]).collect();
        if shape.ports > 1 {
            decoders.push((all, all));
        }
        decoders
    }

    /// A random fault. All classes are as likely, and of coupled cells every second pair is in one row.
    pub fn random(shape: MemoryShape, rng: &mut impl Rng) -> Fault {
        let cell = |rng: &mut dyn rand::RngCore| BitCell {
            row: rng.random_range(0..shape.rows),
            bit: rng.random_range(0..shape.width),
        };
        let victim = cell(rng);
        let aggressor = loop {
            let mut aggressor = cell(rng);
            if rng.random() {
                aggressor.row = victim.row;
            }
            if aggressor != victim {
                break aggressor;
            }
        };
        let (to, value) = (rng.random(), rng.random());
        match rng.random_range(0..6) {
            0 => Fault::StuckAt { cell: victim, value },
            1 => Fault::Transition { cell: victim, to },
            2 => Fault::Inversion { aggressor, victim, to },
            3 => Fault::Idempotent { aggressor, victim, to, value },
            4 => Fault::State { aggressor, victim, state: to, value },
            _ => {
                let address = victim.row;
                let other = (address + rng.random_range(1..shape.rows)) % shape.rows;
                let (own, other) = [(true, Some(other)), (false, Some(other)), (false, None)][rng.random_range(0..3)];
                let decoders = Self::decoders(shape);
                let (writers, readers) = decoders[rng.random_range(0..decoders.len())];
                Fault::Address { address, own, other, value, writers, readers }
            }
        }
    }
}
