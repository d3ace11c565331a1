//! The mapper: programs on an array.
//!
//! [`lower`] makes the netlist of a compiled program: selection gives the cells of its kernels, memories become cells of
//! memory tiles, shift registers become cycles of connections. [`compile_for`] gives it tiles and tracks and encodes it, and
//! [`execute`] runs the bitstream on the model of the array. [`compile_side_by_side`] gives each of several programs columns of its own.

mod bank_memory;
mod buffered;
mod compile;
mod edited;
mod execution;
mod feedback;
mod header;
mod levels;
mod lower;
mod mapping;
mod predicates;
mod report;
mod side_by_side;
mod streams;
mod times;
mod ways;

pub use buffered::{
    BankImage, BufferedObserver, BufferedRun, ImageRows, Loading, LoadingCycles, bank_images, execute_buffered,
};
pub use compile::{Refused, compile_for, compile_unplaced, cycles_unplaced};
pub use edited::Edited;
pub use execution::{Execution, Host, Occupant, execute, execute_observed};
pub use header::{HeaderProgram, header};
pub use lower::{Lowered, Sharing, Stage, lower};
pub use mapping::{ArrayTarget, Mapped, reference};
pub use report::{BankArray, Report, Used};
pub use side_by_side::{Region, SideBySide, compile_side_by_side};
pub use streams::{StreamLane, join, split};
pub use times::Times;
