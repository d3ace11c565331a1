//! Streams through a tile: one word per firing.

use pushmem_configuration::Configuration;
use pushmem_model::{Handshake, MAX_PORTS, Violation};
use pushmem_registers::RegisterMap;
use pushmem_tile::{Mode, Role, TileSpec, timing};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bench::{BenchError, TileBench};
use crate::process::RtlProcess;

/// Longer runs must be asked for: a mistyped extent should not run for hours.
pub(crate) const MAX_CYCLES: u64 = 100_000_000;

/// How often a random stall begins or goes on.
const STALL_PROBABILITY: f64 = 0.3;

/// How often a side of a handshake pauses in a cycle, where it does at random.
const PAUSE_PROBABILITY: f64 = 0.4;

/// Unstalled cycles between two reports of progress.
const PROGRESS_CYCLES: u64 = 1 << 16;

/// How to run streams.
#[derive(Clone, Copy, Default)]
pub struct StreamOptions<'a> {
    /// Stalls at random cycles from this seed; no stalls without.
    pub stall_seed: Option<u64>,
    /// Stops after this many unstalled cycles, instead of when all controllers are done.
    pub cycles: Option<u64>,
    /// The words on the chain inputs by unstalled cycle, 0 after the last; random ones without.
    pub chain: Option<&'a [[u64; MAX_PORTS]]>,
    /// Between firings, inputs keep their words instead of random ones.
    pub quiet: bool,
    /// In a mode with handshakes, words are offered, and taken, in random cycles from this seed; in all without.
    pub pause_seed: Option<u64>,
    /// Told the unstalled cycles so far, every 65536 of them.
    pub progress: Option<&'a dyn Fn(u64)>,
}

/// An event of an unstalled cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The word on an input is used.
    Taken {
        /// Number of the input.
        input: usize,
    },
    /// A word is shown.
    Shown {
        /// Number of the output.
        output: usize,
        /// The word.
        word: u64,
    },
    /// The output `stencil_valid` is high.
    StencilValid,
}

/// The result of a run. Its words were told as [`Event`]s: a run may be longer than memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamRun {
    /// Words used of each input.
    pub words_taken: Vec<u64>,
    /// Words shown on each output.
    pub words_shown: Vec<u64>,
    /// Cycles in which `stencil_valid` was high.
    pub stencil_valid: u64,
    /// Unstalled cycles of the run.
    pub length: u64,
    /// Broken promises, in order.
    pub violations: Vec<Violation>,
    /// Rows fetched for nothing, by controller.
    pub unread_rows: Vec<String>,
    /// Words shown for which no row is fetched, by controller.
    pub unfetched_words: Vec<String>,
}

impl StreamRun {
    fn begun(spec: &TileSpec) -> Self {
        StreamRun {
            words_taken: vec![0; spec.inputs as usize],
            words_shown: vec![0; spec.outputs as usize],
            ..StreamRun::default()
        }
    }

    /// Notes an unstalled cycle that is over; tells whether it broke a promise.
    fn end_cycle(&mut self, bench: &mut TileBench, options: &StreamOptions) -> bool {
        self.violations.extend(bench.take_violations());
        self.length = bench.tile().cycle();
        if let Some(progress) = options.progress
            && self.length.is_multiple_of(PROGRESS_CYCLES)
        {
            progress(self.length);
        }
        !self.violations.is_empty()
    }
}

/// Unstalled cycles of a run, from the flush to the end of the last firing, or of what shows its word.
pub fn run_length(spec: &TileSpec, configuration: &Configuration) -> u128 {
    let end = |controller: pushmem_tile::Controller| {
        let configured = configuration.controllers.get(&controller.name)?;
        let latency = match controller.role {
            Role::Sram2Out | Role::Rom2Out => timing::sram_to_output(spec.sram_latency),
            _ => 0,
        };
        Some(configured.last_firing().saturating_add(u128::from(latency) + 1))
    };
    spec.controllers().into_iter().filter_map(end).max().unwrap_or(0)
}

/// Runs input streams through a configured tile, and tells what happens with the cycle, counted from the flush. Between firings, inputs carry random words, unless they are to be quiet.
///
/// With `rtl`, the RTL runs in lockstep. A stream that is not given (`None`) is random.
///
/// A FIFO is given the words of input 0, and runs until all have left it. A RAM is given the accesses of input 0: an address for each, with
/// [`WRITES`] above it for one that writes the next word of input 1. Without input 0, `cycles` of the options say how long they run.
///
/// # Errors
/// When the run would be too long, a stream ends too early, the configuration does not fit, or the RTL differs.
pub fn run_streams(
    spec: &TileSpec,
    map: &RegisterMap,
    configuration: &Configuration,
    inputs: &[Option<Vec<u64>>],
    rtl: Option<&mut RtlProcess>,
    options: &StreamOptions,
    on_event: &mut dyn FnMut(u64, Event),
) -> Result<StreamRun, BenchError> {
    let length = run_length(spec, configuration);
    if options.cycles.is_none() && length > u128::from(MAX_CYCLES) {
        return Err(BenchError::TooLong { length });
    }
    let mut bench = TileBench::new(spec, map, rtl, options.stall_seed.unwrap_or(0))?;
    // The model tells more about a conflict than the RTL, which would stop before the wave of that cycle is complete.
    bench.port_conflicts = true;
    bench.quiet = options.quiet;
    // Words of other tiles are none of the streams.
    bench.others_show = false;
    bench.configure_quickly(configuration)?;
    bench.flush(false)?;
    let outcome = match configuration.mode {
        Mode::UnifiedBuffer => run_cycles(&mut bench, spec, inputs, options, on_event),
        mode => run_mode(&mut bench, spec, mode, inputs, options, on_event),
    };
    // However it ended, the RTL runs up to the same cycle. Where it differs is an error of its own.
    match outcome {
        Ok(_) | Err(BenchError::StreamEnded { .. }) => {
            bench.finish()?;
            outcome
        }
        Err(_) => outcome,
    }
}

