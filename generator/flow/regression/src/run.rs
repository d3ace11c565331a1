//! Running tests.

use std::path::{Path, PathBuf};
use std::time::Instant;

use itertools::Itertools;
use pushmem_bist::{Fault, FaultyMemory, MemoryShape, Row};
use pushmem_configuration::Configuration;
use pushmem_fabric::ArraySpec;
use pushmem_files::Diagnostic;
use pushmem_interconnect::generate;
use pushmem_lockstep::build_buffered;
use pushmem_model::MAX_PORTS;
use pushmem_registers::RegisterMap;
use pushmem_simulation::{
    BenchError, Event, RtlProcess, StreamOptions, Verilator, rtl_files, run_length, run_streams, self_test,
};
use pushmem_systemverilog::files_of;
use pushmem_technology::{Assembly, Binding, Technology, TileSram};
use pushmem_tile::TileSpec;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::arrays::{build_probed, random_array, read_array, run_bitstreams};
use crate::banks::{build_bank, run_banks};
use crate::failure::Failure;
use crate::list::{Delays, Test, Work};
use crate::loads::run_loads;
use crate::random::{arbitrary_configuration, legal_configuration, random_spec, random_spec_with_extras};
use crate::report::TestResult;
use crate::scenario::{Scenario, ScenarioCounts};

/// Longest stream of which delays are checked, in words.
const MAX_STREAM: u128 = 1 << 22;

/// Told what happens, from any thread.
pub trait Progress<Item, Outcome>: Sync {
    /// Work on an item began.
    fn started(&self, item: &Item);
    /// Work on an item ended.
    fn finished(&self, outcome: &Outcome);
}

/// Runs tests, `jobs` at a time; results come in the order of the tests.
pub fn run(
    tests: &[Test],
    verilator: &Verilator,
    jobs: usize,
    progress: &impl Progress<Test, TestResult>,
) -> Vec<TestResult> {
    in_parallel(tests, jobs, progress, |test| {
        run_test(test, &|design| {
            let rtl = match (design, &test.sram) {
                (Design::Tile(spec, _), Some(sram)) => bound(spec, sram)?,
                _ => design.rtl()?,
            };
            design.build(verilator, &rtl)
        })
    })
}

/// Runs files that have the ports of a tile, such as its netlist, in lockstep with the model, through random configurations
/// that keep all promises.
///
/// # Errors
/// When Verilator refuses, or an output differs.
pub fn run_files(
    spec: &TileSpec,
    files: &[(String, String)],
    verilator: &Verilator,
    seed: u64,
    configurations: u32,
) -> Result<ScenarioCounts, Failure> {
    let mut result = TestResult::begun(&spec.name, Path::new(""));
    let build = |design: Design| design.build(verilator, files);
    Runner::new(spec.clone(), &build, &mut result)?.legal(seed, configurations)?;
    Ok(result.counts)
}

/// The SystemVerilog files of a tile whose memory is made of a macro.
fn bound(spec: &TileSpec, sram: &Path) -> Result<Vec<(String, String)>, Diagnostic> {
    let memory = TileSram::of(spec)
        .ok_or_else(|| Diagnostic::new(format!("`{}` has no SRAM to bind {} to", spec.name, sram.display())))?;
    let (binding, document) = Binding::read(sram, &memory)?;
    let technology = Technology::new(vec![Assembly::new(memory, binding, Some(&document))?])?;
    Ok(technology.bind(rtl_files(spec)?))
}

/// Works on items, `jobs` at a time; outcomes come in the order of the items.
pub fn in_parallel<Item: Sync, Outcome: Send>(
    items: &[Item],
    jobs: usize,
    progress: &impl Progress<Item, Outcome>,
    work: impl Fn(&Item) -> Outcome + Sync,
) -> Vec<Outcome> {
    let work = |item: &Item| {
        progress.started(item);
        let outcome = work(item);
        progress.finished(&outcome);
        outcome
    };
    let pool = ThreadPoolBuilder::new().num_threads(jobs.max(1)).build().expect("the system has threads");
    pool.install(|| items.par_iter().map(work).collect())
}

/// Executable models of a tile's RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// It runs in lockstep with the model.
    Lockstep,
    /// It runs its self-test on an SRAM with faults.
    SelfTest,
}

impl Model {
    /// Builds it from the files of a tile, or finds it in the cache.
    pub fn build(
        self,
        verilator: &Verilator,
        spec: &TileSpec,
        rtl: &[(String, String)],
    ) -> Result<PathBuf, Diagnostic> {
        match self {
            Model::Lockstep => verilator.build_files(spec, rtl, false),
            Model::SelfTest => verilator.build_self_test(spec, rtl),
        }
    }
}

