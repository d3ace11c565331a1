//! From scheduled stages to the application graph.

mod holds;
mod kernels;
pub(crate) mod plan;
mod streams;
mod units;

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_datapaths::Datapath;
use pushmem_extraction::Extraction;
use pushmem_files::free_name;
use pushmem_mapping::Mappings;
use pushmem_nest::{Operation, Program, Span, Word};
use pushmem_schedule::{Schedule, Stage, Writers, coincide};

use self::plan::{KeptArray, Outcome, Place, outcomes, reads};
use crate::arrays::ArrayPorts;
use crate::outputs::final_stages;
use crate::shortage::Unserved;
use crate::waiting::Waits;
use pushmem_graph::{
    ApplicationGraph, ArrayId, ArrayNode, BitDriver, BitId, BitNet, Choice, Condition, Counter, CounterId, Edge,
    ProgramNames, RamNode, RamReadNode, RamWriteNode, StageResult, Target, WordDriver, WordId, WordNet, counted_levels,
};

/// The program through the passes so far.
#[derive(Clone, Copy)]
struct Scheduled<'a> {
    program: &'a Program,
    operations: &'a [(Vec<&'a pushmem_nest::Loop>, &'a Operation)],
    extraction: &'a Extraction,
    schedule: &'a Schedule,
    /// The stages that write each array.
    writers: &'a Writers,
    /// The datapath of each operation.
    datapaths: &'a [Datapath],
    /// The reads whose words wait.
    waits: &'a Waits,
}

/// The tiles of an accelerator.
#[derive(Clone, Copy)]
pub struct Tiles<'a> {
    /// The kinds that there are.
    pub target: &'a Target,
    /// Mappings of arrays to tiles that are known from schedules tried before.
    pub mappings: &'a Mappings,
}

/// How words get to the stages that read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Cycles that words travel from each stage to those that read it: registers for long ways. 0 where wires are short.
    pub transport: u64,
    /// Whether words that are read again and again wait in hold registers, and in memories beside those of delays. If not, they pass
    /// through registers that load in every cycle.
    pub holds: bool,
    /// The most words a cycle of inputs, and of outputs: schedules that need more are taken where no other is feasible.
    pub streams: (usize, usize),
}

impl Default for Delivery {
    fn default() -> Self {
        Delivery { transport: 0, holds: true, streams: (usize::MAX, usize::MAX) }
    }
}

/// The application graph of a scheduled program. `datapaths` are those of its operations; `waits` are the reads whose words wait,
/// for which the schedule has time.
///
/// The tiles decide into how many ports the accesses of an array are divided: a mapping of these ports is known.
///
/// # Errors
/// When a read would need more than delays and selections, or no tile can keep an array.
pub fn application_graph(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    datapaths: &[Datapath],
    waits: &Waits,
    tiles: Tiles,
) -> Result<ApplicationGraph, Unserved> {
    let operations = program.operations();
    let writers = Writers::of(&extraction.pipeline);
    let scheduled =
        Scheduled { program, operations: &operations, extraction, schedule, writers: &writers, datapaths, waits };
    let (reads, arrays) = reads(scheduled, tiles)?;
    let outcomes = outcomes(scheduled, &reads);
    let final_stages = final_stages(program, extraction, &writers)?;
    let mut builder = Builder {
        scheduled,
        outcomes,
        graph: ApplicationGraph::new(&program.name, ProgramNames::of(program, &extraction.pipeline)),
        nets: BTreeMap::new(),
        port_nets: BTreeMap::new(),
        ram_nets: BTreeMap::new(),
        bits: HashMap::new(),
        selections: Vec::new(),
    };
    for kept in &arrays {
        builder.add_array(kept);
    }
    builder.add_inputs();
    // Results that come back are there before all that takes them.
    let carried = plan::carried(scheduled, &reads, &builder.outcomes)?;
    carried.iter().for_each(|&stage| builder.announce_kernel(stage));
    builder.add_rams();
    for (stage, reads) in reads.iter().enumerate() {
        if builder.outcomes[stage] != Outcome::At(Place { stage, delay: 0 }) {
            builder.add_wireless(stage);
        } else if extraction.origins[stage].operation().is_some() && !carried.contains(&stage) {
            builder.add_kernel(stage, reads);
        }
    }
    carried.iter().for_each(|&stage| builder.connect_kernel(stage, &reads[stage]));
    builder.connect_arrays();
    builder.connect_rams();
    builder.add_units();
    builder.add_outputs(&final_stages);
    Ok(builder.graph)
}

