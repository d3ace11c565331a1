//! Why an accelerator cannot be printed.

use pushmem_files::Fault;
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
        finding: Fault,
    },
    /// The registers of all tiles need more than 32 address bits.
    Addresses {
        /// Number of tiles.
        tiles: usize,
        /// Bits that their addresses need.
        bits: u32,
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
            CompositionError::Files { name } => write!(formatter, "two specifications need different files `{name}`"),
            CompositionError::Configuration { tile, finding } => {
                write!(formatter, "the memory tile {tile} cannot be configured: {}", finding.message)
            }
            CompositionError::Addresses { tiles, bits } => write!(
                formatter,
                "the registers of {tiles} memory tiles need {bits} address bits; the configuration bus has 32"
            ),
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
