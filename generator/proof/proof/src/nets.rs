//! Graphs of nets as the proof sees them: the driver of each net, and with which delay.
//!
//! An application graph has delays as weights of its edges, an accelerator as shift registers and memories. The proof of
//! provenance is the same for both.
//!
//! An element of 32 bits is two words on two nets. The proof looks at a graph once for each of them: with the low words of all
//! elements, and with their high words. In a view the nets of the other word carry nothing that is known, so that a low word
//! where a high one is due is a fault. Elements of one word are in both views.

use pushmem_affine::Affine;
use pushmem_buffers::UnifiedBuffer;
use pushmem_graph::{
    Accelerator, ApplicationGraph, BitDriver, Condition, Counter, CounterId, Driver, Edge, Source, WireId, WordDriver,
    WordId,
};
use pushmem_nest::{Program, Word};
use pushmem_stages::Staged;

/// A graph with one of the words of each element: with those words of a program whose elements have two.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, Graph> {
    /// The graph.
    pub graph: &'a Graph,
    /// The program, which says how many words the elements of its arrays have.
    pub program: &'a Program,
    /// Its stages.
    pub staged: Staged<'a>,
    /// Which word of the elements that have two.
    pub word: Word,
}

impl<'a, Graph> View<'a, Graph> {
    /// The views of a graph that show all words of the elements of a program.
    pub fn all(graph: &'a Graph, program: &'a Program, staged: Staged<'a>) -> Vec<Self> {
        let words = program.arrays.iter().map(|array| array.element.words()).max_by_key(|words| words.len());
        words.unwrap_or(&[Word::Low]).iter().map(|&word| View { graph, program, staged, word }).collect()
    }

    /// The word of the elements of an array that the view shows; nothing of an array that there is not.
    fn of_array(&self, array: usize) -> Option<Word> {
        let words = self.program.arrays.get(array)?.element.words();
        words.get(self.word.number()).or(words.first()).copied()
    }

    /// The word of the results of a stage that the view shows.
    fn of_stage(&self, stage: usize) -> Option<Word> {
        self.of_array(self.staged.pipeline.stages.get(stage)?.write.array)
    }

    /// The stage whose result a net carries that has this word of it; nothing known if the view shows the other word.
    fn result(&self, stage: usize, word: Word) -> NetDriver {
        if self.of_stage(stage) == Some(word) { NetDriver::Result(stage) } else { NetDriver::Shared }
    }

    /// Whether the view shows the word of an array that is at this place in memory in the first beat of a stream.
    fn shows(&self, array: usize, element: &Affine) -> bool {
        let words = self.program.arrays.get(array).map_or(1, |of| of.element.words().len());
        self.of_array(array).is_some_and(|word| element.start.rem_euclid(words as i64) == word.number() as i64)
    }

    /// The operands of a kernel of a stage that the view shows, each with its load.
    fn shown<Operand: Copy>(&self, stage: usize, operands: &[Operand]) -> Vec<(usize, Operand)> {
        let reads = self.staged.pipeline.stages.get(stage).map_or(&[] as &[_], |stage| stage.reads.as_slice());
        let words = reads.iter().enumerate().flat_map(|(load, read)| {
            let words = self.program.arrays.get(read.array).map_or(&[] as &[Word], |array| array.element.words());
            words.iter().map(move |word| (load, read.array, *word))
        });
        let shown = words.zip(operands).filter(|((_, array, word), _)| self.of_array(*array) == Some(*word));
        shown.map(|((load, ..), operand)| (load, *operand)).collect()
    }

    /// This word of the bits of the results of a stage.
    fn constant(&self, stage: usize, bits: u32) -> (usize, u16) {
        (stage, self.of_stage(stage).unwrap_or(Word::Low).of(i64::from(bits)))
    }

    /// The net of this word among those of the results of a stage.
    fn selection<Net: Copy>(&self, stage: usize, nets: &[Net]) -> Option<Net> {
        nets.get(self.of_stage(stage)?.number()).copied()
    }
}

/// A graph of nets of words.
pub trait NetGraph: Sync {
    /// Which word of the elements of an array the graph has.
    fn word(&self, array: usize) -> Word;

    /// How many nets there are. They are numbered from 0.
    fn nets(&self) -> usize;

    /// The name of a net.
    fn name(&self, net: usize) -> &str;

    /// The driver of a net. A net that delays another one comes after it.
    fn driver(&self, net: usize) -> NetDriver;

    /// A loop counter.
    fn counter(&self, counter: CounterId) -> &Counter;

    /// Sources of the loads of all kernels.
    fn operands(&self) -> Vec<NetOperand>;

    /// The stages that pass on one of their loads.
    fn copies(&self) -> Vec<NetCopy>;

