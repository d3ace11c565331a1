//! An application graph as the proof of its values sees it: the driver of each net, by the loops of counters.
//!
//! An element of 32 bits is two words on two nets. The proof looks at a graph once for each of them: with the low words of all
//! elements, and with their high words. In a view the nets of the other word carry nothing that is known, so that a low word
//! where a high one is due is a fault. Elements of one word are in both views.

use index_vec::IndexVec;
use pushmem_affine::Affine;
use pushmem_graph::{ApplicationGraph, ArrayNode, BitDriver, BitId, Condition, CounterId, Edge, WordDriver, WordId};
use pushmem_nest::Word;

use crate::context::Context;

/// A graph with one of the words of each element: with those words of a program whose elements have two.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    context: Context<'a>,
    pub graph: &'a ApplicationGraph,
    /// Which word of the elements that have two.
    word: Word,
}

pub(crate) enum NetDriver {
    /// The result of a stage: of a kernel, or a word of an input.
    Result(usize),
    /// One of several sources, by the indices of a counter.
    Select {
        /// The counter; nothing if the cases have no conditions.
        counter: Option<CounterId>,
        /// The cases; the last has no conditions.
        cases: Vec<NetCase>,
    },
    /// The word on a port of a memory.
    Port,
    /// The word that a source had when it was last loaded, in an earlier cycle.
    Hold(NetHold),
    /// Nothing that is known: the operand of a unit that kernels share, whose own operands are proven, or another word.
    Unknown,
}

/// A case of a selection.
#[derive(Clone)]
pub(crate) struct NetCase {
    /// Conditions, each on the index of a level of the counter.
    pub conditions: Vec<(usize, Condition)>,
    pub source: Edge,
}

/// A word that is held, and when it is loaded.
pub(crate) struct NetHold {
    pub source: Edge,
    /// The loops whose steps load it.
    pub counter: CounterId,
    /// Conditions on their indices, each on that of a level: all must hold for a step to load it.
    pub conditions: Vec<(usize, Condition)>,
}

/// Source of a load of the kernel of a stage.
pub(crate) struct NetOperand {
    pub stage: usize,
    pub load: usize,
    pub source: Edge,
}

/// A stage that passes on one of its loads.
#[derive(Clone, Copy)]
pub(crate) struct NetCopy {
    pub stage: usize,
    pub load: usize,
    /// The net of the result if the load is selected or read from a memory.
    pub selection: Option<WordId>,
}

/// A word of a stream.
pub(crate) struct NetLane<'a> {
    /// The name of the stream.
    pub stream: &'a str,
    /// When its beats are due.
    pub counter: CounterId,
    pub source: Edge,
    /// The stage that produces it.
    pub stage: usize,
    /// The element, over the loops of the counter.
    pub element: &'a Affine,
}

/// An array that is kept.
pub(crate) struct NetArray<'a> {
    pub node: &'a ArrayNode,
    /// The net of each read port.
    pub reads: Vec<WordId>,
}

/// The net, if an edge is one without delay.
pub(crate) fn direct(edge: Edge) -> Option<WordId> {
    match edge {
        Edge::Net { net, delay: 0 } => Some(net),
        _ => None,
    }
}

/// The stage whose results a net carries, whichever word of them; nothing for operands that are selected, and for words that are held.
pub(crate) fn stage_of(graph: &ApplicationGraph, net: WordId) -> Option<usize> {
    match &graph.words[net].driver {
        WordDriver::Input { .. } | WordDriver::Kernel { .. } => {
            graph.words[net].result.as_ref().map(|result| result.stage)
        }
        WordDriver::Select(_) | WordDriver::Port { .. } => {
            graph.copies.iter().find(|copy| copy.nets.contains(&net)).map(|copy| copy.stage)
        }
        WordDriver::Hold(_) | WordDriver::Ram { .. } => None,
    }
}

impl<'a> View<'a> {
    /// The views of a graph that show all words of the elements of a program.
    pub fn all(context: Context<'a>, graph: &'a ApplicationGraph) -> Vec<Self> {
        let words = context.program.arrays.iter().map(|array| array.element.words()).max_by_key(|words| words.len());
        words.unwrap_or(&[Word::Low]).iter().map(|&word| View { context, graph, word }).collect()
    }

    /// Which word of the elements of an array the view shows.
    pub fn word(&self, array: usize) -> Word {
        self.of_array(array).unwrap_or(Word::Low)
    }

    /// As [`View::word`]; nothing of an array that there is not.
    fn of_array(&self, array: usize) -> Option<Word> {
        let words = self.context.program.arrays.get(array)?.element.words();
        words.get(self.word.number()).or(words.first()).copied()
    }

    /// The word of the results of a stage that the view shows.
    fn of_stage(&self, stage: usize) -> Option<Word> {
        self.of_array(self.context.staged.pipeline.stages.get(stage)?.write.array)
    }

    /// Whether the view shows the word of an array that is at this place in memory in the first beat of a stream.
    fn shows(&self, array: usize, element: &Affine) -> bool {
        let words = self.context.program.arrays.get(array).map_or(1, |of| of.element.words().len());
        self.of_array(array).is_some_and(|word| element.start.rem_euclid(words as i64) == word.number() as i64)
    }

    /// The drivers of all nets.
    pub fn drivers(&self) -> IndexVec<WordId, NetDriver> {
        self.graph.words.indices().map(|net| self.driver(net).unwrap_or(NetDriver::Unknown)).collect()
    }

