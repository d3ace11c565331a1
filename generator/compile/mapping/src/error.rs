//! Why a buffer has no mapping.

use std::fmt;

/// Why a buffer has no mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError {
    /// Name of the buffer.
    pub buffer: String,
    /// Name of the tile.
    pub tile: String,
    /// The mappings that were tried, and the reason against each.
    pub tried: Vec<String>,
}

impl fmt::Display for MappingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the buffer {} has no mapping to {} tiles", self.buffer, self.tile)?;
        for attempt in &self.tried {
            write!(formatter, "\n  {attempt}")?;
        }
        Ok(())
    }
}

impl std::error::Error for MappingError {}