    /// The stages whose result is always the same word, and the word.
    fn constants(&self) -> Vec<(usize, u16)>;

    /// The words of all streams, those from outside first.
    fn lanes(&self) -> Vec<NetLane<'_>>;

    /// The stages whose results go outside as elements of an array, in the order of the lanes of its streams.
    fn sent(&self, array: usize) -> Vec<usize>;

    /// The arrays that are kept.
    fn arrays(&self) -> Vec<NetArray<'_>>;
}

/// Driver of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetDriver {
    /// The result of a stage: of a kernel, or a word of an input.
    Result(usize),
    /// Another net, some cycles ago.
    Delayed {
        /// The net.
        net: usize,
        /// Cycles.
        cycles: i64,
    },
    /// One of several sources, by the indices of a counter.
    Select {
        /// The counter; nothing if the cases have no conditions, or are about several counters.
        counter: Option<CounterId>,
        /// The cases; the last has no conditions.
        cases: Vec<NetCase>,
    },
    /// The word on a port of a memory.
    Port,
    /// The word that a source had when it was last loaded, in an earlier cycle.
    Hold(NetHold),
    /// An operand of a unit that kernels share: the operands of its kernels are proven.
    Shared,
}

/// A case of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetCase {
    /// Conditions, each on the index of a level of the counter.
    pub conditions: Vec<(usize, Condition)>,
    /// Source of the word.
    pub source: NetSource,
}

/// A word that is held, and when it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetHold {
    /// Source of the word.
    pub source: NetSource,
    /// The loops whose steps load it.
    pub counter: CounterId,
    /// Conditions on their indices, each on that of a level: all must hold for a step to load it.
    pub conditions: Vec<(usize, Condition)>,
}

/// Source of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetSource {
    /// A net, some cycles ago.
    Net {
        /// The net.
        net: usize,
        /// Cycles.
        delay: i64,
    },
    /// Always this word.
    Constant(u16),
}

impl NetSource {
    /// The net, if it is one that is not delayed.
    pub fn direct(self) -> Option<usize> {
        match self {
            NetSource::Net { net, delay: 0 } => Some(net),
            _ => None,
        }
    }
}

/// Source of a load of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetOperand {
    /// The kernel, by its number in the graph.
    pub kernel: usize,
    /// The stage that the kernel executes.
    pub stage: usize,
    /// The load.
    pub load: usize,
    /// Its source.
    pub source: NetSource,
}

/// A stage that passes on one of its loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetCopy {
    /// The stage.
    pub stage: usize,
    /// The load.
    pub load: usize,
    /// The net of the result if the load is selected or read from a memory.
    pub selection: Option<usize>,
}

/// A word of a stream.
#[derive(Clone, Debug)]
pub struct NetLane<'a> {
    /// The name of the stream.
    pub stream: &'a str,
    /// When its beats are due.
    pub counter: CounterId,
    /// Source of the word.
    pub source: NetSource,
    /// The stage that produces it.
    pub stage: usize,
    /// The element, over the loops of the counter.
    pub element: &'a Affine,
}

/// An array that is kept.
#[derive(Clone, Debug)]
pub struct NetArray<'a> {
    /// The array, an index of the program's.
    pub array: usize,
    /// The stage of each write port, which come first among the ports.
    pub writers: &'a [usize],
    /// Source of each write port.
    pub writes: Vec<NetSource>,
    /// The net of each read port.
    pub reads: Vec<usize>,
    /// Its ports.
    pub buffer: &'a UnifiedBuffer,
}

fn wire(wire: WireId) -> NetSource {
    NetSource::Net { net: wire.index(), delay: 0 }
}

fn source(source: Source) -> NetSource {
    match source {
        Source::Wire(of) => wire(of),
        Source::Constant(word) => NetSource::Constant(word),
    }
}

