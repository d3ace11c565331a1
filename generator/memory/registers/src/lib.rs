//! The register map of a tile: derived from its specification once, and printed as JSON, C, SystemRDL and Markdown.
//!
//! The RTL's register file, the encoder of configurations and the documentation all come from [`RegisterMap`]. Rules of
//! the layout: 32-bit words at byte addresses that are multiples of four; each controller has one group of words for
//! its extents, one for its schedule and one for each address generator; within a group, fields are packed from bit 0
//! in order of levels, and a field never straddles two words; unused bits read 0.

mod map;
mod print;

pub use map::{Access, Contents, Field, Meaning, Register, RegisterMap, WORD_BYTES};
