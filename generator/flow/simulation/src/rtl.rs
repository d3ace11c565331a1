//! The RTL of tiles, kept between runs: emitting it takes longer than compiling an application.

use std::fs;
use std::time::UNIX_EPOCH;

use itertools::Itertools;
use pushmem_cache::Kept;
use pushmem_files::Diagnostic;
use pushmem_registers::RegisterMap;
use pushmem_systemverilog::files_of;
use pushmem_tile::TileSpec;

/// The SystemVerilog files of a tile: name and text of each, headers first, then used modules before their users.
///
/// # Errors
/// When the RTL does not compile, which is a fault of the templates.
pub fn rtl_files(spec: &TileSpec) -> Result<Vec<(String, String)>, Diagnostic> {
    let map = RegisterMap::of(spec);
    let sources = pushmem_rtl::sources(spec, &map);
    let program = program_identity();
    let texts = sources.iter().flat_map(|source| [source.name.as_str(), source.text.as_str()]);
    let kept = Kept::of("rtl", &texts.chain([spec.reset.name(), program.as_str()]).collect_vec());
    if let Some(files) = kept.result() {
        return Ok(files);
    }
    let rtl = pushmem_rtl::generate(spec, &map)
        .map_err(|error| Diagnostic::new(format!("internal error: the RTL does not compile: {error}")))?;
    let files = files_of(rtl);
    kept.keep(&files);
    Ok(files)
}

/// Tells this build of the program from others, which may emit other text for the same sources.
pub fn program_identity() -> String {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    let modified = metadata.as_ref().ok().and_then(|metadata| metadata.modified().ok());
    let time = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_nanos());
    format!("{:?} {time:?}", metadata.map(|metadata| metadata.len()).ok())
}
