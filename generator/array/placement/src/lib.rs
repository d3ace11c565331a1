//! Placement: tiles for the cells of a netlist.
//!
//! [`place`] is simulated annealing as in VPR (Betz, Rose and Marquardt, Architecture and CAD for Deep-Submicron FPGAs, 1999,
//! §3.2). Its cost is the half perimeter of each net, and the cycles that routes of a loop take beyond those that the loop has.
//! Equal seeds give equal places.

mod anneal;
mod capacity;
mod cost;
mod distance;
mod placement;
mod slots;
mod text;

pub use anneal::{Effort, place};
pub use capacity::{CapacityError, check_capacity};
pub use cost::Lessons;
pub use distance::{demand, least_demand, least_registers};
pub use placement::Placement;
