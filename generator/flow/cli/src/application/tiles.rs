//! Tiles that are named on the command line, and those that a program is built for.

use std::path::Path;

use pushmem_composition::other_reset;
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_graph::Target;
use pushmem_nest::Level;
use pushmem_registers::RegisterMap;
use pushmem_tile::{Kind, TileSpec};

use crate::application::arrays::ARRAYS;
use crate::application::pes::PES;
use crate::kinds::{self, FileKind};
use crate::shipped::{Shipped, name};

/// The tiles of `constraints/tiles`.
pub const TILES: Shipped = Shipped { what: "tile", kind: FileKind::Specification, folder: "constraints/tiles" };

/// The largest memories that are made for a program: of words, and of the entries of a table.
const MEMORIES: Shipped = Shipped { what: "memory", kind: FileKind::Specification, folder: "constraints/memories" };

/// The target whose memories are made for the program.
pub fn fixed() -> Result<Target, Diagnostic> {
    let read = |name: &str| TileSpec::from_document(&MEMORIES.by_name(name)?);
    Ok(Target::fixed(read("memory")?, read("table")?))
}

/// The tile that memories are made of, for those who name none.
const MEMORY: &str = "amber";

/// The tile that large tables are in, likewise.
const ROM: &str = "rom";

/// Reads the specification of the tile that memories are made of: a file, or one of `constraints/tiles` by its name.
///
/// # Errors
/// Also for a tile that takes no streams, of which no memory can be made.
pub fn read(named: Option<&Path>) -> Result<TileSpec, Diagnostic> {
    let spec = named.map_or_else(|| read_by_name(MEMORY), read_named)?;
    match spec.kind {
        Kind::Rom => {
            Err(Diagnostic::new(format!("{} tiles hold constants; no stream can be written to them", spec.name))
                .with_help("choose another tile by --tile"))
        }
        _ => Ok(spec),
    }
}

/// The banks of the global buffer, for those who name none.
const GLOBAL_BUFFER: &str = "global_buffer";

/// The register files, likewise.
const REGISTER_FILE: &str = "pond";

/// The files with specifications of the tiles beside the memory tiles, where they are named.
#[derive(Clone, Copy, Default)]
pub struct Named<'a> {
    pub rom: Option<&'a Path>,
    pub global_buffer: Option<&'a Path>,
    pub register_file: Option<&'a Path>,
}

/// The target whose memories are `memory`. The specifications of the other tiles are read, as by [`read`].
pub fn target(memory: &TileSpec, named: Named) -> Result<Target, Diagnostic> {
    let global_buffer = read_beside(memory, named.global_buffer, GLOBAL_BUFFER)?;
    let register_file = read_beside(memory, named.register_file, REGISTER_FILE)?;
    let target = Target::new(memory.clone(), read_beside(memory, named.rom, ROM)?);
    let target = target.with_level(Level::GlobalBuffer, Some(global_buffer));
    Ok(target.with_level(Level::RegisterFile, Some(register_file)))
}

/// Reads the specification of a tile in one accelerator with the memory tile, which decides what the chip wants of all. A
/// tile that the command does not name is made so; one that is named has to be.
fn read_beside(memory: &TileSpec, named: Option<&Path>, default: &str) -> Result<TileSpec, Diagnostic> {
    let Some(named) = named else {
        let TileSpec { reset, clock_gating, shadow_registers, .. } = *memory;
        return Ok(TileSpec { reset, clock_gating, shadow_registers, ..read_by_name(default)? });
    };
    let spec = read_named(named)?;
    if spec.reset == memory.reset {
        return Ok(spec);
    }
    let (of_memory, of_spec) = (memory.reset.name(), spec.reset.name());
    let other = other_reset(&spec, memory.reset);
    let key = FieldPath::root().key("reset");
    let located = TILES.document(named).map(|text| text.error(&key, other.message())).unwrap_or(other);
    Err(located.with_help(format!("an accelerator has one kind of reset: give this tile `reset: {of_memory}`, or the memory tile `reset: {of_spec}`")))
}

/// Reads a specification: a file, or one of `constraints/tiles` by its name.
///
/// # Errors
/// When there is no such file or name, or the file is not a specification.
pub fn read_named(named: &Path) -> Result<TileSpec, Diagnostic> {
    TileSpec::from_document(&TILES.document(named)?)
}

/// The document of a specification that is named on the command line, of a tile, a processing element or an array. Names are
/// those of the former two.
///
/// # Errors
/// As [`read_named`].
pub fn document_of_block(named: &Path) -> Result<Document, Diagnostic> {
    match name(named) {
        Some(name) if PES.has(name) => PES.by_name(name),
        Some(name) => TILES.by_name(name),
        None => kinds::read(named, &[TILES.kind, PES.kind, ARRAYS.kind]),
    }
}

/// The tiles of the project that memories can be made of.
pub fn memories() -> Vec<TileSpec> {
    let specs = TILES.shipped().filter_map(|name| read_by_name(&name).ok());
    // The tiles of arrays are those without a mode.
    let is_alone = |spec: &TileSpec| spec.name != GLOBAL_BUFFER && !spec.rom_mode && !spec.has_modes();
    specs.filter(|spec| !matches!(spec.kind, Kind::Rom | Kind::RegisterFile) && is_alone(spec)).collect()
}

/// Reads a specification by its name: the one of the project, or the one that is part of the program.
///
/// # Errors
/// When there is no such name, or the file of the project is not a specification.
pub fn read_by_name(name: &str) -> Result<TileSpec, Diagnostic> {
    TileSpec::from_document(&TILES.by_name(name)?)
}

/// The files beside the RTL of a tile: its registers for programs and people, and its specification.
pub fn views(spec: &TileSpec, map: &RegisterMap) -> [(&'static str, String); 5] {
    [
        ("registers.json", map.to_json()),
        ("registers.h", map.to_c_header()),
        ("registers.rdl", map.to_system_rdl()),
        ("registers.md", map.to_markdown()),
        ("spec.yaml", spec.to_yaml()),
    ]
}
