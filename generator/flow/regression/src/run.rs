//! Running tests.

mod runner;

use std::path::{Path, PathBuf};
use std::time::Instant;

use pushmem_bist::{Fault, FaultyMemory, MemoryShape, Row};
use pushmem_configuration::Configuration;
use pushmem_fabric::ArraySpec;
use pushmem_files::Diagnostic;
use pushmem_interconnect::generate;
use pushmem_lockstep::build_buffered;
use pushmem_simulation::{Verilator, rtl_files, run_length, self_test};
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
use crate::list::{RandomArrays, RandomBitstreams, RandomFaults, RandomSpecs, Test, Work};
use crate::loads::run_loads;
use crate::random::{random_spec, random_spec_with_extras};
use crate::report::TestResult;
use crate::scenario::ScenarioCounts;
use runner::{Promises, Runner};

/// Longest stream of which delays are checked, in words.
const MAX_STREAM: u128 = 1 << 22;

/// Told what happens, from any thread.
pub trait Progress: Sync {
    /// Work on an item of this name began.
    fn begin(&self, name: &str);
    /// Work on an item ended, perhaps badly: in a line of text.
    fn end(&self, bad: Option<String>);
}

/// Runs tests, `jobs` at a time; results come in the order of the tests.
pub fn run(tests: &[Test], verilator: &Verilator, jobs: usize, progress: &impl Progress) -> Vec<TestResult> {
    in_parallel(tests, jobs, |test| {
        progress.begin(&test.name);
        let result = run_test(test, &|design| {
            let rtl = match (design, &test.sram) {
                (Design::Tile(spec, _), Some(sram)) => bound(spec, sram)?,
                _ => design.rtl()?,
            };
            design.build(verilator, &rtl)
        });
        progress.end(result.failure.as_ref().map(|failure| format!("FAILED {}: {failure}", result.name)));
        result
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
    work: impl Fn(&Item) -> Outcome + Sync,
) -> Vec<Outcome> {
    let pool = ThreadPoolBuilder::new().num_threads(jobs.max(1)).build().expect("the system has threads");
    pool.install(|| items.par_iter().map(&work).collect())
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
    result.failure = run_work(&test.work, build, &mut result).err();
    result
}

/// Runs what a test does, and counts it in its result.
fn run_work(work: &Work, build: &Build, result: &mut TestResult) -> Result<(), Failure> {
    match work {
        Work::Configuration { tile, configuration, violations, delays, stops_at, longest_run } => {
            let spec = TileSpec::read(tile)?;
            let configuration = Configuration::read(configuration, &spec)?;
            ends_in_time(&spec, &configuration, *longest_run)?;
            let mut runner = Runner::new(spec, build, result)?;
            if !delays.is_empty() {
                runner.check_delays(std::slice::from_ref(&configuration), delays)?;
            }
            if let Some(assertion) = stops_at {
                runner.check_assertion(&configuration, assertion)?;
            }
            runner.exercise(&[configuration], 1, if *violations { Promises::Broken } else { Promises::Kept })
        }
        Work::Chain { tile, configurations, delays } => {
            let spec = TileSpec::read(tile)?;
            let read = |file: &PathBuf| Configuration::read(file, &spec);
            let configurations = configurations.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let mut runner = Runner::new(spec, build, result)?;
            runner.result.counts.configurations += configurations.len() as u64;
            runner.check_delays(&configurations, delays)
        }
        Work::Legal(tile, random) => {
            Runner::new(TileSpec::read(tile)?, build, result)?.legal(random.seed, random.configurations)
        }
        Work::Arbitrary(tile, random) => {
            Runner::new(TileSpec::read(tile)?, build, result)?.arbitrary(random.seed, random.configurations)
        }
        Work::Faults(tile, random) => self_tests(&TileSpec::read(tile)?, build, result, random),
        Work::Specs(RandomSpecs { seed, specs, configurations, extras }) => (0..*specs).try_for_each(|number| {
            // Each specification has a seed of its own, so that one that fails can be run alone.
            let seed = seed.wrapping_add(u64::from(number));
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let spec = if *extras { random_spec_with_extras(&mut rng) } else { random_spec(&mut rng) };
            let described = spec.to_yaml();
            let run = || {
                let mut runner = Runner::new(spec, build, result)?;
                runner.legal(seed, *configurations)?;
                runner.arbitrary(seed, *configurations)
            };
            run().map_err(|failure| failure.with_specification(seed, &described))
        }),
        Work::Bitstreams(array, random) => on_array(&read_array(array)?, build, result, *random),
        Work::Arrays(RandomArrays { seed, arrays, bitstreams, longest_side }) => (0..*arrays).try_for_each(|number| {
            let seed = seed.wrapping_add(u64::from(number));
            let (spec, described) = random_array(*longest_side, &mut ChaCha8Rng::seed_from_u64(seed));
            let random = RandomBitstreams { seed, bitstreams: *bitstreams };
            on_array(&spec, build, result, random).map_err(|failure| failure.with_specification(seed, &described))
        }),
    }
}

/// Runs random bitstreams on an array. If it has a global buffer, runs as many random loop nests on a bank of it, and loads some random bitstreams
/// from its banks.
fn on_array(
    spec: &ArraySpec,
    build: &Build,
    result: &mut TestResult,
    RandomBitstreams { seed, bitstreams }: RandomBitstreams,
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
fn self_tests(spec: &TileSpec, build: &Build, result: &mut TestResult, random: &RandomFaults) -> Result<(), Failure> {
    let start = Instant::now();
    let executable = build(Design::Tile(spec, Model::SelfTest))?;
    result.build += start.elapsed();
    let shape = MemoryShape::of(spec).expect("what has no self-test is not built");
    let mut rng = ChaCha8Rng::seed_from_u64(random.seed);
    let mut memories = vec![(None, false), (None, true)];
    memories.extend((0..random.faults).map(|_| (Some(Fault::random(shape, &mut rng)), rng.random())));
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
