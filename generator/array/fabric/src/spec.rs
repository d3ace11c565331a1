//! The specification with every default filled in.

mod tracks;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use num_integer::Integer;
use pushmem_files::{digest, digest_word, to_yaml};
use pushmem_pe::PeSpec;
use pushmem_tile::{AddressGenerator, Controller, ControllerSpec, Kind, Memory, Reset, Role, TileSpec};
use serde::{Deserialize, Serialize, Serializer};

pub use tracks::{Layer, Place, Side, TileKind, Topology, Tracks};

/// The tiles of a block. An array is made of blocks that are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockShape {
    /// Columns of tiles.
    pub columns: u32,
    /// Rows of tiles.
    pub rows: u32,
}

pushmem_files::named! {
    /// A stream of an IO tile, as the array sees it.
    #[derive(PartialOrd, Ord)]
    pub enum Direction {
        /// Into the array.
        In = "in",
        /// Out of the array.
        Out = "out",
    }
}

impl Direction {
    /// The name of the stream in configurations.
    pub fn stream(self) -> &'static str {
        match self {
            Direction::In => "stream_in",
            Direction::Out => "stream_out",
        }
    }

    /// The name of the transfer between a bank of a global buffer and the stream.
    pub fn transfer(self) -> &'static str {
        match self {
            Direction::In => "load",
            Direction::Out => "store",
        }
    }
}

/// The streams of IO tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IoSpec {
    /// Beats that the buffer of a stream holds.
    pub buffer: u32,
    /// Loop levels of a stream's controller, and the widths of its extents and its schedule.
    #[serde(flatten)]
    pub controller: ControllerSpec,
}

impl IoSpec {
    /// The controller of a stream: an iteration domain and a schedule, without addresses.
    pub fn controller(&self, direction: Direction) -> Controller {
        Controller::of_schedule(direction.stream(), &self.controller)
    }
}

/// The global buffer around an array: banks of SRAM, each of which loads a stream into the array and stores one that leaves it.
///
/// Unified-buffer paper, Fig. 12; dissertation, §7.1. A bank has two halves, so that a host fills or reads one of them while the array works
/// with the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GlobalBufferSpec {
    /// Banks. Each serves as many columns.
    pub banks: u32,
    /// Bytes of a bank, both halves together: a power of two.
    pub bank_bytes: u32,
    /// Columns of a bank.
    pub columns: u32,
    /// Loop levels of the controllers of loads and stores, and the widths of their extents and schedules.
    #[serde(flatten)]
    pub controller: ControllerSpec,
}

impl GlobalBufferSpec {
    /// Bits of a row: the SRAM of a half is read and the host reads and writes row by row.
    pub const ROW_BITS: u32 = 64;

    /// Bytes of a row.
    pub const ROW_BYTES: u32 = Self::ROW_BITS / 8;

    /// Halves of a bank.
    pub const HALVES: u32 = 2;

    /// Rows of a half.
    pub fn rows(&self) -> u32 {
        self.bank_bytes / Self::HALVES / Self::ROW_BYTES
    }

    /// Bytes of all banks.
    pub fn bytes(&self) -> u64 {
        u64::from(self.banks) * u64::from(self.bank_bytes)
    }

    /// Byte address of the first row of a half, as the host sees it.
    pub fn half_address(&self, bank: u32, half: u32) -> u32 {
        bank * self.bank_bytes + half * (self.bank_bytes / Self::HALVES)
    }

    /// The first column of a bank: its registers have the addresses of that column.
    pub fn first_column(&self, bank: u32) -> u32 {
        bank * self.columns
    }

    /// Whether a bank serves a column.
    pub fn has(&self, bank: u32, column: u32) -> bool {
        column / self.columns == bank
    }

    /// The column whose stream a bank loads, or stores: the first or the last one of the bank.
    pub fn column(&self, bank: u32, direction: Direction) -> u32 {
        match direction {
            Direction::In => self.first_column(bank),
            Direction::Out => self.first_column(bank) + self.columns - 1,
        }
    }

    /// The bank that loads or stores the stream of a column, if there is one.
    pub fn bank(&self, column: u32, direction: Direction) -> Option<u32> {
        let bank = column / self.columns;
        (self.column(bank, direction) == column).then_some(bank)
    }
}

