//! Scenarios: what a tile goes through with a configuration.

use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_registers::RegisterMap;
use pushmem_simulation::{BenchError, RtlProcess, TileBench};
use pushmem_tile::{Mode, TileSpec};
use rand::Rng;

/// The numbers of configurations and cycles that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioCounts {
    /// Configurations.
    pub configurations: u64,
    /// Clock cycles compared.
    pub cycles: u64,
}

/// A run from this length on is not repeated for the sake of its end.
const LONG_RUN: u64 = 5000;

/// Cycles of random coincidences on the configuration port ahead of each configuration.
const COINCIDENCES: u32 = 24;

/// Cycles of a run of a mode, at most.
const MODE_CYCLES: u64 = 2000;

/// The parts of one life of a tile.
pub(crate) struct Scenario<'a> {
    bench: TileBench<'a>,
    counts: ScenarioCounts,
    /// Whether a configuration can be loaded while another runs.
    shadow_registers: bool,
    /// The configuration that was exercised last.
    last: Option<Configuration>,
}

impl<'a> Scenario<'a> {
    /// Begins with a reset. Without `port_conflicts`, those that the configurations make stop the RTL.
    pub fn new(
        spec: &'a TileSpec,
        map: &'a RegisterMap,
        rtl: Option<&'a mut RtlProcess>,
        seed: u64,
        port_conflicts: bool,
    ) -> Result<Self, BenchError> {
        let mut bench = TileBench::new(spec, map, rtl, seed)?;
        bench.port_conflicts = port_conflicts;
        // A controller that the reset left running would fire at the latest when its schedule starts over.
        let schedule = spec.controllers.values().map(|controller| 1_u64 << controller.cycle_bits).max();
        bench.rest(schedule.unwrap_or(0).min(LONG_RUN))?;
        bench.restless = true;
        let shadow_registers = spec.shadow_registers;
        Ok(Scenario { bench, counts: ScenarioCounts::default(), shadow_registers, last: None })
    }

    /// Everything one configuration should survive, in a random order of the events that interrupt a run.
    pub fn exercise(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        self.counts.configurations += 1;
        // In the middle of a run of what was configured before.
        self.bench.flush(false)?;
        self.bench.self_test()?;
        self.bench.coincide(COINCIDENCES)?;
        self.bench.configure(configuration)?;
        if !self.bench.tile().is_active() {
            self.bench.access_nothing()?;
        }
        // Nothing may happen without a flush.
        let pause = self.bench.rng().random_range(0..4);
        self.bench.idle(pause)?;
        self.bench.flush(false)?;
        let length = self.run_to_end(0.0)?;
        // Back to back: a flush in one of the last cycles of a run.
        if length < LONG_RUN {
            self.bench.flush(false)?;
            let cut = self.bench.rng().random_range(1..4);
            self.run(length.saturating_sub(cut), 0.0)?;
        }
        self.bench.flush(false)?;
        self.run_to_end(0.4)?;
        // Flushes in the middle of runs, while stalled or not; then a new configuration while stalled in mid-run.
        for longest in [300, 30, 30, 8, 300] {
            let stalled = self.bench.rng().random_bool(0.5);
            self.bench.flush(stalled)?;
            let cycles = self.bench.rng().random_range(1..longest);
            self.run(cycles, 0.3)?;
        }
        match self.bench.rng().random_range(0..3) {
            0 => {
                self.bench.reset()?;
                // Nothing goes on with what was interrupted.
                self.bench.rest(length.min(LONG_RUN))?;
                self.bench.idle(3)?;
                self.bench.flush(false)?;
                self.bench.idle(3)?;
            }
            1 => {}
            _ => {
                self.run_to_end(0.2)?;
            }
        }
        if self.shadow_registers {
            self.reconfigure(configuration)?;
            self.last = Some(configuration.clone());
        }
        Ok(())
    }

    /// This configuration and the one before it, alternating, each loaded while the other runs.
    fn reconfigure(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        let other = self.last.clone().unwrap_or_else(|| configuration.clone());
        for next in [&other, configuration, &other, configuration] {
            let cycles = self.bench.rng().random_range(0..60);
            self.run(cycles, 0.2)?;
            self.bench.reconfigure(next)?;
            let cycles = self.bench.rng().random_range(1..200);
            self.run(cycles, 0.2)?;
            // Without a commit a flush starts the same run again.
            let stalled = self.bench.rng().random_bool(0.5);
            self.bench.flush(stalled)?;
        }
        self.run_to_end(0.1)?;
        Ok(())
    }

    /// One run without interruption, ahead of what [`Scenario::exercise`] does with the configuration.
    pub fn plain_run(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        self.bench.configure(configuration)?;
        self.bench.flush(false)?;
        self.run_to_end(0.0)?;
        Ok(())
    }

    /// A test without a configuration: every register holds the written word until a reset.
    pub fn exercise_registers(&mut self) -> Result<(), BenchError> {
        for ones in [0, u32::MAX] {
            self.bench.write_all_registers(ones)?;
            self.bench.read_all_registers()?;
        }
        self.bench.reset()?;
        self.bench.read_all_registers()
    }

    /// Words that violations broke, as text.
    pub fn violations(&mut self) -> Vec<String> {
        self.bench.take_violations().iter().map(ToString::to_string).unique().collect()
    }

    /// Compares what is left, and tells what was run.
    pub fn finish(mut self) -> Result<ScenarioCounts, BenchError> {
        self.bench.finish()?;
        Ok(ScenarioCounts { cycles: self.bench.clock(), ..self.counts })
    }

    /// Runs until all controllers have ended, and a little longer; a mode, whose work has no end, for some cycles. Tells after how many
    /// unstalled cycles.
    fn run_to_end(&mut self, stall_probability: f64) -> Result<u64, BenchError> {
        let longest = match self.bench.tile().mode() {
            Mode::UnifiedBuffer => u64::MAX,
            Mode::Fifo | Mode::Ram => self.bench.rng().random_range(1..MODE_CYCLES),
        };
        while !self.bench.tile().is_idle() && self.bench.tile().cycle() < longest {
            self.run(1, stall_probability)?;
        }
        let length = self.bench.tile().cycle();
        let pause = self.bench.rng().random_range(0..3);
        self.bench.idle(pause)?;
        Ok(length)
    }

    fn run(&mut self, cycles: u64, stall_probability: f64) -> Result<(), BenchError> {
        for _ in 0..cycles {
            let stall = self.bench.rng().random_bool(stall_probability);
            self.bench.cycle(stall)?;
        }
        Ok(())
    }
}
