//! All passes together: what compiled accelerators compute, and what their proof catches.

mod common;
mod faults;
mod levels;
mod networks;
mod outcome;
mod paths;
mod random;
mod reductions;
mod sharing;
mod tables;
mod turns;