/// The columns of memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryColumns {
    /// The memory tile.
    #[serde(serialize_with = "name_of_tile")]
    pub tile: TileSpec,
    /// Each column whose number, counted from 1, is a multiple of this has memories.
    pub every: u32,
}

pushmem_files::named! {
    /// The key `kind` of specifications of arrays.
    pub enum ArrayKind {
        /// The one that there is.
        Array = "array",
    }
}

/// A complete and checked specification of an array. It is written with its blocks by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArraySpec {
    /// The name, the stem of the names of its modules.
    pub name: String,
    /// The kind, which tells its document.
    pub kind: ArrayKind,
    /// Columns of tiles.
    pub columns: u32,
    /// Rows of tiles, without the row of IO tiles.
    pub rows: u32,
    /// The processing element of the PE tiles.
    #[serde(serialize_with = "name_of_pe")]
    pub pe: PeSpec,
    /// The register file beside each processing element, if there is one.
    #[serde(serialize_with = "name_of_register_file")]
    pub register_file: Option<TileSpec>,
    /// The memories of the MEM tiles, if there are any.
    pub memory: Option<MemoryColumns>,
    /// The streams of the IO tiles.
    pub io: IoSpec,
    /// Tracks between two neighbours.
    pub tracks: Tracks,
    /// How switch boxes join tracks.
    pub topology: Topology,
    /// The most hops between two registers, a power of two. With 1, each hop has a register.
    pub hop_limit: u32,
    /// The tiles of a block.
    pub block: BlockShape,
    /// Registers between the ports of the array for configuration, flush and stall, and the tiles.
    pub control_depth: u32,
    /// Whether the clock of a tile that no bitstream uses stands still.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_gating: bool,
    /// The global buffer around the array, if there is one.
    pub global_buffer: Option<GlobalBufferSpec>,
}

fn name_of_pe<S: Serializer>(pe: &PeSpec, serializer: S) -> Result<S::Ok, S::Error> {
    pe.name.serialize(serializer)
}

fn name_of_tile<S: Serializer>(tile: &TileSpec, serializer: S) -> Result<S::Ok, S::Error> {
    tile.name.serialize(serializer)
}

fn name_of_register_file<S: Serializer>(tile: &Option<TileSpec>, serializer: S) -> Result<S::Ok, S::Error> {
    tile.as_ref().map(|tile| &tile.name).serialize(serializer)
}

impl ArraySpec {
    /// The completed specification as YAML. Reading it gives the same specification, where its blocks have the same names.
    pub fn to_yaml(&self) -> String {
        to_yaml(self)
    }

    /// The array of so many of its columns, which its tiles do not notice.
    #[must_use]
    pub fn of_columns(&self, columns: u32) -> ArraySpec {
        ArraySpec { columns, ..self.clone() }
    }

    /// Columns after which tiles and registers of tracks repeat: a program moves east or west by multiples of it.
    pub fn column_period(&self) -> u32 {
        let every = self.memory.as_ref().map_or(1, |memory| memory.every);
        let of_bank = self.global_buffer.as_ref().map_or(1, |buffer| buffer.columns);
        every.lcm(&self.hop_limit).lcm(&of_bank)
    }

    /// Bits of a word on a track.
    pub fn word_bits(&self) -> u32 {
        self.pe.word_bits
    }

    /// Bits of a track.
    pub fn bits(&self, layer: Layer) -> u32 {
        match layer {
            Layer::Word => self.word_bits(),
            Layer::Bit => 1,
        }
    }

    /// The memory in the tiles of a kind: that of MEM tiles, and the register file of PE tiles.
    pub fn memory_of(&self, kind: TileKind) -> Option<&TileSpec> {
        match kind {
            TileKind::Pe => self.register_file.as_ref(),
            TileKind::Memory => self.memory.as_ref().map(|memory| &memory.tile),
            TileKind::Io => None,
        }
    }

    /// The memories of all kinds of tiles.
    pub fn memories(&self) -> impl Iterator<Item = &TileSpec> {
        self.memories_by_kind().map(|(_, memory)| memory)
    }

