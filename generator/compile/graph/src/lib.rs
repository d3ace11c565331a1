//! The graph of an accelerator: streams, kernels, shift registers, memory tiles, and the wires between them.
//!
//! Assembly makes it from scheduled stages; the proof, the printer of SystemVerilog and the report only read it. Its
//! cycle-accurate model is [`Accelerator::run`].

mod accelerator;
mod ids;
mod levels;
mod run;

pub use accelerator::{
    Accelerator, Case, Condition, Configured, Constant, Copied, Counter, Delayed, Driver, Kernel, Lane, Memory,
    OperationDatapath, Rom, SharedUnit, Source, StoredArray, Stream, Tile, Turn, Variable, WORD_BITS, Wire,
    counted_levels, earlier,
};
pub use ids::{CounterId, DatapathId, InputId, KernelId, TileId, WireId};
pub use levels::Levels;
pub use run::{Beats, Function, Run};
