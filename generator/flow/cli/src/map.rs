//! `pushmem map`.

mod failure;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use pushmem_buffers::UnifiedBuffer;
use pushmem_configuration::{RegisterWrite, encode, format_writes};
use pushmem_files::{Diagnostic, Document, OutputFolder};
use pushmem_mapping::{MappedBuffer, map};
use pushmem_registers::RegisterMap;
use pushmem_replay::replay;
use pushmem_tile::TileSpec;

use self::report::MapReport;
use crate::application::tiles;
use crate::kinds::{self, FileKind};
use crate::output;

#[derive(Args)]
pub struct Map {
    /// Buffer: the iteration domain, the access map and the schedule of each port.
    buffer: PathBuf,
    /// Tile to map it to: a specification, or the name of one in `constraints/tiles`. Without, the tile that `amber` is.
    #[arg(long, value_name = "SPEC")]
    tile: Option<PathBuf>,
    /// Folder for configurations and register writes, replaced if a former run wrote it.
    #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

impl Map {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let document = kinds::read(&self.buffer, &[FileKind::Buffer])?;
        let buffer = UnifiedBuffer::from_document(&document)?;
        let spec = tiles::read(self.tile.as_deref())?;
        let mapped = map(&buffer, &spec).map_err(|error| failure::unmapped(&document, &buffer, &spec, &error))?;
        let proof = replay(&buffer, &mapped, &spec).map_err(|error| failure::unproven(&document, &buffer, &error))?;
        let report = MapReport::of(&buffer, &mapped, &spec, proof);
        if let Some(folder) = &self.folder {
            write(folder, &document, &mapped, &spec, &report)?;
        }
        output::result(self.json, &report, || report.text(&buffer, self.folder.as_deref()))
    }
}

/// The name of a tile of a mapped buffer, in reports and of its files.
fn tile_name(number: usize) -> String {
    format!("tile_{number}")
}

/// Writes the folder: as `pushmem build` does, where there is the same to write.
fn write(
    path: &Path,
    document: &Document,
    mapped: &MappedBuffer,
    spec: &TileSpec,
    report: &MapReport,
) -> Result<(), Diagnostic> {
    let map = RegisterMap::of(spec);
    let mut folder = OutputFolder::new();
    let mut hex = String::new();
    for (number, tile) in mapped.tiles.iter().enumerate() {
        let name = tile_name(number);
        folder.add(format!("configuration/{name}.yaml"), tile.configuration.to_yaml());
        // Each tile has its own window of the configuration addresses, as in an accelerator.
        let base = number as u32 * map.bytes().next_power_of_two();
        let writes = encode(&tile.configuration, spec, &map)?;
        let moved = writes.into_iter().map(|write| RegisterWrite { address: base + write.address, ..write });
        hex += &format_writes(&name, &moved.collect::<Vec<_>>());
    }
    folder.add("configuration/writes.hex", hex);
    folder.add("buffer.yaml", document.text());
    folder.add("tile.yaml", spec.to_yaml());
    folder.add("report.json", report.to_json());
    folder.write(path)
}
