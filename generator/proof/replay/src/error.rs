//! Errors that a replay finds.

use std::fmt;

/// A word by its origin: the cycle in which it was on the wire of a write port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordOrigin {
    /// It was on the wire of the write port so named in this cycle.
    Written {
        /// Name of the write port.
        port: Box<str>,
        /// The cycle.
        cycle: u64,
    },
    /// A word that was never written.
    Undefined,
}

impl fmt::Display for WordOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WordOrigin::Written { port, cycle } => write!(formatter, "the word of {port} in cycle {cycle}"),
            WordOrigin::Undefined => write!(formatter, "a word that was never written"),
        }
    }
}

/// Kind of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The configurations or their wiring are not those of a mapped buffer.
    Malformed(String),
    /// The buffer asks for an element before it is written, or for one that never is.
    NeverWritten,
    /// The output shows another word.
    WrongWord {
        /// The word expected on the read port.
        expected: WordOrigin,
        /// The word on the read port.
        found: WordOrigin,
    },
    /// The output shows nothing.
    MissingWord {
        /// The word expected on the read port.
        expected: WordOrigin,
    },
    /// The output shows a word in a cycle in which the port reads nothing.
    UnexpectedWord,
    /// Another controller uses the port of this memory in the same cycle.
    PortConflict {
        /// The memory.
        memory: &'static str,
    },
    /// A word of the aggregator is overwritten before it was moved on.
    Overrun {
        /// Its address.
        address: u64,
    },
}

/// An iteration of a read port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadIteration {
    /// Name of the port.
    pub port: String,
    /// The index of each of its loops, the fastest in time first, without loops of one iteration.
    pub index: Vec<u64>,
}

/// Why mapped tiles do not implement their buffer: the first fault in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// Unstalled cycles since the flush.
    pub cycle: u64,
    /// Number of the tile.
    pub tile: Option<usize>,
    /// Name of the controller.
    pub controller: Option<String>,
    /// The read that goes wrong.
    pub read: Option<Box<ReadIteration>>,
    /// The error.
    pub fault: ErrorKind,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cycle {}", self.cycle)?;
        if let Some(tile) = self.tile {
            write!(formatter, ", tile {tile}")?;
        }
        if let Some(controller) = &self.controller {
            write!(formatter, ", {controller}")?;
        }
        if let Some(read) = &self.read {
            write!(formatter, ", read port {}, iteration {:?}", read.port, read.index)?;
        }
        match &self.fault {
            ErrorKind::Malformed(reason) => write!(formatter, ": {reason}"),
            ErrorKind::NeverWritten => write!(formatter, ": reads an element that has not been written"),
            ErrorKind::WrongWord { expected, found } => write!(formatter, ": shows {found}, not {expected}"),
            ErrorKind::MissingWord { expected } => write!(formatter, ": shows nothing, not {expected}"),
            ErrorKind::UnexpectedWord => write!(formatter, ": shows a word although the port reads nothing"),
            ErrorKind::PortConflict { memory } => {
                write!(formatter, ": uses the {memory} together with another controller")
            }
            ErrorKind::Overrun { address } => {
                write!(formatter, ": overwrites aggregator word {address} before it was moved on")
            }
        }
    }
}

impl std::error::Error for ReplayError {}
