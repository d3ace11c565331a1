//! The RTL of tiles, kept between runs: emitting it takes longer than compiling an application.

use std::fs;
use std::time::UNIX_EPOCH;

use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_registers::RegisterMap;
use pushmem_tile::TileSpec;

use crate::cache::{cache_folder, key};

/// The SystemVerilog files of a tile: name and text of each, used modules before their users.
///
/// # Errors
/// When the RTL does not compile, which is a fault of the templates.
pub fn rtl_files(spec: &TileSpec) -> Result<Vec<(String, String)>, Diagnostic> {
    let map = RegisterMap::of(spec);
    let sources = pushmem_rtl::sources(spec, &map);
    let program = program_identity();
    let texts = sources.iter().flat_map(|source| [source.name.as_str(), source.text.as_str()]);
    let name = key(&texts.chain([spec.reset.name(), program.as_str()]).collect_vec());
    let kept = cache_folder().join("rtl").join(name).with_extension("json");
    let read = fs::read_to_string(&kept).ok().and_then(|text| serde_json::from_str(&text).ok());
    if let Some(files) = read {
        return Ok(files);
    }
    let rtl = pushmem_rtl::generate(spec, &map)
        .map_err(|error| Diagnostic::new(format!("internal error: the RTL does not compile: {error}")))?;
    let files = rtl.into_iter().map(|file| (format!("{}.sv", file.name), file.text)).collect_vec();
    // Without a cache it only takes longer.
    if let Ok(text) = serde_json::to_string(&files) {
        let _ = write_file(&kept, text.as_bytes());
    }
    Ok(files)
}

/// Tells this build of the program from others, which may emit other text for the same sources.
fn program_identity() -> String {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    let modified = metadata.as_ref().ok().and_then(|metadata| metadata.modified().ok());
    let time = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_nanos());
    format!("{:?} {time:?}", metadata.map(|metadata| metadata.len()).ok())
}
