//! Programs on arrays against the interpreter of the loop nest.

mod accumulators;
mod applications;
mod bank_memory;
mod buffered;
mod common;
mod edited;
mod fault_kinds;
mod faults;
mod holds;
mod pipelines;
mod random;
mod side_by_side;
mod units;
mod wide;
