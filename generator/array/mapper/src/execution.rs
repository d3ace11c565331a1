//! Runs of a mapped program on the model of the array.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_bitstream::Configuration;
use pushmem_compiler::Compiled;
use pushmem_emulator::{Beat, Emulator, Inputs, Observer, StreamInputs, StreamOutputs};
use pushmem_fabric::{Direction, TileKind};
use pushmem_files::Diagnostic;
use pushmem_images::Image;

use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::{StreamLane, join, split};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The output arrays by name.
    pub outputs: BTreeMap<String, Image>,
    /// Cycles from the flush to the last beat that left.
    pub cycles: u64,
}

/// A program that runs on an array.
#[derive(Clone, Copy, Debug)]
pub struct Occupant<'a> {
    /// The program.
    pub compiled: &'a Compiled,
    /// Its places.
    pub mapped: &'a Mapped,
    /// The images of its inputs.
    pub images: &'a BTreeMap<String, Image>,
}

/// The cycle of the last beat of all streams.
pub(crate) fn last_beat(configuration: &Configuration, ArrayTarget { spec, graph, .. }: &ArrayTarget) -> u64 {
    let layout = graph.layout(TileKind::Io);
    let tiles = configuration.tiles.iter().filter(|(place, _)| graph.kind(**place) == Some(TileKind::Io));
    let streams = tiles.flat_map(|(_, tile)| Direction::ALL.map(|direction| tile.stream(spec, layout, direction)));
    streams.flatten().map(|stream| stream.last_firing() as u64).max().unwrap_or(0)
}

/// Runs a configuration on the model of the array, as the host of a chip would: it offers beats as long as they are taken, and takes
/// what leaves.
///
/// # Errors
/// When an input is missing or has another shape than declared, or when beats do not come.
pub fn execute(
    mapped: &Mapped,
    configuration: &Configuration,
    compiled: &Compiled,
    target: &ArrayTarget,
    images: &BTreeMap<String, Image>,
) -> Result<Execution, Diagnostic> {
    let occupant = Occupant { compiled, mapped, images };
    let mut executions = execute_observed(&[occupant], configuration, target, &mut |_, _| ())?;
    Ok(executions.remove(0))
}

/// The same for programs side by side, each with its result; `observe` is given the inputs and the outputs of each cycle, from that of
/// the flush on.
///
/// # Errors
/// As [`execute`].
pub fn execute_observed(
    occupants: &[Occupant],
    configuration: &Configuration,
    target: &ArrayTarget,
    observe: &mut Observer,
) -> Result<Vec<Execution>, Diagnostic> {
    let mut hosts: Vec<Host> = occupants.iter().map(Host::new).try_collect()?;
    let mut emulator = Emulator::new(&target.spec, target.graph.clone());
    emulator.load(configuration);
    // Streams of a run begin some cycles after its flush; words that never come end it.
    let most = last_beat(configuration, target) + 10 * u64::from(target.spec.stall_latency()) + 100;
    let mut inputs =
        Inputs { streams: vec![StreamInputs::default(); target.spec.columns as usize], ..Inputs::default() };
    for cycle in 0..most {
        let shown = emulator.outputs();
        hosts.iter_mut().for_each(|host| host.exchange(cycle, shown, &mut inputs));
        if hosts.iter().all(Host::is_done) {
            return hosts.iter().map(Host::execution).collect();
        }
        inputs.flush = cycle == 0;
        observe(&inputs, shown);
        emulator.clock(&inputs);
    }
    let waiting = hosts.iter().find(|host| !host.is_done()).expect("a program waits");
    Err(waiting.missing(most))
}

/// The host of a program: the words that it has given, and those that it has taken.
pub struct Host<'a> {
    compiled: &'a Compiled,
    mapped: &'a Mapped,
    /// The words of each lane of the input streams, the columns of these lanes, and how many words were taken of each.
    words: Vec<Vec<u16>>,
    sources: Vec<usize>,
    given: Vec<usize>,
    /// The lanes of the output streams, their columns, and the words that left.
    outputs: Vec<StreamLane>,
    sinks: Vec<usize>,
    left: Vec<Vec<u16>>,
    /// The cycle in which the last word had left.
    cycles: Option<u64>,
}

impl<'a> Host<'a> {
    /// The host of a run, which has given nothing yet.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared.
    pub fn new(&Occupant { compiled, mapped, images }: &Occupant<'a>) -> Result<Self, Diagnostic> {
        let graph = &compiled.graph;
        let beats = graph.input_beats(&compiled.program, images)?;
        let words = split(&beats, graph.inputs.iter().map(|stream| stream.lanes.len()));
        let columns = |lanes: &[StreamLane]| -> Vec<usize> {
            lanes.iter().map(|lane| mapped.place(lane.cell).column as usize).collect()
        };
        let sources = columns(&mapped.lowered.input_lanes(graph));
        let outputs = mapped.lowered.output_lanes(graph);
        let sinks = columns(&outputs);
        let (given, left) = (vec![0; sources.len()], vec![Vec::new(); sinks.len()]);
        Ok(Host { compiled, mapped, words, sources, given, outputs, sinks, left, cycles: None })
    }

    /// The words that a lane of the output streams has in a run.
    fn wanted(&self, lane: usize) -> usize {
        self.compiled.graph.counters[self.outputs[lane].counter].iterations() as usize
    }

    /// Offers the next word of each lane that enters, and takes those that leave, until all have left.
    pub fn exchange(&mut self, cycle: u64, shown: &[StreamOutputs], inputs: &mut Inputs) {
        for (lane, &column) in self.sources.iter().enumerate() {
            let word = self.words[lane].get(self.given[lane]);
            inputs.streams[column].beat = word.map(|word| Beat { data: u32::from(*word), bit: false });
            self.given[lane] += usize::from(word.is_some() && shown[column].ready);
        }
        for (lane, &column) in self.sinks.iter().enumerate() {
            inputs.streams[column].ready = true;
            self.left[lane].extend(shown[column].beat.map(|beat| beat.data as u16));
        }
        let has_left = |(lane, words): (usize, &Vec<u16>)| words.len() >= self.wanted(lane);
        if self.cycles.is_none() && self.left.iter().enumerate().all(has_left) {
            self.cycles = Some(cycle);
        }
    }

    /// Whether all words have left.
    pub fn is_done(&self) -> bool {
        self.cycles.is_some()
    }

    /// The result of the run.
    ///
    /// # Errors
    /// Never for words of the program's own lanes.
    ///
    /// # Panics
    /// Before all words have left.
    pub fn execution(&self) -> Result<Execution, Diagnostic> {
        let graph = &self.compiled.graph;
        let outputs = join(&self.left, graph.outputs.iter().map(|stream| stream.lanes.len()));
        let outputs = graph.arrays(&self.compiled.program, &outputs)?;
        Ok(Execution { outputs, cycles: self.cycles.expect("all words have left") })
    }

    /// The first lane whose words did not all leave in this many cycles.
    fn missing(&self, most: u64) -> Diagnostic {
        let is_short = |(lane, words): &(usize, &Vec<u16>)| words.len() < self.wanted(*lane);
        let (lane, words) = self.left.iter().enumerate().find(is_short).expect("a lane waits");
        let name = &self.mapped.lowered.netlist.cells[self.outputs[lane].cell].name;
        let (found, wanted) = (words.len(), self.wanted(lane));
        Diagnostic::new(format!("the array gave {found} of {wanted} words of `{name}` in {most} cycles"))
            .as_fault("program")
    }
}
