//! The cycle-accurate model of an array, bit-exact with its RTL.
//!
//! [`Emulator::configure`] follows the routes of a configuration once; a cycle then costs as much as the tiles and registers in
//! use. Time is that of the tiles: commands on the ports of the RTL reach them [`ArraySpec::control_depth`] cycles later.
//!
//! [`ArraySpec::control_depth`]: pushmem_fabric::ArraySpec::control_depth

mod emulator;
mod pe;
mod route;

pub use emulator::{Emulator, Inputs, Stream};
