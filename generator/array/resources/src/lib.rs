//! The routing resources of an array, and the configuration bits that join them.
//!
//! [`TileLayout`] says of a kind of tile which multiplexers it has, what each can choose, and in which field of which register
//! the choice is. [`Graph`] puts these tiles beside each other: its nodes are tracks, registers and ports at their places, its
//! edges inputs of multiplexers. RTL, bitstreams, cycle model and routers all follow from the two.

mod address;
mod bank;
mod bank_driver;
mod graph;
mod ipxact;
mod layout;
mod map;

pub use address::{Address, CLEAR, Common, DIGEST, REGISTER_BITS, START, STOP, WHOLE_ARRAY, kind_number};
pub use bank::{BANK_FEATURE, BankMap, BankMeaning, BitstreamState};
pub use bank_driver::{BankDriverNames, bank_driver};
pub use graph::{Chosen, Edge, Graph, NodeId, Resource};
pub use layout::{CorePort, Feature, Field, Local, Meaning, MultiplexerInput, Node, TileLayout, registered_phase};
pub use map::{ArrayMap, memory_folder};
