//! The specification with every default filled in.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::controller::{Controller, Memory, Role};
use crate::read::KindName;

pushmem_files::named! {
    /// How a controller computes its affine functions. All styles behave the same, cycle for cycle; they differ in area and
    /// in what their registers hold (dissertation §6.1.2, Figure 6.2).
    #[derive(Default)]
    pub enum Style {
        /// One register and one adder for the whole function; registers hold the delta of each level.
        #[default]
        Recurrence = "recurrence",
        /// One register and one adder per level; registers hold the stride of each level.
        PerLevel = "per_level",
        /// Strides times raw loop indices; registers hold the stride of each level.
        Multiplier = "multiplier",
    }
}

/// The port that lets all clocks run, where there are clock gates.
pub const TEST_ENABLE: &str = "test_enable_i";

pushmem_files::named! {
    /// How flip-flops are reset. Both kinds of reset are active low; the chip around the tile decides.
    #[derive(Default)]
    pub enum Reset {
        /// At once, clock or not.
        #[default]
        Asynchronous = "asynchronous",
        /// At the end of a clock cycle with reset.
        Synchronous = "synchronous",
    }
}

impl Reset {
    /// The name of a library module with this kind of reset. Those without a reset have one name.
    pub fn module_name(self, module: &str) -> String {
        match self {
            Reset::Asynchronous => module.to_owned(),
            Reset::Synchronous => format!("{module}_synchronous"),
        }
    }

    /// The type of its signal in Veryl, which must know it where the signal goes into SystemVerilog.
    pub fn veryl_type(self) -> &'static str {
        match self {
            Reset::Asynchronous => "reset_async_low",
            Reset::Synchronous => "reset_sync_low",
        }
    }

    /// Whether a module of the library, in SystemVerilog, has a reset.
    pub fn is_in(text: &str) -> bool {
        text.contains("rst_ni")
    }

    /// SystemVerilog that is written for an asynchronous reset, for this one. With a synchronous reset, registers are unknown
    /// until the first clock edge under reset, so that assertions wait for its end. With an asynchronous one, Verilator 5.006
    /// would complain that the reset is used both ways.
    pub fn of_system_verilog(self, text: &str) -> String {
        match self {
            Reset::Asynchronous => text.to_owned(),
            Reset::Synchronous => text
                .replace("@(posedge clk_i, negedge rst_ni)", "@(posedge clk_i)")
                .replace("`PUSHMEM_ASSERT(", "`PUSHMEM_ASSERT_OUT_OF_RESET("),
        }
    }
}

pushmem_files::named! {
    /// The mode of a tile, which its configuration chooses.
    #[derive(Default)]
    pub enum Mode {
        /// Controllers move words by schedule.
        #[default]
        UnifiedBuffer = "unified_buffer",
        /// Words leave output 0 in the order in which they came on input 0, when both sides are ready.
        Fifo = "fifo",
        /// Words are read and written at addresses that come with each access.
        Ram = "ram",
    }
}

/// The variants of the memory-tile family, with the parameters only they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Wide-fetch single-port SRAM between aggregators and transpose buffers (unified-buffer paper §IV-B).
    WideFetch {
        /// Words in an SRAM row.
        fetch_width: u32,
        /// Words in the aggregator of each input.
        agg_words: u32,
        /// Words in the transpose buffer of each output.
        tb_words: u32,
    },
    /// SRAM with one write and one read port (unified-buffer paper §IV-A); all inputs share the one, all outputs the other.
    DualPort,
    /// Reference memory with two write and two read ports: input and output i use port i modulo 2.
    QuadPort,
    /// Register file with one write and one read port, read in the cycle of the firing ("pond").
    RegisterFile,
    /// Single-port SRAM whose contents are loaded through the configuration port and whose address comes from an input.
    Rom,
}

