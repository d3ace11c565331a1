//! Why an accelerator cannot be printed.

use pushmem_files::Fault;
use pushmem_tile::Reset;
use thiserror::Error;

/// Why an accelerator cannot be printed.
#[derive(Debug, Error)]
pub enum CompositionError {
    /// The words of the tile are narrower than the wires.
    #[error("the words of the tile `{tile}` have {bits} bits; an accelerator needs 16 or more")]
    NarrowWords {
        /// Name of the tile.
        tile: String,
        /// Bits of its words.
        bits: u32,
    },
    /// A tile is reset otherwise than the memory tile, which decides for the accelerator.
    #[error("the reset of the tile `{tile}` is {}, that of the accelerator {}", .reset.name(), .wanted.name())]
    Reset {
        /// Name of the tile.
        tile: String,
        /// Its reset.
        reset: Reset,
        /// That of the accelerator.
        wanted: Reset,
    },
    /// Two tiles need different files of one name.
    #[error("two specifications need different files `{name}`")]
    Files {
        /// Name of the file.
        name: String,
    },
    /// The configuration of a tile does not fit it.
    #[error("the memory tile {tile} cannot be configured: {}", .finding.message)]
    Configuration {
        /// Name of the instance.
        tile: String,
        /// The finding about its configuration.
        finding: Fault,
    },
    /// The registers of all tiles need more than 32 address bits.
    #[error("the registers of {tiles} memory tiles need {bits} address bits; the configuration bus has 32")]
    Addresses {
        /// Number of tiles.
        tiles: usize,
        /// Bits that their addresses need.
        bits: u32,
    },
    /// Iterations of loops before cycle 0, or several in a cycle.
    #[error("the loops [{}] have iterations in one cycle, or before cycle 0", .loops.join(", "))]
    Schedule {
        /// The loops, innermost first.
        loops: Vec<String>,
    },
    /// The words given for a stream are not those of its beats.
    #[error("the beats of the stream {stream} have {expected} words, but {found} are given")]
    Beats {
        /// Name of the stream.
        stream: String,
        /// Words of all its beats.
        expected: u64,
        /// Words given.
        found: u64,
    },
}

impl CompositionError {
    /// Advice; nothing where the fault is in the compiler or in its caller, and not in what a user gave.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            CompositionError::NarrowWords { .. } => Some("choose a tile with words of at least 16 bits"),
            CompositionError::Reset { .. } => Some("an accelerator has one kind of reset: give all tiles the same"),
            CompositionError::Files { .. } => Some("give one of the specifications another `name`"),
            CompositionError::Addresses { .. } => {
                Some("choose a tile with more rows or ports, or unroll less, so that there are fewer tiles")
            }
            CompositionError::Configuration { .. }
            | CompositionError::Schedule { .. }
            | CompositionError::Beats { .. } => None,
        }
    }
}
