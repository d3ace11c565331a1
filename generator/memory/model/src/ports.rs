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
    /// Whether the word on each chain input is one of its stream.
    pub chain_valid: [bool; MAX_PORTS],
    /// Of a mode with handshakes.
    pub handshake: Handshake,
}

/// The handshakes of modes, as whoever is around a tile drives them in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handshake {
    /// A word is offered on input 0, or an access to the word at its address is asked for.
    pub valid: bool,
    /// The access writes the word on input 1.
    pub write: bool,
    /// The word on output 0 is taken.
    pub ready: bool,
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
    /// Of a mode with handshakes: what is offered on input 0 is used.
    pub ready: bool,
    /// In a chain of outputs with FIFOs: the word that the tile before shows for output 0 is taken.
    pub chain_ready: bool,
}
