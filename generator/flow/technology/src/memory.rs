//! The SRAM that a tile needs.

use pushmem_tile::{Kind, TileSpec, address_bits_for};

/// The SRAM of a tile, as its wrapper has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSram {
    /// Name of its module.
    pub name: String,
    /// Name of the tile.
    pub tile: String,
    /// Bits of a row.
    pub width: u32,
    /// Rows.
    pub depth: u32,
    /// Ports that write.
    pub writes: u32,
    /// Ports that read.
    pub reads: u32,
    /// Whether a write and a read never happen in one cycle, so that a port can serve both.
    pub exclusive: bool,
    /// Cycles of a read.
    pub latency: u32,
}

impl TileSram {
    /// The SRAM of a tile; none for a register file.
    pub fn of(spec: &TileSpec) -> Option<Self> {
        let exclusive = match spec.kind {
            Kind::WideFetch { .. } | Kind::Rom => true,
            Kind::DualPort | Kind::QuadPort => false,
            Kind::RegisterFile => return None,
        };
        Some(TileSram {
            name: format!("{}_sram", spec.name),
            tile: spec.name.clone(),
            width: spec.word_bits * spec.kind.row_words(),
            depth: spec.rows,
            writes: spec.kind.memory_ports(),
            reads: spec.kind.memory_ports(),
            exclusive,
            latency: spec.sram_latency,
        })
    }

    /// Bits of an address.
    pub fn address_bits(&self) -> u32 {
        address_bits_for(self.depth)
    }

    /// Its ports, in words.
    pub fn ports(&self) -> String {
        if self.exclusive {
            "a port that reads or writes".to_owned()
        } else if (self.writes, self.reads) == (1, 1) {
            "a port that writes and another that reads".to_owned()
        } else {
            format!("{} ports that write and {} others that read", self.writes, self.reads)
        }
    }
}
