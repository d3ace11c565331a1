//! Memories beside a datapath: of tables, and of arrays whose elements data choose.

use pushmem_nest::Type;

/// Which tables are in memories beside the datapath, and not in its logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMemories {
    /// The most entries of a table that stays in logic.
    pub logic_words: usize,
    /// Cycles from an address to its entry, at least 1.
    pub latency: u64,
}

impl TableMemories {
    /// All tables are in logic.
    pub const NONE: TableMemories = TableMemories { logic_words: usize::MAX, latency: 1 };

    /// Whether a table of so many entries is in a memory.
    pub fn holds(&self, entries: usize) -> bool {
        entries > self.logic_words
    }
}

/// A look-up in a table beside a datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The table, an index of [`Program::tables`](pushmem_nest::Program::tables).
    pub table: usize,
    /// The stage in which the address leaves the datapath: cycles from the operands to it.
    pub stage: u64,
    /// Cycles from the address to the entry.
    pub latency: u64,
    /// Bits of the address: the low bits of the index, as many as the number of the last entry needs.
    pub address_bits: u32,
    /// The type of the entry.
    pub value: Type,
}

/// Cycles from an address to the element of a random-access memory. It shows what was written up to the cycle in which it shows the
/// element.
pub const READ_LATENCY: u64 = 1;

/// A read of a random-access memory beside a datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRead {
    /// The load that has the element, an index of [`Datapath::loads`](crate::Datapath::loads).
    pub load: usize,
    /// The stage in which the address leaves the datapath: cycles from the operands to it.
    pub stage: u64,
    /// Bits of the address.
    pub address_bits: u32,
    /// The node of the address.
    pub address: usize,
}

/// Bits that number so many entries, at least 1.
pub fn address_bits(entries: usize) -> u32 {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1)
}
