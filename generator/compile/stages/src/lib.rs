//! Stages: the operations of a program with their iteration domains and access maps, and when they run (dissertation §3.2).
//!
//! Extraction makes a [`Pipeline`] of stages, scheduling gives each its cycles, a [`Schedule`]; assembly turns both into a
//! graph of hardware, and the proof holds that against the loop nest. Here is only what they pass on.
//!
//! Dimension and loop 0 are the innermost everywhere. Times are unstalled cycles.

mod origin;
mod pipeline;
mod schedule;

pub use origin::{Origin, Staged};
pub use pipeline::{Access, Array, Boundary, Pipeline, Stage, StageLoop, Subscript};
pub use schedule::Schedule;
