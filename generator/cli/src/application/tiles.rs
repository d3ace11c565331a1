//! The tile that a program is built for.

use std::path::{Path, PathBuf};

use pushmem_files::{Diagnostic, Document};
use pushmem_tile::TileSpec;

/// The tile of those who name none.
const DEFAULT: &str = include_str!("../../../../constraints/tiles/amber.yaml");

/// Reads a specification: a file, or one of `constraints/tiles` by its name.
pub fn read(named: Option<&Path>) -> Result<TileSpec, Diagnostic> {
    let Some(named) = named else {
        return TileSpec::from_document(&Document::parse("amber.yaml", DEFAULT)?);
    };
    let shipped: PathBuf = Path::new("constraints/tiles").join(named).with_extension("yaml");
    let is_name = named.components().count() == 1 && named.extension().is_none() && !named.exists();
    TileSpec::read(if is_name && shipped.is_file() { &shipped } else { named })
}