struct Builder<'a> {
    scheduled: Scheduled<'a>,
    outcomes: Vec<Outcome>,
    graph: ApplicationGraph,
    /// The net of each word of each stage that has one.
    nets: BTreeMap<(usize, Word), WordId>,
    /// The net of each read port of each array that is kept, for each word of its elements.
    port_nets: BTreeMap<(usize, usize, Word), WordId>,
    /// The net of each read of a random-access memory.
    ram_nets: BTreeMap<(usize, usize), WordId>,
    /// The net of each condition.
    bits: HashMap<BitDriver, BitId>,
    /// The selections that loads of kernels use.
    selections: Vec<(Vec<Choice>, WordId)>,
}

impl<'a> Scheduled<'a> {
    /// Cycles after the begin of an iteration in which a stage takes the word of one of its reads.
    fn arrival(self, stage: usize, read: usize) -> i64 {
        self.datapath(stage).map_or(0, |datapath| datapath.arrival(read) as i64)
    }

    /// The datapath of a stage that is no input.
    fn datapath(self, stage: usize) -> Option<&'a Datapath> {
        self.extraction.origins[stage].operation().map(|operation| &self.datapaths[operation])
    }

    /// The words of the elements of an array.
    fn words(self, array: usize) -> &'static [Word] {
        self.program.arrays[array].element.words()
    }

    /// The words of the results of a stage.
    fn words_of(self, stage: usize) -> &'static [Word] {
        self.program.arrays[self.extraction.pipeline.stages[stage].write.array].written().words()
    }

    /// Cycles after the begin of an iteration in which a stage gives the address of one of its reads of a random-access memory; nothing
    /// if its result does not depend on the read.
    fn address_stage(self, stage: usize, read: usize) -> Option<u64> {
        let reads = self.datapath(stage)?.memory_reads();
        reads.into_iter().find(|of| of.load == read).map(|of| of.stage)
    }

    /// Whether the result of a stage depends on one of its reads.
    fn uses(self, stage: usize, read: usize) -> bool {
        self.datapath(stage).is_some_and(|datapath| datapath.uses(read))
    }

    /// Where the program has a read.
    fn span_of_read(self, stage: usize, read: usize) -> Span {
        let operation = self.extraction.origins[stage].operation().expect("inputs read nothing");
        let (loops, content) = &self.operations[operation];
        content.load_of_read(loops, read).map_or(content.target.span, |load| load.access.span)
    }
}

/// Iterations of a stage, and when they run.
#[derive(Clone, Copy)]
struct Timed<'a> {
    content: &'a Stage,
    cycle: &'a Affine,
}

impl Timed<'_> {
    /// The level of the counter of these iterations that a loop is.
    fn level(self, level: usize) -> usize {
        let levels = counted_levels(self.content, self.cycle);
        levels.iter().position(|&other| other == level).expect("loops of several iterations are counted")
    }

    /// A condition on the index of a loop as one on the counter, which counts from 0.
    fn counted(self, level: usize, condition: Condition) -> (usize, Condition) {
        let min = self.content.loops[level].min;
        (self.level(level), Condition { first: condition.first - min, last: condition.last - min, ..condition })
    }
}

impl<'a> Builder<'a> {
    /// A stage, and when it runs.
    fn timed(&self, stage: usize) -> Timed<'a> {
        let Scheduled { extraction, schedule, .. } = self.scheduled;
        Timed { content: &extraction.pipeline.stages[stage], cycle: &schedule.stages[stage] }
    }
}

