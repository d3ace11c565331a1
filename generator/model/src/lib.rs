//! The cycle-accurate model of a tile, bit-exact with its RTL.
//!
//! [`Tile`] has the ports of the RTL: [`Tile::outputs`] gives what the tile shows in a cycle and [`Tile::clock`] takes
//! it to the next. On the way it checks what the compiler promises and records each [`Violation`]: reads of words that
//! nobody wrote, two accesses through one memory port, words that are overwritten before they were read.

mod context;
mod controller;
mod direct;
mod memory;
mod ports;
mod rom;
mod tile;
mod violation;
mod wide_fetch;
mod word;

pub use ports::{Inputs, MAX_PORTS, Outputs};
pub use tile::Tile;
pub use violation::{Violation, ViolationKind};
pub use word::Word;
