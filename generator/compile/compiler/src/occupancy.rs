//! How much of the time the multipliers of a coarse pipeline are busy (dissertation §7.3.1, Figures 7.8 and 7.9).

use pushmem_datapaths::Datapath;
use pushmem_schedule::{CoarseOptions, Schedule, coarse};
use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::compile::{CoarsePlan, Compiled};

/// The share of the cycles of a run in which a multiplier begins a multiplication, on average over all multipliers, from 0
/// to 1: with the schedule of the accelerator, and with simpler ones of the same stages for the same memories. Of a program
/// that multiplies nothing, that of its processing elements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OccupancyComparison {
    /// One stage after the other.
    pub sequential: f64,
    /// A pipeline of stages with double buffers, whose loops run as the program has them, each after those it reads from.
    /// Nothing if that takes too long to be scheduled.
    pub double_buffered: Option<f64>,
    /// With all optimizations of loops: the accelerator's own.
    pub loop_optimized: f64,
    /// The most that the copies of the program allow: that of images one after the other in which the [busiest](Bottleneck) never waits.
    pub limit: f64,
}

impl OccupancyComparison {
    /// The occupancy of a coarse pipeline.
    pub fn of(compiled: &Compiled, CoarsePlan { options, .. }: &CoarsePlan) -> Option<Self> {
        let pipeline = &compiled.extraction.pipeline;
        let work = Work::of(compiled);
        let share = |schedule: &Schedule| work.share(schedule.length(pipeline));
        let plain = CoarseOptions {
            interchange: false,
            distribute: false,
            overlap: false,
            flatten: false,
            double_buffer: true,
            balance_paths: false,
            ..options.clone()
        };
        (work.units > 0.0).then(|| OccupancyComparison {
            sequential: share(&compiled.sequential()),
            double_buffered: coarse(pipeline, &plain).ok().map(|plain| share(&plain.schedule)),
            loop_optimized: share(&compiled.schedule),
            limit: Bottleneck::of(compiled).map_or(1.0, |busiest| work.share(busiest.cycles as i64)),
        })
    }
}

/// Operations of a run, and the units for them.
struct Work {
    /// Multiplications, or operations of processing elements where there are none.
    operations: f64,
    /// Units that compute one operation a cycle.
    units: f64,
}

impl Work {
    fn of(compiled: &Compiled) -> Self {
        let Compiled { graph, datapaths, extraction, .. } = compiled;
        let multiplies = compiled.instances().any(|datapath| datapath.multipliers() > 0);
        let of = |datapath: &Datapath| match multiplies {
            true => datapath.multipliers() as f64,
            false => datapath.processing_elements() as f64,
        };
        let iterations = |stage: usize| -> f64 {
            extraction.pipeline.stages[stage].loops.iter().map(|level| level.extent as f64).product()
        };
        let done = graph.kernels.iter_enumerated();
        let done = done.map(|(number, kernel)| of(&datapaths[kernel.operation]) * iterations(graph.stage_of(number)));
        Work { operations: done.sum(), units: compiled.instances().map(of).sum() }
    }

    /// The share of the units' capacity in so many cycles.
    fn share(&self, cycles: i64) -> f64 {
        self.operations / (self.units * cycles.max(1) as f64)
    }
}