impl Kind {
    /// The name used in specifications.
    pub fn name(self) -> &'static str {
        self.named().name()
    }

    pub(crate) fn named(self) -> KindName {
        match self {
            Kind::WideFetch { .. } => KindName::WideFetch,
            Kind::DualPort => KindName::DualPort,
            Kind::QuadPort => KindName::QuadPort,
            Kind::RegisterFile => KindName::RegisterFile,
            Kind::Rom => KindName::Rom,
        }
    }

    /// Words in a row of the main memory.
    pub fn row_words(self) -> u32 {
        match self {
            Kind::WideFetch { fetch_width, .. } => fetch_width,
            _ => 1,
        }
    }

    /// Ports of the main memory that write and that read. The single port of a wide-fetch SRAM or ROM counts once in each.
    pub fn memory_ports(self) -> u32 {
        match self {
            Kind::QuadPort => 2,
            _ => 1,
        }
    }

    /// The port of the main memory that an input or output uses.
    pub fn memory_port(self, port: u32) -> u32 {
        port % self.memory_ports()
    }

    /// Which of `count` inputs, or outputs, share a port of the main memory.
    pub fn sharing(self, memory_port: u32, count: u32) -> impl Iterator<Item = u32> {
        (0..count).filter(move |&port| self.memory_port(port) == memory_port)
    }

    /// The roles that write and read the main memory, where inputs and outputs reach it directly.
    pub fn direct_roles(self) -> Option<(Role, Role)> {
        match self.roles() {
            &[write, read] => Some((write, read)),
            _ => None,
        }
    }

    /// The roles its controllers play, in the order of the register map.
    pub fn roles(self) -> &'static [Role] {
        match self {
            Kind::WideFetch { .. } => &[Role::In2Agg, Role::Agg2Sram, Role::Sram2Tb, Role::Tb2Out],
            Kind::DualPort | Kind::QuadPort => &[Role::In2Sram, Role::Sram2Out],
            Kind::RegisterFile => &[Role::In2RegisterFile, Role::RegisterFile2Out],
            Kind::Rom => &[Role::Rom2Out],
        }
    }
}

/// Loop levels and widths of the controllers of one role.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ControllerSpec {
    /// Loop levels of the iteration domain.
    pub levels: u32,
    /// Width of an extent, in bits. An extent is stored minus one, so that extents 1 to 2^bits fit.
    pub extent_bits: u32,
    /// Width of the schedule, in bits: starts 0 to 2^bits − 1, gaps between two firings 1 to 2^bits.
    pub cycle_bits: u32,
    /// Width of each address generator, in bits, by the memory it addresses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub address_bits: BTreeMap<Memory, u32>,
}

/// A complete and checked tile specification.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileSpec {
    /// Name of the tile: an identifier, the stem of its module names.
    pub name: String,
    /// Variant, with the parameters only it has.
    pub kind: Kind,
    /// Bits of a data word.
    pub word_bits: u32,
    /// Rows of the main memory (of `fetch_width` words in the wide-fetch variant, else of one word).
    pub rows: u32,
    /// How many such tiles there are, if only so many.
    pub count: Option<u32>,
    /// Input ports.
    pub inputs: u32,
    /// Output ports.
    pub outputs: u32,
    /// Cycles from an SRAM read to its data; 0 for a register file.
    pub sram_latency: u32,
    /// Whether several tiles can form one larger memory.
    pub chaining: bool,
    /// Whether an output shows the word of the tile before it in a chain where it has none of its own.
    pub output_chaining: bool,
    /// Whether the tile has a generator of a stencil-valid signal.
    pub stencil_valid: bool,
    /// Whether it can be a table instead: loaded through the configuration port, and read at addresses from input 0.
    pub rom_mode: bool,
    /// Whether it can be a FIFO instead.
    pub fifo_mode: bool,
    /// Whether it can be a memory that is read and written at addresses from input 0 instead.
    pub ram_mode: bool,
    /// Whether words of the main memory are loaded and read back through the configuration port, whatever the mode.
    pub contents: bool,
    /// How controllers compute affine functions.
    pub style: Style,
    /// Whether the SRAM has a self-test.
    pub bist: bool,
    /// How its flip-flops are reset.
    pub reset: Reset,
    /// Whether clocks stop where nothing changes; then there is a port [`TEST_ENABLE`].
    pub clock_gating: bool,
    /// Whether configuration registers are there twice, so that the next configuration can be loaded during a run.
    pub shadow_registers: bool,
    /// Levels and widths by role, for every role of the tile.
    pub controllers: BTreeMap<Role, ControllerSpec>,
}

