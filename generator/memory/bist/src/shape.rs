//! The sizes of memories with a self-test.

use pushmem_tile::{TileSpec, address_bits_for};

/// The sizes that the self-test of a memory depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryShape {
    /// Bits of a row.
    pub width: u32,
    /// Rows.
    pub rows: u32,
    /// Ports that write, and as many that read.
    pub ports: u32,
    /// Cycles of a read.
    pub latency: u32,
}

impl MemoryShape {
    /// The SRAM of a tile that has a self-test.
    pub fn of(spec: &TileSpec) -> Option<Self> {
        spec.bist.then(|| MemoryShape {
            width: spec.word_bits * spec.kind.row_words(),
            rows: spec.rows,
            ports: spec.kind.memory_ports(),
            latency: spec.sram_latency,
        })
    }

    /// How many backgrounds there are: 1 + ⌈log2 width⌉.
    pub fn backgrounds(&self) -> u32 {
        1 + address_bits_for(self.width)
    }
}
