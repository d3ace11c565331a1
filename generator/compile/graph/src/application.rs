//! The application graph: the operations of a scheduled program, and the nets between them.
//!
//! It is the stage between the plan of a program and its hardware. Nothing in it belongs to a technology: a delay is the
//! weight of an edge in cycles, and an array is a unified buffer of its ports. One pass realizes delays as shift registers
//! and memory tiles of a dedicated accelerator, an [`Accelerator`](crate::Accelerator). A reconfigurable array realizes
//! them in its registers.
//!
//! Nets of words carry 16 bits; an element of 32 bits is two words, on two nets. Nets of one bit carry conditions on loop indices. They choose among the edges of a
//! selection: at boundaries of images, and at operands of units that kernels share.

mod model;
mod read;
mod streams;
mod text;

pub use model::{ArrayAccesses, Machine, PortAccesses};

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::UnifiedBuffer;
use pushmem_nest::{Level, Program, Word};
use pushmem_stages::{Pipeline, Stage};

use crate::accelerator::{Condition, Counter, RamWrite, SharedUnit, Stream, Variable};
use crate::ids::{ArrayId, BitId, CounterId, InputId, KernelId, RamId, WordId};

/// Operations, selections, streams and arrays in memory, and the nets between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationGraph {
    /// Name of the application.
    pub name: String,
    /// Cycles of a run: one more than the time of the last output.
    pub length: u64,
    /// Names of the parts of the program that the graph refers to by their numbers.
    pub names: ProgramNames,
    /// Loop counters that streams, kernels and conditions share.
    pub counters: IndexVec<CounterId, Counter>,
    /// Nets of words. A net of an edge without delay comes before the nets that it drives.
    pub words: IndexVec<WordId, WordNet>,
    /// Nets of one bit.
    pub bits: IndexVec<BitId, BitNet>,
    /// Streams from outside.
    pub inputs: IndexVec<InputId, InputNode>,
    /// Streams to outside.
    pub outputs: Vec<OutputNode>,
    /// The operations: for each stage that computes, one kernel.
    pub kernels: IndexVec<KernelId, KernelNode>,
    /// Kernels that execute on one unit.
    pub units: Vec<UnitNode>,
    /// Stages that pass on one of their loads, and have no kernel.
    pub copies: Vec<CopyNode>,
    /// Stages whose result is always the same word.
    pub constants: Vec<Constant>,
    /// Arrays that stay in memory from their writes to their last reads.
    pub arrays: IndexVec<ArrayId, ArrayNode>,
    /// Arrays whose elements data choose.
    pub rams: IndexVec<RamId, RamNode>,
}

/// Names of the parts of a program, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramNames {
    /// The arrays.
    pub arrays: Vec<String>,
    /// The operations.
    pub operations: Vec<String>,
    /// The stages.
    pub stages: Vec<String>,
}

impl ProgramNames {
    /// The name of what carries or keeps a word of the elements of what has this name: of the high word one that no array, operation
    /// or stage has.
    pub fn of_word(&self, name: &str, word: Word) -> String {
        let is_taken =
            |name: &String| [&self.arrays, &self.operations, &self.stages].into_iter().any(|of| of.contains(name));
        let mut found = format!("{name}{}", word.suffix());
        while word != Word::Low && is_taken(&found) {
            found.push_str("_word");
        }
        found
    }

    /// The names of a program and of its stages.
    pub fn of(program: &Program, pipeline: &Pipeline) -> Self {
        ProgramNames {
            arrays: program.arrays.iter().map(|array| array.name.clone()).collect(),
            operations: program.operations().into_iter().map(|(_, operation)| operation.name.clone()).collect(),
            stages: pipeline.stages.iter().map(|stage| stage.name.clone()).collect(),
        }
    }
}

/// An edge into an operation, a selection, a stream or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// The word that a net carried some cycles ago.
    Net {
        /// The net.
        net: WordId,
        /// The weight of the edge, in cycles.
        delay: u64,
    },
    /// The same word in all cycles.
    Constant(u16),
}

/// A net of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordNet {
    /// A unique name, an identifier.
    pub name: String,
    /// Its driver.
    pub driver: WordDriver,
    /// The stage whose results the net carries; nothing for operands that are selected, and for ports of memories.
    pub result: Option<StageResult>,
}

/// The results of a stage on a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageResult {
    /// The stage.
    pub stage: usize,
    /// The loops of the stage that have several iterations, innermost first, and the cycle of each result.
    pub words: Counter,
}

impl StageResult {
    /// The results of a stage that runs at these cycles.
    pub fn of(number: usize, stage: &Stage, schedule: &Affine) -> Self {
        let levels = (0..stage.loops.len()).filter(|&level| stage.loops[level].extent > 1).collect_vec();
        let loops = || levels.iter().map(|&level| &stage.loops[level]);
        let words = Counter {
            loops: loops().map(|level| level.name.clone()).collect(),
            extent: loops().map(|level| level.extent).collect(),
            cycle: Affine {
                start: stage.first_cycle(schedule) + stage.latency as i64,
                stride: levels.iter().map(|&level| schedule.stride[level]).collect(),
            },
        };
        StageResult { stage: number, words }
    }
}

