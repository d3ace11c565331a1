//! Why an accelerator cannot be printed.

use pushmem_configuration::Finding;
use pushmem_tile::Reset;

/// Why an accelerator cannot be printed.
#[derive(Debug)]
pub enum CompositionError {
    /// The words of the tile are narrower than the wires.
    NarrowWords {
        /// Name of the tile.
        tile: String,
        /// Bits of its words.
        bits: u32,
    },
    /// A tile is reset otherwise than the memory tile, which decides for the accelerator.
    Reset {
        /// Name of the tile.
        tile: String,
        /// Its reset.
        reset: Reset,
        /// That of the accelerator.
        wanted: Reset,
    },
    /// Two tiles need different files of one name.
    Files {
        /// Name of the file.
        name: String,
    },
    /// The configuration of a tile does not fit it.
    Configuration {
        /// Name of the instance.
        tile: String,
        /// The finding about its configuration.
        finding: Finding,
    },
    /// The registers of all tiles need more than 32 address bits.
    Addresses {
        /// Number of tiles.
        tiles: usize,
    },
    /// Iterations of loops before cycle 0, or several in a cycle.
    Schedule {
        /// The loops, innermost first.
        loops: Vec<String>,
    },
    /// The words given for a stream are not those of its beats.
    Beats {
        /// Name of the stream.
        stream: String,
        /// Words of all its beats.
        expected: u64,
        /// Words given.
        found: u64,
    },
}

impl std::fmt::Display for CompositionError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompositionError::NarrowWords { tile, bits } => {
                write!(formatter, "the words of the tile `{tile}` have {bits} bits; an accelerator needs 16 or more")
            }
            CompositionError::Reset { tile, reset, wanted } => write!(
                formatter,
                "the reset of the tile `{tile}` is {}, that of the accelerator {}",
                reset.name(),
                wanted.name()
            ),
            CompositionError::Files { name } => {
                write!(formatter, "two tiles need different files `{name}`; give the tiles different names")
            }
            CompositionError::Configuration { tile, finding } => {
                write!(formatter, "the memory tile {tile} cannot be configured: {}", finding.message)
            }
            CompositionError::Addresses { tiles } => {
                write!(formatter, "the registers of {tiles} memory tiles need more than 32 address bits")
            }
            CompositionError::Schedule { loops } => {
                write!(formatter, "the loops [{}] have iterations in one cycle, or before cycle 0", loops.join(", "))
            }
            CompositionError::Beats { stream, expected, found } => {
                write!(formatter, "the beats of the stream {stream} have {expected} words, but {found} are given")
            }
        }
    }
}

impl std::error::Error for CompositionError {}
