//! Broken promises of a configuration.

use std::fmt;

/// Kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// An output shows a word that was never written.
    UndefinedRead,
    /// Two controllers use one port of a memory in a cycle.
    PortConflict,
    /// A word of an aggregator is overwritten before it was moved to the SRAM.
    Overrun,
    /// An output shows a word of another row, or of the row before or after it was written, than the fetch has that its loops
    /// mean: the row came too late, or was replaced too early.
    StaleRead,
    /// An address beyond the end of the memory (a rom's address comes from outside).
    OutOfRange,
}

/// A broken promise: when, by which controller, at which address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Kind of the violation.
    pub kind: ViolationKind,
    /// Unstalled cycles since the flush.
    pub cycle: u64,
    /// Name of the controller, or of the input that an address came on.
    pub controller: String,
    /// The memory and the address in it.
    pub place: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { kind, cycle, controller, place } = self;
        match kind {
            ViolationKind::UndefinedRead => {
                write!(formatter, "cycle {cycle}: {controller} reads {place}, which was never written")
            }
            ViolationKind::PortConflict => {
                write!(formatter, "cycle {cycle}: {controller} uses {place} together with another controller")
            }
            ViolationKind::Overrun => {
                write!(formatter, "cycle {cycle}: {controller} overwrites {place} before it was read")
            }
            ViolationKind::StaleRead => write!(formatter, "cycle {cycle}: {controller} reads {place}"),
            ViolationKind::OutOfRange => {
                write!(formatter, "cycle {cycle}: {controller} addresses {place}, beyond the end of the memory")
            }
        }
    }
}
