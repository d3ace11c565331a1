//! The configuration of an array: as a bitstream, as text that people read and write, and as the netlist that it stands for.
//!
//! [`Configuration`] has the value of each field of each tile. [`Configuration::encode`] makes a [`Bitstream`] of it and
//! [`decode()`] is the inverse; [`Configuration::to_yaml`] prints it by names and [`Configuration::from_document`] reads that.
//! None of them loses a bit. [`Netlist::of`] follows the routes.

mod bank;
mod banked;
mod bits;
mod columns;
mod configuration;
mod decode;
mod encode;
mod netlist;
mod print;
mod processing_element;
mod read;

pub use bank::BankConfiguration;
pub use banked::{BankRow, BankedBitstream};
pub use bits::Bitstream;
pub use configuration::{Configuration, TileConfiguration, TileName};
pub use decode::decode;
pub use netlist::{Driver, Net, Netlist};
pub use processing_element::{ProcessingElement, Undefined};
pub use pushmem_configuration::DecodeError;
