//! The graphs of an application.
//!
//! An [`ApplicationGraph`] has operations, selections, streams and arrays; delays are weights of its edges. Assembly makes
//! it from scheduled stages. [`ApplicationGraph::run`] is its cycle model.
//!
//! An [`Accelerator`] is the same application in dedicated hardware: streams, kernels, shift registers, memory tiles, and
//! the wires between them. Assembly realizes an application graph so. The proof, the printer of SystemVerilog and the report
//! only read it. Its cycle-accurate model is [`Accelerator::run`].

mod accelerator;
mod addresses;
mod application;
mod arrivals;
mod collisions;
mod ids;
mod kernel_state;
mod lanes;
mod ram;
mod run;
mod storage;
mod stream_elements;
mod target;

pub use accelerator::{
    Accelerator, Case, Condition, Configured, Counter, DelayLine, DelayMemory, Delayed, Driver, Kernel, Lane,
    OperationDatapath, Ram, RamRead, RamWrite, Rom, SharedUnit, Source, StoredArray, Stream, Tile, Turn, Variable,
    WORD_BITS, Wire, counted_levels, earlier,
};
pub use application::{
    ApplicationGraph, ArrayAccesses, ArrayNode, BitDriver, BitNet, Choice, Constant, CopyNode, Edge, Hold, InputLane,
    InputNode, KernelNode, Machine, OutputLane, OutputNode, PortAccesses, ProgramNames, RamNode, RamReadNode,
    RamWriteNode, StageResult, UnitNode, WordDriver, WordNet,
};
pub use collisions::reads_apart;
pub use ids::{ArrayId, BitId, CounterId, DatapathId, InputId, KernelId, RamId, TileId, WireId, WordId};
pub use kernel_state::{KernelFunction, NetWord};
pub use lanes::{deinterleaved, interleaved};
pub use run::{Beats, Run};
pub use storage::{ArrayMemory, DelayTiles, DelayedNet, MemoryTile, Storage, TileInput, TileOutput, WORDS_OF_SEQUENCE};
pub use stream_elements::StreamElements;
pub use target::{Memories, Target, TileKind, TileUse};
