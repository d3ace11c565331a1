//! Broken promises of a configuration.

use std::fmt;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// An output shows a word that was never written.
    UndefinedRead,
    /// Two controllers use one port of a memory in a cycle.
    PortConflict,
    /// A word of an aggregator is overwritten before it was moved to the SRAM.
    Overrun,
    /// A row of a transpose buffer is overwritten before any of it was read. Either it was fetched for nothing, as mapping
    /// does where some rows of a regular fetch are not needed, or too early: what is read then tells.
    UnreadRow,
    /// An address beyond the end of the memory (a rom's address comes from outside).
    OutOfRange,
}

/// A broken promise: when, by which controller, at which address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// What went wrong.
    pub kind: ViolationKind,
    /// Unstalled cycles since the flush.
    pub cycle: u64,
    /// Name of the controller.
    pub controller: String,
    /// The memory and the address in it.
    pub place: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { kind, cycle, controller, place } = self;
        match kind {
            ViolationKind::UndefinedRead => {
                write!(formatter, "cycle {cycle}: {controller} reads {place}, which nobody has written")
            }
            ViolationKind::PortConflict => {
                write!(formatter, "cycle {cycle}: {controller} uses {place} together with another controller")
            }
            ViolationKind::Overrun | ViolationKind::UnreadRow => {
                write!(formatter, "cycle {cycle}: {controller} overwrites {place} before it was read")
            }
            ViolationKind::OutOfRange => {
                write!(formatter, "cycle {cycle}: {controller} reads {place}, beyond the end of the memory")
            }
        }
    }
}
