//! Configurations that run on one tile.

use std::path::PathBuf;
use std::time::Instant;

use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_files::Diagnostic;
use pushmem_model::MAX_PORTS;
use pushmem_registers::RegisterMap;
use pushmem_simulation::{BenchError, Event, RtlProcess, StreamOptions, run_streams};
use pushmem_tile::TileSpec;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Build, Design, MAX_STREAM, Model};
use crate::failure::Failure;
use crate::list::Delays;
use crate::random::{arbitrary_configuration, legal_configuration};
use crate::report::TestResult;
use crate::scenario::{Scenario, ScenarioCounts};

/// The streams of a run of which delays are checked.
#[derive(Default)]
struct Streams {
    /// The cycle of each word taken from input 0.
    taken: Vec<u64>,
    /// Cycle and word of each word shown, by output.
    shown: [Vec<(u64, u64)>; MAX_PORTS],
}

impl Streams {
    fn record(&mut self, cycle: u64, event: Event) {
        match event {
            Event::Taken { input: 0 } => self.taken.push(cycle),
            Event::Shown { output, word } => self.shown[output].push((cycle, word)),
            Event::Taken { .. } | Event::StencilValid => {}
        }
    }
}

/// The state of the promises of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promises {
    Kept,
    Broken,
    /// It was not checked.
    Unknown,
}

/// Runs configurations on one tile, adding to a result.
pub(super) struct Runner<'a> {
    pub spec: TileSpec,
    pub map: RegisterMap,
    executable: PathBuf,
    pub result: &'a mut TestResult,
}

impl<'a> Runner<'a> {
    pub fn new(spec: TileSpec, build: &Build, result: &'a mut TestResult) -> Result<Self, Failure> {
        let start = Instant::now();
        let executable = build(Design::Tile(&spec, Model::Lockstep))?;
        result.build += start.elapsed();
        let map = RegisterMap::of(&spec);
        Ok(Runner { spec, map, executable, result })
    }

    fn process(&self) -> Result<RtlProcess, Diagnostic> {
        RtlProcess::start(&self.executable, &self.spec, None)
    }

    /// Takes configurations through scenarios, one life of the tile for all.
    pub fn exercise(&mut self, configurations: &[Configuration], seed: u64, promises: Promises) -> Result<(), Failure> {
        let start = Instant::now();
        let mut process = self.process()?;
        let outcome = exercise(&self.spec, &self.map, &mut process, configurations, seed, promises);
        self.result.run += start.elapsed();
        let counts = outcome?;
        self.result.counts.configurations += counts.configurations;
        self.result.counts.cycles += counts.cycles;
        Ok(())
    }

