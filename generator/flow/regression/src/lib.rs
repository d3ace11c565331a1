//! The regression: RTL against model, from lists of named tests.
//!
//! A test is a configuration file with what it must do, or a seed and a number of random configurations or random
//! specifications of tiles, or of random bitstreams on an array or on random arrays. Every test runs RTL and model in lockstep through scenarios of stalls, flushes, resets and
//! reconfigurations.

pub mod arrays;
mod banks;
mod failure;
mod list;
mod loads;
mod mutants;
mod random;
mod report;
mod run;
mod scenario;

pub use failure::{Failure, FailureKind};
pub use list::{
    Delays, LONGEST_RUN, RandomArrays, RandomBitstreams, RandomConfigurations, RandomFaults, RandomSpecs,
    RegressionList, Test, Work,
};
pub use mutants::{Catch, Mutant, MutantList, MutantResult, Replacement};
pub use random::{arbitrary_configuration, legal_configuration, random_spec, random_spec_of_any_size};
pub use report::{RegressionReport, TestResult, for_programs, to_junit};
pub use run::{Progress, in_parallel, run, run_files};
pub use scenario::ScenarioCounts;
