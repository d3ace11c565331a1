//! All passes together: what compiled accelerators compute, and what their proof catches.

mod common;
mod copies;
mod faults;
mod levels;
mod networks;
mod outcome;
mod paths;
mod random;
mod reductions;
mod refusals;
mod sharing;
mod tables;
mod transport;
mod turns;
mod updates;
