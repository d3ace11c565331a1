//! An array in Verilator beside its model.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use pushmem_bitstream::Configuration;
use pushmem_emulator::{Beat, Emulator, Inputs, StreamOutputs};
use pushmem_fabric::{ArraySpec, Place};
use pushmem_interconnect::answer_latency;
use pushmem_resources::Graph;
use pushmem_simulation::BlockProcess;

use super::probes::{Probe, gated_tiles, ports, probes};
use crate::failure::{Failure, FailureKind};

/// The ports of an array in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    /// Whether a configuration register is written, and whether one is read.
    pub write: bool,
    /// Whether a configuration register is read.
    pub read: bool,
    /// Address of the access.
    pub address: u32,
    /// The word that is written.
    pub data: u32,
    /// Flush, stall and streams.
    pub inputs: Inputs,
    /// The configuration that the tiles have from this cycle on.
    pub configured: Option<Configuration>,
    /// The same while other columns run.
    pub columns: Option<Change>,
    /// Whether columns are being loaded: the clocks of their tiles start one by one.
    pub is_partial: bool,
    /// Whether a configuration is being loaded: streams show what they have of it, which is not compared.
    pub is_loading: bool,
    /// The answer that the access is to have: the word that is read, or none for an error. Of a write, any word stands for none.
    pub answer: Option<u32>,
}

/// A change of some columns while the others run, from a cycle on, with the configuration of the array from then on.
#[derive(Clone, Debug)]
pub enum Change {
    /// These were cleared, and hold still.
    Cleared(BTreeSet<u32>, Configuration),
    /// These were stopped; the configuration is that of the others.
    Stopped(BTreeSet<u32>, Configuration),
    /// All that held still have started.
    Started(Configuration),
}

/// The answer of the configuration port in a cycle: whether there is an error, and the word that was read.
type Answer = (bool, u32);

/// An array at work in RTL and model.
pub struct Bench {
    spec: ArraySpec,
    graph: Graph,
    probes: Vec<Probe>,
    process: Option<BlockProcess>,
    model: Emulator,
    clock: u64,
    /// The answers that are to come, that of this cycle first.
    answers: VecDeque<Answer>,
    /// Tiles whose clock gates are seen, and those of them that are in use.
    gated: Vec<Vec<Place>>,
    used: BTreeSet<Place>,
    /// The commands on their way to the tiles, in the order of their arrival: whether each may let the clocks of other tiles run.
    commands: VecDeque<bool>,
}

impl Bench {
    /// Starts a model that [`super::build_probed`] built for the array, and resets it; without one, only the array's model runs.
    ///
    /// # Errors
    /// When it cannot be started, or stops.
    pub fn start(spec: &ArraySpec, graph: &Graph, executable: Option<&Path>) -> Result<Self, Failure> {
        let probes = probes(spec, graph);
        let start = |path| BlockProcess::start_cleared(path, ports(spec, &probes));
        let mut process = executable.map(start).transpose()?;
        if let Some(process) = &mut process {
            process.reset().map_err(|error| Failure::wrong(error.message()))?;
        }
        let (model, answers) = (Emulator::new(spec, graph.clone()), vec![(false, 0); answer_latency(spec) as usize]);
        Ok(Bench {
            spec: spec.clone(),
            graph: graph.clone(),
            probes,
            process,
            model,
            clock: 0,
            answers: answers.into(),
            gated: gated_tiles(spec),
            used: BTreeSet::new(),
            commands: vec![false; spec.control_depth as usize].into(),
        })
    }

    /// The cycles that were run.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Runs cycles, and holds the RTL against the model: every output, register and answer of every cycle. Gives the outputs of the
    /// array.
    ///
    /// # Errors
    /// The first difference, or why the RTL stopped.
    pub fn run(&mut self, cycles: &[Cycle]) -> Result<Vec<Vec<StreamOutputs>>, Failure> {
        let columns = self.spec.columns as usize;
        let mut samples = Vec::new();
        if let Some(process) = &mut self.process {
            let found = process.sampled(cycles.len(), |cycle, values| drive(&cycles[cycle], columns, values));
            samples = found.map_err(|error| Failure::wrong(error.message()))?;
        }
        let mut outputs = Vec::with_capacity(cycles.len());
        for (number, cycle) in cycles.iter().enumerate() {
            if let Some(configuration) = &cycle.configured {
                self.model.configure(configuration);
                self.used = configuration.tiles.keys().copied().collect();
            }
            if let Some(change) = &cycle.columns {
                self.change(change);
            }
            if let Some(sample) = samples.get(number)
                && let Some(difference) = self.difference(cycle, sample)
            {
                let message = format!("cycle {}: {difference}", self.clock);
                return Err(Failure { kind: FailureKind::Difference { clock: self.clock }, message });
            }
            outputs.push(self.model.outputs().to_vec());
            self.model.clock(&cycle.inputs);
            self.answers.pop_front();
            self.answers.push_back(answer(cycle));
            self.commands.pop_front();
            self.commands.push_back(cycle.write || cycle.read || cycle.inputs.flush);
            self.clock += 1;
        }
        Ok(outputs)
    }

