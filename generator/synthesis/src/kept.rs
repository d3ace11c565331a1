//! Results that are kept for the next time.

use std::fs;
use std::path::PathBuf;

use pushmem_files::write_file;
use pushmem_simulation::{cache_folder, key};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a result is kept.
pub(crate) struct Kept {
    file: PathBuf,
}

impl Kept {
    /// The place of a result of this kind that all of these texts make.
    pub fn of(kind: &str, texts: &[&str]) -> Self {
        Kept { file: cache_folder().join(kind).join(key(texts)).with_extension("json") }
    }

    /// The result, if it is there.
    pub fn result<Result: DeserializeOwned>(&self) -> Option<Result> {
        serde_json::from_str(&fs::read_to_string(&self.file).ok()?).ok()
    }

    /// Keeps a result if that is possible: without it only takes longer.
    pub fn keep(&self, result: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(result) {
            let _ = write_file(&self.file, text.as_bytes());
        }
    }
}
