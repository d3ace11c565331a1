//! The compiler: from a program to a proven application graph, with its memories on tiles.
//!
//! [`plan`] runs the passes one after the other, each a function from one stage to the next: extraction, schedule,
//! kernels, assembly with mapping, proof. [`Compiled`] holds all stages; [`CompileStage`] prints each of them.

mod accumulators;
mod bottleneck;
mod candidate;
mod compile;
mod compute_sharing;
mod emit;
mod error;
mod forms;
mod interval;
mod occupancy;
mod pipeline;
mod recurrences;
mod refusal;
mod schedules;
mod stages;
mod tile_counts;
mod trial;

pub use bottleneck::{Bottleneck, NextStep, with_next_step};
pub use compile::{CoarsePlan, Compiled, plan, plan_as};
pub use emit::CompileStage;
pub use error::CompileError;
pub use interval::{InitiationInterval, RecurrencePath};
pub use occupancy::OccupancyComparison;
pub use pipeline::{Pipeline, beside, may_be_scan};
pub use trial::{ShortMemory, Trial};