/// Driver of a net of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordDriver {
    /// A word of an input stream.
    Input {
        /// The stream.
        stream: InputId,
        /// Which word of the beat.
        lane: usize,
    },
    /// A word of the result of a kernel.
    Kernel {
        /// The kernel.
        kernel: KernelId,
        /// Which word.
        word: Word,
    },
    /// One of several edges, by nets of one bit.
    Select(Vec<Choice>),
    /// The word on a read port of the memory of an array.
    Port {
        /// The array.
        array: ArrayId,
        /// A port of its buffer.
        port: usize,
    },
    /// The word that an edge had when it was last loaded: a hold register. It shows a word from the cycle after the load on.
    Hold(Hold),
    /// An element of a random-access memory.
    Ram {
        /// The memory.
        ram: RamId,
        /// Which of its reads.
        read: usize,
    },
}

/// The word of a hold register, and the cycles of its loads: an iteration domain and a schedule, perhaps only some of its
/// iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Source of the word.
    pub edge: Edge,
    /// The loops whose steps load it.
    pub counter: CounterId,
    /// The bit that must be set for a step to load it; nothing if all steps do.
    pub when: Option<BitId>,
}

/// A case of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The bit that chooses it, if that of no case before does. The last case has none.
    pub when: Option<BitId>,
    /// The source of the case.
    pub edge: Edge,
}

/// A net of one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitNet {
    /// A unique name, an identifier.
    pub name: String,
    /// Its driver.
    pub driver: BitDriver,
}

/// Driver of a net of one bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BitDriver {
    /// Whether all of these conditions hold, each on the index of a level of a counter.
    Indices {
        /// The counter.
        counter: CounterId,
        /// The conditions.
        conditions: Vec<(usize, Condition)>,
    },
    /// Whether an iteration begins: the counter steps.
    Begins(CounterId),
}

/// A stream from outside.
pub type InputNode = Stream<InputLane>;

/// A word of a beat from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputLane {
    /// The net that it drives.
    pub net: WordId,
    /// Which element of the array it is, in order of memory, over the loops of the stream's counter; of elements of two words, which
    /// of all words, low word first.
    pub element: Affine,
}

/// A stream to outside.
pub type OutputNode = Stream<OutputLane>;

/// A word of a beat to outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLane {
    /// Source of the word.
    pub edge: Edge,
    /// The stage that produces it.
    pub stage: usize,
    /// Which element of the array it is, in order of memory, over the loops of the stream's counter; of elements of two words, which
    /// of all words, low word first.
    pub element: Affine,
}

/// An operation that executes a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelNode {
    /// The nets of its result, one for each of its words. The first has its name.
    pub nets: Vec<WordId>,
    /// The operation, an index of the program's. It says which datapath graph computes the result.
    pub operation: usize,
    /// Cycles from operands to result.
    pub latency: u64,
    /// When it begins its iterations.
    pub iterations: Counter,
    /// Loops of the stage, if the operation uses their variables.
    pub counter: Option<CounterId>,
    /// Source of each [operand](pushmem_datapaths::Datapath::operands).
    pub operands: Vec<Edge>,
    /// Source of each variable that the operation uses.
    pub variables: Vec<Variable>,
}

/// Kernels that execute on one unit.
pub type UnitNode = SharedUnit<Edge>;

/// A stage that passes on one of its loads: no kernel, perhaps a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyNode {
    /// The stage.
    pub stage: usize,
    /// The load.
    pub load: usize,
    /// The nets of the result, one for each of its words, if the load is selected or read from a memory. Without, the result is
    /// that of another stage, some cycles ago.
    pub nets: Vec<WordId>,
}

/// A stage whose result is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The stage.
    pub stage: usize,
    /// The bits of the result, those of its low word lowest.
    pub bits: u32,
}

/// An array that stays in memory from its writes to its last reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayNode {
    /// The array, an index of the program's.
    pub array: usize,
    /// Which word of its elements it keeps.
    pub word: Word,
    /// Where it is to be.
    pub level: Level,
    /// The stage of each write port, which come first among the ports.
    pub writers: Vec<usize>,
    /// Source of each write port.
    pub writes: Vec<Edge>,
    /// Its ports, in the time of the run. Each read port drives a net.
    pub buffer: UnifiedBuffer,
}

/// An array in a random-access memory, in the order of memory.
///
/// A read shows, a cycle after its address, the element with all writes up to the cycle in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RamNode {
    /// The array, an index of the program's.
    pub array: usize,
    /// The writes, one for each stage that writes the array. No two are in the same cycle.
    pub writes: Vec<RamWriteNode>,
    /// The reads, each of which drives a net.
    pub reads: Vec<RamReadNode>,
}

/// A write of a random-access memory.
pub type RamWriteNode = RamWrite<Edge>;

