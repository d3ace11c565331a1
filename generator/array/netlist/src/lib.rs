//! The netlist of a program on an array: the cells that tiles execute, and the nets between them, before placement.
//!
//! Selection makes it of an accelerator, placement gives each cell a tile, and routing each net its tracks. The netlist says
//! how many cycles each connection takes, and leaves to the array in which cycle a cell starts. [`Netlist::to_yaml`] prints it, [`Netlist::from_document`] reads that,
//! and [`Netlist::check`] says whether an array has the ports and operations that it names.

mod blocks;
mod check;
mod connection;
mod element;
mod history;
mod model;
mod netlist;
mod print;
mod read;
mod run;

pub use connection::Connection;
pub use model::Machine;
pub use netlist::{BankCells, Cell, CellId, Core, Net, NetId, Netlist, Port, Sink, only_predicate};
pub use run::{BankLanes, Lane, Run};
