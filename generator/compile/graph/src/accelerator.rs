//! The parts of an accelerator and how they are wired.

mod memories;

use index_vec::IndexVec;
use pushmem_affine::{Affine, Domain};
use pushmem_datapaths::Datapath;
use pushmem_nest::{Level, Type, Word};
use pushmem_stages::Stage;
use pushmem_tile::TileSpec;
use serde::Deserialize;

use crate::ids::{CounterId, DatapathId, InputId, KernelId, RamId, TileId, WireId};
use crate::target::{Memories, Target};
pub use memories::{
    Configured, DelayLine, DelayMemory, Delayed, Ram, RamRead, RamWrite, Rom, StoredArray, Tile, earlier,
};

/// Bits of a word on every wire. Narrower elements are extended according to their type; those of 32 bits are two words on two
/// wires.
pub const WORD_BITS: u32 = Word::BITS;

/// An accelerator for one application: everything advances together, one cycle of the static schedule at a time.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// Name of the application.
    pub name: String,
    /// The target that it was realized for.
    pub target: Target,
    /// Cycles of a run: one more than the time of the last output.
    pub length: u64,
    /// Registers between the streams, which say whether time goes on, and the hardware, which a stall stops: the streams are so
    /// many cycles ahead. 0 where the hardware stops within the cycle.
    pub stall_latency: u32,
    /// Loop counters that streams and kernels share.
    pub counters: IndexVec<CounterId, Counter>,
    /// Wires, each after those it depends on within a cycle.
    pub wires: IndexVec<WireId, Wire>,
    /// Streams from outside.
    pub inputs: IndexVec<InputId, Stream>,
    /// Streams to outside.
    pub outputs: Vec<Stream>,
    /// The datapaths, one for each operation that is no plain copy.
    pub datapaths: IndexVec<DatapathId, OperationDatapath>,
    /// The kernels: the hardware that executes each stage.
    pub kernels: IndexVec<KernelId, Kernel>,
    /// Instances of datapaths that several kernels share. All other kernels have an instance of their own.
    pub units: Vec<SharedUnit>,
    /// The memory tiles.
    pub tiles: IndexVec<TileId, Tile>,
    /// The arrays that are kept in memory tiles, which come first among the tiles.
    pub arrays: Vec<StoredArray>,
    /// Memories: words delayed in memory tiles.
    pub memories: Vec<DelayMemory>,
    /// The shift registers that are memories, where these are made for the program.
    pub delay_lines: Vec<DelayLine>,
    /// The ROM tiles, one for each look-up in a large table.
    pub roms: Vec<Rom>,
    /// The random-access memories, one for each array whose elements data choose.
    pub rams: IndexVec<RamId, Ram>,
}

/// A word wide wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// A unique name, an identifier.
    pub name: String,
    /// Its driver.
    pub driver: Driver,
}

/// Driver of a wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// A word of an input stream.
    Input {
        /// The stream.
        stream: InputId,
        /// Which word of the beat.
        lane: usize,
    },
    /// Another wire some cycles ago: a shift register.
    ShiftRegister {
        /// The wire.
        of: WireId,
        /// Its length in words, which is the delay in cycles, at least 1.
        length: u64,
    },
    /// An output of a memory tile.
    Tile {
        /// The tile.
        tile: TileId,
        /// Which output.
        output: usize,
    },
    /// A word of the result of a kernel.
    Kernel {
        /// The kernel.
        kernel: KernelId,
        /// Which word.
        word: Word,
    },
    /// An operand of a unit that kernels share: the operand of the kernel that begins an iteration.
    Turns {
        /// The source for each kernel of the unit. The source of the last is selected in all other cycles, too.
        turns: Vec<Turn>,
    },
    /// One of several sources, by loop indices: boundaries, and reads that hold a word longer than others.
    Select {
        /// The loops.
        counter: CounterId,
        /// The cases; the last has no conditions.
        cases: Vec<Case>,
    },
    /// The word that another wire had when it was last loaded: a hold register. It shows a word from the cycle after the load
    /// on.
    Hold {
        /// The wire.
        of: WireId,
        /// The loops whose steps load it.
        counter: CounterId,
        /// Conditions on their indices, each on that of a level, all of which must hold for a step to load it.
        conditions: Vec<(usize, Condition)>,
    },
    /// An element of a random-access memory.
    Ram {
        /// The memory.
        ram: RamId,
        /// Which of its reads.
        read: usize,
    },
}

