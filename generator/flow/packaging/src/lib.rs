//! The files of a chip flow beside the RTL of a tile or an accelerator: packages for FuseSoC and Bender, file lists, timing
//! constraints, the register map for tools, the list of memory macros, and configurations of place-and-route flows.
//!
//! [`package`] prints all of it from a [`Design`], [`description`] the part that any design has without its memories in macros.

mod macros;
mod package;
mod registers;
mod timing;

pub use package::{Design, SYNTHESIS_LIST, description, package};
pub use registers::AddressBlock;
pub use timing::Timing;
