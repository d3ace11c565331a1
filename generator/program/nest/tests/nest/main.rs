//! Programs as a user sees them: read, executed, printed, refused.

mod apps;
mod common;
mod errors;
mod networks;
mod properties;
mod reductions;
mod references;
mod spellings;
