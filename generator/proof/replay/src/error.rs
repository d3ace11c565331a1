//! Errors that a replay finds.

use std::fmt;

use thiserror::Error;

/// A word by its origin: the cycle in which it was on the wire of a write port.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WordOrigin {
    /// It was on the wire of the write port so named in this cycle.
    #[error("the word of {port} in cycle {cycle}")]
    Written {
        /// Name of the write port.
        port: Box<str>,
        /// The cycle.
        cycle: u64,
    },
    /// A word that was never written.
    #[error("a word that was never written")]
    Undefined,
}

/// Kind of an error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind {
    /// The configurations or their wiring are not those of a mapped buffer.
    #[error("{0}")]
    Malformed(String),
    /// The buffer asks for an element before it is written, or for one that never is.
    #[error("reads an element that has not been written")]
    NeverWritten,
    /// The output shows another word.
    #[error("shows {found}, not {expected}")]
    WrongWord {
        /// The word expected on the read port.
        expected: WordOrigin,
        /// The word on the read port.
        found: WordOrigin,
    },
    /// The output shows nothing.
    #[error("shows nothing, not {expected}")]
    MissingWord {
        /// The word expected on the read port.
        expected: WordOrigin,
    },
    /// The output shows a word in a cycle in which the port reads nothing.
    #[error("shows a word although the port reads nothing")]
    UnexpectedWord,
    /// Another controller uses the port of this memory in the same cycle.
    #[error("uses the {memory} together with another controller")]
    PortConflict {
        /// The memory.
        memory: &'static str,
    },
    /// A word of the aggregator is overwritten before it was moved on.
    #[error("overwrites aggregator word {address} before it was moved on")]
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
        write!(formatter, ": {}", self.fault)
    }
}

impl std::error::Error for ReplayError {}
