//! The RTL of an array in Verilator, in lockstep with the array's model.
//!
//! [`build`] makes a program of the RTL: of the array as it is ([`Rtl::Configured`]), one for all bitstreams, or of the same tiles with one
//! bitstream as constants ([`Rtl::Frozen`]), which simulates much faster. [`Lockstep::start`] loads a bitstream into it as a host does;
//! [`Lockstep::observe`] gives it the cycles that the model ran, and [`Lockstep::finish`] tells whether it showed the same in all of them.
//!
//! [`BufferedLockstep`] does the same for an array with its global buffer, whose host writes and reads images in banks.
//!
//! [`testbench`] makes a testbench that stands alone, for other simulators.

mod buffered;
mod build;
mod driver;
mod lockstep;
mod record;
mod standalone;

pub use buffered::{BufferedLockstep, build_buffered};
pub use build::{Rtl, build};
pub use driver::driver_check;
pub use lockstep::{Agreement, Lockstep};
pub use standalone::{LaneWords, RunOfBanks, StandaloneRun, buffered_testbench, testbench};
