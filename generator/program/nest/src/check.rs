//! Checks that need the whole program.

mod bounds;
mod coverage;
mod usage;

use crate::program::Program;
use crate::source::Problem;

/// Adds what is wrong and what is probably not meant.
pub(crate) fn check(program: &Program, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) {
    bounds::check(program, problems, warnings);
    // Elements outside of an array are neither written nor unwritten.
    if problems.is_empty() {
        coverage::check(program, problems, warnings);
    }
    usage::check(program, warnings);
}