impl TileSpec {
    /// The roles of its controllers, in the order of the register map.
    pub fn roles(&self) -> Vec<Role> {
        let mut roles = self.kind.roles().to_vec();
        if self.rom_mode {
            roles.push(Role::Rom2Out);
        }
        if self.stencil_valid {
            roles.push(Role::StencilValid);
        }
        roles
    }

    /// Its controllers, in the order of the register map.
    pub fn controllers(&self) -> Vec<Controller> {
        self.roles()
            .into_iter()
            .flat_map(|role| {
                let count = role.count(self);
                (0..count).map(move |port| (role, port))
            })
            .map(|(role, port)| Controller::of(self, role, port))
            .collect()
    }

    /// Bits of the tile ID that chaining compares with the upper bits of an SRAM address; 0 without chaining.
    pub fn tile_id_bits(&self) -> u32 {
        if !self.chaining {
            return 0;
        }
        let address_bits = self
            .controllers
            .values()
            .filter_map(|controller| controller.address_bits.get(&self.main_memory()))
            .max()
            .copied()
            .unwrap_or(0);
        address_bits - address_bits_for(self.rows)
    }

    /// The main memory, which controllers address by row.
    pub fn main_memory(&self) -> Memory {
        match self.kind {
            Kind::RegisterFile => Memory::RegisterFile,
            _ => Memory::Sram,
        }
    }

    /// The modes beside the unified buffer that a configuration can choose, in the order of the register map.
    pub fn modes(&self) -> impl DoubleEndedIterator<Item = Mode> + use<> {
        let modes = [(self.fifo_mode, Mode::Fifo), (self.ram_mode, Mode::Ram)];
        modes.into_iter().filter_map(|(has_it, mode)| has_it.then_some(mode))
    }

    /// Whether there are any.
    pub fn has_modes(&self) -> bool {
        self.modes().next().is_some()
    }

    /// Words of the main memory that are loaded and read back through the configuration port; none if there is no access to them.
    pub fn content_words(&self) -> Option<u32> {
        (self.contents || self.ram_mode || self.is_table()).then(|| self.rows * self.kind.row_words())
    }

    /// Words of the table that it is, or can be.
    pub fn table_words(&self) -> Option<u32> {
        self.content_words().filter(|_| self.is_table())
    }

    fn is_table(&self) -> bool {
        self.kind == Kind::Rom || self.rom_mode
    }

    /// Whether words come from the outputs of another tile.
    pub fn has_chain_inputs(&self) -> bool {
        self.chaining || self.output_chaining
    }

    /// Cycles from a read on the configuration port until its data show: contents of a memory take as long as the memory.
    pub fn configuration_read_latency(&self) -> u32 {
        self.content_words().map_or(1, |_| self.sram_latency.max(1))
    }

    /// Words of the main memory.
    pub fn words(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.kind.row_words())
    }

    /// Words of the main memory of one tile, or of as many as can form a chain.
    pub fn largest_memory(&self) -> u64 {
        self.words() << self.tile_id_bits()
    }
}

/// Bits that address `count` items; 0 for a single one.
pub fn address_bits_for(count: u32) -> u32 {
    u32::BITS - count.saturating_sub(1).leading_zeros()
}

/// Bits of an index into `count` items, at least 1.
pub fn index_bits_for(count: u32) -> u32 {
    address_bits_for(count).max(1)
}
