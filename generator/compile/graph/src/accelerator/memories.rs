//! Memories: the buffers of arrays and of delays, tables, and memories with random access.

use std::sync::Arc;

use pushmem_configuration::Configuration;
use pushmem_nest::{Level, Word};
use pushmem_tile::TileSpec;

use super::Source;
use crate::ids::{CounterId, KernelId, TileId, WireId};

/// A wire that is delayed in memory tiles.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// The wire.
    pub of: WireId,
    /// Delays in cycles, ascending.
    pub delays: Vec<u64>,
    /// The wire of each delay.
    pub wires: Vec<WireId>,
}

/// Memory tiles, and the wires that they delay.
#[derive(Clone, Debug)]
pub struct DelayMemory {
    /// The wires. Several share one tile.
    pub streams: Vec<Delayed>,
    /// Its ports: for each stream one write and a read for each delay.
    pub buffer: pushmem_buffers::UnifiedBuffer,
    /// The mapping, with tiles numbered from [`DelayMemory::first_tile`].
    pub mapped: pushmem_buffers::MappedBuffer,
    /// The first of its tiles.
    pub first_tile: TileId,
}

impl DelayMemory {
    /// The wire of a port of its buffer.
    pub fn wire(&self, port: usize) -> WireId {
        let wires = |stream: &Delayed| std::iter::once(stream.of).chain(stream.wires.clone());
        self.streams.iter().flat_map(wires).nth(port).expect("each port has a wire")
    }
}

/// An array that is kept in memory tiles: its elements stay there from their writes to their last reads.
#[derive(Clone, Debug)]
pub struct StoredArray {
    /// The array, an index of the program's.
    pub array: usize,
    /// Which word of its elements these tiles keep.
    pub word: Word,
    /// The stage of each write port, which come first among the ports.
    pub writers: Vec<usize>,
    /// The wire of each port.
    pub wires: Vec<WireId>,
    /// Its ports, in the time of the run.
    pub buffer: pushmem_buffers::UnifiedBuffer,
    /// The cycle of the run in which the time of its tiles begins.
    pub begin: u64,
    /// The mapping of its ports in the time of the tiles, with tiles numbered from [`StoredArray::first_tile`].
    pub mapped: pushmem_buffers::MappedBuffer,
    /// The first of its tiles.
    pub first_tile: TileId,
}

impl StoredArray {
    /// Its ports in the time of its tiles.
    pub fn buffer_of_tiles(&self) -> pushmem_buffers::UnifiedBuffer {
        earlier(&self.buffer, self.begin)
    }
}

/// A buffer that does everything so many cycles earlier.
pub fn earlier(buffer: &pushmem_buffers::UnifiedBuffer, cycles: u64) -> pushmem_buffers::UnifiedBuffer {
    let mut buffer = buffer.clone();
    for port in &mut buffer.ports {
        port.schedule.start -= cycles as i64;
    }
    buffer
}

/// A memory tile, with what each input takes, and its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile<Input = WireId, Outputs = Vec<Option<WireId>>> {
    /// A unique name, an identifier.
    pub name: String,
    /// The level of the memory hierarchy.
    pub level: Level,
    /// Its specification.
    pub spec: Arc<TileSpec>,
    /// The cycle of the run in which its own time begins: it is flushed one before.
    pub begin: u64,
    /// Its configuration, in its own time.
    pub configuration: Configuration,
    /// Source of each input: a wire of an accelerator.
    pub inputs: Vec<Option<Input>>,
    /// Its outputs: of an accelerator the wire that each drives.
    pub outputs: Outputs,
    /// The tile whose outputs go to this one's chain inputs.
    pub chain_from: Option<TileId>,
}

impl<Input, Outputs> Tile<Input, Outputs> {
    /// The same tile with other ports.
    pub fn with_ports<OtherInput, OtherOutputs>(
        &self,
        inputs: Vec<Option<OtherInput>>,
        outputs: OtherOutputs,
    ) -> Tile<OtherInput, OtherOutputs> {
        let Tile { ref name, level, ref spec, begin, ref configuration, chain_from, .. } = *self;
        let (name, spec, configuration) = (name.clone(), spec.clone(), configuration.clone());
        Tile { name, level, spec, begin, configuration, inputs, outputs, chain_from }
    }
}

/// A ROM tile with a table, for one look-up of one kernel.
#[derive(Clone, Debug)]
pub struct Rom {
    /// A unique name, an identifier.
    pub name: String,
    /// The table, an index of the program's.
    pub table: usize,
    /// The kernel that looks it up.
    pub kernel: KernelId,
    /// Index of the [`fetches`](pushmem_datapaths::Datapath::fetches) of its datapath.
    pub fetch: usize,
    /// Its configuration.
    pub configuration: Configuration,
}

/// An array in a random-access memory, in the order of memory.
///
/// A read shows, a cycle after its address, the element with all writes up to the cycle in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ram {
    /// A unique name, an identifier.
    pub name: String,
    /// The array, an index of the program's.
    pub array: usize,
    /// The words.
    pub words: u64,
    /// The writes, one for each stage that writes the array. No two are in the same cycle.
    pub writes: Vec<RamWrite>,
    /// The reads, each with a wire of its own.
    pub reads: Vec<RamRead>,
}

/// A write of a random-access memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RamWrite<Operand = Source> {
    /// The stage.
    pub stage: usize,
    /// The loops of the stage: an element is written at each of their steps.
    pub counter: CounterId,
    /// Source of the element.
    pub element: Operand,
    /// Source of its address.
    pub address: Operand,
}

/// A read of a random-access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamRead {
    /// The kernel that gives the address.
    pub kernel: KernelId,
    /// The load that is read.
    pub load: usize,
    /// The read port. Of several reads that share one, that at whose steps it is gives the address; in other cycles the last.
    pub port: usize,
    /// The loops of the stage: an address is given at each of their steps.
    pub counter: CounterId,
    /// The wire of the element.
    pub wire: WireId,
}

impl Ram {
    /// The number of read ports, each with a memory that holds all words.
    pub fn ports(&self) -> usize {
        self.reads.iter().map(|read| read.port + 1).max().unwrap_or(0)
    }

    /// The reads of a port, by their numbers.
    pub fn reads_of(&self, port: usize) -> impl Iterator<Item = usize> {
        (0..self.reads.len()).filter(move |&read| self.reads[read].port == port)
    }
}

/// Shift registers of one length that are one memory: a circular buffer of the words of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayLine {
    /// Their length in words, which is the delay in cycles.
    pub length: u64,
    /// The wires that they drive, each by a [shift register](crate::Driver::ShiftRegister).
    pub wires: Vec<WireId>,
}

/// A tile with its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Configured<'a> {
    /// Name of the tile.
    pub name: &'a str,
    /// Its specification.
    pub spec: &'a TileSpec,
    /// Its configuration.
    pub configuration: &'a Configuration,
}
