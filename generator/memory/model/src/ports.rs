//! The ports of a tile in a cycle.

use crate::word::Word;

/// Most inputs, and most outputs, of a tile.
pub const MAX_PORTS: usize = 4;

/// Inputs of a tile in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Starts a run in the next cycle.
    pub flush: bool,
    /// Holds everything.
    pub stall: bool,
    /// The word (of a rom: the address) on each input.
    pub data: [u64; MAX_PORTS],
    /// The word on each chain input.
    pub chain: [u64; MAX_PORTS],
}

/// Outputs of a tile in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The word on each output; 0 without valid.
    pub data: [Word; MAX_PORTS],
    /// Whether each output's word is part of its stream.
    pub valid: [bool; MAX_PORTS],
    /// Whether each input's word is used.
    pub taken: [bool; MAX_PORTS],
    /// The stencil-valid output.
    pub stencil_valid: bool,
}