    /// The driver of a net, if it is known.
    fn driver(&self, net: WordId) -> Option<NetDriver> {
        let content = &self.graph.words[net];
        let result = || content.result.as_ref().map(|result| result.stage);
        match &content.driver {
            WordDriver::Input { stream, lane } => {
                let stream = &self.graph.inputs[*stream];
                let is_shown = self.shows(stream.array, &stream.lanes[*lane].element);
                result().filter(|_| is_shown).map(NetDriver::Result)
            }
            WordDriver::Kernel { word, .. } => {
                result().filter(|&stage| self.of_stage(stage) == Some(*word)).map(NetDriver::Result)
            }
            WordDriver::Select(choices) => {
                let mut counter = None;
                let mut cases = Vec::new();
                for choice in choices {
                    let conditions = self.conditions(choice.when, &mut counter)?;
                    cases.push(NetCase { conditions, source: choice.edge });
                }
                Some(NetDriver::Select { counter, cases })
            }
            WordDriver::Port { .. } => Some(NetDriver::Port),
            WordDriver::Hold(hold) => {
                let conditions = self.conditions(hold.when, &mut Some(hold.counter))?;
                Some(NetDriver::Hold(NetHold { source: hold.edge, counter: hold.counter, conditions }))
            }
            WordDriver::Ram { .. } => None,
        }
    }

    /// The conditions of a bit on the indices of one counter; nothing if it is about something else.
    fn conditions(&self, when: Option<BitId>, counter: &mut Option<CounterId>) -> Option<Vec<(usize, Condition)>> {
        match when.map(|bit| &self.graph.bits[bit].driver) {
            None => Some(Vec::new()),
            Some(BitDriver::Indices { counter: by, conditions }) if *counter.get_or_insert(*by) == *by => {
                Some(conditions.clone())
            }
            Some(_) => None,
        }
    }

    /// Sources of the loads of all kernels.
    pub fn operands(&self) -> Vec<NetOperand> {
        let words =
            |array: usize| self.context.program.arrays.get(array).map_or(&[] as &[Word], |of| of.element.words());
        let of_kernel = |kernel| {
            let stage = self.graph.stage_of(kernel);
            let reads = self.context.staged.pipeline.stages[stage].reads.iter().enumerate();
            let loads =
                reads.flat_map(move |(load, read)| words(read.array).iter().map(move |word| (load, read.array, *word)));
            let shown = loads.zip(&self.graph.kernels[kernel].operands);
            let shown = shown.filter(|((_, array, word), _)| self.of_array(*array) == Some(*word));
            shown.map(move |((load, ..), source)| NetOperand { stage, load, source: *source })
        };
        self.graph.kernels.indices().flat_map(of_kernel).collect()
    }

    /// The stages that pass on one of their loads.
    pub fn copies(&self) -> Vec<NetCopy> {
        let copies = self.graph.copies.iter();
        let copy = |copy: &pushmem_graph::CopyNode| NetCopy {
            stage: copy.stage,
            load: copy.load,
            selection: self.of_stage(copy.stage).and_then(|word| copy.nets.get(word.number()).copied()),
        };
        copies.map(copy).collect()
    }

    /// The stages whose result is always the same word, and the word.
    pub fn constants(&self) -> impl Iterator<Item = (usize, u16)> {
        let word = |stage: usize| self.of_stage(stage).unwrap_or(Word::Low);
        self.graph.constants.iter().map(move |of| (of.stage, word(of.stage).of(i64::from(of.bits))))
    }

    /// The words of all streams, those from outside first.
    pub fn lanes(&self) -> Vec<NetLane<'a>> {
        let graph = self.graph;
        let inputs = graph.inputs.iter().flat_map(|stream| {
            let lanes = stream.lanes.iter().filter(|lane| self.shows(stream.array, &lane.element));
            lanes.map(|lane| NetLane {
                stream: &stream.name,
                counter: stream.counter,
                source: Edge::Net { net: lane.net, delay: 0 },
                stage: graph.words[lane.net].result.as_ref().map_or(usize::MAX, |result| result.stage),
                element: &lane.element,
            })
        });
        let outputs = graph.outputs.iter().flat_map(|stream| {
            let lanes = stream.lanes.iter().filter(|lane| self.shows(stream.array, &lane.element));
            lanes.map(|lane| NetLane {
                stream: &stream.name,
                counter: stream.counter,
                source: lane.edge,
                stage: lane.stage,
                element: &lane.element,
            })
        });
        inputs.chain(outputs).collect()
    }

    /// The stages whose results go outside as elements of an array, in the order of the lanes of its streams.
    pub fn sent(&self, array: usize) -> Vec<usize> {
        let streams = self.graph.outputs.iter().filter(|stream| stream.array == array);
        let lanes = streams.flat_map(|stream| &stream.lanes).filter(|lane| self.shows(array, &lane.element));
        lanes.map(|lane| lane.stage).collect()
    }

    /// The arrays that are kept.
    pub fn arrays(&self) -> Vec<NetArray<'a>> {
        let graph = self.graph;
        let net_of = |array, port| graph.words.position(|net| net.driver == WordDriver::Port { array, port });
        let arrays = graph.arrays.iter_enumerated().filter(|(_, of)| self.of_array(of.array) == Some(of.word));
        let reads = |(number, node): (_, &'a ArrayNode)| NetArray {
            node,
            reads: node.buffer.reads().filter_map(|(port, _)| net_of(number, port)).collect(),
        };
        arrays.map(reads).collect()
    }
}
