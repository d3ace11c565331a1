//! Results that are kept for the next time, as JSON.

use std::fs;
use std::path::PathBuf;

use pushmem_files::write_file;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{added, folder, key, used};

/// The place of a result.
#[derive(Debug)]
pub struct Kept {
    file: PathBuf,
}

impl Kept {
    /// That of a result of this kind, a name of a folder, that all of these texts make.
    pub fn of(kind: &str, texts: &[&str]) -> Self {
        Kept { file: folder().join(kind).join(key(texts)).with_extension("json") }
    }

    /// The result, if it is there.
    pub fn result<Result: DeserializeOwned>(&self) -> Option<Result> {
        let result = serde_json::from_str(&fs::read_to_string(&self.file).ok()?).ok()?;
        used(&self.file);
        Some(result)
    }

    /// Keeps a result if that is possible: without it only takes longer.
    pub fn keep(&self, result: &impl Serialize) {
        let text = serde_json::to_string(result);
        if text.is_ok_and(|text| write_file(&self.file, text.as_bytes()).is_ok()) {
            added(&self.file);
        }
    }
}
