//! Helpers for tests of several crates: external programs, and parts of long lists.
//!
//! Whoever lacks one runs the tests without it. `scripts/test` installs them all and sets [`ALL_TOOLS`]: there, a test that is
//! skipped fails.

mod bench;
mod part;

pub use bench::{Bench, Sources, quiet};
pub use part::{PART, Part};

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The variable under which a missing program fails the test that needs it.
pub const ALL_TOOLS: &str = "PUSHMEM_ALL_TOOLS";

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// A program. Without it, nothing, and a message that the test is skipped.
///
/// # Panics
/// If it is missing while [`ALL_TOOLS`] is set.
pub fn tool(name: &str) -> Option<PathBuf> {
    find(name.as_ref(), env::var_os(ALL_TOOLS).is_some())
}

/// Verilator, with what builds the models that it writes: the one that the variable `VERILATOR` names, as for `pushmem`, or
/// else the one on the path. Without it, nothing, and a message that the test is skipped.
///
/// # Panics
/// If it is missing while [`ALL_TOOLS`] is set.
pub fn verilator() -> Option<PathBuf> {
    for name in ["make", "g++"] {
        tool(name)?;
    }
    let named = env::var_os("VERILATOR").filter(|name| !name.is_empty());
    find(named.as_deref().unwrap_or("verilator".as_ref()), env::var_os(ALL_TOOLS).is_some())
}

/// A program that must be there, or may be missing. A path is from the project's root, where cargo is started, but not the tests.
fn find(name: &OsStr, must: bool) -> Option<PathBuf> {
    let found = which::which_in(name, env::var_os("PATH"), ROOT).ok();
    if found.is_none() {
        let name = name.to_string_lossy();
        assert!(!must, "there is no {name}, which {ALL_TOOLS} says there is");
        eprintln!("skipped: there is no {name}");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_skips_a_test() {
        assert_eq!(find("no_such_program".as_ref(), false), None);
    }

    #[test]
    #[should_panic = "there is no no_such_program"]
    fn a_missing_program_fails_a_test_where_all_are_there() {
        find("no_such_program".as_ref(), true);
    }

    #[test]
    fn paths_are_those_of_the_project() {
        assert!(find("scripts/test".as_ref(), true).is_some());
    }
}