/// The bit of an access of a RAM that says that it writes; the bits below it are the address.
pub const WRITES: u64 = 1 << 63;

/// An access to any word: a write as likely as a read.
fn random_access(bench: &mut TileBench, spec: &TileSpec) -> u64 {
    let address = bench.rng().random_range(0..spec.words());
    if bench.rng().random() { address | WRITES } else { address }
}

/// Runs a mode in which words are taken and shown by handshakes.
fn run_mode(
    bench: &mut TileBench,
    spec: &TileSpec,
    mode: Mode,
    inputs: &[Option<Vec<u64>>],
    options: &StreamOptions,
    on_event: &mut dyn FnMut(u64, Event),
) -> Result<StreamRun, BenchError> {
    let mut run = StreamRun::begun(spec);
    let mut pauses = options.pause_seed.map(ChaCha8Rng::seed_from_u64);
    let mut goes_on = || pauses.as_mut().is_none_or(|pauses| !pauses.random_bool(PAUSE_PROBABILITY));
    let of_input = |input: usize| inputs.get(input).and_then(Option::as_deref);
    let words = of_input(0);
    // Reads of a RAM whose words are still to come.
    let mut awaited = 0;
    loop {
        let cycle = bench.tile().cycle();
        let next = words.map(|words| words.get(run.words_taken[0] as usize).copied());
        let is_over = match (options.cycles, mode) {
            (Some(limit), _) => cycle >= limit,
            (None, Mode::Fifo) => next == Some(None) && bench.tile().is_empty_fifo(),
            (None, _) => next == Some(None) && awaited == 0,
        };
        if is_over {
            break;
        }
        let stall = options.stall_seed.is_some() && bench.rng().random_bool(STALL_PROBABILITY);
        let [offers, ready] = [goes_on(), goes_on()];
        let (word, is_there) = match (next, mode) {
            (Some(next), _) => (next.unwrap_or(0), next.is_some()),
            (None, Mode::Ram) => (random_access(bench, spec), true),
            (None, _) => (bench.random_word(), true),
        };
        let (write, word) = match mode {
            Mode::Ram => (word & WRITES != 0, word & !WRITES),
            _ => (false, word),
        };
        let written = match of_input(1) {
            Some(words) if write => {
                let word = words.get(run.words_taken[1] as usize).copied();
                word.ok_or(BenchError::StreamEnded { input: 1, words: words.len(), cycle })?
            }
            _ => bench.random_word(),
        };
        let handshake = Handshake { valid: offers && is_there, write, ready };
        let shown = bench.cycle_of_mode(handshake, [word, written], stall)?;
        if stall {
            continue;
        }
        for input in (0..run.words_taken.len()).filter(|&input| shown.taken[input]) {
            run.words_taken[input] += 1;
            on_event(cycle, Event::Taken { input });
        }
        if mode == Mode::Ram && shown.taken[0] && !write {
            awaited += 1;
        }
        // The word of a RAM waits for none.
        if shown.valid[0] && (ready || mode == Mode::Ram) {
            awaited -= i64::from(mode == Mode::Ram);
            run.words_shown[0] += 1;
            on_event(cycle, Event::Shown { output: 0, word: shown.data[0].value });
        }
        if run.end_cycle(bench, options) {
            break;
        }
    }
    Ok(run)
}

fn run_cycles(
    bench: &mut TileBench,
    spec: &TileSpec,
    inputs: &[Option<Vec<u64>>],
    options: &StreamOptions,
    on_event: &mut dyn FnMut(u64, Event),
) -> Result<StreamRun, BenchError> {
    let mut run = StreamRun::begun(spec);
    while options.cycles.map_or_else(|| !bench.tile().is_idle(), |limit| bench.tile().cycle() < limit) {
        let cycle = bench.tile().cycle();
        let stall = options.stall_seed.is_some() && bench.rng().random_bool(STALL_PROBABILITY);
        let taken = bench.tile().outputs(&Default::default()).taken;
        let mut data = [None; MAX_PORTS];
        if !stall {
            for input in (0..run.words_taken.len()).filter(|&input| taken[input]) {
                data[input] = match inputs.get(input) {
                    Some(Some(stream)) => {
                        let word = stream.get(run.words_taken[input] as usize).copied();
                        Some(word.ok_or(BenchError::StreamEnded { input, words: stream.len(), cycle })?)
                    }
                    _ if options.quiet => Some(bench.random_word()),
                    _ => None,
                };
                run.words_taken[input] += 1;
                on_event(cycle, Event::Taken { input });
            }
        }
        let chain = options.chain.map(|words| words.get(cycle as usize).copied().unwrap_or_default());
        let shown = bench.cycle_with(&data, chain, stall)?;
        if stall {
            continue;
        }
        for output in (0..run.words_shown.len()).filter(|&output| shown.valid[output]) {
            run.words_shown[output] += 1;
            on_event(cycle, Event::Shown { output, word: shown.data[output].value });
        }
        if shown.stencil_valid {
            run.stencil_valid += 1;
            on_event(cycle, Event::StencilValid);
        }
        if run.end_cycle(bench, options) {
            break;
        }
    }
    run.unread_rows = bench.tile().unread_rows();
    run.unfetched_words = bench.tile().unfetched_words();
    Ok(run)
}