    /// The kinds of tiles that have a memory, with it.
    pub fn memories_by_kind(&self) -> impl Iterator<Item = (TileKind, &TileSpec)> {
        TileKind::ALL.into_iter().filter_map(|kind| Some((kind, self.memory_of(kind)?)))
    }

    /// How flip-flops are reset: as those of the memories.
    pub fn reset(&self) -> Reset {
        self.memories().next().map_or(Reset::default(), |memory| memory.reset)
    }

    /// Words of the array in a row of the global buffer.
    pub fn words_per_row(&self) -> u32 {
        GlobalBufferSpec::ROW_BITS / self.word_bits()
    }

    /// Bits of the number of a word in a half of a bank of the global buffer; 0 without one.
    pub fn bank_address_bits(&self) -> u32 {
        self.global_buffer.as_ref().map_or(0, |buffer| (buffer.rows() * self.words_per_row()).ilog2())
    }

    /// The controller of a DMA of the banks of the global buffer, which addresses the words of a half; none without a global buffer.
    pub fn bank_controller(&self, direction: Direction) -> Option<Controller> {
        let ControllerSpec { levels, extent_bits, cycle_bits, .. } = self.global_buffer.as_ref()?.controller;
        let bits = self.bank_address_bits();
        Some(Controller {
            name: direction.transfer().to_owned(),
            role: match direction {
                Direction::In => Role::Sram2Out,
                Direction::Out => Role::In2Sram,
            },
            port: 0,
            levels,
            extent_bits,
            cycle_bits,
            addresses: vec![AddressGenerator { memory: Memory::Sram, bits, modulus: 1 << bits }],
        })
    }

    /// Cycles from a word's read in a bank that is a memory of the array, in the time of its DMAs, to the cycle in which it enters the array, if
    /// a word that leaves the array is in the bank in the same cycle.
    ///
    /// A word is at the IO tile two cycles after its read, and one that leaves in the bank after one; the tile decides more cycles ahead than a
    /// stall takes. So much is enough for the array not to wait. With less than a stall takes, array and bank would wait for each other; so they would with
    /// more than the beats between them, those of the buffer and the one that the bank offers.
    pub fn bank_latency(&self) -> u32 {
        (self.stall_latency() + 4).min(self.most_bank_latency())
    }

    /// The latencies of banks with which array and bank do not wait for each other.
    pub fn bank_latencies(&self) -> RangeInclusive<u32> {
        self.stall_latency() + 2..=self.most_bank_latency()
    }

    fn most_bank_latency(&self) -> u32 {
        self.io.buffer + 1
    }

    /// The memory of programs that a bank of the global buffer is: of a half, with a word in and one out in a cycle, on the streams of its
    /// columns. None without a global buffer, or without memory tiles, on which programs depend.
    pub fn bank_memory(&self) -> Option<TileSpec> {
        let (buffer, memory) = (self.global_buffer.as_ref()?, self.memory.as_ref()?);
        let (bank, stream) = (&buffer.controller, &self.io.controller);
        let bits = self.bank_address_bits();
        let controller = ControllerSpec {
            levels: bank.levels.min(stream.levels),
            extent_bits: bank.extent_bits.min(stream.extent_bits),
            cycle_bits: bank.cycle_bits.min(stream.cycle_bits),
            address_bits: BTreeMap::from([(Memory::Sram, bits)]),
        };
        Some(TileSpec {
            name: format!("{}_bank", self.name),
            kind: Kind::DualPort,
            word_bits: self.word_bits(),
            rows: 1 << bits,
            count: Some(buffer.banks),
            inputs: 1,
            outputs: 1,
            sram_latency: self.bank_latency(),
            chaining: false,
            stencil_valid: false,
            output_chaining: false,
            contents: false,
            rom_mode: false,
            fifo_mode: false,
            ram_mode: false,
            bist: false,
            shadow_registers: false,
            controllers: Kind::DualPort.roles().iter().map(|role| (*role, controller.clone())).collect(),
            ..memory.tile.clone()
        })
    }

    /// Whether a column has a stream in a direction: with a global buffer, only those of its banks.
    pub fn has_stream(&self, column: u32, direction: Direction) -> bool {
        self.global_buffer.as_ref().is_none_or(|buffer| buffer.bank(column, direction).is_some())
    }

