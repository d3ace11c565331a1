//! The tiles that a program is built for.

use std::path::{Path, PathBuf};

use pushmem_files::{Diagnostic, Document};
use pushmem_tile::TileSpec;

/// The tile that memories are made of, for those who name none: the name of its file and its text.
const MEMORY: (&str, &str) = ("amber.yaml", include_str!("../../../../constraints/tiles/amber.yaml"));

/// The tile that large tables are in, likewise.
const ROM: (&str, &str) = ("rom.yaml", include_str!("../../../../constraints/tiles/rom.yaml"));

/// Reads the specification of the tile that memories are made of: a file, or one of `constraints/tiles` by its name.
pub fn read(named: Option<&Path>) -> Result<TileSpec, Diagnostic> {
    read_or(named, MEMORY)
}

/// Reads the specification of the tile that large tables are in, as [`read`].
pub fn read_rom(named: Option<&Path>) -> Result<TileSpec, Diagnostic> {
    read_or(named, ROM)
}

fn read_or(named: Option<&Path>, (file, text): (&str, &str)) -> Result<TileSpec, Diagnostic> {
    let Some(named) = named else {
        return TileSpec::from_document(&Document::parse(file, text)?);
    };
    let shipped: PathBuf = Path::new("constraints/tiles").join(named).with_extension("yaml");
    let is_name = named.components().count() == 1 && named.extension().is_none() && !named.exists();
    TileSpec::read(if is_name && shipped.is_file() { &shipped } else { named })
}
