//! The RTL of tiles as files.

use pushmem_files::Diagnostic;
use pushmem_registers::RegisterMap;
use pushmem_systemverilog::files_of;
use pushmem_tile::TileSpec;

/// The SystemVerilog files of a tile: name and text of each, headers first, then used modules before their users.
///
/// # Errors
/// When the RTL does not compile, which is a fault of the templates.
pub fn rtl_files(spec: &TileSpec) -> Result<Vec<(String, String)>, Diagnostic> {
    let rtl = pushmem_rtl::generate(spec, &RegisterMap::of(spec))
        .map_err(|error| Diagnostic::new(format!("internal error: the RTL does not compile: {error}")))?;
    Ok(files_of(rtl))
}