/// Loops that step at the cycles of an affine schedule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// Name of each loop, innermost first.
    pub loops: Vec<String>,
    /// Iterations of each loop.
    #[serde(rename = "extents")]
    pub extent: Domain,
    /// The cycle of each iteration.
    pub cycle: Affine,
}

impl Counter {
    /// The loops of a stage, each step some cycles after that of the stage. Loops of one iteration are left out.
    pub fn of(stage: &Stage, schedule: &Affine, late: u64) -> Self {
        let levels = counted_levels(stage, schedule);
        let loops = || levels.iter().map(|&level| &stage.loops[level]);
        Counter {
            loops: loops().map(|level| level.name.clone()).collect(),
            extent: loops().map(|level| level.extent).collect(),
            cycle: Affine {
                start: stage.first_cycle(schedule) + late as i64,
                stride: levels.iter().map(|&level| schedule.stride[level]).collect(),
            },
        }
    }

    /// Cycles from one iteration to the next when a level increments and those inside it start again.
    pub fn gaps(&self) -> Vec<i64> {
        self.extent.deltas(&self.cycle.stride).into_iter().map(|gap| gap as i64).collect()
    }

    /// The cycle of the last iteration.
    pub fn last(&self) -> i64 {
        self.cycle.value(&self.extent.last())
    }

    /// The number of iterations.
    pub fn iterations(&self) -> u64 {
        self.extent.iter().product()
    }
}

/// The loops of a stage that are counted, those of several iterations, the innermost in time first.
pub fn counted_levels(stage: &Stage, schedule: &Affine) -> Vec<usize> {
    let mut levels: Vec<usize> = (0..stage.loops.len()).filter(|&level| stage.loops[level].extent > 1).collect();
    levels.sort_by_key(|&level| schedule.stride[level]);
    levels
}

/// A stream of beats with a ready-valid handshake. A beat is due at each step of its counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream<LaneOfBeat = Lane> {
    /// A unique name, an identifier.
    pub name: String,
    /// The array, an index of the program's.
    pub array: usize,
    /// Type of the elements.
    pub element: Type,
    /// When beats are due.
    pub counter: CounterId,
    /// The words of a beat.
    pub lanes: Vec<LaneOfBeat>,
}

impl<LaneOfBeat> Stream<LaneOfBeat> {
    /// The stream of the same elements with other lanes.
    pub fn with_lanes<Other>(&self, lanes: Vec<Other>) -> Stream<Other> {
        let Stream { ref name, array, element, counter, .. } = *self;
        Stream { name: name.clone(), array, element, counter, lanes }
    }
}

/// A word of a beat.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The wire that carries it.
    pub wire: WireId,
    /// Which element of the array it is, in order of memory, over the loops of the stream's counter; of elements of two words, which
    /// of all words, low word first.
    pub element: Affine,
}

/// The datapath of an operation.
#[derive(Clone, Debug)]
pub struct OperationDatapath {
    /// A unique name, an identifier.
    pub name: String,
    /// The operation, an index of the program's.
    pub operation: usize,
    /// Its computation and its pipeline registers.
    pub datapath: Datapath,
    /// Number of loops around the operation.
    pub depth: usize,
    /// Number of each loop variable that it uses, outermost loop 0, and its name.
    pub variables: Vec<(usize, String)>,
}

/// Hardware that executes a stage: an instance of a datapath, of its own or shared with others.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// A unique name, an identifier.
    pub name: String,
    /// The stage that it executes.
    pub stage: usize,
    /// Its datapath.
    pub datapath: DatapathId,
    /// When it begins its iterations. Hardware counts them only where their indices are used.
    pub iterations: Counter,
    /// Loops of the stage, if the datapath uses their variables.
    pub counter: Option<CounterId>,
    /// Source of each [operand](Datapath::operands).
    pub operands: Vec<Source>,
    /// Where each variable of the datapath comes from.
    pub variables: Vec<Variable>,
}

/// An instance of a datapath that kernels of several operations share (dissertation §4.3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedUnit<Operand = Source> {
    /// A unique name, an identifier.
    pub name: String,
    /// The kernels, at least two. No two begin an iteration in the same cycle.
    pub kernels: Vec<KernelId>,
    /// The loops of each kernel.
    pub counters: Vec<CounterId>,
    /// Source of each operand: one that is the same for all kernels, or one that follows the kernel that begins an iteration, as a wire
    /// driven by [`Driver::Turns`] does.
    pub operands: Vec<Operand>,
}

