//! Cycle-accurate scheduling of pipelines of stages.
//!
//! The input is a [`Pipeline`]: stages with loops, accesses and latencies. [`sequential`] runs them one after the other,
//! for comparison. [`stencil`] fuses them: loops of all stages are aligned with the dimensions of one fused loop nest
//! ([`Alignment`]: a relative rate for each loop), and then each stage gets the delay that minimizes the words stored
//! between stages (the book §4.3.3, which is the minimization of registers in retiming; dissertation §4.4). [`coarse`]
//! is for reductions that run in loops: stages run whole, in a pipeline of loop nests (dissertation §4.3).
//!
//! Dimension and loop 0 are the innermost everywhere. Times are unstalled cycles.

mod alignment;
mod coarse;
mod coincidence;
mod collapse;
mod dependence_distance;
mod error;
mod line_buffers;
mod recurrence;
mod schedule;
mod sequential;
mod transport;
mod writers;
mod written;

pub use alignment::Alignment;
pub use coarse::{Bound, Coarse, CoarseLoop, CoarseOptions, CoarseStage, Reservation, Resource, coarse};
pub use coincidence::{coincide, meet};
pub use dependence_distance::{Dependence, dependences, takes_own_results};
pub use error::{Along, Collapse, Meets, ScheduleError, ScheduleFault, StageName};
pub use pushmem_stages::{Access, Array, Boundary, Pipeline, Schedule, Stage, StageLoop, Subscript};
pub use recurrence::{Circle, Recurrence, recurrence};
pub use schedule::{Options, distances, stencil};
pub use sequential::sequential;
pub use transport::Transport;
pub use writers::{Writers, is_outside};