/// A design that a test runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Design<'a> {
    /// A tile.
    Tile(&'a TileSpec, Model),
    /// An array, with the registers of its tracks visible.
    Array(&'a ArraySpec),
    /// A bank of the global buffer of an array.
    Bank(&'a ArraySpec),
    /// An array with its global buffer.
    Buffered(&'a ArraySpec),
}

impl Design<'_> {
    /// The files of its RTL.
    pub fn rtl(self) -> Result<Vec<(String, String)>, Diagnostic> {
        match self {
            Design::Tile(spec, _) => rtl_files(spec),
            Design::Array(spec) | Design::Bank(spec) | Design::Buffered(spec) => {
                let modules = generate(spec).map_err(|error| Diagnostic::new(error.to_string()))?;
                Ok(files_of(modules))
            }
        }
    }

    /// Builds its executable model from these files, or finds it in the cache.
    pub fn build(self, verilator: &Verilator, rtl: &[(String, String)]) -> Result<PathBuf, Diagnostic> {
        match self {
            Design::Tile(spec, model) => model.build(verilator, spec, rtl),
            Design::Array(spec) => build_probed(verilator, spec, rtl),
            Design::Bank(spec) => build_bank(verilator, spec, rtl),
            Design::Buffered(spec) => build_buffered(verilator, spec, rtl),
        }
    }
}

/// The function that makes the executable model of a design.
pub(crate) type Build<'a> = dyn Fn(Design) -> Result<PathBuf, Diagnostic> + 'a;

/// Runs a test on the models that `build` makes.
pub(crate) fn run_test(test: &Test, build: &Build) -> TestResult {
    let mut result = TestResult::begun(&test.name, &test.list);
    let outcome = match &test.work {
        Work::Configuration { tile, configuration, violations, delays, stops_at, longest_run } => {
            TileSpec::read(tile).map_err(Failure::from).and_then(|spec| {
                let configuration = Configuration::read(configuration, &spec)?;
                ends_in_time(&spec, &configuration, *longest_run)?;
                let mut runner = Runner::new(spec, build, &mut result)?;
                if !delays.is_empty() {
                    runner.check_delays(std::slice::from_ref(&configuration), delays)?;
                }
                if let Some(assertion) = stops_at {
                    runner.check_assertion(&configuration, assertion)?;
                }
                runner.exercise(&[configuration], 1, if *violations { Promises::Broken } else { Promises::Kept })
            })
        }
        Work::Chain { tile, configurations, delays } => TileSpec::read(tile).map_err(Failure::from).and_then(|spec| {
            let read = |file: &PathBuf| Configuration::read(file, &spec);
            let configurations = configurations.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let mut runner = Runner::new(spec, build, &mut result)?;
            runner.result.counts.configurations += configurations.len() as u64;
            runner.check_delays(&configurations, delays)
        }),
        Work::Legal { tile, seed, configurations } => TileSpec::read(tile)
            .map_err(Failure::from)
            .and_then(|spec| Runner::new(spec, build, &mut result)?.legal(*seed, *configurations)),
        Work::Arbitrary { tile, seed, configurations } => TileSpec::read(tile)
            .map_err(Failure::from)
            .and_then(|spec| Runner::new(spec, build, &mut result)?.arbitrary(*seed, *configurations)),
        Work::Faults { tile, seed, faults } => TileSpec::read(tile)
            .map_err(Failure::from)
            .and_then(|spec| self_tests(&spec, build, &mut result, *seed, *faults)),
        Work::Specs { seed, specs, configurations, extras } => (0..*specs).try_for_each(|number| {
            // Each specification has a seed of its own, so that one that fails can be run alone.
            let seed = seed.wrapping_add(u64::from(number));
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let spec = if *extras { random_spec_with_extras(&mut rng) } else { random_spec(&mut rng) };
            let described = spec.to_yaml();
            Runner::new(spec, build, &mut result)
                .and_then(|mut runner| {
                    runner.legal(seed, *configurations)?;
                    runner.arbitrary(seed, *configurations)
                })
                .map_err(|failure| Failure {
                    message: format!("{failure}\nspecification of seed {seed}:\n{described}"),
                    ..failure
                })
        }),
        Work::Bitstreams { array, seed, bitstreams } => read_array(array)
            .map_err(Failure::from)
            .and_then(|spec| on_array(&spec, build, &mut result, *seed, *bitstreams)),
        Work::Arrays { seed, arrays, bitstreams, longest_side } => (0..*arrays).try_for_each(|number| {
            let seed = seed.wrapping_add(u64::from(number));
            let (spec, described) = random_array(*longest_side, &mut ChaCha8Rng::seed_from_u64(seed));
            on_array(&spec, build, &mut result, seed, *bitstreams).map_err(|failure| Failure {
                message: format!("{failure}\nspecification of seed {seed}:\n{described}"),
                ..failure
            })
        }),
    };
    result.failure = outcome.err();
    result
}

/// Runs random bitstreams on an array. If it has a global buffer, runs as many random loop nests on a bank of it, and loads some random bitstreams
/// from its banks.
fn on_array(
    spec: &ArraySpec,
    build: &Build,
    result: &mut TestResult,
    seed: u64,
    bitstreams: u32,
) -> Result<(), Failure> {
    type Work = fn(&ArraySpec, &Path, u64, u32) -> Result<ScenarioCounts, Failure>;
    let mut designs: Vec<(Design, Work)> = vec![(Design::Array(spec), run_bitstreams)];
    if spec.global_buffer.is_some() {
        designs.push((Design::Bank(spec), run_banks));
        designs.push((Design::Buffered(spec), run_loads));
    }
    for (design, work) in designs {
        let start = Instant::now();
        let executable = build(design)?;
        result.build += start.elapsed();
        let start = Instant::now();
        let outcome = work(spec, &executable, seed, bitstreams);
        result.run += start.elapsed();
        let counts = outcome?;
        result.counts.configurations += counts.configurations;
        result.counts.cycles += counts.cycles;
    }
    Ok(())
}

/// Refuses a configuration whose run takes longer than a test allows.
fn ends_in_time(spec: &TileSpec, configuration: &Configuration, longest_run: u64) -> Result<(), Failure> {
    let length = run_length(spec, configuration);
    if length > u128::from(longest_run) {
        let message = format!("a run takes {length} cycles; `longest_run` allows {longest_run}");
        return Err(Failure::not_run(message));
    }
    Ok(())
}

/// Runs the self-test of RTL and model on a memory without a fault, and on some with one each.
fn self_tests(spec: &TileSpec, build: &Build, result: &mut TestResult, seed: u64, count: u32) -> Result<(), Failure> {
    let start = Instant::now();
    let executable = build(Design::Tile(spec, Model::SelfTest))?;
    result.build += start.elapsed();
    let shape = MemoryShape::of(spec).expect("what has no self-test is not built");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut memories = vec![(None, false), (None, true)];
    memories.extend((0..count).map(|_| (Some(Fault::random(shape, &mut rng)), rng.random())));
    let start = Instant::now();
    let found = self_test(&executable, shape, &memories)?;
    result.run += start.elapsed();
    for (&(fault, loads), found) in memories.iter().zip(&found) {
        let mut memory = FaultyMemory::new(shape, fault, |_| Row::of(shape.width, |_| loads));
        let expected = pushmem_bist::run(shape, &mut memory);
        if *found != expected {
            let message = format!("self-test, {fault:?}: the RTL has {found:?}; the model has {expected:?}");
            return Err(Failure::wrong(message));
        }
        if fault.is_some() != found.first_failure.is_some() {
            return Err(Failure::wrong(format!("self-test, {fault:?}: the verdict is {found:?}")));
        }
        result.counts.configurations += 1;
        result.counts.cycles += found.cycles;
    }
    Ok(())
}

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
enum Promises {
    Kept,
    Broken,
    /// It was not checked.
    Unknown,
}

/// Runs configurations on one tile, adding to a result.
struct Runner<'a> {
    spec: TileSpec,
    map: RegisterMap,
    executable: PathBuf,
    result: &'a mut TestResult,
}

impl<'a> Runner<'a> {
    fn new(spec: TileSpec, build: &Build, result: &'a mut TestResult) -> Result<Self, Failure> {
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
    fn exercise(&mut self, configurations: &[Configuration], seed: u64, promises: Promises) -> Result<(), Failure> {
        let start = Instant::now();
        let mut process = self.process()?;
        let outcome = exercise(&self.spec, &self.map, &mut process, configurations, seed, promises);
        self.result.run += start.elapsed();
        let counts = outcome?;
        self.result.counts.configurations += counts.configurations;
        self.result.counts.cycles += counts.cycles;
        Ok(())
    }

    fn legal(&mut self, seed: u64, count: u32) -> Result<(), Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let configurations = (0..count)
            .map(|number| {
                let none = || format!("no legal configuration found for number {number} of seed {seed}");
                legal_configuration(&self.spec, &mut rng).ok_or_else(|| Failure::not_run(none()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.exercise(&configurations, seed, Promises::Kept)
    }

    fn arbitrary(&mut self, seed: u64, count: u32) -> Result<(), Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Legal runs first: they fill the memories, so that most words are defined and can be compared.
        let mut configurations = (0..2).filter_map(|_| legal_configuration(&self.spec, &mut rng)).collect_vec();
        configurations.extend((0..count).map(|_| arbitrary_configuration(&self.spec, &mut rng)));
        self.exercise(&configurations, seed, Promises::Unknown)
    }

    /// An assertion that must stop the RTL.
    fn check_assertion(&mut self, configuration: &Configuration, assertion: &str) -> Result<(), Failure> {
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
    fn check_delays(&mut self, configurations: &[Configuration], delays: &Delays) -> Result<(), Failure> {
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