/// A source in the cycles in which a kernel begins an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The loops of the kernel.
    pub counter: CounterId,
    /// Source of the operand.
    pub source: Source,
}

/// A loop variable: `offset + scale · index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Level of the counter; nothing if the loop is unrolled completely.
    pub level: Option<usize>,
    /// Factor of the counter's index.
    pub scale: i64,
    /// Value at index 0.
    pub offset: i64,
}

/// A choice among sources by the indices of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Conditions, each on the index of a level of the counter. The case applies if all hold and no case before it does.
    pub conditions: Vec<(usize, Condition)>,
    /// Where the value comes from.
    pub source: Source,
}

/// A condition on a loop index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// Least index.
    pub first: i64,
    /// Greatest index.
    pub last: i64,
    /// Only every so many-th from the first; 1 for all.
    pub step: i64,
}

impl Condition {
    /// Whether an index meets the condition.
    pub fn holds(&self, index: i64) -> bool {
        (self.first..=self.last).contains(&index) && (index - self.first) % self.step == 0
    }

    /// Whether it speaks of indices of a loop of so many iterations.
    pub fn is_within(&self, extent: u64) -> bool {
        0 <= self.first && self.first <= self.last && self.last < extent as i64 && self.step > 0
    }
}

/// A wire or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A wire.
    Wire(WireId),
    /// A word.
    Constant(u16),
}

impl Source {
    /// The wire, if it is one.
    pub fn wire(&self) -> Option<WireId> {
        match *self {
            Source::Wire(wire) => Some(wire),
            Source::Constant(_) => None,
        }
    }
}

impl Driver {
    /// The wires that it reads itself: reads of kernels and tiles are not among them.
    pub fn wires(&self) -> Vec<WireId> {
        match self {
            Driver::Input { .. } | Driver::Tile { .. } | Driver::Kernel { .. } | Driver::Ram { .. } => Vec::new(),
            Driver::ShiftRegister { of, .. } | Driver::Hold { of, .. } => vec![*of],
            Driver::Select { cases, .. } => cases.iter().filter_map(|case| case.source.wire()).collect(),
            Driver::Turns { turns } => turns.iter().filter_map(|turn| turn.source.wire()).collect(),
        }
    }
}

impl Accelerator {
    /// An accelerator in which nothing is yet.
    pub fn new(name: impl Into<String>, target: Target) -> Self {
        Self {
            name: name.into(),
            target,
            length: 0,
            stall_latency: 0,
            counters: IndexVec::new(),
            wires: IndexVec::new(),
            inputs: IndexVec::new(),
            outputs: Vec::new(),
            datapaths: IndexVec::new(),
            kernels: IndexVec::new(),
            units: Vec::new(),
            tiles: IndexVec::new(),
            arrays: Vec::new(),
            memories: Vec::new(),
            delay_lines: Vec::new(),
            roms: Vec::new(),
            rams: IndexVec::new(),
        }
    }

