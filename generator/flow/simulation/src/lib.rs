//! Running tiles: the model by itself, and the RTL in Verilator in lockstep with it.
//!
//! Any block runs so: [`BlockPorts`] lists its ports, [`Verilator::build_block`] prints a harness for them, and
//! [`BlockProcess`] drives and samples them cycle by cycle. Which ports a memory tile has, and what they mean, is in
//! [`Frame`] and [`Response`].
//!
//! [`TileBench`] drives a tile cycle by cycle through resets, configuration, flushes, stalls and streams. It always runs the
//! model; given a [`RtlProcess`], it sends the same cycles to the Verilated RTL and compares every output of every
//! cycle.

mod bench;
mod block;
mod build;
mod clocked;
mod folder;
mod frame;
mod process;
mod rtl;
mod self_test;
mod streams;
mod tile_model;
mod units;
mod verilator;

pub use bench::{BenchError, Mismatch, TileBench};
pub use block::{BlockPort, BlockPorts, BlockProcess, stopped};
pub use build::{LibrarySources, ModelSources};
pub use frame::{Bist, Frame, Response};
pub use process::RtlProcess;
pub use rtl::rtl_files;
pub use self_test::self_test;
pub use streams::{Event, StreamOptions, StreamRun, WRITES, run_length, run_streams};
pub use verilator::Verilator;
