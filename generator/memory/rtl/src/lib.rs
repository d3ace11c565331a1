//! RTL of a memory tile: Veryl sources rendered from templates and library modules, compiled to SystemVerilog.
//!
//! Hardware that varies by parameters alone is a plain module in `templates/rtl/library`; hardware that depends on the
//! structure of a tile is a template beside it.

mod library;
mod names;
mod registers;
mod tile;
mod view;

use std::collections::BTreeMap;

use pushmem_files::replace_identifiers;
use pushmem_registers::RegisterMap;
use pushmem_tile::{Reset, TileSpec};
use pushmem_veryl::{CompileError, Emitted, SourceFile};

pub use library::{address_sources, controller_sources};
pub use names::{checker_module, configuration_outputs, levels_constant, package_of, registers_module, tile_module};

/// Name of the module that stops a clock, which technologies replace.
pub const CLOCK_GATE: &str = "pushmem_clock_gate";

/// Its model. Veryl has no latches.
const CLOCK_GATE_MODEL: &str = include_str!("../../../../templates/rtl/library/clock_gate.sv");

/// The SystemVerilog of a tile: one module a file, each file named as its module, used modules before their users.
///
/// # Errors
/// Faults that Veryl finds in the rendered sources. They are faults of the templates, not of the specification.
pub fn generate(spec: &TileSpec, map: &RegisterMap) -> Result<Vec<Emitted>, CompileError> {
    let mut emitted = compile(sources(spec, map), spec.reset)?;
    name_resets(&mut emitted, spec.reset);
    if spec.clock_gating {
        emitted.insert(0, clock_gate());
    }
    Ok(emitted)
}

/// The model of the clock gate.
pub fn clock_gate() -> Emitted {
    Emitted { name: CLOCK_GATE.to_owned(), text: CLOCK_GATE_MODEL.to_owned() }
}

/// Compiles Veryl sources with a kind of reset, as [`pushmem_veryl::compile`] does.
///
/// # Errors
/// As there.
pub fn compile(sources: Vec<SourceFile>, reset: Reset) -> Result<Vec<Emitted>, CompileError> {
    let reset = match reset {
        Reset::Asynchronous => pushmem_veryl::Reset::Asynchronous,
        Reset::Synchronous => pushmem_veryl::Reset::Synchronous,
    };
    pushmem_veryl::compile(sources, reset)
}

/// Tells the library modules of the two kinds of reset apart by their names: a chip may have tiles of both. Their assertions go by the reset, too.
pub fn name_resets(modules: &mut [Emitted], reset: Reset) {
    let has_reset = |module: &Emitted| module.name.starts_with("pushmem_") && Reset::is_in(&module.text);
    let named: BTreeMap<String, String> = modules
        .iter()
        .filter(|module| has_reset(module))
        .map(|module| (module.name.clone(), reset.module_name(&module.name)))
        .collect();
    let other = |name: &str| named.get(name).cloned();
    for module in modules {
        if named.contains_key(&module.name) {
            module.text = reset.of_system_verilog(&module.text);
        }
        module.text = replace_identifiers(&module.text, other);
        module.name = other(&module.name).unwrap_or_else(|| module.name.clone());
    }
}

/// The Veryl sources that [`generate`] compiles, for debugging.
pub fn sources(spec: &TileSpec, map: &RegisterMap) -> Vec<SourceFile> {
    let view = view::TileView::of(spec, map);
    let mut sources = library::modules(spec, &view.names);
    sources.push(registers::package(&view));
    sources.push(registers::source(&view));
    sources.extend(tile::sources(&view));
    sources
}
