//! Units of C++: which of the files that Verilator writes are compiled together.

use std::fs;
use std::path::Path;

use itertools::Itertools;
use pushmem_files::Diagnostic;

use crate::folder::io;

/// Bytes of Verilated sources that are compiled together: less would read the headers too often, more take too much memory.
const UNIT_BYTES: u64 = 4 << 20;

/// The Verilated sources of a folder with their sizes in bytes, in order.
pub(crate) fn verilated_sources(folder: &Path) -> Result<Vec<(String, u64)>, Diagnostic> {
    let verilated = folder.join("verilated");
    let source = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()))
    };
    let entries = fs::read_dir(&verilated).and_then(|entries| entries.map(source).collect::<Result<Vec<_>, _>>());
    let sources = entries.map_err(io(&verilated))?;
    Ok(sources.into_iter().filter(|(name, _)| name.ends_with(".cpp")).sorted().collect())
}

/// Without the sizes.
pub(crate) fn names(sources: Vec<(String, u64)>) -> Vec<String> {
    sources.into_iter().map(|(name, _)| name).collect()
}

/// Sources that are compiled together, which is faster than one by one.
pub(crate) struct Unit {
    pub sources: Vec<String>,
    /// Whether all they have is run once, before the first cycle: not worth to be optimized.
    pub runs_once: bool,
}

impl Unit {
    pub(crate) fn text(&self) -> String {
        self.sources.iter().map(|source| format!("#include \"{source}\"\n")).collect()
    }
}

/// Verilated sources in units: small models are one, of large ones what runs once is in units of its own. In a model that
/// writes waves of many tiles, that is nearly half. The first is not one of those.
pub(crate) fn units(sources: Vec<(String, u64)>) -> Vec<Unit> {
    if sources.iter().map(|(_, bytes)| bytes).sum::<u64>() <= UNIT_BYTES {
        return vec![Unit { sources: names(sources), runs_once: false }];
    }
    let (once, often): (Vec<_>, Vec<_>) = sources.into_iter().partition(|(name, _)| name.ends_with("__Slow.cpp"));
    let mut units = Vec::new();
    for (sources, runs_once) in [(often, false), (once, true)] {
        let mut room = 0;
        for (name, bytes) in sources {
            if bytes > room {
                units.push(Unit { sources: Vec::new(), runs_once });
                room = UNIT_BYTES;
            }
            room = room.saturating_sub(bytes);
            units.last_mut().expect("there is room in none").sources.push(name);
        }
    }
    units
}