/// A memory of delays counts as one, because the replay shows that its outputs are its wire so many cycles ago.
impl NetGraph for View<'_, Accelerator> {
    fn word(&self, array: usize) -> Word {
        self.of_array(array).unwrap_or(Word::Low)
    }

    fn nets(&self) -> usize {
        self.graph.wires.len()
    }

    fn name(&self, net: usize) -> &str {
        &self.graph.wires[net].name
    }

    fn driver(&self, net: usize) -> NetDriver {
        match &self.graph.wires[net].driver {
            Driver::Input { stream, lane } => {
                let stream = &self.graph.inputs[*stream];
                let lane = &stream.lanes[*lane];
                match self.shows(stream.array, &lane.element) {
                    true => NetDriver::Result(lane.stage),
                    false => NetDriver::Shared,
                }
            }
            Driver::Kernel { kernel, word } => self.result(self.graph.kernels[*kernel].stage, *word),
            Driver::ShiftRegister { of, length } => NetDriver::Delayed { net: of.index(), cycles: *length as i64 },
            Driver::Tile { .. } => {
                let delayed = self.graph.memories.iter().flat_map(|memory| &memory.streams).find_map(|stream| {
                    let place = stream.wires.iter().position(|&other| other == net)?;
                    // Only nets that come before can be followed.
                    (stream.of < net).then_some(())?;
                    Some(NetDriver::Delayed { net: stream.of.index(), cycles: *stream.delays.get(place)? as i64 })
                });
                delayed.unwrap_or(NetDriver::Port)
            }
            Driver::Select { counter, cases } => {
                let case =
                    |of: &pushmem_graph::Case| NetCase { conditions: of.conditions.clone(), source: source(of.source) };
                NetDriver::Select { counter: Some(*counter), cases: cases.iter().map(case).collect() }
            }
            Driver::Hold { of, counter, conditions } => {
                let (source, conditions) = (wire(*of), conditions.clone());
                NetDriver::Hold(NetHold { source, counter: *counter, conditions })
            }
            Driver::Turns { .. } | Driver::Ram { .. } => NetDriver::Shared,
        }
    }

    fn counter(&self, counter: CounterId) -> &Counter {
        &self.graph.counters[counter]
    }

    fn operands(&self) -> Vec<NetOperand> {
        let of_kernel = |(number, kernel): (usize, &pushmem_graph::Kernel)| {
            let stage = kernel.stage;
            let operands = self.shown(stage, &kernel.operands).into_iter();
            operands.map(move |(load, of)| NetOperand { kernel: number, stage, load, source: source(of) })
        };
        self.graph.kernels.iter().enumerate().flat_map(of_kernel).collect()
    }

    fn copies(&self) -> Vec<NetCopy> {
        let copies = self.graph.copies.iter();
        let copy = |copy: &pushmem_graph::Copied| NetCopy {
            stage: copy.stage,
            load: copy.load,
            selection: self.selection(copy.stage, &copy.selections).map(WireId::index),
        };
        copies.map(copy).collect()
    }

    fn constants(&self) -> Vec<(usize, u16)> {
        self.graph.constants.iter().map(|constant| self.constant(constant.stage, constant.bits)).collect()
    }

    fn lanes(&self) -> Vec<NetLane<'_>> {
        let streams = self.graph.inputs.iter().chain(&self.graph.outputs);
        let lanes = streams.flat_map(|stream| {
            let lanes = stream.lanes.iter().filter(|lane| self.shows(stream.array, &lane.element));
            lanes.map(|lane| NetLane {
                stream: &stream.name,
                counter: stream.counter,
                source: wire(lane.wire),
                stage: lane.stage,
                element: &lane.element,
            })
        });
        lanes.collect()
    }

    fn sent(&self, array: usize) -> Vec<usize> {
        let lanes = self.graph.outputs.iter().filter(|stream| stream.array == array).flat_map(|stream| &stream.lanes);
        lanes.filter(|lane| self.shows(array, &lane.element)).map(|lane| lane.stage).collect()
    }

    fn arrays(&self) -> Vec<NetArray<'_>> {
        let arrays = self.graph.arrays.iter().filter(|of| self.of_array(of.array) == Some(of.word));
        let array = |array: &'_ pushmem_graph::StoredArray| {
            let writers = array.writers.len();
            (
                array.wires.iter().take(writers).map(|&of| wire(of)).collect(),
                array.wires.iter().skip(writers).map(|of| of.index()).collect(),
            )
        };
        arrays
            .map(|of| {
                let (writes, reads) = array(of);
                NetArray { array: of.array, writers: &of.writers, writes, reads, buffer: &of.buffer }
            })
            .collect()
    }
}

fn edge(edge: Edge) -> NetSource {
    match edge {
        Edge::Net { net, delay } => NetSource::Net { net: net.index(), delay: delay as i64 },
        Edge::Constant(word) => NetSource::Constant(word),
    }
}

