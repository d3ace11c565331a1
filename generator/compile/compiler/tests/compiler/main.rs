//! All passes together: the results of compiled accelerators, and the faults that their proof catches.

mod bottleneck;
mod common;
mod copies;
mod edges;
mod faults;
mod graph;
mod levels;
mod named_values;
mod networks;
mod outcome;
mod outputs;
mod paths;
mod random;
mod random_access;
mod recurrences;
mod reductions;
mod refusals;
mod serial_loads;
mod sharing;
mod tables;
mod transport;
mod trials;
mod turns;
mod updates;
mod waits;
mod words;
