//! The cycle-accurate model of an array, bit-exact with its RTL.
//!
//! [`Emulator::configure`] follows the routes of a configuration once; a cycle then costs as much as the tiles and registers in
//! use. [`Emulator::clock`] has the ports of the RTL, but for those of configuration: flush and stall reach the tiles some cycles later,
//! and a run begins some cycles after its flush.

mod bank;
mod buffered;
mod control;
mod emulator;
mod live;
mod load;
mod load_bitstream;
mod pe;
mod route;
mod run;
mod schedule;
mod streams;

pub use bank::{Bank, BankAccess, BankInputs, BankOutputs, HostAccess};
pub use buffered::{Buffered, BufferedInputs, BufferedOutputs, Refused};
pub use emulator::{Emulator, Inputs, StreamInputs, StreamOutputs};
pub use run::{Observer, RunError, RunStreams, Trace};
pub use streams::Beat;