    pub fn legal(&mut self, seed: u64, count: u32) -> Result<(), Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let configurations = (0..count)
            .map(|number| {
                let none = || format!("no legal configuration found for number {number} of seed {seed}");
                legal_configuration(&self.spec, &mut rng).ok_or_else(|| Failure::not_run(none()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.exercise(&configurations, seed, Promises::Kept)
    }

    pub fn arbitrary(&mut self, seed: u64, count: u32) -> Result<(), Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Legal runs first: they fill the memories, so that most words are defined and can be compared.
        let mut configurations = (0..2).filter_map(|_| legal_configuration(&self.spec, &mut rng)).collect_vec();
        configurations.extend((0..count).map(|_| arbitrary_configuration(&self.spec, &mut rng)));
        self.exercise(&configurations, seed, Promises::Unknown)
    }

    /// An assertion that must stop the RTL.
    pub fn check_assertion(&mut self, configuration: &Configuration, assertion: &str) -> Result<(), Failure> {
        let mut process = self.process()?;
        let run = Scenario::new(&self.spec, &self.map, Some(&mut process), 1, false).and_then(|mut scenario| {
            scenario.plain_run(configuration)?;
            scenario.finish()
        });
        match run {
            Err(BenchError::Rtl(stopped)) if stopped.message().contains(assertion) => Ok(()),
            Err(error) => {
                Err(Failure::from(error).at(format!("expected the assertion {assertion} to stop the RTL, but")))
            }
            Ok(_) => Err(Failure::wrong(format!("the assertion {assertion} did not stop the RTL"))),
        }
    }

    /// Outputs that must repeat input 0 after a delay: those of a tile, or of the last of a chain. Once without stalls,
    /// once with.
    pub fn check_delays(&mut self, configurations: &[Configuration], delays: &Delays) -> Result<(), Failure> {
        let start = Instant::now();
        let outcome = [None, Some(1)]
            .into_iter()
            .try_for_each(|stalls| self.check_delayed_stream(configurations, delays, stalls));
        self.result.run += start.elapsed();
        outcome
    }

    fn check_delayed_stream(
        &mut self,
        configurations: &[Configuration],
        delays: &Delays,
        stall_seed: Option<u64>,
    ) -> Result<(), Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let takers = self.spec.controllers().into_iter().filter(|taker| taker.role.takes_input() && taker.port == 0);
        let takers = takers.map(|taker| taker.name).collect_vec();
        let firings = |configuration: &Configuration| -> u128 {
            takers.iter().filter_map(|name| configuration.controllers.get(name)).map(|taker| taker.firings()).sum()
        };
        let count = configurations.iter().map(firings).max().unwrap_or(0);
        if count > MAX_STREAM {
            let message = format!("input 0 takes {count} words; `delays` are checked of {MAX_STREAM} at most");
            return Err(Failure::not_run(message));
        }
        let words = (0..count).map(|_| rng.random::<u64>() >> (64 - self.spec.word_bits)).collect_vec();
        let mut inputs = vec![None; self.spec.inputs as usize];
        inputs[0] = Some(words.clone());
        let mut chain: Option<Vec<[u64; MAX_PORTS]>> = None;
        let mut last = Streams::default();
        for (number, configuration) in configurations.iter().enumerate() {
            let at = |failure: Failure| match configurations.len() {
                1 => failure,
                _ => failure.at(format!("tile {number} of the chain")),
            };
            let mut process = self.process()?;
            let options = StreamOptions { stall_seed, chain: chain.as_deref(), ..StreamOptions::default() };
            last = Streams::default();
            let mut record = |cycle, event| last.record(cycle, event);
            let (spec, map) = (&self.spec, &self.map);
            let run = run_streams(spec, map, configuration, &inputs, Some(&mut process), &options, &mut record)
                .map_err(|error| at(error.into()))?;
            if let Some(violation) = run.violations.first() {
                return Err(at(Failure::wrong(violation.to_string())));
            }
            let mut shown = vec![[0; MAX_PORTS]; run.length as usize];
            for (output, stream) in last.shown.iter().enumerate() {
                for &(cycle, word) in stream {
                    shown[cycle as usize][output] = word;
                }
            }
            chain = Some(shown);
            self.result.counts.cycles += run.length;
        }
        for (&output, &delay) in delays {
            if output >= self.spec.outputs as usize {
                return Err(Failure::not_run(format!("there is no output {output}")));
            }
            let stream = &last.shown[output];
            if stream.is_empty() {
                return Err(Failure::wrong(format!("output {output} shows nothing")));
            }
            for (cycle, word) in stream {
                let index = cycle.checked_sub(delay).and_then(|cycle| last.taken.binary_search(&cycle).ok());
                let Some(index) = index else {
                    return Err(Failure::wrong(format!(
                        "output {output} shows a word in cycle {cycle}, but input 0 takes none {delay} cycles before"
                    )));
                };
                if *word != words[index] {
                    let message = format!("output {output} in cycle {cycle} is not the input {delay} cycles before");
                    return Err(Failure::wrong(message));
                }
            }
        }
        Ok(())
    }
}

fn exercise(
    spec: &TileSpec,
    map: &RegisterMap,
    process: &mut RtlProcess,
    configurations: &[Configuration],
    seed: u64,
    promises: Promises,
) -> Result<ScenarioCounts, Failure> {
    let of = |number: usize| format!("configuration {number}");
    let at = |number: usize| move |error: BenchError| Failure::from(error).at(of(number));
    let mut scenario = Scenario::new(spec, map, Some(process), seed, promises != Promises::Kept).map_err(at(0))?;
    scenario.exercise_registers().map_err(at(0))?;
    for (number, configuration) in configurations.iter().enumerate() {
        if promises != Promises::Unknown {
            // Interrupted runs leave words behind that are not read, which is no fault of the configuration.
            scenario.plain_run(configuration).map_err(at(number))?;
            let broken = scenario.violations();
            match broken.first() {
                Some(first) if promises == Promises::Kept => return Err(Failure::wrong(first).at(of(number))),
                None if promises == Promises::Broken => {
                    let message = format!("configuration {number} breaks no promise, but has `violations: true`");
                    return Err(Failure::wrong(message));
                }
                _ => {}
            }
        }
        scenario.exercise(configuration).map_err(at(number))?;
        scenario.violations();
    }
    scenario.finish().map_err(at(configurations.len()))
}