    fn change(&mut self, change: &Change) {
        let configuration = match change {
            Change::Cleared(columns, configuration) => {
                self.model.clear_columns(configuration, columns);
                configuration
            }
            Change::Started(configuration) => {
                self.model.start_columns(configuration);
                configuration
            }
            // The clocks of their tiles run on.
            Change::Stopped(columns, configuration) => return self.model.stop_columns(configuration, columns),
        };
        self.used = configuration.tiles.keys().copied().collect();
    }

    /// A tile whose clock runs although nothing uses it, or stands still although something does, in words.
    fn wrong_clock(&self, gates: &[u64]) -> Option<String> {
        let places = self
            .gated
            .iter()
            .zip(gates)
            .flat_map(|(places, gates)| (0..).zip(places).map(move |(bit, place)| (*place, gates >> bit & 1 != 0)));
        places.into_iter().find(|(place, runs)| *runs != self.used.contains(place)).map(|(place, runs)| {
            format!(
                "the tile of {place}: its clock {}",
                if runs { "runs, and nothing uses it" } else { "stands still" }
            )
        })
    }

    /// The first difference of the RTL in a cycle, in words.
    fn difference(&self, cycle: &Cycle, sample: &[u64]) -> Option<String> {
        let differ = |place: String, rtl: String, model: String| {
            (rtl != model).then(|| format!("{place}: the RTL has {rtl}, the model {model}"))
        };
        let shown = |(error, word): Answer| if error { "an error".to_owned() } else { format!("{word:x}") };
        let (answer, rest) = sample.split_at(2);
        let (streams, registers) = rest.split_at(4 * self.spec.columns as usize);
        let found = (answer[0] != 0, answer[1] as u32);
        if let Some(difference) = differ("answer".to_owned(), shown(found), shown(self.answers[0])) {
            return Some(difference);
        }
        let compared = if cycle.is_loading { &[] } else { self.model.outputs() };
        for (column, (model, rtl)) in compared.iter().zip(streams.chunks_exact(4)).enumerate() {
            let rtl = StreamOutputs {
                beat: (rtl[2] != 0).then_some(Beat { data: rtl[0] as u32, bit: rtl[1] != 0 }),
                ready: rtl[3] != 0,
            };
            if rtl != *model {
                return differ(format!("streams of column {column}"), format!("{rtl:?}"), format!("{model:?}"));
            }
        }
        let (registers, gates) = registers.split_at(self.probes.len());
        if !cycle.is_loading
            && !cycle.is_partial
            && !self.commands[0]
            && let Some(difference) = self.wrong_clock(gates)
        {
            return Some(difference);
        }
        for (Probe { bits, registers }, value) in self.probes.iter().zip(registers) {
            for (place, node) in (0..).zip(registers) {
                let (rtl, model) =
                    ((value >> (place * bits)) as u32 & (u32::MAX >> (32 - bits)), self.model.register(*node));
                if rtl != model {
                    return differ(self.graph.name(*node), format!("{rtl:x}"), format!("{model:x}"));
                }
            }
        }
        None
    }
}

/// The answer that an access is to have.
fn answer(Cycle { write, read, answer, .. }: &Cycle) -> Answer {
    match write | read {
        true => (answer.is_none(), answer.filter(|_| *read).unwrap_or(0)),
        false => (false, 0),
    }
}

/// The values of the inputs in a cycle.
fn drive(Cycle { write, read, address, data, inputs, .. }: &Cycle, columns: usize, values: &mut Vec<u64>) {
    values.extend([true, inputs.flush, inputs.stall, *write, *read].map(u64::from));
    values.extend([*address, *data].map(u64::from));
    for column in 0..columns {
        let stream = inputs.streams.get(column).copied().unwrap_or_default();
        let Beat { data, bit } = stream.beat.unwrap_or_default();
        values.push(data.into());
        values.extend([bit, stream.beat.is_some(), stream.ready].map(u64::from));
    }
}
