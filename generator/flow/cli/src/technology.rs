//! The SRAM macros that are named on the command line.

use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Document, FieldPath};
use pushmem_technology::{Assembly, Binding, ClockGate, Technology, TileSram};
use pushmem_tile::TileSpec;

use crate::kinds::FileKind;
use crate::origin::own_modules;
use crate::shipped::Shipped;

/// The bindings of `constraints/sram`.
const BINDINGS: Shipped = Shipped { what: "binding", kind: FileKind::SramBinding, folder: "constraints/sram" };

/// The cells of `constraints/clock_gates`.
const CLOCK_GATES: Shipped =
    Shipped { what: "clock gate", kind: FileKind::ClockGate, folder: "constraints/clock_gates" };

/// The memories of these tiles, in the macros that are named for them; in macros of their own shapes without. Their clock
/// gates, in the cell that is named; as the model is without.
///
/// # Errors
/// When a name is not that of a tile with an SRAM, a binding cannot be read, its macro does not fit, or there is no clock gate.
pub fn read(
    specs: &[&TileSpec],
    named: &[(String, PathBuf)],
    clock_gate: Option<&Path>,
) -> Result<Technology, Diagnostic> {
    read_with(specs, has_gates(specs), named, clock_gate)
}

/// The same, of a design that has clock gates or not, whatever its tiles have.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    specs: &[&TileSpec],
    has_gates: bool,
    named: &[(String, PathBuf)],
    clock_gate: Option<&Path>,
) -> Result<Technology, Diagnostic> {
    let technology = Technology::new(assemblies(specs, named)?).map_err(|problem| problem.or_code(Code::Binding))?;
    let read = |named| self::clock_gate(specs, has_gates, technology.assemblies(), named);
    let clock_gate = clock_gate.map(read).transpose().map_err(|problem| problem.or_code(Code::Binding))?;
    Ok(technology.with_clock_gate(clock_gate))
}

fn has_gates(specs: &[&TileSpec]) -> bool {
    specs.iter().any(|spec| spec.clock_gating)
}

/// Reads the cell for the clock gates of these tiles with these memories: a file, or one of `constraints/clock_gates` by its
/// name. Accelerators name their own modules otherwise.
///
/// # Errors
/// As [`read`].
pub fn read_clock_gate(specs: &[&TileSpec], assemblies: &[Assembly], named: &Path) -> Result<ClockGate, Diagnostic> {
    clock_gate(specs, has_gates(specs), assemblies, named).map_err(|problem| problem.or_code(Code::Binding))
}

fn clock_gate(
    specs: &[&TileSpec],
    has_gates: bool,
    assemblies: &[Assembly],
    named: &Path,
) -> Result<ClockGate, Diagnostic> {
    if !has_gates {
        return Err(Diagnostic::new(format!("there is no clock gate for the cell of `{}`", named.display()))
            .with_help("a tile or an array with `clock_gating: true` in its specification has them"));
    }
    let document = CLOCK_GATES.document(named)?;
    let gate = ClockGate::of_document(&document)?;
    refuse_own_module(specs, &gate.cell, "cell", &document)?;
    if assemblies.iter().any(|assembly| assembly.binding.name == gate.cell) {
        let message = format!("the macro of a memory is named `{}`, too", gate.cell);
        let diagnostic = document.error(&FieldPath::root().key("cell"), message);
        return Err(diagnostic.with_help("put a module with another name around the cell"));
    }
    Ok(gate)
}

/// The memory of each of these tiles, as [`read`].
///
/// # Errors
/// As [`read`].
pub fn assemblies(specs: &[&TileSpec], named: &[(String, PathBuf)]) -> Result<Vec<Assembly>, Diagnostic> {
    assembled(specs, named).map_err(|problem| problem.or_code(Code::Binding))
}

fn assembled(specs: &[&TileSpec], named: &[(String, PathBuf)]) -> Result<Vec<Assembly>, Diagnostic> {
    let memories = specs.iter().filter_map(|spec| TileSram::of(spec)).collect_vec();
    if let Some(name) = named.iter().map(|(name, _)| name).duplicates().next() {
        return Err(
            Diagnostic::new(format!("two macros are named for the memory of `{name}`")).with_help("name one by --sram")
        );
    }
    if let Some((name, _)) = named.iter().find(|(name, _)| memories.iter().all(|memory| memory.tile != *name)) {
        let tiles = memories.iter().map(|memory| format!("`{}`", memory.tile)).join(", ");
        let help = match memories.len() {
            0 => "there is no tile with an SRAM here".to_owned(),
            1 => format!("the tile with an SRAM is {tiles}"),
            _ => format!("tiles with an SRAM are {tiles}"),
        };
        return Err(Diagnostic::new(format!("no tile with an SRAM is named `{name}`")).with_help(help));
    }
    let assemble = |memory: TileSram| match named.iter().find(|(name, _)| *name == memory.tile) {
        None => Assembly::new(memory.clone(), Binding::in_shape_of(&memory), None),
        Some((_, file)) => {
            let (binding, document) = read_binding(file, &memory)?;
            refuse_own_module(specs, &binding.name, "macro", &document)?;
            Assembly::new(memory, binding, Some(&document))
        }
    };
    memories.into_iter().map(assemble).collect()
}

/// Refuses a part of the technology, named at `key` of a document, that has the name of a module of these tiles.
fn refuse_own_module(specs: &[&TileSpec], name: &String, key: &str, document: &Document) -> Result<(), Diagnostic> {
    if specs.iter().all(|spec| !own_modules(spec).contains(name)) {
        return Ok(());
    }
    let diagnostic =
        document.error(&FieldPath::root().key(key), format!("the design has a module `{name}` of its own"));
    Err(diagnostic.with_help(format!("rename the tile, or put a module with another name around the {key}")))
}

/// Reads a binding: a file, or one of `constraints/sram` by its name.
fn read_binding(named: &Path, memory: &TileSram) -> Result<(Binding, Document), Diagnostic> {
    Binding::of_document(BINDINGS.document(named)?, memory)
}
