//! Scenarios: what a tile goes through with a configuration.

use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_registers::RegisterMap;
use pushmem_simulation::{Bench, BenchError, RtlProcess};
use pushmem_tile::TileSpec;
use rand::Rng;

/// What was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioCounts {
    /// Configurations.
    pub configurations: u64,
    /// Clock cycles compared.
    pub cycles: u64,
}

/// A run of arbitrary length is cut off here.
const MAX_RUN: u64 = 400_000;

/// What one of a tile's lives is made of.
pub(crate) struct Scenario<'a> {
    bench: Bench<'a>,
    counts: ScenarioCounts,
}

impl<'a> Scenario<'a> {
    /// Begins with a reset. With `assertions`, promises that the configurations break stop the RTL.
    pub fn new(
        spec: &'a TileSpec,
        map: &'a RegisterMap,
        rtl: Option<&'a mut RtlProcess>,
        seed: u64,
        assertions: bool,
    ) -> Result<Self, BenchError> {
        let mut bench = Bench::new(spec, map, rtl, seed)?;
        bench.assertions = assertions;
        Ok(Scenario { bench, counts: ScenarioCounts::default() })
    }

    /// Everything one configuration should survive, in a random order of the events that interrupt a run.
    pub fn exercise(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        self.counts.configurations += 1;
        self.bench.configure(configuration)?;
        // Nothing may happen without a flush.
        let pause = self.bench.rng().random_range(0..4);
        self.bench.idle(pause)?;
        self.bench.flush(false)?;
        self.run_to_end(0.0)?;
        // Back to back: the flush in the last cycle of a run.
        self.bench.flush(false)?;
        self.run_to_end(0.4)?;
        // A flush in the middle of a run, while stalled or not; then a new configuration while stalled in mid-run.
        self.interrupted_run()?;
        let stalled = self.bench.rng().random_bool(0.5);
        self.bench.flush(stalled)?;
        self.interrupted_run()?;
        match self.bench.rng().random_range(0..3) {
            0 => {
                self.bench.reset()?;
                self.bench.idle(3)?;
                self.bench.flush(false)?;
                self.bench.idle(3)?;
            }
            1 => {}
            _ => self.run_to_end(0.2)?,
        }
        Ok(())
    }

    /// One run without interruption, ahead of what [`Scenario::exercise`] does with the configuration.
    pub fn plain_run(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        self.bench.configure(configuration)?;
        self.bench.flush(false)?;
        self.run_to_end(0.0)
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

    fn run_to_end(&mut self, stall_probability: f64) -> Result<(), BenchError> {
        let mut left = MAX_RUN;
        while left > 0 && !self.bench.tile().is_idle() {
            let stall = self.bench.rng().random_bool(stall_probability);
            self.bench.cycle(stall)?;
            left -= 1;
        }
        let pause = self.bench.rng().random_range(0..3);
        self.bench.idle(pause)
    }

    fn interrupted_run(&mut self) -> Result<(), BenchError> {
        let cycles = self.bench.rng().random_range(1..300);
        for _ in 0..cycles {
            let stall = self.bench.rng().random_bool(0.3);
            self.bench.cycle(stall)?;
        }
        Ok(())
    }
}