    /// Cycles from the request of an IO tile that time stand still to the cycle in which it does: through the registers of its
    /// block and of the array, and those of the way to the tiles. A run begins so many cycles after its flush.
    pub fn stall_latency(&self) -> u32 {
        self.control_depth + 2
    }

    /// Cycles from an access through the configuration port to its answer: to the tiles, their registers, those of the blocks and those of the
    /// array.
    pub fn answer_latency(&self) -> u32 {
        self.control_depth + 3
    }

    /// The kind of the tiles of a column, below the row of IO tiles.
    pub fn kind_of_column(&self, column: u32) -> TileKind {
        match &self.memory {
            Some(memory) if (column + 1).is_multiple_of(memory.every) => TileKind::Memory,
            _ => TileKind::Pe,
        }
    }

    /// The kind of the tile at a place, if the array has it.
    pub fn kind(&self, place: Place) -> Option<TileKind> {
        let Place { row, column } = place;
        (column < self.columns && row <= self.rows).then(|| match row {
            0 => TileKind::Io,
            _ => self.kind_of_column(column),
        })
    }

    /// All places, in their order.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let columns = self.columns;
        (0..=self.rows).flat_map(move |row| (0..columns).map(move |column| Place { row, column }))
    }

    /// The kinds of tiles that there are.
    pub fn kinds(&self) -> impl Iterator<Item = TileKind> {
        TileKind::ALL.into_iter().filter(|kind| match kind {
            TileKind::Memory => self.memory.is_some(),
            TileKind::Pe | TileKind::Io => true,
        })
    }

    /// The number of tiles of a kind.
    pub fn count(&self, kind: TileKind) -> u32 {
        let memories = self.memory.as_ref().map_or(0, |memory| self.columns / memory.every);
        match kind {
            TileKind::Io => self.columns,
            TileKind::Memory => memories * self.rows,
            TileKind::Pe => (self.columns - memories) * self.rows,
        }
    }

    /// SHA-256, in lower-case hexadecimal, of the values on which bitstreams depend. Blocks, the depth of the control
    /// tree, the buffers of streams and clock gates are none of them.
    pub fn digest(&self) -> String {
        digest(&self.canonical())
    }

    /// The first 32 bits of [`ArraySpec::digest`]: the first word of a bitstream.
    pub fn digest_word(&self) -> u32 {
        digest_word(&self.canonical())
    }

    /// These values as text.
    fn canonical(&self) -> String {
        let Self { columns, rows, pe, register_file, memory, io, tracks, topology, hop_limit, global_buffer, .. } =
            self;
        let ControllerSpec { levels, extent_bits, cycle_bits, .. } = io.controller;
        let (pe, topology) = (pe.digest(), topology.name());
        let memory = memory
            .as_ref()
            .map_or("none".to_owned(), |MemoryColumns { tile, every }| format!("{} every {every}", tile.digest()));
        let Tracks { word, bit } = tracks;
        let mut canonical = format!(
            "columns={columns}\nrows={rows}\npe={pe}\nmemory={memory}\nio.levels={levels}\n\
             io.extent_bits={extent_bits}\nio.cycle_bits={cycle_bits}\ntracks.word={word}\ntracks.bit={bit}\n\
             topology={topology}\nhop_limit={hop_limit}\n"
        );
        // An array without register files keeps the digest that it had before there were any.
        if let Some(file) = register_file {
            canonical += &format!("register_file={}\n", file.digest());
        }
        // Nor does one without a global buffer change. Banks without a common time would take bitstreams for those with it.
        if let Some(GlobalBufferSpec { banks, bank_bytes, columns, controller }) = global_buffer {
            let ControllerSpec { levels, extent_bits, cycle_bits, .. } = controller;
            canonical += &format!(
                "global_buffer.banks={banks}\nglobal_buffer.bank_bytes={bank_bytes}\nglobal_buffer.columns={columns}\n\
                 global_buffer.levels={levels}\nglobal_buffer.extent_bits={extent_bits}\n\
                 global_buffer.cycle_bits={cycle_bits}\nglobal_buffer.common_time=true\n"
            );
        }
        canonical
    }
}