impl Builder<'_> {
    fn stage_name(&self, stage: usize) -> &str {
        &self.scheduled.extraction.pipeline.stages[stage].name
    }

    fn add_net(&mut self, name: String, driver: WordDriver, result: Option<StageResult>) -> WordId {
        self.graph.words.push(WordNet { name, driver, result })
    }

    /// The results of a stage, as a net of its own carries them.
    fn result(&self, stage: usize) -> Option<StageResult> {
        let Scheduled { extraction, schedule, .. } = self.scheduled;
        Some(StageResult::of(stage, &extraction.pipeline.stages[stage], &schedule.stages[stage]))
    }

    /// The edge that carries a word of the result in a place.
    fn edge(&self, place: Place, word: Word) -> Edge {
        Edge::Net { net: self.nets[&(place.stage, word)], delay: place.delay }
    }

    /// The name of the net of a word of the result of a stage.
    fn name_of_result(&self, stage: usize, word: Word) -> String {
        self.graph.names.of_word(self.stage_name(stage), word)
    }

    /// The net of a condition, which all selections by it share.
    fn bit(&mut self, driver: BitDriver) -> BitId {
        if let Some(&bit) = self.bits.get(&driver) {
            return bit;
        }
        let wanted = self.graph.name_of_bit(&driver);
        let name = free_name(&wanted, 1, |name| self.graph.bits.iter().all(|bit| bit.name != *name));
        let bit = self.graph.bits.push(BitNet { name, driver: driver.clone() });
        self.bits.insert(driver, bit);
        bit
    }

    /// Adds an array, with nets for the words on its read ports: each word of its elements in a memory of its own, with the same
    /// ports. The write ports are connected when all stages are there.
    fn add_array(&mut self, kept: &KeptArray) {
        let KeptArray { array, level, ports: ArrayPorts { buffer, writers, .. } } = kept;
        let (array, level) = (*array, *level);
        for &word in self.scheduled.words(array) {
            let number: ArrayId = self.graph.arrays.next_idx();
            let mut buffer = buffer.clone();
            buffer.name = self.graph.names.of_word(&buffer.name, word);
            for port in &mut buffer.ports {
                port.name = self.graph.names.of_word(&port.name, word);
            }
            for (port, content) in buffer.reads() {
                let net = self.add_net(content.name.clone(), WordDriver::Port { array: number, port }, None);
                self.port_nets.insert((array, port, word), net);
            }
            let writers = writers.clone();
            self.graph.arrays.push(ArrayNode { array, word, level, writers, writes: Vec::new(), buffer });
        }
    }

    /// Connects the write ports of arrays.
    fn connect_arrays(&mut self) {
        for number in self.graph.arrays.indices() {
            let ArrayNode { writers, word, .. } = self.graph.arrays[number].clone();
            self.graph.arrays[number].writes = writers.into_iter().map(|stage| self.outcome(stage, word)).collect();
        }
    }

    /// Adds the random-access memories, with nets for the elements that they show.
    fn add_rams(&mut self) {
        let Scheduled { program, extraction, .. } = self.scheduled;
        let stages = &extraction.pipeline.stages;
        for array in (0..program.arrays.len()).filter(|&array| program.arrays[array].random_access) {
            let ram = self.graph.rams.next_idx();
            let mut ports: Vec<Vec<(usize, Affine)>> = Vec::new();
            let mut reads: Vec<RamReadNode> = Vec::new();
            for (stage, content) in stages.iter().enumerate() {
                for load in content.reads.iter().positions(|read| read.array == array) {
                    let Some(late) = self.scheduled.address_stage(stage, load) else { continue };
                    // Reads share the first port at which no other has an address in the same cycle.
                    let cycle = self.timed(stage).cycle.shifted(late as i64);
                    let is_free = |others: &Vec<(usize, Affine)>| {
                        others.iter().all(|(other, at)| !coincide((content, &cycle), (&stages[*other], at), 0))
                    };
                    let port = ports.iter().position(is_free).unwrap_or(ports.len());
                    ports.resize(ports.len().max(port + 1), Vec::new());
                    ports[port].push((stage, cycle));
                    let name = format!("{}_read_{}_{load}", self.stage_name(stage), program.arrays[array].name);
                    let net = self.add_net(name, WordDriver::Ram { ram, read: reads.len() }, None);
                    self.ram_nets.insert((stage, load), net);
                    reads.push(RamReadNode { stage, load, port, counter: self.counter(stage, late) });
                }
            }
            self.graph.rams.push(RamNode { array, writes: Vec::new(), reads });
        }
    }

    /// Connects the writes of random-access memories.
    fn connect_rams(&mut self) {
        for ram in self.graph.rams.indices() {
            let array = self.graph.rams[ram].array;
            let stages = &self.scheduled.extraction.pipeline.stages;
            for (stage, content) in stages.iter().enumerate().filter(|(_, content)| content.write.array == array) {
                let counter = self.counter(stage, content.latency);
                let edge = |word: Word| match self.outcomes[stage] {
                    Outcome::At(place) => self.edge(place, word),
                    Outcome::Constant(number) => Edge::Constant(word.of(number)),
                };
                let (element, address) = (edge(Word::Low), edge(Word::High));
                self.graph.rams[ram].writes.push(RamWriteNode { stage, counter, element, address });
            }
        }
    }

    /// The edge that carries a word of the result of a stage. A constant has a net here, as streams and memories take words of nets.
    fn outcome(&mut self, stage: usize, word: Word) -> Edge {
        match self.outcomes[stage] {
            Outcome::At(place) => self.edge(place, word),
            Outcome::Constant(number) => Edge::Net { net: self.add_constant_net(stage, number, word), delay: 0 },
        }
    }

    /// The counter of a stage's loops, its steps some cycles late. Loops of one iteration are left out.
    fn counter(&mut self, stage: usize, late: u64) -> CounterId {
        self.counter_at(self.timed(stage), late)
    }

    /// The counter of iterations, its steps some cycles late.
    fn counter_at(&mut self, iterations: Timed, late: u64) -> CounterId {
        let counter = Counter::of(iterations.content, iterations.cycle, late);
        let counters = &mut self.graph.counters;
        counters.position(|other| *other == counter).unwrap_or_else(|| counters.push(counter))
    }

    /// When a stage begins its iterations, some cycles late.
    fn iterations(&self, stage: usize, late: u64) -> Counter {
        let Timed { content, cycle } = self.timed(stage);
        Counter::of(content, cycle, late)
    }
}
