//! The tile specification: the structure of a memory tile.
//!
//! A specification is read from YAML ([`TileSpec::read`]), completed with defaults, and checked: every parameter either
//! works or is refused with a reason. Everything else is derived from it, once, here: the [`Controller`]s of the tile and
//! the widths of their fields, from which the register map, the RTL and the cycle model follow.
//!
//! Terms are those of the unified-buffer papers: an iteration domain (ID) counts loop indices, an address generator (AG)
//! and a schedule generator (SG) are affine functions of it.

mod controller;
mod digest;
mod read;
mod spec;
pub mod timing;

pub use controller::{AddressGenerator, Controller, Memory, Role};
pub use read::MAX_ROWS;
pub use spec::{ControllerSpec, Kind, Mode, Reset, Style, TEST_ENABLE, TileSpec, address_bits_for, index_bits_for};
