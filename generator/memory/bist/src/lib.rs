//! The self-test of SRAMs (BIST): the march test that the RTL runs, and a model of memories with a fault that it must find.
//!
//! [`run`] is cycle-accurate: it gives the verdict of the RTL module `pushmem_bist`, and how long it takes.

mod fault;
mod march;
mod memory;
mod row;
mod shape;

pub use fault::{BitCell, Fault};
pub use march::{Action, Element, MARCH_C_MINUS, MarchOperation, Verdict, background, march, operations, run};
pub use memory::FaultyMemory;
pub use row::{MAX_WIDTH, Row};
pub use shape::MemoryShape;
