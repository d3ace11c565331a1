//! The register map of a tile: derived from its specification once, and printed as JSON, C, SystemRDL and Markdown.
//!
//! The RTL's register file, the encoder of configurations and the documentation all come from [`RegisterMap`]. Registers,
//! fields and their packing are those of any block, `pushmem_csr`; here is their meaning in a memory tile. Each controller has
//! one group of words for its extents, one for its schedule and one for each address generator, in order of levels.

mod map;
mod print;

pub use map::{Contents, Field, Meaning, Register, RegisterMap};
pub use pushmem_csr::{SoftwareAccess, WORD_BYTES};
