//! The configuration of a tile: in human terms (extents, starts and strides of each controller), and as register writes.
//!
//! [`Configuration::read`] reads and checks the YAML form; [`encode()`] turns it into writes through the register map of
//! the tile; [`decode()`] is its inverse. A value that does not fit its register is an error that names the controller,
//! the level, the value and the limit; nothing is ever masked.

mod check;
mod decode;
mod encode;
mod file;
mod schedule;
mod writes;

pub use decode::{DecodeError, decode};
pub use encode::encode;
pub use file::{Chain, Configuration, ControllerConfiguration};
pub use schedule::{AddressRegisters, ControllerRegisters, ScheduleRegisters};
pub use writes::{RegisterWrite, WritesFile, format_writes};