    /// All that is configured: the memory tiles, then the ROM tiles. Nothing where memories are made for the program.
    pub fn configured(&self) -> Vec<Configured<'_>> {
        if self.target.memories == Memories::Fixed {
            return Vec::new();
        }
        let tiles = self.tiles.iter().map(|tile| (&tile.name, &*tile.spec, &tile.configuration));
        let roms = self.roms.iter().map(|rom| (&rom.name, self.target.rom(), &rom.configuration));
        tiles.chain(roms).map(|(name, spec, configuration)| Configured { name, spec, configuration }).collect()
    }

    /// The specification of the tiles of a level. Only levels that there are have tiles.
    pub fn spec_at(&self, level: Level) -> &TileSpec {
        self.target.at(level).unwrap_or_else(|| self.target.memory())
    }

    /// How many tiles of a level there are.
    pub fn count_at(&self, level: Level) -> usize {
        self.tiles.iter().filter(|tile| tile.level == level).count()
    }

    /// The levels that have tiles, the memory tiles first.
    pub fn levels_in_use(&self) -> Vec<Level> {
        let levels = [Level::Memory, Level::GlobalBuffer, Level::RegisterFile];
        levels.into_iter().filter(|level| self.count_at(*level) > 0).collect()
    }

    /// The specifications of all tiles but ROMs, each once, those of memory tiles first.
    pub fn specs_in_use(&self) -> impl Iterator<Item = &TileSpec> {
        let of_level = |level: Level| self.tiles.iter().filter(move |tile| tile.level == level);
        let mut specs: Vec<&TileSpec> = Vec::new();
        for tile in self.levels_in_use().into_iter().flat_map(of_level) {
            if specs.iter().rev().all(|spec| *spec != &*tile.spec) {
                specs.push(&tile.spec);
            }
        }
        specs.into_iter()
    }

    /// Whether clocks of some of its tiles stop.
    pub fn has_clock_gates(&self) -> bool {
        self.configured().iter().any(|tile| tile.spec.clock_gating)
    }

    /// The ROMs of a kernel, by the order of its look-ups: indices of [`Accelerator::roms`].
    pub fn roms_of(&self, kernel: KernelId) -> Vec<usize> {
        let mut roms: Vec<usize> = (0..self.roms.len()).filter(|&rom| self.roms[rom].kernel == kernel).collect();
        roms.sort_by_key(|&rom| self.roms[rom].fetch);
        roms
    }

    /// The memory and the read of each of the [`memory_reads`](Datapath::memory_reads) of a kernel, in their order.
    ///
    /// # Panics
    /// If a read has no memory: the proof refuses such an accelerator.
    pub fn ram_reads_of(&self, kernel: KernelId) -> Vec<(RamId, usize)> {
        let place = |load: usize| {
            let is_read = |read: &RamRead| (read.kernel, read.load) == (kernel, load);
            let mut rams = self.rams.iter_enumerated();
            rams.find_map(|(number, ram)| ram.reads.iter().position(is_read).map(|read| (number, read)))
        };
        let reads = self.datapaths[self.kernels[kernel].datapath].datapath.memory_reads();
        reads.iter().map(|read| place(read.load).expect("each read has a memory")).collect()
    }

    /// The unit that a kernel shares with others, an index of [`Accelerator::units`].
    pub fn unit_of(&self, kernel: KernelId) -> Option<usize> {
        self.units.iter().position(|unit| unit.kernels.contains(&kernel))
    }

    /// The kernels that have an instance of their own: of a unit that several share, the first.
    pub fn instances_of_kernels(&self) -> impl Iterator<Item = &Kernel> {
        let again = |kernel: &KernelId| self.units.iter().any(|unit| unit.kernels[1..].contains(kernel));
        self.kernels.indices().filter(move |kernel| !again(kernel)).map(|kernel| &self.kernels[kernel])
    }

    /// The datapath of each instance: a unit that kernels share is one.
    pub fn instances(&self) -> impl Iterator<Item = &Datapath> {
        self.instances_of_kernels().map(|kernel| &self.datapaths[kernel.datapath].datapath)
    }

    /// Two-to-one multiplexers, counted in words, in front of units that kernels share.
    pub fn multiplexed_words(&self) -> usize {
        let words = self.wires.iter().map(|wire| match &wire.driver {
            Driver::Turns { turns } => turns.len() - 1,
            _ => 0,
        });
        words.sum()
    }

    /// Words in shift registers that are no memories.
    pub fn shift_register_words(&self) -> u64 {
        let length = |wire: &Wire| if let Driver::ShiftRegister { length, .. } = wire.driver { length } else { 0 };
        self.wires.iter().map(length).sum::<u64>() - self.delay_line_words()
    }

    /// Words in shift registers that are memories.
    pub fn delay_line_words(&self) -> u64 {
        self.delay_lines.iter().map(|line| line.length * line.wires.len() as u64).sum()
    }

    /// Hold registers, each of a word.
    pub fn hold_registers(&self) -> usize {
        self.wires.iter().filter(|wire| matches!(wire.driver, Driver::Hold { .. })).count()
    }

    /// Words that memories made for the program have room for.
    pub fn made_words(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.spec.words()).sum::<u64>() + self.delay_line_words()
    }

    /// Words that are live in memories at most.
    pub fn memory_words(&self) -> u64 {
        let delayed = self.memories.iter().map(|memory| memory.mapped.live_words);
        let stored = self.arrays.iter().map(|array| array.mapped.live_words);
        delayed.chain(stored).sum::<u64>() + self.delay_line_words()
    }
}
