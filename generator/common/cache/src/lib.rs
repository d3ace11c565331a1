//! A cache in a folder of the user: models, the RTL of tiles, results of synthesis. An entry is found by a
//! [`key()`] of all that it was made of, so nothing in the folder is ever out of date, and it may be deleted. When it grows
//! too large, the entries that were not used for the longest time go: [`used`] and [`added`] tell of entries.

mod kept;
mod limit;

use std::path::PathBuf;

use sha2::{Digest, Sha256};

pub use kept::Kept;
pub use limit::{DEFAULT_MEGABYTES, LIMIT_VARIABLE, added, used};

/// Names the folder, instead of the one in the user's cache folder.
pub const VARIABLE: &str = "PUSHMEM_CACHE";

/// The folder: `$PUSHMEM_CACHE`, or `pushmem` in the user's cache folder, or
/// `build/cache` below the working folder for a user without a home.
pub fn folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable(VARIABLE)
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("pushmem")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/pushmem")))
        .unwrap_or_else(|| PathBuf::from("build/cache"));
    // Verilator and the compiler run in other folders.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// A name for what is made from these texts.
pub fn key(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