impl NetGraph for View<'_, ApplicationGraph> {
    fn word(&self, array: usize) -> Word {
        self.of_array(array).unwrap_or(Word::Low)
    }

    fn nets(&self) -> usize {
        self.graph.words.len()
    }

    fn name(&self, net: usize) -> &str {
        &self.graph.words[net].name
    }

    fn driver(&self, net: usize) -> NetDriver {
        let content = &self.graph.words[net];
        match (&content.driver, &content.result) {
            (WordDriver::Input { stream, lane }, Some(result)) => {
                let stream = &self.graph.inputs[*stream];
                match self.shows(stream.array, &stream.lanes[*lane].element) {
                    true => NetDriver::Result(result.stage),
                    false => NetDriver::Shared,
                }
            }
            (WordDriver::Kernel { word, .. }, Some(result)) => self.result(result.stage, *word),
            (WordDriver::Select(choices), _) => {
                let mut counter = None;
                let mut cases = Vec::new();
                for choice in choices {
                    let conditions = match choice.when.map(|bit| &self.graph.bits[bit].driver) {
                        None => Vec::new(),
                        Some(BitDriver::Indices { counter: by, conditions }) if *counter.get_or_insert(*by) == *by => {
                            conditions.clone()
                        }
                        Some(_) => return NetDriver::Shared,
                    };
                    cases.push(NetCase { conditions, source: edge(choice.edge) });
                }
                NetDriver::Select { counter, cases }
            }
            (WordDriver::Port { .. }, _) => NetDriver::Port,
            (WordDriver::Hold(hold), _) => {
                let (source, counter) = (edge(hold.edge), hold.counter);
                match hold.when.map(|bit| &self.graph.bits[bit].driver) {
                    None => NetDriver::Hold(NetHold { source, counter, conditions: Vec::new() }),
                    Some(BitDriver::Indices { counter: by, conditions }) if *by == counter => {
                        NetDriver::Hold(NetHold { source, counter, conditions: conditions.clone() })
                    }
                    Some(_) => NetDriver::Shared,
                }
            }
            // A word that is no stage's result proves nothing.
            (WordDriver::Input { .. } | WordDriver::Kernel { .. }, None) | (WordDriver::Ram { .. }, _) => {
                NetDriver::Shared
            }
        }
    }

    fn counter(&self, counter: CounterId) -> &Counter {
        &self.graph.counters[counter]
    }

    fn operands(&self) -> Vec<NetOperand> {
        let of_kernel = |kernel: pushmem_graph::KernelId| {
            let stage = self.graph.stage_of(kernel);
            let operands = self.shown(stage, &self.graph.kernels[kernel].operands).into_iter();
            operands.map(move |(load, of)| NetOperand { kernel: kernel.index(), stage, load, source: edge(of) })
        };
        self.graph.kernels.indices().flat_map(of_kernel).collect()
    }

    fn copies(&self) -> Vec<NetCopy> {
        let copies = self.graph.copies.iter();
        let copy = |copy: &pushmem_graph::CopyNode| NetCopy {
            stage: copy.stage,
            load: copy.load,
            selection: self.selection(copy.stage, &copy.nets).map(WordId::index),
        };
        copies.map(copy).collect()
    }

    fn constants(&self) -> Vec<(usize, u16)> {
        self.graph.constants.iter().map(|constant| self.constant(constant.stage, constant.bits)).collect()
    }

    fn lanes(&self) -> Vec<NetLane<'_>> {
        let inputs = self.graph.inputs.iter().flat_map(|stream| {
            let lanes = stream.lanes.iter().filter(|lane| self.shows(stream.array, &lane.element));
            lanes.map(|lane| NetLane {
                stream: &stream.name,
                counter: stream.counter,
                source: NetSource::Net { net: lane.net.index(), delay: 0 },
                stage: self.graph.words[lane.net].result.as_ref().map_or(usize::MAX, |result| result.stage),
                element: &lane.element,
            })
        });
        let outputs = self.graph.outputs.iter().flat_map(|stream| {
            let lanes = stream.lanes.iter().filter(|lane| self.shows(stream.array, &lane.element));
            lanes.map(|lane| NetLane {
                stream: &stream.name,
                counter: stream.counter,
                source: edge(lane.edge),
                stage: lane.stage,
                element: &lane.element,
            })
        });
        inputs.chain(outputs).collect()
    }

    fn sent(&self, array: usize) -> Vec<usize> {
        let lanes = self.graph.outputs.iter().filter(|stream| stream.array == array).flat_map(|stream| &stream.lanes);
        lanes.filter(|lane| self.shows(array, &lane.element)).map(|lane| lane.stage).collect()
    }

    fn arrays(&self) -> Vec<NetArray<'_>> {
        let net_of = |array: pushmem_graph::ArrayId, port: usize| {
            self.graph.words.position(|net| net.driver == WordDriver::Port { array, port })
        };
        let array = |(number, of): (pushmem_graph::ArrayId, &'_ pushmem_graph::ArrayNode)| {
            let writes = of.writes.iter().map(|&of| edge(of)).collect();
            let reads = of.buffer.reads().filter_map(|(port, _)| net_of(number, port)).map(WordId::index).collect();
            (writes, reads)
        };
        let arrays = self.graph.arrays.iter_enumerated().filter(|(_, of)| self.of_array(of.array) == Some(of.word));
        arrays
            .map(|(number, of)| {
                let (writes, reads) = array((number, of));
                NetArray { array: of.array, writers: &of.writers, writes, reads, buffer: &of.buffer }
            })
            .collect()
    }
}