/// A read of a random-access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamReadNode {
    /// The stage whose kernel gives the address.
    pub stage: usize,
    /// The load that is read.
    pub load: usize,
    /// The read port. Reads that share one never have an address in the same cycle.
    pub port: usize,
    /// The loops of the stage: an address is given at each of their steps.
    pub counter: CounterId,
}

impl KernelNode {
    /// The net that has the name of the kernel: that of the low word of its result.
    ///
    /// # Panics
    /// If the kernel has no net: the reader and the passes make none such.
    pub fn net(&self) -> WordId {
        self.nets[0]
    }
}

impl ApplicationGraph {
    /// A graph in which nothing is yet.
    pub fn new(name: impl Into<String>, names: ProgramNames) -> Self {
        ApplicationGraph {
            name: name.into(),
            length: 0,
            names,
            counters: IndexVec::new(),
            words: IndexVec::new(),
            bits: IndexVec::new(),
            inputs: IndexVec::new(),
            outputs: Vec::new(),
            kernels: IndexVec::new(),
            units: Vec::new(),
            copies: Vec::new(),
            constants: Vec::new(),
            arrays: IndexVec::new(),
            rams: IndexVec::new(),
        }
    }

    /// The stage that a kernel executes.
    ///
    /// # Panics
    /// If the net of the kernel is no stage's result: the reader and the passes make none such.
    pub fn stage_of(&self, kernel: KernelId) -> usize {
        self.words[self.kernels[kernel].net()].result.as_ref().expect("a kernel executes a stage").stage
    }

    /// The kernels that have an instance of their own: of a unit that several share, the first.
    pub fn instances(&self) -> impl Iterator<Item = (KernelId, &KernelNode)> {
        let again = |kernel: KernelId| self.units.iter().any(|unit| unit.kernels[1..].contains(&kernel));
        self.kernels.iter_enumerated().filter(move |(kernel, _)| !again(*kernel))
    }

    /// All edges of the graph.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        let selected = self.choices().map(|choice| choice.edge);
        let held = self.holds().map(|hold| hold.edge);
        let operands = self.kernels.iter().flat_map(|kernel| kernel.operands.iter().copied());
        let shared = self.units.iter().flat_map(|unit| unit.operands.iter().copied());
        let written = self.arrays.iter().flat_map(|array| array.writes.iter().copied());
        let accessed = self.rams.iter().flat_map(|ram| &ram.writes).flat_map(|write| [write.element, write.address]);
        let lanes = self.outputs.iter().flat_map(|stream| stream.lanes.iter().map(|lane| lane.edge));
        selected.chain(held).chain(operands).chain(shared).chain(written).chain(accessed).chain(lanes)
    }

    /// The bits that selections and hold registers take, each as often as it is taken.
    pub fn taken_bits(&self) -> impl Iterator<Item = BitId> {
        self.choices().filter_map(|choice| choice.when).chain(self.holds().filter_map(|hold| hold.when))
    }

    /// The counters that something counts by, each as often as it is used.
    pub fn used_counters(&self) -> impl Iterator<Item = CounterId> {
        let bits = self.bits.iter().map(|bit| match &bit.driver {
            BitDriver::Indices { counter, .. } | BitDriver::Begins(counter) => *counter,
        });
        let held = self.holds().map(|hold| hold.counter);
        let streams = self.inputs.iter().map(|stream| stream.counter);
        let streams = streams.chain(self.outputs.iter().map(|stream| stream.counter));
        let kernels = self.kernels.iter().filter_map(|kernel| kernel.counter);
        let units = self.units.iter().flat_map(|unit| unit.counters.iter().copied());
        let writes = self.rams.iter().flat_map(|ram| &ram.writes).map(|write| write.counter);
        let reads = self.rams.iter().flat_map(|ram| &ram.reads).map(|read| read.counter);
        bits.chain(held).chain(streams).chain(kernels).chain(units).chain(writes).chain(reads)
    }

    /// The cases of all selections.
    fn choices(&self) -> impl Iterator<Item = &Choice> {
        self.words.iter().flat_map(|net| match &net.driver {
            WordDriver::Select(choices) => choices.as_slice(),
            _ => &[],
        })
    }

    /// All hold registers.
    fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.words.iter().filter_map(|net| match &net.driver {
            WordDriver::Hold(hold) => Some(hold),
            _ => None,
        })
    }

    /// The name of a net of one bit that has this driver: the conditions, as an identifier.
    pub fn name_of_bit(&self, driver: &BitDriver) -> String {
        match driver {
            BitDriver::Begins(counter) => format!("counter_{counter}_begins"),
            BitDriver::Indices { counter, conditions } => {
                let loops = &self.counters[*counter].loops;
                let condition = |(level, condition): &(usize, Condition)| {
                    let Condition { first, last, step } = condition;
                    let range = if first == last { first.to_string() } else { format!("{first}_to_{last}") };
                    let step = if *step == 1 { String::new() } else { format!("_by_{step}") };
                    format!("{}_{range}{step}", loops[*level])
                };
                format!("counter_{counter}_{}", conditions.iter().map(condition).join("_and_"))
            }
        }
    }
}
