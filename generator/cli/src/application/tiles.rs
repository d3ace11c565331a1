//! The tiles that a program is built for.

use std::path::Path;

use pushmem_accelerator::Levels;
use pushmem_composition::CompositionError;
use pushmem_files::{Diagnostic, FieldPath};
use pushmem_tile::{Kind, TileSpec};

use crate::shipped::{Shipped, shipped};

/// The tiles of `constraints/tiles`.
const TILES: Shipped = shipped![
    "tile", Specification in "constraints/tiles":
    "amber",
    "amber_long",
    "dual_port",
    "dual_port_long",
    "fetch2",
    "fetch8",
    "global_buffer",
    "one_in_one_out",
    "one_in_three_out",
    "onyx",
    "pond",
    "quad_port",
    "rom",
    "small",
    "word32",
];

/// The tile that memories are made of, for those who name none.
const MEMORY: &str = "amber";

/// The tile that large tables are in, likewise.
const ROM: &str = "rom";

/// Reads the specification of the tile that memories are made of: a file, or one of `constraints/tiles` by its name.
///
/// # Errors
/// Also for a tile that takes no streams, of which no memory can be made.
pub fn read(named: Option<&Path>) -> Result<TileSpec, Diagnostic> {
    let spec = named.map_or_else(|| read_default(MEMORY), read_named)?;
    match spec.kind {
        Kind::Rom => {
            Err(Diagnostic::new(format!("{} tiles hold constants; no stream can be written to them", spec.name))
                .with_help("choose another tile by --tile"))
        }
        _ => Ok(spec),
    }
}

/// Reads the specification of the tile that large tables are in, as [`read`], for an accelerator whose memories are `memory`.
pub fn read_rom(named: Option<&Path>, memory: &TileSpec) -> Result<TileSpec, Diagnostic> {
    read_beside(memory, named, ROM)
}

/// The banks of the global buffer, for those who name none.
const GLOBAL_BUFFER: &str = "global_buffer";

/// The register files, likewise.
const REGISTER_FILE: &str = "pond";

/// Reads the specifications of the levels beside the memory tiles, as [`read_rom`].
pub fn read_levels(
    global_buffer: Option<&Path>,
    register_file: Option<&Path>,
    memory: &TileSpec,
) -> Result<Levels, Diagnostic> {
    Ok(Levels {
        global_buffer: Some(read_beside(memory, global_buffer, GLOBAL_BUFFER)?),
        register_file: Some(read_beside(memory, register_file, REGISTER_FILE)?),
    })
}

/// Reads the specification of a tile in one accelerator with the memory tile, which decides what the chip wants of all. A
/// tile that nobody names is made so; one that is named has to be.
fn read_beside(memory: &TileSpec, named: Option<&Path>, default: &str) -> Result<TileSpec, Diagnostic> {
    let Some(named) = named else {
        let TileSpec { reset, clock_gating, shadow_registers, .. } = *memory;
        return Ok(TileSpec { reset, clock_gating, shadow_registers, ..read_default(default)? });
    };
    let spec = read_named(named)?;
    if spec.reset == memory.reset {
        return Ok(spec);
    }
    let (of_memory, of_spec) = (memory.reset.name(), spec.reset.name());
    let message = CompositionError::Reset { tile: spec.name, reset: spec.reset, wanted: memory.reset }.to_string();
    let key = FieldPath::root().key("reset");
    let located = TILES.document(named).map_or_else(|_| Diagnostic::new(&message), |text| text.error(&key, &message));
    Err(located.with_help(format!("an accelerator has one kind of reset: give this tile `reset: {of_memory}`, or the memory tile `reset: {of_spec}`")))
}

/// Reads a specification: a file, or one of `constraints/tiles` by its name.
///
/// # Errors
/// When there is no such file or name, or the file is not a specification.
pub fn read_named(named: &Path) -> Result<TileSpec, Diagnostic> {
    TileSpec::from_document(&TILES.document(named)?)
}

fn read_default(name: &str) -> Result<TileSpec, Diagnostic> {
    TileSpec::from_document(&TILES.by_name(name)?)
}
