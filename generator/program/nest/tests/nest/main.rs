//! Programs as a user sees them: read, executed, printed, refused.

mod apps;
mod common;
mod errors;
mod levels;
mod networks;
mod padding;
mod properties;
mod reductions;
mod references;
mod serial_loads;
